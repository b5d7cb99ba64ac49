use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::GROUP;
use super::batch_norm::Running;
use super::convolution::{Initial, padded};
use super::geometry::{Size, Window};
use super::pool::{self, Pool, Pooled};
use super::unit::{Block, Kept, KeptBlock, Order, Unit, rectified};
use crate::network::Context;
use crate::parameters::{Gradients, Layout};
use crate::{Buffer, Real};

/// The convolutions of a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Body {
    /// Convolutions of 3x3 with stride 2, one after the other, each with batch normalisation and rectification.
    Plain {
        /// Channels of each.
        widths: Vec<usize>,
        /// Zeros around each feature map.
        padding: usize,
        /// Whether rectification comes before normalisation.
        rectify_first: bool,
    },
    /// A ResNet of basic blocks (He et al. 2016): a convolution of 7x7 and a max pool of 3x3, each with stride 2, then stages
    /// of blocks, each but the first halving the feature map, and the mean of what is left.
    Residual {
        /// Channels of each stage; the stem has those of the first.
        widths: Vec<usize>,
        /// Blocks of each stage.
        blocks: usize,
    },
}

impl Body {
    /// The stock ResNet-18.
    pub fn resnet18() -> Self {
        Self::Residual { widths: vec![64, 128, 256, 512], blocks: 2 }
    }
}

/// How many numbers the convolutions keep of an image for the backward pass, images of `channels` channels: what an
/// estimate of memory needs.
///
/// # Errors
/// If there is no such network.
pub fn kept_of_an_image(body: &Body, size: Size, channels: usize) -> Result<u64, String> {
    Ok(Trunk::new(&mut Layout::default(), body, size, channels)?.kept())
}

/// The most channels of a layer and the most pixels of a side.
const LARGEST: usize = 1 << 12;

/// Convolutions laid out for images of one size.
#[derive(Debug, Clone)]
pub(super) struct Trunk {
    size: Size,
    /// Channels of an image.
    channels: usize,
    /// Zeros around an image.
    padding: usize,
    units: Vec<Unit>,
    pool: Option<Pool>,
    blocks: Vec<Block>,
    mean: Option<Pool>,
    /// Places and channels of what comes out.
    pub(super) places: usize,
    pub(super) width: usize,
}

/// What the trunk has computed and its backward pass needs.
#[derive(Debug)]
pub(super) struct Seen<T> {
    images: Buffer<T>,
    units: Vec<Kept<T>>,
    pooled: Option<Pooled<T>>,
    blocks: Vec<KeptBlock<T>>,
    mean: Option<Pooled<T>>,
}

impl<T: Real> Seen<T> {
    /// What comes out: `[group][place][image][channel]`.
    pub(super) fn output(&self) -> &[T] {
        let unit = self.units.last().map_or(&self.images, |kept| &kept.y);
        let pooled = self.pooled.as_ref().map_or(unit, |pooled| &pooled.y);
        let block = self.blocks.last().map_or(pooled, |kept| &kept.second.y);
        self.mean.as_ref().map_or(block, |pooled| &pooled.y)
    }

    /// Returns the buffers to the workspace.
    pub(super) fn recycle(self, context: &mut Context<'_, T>) {
        context.recycle([self.images]);
        context.recycle(self.pooled.into_iter().chain(self.mean).map(|pooled| pooled.y));
        self.units.into_iter().for_each(|kept| kept.recycle(context));
        self.blocks.into_iter().for_each(|kept| kept.recycle(context));
    }
}

