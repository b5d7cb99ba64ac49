use rayon::prelude::*;

use super::GROUP;
use super::geometry::{Lists, Size, Window, seen_by};
use crate::kernels::{
    Accumulate, Correlated, DEPTH, Gathered, Segment, add_columns, correlate, gather_product,
};
use crate::network::Context;
use crate::parameters::{Gradients, Init, Layout, TensorId};
use crate::{Buffer, Real};

/// Rows of the gradient of the kernels that a thread computes at a time.
const ROWS: usize = 64;
/// Pairs of matrices whose products are added up before the sums are written, at most.
const PAIRS: usize = 32;

/// A convolution in two dimensions.
///
/// Feature maps lie as `[group][place][image of the group][channel]`: what a tap of the kernel sees is a matrix as it lies
/// there, so a convolution is a sum of products of such matrices. Images lie as `[image][padded place][channel]`, because
/// with few channels it is a row of the kernel that makes a product worth its while.
#[derive(Debug, Clone)]
pub(super) struct Convolution {
    kernels: TensorId,
    pub(super) bias: Option<TensorId>,
    pub(super) outputs: usize,
    /// Places of the output.
    pub(super) places: usize,
    /// Numbers of an input.
    pub(super) input: usize,
    /// Numbers that a segment reads.
    depth: usize,
    /// Whether the input are images.
    is_first: bool,
    /// For each place of the output, what it reads, and for each place of the input, what reads it.
    forward: Lists<Segment>,
    backward: Lists<Segment>,
    /// For each tap or row of the kernel, where it reads and the place of the output that it is for.
    pairs: Lists<(usize, usize)>,
}

/// How the kernels of a convolution start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Initial {
    /// Uniform, bounded by the root of one over the numbers that an output reads (PyTorch's default).
    Uniform,
    /// Normal, with a variance of two over the numbers that read an input (ResNet's).
    Normal,
}

impl Convolution {
    pub(super) fn new(
        layout: &mut Layout,
        name: &str,
        window: Window,
        (size, output): (Size, Size),
        (inputs, outputs): (usize, usize),
        (initial, bias): (Initial, bool),
        is_first: bool,
    ) -> Self {
        let taps = window.kernel * window.kernel;
        let bound = 1.0 / ((taps * inputs) as f64).sqrt();
        let start = match initial {
            Initial::Uniform => Init::Matrix(bound),
            Initial::Normal => Init::NormalMatrix((2.0 / (taps * outputs) as f64).sqrt()),
        };
        let kernels = layout.add_kernels(format!("{name}.kernels"), taps, inputs, outputs, start);
        let bias = bias.then(|| layout.add(format!("{name}.bias"), 1, outputs, Init::Vector(bound)));
        let common = Self {
            kernels,
            bias,
            outputs,
            places: output.places(),
            input: size.places() * inputs,
            depth: inputs,
            is_first,
            forward: Lists::new(std::iter::empty()),
            backward: Lists::new(std::iter::empty()),
            pairs: Lists::new(std::iter::empty()),
        };
        if is_first {
            common.reading_images(window, (size, output), inputs)
        } else {
            common.reading_maps(window, (size, output), inputs)
        }
    }

    fn reading_maps(self, window: Window, (size, output): (Size, Size), inputs: usize) -> Self {
        let seen = Lists::new(window.seen(size, output));
        let by = seen_by(&seen, size.places());
        let segments = |lists: &Lists<(usize, usize)>, rows: usize| {
            let segment = |&(from, tap): &(usize, usize)| Segment { from, row: tap * rows };
            Lists::new((0..lists.len()).map(|place| lists.of(place).iter().map(segment).collect()))
        };
        let mut pairs = vec![Vec::new(); window.kernel * window.kernel];
        for place in 0..seen.len() {
            for &(from, tap) in seen.of(place) {
                pairs[tap].push((from, place));
            }
        }
        Self {
            forward: segments(&seen, inputs),
            backward: segments(&by, self.outputs),
            pairs: Lists::new(pairs.into_iter()),
            ..self
        }
    }

