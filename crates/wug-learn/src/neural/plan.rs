use wug_data::{Error, Result};
use wug_nn::kernels::Isa;
use wug_nn::{Device, Rule, Schedule, Shape};

use super::examples::Examples;
use crate::SettingKind;
use crate::{Setting, Settings, Task};

pub(super) const fn whole(
    name: &'static str,
    about: &'static str,
    default: u64,
    least: u64,
    most: u64,
) -> Setting {
    Setting { name, about, default: SettingKind::Whole { default, least, most } }
}

pub(super) const fn number(
    name: &'static str,
    about: &'static str,
    default: f64,
    least: f64,
    most: f64,
) -> Setting {
    Setting { name, about, default: SettingKind::Number { default, least, most } }
}

pub(super) const fn word(name: &'static str, about: &'static str, words: &'static [&'static str]) -> Setting {
    Setting { name, about, default: SettingKind::Word(words) }
}

const fn flag(name: &'static str, about: &'static str) -> Setting {
    Setting { name, about, default: SettingKind::Flag }
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
    default: SettingKind,
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
    whole("steps", "updates (optimiser steps)", 3000, 1, u64::MAX),
    whole("epochs", "epochs over the training examples, replaces steps; 0: none", 0, 0, 1 << 32),
    number("share", "share of the training examples to train on, drawn by seed", 1.0, 1e-6, 1.0),
    Setting {
        name: "train-where",
        about: "train only on examples whose fact is so, such as operators<=2 or type=cp; nothing: on all",
        default: SettingKind::Text(""),
    },
    number(
        "mix",
        "fine-tuning: probability that an example is drawn from those that the initial checkpoint was trained on",
        0.0,
        0.0,
        0.99,
    ),
    whole("batch", "batch size", 64, 1, 1 << 16),
    word(
        "order",
        "order of examples: drawn with replacement, shuffled each epoch, or bucketed by length",
        ORDERS,
    ),
    number("teacher", "teacher-forcing ratio", 1.0, 0.0, 1.0),
    word(
        "teacher-by",
        "whether teacher forcing is decided for each example or for a whole batch",
        &["example", "batch"],
    ),
    word("optimiser", "optimiser", &["adam", "sgd", "adamw"]),
    number("beta2", "Adam beta2", 0.999, 0.0, 1.0),
    number("rate", "peak learning rate; with schedule=noam its factor", 0.004, 0.0, 1e3),
    word(
        "schedule",
        "learning-rate schedule: linear to 0, constant, exponential by decay, or noam (inverse square root)",
        SCHEDULES,
    ),
    number("decay", "learning-rate factor per epoch, with schedule=exponential", 0.96, 0.0, 1.0),
    whole("warmup", "warm-up updates", 0, 0, u64::MAX),
    number("warmup-share", "warm-up as a share of all updates; replaces warmup", 0.0, 0.0, 1.0),
    number(
        "weight-decay",
        "weight decay: L2 in the gradient, or decoupled with optimiser=adamw",
        0.0,
        0.0,
        1.0,
    ),
    number("clip", "gradient clipping: maximum gradient norm; 0 disables", 5.0, 0.0, 1e9),
    word(
        "loss",
        "whether the loss of a batch is averaged over sequences or over tokens",
        &["sequence", "token"],
    ),
    number("smoothing", "label smoothing", 0.0, 0.0, 0.9),
    flag("reverse", "reverse the targets, as HINT does with digits"),
    whole("validate", "updates between validations; the best checkpoint answers; 0: never", 0, 0, u64::MAX),
    whole("validate-epochs", "epochs between validations, replaces validate; 0: none", 0, 0, 1 << 32),
    word("keep", "which checkpoint of a run with validation answers", &["best", "last"]),
    whole("patience", "early stopping: validations without improvement; 0 disables", 0, 0, u64::MAX),
    whole("longest", "maximum length of greedy decoding; 0: twice the longest target plus 8", 0, 0, 1 << 16),
    flag("oracle-length", "oracle: tell the decoder the length of the target (SCAN, experiment 2)"),
    whole("checkpoint", "updates between checkpoints", 1000, 1, u64::MAX),
    word("isa", "instruction set", Isa::NAMES),
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
    /// Probability that an example is one of those that the initial checkpoint was trained on.
    pub(super) mix: f64,
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
        let mix = settings.number("mix");
        if mix > 0.0 && task.init.is_none() {
            return Err(Error::usage(
                "mix needs --init-checkpoint: the run whose training examples are mixed in",
            ));
        }
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
            mix,
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
