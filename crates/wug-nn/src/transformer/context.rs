//! What every part of a pass computes with: the context, normalisation, dropout.

use std::ops::{Deref, DerefMut};

use super::config::Config;
use super::model::LayerNorm;
use super::positions::Codes;
use super::sequences::Rows;
use crate::batch::mix;
use crate::kernels::{Accumulate, Packed, View, drop_rows, gemm, normalise, normalise_backward};
use crate::network::Context;
use crate::parameters::Gradients;
use crate::workspace::Workspace;
use crate::{Buffer, Real};

/// What dropout of a row depends on at a place of the model.
pub(super) fn place_key(key: u64, place: u64) -> u64 {
    mix(key ^ mix(place))
}

/// The context of a pass through a Transformer.
pub(super) struct TransformerContext<'a, T> {
    context: Context<'a, T>,
    pub(super) config: &'a Config,
    pub(super) codes: &'a Codes<T>,
    /// Probability of dropout; 0 where nothing is learnt.
    pub(super) dropout: f64,
}

impl<'a, T> Deref for TransformerContext<'a, T> {
    type Target = Context<'a, T>;

    fn deref(&self) -> &Context<'a, T> {
        &self.context
    }
}

impl<T> DerefMut for TransformerContext<'_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.context
    }
}

impl<'a, T: Real> TransformerContext<'a, T> {
    /// `context` with what a Transformer needs beside it; nothing is dropped unless `drops`.
    pub(super) fn new(context: Context<'a, T>, config: &'a Config, codes: &'a Codes<T>, drops: bool) -> Self {
        Self { context, config, codes, dropout: if drops { config.dropout } else { 0.0 } }
    }

    /// A buffer of this length with whatever was in it.
    pub(super) fn take(&mut self, len: usize) -> Buffer<T> {
        self.context.take(len)
    }

    /// A product with a factor that was packed into the workspace.
    pub(super) fn gemm(&mut self, left: View<'_, T>, out: &mut [T], stride: usize, into: Accumulate) {
        let isa = self.isa;
        let Workspace { packed, scratch, .. } = &mut *self.workspace;
        gemm(isa, left, packed, out, stride, into, scratch);
    }

    /// A product with the factor of a head.
    pub(super) fn head_gemm(&mut self, head: usize, left: View<'_, T>, out: &mut [T], stride: usize) {
        let isa = self.isa;
        let Workspace { heads, scratch, .. } = &mut *self.workspace;
        gemm(isa, left, &heads[head], out, stride, Accumulate::Overwrite, scratch);
    }

    /// Packs a factor for each head.
    pub(super) fn pack_heads<'v>(&mut self, of: impl Fn(usize) -> View<'v, T>) {
        let count = self.config.heads;
        let heads = &mut self.workspace.heads;
        heads.resize_with(count.max(heads.len()), Packed::default);
        for (head, packed) in heads[..count].iter_mut().enumerate() {
            packed.pack(of(head));
        }
    }

    /// Drops some of these rows; the same call is the backward context.
    pub(super) fn drop(&mut self, rows: &Rows, place: u64, values: &mut [T], width: usize) {
        self.drop_some(&rows.keys, place, values, width);
    }

    /// Drops some of the rows with these keys.
    pub(super) fn drop_some(&mut self, keys: &[u64], place: u64, values: &mut [T], width: usize) {
        if self.dropout > 0.0 {
            let own = &mut self.workspace.keys;
            own.clear();
            own.extend(keys.iter().map(|&key| place_key(key, place)));
            drop_rows(self.isa, &self.workspace.keys, self.dropout, values, width);
        }
    }

    /// Normalises the rows of `x` and returns one over their deviations and the result.
    pub(super) fn normalise(&mut self, norm: &LayerNorm, x: &mut [T]) -> (Buffer<T>, Buffer<T>) {
        let mut y = self.take(x.len());
        let mut inverse_std = self.take(x.len() / self.config.width);
        let (scale, shift) = (self.flat(norm.scale), self.flat(norm.shift));
        normalise(self.isa, x, scale, shift, &mut inverse_std, &mut y);
        (inverse_std, y)
    }

    /// The backward context, in place; `x` and `inverse_std` are what [`TransformerContext::normalise`] has left.
    pub(super) fn normalise_backward(
        &self,
        norm: &LayerNorm,
        x: &[T],
        inverse_std: &[T],
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (d_scale, d_shift) = gradients.two(norm.scale, norm.shift);
        normalise_backward(self.isa, x, self.flat(norm.scale), inverse_std, d, d_scale, d_shift);
    }
}
