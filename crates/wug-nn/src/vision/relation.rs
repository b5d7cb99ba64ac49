use rayon::prelude::*;

use crate::kernels::{Accumulate, View, add, add_columns, gemm, rectify_backward, relu, relu_backward};
use crate::linear::Linear;
use crate::network::Context;
use crate::parameters::{Gradients, Layout};
use crate::workspace::Workspace;
use crate::{Buffer, Real};

use super::head::{rectified, rectified_backward};

/// Pairs that go through all layers together, while they are in the cache.
const ROWS: usize = 192;
/// Sums of the gradients of the layers of pairs, each over some of the pairs, for different threads.
const PARTS: usize = 8;

/// The layers of a relation network. A pair is first read by one matrix for each of the two: their sum is what one matrix
/// would make of the pair.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    places: usize,
    one: Linear,
    other: Linear,
    pairs: Vec<Linear>,
    sums: Vec<Linear>,
}

impl Relation {
    /// For features with this number of places and channels per image.
    pub(super) fn new(layout: &mut Layout, (places, width): (usize, usize), units: usize) -> Self {
        let one = Linear::new(layout, "relation.one", width + 2, units, false);
        let other = Linear::new(layout, "relation.other", width + 2, units, true);
        let mut layer = |name: String| Linear::new(layout, &name, units, units, true);
        let pairs = (1..4).map(|l| layer(format!("relation.{l}"))).collect();
        let sums = (0..2).map(|l| layer(format!("sum.{l}"))).collect();
        Self { places, one, other, pairs, sums }
    }

    /// Row and column of a place, from -1 to 1.
    fn coordinates(&self, place: usize) -> [f64; 2] {
        let side = (self.places as f64).sqrt().round().max(1.0) as usize;
        let middle = (side - 1) as f64 / 2.0;
        [place / side, place % side].map(|at| (at as f64 - middle) / middle.max(0.5))
    }

    /// The places of all examples with their coordinates.
    fn objects<T: Real>(&self, context: &mut Context<'_, T>, features: &[T], examples: usize) -> Buffer<T> {
        let (places, width) = (self.places, self.one.inputs - 2);
        let mut objects = context.take(examples * places * (width + 2));
        let rows = objects.chunks_exact_mut(width + 2).zip(features.chunks_exact(width));
        for (row, (object, x)) in rows.enumerate() {
            object[..width].copy_from_slice(x);
            object[width..].copy_from_slice(&self.coordinates(row % places).map(T::from_f64));
        }
        objects
    }

