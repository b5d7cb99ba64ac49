//! Executes a run: makes the data, trains the learner, answers and scores.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use wug_bench::{Address, Draw};
use wug_data::{Dataset, Error, Fact, InputKind, Result, Selection};
use wug_learn::{
    Answer, Answering, InitCheckpoint, Learner, Model, Progress, Settings, Task, Training, Watch, input_kind,
    learner, questions,
};

use crate::folder::RunFolder;
use crate::scores::{AnswerStates, SampleScores};
use crate::{Existing, RunRecord, RunSpec, Scored, Scores, neighbours, score, symbols};

/// How a run is executed. Nothing here changes its result.
pub struct Options<'a> {
    /// The folder for records, predictions and checkpoints; nothing is kept without one.
    pub folder: Option<PathBuf>,
    /// What to do if the folder has a run already.
    pub existing: Existing,
    /// The folder of a run with the same training, whose checkpoint is taken instead of training again.
    pub trained: Option<PathBuf>,
    /// The folder of the run that is fine-tuned; not needed to resume.
    pub init: Option<PathBuf>,
    /// Whether the outputs of an image encoder on the symbols of the first part are wanted.
    pub symbol_vectors: bool,
    /// How long training may take before it stops with a checkpoint.
    pub time_limit: Option<Duration>,
    /// Stops training with a checkpoint when it becomes true.
    pub interrupted: &'a AtomicBool,
    /// Told now and then how far the learner is.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Told now and then how far a model is that takes long to answer.
    pub answering: &'a (dyn Fn(Answering<'_>) + Sync),
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            folder: None,
            existing: Existing::default(),
            trained: None,
            init: None,
            symbol_vectors: false,
            time_limit: None,
            interrupted: &NEVER,
            progress: &|_| (),
            answering: &|_| (),
        }
    }
}

/// A spec whose every name has been found and whose data have been made: ready to be executed.
pub struct Prepared {
    /// The spec.
    pub spec: RunSpec,
    /// Where the dataset is from.
    pub address: Address,
    /// The data.
    pub dataset: Arc<Dataset>,
    pub(crate) learner: &'static dyn Learner,
    settings: Settings,
    reads: InputKind,
    /// The run that is fine-tuned.
    init: Option<Box<Prepared>>,
}

/// What came out of a run, in memory.
pub struct Run<'a> {
    /// What was asked.
    pub scored: Vec<Scored<'a>>,
    /// The answers to each part.
    pub answers: Vec<Vec<Answer>>,
    /// The scores.
    pub scores: Scores,
    /// How training went, of a learner that is trained step by step.
    pub training: Option<Training>,
    /// The outputs of the image encoder by symbol, if they were wanted.
    pub symbol_vectors: BTreeMap<String, Vec<Vec<f32>>>,
    /// What the folder has, if there is one.
    pub record: Option<RunRecord>,
}

/// Makes the data of a spec.
pub(crate) fn make(spec: &RunSpec) -> Result<Dataset> {
    let address: Address = spec.dataset.parse()?;
    address.benchmark.make_with(&address.dataset, &spec.source, &spec.data_settings())
}

impl Prepared {
    /// Finds everything that a spec names, and makes the data.
    ///
    /// # Errors
    /// If something is unknown, out of range, or does not go together, such as a learner of tokens and a dataset of images.
    pub fn new(spec: RunSpec) -> Result<Self> {
        spec.check()?;
        Self::with(spec, &|spec| make(spec).map(Arc::new))
    }

    /// The same with data from `make`.
    pub(crate) fn with(spec: RunSpec, make: &dyn Fn(&RunSpec) -> Result<Arc<Dataset>>) -> Result<Self> {
        let dataset = make(&spec)?;
        let init = spec.init.as_ref().map(|init| Self::with((**init).clone(), make));
        let init = init.transpose()?.map(Box::new);
        let address: Address = spec.dataset.parse()?;
        let learner = learner(&spec.learner)?;
        let settings = Settings::from_map(learner.about(), &spec.settings)?;
        let reads = input_kind(learner.about(), &dataset, spec.reads.is_some())?;
        let prepared = Self { spec, address, dataset, learner, settings, reads, init };
        prepared.facts()?;
        prepared.selections()?;
        Ok(prepared)
    }

