//! Transformers: the learners of the COGS, ReCOGS and HINT papers.

use wug_data::{Error, Result};
use wug_nn::transformer::{Activation, Config, Initial, Model, Norm, Positions};

use super::plan::{TRAINING, changed, joined, number, whole, word};
use super::{Blueprint, Built, Neural, Sizes};
use crate::settings::Default;
use crate::{About, Setting, Settings};

/// One of the four: positions absolute or relative, layers of their own or one shared by all.
pub struct Transformer {
    relative: bool,
    shared: bool,
}

/// What 0 means of a size, and `style` of a word.
const MODEL: &[Setting] = &[
    word("style", "the model of which paper: its sizes and details", &["small", "hint", "cogs", "recogs"]),
    whole("encoder-layers", "layers of the encoder; 0: as the style", 0, 0, 64),
    whole("decoder-layers", "layers of the decoder; 0: as the style", 0, 0, 64),
    whole("width", "numbers between layers; 0: as the style", 0, 0, 8192),
    whole("heads", "heads of attention; 0: as the style", 0, 0, 256),
    whole("feed-forward", "hidden units of the feed-forward layers; 0: as the style", 0, 0, 16384),
    whole("embedding", "size of a word's vector; 0: as the style, or as width", 0, 0, 8192),
    word("norm", "where layers are normalised", &["style", "post", "pre"]),
    word("positions", "how absolute positions are coded", &["style", "sinusoidal", "learned"]),
    whole("farthest", "relative distances beyond count as this one; 0: as the style", 0, 0, 1 << 20),
    number("dropout", "share of units dropped in training; -1: as the style", -1.0, -1.0, 0.95),
];

/// Training of a Transformer starts from other settings than that of a recurrent model.
const TUNED: [Setting; TRAINING.len()] = {
    let tuned = joined::<{ TRAINING.len() }>(TRAINING, &[]);
    let tuned = changed(tuned, "rate", Default::Number { default: 5e-4, least: 0.0, most: 1e3 });
    let tuned = changed(tuned, "schedule", Default::Word(&["linear", "constant", "exponential", "noam"]));
    let tuned = changed(tuned, "warmup", Default::Whole { default: 400, least: 0, most: u64::MAX });
    let tuned = changed(tuned, "order", Default::Word(&["shuffled", "drawn", "bucketed"]));
    changed(tuned, "loss", Default::Word(&["token", "sequence"]))
};

const SETTINGS: &[Setting] = &joined::<{ MODEL.len() + TRAINING.len() }>(MODEL, &TUNED);

macro_rules! learners {
    ($($constant:ident $name:literal $title:literal $relative:literal $shared:literal)*) => {
        $(
            #[doc = $title]
            pub static $constant: Neural<Transformer> = Neural {
                about: &About { name: $name, title: $title, benchmarks: &[], settings: SETTINGS },
                blueprint: Transformer { relative: $relative, shared: $shared },
            };
        )*
    };
}

learners! {
    TRANSFORMER "transformer" "Transformer with absolute positions" false false
    TRANSFORMER_REL "transformer-rel" "Transformer whose self-attention knows distances" true false
    TRANSFORMER_UNI "transformer-uni" "transformer with one layer that is applied again and again" false true
    TRANSFORMER_REL_UNI "transformer-rel-uni" "transformer-rel with one layer that is applied again and again" true true
}