impl Trunk {
    pub(super) fn new(layout: &mut Layout, body: &Body, size: Size, channels: usize) -> Result<Self, String> {
        if size.places() == 0 || size.height.max(size.width) > LARGEST || channels == 0 || channels > 64 {
            return Err(format!("images of {} x {} pixels cannot be read", size.width, size.height));
        }
        let (Body::Plain { widths, .. } | Body::Residual { widths, .. }) = body;
        if widths.is_empty() || widths.len() > 16 || widths.iter().any(|&width| width == 0 || width > LARGEST)
        {
            return Err(format!("a network has 1 to 16 widths of 1 to {LARGEST} channels, not {widths:?}"));
        }
        let trunk = Self {
            size,
            channels,
            padding: 0,
            units: Vec::new(),
            pool: None,
            blocks: Vec::new(),
            mean: None,
            places: size.places(),
            width: channels,
        };
        match body {
            Body::Plain { widths, padding, rectify_first } => {
                let order = if *rectify_first { Order::RectifyFirst } else { Order::NormFirst };
                trunk.plain(layout, widths, (*padding).min(LARGEST), order)
            }
            Body::Residual { widths, blocks } if (1..=64).contains(blocks) => {
                trunk.residual(layout, widths, *blocks)
            }
            Body::Residual { blocks, .. } => Err(format!("a stage has 1 to 64 blocks, not {blocks}")),
        }
    }

    fn plain(
        mut self,
        layout: &mut Layout,
        widths: &[usize],
        padding: usize,
        order: Order,
    ) -> Result<Self, String> {
        let window = Window { kernel: 3, stride: 2, padding };
        let (mut size, mut inputs) = (self.size, self.channels);
        self.padding = padding;
        for (i, &width) in widths.iter().enumerate() {
            let output = output(window, size)?;
            let (name, sizes, channels) = (format!("vision.{i}"), (size, output), (inputs, width));
            let unit = Unit::new(layout, &name, window, sizes, channels, Initial::Uniform, order, i == 0);
            self.units.push(unit);
            (size, inputs) = (output, width);
        }
        (self.places, self.width) = (size.places(), inputs);
        Ok(self)
    }

    fn residual(mut self, layout: &mut Layout, widths: &[usize], blocks: usize) -> Result<Self, String> {
        let stem = Window { kernel: 7, stride: 2, padding: 3 };
        let (after, first) = (output(stem, self.size)?, widths[0]);
        let (sizes, channels) = ((self.size, after), (self.channels, first));
        let (initial, order) = (Initial::Normal, Order::NormFirst);
        self.padding = stem.padding;
        self.units = vec![Unit::new(layout, "vision.stem", stem, sizes, channels, initial, order, true)];
        let window = Window { kernel: 3, stride: 2, padding: 1 };
        let mut size = output(window, after)?;
        self.pool = Some(Pool::new(pool::Kind::Max, window, (after, size), first));
        let mut inputs = first;
        for (stage, &width) in widths.iter().enumerate() {
            for block in 0..blocks {
                let stride = if stage > 0 && block == 0 { 2 } else { 1 };
                let after = output(Window { stride, ..window }, size)?;
                let (name, sizes) = (format!("vision.{stage}.{block}"), (size, after));
                self.blocks.push(Block::new(layout, &name, stride, sizes, (inputs, width)));
                (size, inputs) = (after, width);
            }
        }
        if size.height != size.width {
            return Err("a ResNet reads square images".to_owned());
        }
        let all = Window { kernel: size.height, stride: 1, padding: 0 };
        self.mean = Some(Pool::new(pool::Kind::Average, all, (size, Size { height: 1, width: 1 }), inputs));
        (self.places, self.width) = (1, inputs);
        Ok(self)
    }

    /// Pixels of an image, all channels together.
    pub(super) fn pixels(&self) -> usize {
        self.channels * self.size.places()
    }

    /// Numbers that are kept of an image: what every unit normalises and says, and its pixels.
    fn kept(&self) -> u64 {
        let blocks: u64 = self.blocks.iter().map(Block::kept).sum();
        let units: u64 = self.units.iter().map(Unit::kept).sum();
        self.pixels() as u64 + units + blocks
    }

