//! Recurrent encoders and decoders: the models of the SCAN, NACS, HINT and ReCOGS papers.

#[cfg(feature = "burn")]
mod burn_model;
mod decoder;
mod encoder;
pub(crate) mod layer;
#[cfg(test)]
mod reference;

use serde::{Deserialize, Serialize};

use crate::Real;
use crate::batch::Batch;
use crate::linear::Linear;
use crate::network::{Context, Network, Outcome, Query, Shard};
use crate::parameters::{Gradients, Init, Layout, TensorId};

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

/// How the decoder attends to the encoder's states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attention {
    /// Not at all.
    None,
    /// `v . tanh(W_q s + W_k m)` of its state before the step; the context is fed to the first layer.
    Additive,
    /// `s . m` of its state after the step; the context is for the prediction alone.
    Dot,
}

/// What a word is predicted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// `W s + b` of the decoder's state.
    State,
    /// `W_o (W_e e + W_s s + W_c c)` of the last word, the state and the context.
    PreOutput,
    /// `W_e e + W_s s + W_c c + b` of the same.
    Joint,
    /// `W_s s + W_c c + b`: the same without the last word.
    Context,
    /// `E tanh(W_s s + W_c c)` with the table E of the words' vectors.
    Tied,
}

impl Output {
    /// Whether the pieces are multiplied into scores, with nothing between.
    pub(crate) fn is_direct(self) -> bool {
        matches!(self, Self::Joint | Self::Context)
    }
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
    /// How the decoder attends to the encoder's states.
    pub attention: Attention,
    /// Whether additive attention has a bias.
    pub attention_bias: bool,
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
    /// Validates the configuration: what is wrong with it, if anything.
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
        if !self.dependence && self.attention != Attention::Additive {
            return Err("without the word before, the decoder needs additive attention".to_owned());
        }
        if self.attention == Attention::Dot && self.bidirectional {
            return Err("states of two directions have no dot product with one of the decoder".to_owned());
        }
        if self.output == Output::Tied && !self.dependence {
            return Err("without the word before, there is no table to be tied to".to_owned());
        }
        Ok(())
    }

    /// What a word is predicted from, unless from the state alone: names and widths.
    fn pieces(&self, memory: usize) -> Vec<(Piece, &'static str, usize)> {
        let mut pieces = Vec::new();
        if self.output == Output::State {
            return pieces;
        }
        if self.dependence && !matches!(self.output, Output::Tied | Output::Context) {
            pieces.push((Piece::Word, "word", self.embedding));
        }
        pieces.push((Piece::State, "state", self.hidden));
        if self.attention != Attention::None {
            pieces.push((Piece::Context, "context", memory));
        }
        pieces
    }
}

/// The parameters of additive attention.
#[derive(Debug, Clone)]
pub(crate) struct Additive {
    pub(crate) query: Linear,
    pub(crate) key: Linear,
    pub(crate) v: TensorId,
}

/// Something that a word is predicted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    Word,
    State,
    Context,
}

/// A model: what its configuration says, laid out in one flat buffer of parameters.
#[derive(Debug, Clone)]
pub struct RecurrentNetwork {
    pub(crate) config: Config,
    pub(crate) layout: Layout,
    pub(crate) source_table: TensorId,
    pub(crate) target_table: Option<TensorId>,
    /// For each layer, one or two directions.
    pub(crate) encoder: Vec<Vec<Layer>>,
    pub(crate) decoder: Vec<Layer>,
    /// For each layer of the decoder, one for the state and one for the memory.
    pub(crate) bridges: Vec<Vec<Linear>>,
    pub(crate) attention: Option<Additive>,
    /// From the word, the state and the context, where there are such.
    pub(crate) pre_output: Vec<(Piece, Linear)>,
    /// The last matrix, where it is not the table of words.
    pub(crate) output: Option<Linear>,
}

