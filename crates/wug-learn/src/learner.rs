use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};

use wug_bench::Judge;
use wug_data::{Dataset, Error, Example, Picture, Pictures, Result, Selection, Stream, Streams, Tokens};

use crate::{LEARNERS, Setting, Settings};

/// What a learner is.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Lower-case name with dashes, as in `published/`.
    pub name: &'static str,
    /// What it does, in one line.
    pub title: &'static str,
    /// The benchmarks it is for; empty for any.
    pub benchmarks: &'static [&'static str],
    /// What may be set.
    pub settings: &'static [Setting],
}

/// Something that learns a task: by training, by induction, or by knowing how to search.
pub trait Learner: Sync {
    /// What it is and what may be set.
    fn about(&self) -> &'static About;

    /// The files that it keeps in the task's folder while it learns, so that it can go on.
    fn keeps(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether its models have [states](Model::states).
    fn has_states(&self) -> bool {
        false
    }

    /// Becomes a model for the task.
    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>>;
}

/// The learner with this name.
pub fn learner(name: &str) -> Result<&'static dyn Learner> {
    let known = || LEARNERS.iter().map(|learner| learner.about().name);
    LEARNERS.iter().find(|learner| learner.about().name == name).copied().ok_or_else(|| {
        let nearest = known().min_by_key(|known| strsim::osa_distance(known, name));
        let nearest = nearest.filter(|known| strsim::osa_distance(known, name) <= 1 + name.len() / 3);
        let hint = nearest.map_or_else(String::new, |known| format!("; did you mean {known}?"));
        let shown: String = name.chars().take(60).collect();
        let all: Vec<&str> = known().collect();
        Error::usage(format!("no learner `{shown}`{hint} (there are: {})", all.join(", ")))
    })
}

/// What is to be learnt. Only the training and validation parts can be reached from here.
pub struct Task<'a> {
    dataset: &'a Dataset,
    /// What was set.
    pub settings: Settings,
    /// The learner's own seed; the data have another.
    pub seed: u64,
    /// Where a learner that takes long may keep what it needs to go on; an existing folder.
    pub folder: Option<PathBuf>,
    /// Whether to go on from what the folder keeps.
    pub resume: bool,
    /// The folder of another run of the same training, whose checkpoint is taken instead of learning it again.
    pub trained: Option<PathBuf>,
    /// When to stop, keeping what is needed to go on; only with a folder.
    pub deadline: Option<Instant>,
    /// Says whether an answer to an example of the validation part is right; equal words where there is none.
    pub judge: Option<&'a dyn Judge>,
    /// Told now and then how far a learner is.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// How large a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Numbers that were learnt.
    pub parameters: usize,
    /// Examples that they were learnt from.
    pub examples: usize,
}

/// How far a learner is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub done: u64,
    /// Of so many.
    pub of: u64,
    /// Loss of a word of the last steps.
    pub loss: f64,
    /// Share of the last training examples that were right.
    pub accuracy: f64,
}

impl<'a> Task<'a> {
    /// A task on a dataset.
    pub fn new(dataset: &'a Dataset, settings: Settings, seed: u64) -> Self {
        Self {
            dataset,
            settings,
            seed,
            folder: None,
            resume: false,
            trained: None,
            deadline: None,
            judge: None,
            progress: &|_| (),
        }
    }

    /// The name of the dataset, `mns/circle`.
    pub fn dataset(&self) -> &str {
        &self.dataset.name
    }

