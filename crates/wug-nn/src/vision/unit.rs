use rayon::prelude::*;

use super::GROUP;
use super::batch_norm::{BatchNorm, Normalised, Running};
use super::convolution::{Convolution, Initial};
use super::geometry::{Size, Window};
use crate::engine::BLOCK;
use crate::kernels::{Accumulate, moments, rectify_backward, relu};
use crate::network::Context;
use crate::parameters::{Gradients, Layout};
use crate::{Buffer, Real};

/// What follows a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Normalisation alone.
    Linear,
    /// Normalisation, then rectification.
    NormFirst,
    /// A bias and rectification, then normalisation.
    RectifyFirst,
}

/// A convolution with batch normalisation and, mostly, rectification.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    convolution: Convolution,
    norm: BatchNorm,
    order: Order,
}

/// What a unit has computed and its backward pass needs.
#[derive(Debug)]
pub(super) struct Kept<T> {
    /// What is normalised.
    x: Buffer<T>,
    pub(super) y: Buffer<T>,
    by: Normalised<T>,
}

impl<T: Real> Kept<T> {
    /// Returns the buffers to the workspace.
    pub(super) fn recycle(self, context: &mut Context<'_, T>) {
        context.recycle([self.x, self.y]);
        self.by.recycle(context);
    }
}

impl Unit {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn new(
        layout: &mut Layout,
        name: &str,
        window: Window,
        sizes: (Size, Size),
        channels: (usize, usize),
        initial: Initial,
        order: Order,
        is_first: bool,
    ) -> Self {
        // A bias before normalisation would change nothing.
        let bias = order == Order::RectifyFirst;
        Self {
            convolution: Convolution::new(layout, name, window, sizes, channels, (initial, bias), is_first),
            norm: BatchNorm::new(layout, &format!("{name}.norm"), channels.1),
            order,
        }
    }

    /// Numbers that are kept of an image.
    pub(super) fn kept(&self) -> u64 {
        2 * (self.convolution.places * self.convolution.outputs) as u64
    }

    /// What comes out, with what is beside it added before rectification. With `running` statistics the batch is
    /// normalised by its own, and they are noted; else by those of the parameters.
    pub(super) fn forward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        x: &[T],
        beside: &[T],
        running: Option<&mut Running<T>>,
    ) -> Kept<T> {
        let Self { convolution, norm, order } = self;
        let (images, places, width) = (x.len() / convolution.input, convolution.places, convolution.outputs);
        let mut blocks = context.take(images.div_ceil(GROUP) * places * 2 * width);
        let (isa, learns) = (context.isa, running.is_some());
        let bias = convolution.bias.map(|bias| context.flat(bias)).unwrap_or_default();
        let x = convolution.forward(context, x, (&mut blocks, 2 * width), |out, block| {
            if *order == Order::RectifyFirst {
                relu(isa, bias, out);
            }
            if learns {
                let (mean, squares) = block.split_at_mut(width);
                moments(isa, out, mean, squares);
            }
        });
        let by = match running {
            Some(running) => norm.of_batch(context, &blocks, (images, places), running),
            None => norm.of_all(context),
        };
        context.recycle([blocks]);
        let y = norm.forward(context, &by, &x, beside, *order == Order::NormFirst);
        Kept { x, y, by }
    }

    /// From the gradient of what came out to that before rectification, in place: it is also that of what was beside.
    fn rectify_backward<T: Real>(&self, context: &Context<'_, T>, kept: &Kept<T>, d: &mut [T]) {
        if self.order == Order::NormFirst {
            rectified(context, &kept.y, d);
        }
    }

    /// From the gradient of what came out to that of what the convolution says, in place. Adds the gradients of all parameters.
    /// Where what came out is not there any more, its gradient is that before rectification.
    pub(super) fn learn<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        input: &[T],
        kept: &Kept<T>,
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let y = if self.order == Order::NormFirst { &kept.y[..] } else { &[] };
        self.learn_after(context, input, (kept, y), d, gradients);
    }

    /// The same from the gradient before rectification.
    fn learn_rectified<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        input: &[T],
        kept: &Kept<T>,
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        self.learn_after(context, input, (kept, &[]), d, gradients);
    }

    fn learn_after<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        input: &[T],
        (kept, y): (&Kept<T>, &[T]),
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        self.norm.backward(context, &kept.by, (&kept.x, y), d, gradients);
        if self.order == Order::RectifyFirst {
            rectified(context, &kept.x, d);
        }
        self.convolution.learn(context, input, d, gradients);
    }

    /// From there to the gradient of the input.
    pub(super) fn backward<T: Real>(&self, context: &mut Context<'_, T>, d: &[T]) -> Buffer<T> {
        let images = d.len() / (self.convolution.places * self.convolution.outputs);
        let mut d_x = context.take(images * self.convolution.input);
        self.convolution.backward(context, d, &mut d_x, Accumulate::Overwrite);
        d_x
    }

    /// From there to the gradient of the input, added to what is there.
    pub(super) fn backward_add<T: Real>(&self, context: &mut Context<'_, T>, d: &[T], d_x: &mut [T]) {
        self.convolution.backward(context, d, d_x, Accumulate::Add);
    }
}