impl RecurrentNetwork {
    /// Lays the model out.
    pub fn new(config: Config) -> Result<Self, String> {
        config.check()?;
        let mut layout = Layout::default();
        let (h, e) = (config.hidden, config.embedding);
        let directions: &[&str] = if config.bidirectional { &["forward", "backward"] } else { &["forward"] };
        let memory = directions.len() * h;

        let source_table = layout.add("encoder.words", config.source_words, e, Init::Table);
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
        // A table that is also a factor of products has a smaller deviation, so that they start near 1.
        let table = match config.output {
            Output::Tied => Init::NormalMatrix(1.0 / (e as f64).sqrt()),
            _ => Init::Table,
        };
        let target_table = config
            .dependence
            .then(|| layout.add("decoder.words", config.target_words + start_symbol, e, table));
        let attention = (config.attention == Attention::Additive).then(|| Additive {
            query: Linear::new(&mut layout, "attention.query", h, h, false),
            key: Linear::new(&mut layout, "attention.key", memory, h, config.attention_bias),
            v: layout.add("attention.v", 1, h, Init::Vector(1.0 / (h as f64).sqrt())),
        });
        let mut pieces: Vec<(&str, usize)> = Vec::new();
        pieces.extend(config.dependence.then_some(("word", e)));
        pieces.extend(attention.is_some().then_some(("context", memory)));
        let mut decoder = Vec::new();
        for l in 0..config.decoder_layers {
            let input = if l == 0 { &pieces[..] } else { &[("input", h)] };
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
        let pre_output = config.pieces(memory);
        let width = match config.output {
            Output::Joint | Output::Context => config.target_words,
            Output::Tied => e,
            Output::State | Output::PreOutput => h,
        };
        let piece = |(piece, name, inputs): (Piece, &str, usize)| {
            let bias = config.output.is_direct() && piece == Piece::State;
            (piece, Linear::new(&mut layout, &format!("pre-output.{name}"), inputs, width, bias))
        };
        let pre_output = pre_output.into_iter().map(piece).collect();
        let mut last = |bias| Linear::new(&mut layout, "output", h, config.target_words, bias);
        let output = match config.output {
            Output::State => Some(last(true)),
            Output::PreOutput => Some(last(false)),
            Output::Joint | Output::Context | Output::Tied => None,
        };
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

    /// Scores of a prediction: those of all words, and with a tied table that of the start symbol, which is never said.
    pub(crate) fn outputs(&self) -> usize {
        match (self.config.output, self.target_table) {
            (Output::Tied, Some(table)) => self.layout.tensor(table).rows,
            _ => self.config.target_words,
        }
    }

    /// Decodes queries greedily.
    fn greedy<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        queries: &[Query<'_>],
        longest: usize,
    ) -> (Batch, decoder::Decoded<T>) {
        let batch = Batch::queries(queries, longest + 1);
        let encoded = self.encode(context, &batch, None);
        let first = self.bridge(context, &encoded.last);
        let decoded = self.decode(context, &batch, &encoded, &first, None);
        (batch, decoded)
    }

    /// Numbers in a state of the encoder, both directions together.
    pub(crate) fn memory_width(&self) -> usize {
        self.config.hidden * self.encoder[0].len()
    }
}

impl RecurrentNetwork {
    /// The network in single precision. Compiled here, once, and not in every crate that trains one.
    pub fn network(self) -> Box<dyn Network<f32>> {
        Box::new(self)
    }
}

impl<T: Real> Network<T> for RecurrentNetwork {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn learn(
        &self,
        context: &mut Context<'_, T>,
        shard: &Shard<'_>,
        gradients: &mut Gradients<'_, T>,
    ) -> Outcome {
        let batch = Batch::new(shard.lessons, shard.first);
        let mut encoded = self.encode(context, &batch, shard.step.key);
        let first = self.bridge(context, &encoded.last);
        let mut decoded = self.decode(context, &batch, &encoded, &first, shard.step.key);
        let right = batch.right(&decoded.said);
        let (loss, d_memory, d_first) =
            self.decode_backward(context, &batch, &encoded, &mut decoded, shard.step, gradients);
        let d_last = self.bridge_backward(context, &encoded.last, &first, d_first, gradients);
        self.encode_backward(context, &batch, &mut encoded, d_memory, &d_last, gradients);
        encoded.recycle(context);
        decoded.recycle(context);
        Outcome { loss, words: batch.target_words.len(), right }
    }

    fn answer(
        &self,
        context: &mut Context<'_, T>,
        queries: &[Query<'_>],
        longest: usize,
    ) -> Vec<Option<Vec<u32>>> {
        let (batch, decoded) = self.greedy(context, queries, longest);
        batch.answers(&decoded.said)
    }

    fn states(
        &self,
        context: &mut Context<'_, T>,
        queries: &[Query<'_>],
        longest: usize,
    ) -> Option<Vec<Vec<T>>> {
        let (batch, decoded) = self.greedy(context, queries, longest);
        let width = self.config.hidden;
        let state = |row: usize| decoded.top()[row * width..][..width].to_vec();
        Some(batch.ends(&decoded.said).into_iter().map(state).collect())
    }

    #[cfg(feature = "burn")]
    fn burn_model(&self) -> Option<crate::device::Portable> {
        Some(crate::device::Portable(Box::new(self.clone())))
    }
}
