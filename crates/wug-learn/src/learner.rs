use serde::Serialize;
use wug_data::truncate;

use wug_data::{Dataset, Error, InputKind, Result};

use crate::{LEARNERS, Model, Oracle, Setting, Settings, Task};

/// What a learner is.
#[derive(Debug, Clone, Copy)]
pub struct LearnerInfo {
    /// Lower-case name with dashes, as in `published/`.
    pub name: &'static str,
    /// What it does, in one line.
    pub title: &'static str,
    /// The benchmarks it is for; empty for any.
    pub benchmarks: &'static [&'static str],
    /// What it reads of an input.
    pub reads: Reads,
    /// What may be set.
    pub settings: &'static [Setting],
}

/// What a learner reads of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reads {
    /// Nothing: it answers without looking.
    Nothing,
    /// Tokens.
    Tokens,
    /// Images.
    Images,
    /// Tokens or images, whatever the inputs are.
    Any,
}

impl Reads {
    /// Whether inputs of this kind can be given to it.
    pub fn accepts(self, kind: InputKind) -> bool {
        match self {
            Self::Nothing | Self::Any => true,
            Self::Tokens => kind == InputKind::Tokens,
            Self::Images => kind == InputKind::Images,
        }
    }
}

/// Something that learns a task: by training, by induction, or by knowing how to search.
pub trait Learner: Sync {
    /// What it is and what may be set.
    fn about(&self) -> &'static LearnerInfo;

    /// The files that it keeps in the task's folder while it learns, so that it can go on.
    fn keeps(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether it stops at the task's deadline: with what it needs to go on or, if it keeps nothing, with the best it has.
    fn stops_in_time(&self) -> bool {
        !self.keeps().is_empty()
    }

    /// Whether its models have [`DecoderStates`](crate::DecoderStates).
    fn has_decoder_states(&self) -> bool {
        false
    }

    /// Whether it can begin from the checkpoint of another run.
    fn fine_tunes(&self) -> bool {
        false
    }

    /// What it must be told about targets with these settings.
    fn oracle(&self, _: &Settings) -> Option<Oracle> {
        None
    }

    /// About how many floating-point operations it takes to learn the task, of a learner whose time they decide.
    ///
    /// # Errors
    /// If the task cannot be learned.
    fn training_flops(&self, _: &Task<'_>) -> Result<Option<f64>> {
        Ok(None)
    }

    /// Learns the task.
    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>>;
}

impl LearnerInfo {
    /// The setting with this name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// Whether it is for a benchmark.
    pub fn is_for(&self, benchmark: &str) -> bool {
        self.benchmarks.is_empty() || self.benchmarks.contains(&benchmark)
    }
}

/// What a learner is to read of a dataset: its own kind of input or, with `symbols`, the tokens behind its images.
///
/// # Errors
/// If the learner cannot read it; the message names the learners that can.
///
/// ```
/// use wug_bench::{Address, Source};
///
/// let address: Address = "mns/circle".parse()?;
/// let dataset = address.benchmark.make(&address.dataset, &Source::Seed(0))?;
/// let bayes = wug_learn::learner("bayes")?.about();
/// assert!(wug_learn::input_kind(bayes, &dataset, false).is_err(), "its inputs are images");
/// assert_eq!(wug_learn::input_kind(bayes, &dataset, true)?, wug_data::InputKind::Tokens);
/// # Ok::<(), wug_data::Error>(())
/// ```
pub fn input_kind(about: &LearnerInfo, dataset: &Dataset, symbols: bool) -> Result<InputKind> {
    let (name, learner) = (&dataset.name, about.name);
    let benchmark = name.split('/').next().unwrap_or_default();
    if !about.is_for(benchmark) {
        let message = format!("{learner} is for {}, not for {name}", about.benchmarks.join(" and "));
        return Err(Error::usage(message));
    }
    let own = dataset.input_kind();
    if symbols && own == InputKind::Tokens {
        return Err(Error::usage(format!(
            "the inputs of {name} are tokens already: leave out --reads symbols"
        )));
    }
    let kind = if symbols { InputKind::Tokens } else { own };
    if about.reads.accepts(kind) {
        return Ok(kind);
    }
    let all = LEARNERS.iter().map(|learner| learner.about());
    let fitting = all.filter(|other| other.is_for(benchmark) && other.reads.accepts(kind));
    let fitting: Vec<&str> = fitting.map(|other| other.name).collect();
    let (reads, hint) = match about.reads {
        Reads::Images => ("images", ""),
        _ => ("tokens", "; --reads symbols gives it the symbols behind the images"),
    };
    let given = if symbols { "symbols" } else { "images" };
    let given = if own == InputKind::Tokens { "tokens" } else { given };
    let fitting = fitting.join(", ");
    Err(Error::usage(format!(
        "{learner} reads {reads}, and the inputs of {name} are {given}; these learners fit: {fitting}{hint}"
    )))
}

/// The learner with this name.
pub fn learner(name: &str) -> Result<&'static dyn Learner> {
    let known = || LEARNERS.iter().map(|learner| learner.about().name);
    LEARNERS.iter().find(|learner| learner.about().name == name).copied().ok_or_else(|| {
        let nearest = known().min_by_key(|known| strsim::osa_distance(known, name));
        let nearest = nearest.filter(|known| strsim::osa_distance(known, name) <= 1 + name.len() / 3);
        let hint = nearest.map_or_else(String::new, |known| format!("; did you mean {known}?"));
        let shown = truncate(name, 60);
        let all: Vec<&str> = known().collect();
        Error::usage(format!("no learner `{shown}`{hint} (there are: {})", all.join(", ")))
    })
}
