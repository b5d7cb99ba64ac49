use serde::{Deserialize, Serialize};

/// How a model knows where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Positions {
    /// Sines and cosines of the position, added to the words' vectors.
    Sinusoidal,
    /// A learned embedding for each of this number of positions, added to the token embeddings.
    Learned(usize),
    /// None at the words; self-attention scores each query and key also by the sines and cosines of their distance,
    /// through a learnt matrix, as Transformer-XL does. What is farther than `clip` counts as at `clip`.
    Relative {
        /// The farthest distance, if there is one.
        clip: Option<usize>,
    },
}

/// Where layer normalisation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// After each residual sum.
    Post,
    /// Before each sub-layer, and at the end.
    Pre,
}

/// Between the two matrices of a feed-forward layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// `max(x, 0)`.
    Relu,
    /// `x` times the share of a normal distribution below `x`.
    Gelu,
}

/// How parameters start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Initial {
    /// Uniform, within `sqrt(6 / (inputs + outputs))`.
    Xavier,
    /// Normal, with deviation 0.02.
    Bert,
}

/// A Transformer with an encoder and a decoder. The variants of the papers differ in these fields and in nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
// Each is a choice of its own, and any two go together.
#[allow(clippy::struct_excessive_bools)]
pub struct Config {
    /// Layers of the encoder.
    pub encoder_layers: usize,
    /// Layers of the decoder.
    pub decoder_layers: usize,
    /// Numbers between layers.
    pub width: usize,
    /// Heads of attention; they divide the width.
    pub heads: usize,
    /// Hidden units of the feed-forward layers.
    pub feed_forward: usize,
    /// Size of the vector of a word. Where it is not the width, a linear map follows.
    pub embedding: usize,
    /// Where words stand.
    pub positions: Positions,
    /// Where layer normalisation stands.
    pub norm: Norm,
    /// Inside the feed-forward layers.
    pub activation: Activation,
    /// Whether the matrices of attention have biases.
    pub attention_bias: bool,
    /// Whether all layers of the encoder are one layer applied again, and so those of the decoder.
    pub shared: bool,
    /// Whether the table of the target's words is the output matrix, too.
    pub tied: bool,
    /// Whether words' vectors are multiplied by the root of the width.
    pub scale_words: bool,
    /// Whether words and positions are normalised before the first layer.
    pub norm_words: bool,
    /// Probability of dropout: of words and positions, weights of attention, and outputs of sub-layers.
    pub dropout: f64,
    /// Whether hidden units of feed-forward layers are dropped, too.
    pub drop_hidden: bool,
    /// How parameters start.
    pub initial: Initial,
    /// Words of the source, its special ones included.
    pub source_words: usize,
    /// Words of the target; word 0 ends it.
    pub target_words: usize,
    /// How many of the last words of the target are special: no target has them, and an answer ends where they are said.
    /// The first of them is the start symbol; where there is none, the table has a row more for it.
    pub special: usize,
    /// A word that every source begins with.
    pub source_start: Option<u32>,
    /// Whether the first word that the decoder has to say is the start symbol, which it is fed once more.
    #[serde(default, skip_serializing_if = "is_not")]
    pub says_start: bool,
    /// Whether a matrix, GELU and normalisation stand before the output, as in BERT.
    #[serde(default, skip_serializing_if = "is_not")]
    pub head: bool,
}

/// What was not there before is not written, so that models without it are still known.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_not(flag: &bool) -> bool {
    !flag
}

impl Config {
    /// A small model with the details of OpenNMT: two layers each, sinusoidal positions, normalisation after the sum, ReLU.
    pub fn small(source_words: usize, target_words: usize) -> Self {
        Self {
            encoder_layers: 2,
            decoder_layers: 2,
            width: 128,
            heads: 4,
            feed_forward: 512,
            embedding: 128,
            positions: Positions::Sinusoidal,
            norm: Norm::Post,
            activation: Activation::Relu,
            attention_bias: false,
            shared: false,
            tied: false,
            scale_words: true,
            norm_words: false,
            dropout: 0.1,
            drop_hidden: true,
            initial: Initial::Xavier,
            source_words,
            target_words,
            special: 0,
            source_start: None,
            says_start: false,
            head: false,
        }
    }

    /// Validates the configuration: what is wrong with it, if anything.
    pub fn check(&self) -> Result<(), String> {
        let sizes = [self.encoder_layers, self.decoder_layers, self.width, self.heads, self.feed_forward];
        if sizes.contains(&0) || self.embedding == 0 || self.source_words == 0 || self.target_words == 0 {
            return Err("a model needs layers, units, heads and words".to_owned());
        }
        if self.encoder_layers.max(self.decoder_layers) > 64 {
            return Err("a model has at most 64 layers".to_owned());
        }
        if self.width.max(self.embedding).max(self.feed_forward) > 1 << 14 {
            return Err("a layer has at most 16,384 units".to_owned());
        }
        if self.source_words.max(self.target_words) > 1 << 24 {
            return Err("a model has at most 16,777,216 words".to_owned());
        }
        if !self.width.is_multiple_of(self.heads) {
            return Err(format!("{} heads do not divide a width of {}", self.heads, self.width));
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(format!("dropout {} is not in [0, 1)", self.dropout));
        }
        match self.positions {
            Positions::Learned(0) => Err("learned positions need a longest sequence".to_owned()),
            Positions::Learned(longest) if longest > 1 << 20 => {
                Err("a model learns at most 1,048,576 positions".to_owned())
            }
            _ if self.special >= self.target_words => {
                Err("the target has no words but special ones".to_owned())
            }
            _ if self.source_start.is_some_and(|start| start as usize >= self.source_words) => {
                Err("the start symbol of sources is no word of theirs".to_owned())
            }
            _ if self.tied && self.embedding != self.width => {
                Err("a tied output needs words' vectors as wide as the model".to_owned())
            }
            _ if self.says_start && self.special == 0 => {
                Err("a start symbol that is said has to be among the words of the target".to_owned())
            }
            _ if self.tied && self.special == 0 => {
                Err("a tied output needs a start symbol among the words of the target".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The longest sequence, if there is one.
    pub fn longest(&self) -> Option<usize> {
        match self.positions {
            Positions::Learned(longest) => Some(longest),
            _ => None,
        }
    }

    /// How many words the decoder says before the target.
    pub(super) fn before(&self) -> usize {
        usize::from(self.says_start)
    }

    /// What the decoder is fed first.
    pub(super) fn start(&self) -> u32 {
        (self.target_words - self.special) as u32
    }

    /// Numbers of one head.
    pub(super) fn head(&self) -> usize {
        self.width / self.heads
    }
}
