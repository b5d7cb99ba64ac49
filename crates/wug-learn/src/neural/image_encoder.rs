//! Sequence models that read images: a ResNet instead of an embedding table.

use serde_json::{Value, json};

use wug_data::{Error, Result};
use wug_nn::Network;
use wug_nn::vision::{Body, Encoder, Reader, Size};

use super::WINDOW;
use super::plan::word;
use super::vocabulary::END;
use crate::{Setting, Settings};

/// Which ResNet.
pub(super) const IMAGE_ENCODER: Setting = word(
    "image-encoder",
    "the ResNet-18 that reads images: with a quarter of the channels, or the stock one",
    &["quarter", "resnet18"],
);

/// A sequence model that reads images, and its configuration. `words` are those of its source that are no images, and
/// `build` makes it for a vocabulary of this size.
pub(super) fn with_image_encoder(
    settings: &Settings,
    (words, embedding): (usize, usize),
    model: &Value,
    build: impl Fn(usize) -> Result<Box<dyn Network<f32>>, String> + Send + Sync + 'static,
) -> Result<(Box<dyn Network<f32>>, Value)> {
    let body = match settings.word("image-encoder") {
        "resnet18" => Body::resnet18(),
        _ => Body::Residual { widths: vec![16, 32, 64, 128], blocks: 2 },
    };
    let encoder = Encoder {
        size: Size { height: WINDOW, width: WINDOW },
        pixel: 1.0 / 255.0,
        body,
        embedding,
        words,
        end: END,
    };
    let config = json!({ "model": model, "encoder": encoder });
    let reader = Reader::new(encoder, build).map_err(Error::usage)?;
    Ok((reader.network(), config))
}
