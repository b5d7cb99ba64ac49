//! Recurrent encoders and decoders: the learners of the SCAN, NACS, HINT and ReCOGS papers.

use std::sync::LazyLock;

use wug_data::{Error, InputKind, Result};
use wug_nn::Network;
use wug_nn::recurrent::{Attention, Begin, Bridge, Cell, Config, Output, RecurrentNetwork};

use super::image_encoder::{IMAGE_ENCODER, with_image_encoder};
use super::plan::{TRAINING, joined, number, whole, word};
use super::{Blueprint, Built, Neural, Sizes};
use crate::protocols::presets;
use crate::{LearnerInfo, Preset, Reads, Setting, SettingKind, Settings};

/// One of the nine: a cell, with attention or not, with the word before or not.
pub struct Recurrent {
    cell: Cell,
    attention: bool,
    dependence: bool,
}

/// The protocols of the papers.
fn protocols() -> &'static [Preset] {
    static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| presets("lstm"));
    &PRESETS
}

const MODEL: &[Setting] = &[
    Setting {
        name: "protocol",
        about: "the settings of a paper; what is set beside it has precedence",
        default: SettingKind::Preset(protocols),
    },
    word(
        "style",
        "the model of which paper: how states are passed on and words predicted",
        &["scan", "nacs", "hint", "recogs"],
    ),
    whole("layers", "layers of encoder and decoder", 1, 1, 16),
    whole("decoder-layers", "layers of the decoder; 0: as many as the encoder", 0, 0, 16),
    whole("hidden", "hidden units per layer and direction", 128, 1, 8192),
    whole("embedding", "embedding size; 0: as hidden", 0, 0, 8192),
    number("dropout", "dropout rate", 0.0, 0.0, 0.95),
    IMAGE_ENCODER,
];

const SETTINGS: &[Setting] = &joined::<{ MODEL.len() + TRAINING.len() }>(MODEL, TRAINING);

macro_rules! learners {
    ($($constant:ident $name:literal $title:literal $cell:ident $attention:literal $dependence:literal)*) => {
        $(
            #[doc = $title]
            pub static $constant: Neural<Recurrent> = Neural {
                about: &LearnerInfo { name: $name, title: $title, benchmarks: &[], reads: Reads::Any, settings: SETTINGS },
                blueprint: Recurrent { cell: Cell::$cell, attention: $attention, dependence: $dependence },
            };
        )*
    };
}

learners! {
    RNN "rnn" "simple recurrent encoder and decoder" Rnn false true
    RNN_ATTN "rnn-attn" "simple recurrent encoder and decoder with attention" Rnn true true
    RNN_ATTN_NODEP "rnn-attn-nodep" "rnn-attn whose decoder does not see its last word" Rnn true false
    GRU "gru" "GRU encoder and decoder" Gru false true
    GRU_ATTN "gru-attn" "GRU encoder and decoder with attention" Gru true true
    GRU_ATTN_NODEP "gru-attn-nodep" "gru-attn whose decoder does not see its last word" Gru true false
    LSTM "lstm" "LSTM encoder and decoder" Lstm false true
    LSTM_ATTN "lstm-attn" "LSTM encoder and decoder with attention" Lstm true true
    LSTM_ATTN_NODEP "lstm-attn-nodep" "lstm-attn whose decoder does not see its last word" Lstm true false
}

impl Blueprint for Recurrent {
    fn has_states(&self) -> bool {
        true
    }

    fn build(&self, settings: &Settings, sizes: Sizes) -> Result<Built> {
        let style = settings.word("style");
        let (linked, dot) = (style == "nacs" || style == "hint", style == "recogs");
        let whole = |name: &str| settings.whole(name) as usize;
        let (hidden, layers) = (whole("hidden"), whole("layers"));
        let or = |number: usize, default: usize| if number == 0 { default } else { number };
        let config = Config {
            cell: self.cell,
            encoder_layers: layers,
            decoder_layers: or(whole("decoder-layers"), layers),
            hidden,
            embedding: or(whole("embedding"), hidden),
            bidirectional: linked,
            attention: match (self.attention, dot) {
                (false, _) => Attention::None,
                (true, false) => Attention::Additive,
                (true, true) => Attention::Dot,
            },
            attention_bias: style == "hint",
            dependence: self.dependence,
            begin: if style == "nacs" { Begin::Zero } else { Begin::Learned },
            bridge: if linked { Bridge::Linear } else { Bridge::Copy },
            output: match (style, self.attention) {
                ("nacs", true) => Output::PreOutput,
                ("hint", true) => Output::Joint,
                ("scan", true) => Output::Context,
                ("recogs", _) => Output::Tied,
                _ => Output::State,
            },
            dropout: settings.number("dropout"),
            source_words: sizes.source_words,
            target_words: sizes.target_words,
        };
        let described = serde_json::to_value(&config).expect("plain data");
        if sizes.reads == InputKind::Images {
            let table = (config.source_words, config.embedding);
            let build = move |source_words| -> Result<Box<dyn Network<f32>>, String> {
                Ok(RecurrentNetwork::new(Config { source_words, ..config.clone() })?.network())
            };
            let (network, config) = with_image_encoder(settings, table, &described, build)?;
            return Ok(Built { network, config, width: hidden });
        }
        let model = RecurrentNetwork::new(config).map_err(Error::usage)?;
        Ok(Built { network: model.network(), config: described, width: hidden })
    }
}