    fn reading_images(self, window: Window, (size, output): (Size, Size), inputs: usize) -> Self {
        let padded = padded(size, window.padding);
        let depth = window.kernel * inputs;
        let at = |place: usize, down: usize| {
            let (y, x) = (place / output.width * window.stride, place % output.width * window.stride);
            ((y + down) * padded.width + x) * inputs
        };
        let row = |place: usize| move |down: usize| Segment { from: at(place, down), row: down * depth };
        let forward =
            Lists::new((0..output.places()).map(|place| (0..window.kernel).map(row(place)).collect()));
        let pairs = |down: usize| (0..output.places()).map(|place| (at(place, down), place)).collect();
        let pairs = Lists::new((0..window.kernel).map(pairs));
        Self { input: padded.places() * inputs, depth, forward, pairs, ..self }
    }

    /// The offset between segments and the stride between their rows, for a group of `images` images.
    fn steps(&self, images: usize) -> (usize, usize) {
        if self.is_first { (1, self.input) } else { (images * self.depth, self.depth) }
    }

    /// The outputs for all images. `finish` is called with the outputs of each position in a group and their own slice of
    /// `beside`.
    pub(super) fn forward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        x: &[T],
        (beside, room): (&mut [T], usize),
        finish: impl Fn(&mut [T], &mut [T]) + Sync,
    ) -> Buffer<T> {
        let images = x.len() / self.input;
        let mut out = context.take(images * self.places * self.outputs);
        let (isa, right) = (context.isa, context.weights.forward(self.kernels));
        let groups = out.par_chunks_mut(GROUP * self.places * self.outputs);
        let groups = groups.zip(x.par_chunks(GROUP * self.input));
        groups.zip(beside.par_chunks_mut(self.places * room)).for_each(|((out, x), beside)| {
            let images = x.len() / self.input;
            let (unit, stride) = self.steps(images);
            let places = out.par_chunks_mut(images * self.outputs).zip(beside.par_chunks_mut(room));
            places.enumerate().for_each(|(place, (out, beside))| {
                let segments = self.forward.of(place);
                let left = Gathered { data: x, segments, unit, stride, depth: self.depth };
                gather_product(isa, left, right, 0..images, out, Accumulate::Overwrite);
                finish(out, beside);
            });
        });
        out
    }

    /// The gradient of the input from that of the output, or that added to what is there.
    pub(super) fn backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        d: &[T],
        d_x: &mut [T],
        into: Accumulate,
    ) {
        assert!(!self.is_first, "images have no gradient");
        let (isa, right) = (context.isa, context.weights.backward(self.kernels));
        let groups = d_x.par_chunks_mut(GROUP * self.input);
        groups.zip(d.par_chunks(GROUP * self.places * self.outputs)).for_each(|(d_x, d)| {
            let images = d_x.len() / self.input;
            let (unit, stride) = (images * self.outputs, self.outputs);
            d_x.par_chunks_mut(images * self.depth).enumerate().for_each(|(place, d_x)| {
                let segments = self.backward.of(place);
                let left = Gathered { data: d, segments, unit, stride, depth: self.outputs };
                gather_product(isa, left, right, 0..images, d_x, into);
            });
        });
    }

    /// Adds the gradients of the kernels and the bias.
    pub(super) fn learn<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        x: &[T],
        d: &[T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (isa, columns) = (context.isa, self.outputs);
        let d_kernels = gradients.of(self.kernels);
        d_kernels.par_chunks_mut(self.depth * columns).enumerate().for_each(|(tap, d_kernels)| {
            d_kernels.par_chunks_mut(ROWS * columns).enumerate().for_each(|(block, out)| {
                let groups = x.chunks(GROUP * self.input).zip(d.chunks(GROUP * self.places * columns));
                for (left, right) in groups {
                    let rows = left.len() / self.input;
                    let (unit, stride) = self.steps(rows);
                    let mut places = [(0, 0); PAIRS];
                    for some in self.pairs.of(tap).chunks((DEPTH / rows).clamp(1, PAIRS)) {
                        for (place, &(from, to)) in places.iter_mut().zip(some) {
                            *place = (from * unit, to * rows * columns);
                        }
                        let pairs = &places[..some.len()];
                        let factors = Correlated { left, right, pairs, rows, stride, columns };
                        correlate(isa, factors, block * ROWS, out);
                    }
                }
            });
        });
        if let Some(bias) = self.bias {
            add_columns(isa, d, columns, gradients.of(bias));
        }
    }
}

/// The size with zeros around it.
pub(super) fn padded(size: Size, padding: usize) -> Size {
    Size { height: size.height + 2 * padding, width: size.width + 2 * padding }
}
