use rayon::prelude::*;

use super::GROUP;
use super::geometry::{Lists, Size, Window, seen_by};
use crate::engine::BLOCK;
use crate::kernels::{
    Accumulate, CORRELATED, Correlated, Gathered, Lie, Packed, Pair, Segment, View, add, add_columns,
    correlate, gather_product,
};
use crate::network::Context;
use crate::parameters::{Gradients, Init, Layout, TensorId};
use crate::{Buffer, Real};

/// Rows of the gradient of large kernels that a thread computes at a time.
const ROWS: usize = 64;
/// Places of the output whose gradients are read together.
const PLACES: usize = CORRELATED / GROUP;
/// Numbers of kernels up to which each thread has a sum of its own.
const SMALL: usize = 1 << 16;
/// Sums of small kernels, each over some of the places, for different threads.
const PARTS: usize = 16;

/// A convolution in two dimensions.
///
/// Feature maps lie as `[group][place][image of the group][channel]`: what a tap of the kernel sees is a matrix as it lies
/// there, so a convolution is a sum of products of such matrices. Images lie as `[group][padded place][channel][image of the
/// group]`, because with few channels it is a row of the kernel that makes a product worth its while.
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
    /// Taps of the kernel, or of images its rows.
    taps: usize,
    /// Whether the kernels are few enough for [`Convolution::learn_small`].
    is_small: bool,
    /// For each tap what it reads and the place of the output that it is for: of small kernels those of a few places, then
    /// those of the next.
    pairs: Lists<Pair>,
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
            taps,
            is_small: false,
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
        let (forward, backward) = (segments(&seen, inputs), segments(&by, self.outputs));
        let seen = (0..output.places()).map(|place| seen.of(place).to_vec());
        self.with_pairs(seen, window.kernel * window.kernel, forward, backward)
    }

    fn reading_images(self, window: Window, (size, output): (Size, Size), inputs: usize) -> Self {
        let padded = padded(size, window.padding);
        let depth = window.kernel * inputs;
        let at = move |place: usize, down: usize| {
            let (y, x) = (place / output.width * window.stride, place % output.width * window.stride);
            ((y + down) * padded.width + x) * inputs
        };
        let seen = (0..output.places())
            .map(|place| (0..window.kernel).map(|down| (at(place, down), down)).collect());
        let segment = |(from, down): (usize, usize)| Segment { from, row: down * depth };
        let forward = seen.clone().map(|seen: Vec<(usize, usize)>| seen.into_iter().map(segment).collect());
        let (forward, backward) = (Lists::new(forward), Lists::new(std::iter::empty()));
        Self { input: padded.places() * inputs, depth, ..self }.with_pairs(
            seen,
            window.kernel,
            forward,
            backward,
        )
    }

    /// `seen` has for each place of the output what it sees and the tap, or the row of taps, that it sees it through.
    fn with_pairs(
        self,
        seen: impl Iterator<Item = Vec<(usize, usize)>>,
        taps: usize,
        forward: Lists<Segment>,
        backward: Lists<Segment>,
    ) -> Self {
        let is_small = taps * self.depth * self.outputs <= SMALL;
        // All taps of a few places, or all places of a tap.
        let together = if is_small { PLACES } else { usize::MAX };
        let mut pairs = Vec::new();
        for (place, seen) in seen.enumerate() {
            if place % together == 0 {
                pairs.extend(std::iter::repeat_n(Vec::new(), taps));
            }
            let first = pairs.len() - taps;
            for (input, tap) in seen {
                pairs[first + tap].push(Pair { input, output: place % together });
            }
        }
        Self { taps, is_small, forward, backward, pairs: Lists::new(pairs.into_iter()), ..self }
    }

    /// The unit of segments, and how the rows of the left factor of a product lie, for a group of `images` images. Images
    /// are the innermost of their layout: with few channels, that keeps together what is read together.
    fn left(&self, images: usize) -> (usize, Lie) {
        if self.is_first {
            (images, Lie::Abreast(images))
        } else {
            (images * self.depth, Lie::Apart(self.depth))
        }
    }

    /// The kernels as the right factor of products: for the way forward the rows of all taps below each other, for the backward
    /// pass the outputs of all taps. Packed here unless they were before.
    fn packed<'a, T: Real>(
        &self,
        context: &Context<'a, T>,
        backward: bool,
        own: &'a mut Packed<T>,
    ) -> &'a Packed<T> {
        let before = context.weights.forward(self.kernels);
        if !backward && before.has_columns() {
            return before;
        }
        let kernels = context.flat(self.kernels);
        if backward {
            let inputs = kernels.len() / (self.taps * self.outputs);
            let tap = |tap: &'a [T]| View::new(tap, inputs, self.outputs).transposed();
            own.stack_with_all(kernels.chunks_exact(inputs * self.outputs).map(tap));
        } else {
            let kernels = View::new(kernels, kernels.len() / self.outputs, self.outputs);
            own.stack_with_all(std::iter::once(kernels));
        }
        own
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
        let mut own = std::mem::take(&mut context.workspace.packed);
        let (isa, right) = (context.isa, self.packed(context, false, &mut own));
        let groups = out.par_chunks_mut(GROUP * self.places * self.outputs);
        let groups = groups.zip(x.par_chunks(GROUP * self.input));
        groups.zip(beside.par_chunks_mut(self.places * room)).for_each(|((out, x), beside)| {
            let images = x.len() / self.input;
            let (unit, lie) = self.left(images);
            let places = out.par_chunks_mut(images * self.outputs).zip(beside.par_chunks_mut(room));
            places.enumerate().for_each(|(place, (out, beside))| {
                let left =
                    Gathered { data: x, segments: self.forward.of(place), unit, lie, depth: self.depth };
                gather_product(isa, left, right, 0..images, out, Accumulate::Overwrite);
                finish(out, beside);
            });
        });
        context.workspace.packed = own;
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
        let mut own = std::mem::take(&mut context.workspace.packed);
        let (isa, right) = (context.isa, self.packed(context, true, &mut own));
        let groups = d_x.par_chunks_mut(GROUP * self.input);
        groups.zip(d.par_chunks(GROUP * self.places * self.outputs)).for_each(|(d_x, d)| {
            let images = d_x.len() / self.input;
            let (unit, lie) = (images * self.outputs, Lie::Apart(self.outputs));
            d_x.par_chunks_mut(images * self.depth).enumerate().for_each(|(place, d_x)| {
                let segments = self.backward.of(place);
                let left = Gathered { data: d, segments, unit, lie, depth: self.outputs };
                gather_product(isa, left, right, 0..images, d_x, into);
            });
        });
        context.workspace.packed = own;
    }

    /// Adds the gradients of the kernels and the bias.
    pub(super) fn learn<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        x: &[T],
        d: &[T],
        gradients: &mut Gradients<'_, T>,
    ) {
        if self.is_small {
            self.learn_small(context, x, d, gradients.of(self.kernels));
        } else {
            self.learn_large(context, x, d, gradients.of(self.kernels));
        }
        if let Some(bias) = self.bias {
            add_columns(context.isa, d, self.outputs, gradients.of(bias));
        }
    }

    /// The inputs and gradients of the outputs of a group of images.
    fn group<'a, T: Real>(&self, x: &'a [T], d: &'a [T], group: usize) -> Correlated<'a, T> {
        let size = GROUP * self.input;
        let inputs = &x[group * size..x.len().min((group + 1) * size)];
        let rows = inputs.len() / self.input;
        // A row of the product is a column of the inputs.
        let (unit, lie) = match self.left(rows) {
            (unit, Lie::Abreast(step)) => (unit, Lie::Apart(step)),
            (unit, Lie::Apart(step)) => (unit, Lie::Abreast(step)),
        };
        let outputs = &d[group * GROUP * self.places * self.outputs..][..rows * self.places * self.outputs];
        Correlated { inputs, unit, lie, outputs, places: &[], rows, columns: self.outputs }
    }

    /// Each thread adds up the gradients of all taps over some of the places: what is read of them serves all taps. How many
    /// sums there are does not depend on the threads.
    fn learn_small<T: Real>(&self, context: &mut Context<'_, T>, x: &[T], d: &[T], d_kernels: &mut [T]) {
        let isa = context.isa;
        let groups = x.len().div_ceil(GROUP * self.input);
        let chunks = self.pairs.len() / self.taps;
        let all = groups * chunks;
        let parts = PARTS.min(all);
        let mut sums = context.take(parts * d_kernels.len());
        sums.par_chunks_mut(d_kernels.len()).enumerate().for_each(|(part, sum)| {
            sum.fill(T::ZERO);
            for i in part * all / parts..(part + 1) * all / parts {
                let (factors, first) = (self.group(x, d, i / chunks), i % chunks * PLACES);
                let mut places = [0; PLACES];
                let mut taps: [&[Pair]; 64] = [&[]; 64];
                for (n, place) in places.iter_mut().enumerate() {
                    *place = (first + n) * factors.rows * self.outputs;
                }
                for (tap, pairs) in taps[..self.taps].iter_mut().enumerate() {
                    *pairs = self.pairs.of(i % chunks * self.taps + tap);
                }
                let places = &places[..PLACES.min(self.places - first)];
                correlate(isa, Correlated { places, ..factors }, &taps[..self.taps], 0, self.depth, sum);
            }
        });
        d_kernels.par_chunks_mut(BLOCK).enumerate().for_each(|(i, d_kernels)| {
            for sum in sums.chunks_exact(self.taps * self.depth * self.outputs) {
                add(isa, &sum[i * BLOCK..][..d_kernels.len()], d_kernels);
            }
        });
        context.recycle([sums]);
    }

    /// Each thread computes the gradients of some rows of a tap.
    fn learn_large<T: Real>(&self, context: &mut Context<'_, T>, x: &[T], d: &[T], d_kernels: &mut [T]) {
        let (isa, columns) = (context.isa, self.outputs);
        let groups = x.len().div_ceil(GROUP * self.input);
        d_kernels.par_chunks_mut(self.depth * columns).enumerate().for_each(|(tap, d_kernels)| {
            d_kernels.par_chunks_mut(ROWS * columns).enumerate().for_each(|(block, out)| {
                let height = out.len() / columns;
                for group in 0..groups {
                    let factors = self.group(x, d, group);
                    for some in self.pairs.of(tap).chunks(PLACES) {
                        let (mut places, mut pairs) = ([0; PLACES], [Pair { input: 0, output: 0 }; PLACES]);
                        for (i, pair) in some.iter().enumerate() {
                            places[i] = pair.output * factors.rows * columns;
                            pairs[i] = Pair { output: i, ..*pair };
                        }
                        let factors = Correlated { places: &places[..some.len()], ..factors };
                        correlate(isa, factors, &[&pairs[..some.len()]], block * ROWS, height, out);
                    }
                }
            });
        });
    }
}

/// The size with zeros around it.
pub(super) fn padded(size: Size, padding: usize) -> Size {
    Size { height: size.height + 2 * padding, width: size.width + 2 * padding }
}
