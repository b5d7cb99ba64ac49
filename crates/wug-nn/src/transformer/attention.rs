//! Attention of many heads over whole sequences, with or without scores by distance.

use std::ops::Range;

use super::config::Config;
use super::context::TransformerContext;
use super::model::Relative;
use super::sequences::Rows;
use crate::kernels::{
    Accumulate, View, Window, add, add_columns, add_row, add_window, add_window_backward, softmax,
    softmax_backward,
};
use crate::{Gradients, Real};

/// Where queries, keys or values lie: in which of two buffers, how far apart its rows are, and the first column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) buffer: usize,
    pub(super) stride: usize,
    pub(super) first: usize,
}

/// Who attends to whom.
#[derive(Clone, Copy)]
pub(super) struct Heads<'a> {
    pub(super) queries: &'a Rows,
    pub(super) keys: &'a Rows,
    /// Whether a query sees only the keys before it and its own.
    pub(super) causal: bool,
    /// Of queries, keys and values.
    pub(super) columns: [Columns; 3],
    /// The parameters of scores by distance, and how far it goes.
    pub(super) relative: Option<(Relative, Window)>,
    /// The number of this place, for dropout.
    pub(super) place: u64,
}

impl Heads<'_> {
    /// How many weights all examples and heads have.
    pub(super) fn weights(&self, heads: usize) -> usize {
        self.queries.ranges().zip(self.keys.ranges()).map(|(q, k)| q.len() * k.len()).sum::<usize>() * heads
    }

    /// The window, empty where there is none.
    fn window(&self) -> Window {
        self.relative.map_or(Window { before: 0, after: 0 }, |(_, window)| window)
    }
}

/// One head of one example.
#[derive(Clone, Copy)]
struct One<'a, T> {
    buffers: [&'a [T]; 2],
    columns: [Columns; 3],
    /// First row and number of rows of the queries, and of keys and values.
    rows: [(usize, usize); 3],
    head: usize,
    size: usize,
}

impl<'a, T: Real> One<'a, T> {
    /// Queries (0), keys (1) or values (2).
    fn view(&self, which: usize) -> View<'a, T> {
        let (start, rows) = self.rows[which];
        let data = &self.buffers[self.columns[which].buffer][self.start(which, start)..];
        View::strided(data, rows, self.size, self.columns[which].stride)
    }

    fn start(&self, which: usize, row: usize) -> usize {
        let columns = self.columns[which];
        row * columns.stride + columns.first + self.head * self.size
    }

    /// The queries with a vector added to each, one after the other.
    fn shifted(&self, context: &TransformerContext<'_, T>, by: &[T], out: &mut [T]) {
        let (start, rows) = self.rows[0];
        for (row, out) in (start..start + rows).zip(out.chunks_exact_mut(self.size)) {
            let at = self.start(0, row);
            out.copy_from_slice(&self.buffers[self.columns[0].buffer][at..at + self.size]);
        }
        let by = &by[self.head * self.size..][..self.size];
        add_row(context.isa, by, &mut out[..rows * self.size], self.size);
    }
}

