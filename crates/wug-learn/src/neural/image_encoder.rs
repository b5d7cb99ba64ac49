//! Sequence models that read images: a ResNet instead of an embedding table.

use serde_json::{Value, json};

use wug_data::{Error, Result};
use wug_nn::Network;
use wug_nn::vision::{Body, Encoder, Reader, Size, kept_of_an_image};

use super::plan::word;
use super::vocabulary::END;
use super::{WINDOW, memory};
use crate::{Setting, Settings};

/// Symbols of an expression, about, for an estimate of memory: how many there are is not known before they are rendered.
const SYMBOLS: u64 = 16;

/// Which ResNet.
pub(super) const IMAGE_ENCODER: Setting = word(
    "image-encoder",
    "the ResNet-18 that reads images: with a quarter of the channels, or the stock one",
    &["quarter", "resnet18"],
);

/// A sequence model that reads images, and its configuration. `words` are those of its source that are no images, and
/// `build` makes it for as many.
pub(super) fn with_image_encoder(
    settings: &Settings,
    (words, embedding): (usize, usize),
    model: &Value,
    build: impl FnOnce(usize) -> Result<Box<dyn Network<f32>>, String>,
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
    let kept = kept_of_an_image(&encoder.body, encoder.size, 1).map_err(Error::usage)?;
    let config = json!({ "model": model, "encoder": encoder });
    let reader = build(words).and_then(|model| Reader::new(encoder, model)).map_err(Error::usage)?;
    let images = settings.whole("batch").saturating_mul(SYMBOLS);
    memory::check(training_bytes(reader.layout().len(), kept, images), "batch, hidden or width")?;
    Ok((reader.network(), config))
}

/// About how much memory training takes: parameters with their gradients and moments and packed twice, and what is kept of the
/// images of a batch.
pub(super) fn training_bytes(parameters: usize, kept_of_an_image: u64, images: u64) -> u64 {
    images.saturating_mul(kept_of_an_image).saturating_add(7 * parameters as u64).saturating_mul(4)
}
