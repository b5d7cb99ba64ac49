//! Recurrent encoders and decoders: the models of the SCAN, NACS, HINT and ReCOGS papers.

mod decoder;
mod encoder;
mod layer;
#[cfg(test)]
mod twin;

use serde::{Deserialize, Serialize};

use crate::Real;
use crate::batch::Batch;
use crate::linear::Linear;
use crate::network::{Network, Outcome, Pass, Query, Shard};
use crate::parameters::{Id, Layout, Start};

pub use layer::Cell;
use layer::Layer;

/// What the decoder is fed before it has said anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Begin {
    /// The vector of a start symbol, learnt like that of a word.
    Learned,
    /// Zeros.
    Zero,
}

/// How the last states of the encoder become the first of the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bridge {
    /// As they are.
    Copy,
    /// `tanh(W x + b)` of both directions.
    Linear,
}

/// What a word is predicted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// `W s + b` of the decoder's state.
    State,
    /// `W_o (W_e e + W_s s + W_c c)` of the last word, the state and the context.
    PreOutput,
}

/// A recurrent encoder and decoder. The variants of the papers differ in these fields and in nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The cell of all layers.
    pub cell: Cell,
    /// Layers of the encoder.
    pub encoder_layers: usize,
    /// Layers of the decoder.
    pub decoder_layers: usize,
    /// Hidden units of each layer and direction.
    pub hidden: usize,
    /// Size of the vector of a word.
    pub embedding: usize,
    /// Whether the encoder also reads from the end.
    pub bidirectional: bool,
    /// Whether the decoder attends to the encoder's states, additively, by its own state before the step.
    pub attention: bool,
    /// Whether the decoder sees the word before; without, it has the context alone.
    pub dependence: bool,
    /// What the decoder is fed first.
    pub begin: Begin,
    /// From the encoder's states to the decoder's.
    pub bridge: Bridge,
    /// What a word is predicted from.
    pub output: Output,
    /// Probability of dropout: of words' vectors, between layers, and before a pre-output layer.
    pub dropout: f64,
    /// Words of the source, its special ones included.
    pub source_words: usize,
    /// Words of the target; word 0 ends it.
    pub target_words: usize,
}

impl Config {
    /// Why this is no model, if it is none.
    pub fn check(&self) -> Result<(), String> {
        let sizes = [self.encoder_layers, self.decoder_layers, self.hidden, self.embedding];
        if sizes.contains(&0) || self.source_words == 0 || self.target_words == 0 {
            return Err("a model needs layers, units and words".to_owned());
        }
        if self.encoder_layers.max(self.decoder_layers) > 16 || self.hidden.max(self.embedding) > 1 << 14 {
            return Err("a model has at most 16 layers of 16,384 units".to_owned());
        }
        if self.source_words.max(self.target_words) > 1 << 24 {
            return Err("a model has at most 16,777,216 words".to_owned());
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(format!("dropout {} is not in [0, 1)", self.dropout));
        }
        if self.decoder_layers > self.encoder_layers {
            return Err("the decoder has more layers than the encoder".to_owned());
        }
        if self.bridge == Bridge::Copy && self.bidirectional {
            return Err(
                "the states of a bidirectional encoder cannot be copied: bridge must be linear".to_owned()
            );
        }
        if !self.dependence && !self.attention {
            return Err("without the word before, the decoder needs attention".to_owned());
        }
        Ok(())
    }
}

/// Additive attention.
#[derive(Debug, Clone)]
pub(crate) struct Attention {
    pub(crate) query: Linear,
    pub(crate) key: Linear,
    pub(crate) v: Id,
}

/// A model: what its configuration says, laid out in one flat buffer of parameters.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) config: Config,
    pub(crate) layout: Layout,
    pub(crate) source_table: Id,
    pub(crate) target_table: Option<Id>,
    /// For each layer, one or two directions.
    pub(crate) encoder: Vec<Vec<Layer>>,
    pub(crate) decoder: Vec<Layer>,
    /// For each layer of the decoder, one for the state and one for the memory.
    pub(crate) bridges: Vec<Vec<Linear>>,
    pub(crate) attention: Option<Attention>,
    /// From the word, the state and the context, where there are such.
    pub(crate) pre_output: Vec<Linear>,
    pub(crate) output: Linear,
}