/// Every head of every example, and where its weights are.
fn ones<'a, T: Real>(
    heads: Heads<'a>,
    config: &Config,
    buffers: [&'a [T]; 2],
) -> impl Iterator<Item = (One<'a, T>, Range<usize>)> + use<'a, T> {
    let (count, size) = (config.heads, config.head());
    let mut end = 0;
    (0..heads.queries.len()).flat_map(move |i| (0..count).map(move |head| (i, head))).map(move |(i, head)| {
        let (q, k) = (heads.queries.range(i), heads.keys.range(i));
        let start = end;
        end += q.len() * k.len();
        let rows = [(q.start, q.len()), (k.start, k.len()), (k.start, k.len())];
        (One { buffers, columns: heads.columns, rows, head, size }, start..end)
    })
}

/// Writes the weights and what is attended to. `distances` are the vectors of the window.
pub(super) fn attend<T: Real>(
    context: &mut TransformerContext<'_, T>,
    heads: Heads<'_>,
    buffers: [&[T]; 2],
    distances: &[T],
    weights: &mut [T],
    attended: &mut [T],
) {
    let (width, size, window) = (context.config.width, context.config.head(), heads.window());
    let factor = T::from_f64(1.0 / (size as f64).sqrt());
    let (longest, keys) = (heads.queries.longest(), heads.keys.longest());
    let mut shifted = context.take(if heads.relative.is_some() { longest * size } else { 0 });
    let mut of_window = context.take(if heads.relative.is_some() { longest * window.len() } else { 0 });
    let mut dropped = context.take(if context.dropout > 0.0 { longest * keys } else { 0 });
    if heads.relative.is_some() {
        let of = |head: usize| View::strided(&distances[head * size..], window.len(), size, width);
        context.pack_heads(|head| of(head).transposed());
    }
    for (one, range) in ones(heads, context.config, buffers) {
        let [(row, queries), (_, keys), _] = one.rows;
        let scores = &mut weights[range];
        context.workspace.packed.pack(one.view(1).transposed());
        if let Some((relative, window)) = heads.relative {
            let shifted = &mut shifted[..queries * size];
            one.shifted(context, context.flat(relative.content_bias), shifted);
            context.gemm(View::new(shifted, queries, size), scores, keys, Accumulate::Overwrite);
            one.shifted(context, context.flat(relative.distance_bias), shifted);
            let of_window = &mut of_window[..queries * window.len()];
            context.head_gemm(one.head, View::new(shifted, queries, size), of_window, window.len());
            add_window(context.isa, window, of_window, scores, keys, heads.causal);
        } else {
            context.gemm(one.view(0), scores, keys, Accumulate::Overwrite);
        }
        softmax(context.isa, scores, keys, factor, heads.causal);
        context.workspace.packed.pack(one.view(2));
        let mut used = &*scores;
        if context.dropout > 0.0 {
            let dropped = &mut dropped[..scores.len()];
            dropped.copy_from_slice(scores);
            let keys_of_rows = &heads.queries.keys[row..row + queries];
            context.drop_some(keys_of_rows, heads.place << 16 | one.head as u64, dropped, keys);
            used = dropped;
        }
        let out = &mut attended[row * width + one.head * size..];
        context.gemm(View::new(used, queries, keys), out, width, Accumulate::Overwrite);
    }
    context.recycle([shifted, of_window, dropped]);
}

/// From the gradient of what was attended to to those of queries, keys and values (`d`, replaced), of the window's vectors and of the
/// two biases (added to).
#[allow(clippy::too_many_arguments)]
pub(super) fn attend_backward<T: Real>(
    context: &mut TransformerContext<'_, T>,
    heads: Heads<'_>,
    buffers: [&[T]; 2],
    distances: &[T],
    weights: &[T],
    d_attended: &[T],
    mut d: [&mut [T]; 2],
    d_distances: &mut [T],
    gradients: &mut Gradients<'_, T>,
) {
    let (width, size) = (context.config.width, context.config.head());
    let (longest, keys) = (heads.queries.longest(), heads.keys.longest());
    let factor = T::from_f64(1.0 / (size as f64).sqrt());
    let mut d_scores = context.take(longest * keys);
    let mut dropped = context.take(if context.dropout > 0.0 { longest * keys } else { 0 });
    let mut shifted = context.take(if heads.relative.is_some() { longest * size } else { 0 });
    let mut d_window = context.take(longest * heads.window().len());
    if heads.relative.is_some() {
        let window = heads.window();
        context.pack_heads(|head| View::strided(&distances[head * size..], window.len(), size, width));
    }
    for (one, range) in ones(heads, context.config, buffers) {
        let [(row, queries), (key_row, keys), _] = one.rows;
        let weights = &weights[range];
        let d_scores = &mut d_scores[..queries * keys];
        let d_out = View::strided(&d_attended[row * width + one.head * size..], queries, size, width);
        context.workspace.packed.pack(one.view(2).transposed());
        context.gemm(d_out, d_scores, keys, Accumulate::Overwrite);
        let mut used = weights;
        if context.dropout > 0.0 {
            let dropped = &mut dropped[..weights.len()];
            dropped.copy_from_slice(weights);
            let (place, keys_of_rows) =
                (heads.place << 16 | one.head as u64, &heads.queries.keys[row..row + queries]);
            context.drop_some(keys_of_rows, place, dropped, keys);
            context.drop_some(keys_of_rows, place, d_scores, keys);
            used = dropped;
        }
        let mut into =
            |context: &mut TransformerContext<'_, T>, which: usize, row: usize, left: View<'_, T>| {
                let Columns { buffer, stride, .. } = one.columns[which];
                context.gemm(left, &mut d[buffer][one.start(which, row)..], stride, Accumulate::Overwrite);
            };
        context.workspace.packed.pack(d_out);
        into(context, 2, key_row, View::new(used, queries, keys).transposed());
        softmax_backward(context.isa, weights, d_scores, keys, factor);
        let d_scores = &*d_scores;
        context.workspace.packed.pack(one.view(1));
        into(context, 0, row, View::new(d_scores, queries, keys));
        let Some((relative, window)) = heads.relative else {
            context.workspace.packed.pack(one.view(0));
            into(context, 1, key_row, View::new(d_scores, queries, keys).transposed());
            continue;
        };
        let shifted = &mut shifted[..queries * size];
        one.shifted(context, context.flat(relative.content_bias), shifted);
        context.workspace.packed.pack(View::new(shifted, queries, size));
        into(context, 1, key_row, View::new(d_scores, queries, keys).transposed());

        let of_head = one.head * size..(one.head + 1) * size;
        let Columns { buffer, stride, .. } = one.columns[0];
        let d_query = &mut d[buffer][one.start(0, row)..][..(queries - 1) * stride + size];
        let d_bias = &mut gradients.of(relative.content_bias)[of_head.clone()];
        add_columns(context.isa, d_query, stride, d_bias);
        let d_window = &mut d_window[..queries * window.len()];
        d_window.fill(T::ZERO);
        add_window_backward(context.isa, window, d_scores, keys, heads.causal, d_window);
        one.shifted(context, context.flat(relative.distance_bias), shifted);
        context.workspace.packed.pack(View::new(shifted, queries, size));
        let left = View::new(d_window, queries, window.len()).transposed();
        context.gemm(left, &mut d_distances[one.head * size..], width, Accumulate::Add);
        context.head_gemm(one.head, View::new(d_window, queries, window.len()), shifted, size);
        add_columns(context.isa, shifted, size, &mut gradients.of(relative.distance_bias)[of_head]);
        for (d_query, d) in d_query.chunks_mut(stride).zip(shifted.chunks_exact(size)) {
            add(context.isa, d, &mut d_query[..size]);
        }
    }
    context.recycle([d_scores, dropped, shifted, d_window]);
}