/// From the gradient of what was rectified to that of what it was before, in place.
pub(super) fn rectified<T: Real>(context: &Context<'_, T>, y: &[T], d: &mut [T]) {
    let isa = context.isa;
    d.par_chunks_mut(BLOCK).zip(y.par_chunks(BLOCK)).for_each(|(d, y)| rectify_backward(isa, y, d));
}

/// A basic block of a ResNet: two units, and a way around them.
#[derive(Debug, Clone)]
pub(super) struct Block {
    first: Unit,
    second: Unit,
    /// Where the block changes the size or the channels.
    shortcut: Option<Unit>,
}

/// What a block has computed and its backward pass needs.
#[derive(Debug)]
pub(super) struct KeptBlock<T> {
    first: Kept<T>,
    pub(super) second: Kept<T>,
    shortcut: Option<Kept<T>>,
}

impl<T: Real> KeptBlock<T> {
    /// Returns the buffers to the workspace.
    pub(super) fn recycle(self, context: &mut Context<'_, T>) {
        self.first.recycle(context);
        self.second.recycle(context);
        if let Some(shortcut) = self.shortcut {
            shortcut.recycle(context);
        }
    }
}

impl Block {
    pub(super) fn new(
        layout: &mut Layout,
        name: &str,
        stride: usize,
        (size, output): (Size, Size),
        (inputs, outputs): (usize, usize),
    ) -> Self {
        let around = Window { kernel: 3, stride: 1, padding: 1 };
        let mut unit = |what: &str, window, sizes, channels, order| {
            let name = format!("{name}.{what}");
            Unit::new(layout, &name, window, sizes, channels, Initial::Normal, order, false)
        };
        let window = Window { stride, ..around };
        let first = unit("first", window, (size, output), (inputs, outputs), Order::NormFirst);
        let second = unit("second", around, (output, output), (outputs, outputs), Order::NormFirst);
        let window = Window { kernel: 1, stride, padding: 0 };
        let shortcut = (stride > 1 || inputs != outputs)
            .then(|| unit("shortcut", window, (size, output), (inputs, outputs), Order::Linear));
        Self { first, second, shortcut }
    }

    /// Numbers that are kept of an image.
    pub(super) fn kept(&self) -> u64 {
        self.first.kept() + self.second.kept() + self.shortcut.as_ref().map_or(0, Unit::kept)
    }

    pub(super) fn forward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        x: &[T],
        mut running: Option<&mut Running<T>>,
    ) -> KeptBlock<T> {
        let first = self.first.forward(context, x, &[], running.as_deref_mut());
        let shortcut =
            self.shortcut.as_ref().map(|shortcut| shortcut.forward(context, x, &[], running.as_deref_mut()));
        let beside = shortcut.as_ref().map_or(x, |shortcut| &shortcut.y);
        let second = self.second.forward(context, &first.y, beside, running);
        let shortcut = shortcut.map(|mut kept| {
            context.recycle([std::mem::take(&mut kept.y)]);
            kept
        });
        KeptBlock { first, second, shortcut }
    }

    /// From the gradient of what came out to that of the input.
    pub(super) fn backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        input: &[T],
        kept: &KeptBlock<T>,
        mut d: Buffer<T>,
        gradients: &mut Gradients<'_, T>,
    ) -> Buffer<T> {
        self.second.rectify_backward(context, &kept.second, &mut d);
        let mut d_beside = context.take(d.len());
        d_beside.copy_from_slice(&d);
        self.second.learn_rectified(context, &kept.first.y, &kept.second, &mut d, gradients);
        let mut d_between = self.second.backward(context, &d);
        self.first.learn(context, input, &kept.first, &mut d_between, gradients);
        let mut d_x = d_beside;
        if let (Some(shortcut), Some(kept)) = (&self.shortcut, &kept.shortcut) {
            shortcut.learn(context, input, kept, &mut d_x, gradients);
            let through = shortcut.backward(context, &d_x);
            context.recycle([std::mem::replace(&mut d_x, through)]);
        }
        self.first.backward_add(context, &d_between, &mut d_x);
        context.recycle([d, d_between]);
        d_x
    }
}