    /// The parts that are answered: those of the spec, or the benchmark's own, or the only one there is.
    pub fn selections(&self) -> Result<Vec<Selection<'_>>> {
        let default = self.address.benchmark.default_part(&self.address.dataset);
        let own = self.dataset.part(default).unwrap_or(&self.dataset.parts[0]);
        let select = |part: &String| Ok(self.dataset.select(part)?.limited(self.spec.limit));
        match self.spec.parts.as_slice() {
            [] => Ok(vec![select(&own.name)?]),
            parts => parts.iter().map(select).collect(),
        }
    }

    /// About how many floating-point operations training takes, where they decide about its time.
    pub(crate) fn training_flops(&self) -> Result<Option<f64>> {
        self.learner.training_flops(&self.task(None))
    }

    /// What is to be learned; `init` is the folder of the run that is fine-tuned.
    fn task(&self, init: Option<PathBuf>) -> Task<'_> {
        let mut task =
            Task::reading(&self.dataset, self.reads, self.settings.clone(), self.spec.learner_seed);
        task.init = self
            .init
            .as_ref()
            .map(|prepared| InitCheckpoint { folder: init, task: Box::new(prepared.task(None)) });
        task
    }

    /// Whether the learner keeps checkpoints, so that a run can be stopped and resumed.
    pub fn keeps_checkpoints(&self) -> bool {
        !self.learner.keeps().is_empty()
    }

    fn facts(&self) -> Result<Vec<&Fact>> {
        self.spec.by.iter().map(|fact| self.dataset.table.facts.column(fact)).collect()
    }

    /// Learns, answers and scores.
    ///
    /// # Errors
    /// [`Error::Unfinished`] if the time limit or an interrupt stopped it with a checkpoint.
    pub fn execute<'a>(&'a self, options: &Options<'_>) -> Result<Run<'a>> {
        let begun = Instant::now();
        let asked = neighbours::find(&self.dataset, self.learner, &self.spec.neighbours)?;
        let folder = self.claim(options)?;
        let (model, answers, scored) = match self.work(options, folder.as_ref(), begun) {
            Ok(done) => done,
            Err(error) => {
                match folder {
                    Some(folder) if error.is_unfinished() => {
                        folder.leave(self, begun.elapsed().as_secs_f64())?;
                    }
                    Some(folder) => folder.abandon(self.learner),
                    None => {}
                }
                return Err(error);
            }
        };
        if self.spec.importance {
            (options.answering)(Answering::Note("measuring which facts decide whether an answer is right"));
        }
        let (benchmark, metric) = (&*self.address.benchmark, &self.spec.metric);
        let mut scores =
            Scores::new(benchmark, &self.dataset, metric, &scored, &self.facts()?, self.spec.importance)?;
        let judge = benchmark.judge(metric)?;
        for ((part, scored), answers) in scores.parts.iter_mut().zip(&scored).zip(&answers) {
            part.states = AnswerStates::of(answers, part.tally.correct);
            part.samples = SampleScores::of(&self.dataset, scored, answers, judge.as_ref());
        }
        scores.learner = Some(self.spec.learner.clone());
        scores.reads = self.spec.reads;
        scores.learned = model.size();
        scores.stopped = model.stopped_early();
        scores.draw = Some(Draw::of(&self.spec.source)?);
        for scored in &scored {
            let part = scored.selection().part;
            scores.hashes.insert(part.name.clone(), self.dataset.part_sha256(part));
        }
        if !asked.is_empty() {
            scores.neighbours = neighbours::nearest(&self.dataset, model.as_ref(), &asked)?;
        }
        let mut symbol_vectors = BTreeMap::new();
        if options.symbol_vectors {
            let first = scored[0].selection();
            symbol_vectors = symbols::vectors(&self.dataset, model.as_ref(), first)?;
        }
        let record = match folder {
            Some(folder) => {
                let selections = self.selections()?;
                let seconds = begun.elapsed().as_secs_f64();
                Some(folder.finish(self, &selections, &answers, &scores, model.as_ref(), seconds)?)
            }
            None => None,
        };
        Ok(Run { scored, answers, scores, training: model.training(), symbol_vectors, record })
    }

    fn claim(&self, options: &Options<'_>) -> Result<Option<RunFolder>> {
        let name = self.learner.about().name;
        let keeps = !self.learner.keeps().is_empty();
        if options.time_limit.is_some() && !self.learner.stops_in_time() {
            return Err(Error::usage(format!("{name} cannot stop in time: leave out --time-limit")));
        }
        if options.time_limit.is_some() && keeps && options.folder.is_none() {
            return Err(Error::usage("--time-limit needs --out, the folder to go on from"));
        }
        if options.trained.is_some() && !keeps {
            return Err(Error::usage(format!("{name} keeps no checkpoints: it has to learn again")));
        }
        let claim = |folder: &PathBuf| RunFolder::claim(self, folder, options.existing);
        options.folder.as_ref().map(claim).transpose()
    }

    /// Learns, answers and judges.
    #[allow(clippy::type_complexity)] // three things that are made together, once
    fn work<'a>(
        &'a self,
        options: &Options<'_>,
        folder: Option<&RunFolder>,
        begun: Instant,
    ) -> Result<(Box<dyn Model>, Vec<Vec<Answer>>, Vec<Scored<'a>>)> {
        // Models are chosen by the benchmark's own metric, whatever the answers are judged by in the end.
        let own = self.address.benchmark.judge(self.address.benchmark.metrics()[0].name)?;
        let judge = self.address.benchmark.judge(&self.spec.metric)?;
        let mut task = self.task(options.init.clone());
        task.judge = Some(own.as_ref());
        task.trained.clone_from(&options.trained);
        task.folder = options.folder.clone().filter(|_| !self.learner.keeps().is_empty());
        task.resume = folder.is_some_and(|folder| folder.resumes);
        task.deadline = options.time_limit.and_then(|limit| begun.checked_add(limit));
        task.interrupted = options.interrupted;
        task.progress = options.progress;
        let model = self.learner.learn(&task)?;

        let oracle = self.learner.oracle(&self.settings);
        let (mut answers, mut scored) = (Vec::new(), Vec::new());
        for selection in self.selections()? {
            let watch = Watch { interrupted: options.interrupted, answering: options.answering };
            let asked = questions(&self.dataset, &selection, self.reads, oracle);
            let given = model.answers_watched(&asked, &watch)?;
            let texts: Vec<&str> =
                given.iter().map(|answer| answer.text.as_deref().unwrap_or_default()).collect();
            scored.push(score(&self.dataset, selection, &texts, judge.as_ref()));
            answers.push(given);
        }
        Ok((model, answers, scored))
    }
}