impl Transformer {
    /// The model of a style.
    fn style(&self, style: &str, sizes: Sizes) -> Config {
        // The code of the HINT paper loses the limit on the way to the universal model.
        let clip = (!self.shared).then_some(15);
        let small = Config {
            encoder_layers: 2,
            decoder_layers: 2,
            width: 128,
            heads: 4,
            feed_forward: 512,
            embedding: 128,
            positions: if self.relative { Positions::Relative { clip } } else { Positions::Sinusoidal },
            norm: Norm::Post,
            activation: Activation::Relu,
            attention_bias: false,
            shared: self.shared,
            tied: false,
            scale_words: true,
            norm_words: false,
            dropout: 0.1,
            drop_hidden: true,
            initial: Initial::Xavier,
            source_words: sizes.source_words,
            target_words: sizes.target_words,
            special: 0,
            source_start: None,
        };
        match style {
            // START before each source; START and NULL are words of the target.
            "hint" => Config {
                encoder_layers: 6,
                decoder_layers: 1,
                width: 512,
                heads: 8,
                feed_forward: 2048,
                embedding: 128,
                source_words: sizes.source_words + 1,
                source_start: Some(sizes.source_words as u32),
                target_words: sizes.target_words + 2,
                special: 2,
                ..small
            },
            "cogs" => Config { width: 512, feed_forward: 512, embedding: 512, ..small },
            "recogs" => Config {
                width: 300,
                feed_forward: 512,
                embedding: 300,
                positions: if self.relative { small.positions } else { Positions::Learned(POSITIONS) },
                activation: Activation::Gelu,
                attention_bias: true,
                tied: true,
                scale_words: false,
                norm_words: true,
                drop_hidden: false,
                initial: Initial::Bert,
                source_words: sizes.source_words + 1,
                source_start: Some(sizes.source_words as u32),
                target_words: sizes.target_words + 1,
                special: 1,
                ..small
            },
            _ => small,
        }
    }
}

/// Positions of the ReCOGS paper.
const POSITIONS: usize = 512;

impl Blueprint for Transformer {
    fn build(&self, settings: &Settings, sizes: Sizes) -> Result<Built> {
        if settings.number("teacher") < 1.0 {
            return Err(Error::usage("a Transformer is always fed the target: leave out teacher"));
        }
        let style = self.style(settings.word("style"), sizes);
        let size = |name: &str, of_style: usize| match settings.whole(name) {
            0 => of_style,
            size => size as usize,
        };
        let width = size("width", style.width);
        let of_style = if style.embedding == style.width { width } else { style.embedding };
        let positions = match (style.positions, settings.word("positions")) {
            (Positions::Relative { clip }, "style") => match settings.whole("farthest") {
                0 => Positions::Relative { clip },
                farthest => Positions::Relative { clip: Some(farthest as usize) },
            },
            (Positions::Relative { .. }, _) => {
                return Err(Error::usage("this learner has relative positions: leave out positions"));
            }
            (_, "sinusoidal") => Positions::Sinusoidal,
            (_, "learned") => Positions::Learned(POSITIONS),
            (positions, _) => positions,
        };
        let embedding = size("embedding", of_style);
        let config = Config {
            encoder_layers: size("encoder-layers", style.encoder_layers),
            decoder_layers: size("decoder-layers", style.decoder_layers),
            width,
            heads: size("heads", style.heads),
            feed_forward: size("feed-forward", style.feed_forward),
            embedding,
            positions,
            norm: match settings.word("norm") {
                "pre" => Norm::Pre,
                "post" => Norm::Post,
                _ => style.norm,
            },
            tied: style.tied && embedding == width,
            dropout: match settings.number("dropout") {
                dropout if dropout < 0.0 => style.dropout,
                dropout => dropout,
            },
            ..style
        };
        fits(&config, sizes)?;
        let described = serde_json::to_value(&config).expect("plain data");
        let model = Model::new(config).map_err(Error::usage)?;
        Ok(Built { network: Box::new(model), config: described, width })
    }
}

/// Whether the training examples are short enough for the positions of the model.
fn fits(config: &Config, sizes: Sizes) -> Result<()> {
    let Some(limit) = config.longest() else { return Ok(()) };
    let source = sizes.longest_source + usize::from(config.source_start.is_some());
    for (what, longest) in [("source", source), ("target", sizes.longest_target)] {
        if longest > limit {
            return Err(Error::usage(format!(
                "the longest {what} of the training examples has {longest} words, special ones included, and this model \
                 {limit} positions: use positions=sinusoidal, or a learner with relative positions"
            )));
        }
    }
    Ok(())
}
