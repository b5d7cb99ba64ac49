use wug_data::{Error, Result};
use wug_nn::kernels::Isa;
use wug_nn::{Begin, Bridge, Config, Output, Rule};

use super::Recurrent;
use super::words::Words;
use crate::settings::Default;
use crate::{Setting, Task};

const fn whole(name: &'static str, about: &'static str, default: u64, least: u64, most: u64) -> Setting {
    Setting { name, about, default: Default::Whole { default, least, most } }
}

const fn number(name: &'static str, about: &'static str, default: f64, least: f64, most: f64) -> Setting {
    Setting { name, about, default: Default::Number { default, least, most } }
}

const fn word(name: &'static str, about: &'static str, words: &'static [&'static str]) -> Setting {
    Setting { name, about, default: Default::Word(words) }
}

/// What may be set. The defaults are small; `docs/engine.md` has the settings of the papers.
pub(super) const SETTINGS: &[Setting] = &[
    word(
        "style",
        "the model of which paper: how states are passed on and words predicted",
        &["scan", "nacs"],
    ),
    whole("layers", "layers of encoder and decoder", 1, 1, 8),
    whole("hidden", "units of a layer and direction", 128, 1, 8192),
    whole("embedding", "size of a word's vector; 0: as hidden", 0, 0, 8192),
    number("dropout", "share of units dropped in training", 0.0, 0.0, 0.95),
    whole("steps", "updates", 4000, 1, u64::MAX),
    whole("epochs", "rounds through the training examples, in the place of steps; 0: none", 0, 0, 1 << 32),
    whole("batch", "examples of an update", 64, 1, 1 << 16),
    word("order", "draw examples each time, shuffle them, or shuffle those of like length", ORDERS),
    number("teacher", "share of examples whose decoder is fed the target", 1.0, 0.0, 1.0),
    word("optimiser", "how parameters follow gradients", &["adam", "sgd"]),
    number("rate", "learning rate", 0.002, 0.0, 1e3),
    number("decay", "factor of the learning rate after each round through the examples", 0.9, 0.0, 1.0),
    number("weight-decay", "share of a parameter added to its gradient", 0.0, 0.0, 1.0),
    number("clip", "longest gradient; 0: any", 5.0, 0.0, 1e9),
    word("loss", "a batch's sum over its examples or over its words", &["sequence", "token"]),
    whole(
        "validate",
        "updates between validations, of which the best model is kept; 0: never",
        0,
        0,
        u64::MAX,
    ),
    whole("patience", "validations without gain before training stops; 0: never stops", 0, 0, u64::MAX),
    whole(
        "longest",
        "words of the longest answer; 0: twice those of the longest target and 8",
        0,
        0,
        1 << 16,
    ),
    whole("checkpoint", "updates between checkpoints", 1000, 1, u64::MAX),
    word("isa", "instructions to compute with", Isa::NAMES),
];

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

/// What the settings mean for a task.
pub(super) struct Plan {
    pub(super) model: Config,
    pub(super) isa: Isa,
    pub(super) order: Order,
    pub(super) batch: usize,
    pub(super) steps: u64,
    pub(super) steps_of_round: u64,
    pub(super) teacher: f64,
    pub(super) rule: Rule,
    pub(super) rate: f64,
    pub(super) decay: f64,
    pub(super) weight_decay: f64,
    pub(super) clip: f64,
    pub(super) per_word: bool,
    pub(super) validate: u64,
    pub(super) patience: u64,
    pub(super) longest: usize,
    pub(super) checkpoint: u64,
}

impl Plan {
    pub(super) fn read(learner: &Recurrent, task: &Task<'_>, words: &Words) -> Result<Self> {
        let settings = &task.settings;
        let nacs = settings.word("style") == "nacs";
        let whole = |name: &str| settings.whole(name) as usize;
        let hidden = whole("hidden");
        let model = Config {
            cell: learner.cell,
            encoder_layers: whole("layers"),
            decoder_layers: whole("layers"),
            hidden,
            embedding: if whole("embedding") == 0 { hidden } else { whole("embedding") },
            bidirectional: nacs,
            attention: learner.attention,
            dependence: learner.dependence,
            begin: if nacs { Begin::Zero } else { Begin::Learned },
            bridge: if nacs { Bridge::Linear } else { Bridge::Copy },
            output: if nacs && learner.attention { Output::PreOutput } else { Output::State },
            dropout: settings.number("dropout"),
            source_words: words.source_words(),
            target_words: words.target_words(),
        };
        if words.examples.is_empty() {
            return Err(Error::usage(format!("{} has no training examples", task.dataset())));
        }
        let isa = Isa::named(settings.word("isa")).ok_or_else(|| {
            Error::usage(format!("this machine has no {}: use isa=auto", settings.word("isa")))
        })?;
        let batch = whole("batch");
        let steps_of_round = words.examples.len().div_ceil(batch) as u64;
        let rounds = settings.whole("epochs");
        let steps = if rounds > 0 { rounds.saturating_mul(steps_of_round) } else { settings.whole("steps") };
        let order = match settings.word("order") {
            "drawn" => Order::Drawn,
            "shuffled" => Order::Shuffled,
            _ => Order::Bucketed,
        };
        if settings.whole("validate") > 0 && task.validation().is_none() {
            return Err(Error::usage(format!(
                "{} has no validation part: leave out validate",
                task.dataset()
            )));
        }
        if settings.whole("patience") > 0 && settings.whole("validate") == 0 {
            return Err(Error::usage("patience needs validate: how many updates between validations"));
        }
        let longest = match whole("longest") {
            0 => 2 * words.longest() + 8,
            longest => longest,
        };
        Ok(Self {
            model,
            isa,
            order,
            batch,
            steps,
            steps_of_round,
            teacher: settings.number("teacher"),
            rule: if settings.word("optimiser") == "adam" { Rule::Adam } else { Rule::Sgd },
            rate: settings.number("rate"),
            decay: settings.number("decay"),
            weight_decay: settings.number("weight-decay"),
            clip: settings.number("clip"),
            per_word: settings.word("loss") == "token",
            validate: settings.whole("validate"),
            patience: settings.whole("patience"),
            longest,
            checkpoint: settings.whole("checkpoint"),
        })
    }
}