    /// Images as the first convolution reads them, `[group][padded place][channel][image]`: the frames of a channel follow each
    /// other; pixels are multiplied by `factor`.
    pub(super) fn read<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        images: &[&[u8]],
        factor: f64,
    ) -> Buffer<T> {
        let Size { height, width } = self.size;
        let padded = padded(self.size, self.padding);
        let (channels, padding) = (self.channels, self.padding);
        for pixels in images {
            assert_eq!(pixels.len(), channels * height * width, "images of {width} x {height}");
        }
        let values: [T; 256] = std::array::from_fn(|pixel| T::from_f64(pixel as f64 * factor));
        let row = padded.width * channels;
        let mut read = context.take(images.len() * padded.height * row);
        read.par_chunks_mut(GROUP * padded.height * row).zip(images.par_chunks(GROUP)).for_each(
            |(to, images)| {
                to.par_chunks_mut(row * images.len()).enumerate().for_each(|(y, to)| {
                    let inside = padding..padding + height;
                    if !inside.contains(&y) {
                        return to.fill(T::ZERO);
                    }
                    let first = (y - padding) * width;
                    let rows: Vec<&[u8]> = images.iter().map(|pixels| &pixels[first..]).collect();
                    for (x, to) in to.chunks_exact_mut(channels * images.len()).enumerate() {
                        if !(padding..padding + width).contains(&x) {
                            to.fill(T::ZERO);
                            continue;
                        }
                        for (channel, to) in to.chunks_exact_mut(images.len()).enumerate() {
                            let at = channel * height * width + x - padding;
                            to.iter_mut().zip(&rows).for_each(|(to, row)| *to = values[usize::from(row[at])]);
                        }
                    }
                });
            },
        );
        read
    }

    /// What the convolutions make of images. With `running` statistics they are normalised by the batch.
    pub(super) fn forward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        images: Buffer<T>,
        mut running: Option<&mut Running<T>>,
    ) -> Seen<T> {
        let mut seen = Seen { images, units: Vec::new(), pooled: None, blocks: Vec::new(), mean: None };
        for unit in &self.units {
            let kept = unit.forward(context, seen.output(), &[], running.as_deref_mut());
            seen.units.push(kept);
        }
        if let Some(pool) = &self.pool {
            seen.pooled = Some(pool.forward(context, seen.output()));
            // What is larger than 0 there tells what was where the gradient goes.
            let y = seen.units.last_mut().map(|kept| std::mem::take(&mut kept.y));
            context.recycle(y);
        }
        for block in &self.blocks {
            let kept = block.forward(context, seen.output(), running.as_deref_mut());
            seen.blocks.push(kept);
        }
        seen.mean = self.mean.as_ref().map(|mean| mean.forward(context, seen.output()));
        seen
    }

    /// Adds the gradients of all parameters, from that of what came out.
    pub(super) fn backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        seen: Seen<T>,
        mut d: Buffer<T>,
        gradients: &mut Gradients<'_, T>,
    ) {
        let Seen { images, mut units, pooled, mut blocks, mean } = seen;
        if let (Some(pool), Some(pooled)) = (&self.mean, mean) {
            let d_x = pool.backward(context, &pooled, &d);
            context.recycle([std::mem::replace(&mut d, d_x), pooled.y]);
        }
        for block in self.blocks.iter().rev() {
            let Some(kept) = blocks.pop() else { break };
            let pooled = pooled.as_ref().map_or(&images, |pooled| &pooled.y);
            let input = blocks.last().map_or(pooled, |kept| &kept.second.y);
            d = block.backward(context, input, &kept, d, gradients);
            kept.recycle(context);
        }
        if let (Some(pool), Some(pooled)) = (&self.pool, pooled) {
            rectified(context, &pooled.y, &mut d);
            let d_x = pool.backward(context, &pooled, &d);
            context.recycle([std::mem::replace(&mut d, d_x), pooled.y]);
        }
        for unit in self.units.iter().rev() {
            let Some(kept) = units.pop() else { break };
            let input = units.last().map_or(&images, |kept| &kept.y);
            unit.learn(context, input, &kept, &mut d, gradients);
            if !units.is_empty() {
                let d_x = unit.backward(context, &d);
                context.recycle([std::mem::replace(&mut d, d_x)]);
            }
            kept.recycle(context);
        }
        context.recycle([images, d]);
    }
}

fn output(window: Window, size: Size) -> Result<Size, String> {
    let Size { height, width } = size;
    window.output(size).ok_or_else(|| {
        let kernel = window.kernel;
        format!("a kernel of {kernel}x{kernel} does not fit into a feature map of {width}x{height}: use larger images")
    })
}
