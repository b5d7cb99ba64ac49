//! Networks that see: convolutions with batch normalisation, residual blocks, and what reads them.
//!
//! A [`Body`] is the convolutions. A [`Classifier`] says with a [`Head`] what images show; a [`Reader`] is a sequence model that
//! reads images instead of tokens.
//!
//! Batch normalisation looks at a whole batch, so it is never divided into shards; threads share the places of feature
//! maps instead, and what is added up over a batch is added up in blocks of a fixed size and order.

mod batch_norm;
mod classifier;
mod convolution;
mod geometry;
mod head;
mod pool;
mod reader;
mod relation;
mod trunk;
mod unit;

use crate::network::Context;
use crate::{Buffer, Real};

pub use classifier::{Classifier, Config};
pub use geometry::Size;
pub use head::Head;
pub use reader::{Encoder, Reader};
pub use trunk::{Body, kept_of_an_image};

/// Images whose feature maps lie together: a GEMM reads a matrix with this number of rows at a time.
const GROUP: usize = 48;

/// Feature maps as a row for each image: `[image][place][channel]`.
fn as_rows<T: Real>(context: &mut Context<'_, T>, maps: &[T], places: usize, width: usize) -> Buffer<T> {
    let mut rows = context.take(maps.len());
    exchange(maps, &mut rows, places, width, |from, to, images, image, place| {
        to[(image * places + place) * width..][..width]
            .copy_from_slice(&from[(place * images + image) * width..][..width]);
    });
    rows
}

/// The inverse of [`as_rows`].
fn as_places<T: Real>(context: &mut Context<'_, T>, rows: &[T], places: usize, width: usize) -> Buffer<T> {
    let mut maps = context.take(rows.len());
    exchange(rows, &mut maps, places, width, |from, to, images, image, place| {
        to[(place * images + image) * width..][..width]
            .copy_from_slice(&from[(image * places + place) * width..][..width]);
    });
    maps
}

fn exchange<T>(
    from: &[T],
    to: &mut [T],
    places: usize,
    width: usize,
    copy: impl Fn(&[T], &mut [T], usize, usize, usize),
) {
    let size = GROUP * places * width;
    for (from, to) in from.chunks(size).zip(to.chunks_mut(size)) {
        let images = from.len() / (places * width);
        for image in 0..images {
            for place in 0..places {
                copy(from, to, images, image, place);
            }
        }
    }
}
