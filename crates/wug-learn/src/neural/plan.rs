use wug_data::{Error, Result};
use wug_nn::kernels::Isa;
use wug_nn::{Device, Rule, Schedule, Shape};

use super::examples::Examples;
use crate::settings::Default;
use crate::{Setting, Settings, Task};

pub(super) const fn whole(
    name: &'static str,
    about: &'static str,
    default: u64,
    least: u64,
    most: u64,
) -> Setting {
    Setting { name, about, default: Default::Whole { default, least, most } }
}

pub(super) const fn number(
    name: &'static str,
    about: &'static str,
    default: f64,
    least: f64,
    most: f64,
) -> Setting {
    Setting { name, about, default: Default::Number { default, least, most } }
}

pub(super) const fn word(name: &'static str, about: &'static str, words: &'static [&'static str]) -> Setting {
    Setting { name, about, default: Default::Word(words) }
}

const fn flag(name: &'static str, about: &'static str) -> Setting {
    Setting { name, about, default: Default::Flag }
}

/// Two lists of settings as one.
pub(super) const fn joined<const N: usize>(first: &[Setting], second: &[Setting]) -> [Setting; N] {
    let mut all = [first[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { second[i - first.len()] };
        i += 1;
    }
    all
}

/// The settings with another default for one of them.
pub(super) const fn changed<const N: usize>(
    mut all: [Setting; N],
    name: &'static str,
    default: Default,
) -> [Setting; N] {
    let mut i = 0;
    while !same(all[i].name, name) {
        i += 1;
    }
    all[i].default = default;
    all
}

/// Whether two names are the same, before there is a program to ask.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// What may be set of training. `docs/engine.md` has the settings of the papers.
pub(super) const TRAINING: &[Setting] = &[
    whole("steps", "updates", 3000, 1, u64::MAX),
    whole("epochs", "rounds through the training examples, in the place of steps; 0: none", 0, 0, 1 << 32),
    number("share", "share of the training examples that is trained on, drawn by seed", 1.0, 1e-6, 1.0),
    whole("batch", "examples of an update", 64, 1, 1 << 16),
    word("order", "draw examples each time, shuffle them, or shuffle those of like length", ORDERS),
    number("teacher", "share of examples whose decoder is fed the target", 1.0, 0.0, 1.0),
    word(
        "teacher-by",
        "what is drawn to be fed the target: an example or a whole batch",
        &["example", "batch"],
    ),
    word("optimiser", "how parameters follow gradients", &["adam", "sgd", "adamw"]),
    number("beta2", "share of the old squares of gradients that Adam keeps", 0.999, 0.0, 1.0),
    number("rate", "learning rate, the highest; of schedule=noam its factor", 0.004, 0.0, 1e3),
    word("schedule", "how the rate falls: to 0 in the end, not at all, by decay, or by the root", SCHEDULES),
    number("decay", "factor of the rate after each round, with schedule=exponential", 0.96, 0.0, 1.0),
    whole("warmup", "updates in which the rate rises", 0, 0, u64::MAX),
    number("warmup-share", "warm-up as a share of all updates; replaces warmup", 0.0, 0.0, 1.0),
    number(
        "weight-decay",
        "share of a parameter added to its gradient; by adamw taken from it, times the rate",
        0.0,
        0.0,
        1.0,
    ),
    number("clip", "longest gradient; 0: any", 5.0, 0.0, 1e9),
    word("loss", "a batch's sum over its examples or over its words", &["sequence", "token"]),
    number("smoothing", "share of the probability that the loss wants spread over all words", 0.0, 0.0, 0.9),
    flag("reverse", "write targets from their end, as HINT's papers do"),
    whole(
        "validate",
        "updates between validations, of which the best model is kept; 0: never",
        0,
        0,
        u64::MAX,
    ),
    whole("validate-epochs", "rounds between validations, in the place of validate; 0: none", 0, 0, 1 << 32),
    word("keep", "which model of a run with validation answers", &["best", "last"]),
    whole("patience", "validations without gain before training stops; 0: never stops", 0, 0, u64::MAX),
    whole(
        "longest",
        "words of the longest answer; 0: twice those of the longest target and 8",
        0,
        0,
        1 << 16,
    ),
    flag("oracle-length", "tell the decoder how long the right answer is (SCAN, experiment 2)"),
    whole("checkpoint", "updates between checkpoints", 1000, 1, u64::MAX),
    word("isa", "instructions to compute with", Isa::NAMES),
    word("device", "where to compute; `wug list devices` says which this program has", Device::NAMES),
];

const SCHEDULES: &[&str] = &["linear", "constant", "exponential", "noam"];
const ORDERS: &[&str] = &["drawn", "shuffled", "bucketed"];

/// In which order examples are presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Each drawn from all.
    Drawn,
    /// All once in a round.
    Shuffled,
    /// All once in a round, batches of like source length.
    Bucketed,
}

