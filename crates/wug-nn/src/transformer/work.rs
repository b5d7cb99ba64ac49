//! What every part of a pass computes with, and its smallest parts: linear maps, normalisation, dropout.

use super::config::Config;
use super::model::{LayerNorm, Linear};
use super::positions::Codes;
use super::room::Room;
use super::sequences::Rows;
use crate::batch::mix;
use crate::kernels::{
    Into, Isa, Packed, View, add_columns, add_row, drop_rows, normalise, normalise_backward, product,
};
use crate::parameters::{Gradients, Id, Weights};
use crate::{Buffer, Real};

/// What dropout of a row depends on at a place of the model.
pub(super) fn place_key(key: u64, place: u64) -> u64 {
    mix(key ^ mix(place))
}

/// What all functions of a pass need: the instructions, the parameters, room.
pub(super) struct Work<'a, T> {
    pub(super) isa: Isa,
    pub(super) config: &'a Config,
    pub(super) weights: &'a Weights<T>,
    pub(super) values: &'a [T],
    pub(super) codes: &'a Codes<T>,
    /// Probability of dropout; 0 where nothing is learnt.
    pub(super) dropout: f64,
    pub(super) room: &'a mut Room<T>,
}

impl<'a, T: Real> Work<'a, T> {
    /// The values of a tensor as they are.
    pub(super) fn flat(&self, id: Id) -> &'a [T] {
        &self.values[self.weights.range(id)]
    }

    /// A product with a factor that was packed into the room.
    pub(super) fn product(&mut self, left: View<'_, T>, out: &mut [T], stride: usize, into: Into) {
        let Room { packed, scratch, .. } = &mut *self.room;
        product(self.isa, left, packed, out, stride, into, scratch);
    }

    /// A product with the factor of a head.
    pub(super) fn head_product(&mut self, head: usize, left: View<'_, T>, out: &mut [T], stride: usize) {
        let Room { heads, scratch, .. } = &mut *self.room;
        product(self.isa, left, &heads[head], out, stride, Into::Replace, scratch);
    }

    /// Packs a factor for each head.
    pub(super) fn pack_heads<'v>(&mut self, of: impl Fn(usize) -> View<'v, T>) {
        self.room.heads.resize_with(self.config.heads.max(self.room.heads.len()), Packed::default);
        for (head, packed) in self.room.heads[..self.config.heads].iter_mut().enumerate() {
            packed.pack(of(head));
        }
    }

    /// Drops some of these rows; the same call is the backward pass.
    pub(super) fn drop(&mut self, rows: &Rows, place: u64, values: &mut [T], width: usize) {
        self.drop_some(&rows.keys, place, values, width);
    }

    /// Drops some of the rows with these keys.
    pub(super) fn drop_some(&mut self, keys: &[u64], place: u64, values: &mut [T], width: usize) {
        if self.dropout > 0.0 {
            self.room.keys.clear();
            self.room.keys.extend(keys.iter().map(|&key| place_key(key, place)));
            drop_rows(self.isa, &self.room.keys, self.dropout, values, width);
        }
    }

    /// Normalises the rows of `x` and returns one over their deviations and the result.
    pub(super) fn normalise(&mut self, norm: &LayerNorm, x: &mut [T]) -> (Buffer<T>, Buffer<T>) {
        let mut y = self.room.take(x.len());
        let mut steepness = self.room.take(x.len() / self.config.width);
        let (scale, shift) = (self.flat(norm.scale), self.flat(norm.shift));
        normalise(self.isa, x, scale, shift, &mut steepness, &mut y);
        (steepness, y)
    }

    /// The backward pass, in place; `x` and `steepness` are what [`Work::normalise`] has left.
    pub(super) fn normalise_backward(
        &self,
        norm: &LayerNorm,
        x: &[T],
        steepness: &[T],
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (d_scale, d_shift) = gradients.two(norm.scale, norm.shift);
        normalise_backward(self.isa, x, self.flat(norm.scale), steepness, d, d_scale, d_shift);
    }
}

impl Linear {
    /// `W x` for every row, without the bias.
    pub(super) fn apply<T: Real>(&self, work: &mut Work<'_, T>, x: &[T], out: &mut [T]) {
        let x = View::new(x, x.len() / self.inputs, self.inputs);
        let packed = work.weights.forward(self.weight);
        product(work.isa, x, packed, out, self.outputs, Into::Replace, &mut work.room.scratch);
    }

    /// `W x + b` for every row, in a buffer of the room.
    pub(super) fn forward<T: Real>(&self, work: &mut Work<'_, T>, x: &[T]) -> Buffer<T> {
        let mut out = work.room.take(x.len() / self.inputs * self.outputs);
        self.apply(work, x, &mut out);
        if let Some(bias) = self.bias {
            add_row(work.isa, work.flat(bias), &mut out, self.outputs);
        }
        out
    }

    /// The bias, empty if there is none.
    pub(super) fn bias<'a, T: Real>(&self, work: &Work<'a, T>) -> &'a [T] {
        self.bias.map(|bias| work.flat(bias)).unwrap_or_default()
    }

    /// The gradient of the input.
    pub(super) fn backward<T: Real>(&self, work: &mut Work<'_, T>, d: &[T], d_x: &mut [T], into: Into) {
        let d = View::new(d, d.len() / self.outputs, self.outputs);
        let packed = work.weights.backward(self.weight);
        product(work.isa, d, packed, d_x, self.inputs, into, &mut work.room.scratch);
    }

    /// Adds the gradients of the matrix and the bias.
    pub(super) fn learn<T: Real>(
        &self,
        work: &mut Work<'_, T>,
        x: &[T],
        d: &[T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let rows = d.len() / self.outputs;
        work.room.packed.pack(View::new(x, rows, self.inputs));
        let (d_weight, into) = gradients.begin(self.weight);
        work.product(View::new(d, rows, self.outputs).transposed(), d_weight, self.inputs, into);
        if let Some(bias) = self.bias {
            add_columns(work.isa, d, self.outputs, gradients.of(bias));
        }
    }
}
