//! Networks that see: the learners of the MNS paper.

use std::sync::LazyLock;

use wug_data::{Error, Picture, Result};
use wug_nn::Network;
use wug_nn::vision::{Body, Classifier, Config, Head, Size, kept_of_an_image};

use super::image_encoder::training_bytes;
use super::plan::{TRAINING, changed, joined, number, whole};
use super::preprocess::Preprocess;
use super::{Blueprint, Built, Neural, Sizes, memory};
use crate::protocols::presets;
use crate::{LearnerInfo, Preset, Reads, Setting, SettingKind, Settings};

/// One of the four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vision {
    /// Four convolutions of the panels as channels, and a hidden layer.
    Cnn,
    /// Four convolutions of each panel, and an LSTM over the panels.
    CnnLstm,
    /// Four convolutions of the panels as channels, and a relation network over the places.
    RelationNetwork,
    /// A ResNet-18 of the panels as channels, and a hidden layer.
    ResNet18,
}

/// The protocol of the paper, for panels of 80 x 80 pixels.
fn protocols() -> &'static [Preset] {
    static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| presets("cnn"));
    &PRESETS
}

/// The protocol of the paper, for panels of 224 x 224 pixels.
fn resnet_protocols() -> &'static [Preset] {
    static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| presets("resnet18"));
    &PRESETS
}

const fn protocol(presets: fn() -> &'static [Preset]) -> Setting {
    Setting {
        name: "protocol",
        about: "the settings of a paper; what is set beside it has precedence",
        default: SettingKind::Preset(presets),
    }
}

const SIDE: Setting = whole("side", "pixels of a side that a panel is resized to", 80, 32, 1024);
const WIDTH: Setting = whole("width", "channels of the first convolution; 0: as the network", 0, 0, 1024);
const HIDDEN: Setting =
    whole("hidden", "units of the layers after the convolutions; 0: as the network", 0, 0, 8192);
const DROPOUT: Setting = number("dropout", "share of units dropped before the last layer", 0.5, 0.0, 0.95);

const MODEL: &[Setting] = &[protocol(protocols), SIDE, WIDTH, HIDDEN, DROPOUT];
const RESNET: &[Setting] = &[protocol(resnet_protocols), SIDE, WIDTH, HIDDEN, DROPOUT];

/// Training of these networks starts from other settings than that of recurrent ones.
const TUNED: [Setting; TRAINING.len()] = {
    let tuned = joined::<{ TRAINING.len() }>(TRAINING, &[]);
    let tuned = changed(tuned, "batch", SettingKind::Whole { default: 32, least: 1, most: 1 << 16 });
    let tuned = changed(tuned, "rate", SettingKind::Number { default: 1e-3, least: 0.0, most: 1e3 });
    changed(tuned, "order", SettingKind::Word(&["shuffled", "drawn", "bucketed"]))
};

const SETTINGS: &[Setting] = &joined::<{ MODEL.len() + TRAINING.len() }>(MODEL, &TUNED);
const RESNET_SETTINGS: &[Setting] = &joined::<{ RESNET.len() + TRAINING.len() }>(RESNET, &TUNED);

macro_rules! learners {
    ($($constant:ident $name:literal $title:literal $blueprint:ident $settings:ident)*) => {
        $(
            #[doc = $title]
            pub static $constant: Neural<Vision> = Neural {
                about: &LearnerInfo {
                    name: $name,
                    title: $title,
                    benchmarks: &["mns"],
                    reads: Reads::Images,
                    settings: $settings,
                },
                blueprint: Vision::$blueprint,
            };
        )*
    };
}

learners! {
    CNN "cnn" "convolutional network over the panels" Cnn SETTINGS
    CNN_LSTM "cnn-lstm" "convolutional network of each panel and an LSTM over them" CnnLstm SETTINGS
    RELATION_NETWORK "relation-network" "convolutional network and relations between places" RelationNetwork SETTINGS
    RESNET18 "resnet18" "ResNet-18 over the panels" ResNet18 RESNET_SETTINGS
}

impl Vision {
    /// The convolutions, with `width` channels in the first, and the head.
    fn parts(self, width: u64, hidden: u64, dropout: f64) -> (Body, Head) {
        let or = |given: u64, own: usize| if given == 0 { own } else { given as usize };
        let plain = |own: usize, padding, rectify_first| Body::Plain {
            widths: vec![or(width, own); 4],
            padding,
            rectify_first,
        };
        let units = or(hidden, if matches!(self, Self::CnnLstm | Self::RelationNetwork) { 256 } else { 512 });
        match self {
            Self::Cnn => (plain(32, 0, false), Head::Hidden { units, dropout }),
            Self::CnnLstm => (plain(16, 0, false), Head::Lstm { units }),
            Self::RelationNetwork => (plain(24, 1, true), Head::Relation { units, dropout }),
            Self::ResNet18 => {
                let first = or(width, 64);
                let widths = [1, 2, 4, 8].map(|times| times * first).to_vec();
                (Body::Residual { widths, blocks: 2 }, Head::Hidden { units, dropout })
            }
        }
    }
}

impl Blueprint for Vision {
    fn preprocess(&self, settings: &Settings, first: &Picture) -> Preprocess {
        Preprocess::panels(first, settings.whole("side") as usize)
    }

    fn build(&self, settings: &Settings, sizes: Sizes) -> Result<Built> {
        let side = settings.whole("side") as usize;
        let [width, hidden] = ["width", "hidden"].map(|name| settings.whole(name));
        let (body, head) = self.parts(width, hidden, settings.number("dropout"));
        // An answer is one word, and what ends a target is none.
        if sizes.longest_target != 2 {
            return Err(Error::usage("these networks answer with one word: the targets have more"));
        }
        let config = Config {
            frames: sizes.frames,
            size: Size { height: side, width: side },
            pixel: 1.0,
            body,
            head,
            classes: sizes.target_words - 1,
        };
        let kept = kept_of_an_image(&config.body, config.size, config.frames).map_err(Error::usage)?;
        let described = serde_json::to_value(&config).expect("plain data");
        let network = Classifier::new(config).map_err(Error::usage)?;
        let needed = training_bytes(network.layout().len(), kept, settings.whole("batch"));
        memory::check(needed, "batch, side or width")?;
        Ok(Built { network: network.network(), config: described, width: 1 })
    }
}
