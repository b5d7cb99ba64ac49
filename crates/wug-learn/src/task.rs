use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use wug_bench::Judge;
use wug_data::{Dataset, Error, FactValue, InputKind, Result, Selection, Streams, Tokens};

use crate::input::Input;
use crate::{Question, Settings, questions};

/// What is to be learned. Only the training and validation parts can be reached from here, and of their inputs only the
/// kind that the learner reads.
pub struct Task<'a> {
    dataset: &'a Dataset,
    reads: InputKind,
    /// The learner's settings.
    pub settings: Settings,
    /// The learner's own seed; the data have another.
    pub seed: u64,
    /// Where a learner that takes long may keep what it needs to go on; an existing folder.
    pub folder: Option<PathBuf>,
    /// Whether to go on from what the folder keeps.
    pub resume: bool,
    /// The folder of another run of the same training, whose checkpoint is taken instead of learning it again.
    pub trained: Option<PathBuf>,
    /// The trained model that training begins from, for fine-tuning.
    pub init: Option<InitCheckpoint<'a>>,
    /// When to stop, keeping what is needed to go on; only with a folder.
    pub deadline: Option<Instant>,
    /// Stops a learner that keeps what it needs to go on, when it becomes true.
    pub interrupted: &'a AtomicBool,
    /// Judges predictions on the validation part; exact match where there is none.
    pub judge: Option<&'a dyn Judge>,
    /// Told now and then how far a learner is.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// A trained model to fine-tune.
pub struct InitCheckpoint<'a> {
    /// The folder of its run. Where a fine-tuning is resumed it is not needed.
    pub folder: Option<PathBuf>,
    /// What it was trained on, and how: its vocabulary comes from there, and the examples that are mixed in.
    pub task: Box<Task<'a>>,
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// How far a learner is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub done: u64,
    /// Steps in all.
    pub of: u64,
    /// Loss per token of the last steps.
    pub loss: f64,
    /// Exact match on the training examples of the last steps.
    pub accuracy: f64,
    /// The best accuracy on the validation part so far.
    pub best: Option<f64>,
    /// Images read in a second; 0 where there are none.
    pub images: f64,
    /// The share of the time of all threads that it took to render them.
    pub rendering: f64,
    /// How far a search is, of a learner that searches for rules; the accuracy is the share of training they derive.
    pub search: Option<SearchProgress>,
}

/// How far a search for rules is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchProgress {
    /// The round.
    pub round: usize,
    /// Rules so far.
    pub rules: usize,
    /// Bits of the description so far.
    pub bits: f64,
}

impl<'a> Task<'a> {
    /// A task on a dataset, whose inputs are read as what they are.
    pub fn new(dataset: &'a Dataset, settings: Settings, seed: u64) -> Self {
        Self::reading(dataset, dataset.input_kind(), settings, seed)
    }

    /// A task on a dataset. To read an image dataset as [`InputKind::Tokens`] is to be told its symbols.
    pub fn reading(dataset: &'a Dataset, reads: InputKind, settings: Settings, seed: u64) -> Self {
        Self {
            dataset,
            reads,
            settings,
            seed,
            folder: None,
            resume: false,
            trained: None,
            init: None,
            deadline: None,
            interrupted: &NEVER,
            judge: None,
            progress: &|_| (),
        }
    }

    /// The name of the dataset, `mns/circle`.
    pub fn dataset(&self) -> &str {
        &self.dataset.name
    }

    /// What the inputs are.
    pub fn reads(&self) -> InputKind {
        self.reads
    }