    /// The examples to learn from.
    pub fn train(&self) -> Result<Lessons<'a>> {
        Ok(Lessons { dataset: self.dataset, selection: self.dataset.select("train")? })
    }

    /// The examples to choose between models with, where the dataset has some: its first part whose name starts with
    /// `val` or `dev`.
    pub fn validation(&self) -> Option<Lessons<'a>> {
        let is_validation = |name: &str| name.starts_with("val") || name.starts_with("dev");
        let part = self.dataset.parts.iter().find(|part| is_validation(&part.name))?;
        Some(Lessons { dataset: self.dataset, selection: Selection::whole(part) })
    }

    /// Whether an answer to an example of the validation part is right.
    pub fn is_right(&self, example: &Example<'_>, answer: &str) -> bool {
        match self.judge {
            Some(judge) => judge.judge(example, answer).correct,
            None => example.target.same_words(answer),
        }
    }

    /// The examples to learn from that are not among those of [`Task::validation`]: for a part `val-random` those of
    /// `train-wo-random` where there is one, else all of train.
    pub fn train_apart(&self) -> Result<Lessons<'a>> {
        let validation = self.validation().map(|lessons| lessons.selection.name);
        let rest = validation.and_then(|name| Some(format!("train-wo-{}", name.split_once('-')?.1)));
        match rest.and_then(|rest| self.dataset.part(&rest)) {
            Some(part) => Ok(Lessons { dataset: self.dataset, selection: Selection::whole(part) }),
            None => self.train(),
        }
    }

    /// Random streams that depend on the learner's seed and on nothing else: item `i` is for question `i`.
    pub fn streams(&self, learner: &str) -> Streams {
        Streams::new(learner, &self.dataset.name, self.seed)
    }
}

/// Examples with their answers.
pub struct Lessons<'a> {
    dataset: &'a Dataset,
    selection: Selection<'a>,
}

impl<'a> Lessons<'a> {
    /// The examples in order.
    pub fn examples(&self) -> impl Iterator<Item = Example<'a>> + '_ {
        self.selection.examples().map(|(_, row)| self.dataset.table.example(row))
    }
}

/// What is asked: an example without its answer.
#[derive(Clone)]
pub struct Question<'a> {
    /// What is given.
    pub input: Tokens<'a>,
    /// Position in the part.
    pub position: u32,
    part: &'a str,
    target: Tokens<'a>,
    pictures: Option<&'a Arc<dyn Pictures>>,
}

impl Question<'_> {
    /// What it looks like, where it is a picture.
    pub fn picture(&self) -> Option<Picture> {
        self.pictures.map(|pictures| pictures.picture(self.part, self.position))
    }

    /// How many words the right answer has: for experiments in which a learner is told so, and for nothing else.
    pub fn oracle_length(&self) -> usize {
        self.target.words().len()
    }

    /// The stream of this question among the learner's streams.
    pub fn stream(&self, streams: &Streams) -> Stream {
        streams.item(self.position.into())
    }
}

/// The questions of a selection, in order.
pub fn questions<'a>(dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<Question<'a>> {
    let question = |&position: &u32| Question {
        input: dataset.table.inputs.get(selection.part.rows[position as usize]),
        position,
        part: &selection.part.name,
        target: dataset.table.targets.get(selection.part.rows[position as usize]),
        pictures: dataset.pictures.as_ref(),
    };
    selection.positions.iter().map(question).collect()
}

/// An answer and what stands behind it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What is answered; `None` to abstain, which counts as wrong.
    pub text: Option<String>,
    /// How it came about, for a person.
    pub explanation: Option<String>,
    /// How probable the model takes it to be.
    pub probability: Option<f64>,
    /// What else is known: steps, flags, the runner-up.
    pub notes: Map<String, Value>,
}

impl Answer {
    /// Just an answer.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// No answer.
    pub fn abstain() -> Self {
        Self::default()
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.notes.insert(name.to_owned(), value.into());
        self
    }
}

/// What a learner has become.
pub trait Model: Send + Sync {
    /// Answers one question. The answer depends on the question and the learner's seed only.
    fn answer(&self, question: &Question<'_>) -> Answer;

    /// Answers many, on all cores. A model that is faster in batches has its own.
    fn answers(&self, questions: &[Question<'_>]) -> Vec<Answer> {
        questions.par_iter().map(|question| self.answer(question)).collect()
    }

    /// The vectors in which a recurrent decoder ends its answers to these inputs; `None` for a model that has none.
    fn states(&self, _inputs: &[Tokens<'_>]) -> Option<Vec<Vec<f32>>> {
        None
    }

    /// How large the model is and what it was trained on, if it has parameters.
    fn size(&self) -> Option<Size> {
        None
    }

    /// What was learned, as files that a run leaves behind: names and texts.
    fn files(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}
