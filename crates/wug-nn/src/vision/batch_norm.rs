use rayon::prelude::*;

use super::GROUP;
use crate::kernels::{batch_norm, batch_norm_backward, batch_norm_sums};
use crate::network::Context;
use crate::parameters::{Gradients, Init, Layout, TensorId};
use crate::{Buffer, Real};

/// What is added to the variance.
const EPSILON: f64 = 1e-5;
/// The share of a batch in the running statistics.
const MOMENTUM: f64 = 0.1;
/// Rows that a thread takes at a time.
const ROWS: usize = 512;

/// Batch normalisation: in training by the mean and variance of the batch, else by running ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchNorm {
    scale: TensorId,
    shift: TensorId,
    mean: TensorId,
    variance: TensorId,
    width: usize,
}

/// The running statistics that a batch has made of the old ones.
pub(super) type Running<T> = Vec<(TensorId, Vec<T>)>;

/// By what a batch was normalised.
#[derive(Debug)]
pub(super) struct Normalised<T> {
    mean: Buffer<T>,
    /// One over the deviation.
    inverse_std: Buffer<T>,
}

impl BatchNorm {
    pub(super) fn new(layout: &mut Layout, name: &str, width: usize) -> Self {
        let mut add =
            |what: &str, number| layout.add(format!("{name}.{what}"), 1, width, Init::Constant(number));
        let (scale, shift) = (add("scale", 1.0), add("shift", 0.0));
        Self { scale, shift, mean: add("running-mean", 0.0), variance: add("running-variance", 1.0), width }
    }

    /// Mean and variance of a batch from those of its blocks, which are mean and squares for each place of each group.
    /// Notes what they make of the running ones.
    pub(super) fn of_batch<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        blocks: &[T],
        (images, places): (usize, usize),
        running: &mut Running<T>,
    ) -> Normalised<T> {
        let width = self.width;
        let (mut mean, mut squares, mut count) = (vec![0f64; width], vec![0f64; width], 0f64);
        for (i, block) in blocks.chunks_exact(2 * width).enumerate() {
            let own = (images - i / places * GROUP).min(GROUP) as f64;
            let all = count + own;
            let (means, deviations) = block.split_at(width);
            for (((mean, squares), &own_mean), &deviation) in
                mean.iter_mut().zip(&mut squares).zip(means).zip(deviations)
            {
                let apart = own_mean.to_f64() - *mean;
                *mean += apart * (own / all);
                *squares += deviation.to_f64() + apart * apart * (count * own / all);
            }
            count = all;
        }
        let mut mix = |id: TensorId, new: &dyn Fn(usize) -> f64| {
            let old = context.flat(id).iter().enumerate();
            let mixed = old.map(|(i, old)| T::from_f64((1.0 - MOMENTUM) * old.to_f64() + MOMENTUM * new(i)));
            running.push((id, mixed.collect()));
        };
        mix(self.mean, &|i| mean[i]);
        mix(self.variance, &|i| squares[i] / (count - 1.0).max(1.0));
        let variance = squares.iter().map(|&squares| squares / count.max(1.0));
        self.normalised(context, mean.iter().copied(), variance)
    }

    /// The running mean and variance.
    pub(super) fn of_all<T: Real>(&self, context: &mut Context<'_, T>) -> Normalised<T> {
        let (mean, variance) = (context.flat(self.mean), context.flat(self.variance));
        self.normalised(context, mean.iter().map(|x| x.to_f64()), variance.iter().map(|x| x.to_f64()))
    }

    fn normalised<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        mean: impl Iterator<Item = f64>,
        variance: impl Iterator<Item = f64>,
    ) -> Normalised<T> {
        let mut by = Normalised { mean: context.take(self.width), inverse_std: context.take(self.width) };
        by.mean.iter_mut().zip(mean).for_each(|(to, mean)| *to = T::from_f64(mean));
        by.inverse_std
            .iter_mut()
            .zip(variance)
            .for_each(|(to, variance)| *to = T::from_f64(1.0 / (variance + EPSILON).sqrt()));
        by
    }

    /// What comes out, with what is beside it added, if anything is, and then rectified or not.
    pub(super) fn forward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        by: &Normalised<T>,
        x: &[T],
        beside: &[T],
        rectify: bool,
    ) -> Buffer<T> {
        let (isa, size) = (context.isa, ROWS * self.width);
        let (mut y, mut scale, mut shift) =
            (context.take(x.len()), context.take(self.width), context.take(self.width));
        for (i, (scale, shift)) in scale.iter_mut().zip(&mut shift).enumerate() {
            *scale = context.flat(self.scale)[i] * by.inverse_std[i];
            *shift = context.flat(self.shift)[i] - by.mean[i] * *scale;
        }
        y.par_chunks_mut(size).enumerate().for_each(|(i, y)| {
            let rows = i * size..i * size + y.len();
            let beside = if beside.is_empty() { beside } else { &beside[rows.clone()] };
            batch_norm(isa, &x[rows], &scale, &shift, beside, rectify, y);
        });
        context.recycle([scale, shift]);
        y
    }

    /// From the gradient of what came out to that of `x`, in place. If it was rectified, `y` is what came out, else empty: a
    /// block of the gradient is rectified and summed while it is in the cache.
    pub(super) fn backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        by: &Normalised<T>,
        (x, y): (&[T], &[T]),
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (isa, width, size) = (context.isa, self.width, ROWS * self.width);
        let mut blocks = context.take(x.len().div_ceil(size) * 2 * width);
        let rows = x.par_chunks(size).zip(d.par_chunks_mut(size)).enumerate();
        blocks.par_chunks_mut(2 * width).zip(rows).for_each(|(block, (i, (x, d)))| {
            let y = if y.is_empty() { y } else { &y[i * size..][..d.len()] };
            let (sum, product) = block.split_at_mut(width);
            batch_norm_sums(isa, x, y, &by.mean, d, sum, product);
        });
        let mut sums = vec![0f64; 2 * width];
        for block in blocks.chunks_exact(2 * width) {
            sums.iter_mut().zip(block).for_each(|(sum, block)| *sum += block.to_f64());
        }
        let (sum, product) = sums.split_at(width);
        let count = (x.len() / width) as f64;
        let [mut factor, mut slope, mut less] =
            [context.take(width), context.take(width), context.take(width)];
        for i in 0..width {
            let inverse_std = by.inverse_std[i].to_f64();
            let scale = context.flat(self.scale)[i].to_f64() * inverse_std;
            factor[i] = T::from_f64(scale);
            slope[i] = T::from_f64(scale * inverse_std * inverse_std * product[i] / count);
            less[i] = T::from_f64(scale * sum[i] / count);
        }
        d.par_chunks_mut(size)
            .zip(x.par_chunks(size))
            .for_each(|(d, x)| batch_norm_backward(isa, x, &by.mean, &factor, &slope, &less, d));
        let (d_scale, d_shift) = gradients.two(self.scale, self.shift);
        for i in 0..width {
            d_scale[i] += T::from_f64(product[i] * by.inverse_std[i].to_f64());
            d_shift[i] += T::from_f64(sum[i]);
        }
        context.recycle([blocks, factor, slope, less]);
    }
}

impl<T: Real> Normalised<T> {
    /// Returns the buffers to the workspace.
    pub(super) fn recycle(self, context: &mut Context<'_, T>) {
        context.recycle([self.mean, self.inverse_std]);
    }
}