    /// The training examples.
    pub fn train(&self) -> Result<Lessons<'a>> {
        self.lessons(self.dataset.select("train")?)
    }

    /// The validation examples to choose between models with, where the dataset has some: its first part whose name
    /// starts with `val` or `dev`.
    pub fn validation(&self) -> Option<Validation<'a>> {
        let selection = self.validation_part()?;
        Some(Validation { dataset: self.dataset, reads: self.reads, selection, judge: self.judge })
    }

    /// The training examples that are not among those of [`Task::validation`]: for a part `val-random` those of
    /// `train-wo-random` where there is one, else all of train.
    pub fn train_apart(&self) -> Result<Lessons<'a>> {
        let validation = self.validation_part().map(|selection| selection.name);
        let rest = validation.and_then(|name| Some(format!("train-wo-{}", name.split_once('-')?.1)));
        match rest.and_then(|rest| self.dataset.part(&rest)) {
            Some(part) => self.lessons(Selection::whole(part)),
            None => self.train(),
        }
    }

    /// Random streams that depend on the learner's seed and on nothing else: item `i` is for question `i`.
    pub fn streams(&self, learner: &str) -> Streams {
        Streams::new(learner, &self.dataset.name, self.seed)
    }

    fn lessons(&self, mut selection: Selection<'a>) -> Result<Lessons<'a>> {
        let condition = self.settings.values().get("train-where").and_then(|text| text.as_str());
        if let Some(condition) = condition.filter(|text| !text.is_empty()) {
            let rows = &selection.part.rows;
            let holds = condition_on(self.dataset, condition)?;
            selection.positions.retain(|&position| holds(rows[position as usize]));
            if selection.positions.is_empty() {
                return Err(Error::usage(format!("train-where={condition}: no example of train is so")));
            }
        }
        Ok(Lessons { dataset: self.dataset, reads: self.reads, selection })
    }

    fn validation_part(&self) -> Option<Selection<'a>> {
        let is_validation = |name: &str| name.starts_with("val") || name.starts_with("dev");
        self.dataset.parts.iter().find(|part| is_validation(&part.name)).map(Selection::whole)
    }
}

/// Which rows of a dataset meet a condition on a fact: `operators<=2`, or `type=cp`.
fn condition_on<'d>(dataset: &'d Dataset, condition: &str) -> Result<impl Fn(u32) -> bool + 'd> {
    let wrong = || {
        Error::usage(format!(
            "train-where={condition}: expected FACT<=NUMBER or FACT=VALUE, such as operators<=2 or type=cp"
        ))
    };
    let bounded = condition.split_once("<=");
    let (fact, value) = bounded.or_else(|| condition.split_once('=')).ok_or_else(wrong)?;
    let value = value.trim().to_owned();
    let most = bounded.map(|_| value.parse::<i64>().map_err(|_| wrong())).transpose()?;
    let column = dataset.table.facts.column(fact.trim())?;
    Ok(move |row: u32| match (column.value(row), most) {
        (FactValue::Number(number), Some(most)) => number <= most,
        (_, Some(_)) => false,
        (known, None) => known.to_string() == value,
    })
}

/// A training example: what is given, and what should be answered.
#[derive(Debug, Clone, Copy)]
pub struct Lesson<'a> {
    /// What is given.
    pub input: Input<'a>,
    /// What should be answered.
    pub target: Tokens<'a>,
}

/// Training examples.
pub struct Lessons<'a> {
    dataset: &'a Dataset,
    reads: InputKind,
    selection: Selection<'a>,
}

impl<'a> Lessons<'a> {
    /// What the inputs are.
    pub fn reads(&self) -> InputKind {
        self.reads
    }

    /// The examples in order.
    pub fn iter(&self) -> impl Iterator<Item = Lesson<'a>> + '_ {
        let part = self.selection.part;
        self.selection.positions.iter().map(move |&position| Lesson {
            input: Input::of(self.dataset, part, position, self.reads),
            target: self.dataset.table.targets.get(part.rows[position as usize]),
        })
    }
}

/// Validation examples: questions, and a judge that knows their targets.
pub struct Validation<'a> {
    dataset: &'a Dataset,
    reads: InputKind,
    selection: Selection<'a>,
    judge: Option<&'a dyn Judge>,
}

impl Validation<'_> {
    /// The questions in order.
    pub fn questions(&self) -> Vec<Question<'_>> {
        questions(self.dataset, &self.selection, self.reads, None)
    }

    /// Whether a prediction for the question at this index is right.
    pub fn is_correct(&self, index: usize, prediction: &str) -> bool {
        let row = self.selection.part.rows[self.selection.positions[index] as usize];
        let example = self.dataset.table.example(row);
        match self.judge {
            Some(judge) => judge.judge(&example, prediction).correct,
            None => example.target.same_words(prediction),
        }
    }
}
