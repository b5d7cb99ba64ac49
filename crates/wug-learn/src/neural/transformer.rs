//! Transformers: the learners of the COGS, ReCOGS and HINT papers.

use std::sync::LazyLock;

use wug_data::{Error, InputKind, Result};
use wug_nn::Network;
use wug_nn::transformer::{Activation, Config, Initial, Norm, Positions, TransformerNetwork};

use super::image_encoder::{IMAGE_ENCODER, with_image_encoder};
use super::plan::{TRAINING, changed, joined, number, whole, word};
use super::{Blueprint, Built, Neural, Sizes, memory};
use crate::protocols::presets;
use crate::{LearnerInfo, Preset, Reads, Setting, SettingKind, Settings};

/// One of the four: positions absolute or relative, layers of their own or one shared by all.
pub struct Transformer {
    relative: bool,
    shared: bool,
}

/// The protocols of the papers.
fn protocols() -> &'static [Preset] {
    static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| presets("transformer"));
    &PRESETS
}

/// What 0 means of a size, and `style` of a word.
const MODEL: &[Setting] = &[
    Setting {
        name: "protocol",
        about: "the settings of a paper; what is set beside it has precedence",
        default: SettingKind::Preset(protocols),
    },
    word("style", "the model of which paper: its sizes and details", &["small", "hint", "cogs", "recogs"]),
    whole("encoder-layers", "layers of the encoder; 0: as the style", 0, 0, 64),
    whole("decoder-layers", "layers of the decoder; 0: as the style", 0, 0, 64),
    whole("width", "model width (d_model); 0: as the style", 0, 0, 8192),
    whole("heads", "attention heads; 0: as the style", 0, 0, 256),
    whole("feed-forward", "hidden units of the feed-forward layers; 0: as the style", 0, 0, 16384),
    whole("embedding", "embedding size; 0: as the style, or as width", 0, 0, 8192),
    word("tied", "whether the output layer shares the embedding (weight tying)", &["style", "no"]),
    word("norm", "layer normalisation before or after each sublayer", &["style", "post", "pre"]),
    word("positions", "absolute position encoding", &["style", "sinusoidal", "learned"]),
    whole("farthest", "maximum relative position, farther ones are clipped; 0: as the style", 0, 0, 1 << 20),
    number("dropout", "dropout rate; -1: as the style", -1.0, -1.0, 0.95),
    IMAGE_ENCODER,
];

/// Training of a Transformer starts from other settings than that of a recurrent model.
const TUNED: [Setting; TRAINING.len()] = {
    let tuned = joined::<{ TRAINING.len() }>(TRAINING, &[]);
    let tuned = changed(tuned, "rate", SettingKind::Number { default: 5e-4, least: 0.0, most: 1e3 });
    let tuned = changed(tuned, "warmup", SettingKind::Whole { default: 400, least: 0, most: u64::MAX });
    let tuned = changed(tuned, "order", SettingKind::Word(&["shuffled", "drawn", "bucketed"]));
    changed(tuned, "loss", SettingKind::Word(&["token", "sequence"]))
};

const SETTINGS: &[Setting] = &joined::<{ MODEL.len() + TRAINING.len() }>(MODEL, &TUNED);