impl Model {
    /// Lays the model out.
    pub fn new(config: Config) -> Result<Self, String> {
        config.check()?;
        let mut layout = Layout::default();
        let (h, e) = (config.hidden, config.embedding);
        let directions: &[&str] = if config.bidirectional { &["forward", "backward"] } else { &["forward"] };
        let memory = directions.len() * h;

        let source_table = layout.add("encoder.words", config.source_words, e, Start::Table);
        let mut encoder = Vec::new();
        for l in 0..config.encoder_layers {
            let input = if l == 0 { e } else { memory };
            let layer = |direction: &&str| {
                let name = format!("encoder.{l}.{direction}");
                Layer::new(&mut layout, &name, config.cell, &[("input", input)], h)
            };
            encoder.push(directions.iter().map(layer).collect());
        }

        let start_symbol = usize::from(config.begin == Begin::Learned);
        let target_table = config
            .dependence
            .then(|| layout.add("decoder.words", config.target_words + start_symbol, e, Start::Table));
        let attention = config.attention.then(|| Attention {
            query: Linear::new(&mut layout, "attention.query", h, h, false),
            key: Linear::new(&mut layout, "attention.key", memory, h, false),
            v: layout.add("attention.v", 1, h, Start::Vector(1.0 / (h as f64).sqrt())),
        });
        let mut pieces: Vec<(&str, usize)> = Vec::new();
        pieces.extend(config.dependence.then_some(("word", e)));
        pieces.extend(config.attention.then_some(("context", memory)));
        let mut decoder = Vec::new();
        for l in 0..config.decoder_layers {
            let input = if l == 0 { pieces.as_slice() } else { &[("input", h)] };
            decoder.push(Layer::new(&mut layout, &format!("decoder.{l}"), config.cell, input, h));
        }
        let mut bridges = Vec::new();
        if config.bridge == Bridge::Linear {
            for l in 0..config.decoder_layers {
                let kinds: &[&str] = if config.cell.has_memory() { &["state", "memory"] } else { &["state"] };
                let linear =
                    |kind: &&str| Linear::new(&mut layout, &format!("bridge.{l}.{kind}"), memory, h, true);
                bridges.push(kinds.iter().map(linear).collect());
            }
        }
        let mut pre_output = Vec::new();
        if config.output == Output::PreOutput {
            let mut inputs: Vec<(&str, usize)> = Vec::new();
            inputs.extend(config.dependence.then_some(("word", e)));
            inputs.push(("state", h));
            inputs.extend(config.attention.then_some(("context", memory)));
            for (piece, width) in inputs {
                pre_output.push(Linear::new(&mut layout, &format!("pre-output.{piece}"), width, h, false));
            }
        }
        let bias = config.output == Output::State;
        let output = Linear::new(&mut layout, "output", h, config.target_words, bias);
        Ok(Self {
            config,
            layout,
            source_table,
            target_table,
            encoder,
            decoder,
            bridges,
            attention,
            pre_output,
            output,
        })
    }

    /// What it was made from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Numbers in a state of the encoder, both directions together.
    pub(crate) fn memory_width(&self) -> usize {
        self.config.hidden * self.encoder[0].len()
    }
}

impl<T: Real> Network<T> for Model {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn learn(&self, pass: &mut Pass<'_, T>, shard: &Shard<'_>, gradients: &mut [T]) -> Outcome {
        let batch = Batch::new(shard.lessons, shard.first);
        let encoded = self.encode(pass, &batch, shard.step.key);
        let first = self.bridge(pass, &encoded.last);
        let mut decoded = self.decode(pass, &batch, &encoded, &first, shard.step.key);
        let right = batch.right(&decoded.said);
        let (loss, d_memory, d_first) =
            self.decode_backward(pass, &batch, &encoded, &mut decoded, shard.step, gradients);
        let d_last = self.bridge_backward(pass, &encoded.last, &first, d_first, gradients);
        self.encode_backward(pass, &batch, &encoded, d_memory, &d_last, gradients);
        encoded.recycle(pass);
        decoded.recycle(pass);
        Outcome { loss, words: batch.target_words.len(), right }
    }

    fn answer(&self, pass: &mut Pass<'_, T>, queries: &[Query<'_>], longest: usize) -> Vec<Option<Vec<u32>>> {
        let batch = Batch::queries(queries, longest + 1);
        let encoded = self.encode(pass, &batch, None);
        let first = self.bridge(pass, &encoded.last);
        let decoded = self.decode(pass, &batch, &encoded, &first, None);
        batch.answers(&decoded.said)
    }
}