    /// Adds to the layers: the places with their coordinates, four layers of all pairs, their sums, two layers of these.
    pub(super) fn forward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        layers: &mut Vec<Buffer<T>>,
        examples: usize,
    ) {
        let (places, units) = (self.places, self.one.outputs);
        let objects = self.objects(context, &layers[0], examples);
        let (one, other) = (self.one.forward(context, &objects), self.other.forward(context, &objects));
        let rows = examples * places * places;
        let [mut first, mut second, mut third, mut last] = [(); 4].map(|()| context.take(rows * units));
        let (isa, size) = (context.isa, ROWS * units);
        let weights = context.weights;
        let layer: Vec<_> =
            self.pairs.iter().map(|linear| (weights.forward(linear.weight), linear.bias(context))).collect();
        let blocks = (first.par_chunks_mut(size).zip(second.par_chunks_mut(size)))
            .zip(third.par_chunks_mut(size).zip(last.par_chunks_mut(size)));
        blocks.enumerate().for_each_init(
            Buffer::default,
            |scratch, (block, ((first, second), (third, last)))| {
                for (row, first) in (block * ROWS..).zip(first.chunks_exact_mut(units)) {
                    let (i, j) = (row / places, row / (places * places) * places + row % places);
                    let pair = one[i * units..][..units].iter().zip(&other[j * units..][..units]);
                    for (first, (&one, &other)) in first.iter_mut().zip(pair) {
                        let sum = one + other;
                        *first = if sum > T::ZERO { sum } else { T::ZERO };
                    }
                }
                let mut x: &[T] = first;
                for ((right, bias), y) in layer.iter().zip([second, third, last]) {
                    let left = View::new(x, x.len() / units, units);
                    gemm(isa, left, right, y, units, Accumulate::Overwrite, scratch);
                    relu(isa, bias, y);
                    x = y;
                }
            },
        );
        let mut sums = context.zeros(examples * units);
        let pairs = last.par_chunks_exact(places * places * units);
        sums.par_chunks_exact_mut(units)
            .zip(pairs)
            .for_each(|(sum, pairs)| add_columns(isa, pairs, units, sum));
        context.recycle([one, other]);
        layers.extend([objects, first, second, third, last, sums]);
        for linear in &self.sums {
            let y = rectified(context, linear, &layers[layers.len() - 1]);
            layers.push(y);
        }
    }

    /// The backward pass; `last` has been taken from the layers.
    pub(super) fn backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        layers: &mut Vec<Buffer<T>>,
        last: (&[T], T),
        mut d: Buffer<T>,
        gradients: &mut Gradients<'_, T>,
    ) -> Buffer<T> {
        let (places, units, width) = (self.places, self.one.outputs, self.one.inputs - 2);
        let mut y = Buffer::default();
        for (i, linear) in self.sums.iter().enumerate().rev() {
            let x = layers.pop().unwrap_or_default();
            let above = if i + 1 == self.sums.len() { last } else { (&y[..], T::ONE) };
            d = rectified_backward(context, linear, &x, above, d, gradients);
            context.recycle([std::mem::replace(&mut y, x)]);
        }
        context.recycle([y]);
        let [last, third, second, mut first] = [(); 4].map(|()| layers.pop().unwrap_or_default());
        self.pairs_backward(context, &d, [&second, &third, &last], &mut first, gradients);
        let objects = layers.pop().unwrap_or_default();
        let rows = objects.len() / (width + 2);
        let (mut d_one, mut d_other) = (context.zeros(rows * units), context.zeros(rows * units));
        let isa = context.isa;
        let of_examples = d_one.par_chunks_mut(places * units).zip(d_other.par_chunks_mut(places * units));
        of_examples.zip(first.par_chunks(places * places * units)).for_each(|((d_one, d_other), d)| {
            for (d, d_one) in d.chunks_exact(places * units).zip(d_one.chunks_exact_mut(units)) {
                add_columns(isa, d, units, d_one);
                add(isa, d, d_other);
            }
        });
        self.one.learn(context, &objects, &d_one, gradients);
        self.other.learn(context, &objects, &d_other, gradients);
        let mut d_objects = self.one.backward(context, &d_one);
        self.other.backward_into(context, &d_other, &mut d_objects, Accumulate::Add);
        let mut d_x = context.take(rows * width);
        for (d_x, d) in d_x.chunks_exact_mut(width).zip(d_objects.chunks_exact(width + 2)) {
            d_x.copy_from_slice(&d[..width]);
        }
        context.recycle([d, first, second, third, last, objects, d_one, d_other, d_objects]);
        d_x
    }

    /// The backward pass through the layers of pairs, from the gradient of their sums. What the first of them says becomes
    /// the gradient before its rectification.
    fn pairs_backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        d_sums: &[T],
        [second, third, last]: [&[T]; 3],
        first: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (pairs, units) = (self.places * self.places, self.one.outputs);
        let (isa, weights) = (context.isa, context.weights);
        let blocks = (first.len() / units).div_ceil(ROWS);
        let parts = PARTS.min(blocks).max(1);
        let size = blocks.div_ceil(parts) * ROWS * units;
        // A part's gradients of the three matrices, then of their biases, and two blocks of gradients of pairs.
        let sum = 3 * (units * units + units);
        let mut sums = context.take(parts * (sum + 2 * ROWS * units));
        let mut spaces = std::mem::take(&mut context.workspace.parts);
        spaces.resize_with(parts.max(spaces.len()), Workspace::default);
        let work =
            sums.par_chunks_mut(sum + 2 * ROWS * units).zip(first.par_chunks_mut(size)).zip(&mut spaces);
        work.enumerate().for_each(|(part, ((sums, first), space))| {
            let (sums, blocks) = sums.split_at_mut(sum);
            let (d, d_below) = blocks.split_at_mut(ROWS * units);
            let (matrices, biases) = sums.split_at_mut(3 * units * units);
            biases.fill(T::ZERO);
            let mut into = Accumulate::Overwrite;
            let above = [second, third, last].map(|y| &y[part * size..][..first.len()]);
            for (block, first) in first.chunks_mut(ROWS * units).enumerate() {
                let rows = first.len() / units;
                let [second, third, last] = above.map(|y| &y[block * ROWS * units..][..rows * units]);
                let (mut d, mut d_below) = (&mut d[..rows * units], &mut d_below[..rows * units]);
                for (row, d) in (part * size / units + block * ROWS..).zip(d.chunks_exact_mut(units)) {
                    d.copy_from_slice(&d_sums[row / pairs * units..][..units]);
                }
                rectify_backward(isa, last, d);
                for (l, x) in [&*first, second, third].into_iter().enumerate().rev() {
                    let matrix = &mut matrices[l * units * units..][..units * units];
                    space.packed.pack(View::new(x, rows, units));
                    let left = View::new(d, rows, units);
                    gemm(isa, left.transposed(), &space.packed, matrix, units, into, &mut space.scratch);
                    add_columns(isa, d, units, &mut biases[l * units..][..units]);
                    let right = weights.backward(self.pairs[l].weight);
                    gemm(isa, left, right, d_below, units, Accumulate::Overwrite, &mut space.scratch);
                    relu_backward(isa, x, T::ONE, d_below);
                    std::mem::swap(&mut d, &mut d_below);
                }
                first.copy_from_slice(d);
                into = Accumulate::Add;
            }
        });
        context.workspace.parts = spaces;
        let used = first.len().div_ceil(size.max(1));
        for (l, linear) in self.pairs.iter().enumerate() {
            for sums in sums.chunks_exact(sum + 2 * ROWS * units).take(used) {
                add(isa, &sums[l * units * units..][..units * units], gradients.of(linear.weight));
                if let Some(bias) = linear.bias {
                    add(isa, &sums[3 * units * units + l * units..][..units], gradients.of(bias));
                }
            }
        }
        context.recycle([sums]);
    }
}