/// Whether a run validates: then the validation part is no part of training.
pub(super) fn validates(settings: &Settings) -> bool {
    settings.whole("validate") > 0 || settings.whole("validate-epochs") > 0
}

/// What the settings mean for a task.
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Plan {
    pub(super) isa: Isa,
    pub(super) device: Device,
    pub(super) order: Order,
    pub(super) batch: usize,
    pub(super) steps: u64,
    pub(super) steps_of_round: u64,
    pub(super) teacher: f64,
    pub(super) teacher_by_batch: bool,
    pub(super) rule: Rule,
    pub(super) schedule: Schedule,
    pub(super) weight_decay: f64,
    pub(super) clip: f64,
    pub(super) per_word: bool,
    pub(super) smoothing: f64,
    pub(super) validate: u64,
    pub(super) patience: u64,
    pub(super) keep_best: bool,
    pub(super) longest: usize,
    pub(super) checkpoint: u64,
}

impl Plan {
    /// Reads the settings; `width` is that of the model.
    pub(super) fn read(task: &Task<'_>, examples: &Examples<'_>, width: usize) -> Result<Self> {
        let settings = &task.settings;
        let whole = |name: &str| settings.whole(name) as usize;
        if examples.len() == 0 {
            return Err(Error::usage(format!("{} has no training examples", task.dataset())));
        }
        let isa = Isa::named(settings.word("isa")).ok_or_else(|| {
            Error::usage(format!("this machine has no {}: use isa=auto", settings.word("isa")))
        })?;
        let device = Device::named(settings.word("device")).unwrap_or(Device::Cpu);
        device.check().map_err(Error::usage)?;
        let batch = whole("batch");
        let steps_of_round = examples.len().div_ceil(batch) as u64;
        let rounds = settings.whole("epochs");
        let steps = if rounds > 0 { rounds.saturating_mul(steps_of_round) } else { settings.whole("steps") };
        let order = match settings.word("order") {
            "drawn" => Order::Drawn,
            "shuffled" => Order::Shuffled,
            _ => Order::Bucketed,
        };
        let validate = match settings.whole("validate-epochs") {
            0 => settings.whole("validate"),
            rounds => rounds.saturating_mul(steps_of_round),
        };
        if validate > 0 && task.validation().is_none() {
            return Err(Error::usage(format!(
                "{} has no validation part: leave out validate",
                task.dataset()
            )));
        }
        if settings.whole("patience") > 0 && validate == 0 {
            return Err(Error::usage("patience needs validate: how many updates between validations"));
        }
        let longest = match whole("longest") {
            0 => 2 * examples.longest_target() + 8,
            longest => longest,
        };
        let shape = match settings.word("schedule") {
            "constant" => Shape::Constant,
            "exponential" => Shape::Exponential { factor: settings.number("decay"), every: steps_of_round },
            "noam" => Shape::Noam { width },
            _ => Shape::Linear { steps },
        };
        let warmup = match settings.number("warmup-share") {
            0.0 => settings.whole("warmup"),
            share => (share * steps as f64) as u64,
        };
        let rule = match settings.word("optimiser") {
            "sgd" => Rule::Sgd,
            name => Rule::Adam {
                beta1: 0.9,
                beta2: settings.number("beta2"),
                epsilon: 1e-8,
                decoupled: name == "adamw",
            },
        };
        Ok(Self {
            isa,
            device,
            order,
            batch,
            steps,
            steps_of_round,
            teacher: settings.number("teacher"),
            teacher_by_batch: settings.word("teacher-by") == "batch",
            rule,
            schedule: Schedule { rate: settings.number("rate"), warmup, shape },
            weight_decay: settings.number("weight-decay"),
            clip: settings.number("clip"),
            per_word: settings.word("loss") == "token",
            smoothing: settings.number("smoothing"),
            validate,
            keep_best: settings.word("keep") == "best",
            patience: settings.whole("patience"),
            longest,
            checkpoint: settings.whole("checkpoint"),
        })
    }
}