macro_rules! learners {
    ($($constant:ident $name:literal $title:literal $relative:literal $shared:literal)*) => {
        $(
            #[doc = $title]
            pub static $constant: Neural<Transformer> = Neural {
                about: &LearnerInfo { name: $name, title: $title, benchmarks: &[], reads: Reads::Any, settings: SETTINGS },
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
            positions: if self.relative { Positions::Relative { clip } } else { Positions::Sinusoidal },
            shared: self.shared,
            ..Config::small(sizes.source_words, sizes.target_words)
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
                says_start: true,
                head: true,
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
            tied: style.tied && embedding == width && settings.word("tied") != "no",
            dropout: match settings.number("dropout") {
                dropout if dropout < 0.0 => style.dropout,
                dropout => dropout,
            },
            ..style
        };
        fits(&config, sizes)?;
        let described = serde_json::to_value(&config).expect("plain data");
        let needed = bytes(&config, sizes);
        let model = TransformerNetwork::new(config.clone()).map_err(Error::usage)?;
        memory::check(needed, "width, layers or the longest examples")?;
        if sizes.reads == InputKind::Images {
            if config.longest().is_some() {
                return Err(Error::usage(
                    "learned positions end, and how many symbols an image has is not known: set positions=sinusoidal",
                ));
            }
            let table = (config.source_words, config.embedding);
            let build = move |source_words| -> Result<Box<dyn Network<f32>>, String> {
                Ok(TransformerNetwork::new(Config { source_words, ..config.clone() })?.network())
            };
            let (network, config) = with_image_encoder(settings, table, &described, build)?;
            return Ok(Built { network, config, width });
        }
        Ok(Built { network: model.network(), config: described, width })
    }
}

/// About how much memory training takes: the parameters with all that goes with them, and what two threads keep of the
/// examples that they compute together for the backward pass.
fn bytes(config: &Config, sizes: Sizes) -> u64 {
    let [width, feed, heads] = [config.width, config.feed_forward, config.heads].map(|size| size as u64);
    let (source, target) = (sizes.longest_source as u64, sizes.longest_target as u64);
    let layers = |count: usize| if config.shared { 1 } else { count as u64 };
    let matrices = layers(config.encoder_layers) * (5 * width * width + 2 * width * feed)
        + layers(config.decoder_layers) * (9 * width * width + 2 * width * feed);
    let words = (config.source_words + 2 * config.target_words) as u64 * width;
    // Values, two moments, packed twice, and gradients in two places or more.
    let parameters = 7 * (matrices + words);
    let rows = 2048.max(source + target);
    let row = config.encoder_layers as u64 * (8 * width + 2 * feed + heads * source)
        + config.decoder_layers as u64 * (13 * width + 2 * feed + heads * (source + target));
    4 * (parameters + 2 * rows * row)
}

/// Whether the training examples are short enough for the positions of the model.
fn fits(config: &Config, sizes: Sizes) -> Result<()> {
    let Some(limit) = config.longest() else { return Ok(()) };
    let source = sizes.longest_source + usize::from(config.source_start.is_some());
    let target = sizes.longest_target + usize::from(config.says_start);
    for (what, longest) in [("source", source), ("target", target)] {
        if longest > limit {
            return Err(Error::usage(format!(
                "the longest {what} of the training examples has {longest} words, special ones included, and this model \
                 {limit} positions: use positions=sinusoidal, or a learner with relative positions"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::learner;

    const SIZES: Sizes = Sizes {
        reads: InputKind::Tokens,
        frames: 0,
        source_words: 18,
        target_words: 11,
        longest_source: 30,
        longest_target: 5,
    };

    fn build(name: &str, given: &[&str], sizes: Sizes) -> Result<Built> {
        let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        let settings = Settings::read(learner(name).unwrap().about(), &given)?;
        let all = [&TRANSFORMER, &TRANSFORMER_REL, &TRANSFORMER_UNI, &TRANSFORMER_REL_UNI];
        let found = all.into_iter().find(|learner| learner.about.name == name).unwrap();
        found.blueprint.build(&settings, sizes)
    }

    #[test]
    fn the_protocol_of_hint_has_the_parameters_of_the_paper() {
        let built = build("transformer-rel-uni", &["protocol=hint"], SIZES).unwrap();
        assert_eq!(built.network.layout().len(), 8_019_469);
        let built = build("transformer-rel-uni", &["protocol=hint", "width=256"], SIZES).unwrap();
        assert_eq!((built.width, &built.config["embedding"]), (256, &128.into()));
    }

    #[test]
    fn all_learners_have_all_styles() {
        for name in ["transformer", "transformer-rel", "transformer-uni", "transformer-rel-uni"] {
            for protocol in ["hint", "cogs", "recogs"] {
                build(name, &[&format!("protocol={protocol}")], SIZES).unwrap();
            }
            build(name, &["norm=pre", "width=48", "heads=3"], SIZES).unwrap();
        }
    }

    #[test]
    fn an_output_of_its_own_has_a_row_for_each_word() {
        let parameters = |tied: &str| {
            let built = build("transformer", &["style=recogs", "width=40", tied], SIZES).unwrap();
            built.network.layout().len()
        };
        assert_eq!(parameters("tied=no") - parameters("tied=style"), 40 * (SIZES.target_words + 1));
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        let long = Sizes { longest_target: 600, ..SIZES };
        let message = |name, given: &[&str], sizes| build(name, given, sizes).err().unwrap().to_string();
        let said = message("transformer", &["style=recogs"], long);
        assert!(said.contains("the longest target") && said.contains("601 words"), "{said}");
        assert!(said.contains("512 positions"), "{said}");
        build("transformer-rel", &["style=recogs"], long).unwrap();
        let said = message("transformer", &["teacher=0.5"], SIZES);
        assert!(said.contains("always fed the target"), "{said}");
        let said = message("transformer-rel", &["positions=learned"], SIZES);
        assert!(said.contains("relative positions"), "{said}");
        if cfg!(target_os = "linux") {
            let huge = ["width=8192", "feed-forward=16384", "encoder-layers=64", "decoder-layers=64"];
            let endless = Sizes { longest_target: 5_000_000, ..SIZES };
            for said in [message("transformer", &huge, SIZES), message("transformer-rel", &[], endless)] {
                assert!(said.contains("GB are free"), "{said}");
            }
        }
        let said = message("transformer", &["width=100", "heads=3"], SIZES);
        assert!(said.contains("3 heads do not divide"), "{said}");
    }
}
