//! One sub-layer over whole sequences, forward and backward: what it computes, its residual sum, its normalisation.

use super::attention::{Columns, Heads, attend, attend_backward};
use super::config::{Activation, Config, Norm, Positions};
use super::model::{Kind, Linear, Relative, Sublayer};
use super::sequences::Rows;
use super::work::Work;
use crate::kernels::{Into, Window, add, gelu, gelu_backward, relu, relu_backward, residual};
use crate::{Buffer, Gradients, Real};

/// What a sub-layer has computed and its way back needs.
pub(super) struct Trace<T> {
    /// What the sub-layer read.
    input: Buffer<T>,
    /// Rows of mean 0 and variance 1, and one over the deviation that they had.
    normal: Buffer<T>,
    steepness: Buffer<T>,
    inner: Inner<T>,
}

/// What is between the input and the output matrix.
struct Inner<T> {
    /// Queries, with keys and values if a sequence attends to itself; of a feed-forward layer the sums, if they are kept.
    first: Buffer<T>,
    /// Keys and values of the encoder's output.
    memory: Buffer<T>,
    /// Vectors of the distances.
    distances: Buffer<T>,
    weights: Buffer<T>,
    /// What the output matrix reads.
    last: Buffer<T>,
}

/// Where a sub-layer stands: whose rows it has, what it may attend to, and its number for dropout.
#[derive(Clone, Copy)]
pub(super) struct Site<'a, T> {
    pub(super) rows: &'a Rows,
    pub(super) memory_rows: &'a Rows,
    pub(super) memory: &'a [T],
    pub(super) place: u64,
}

impl Config {
    /// The distances that self-attention over sequences of this length can meet.
    pub(super) fn window(&self, longest: usize, causal: bool) -> Window {
        let farthest = longest.saturating_sub(1);
        let before = match self.positions {
            Positions::Relative { clip: Some(clip) } => farthest.min(clip),
            _ => farthest,
        };
        Window { before, after: if causal { 0 } else { before } }
    }
}

impl<'a, T: Real> Site<'a, T> {
    /// A sequence that attends to itself, from one buffer of queries, keys and values.
    fn itself(&self, config: &Config, relative: Option<Relative>, causal: bool) -> Heads<'a> {
        let window = config.window(self.rows.longest(), causal);
        let stride = 3 * config.width;
        Heads {
            queries: self.rows,
            keys: self.rows,
            causal,
            columns: [0, 1, 2].map(|part| Columns { buffer: 0, stride, first: part * config.width }),
            relative: relative.map(|relative| (relative, window)),
            place: self.place,
        }
    }

    /// Attention to the encoder's output: queries in one buffer, keys and values in another.
    fn cross(&self, config: &Config) -> Heads<'a> {
        let (width, stride) = (config.width, 2 * config.width);
        Heads {
            queries: self.rows,
            keys: self.memory_rows,
            causal: false,
            columns: [
                Columns { buffer: 0, stride: width, first: 0 },
                Columns { buffer: 1, stride, first: 0 },
                Columns { buffer: 1, stride, first: width },
            ],
            relative: None,
            place: self.place,
        }
    }
}

impl Sublayer {
    /// Reads `x` and returns what the next sub-layer reads.
    pub(super) fn forward<T: Real>(
        &self,
        work: &mut Work<'_, T>,
        site: Site<'_, T>,
        x: Buffer<T>,
    ) -> (Trace<T>, Buffer<T>) {
        let width = work.config.width;
        let is_post = work.config.norm == Norm::Post;
        let (mut normal, mut steepness) = (Buffer::default(), Buffer::default());
        let mut before = Buffer::default();
        let input = if is_post {
            x
        } else {
            normal = work.room.copy(&x);
            before = x;
            let read;
            (steepness, read) = work.normalise(&self.norm, &mut normal);
            read
        };
        let inner = self.inner(work, site, &input);
        let mut out = work.room.take(input.len());
        self.output.apply(work, &inner.last, &mut out);
        let bias = self.output.bias(work);
        let kept = if is_post { &input } else { &before };
        if work.dropout > 0.0 {
            if !bias.is_empty() {
                crate::kernels::add_row(work.isa, bias, &mut out, width);
            }
            work.drop(site.rows, site.place, &mut out, width);
            residual(work.isa, kept, &[], &mut out, width);
        } else {
            residual(work.isa, kept, bias, &mut out, width);
        }
        work.room.give(before);
        if is_post {
            let y;
            (steepness, y) = work.normalise(&self.norm, &mut out);
            (Trace { input, normal: out, steepness, inner }, y)
        } else {
            (Trace { input, normal, steepness, inner }, out)
        }
    }

    /// What comes before the output matrix.
    fn inner<T: Real>(&self, work: &mut Work<'_, T>, site: Site<'_, T>, input: &[T]) -> Inner<T> {
        match self.kind {
            Kind::Itself { input: projection, relative, causal } => {
                let first = projection.forward(work, input);
                let heads = site.itself(work.config, relative, causal);
                let distances = distances(work, &heads);
                Inner::attended(work, heads, first, Buffer::default(), distances)
            }
            Kind::Cross { query, memory } => {
                let (first, memory) = (query.forward(work, input), memory.forward(work, site.memory));
                let heads = site.cross(work.config);
                Inner::attended(work, heads, first, memory, Buffer::default())
            }
            Kind::Feed { input: map } => {
                let mut hidden = work.room.take(input.len() / map.inputs * map.outputs);
                map.apply(work, input, &mut hidden);
                let bias = map.bias(work);
                let mut first = Buffer::default();
                if work.config.activation == Activation::Relu {
                    relu(work.isa, bias, &mut hidden);
                } else {
                    first = hidden;
                    hidden = work.room.take(first.len());
                    gelu(work.isa, bias, &mut first, &mut hidden);
                }
                if work.config.drop_hidden {
                    work.drop(site.rows, site.place | HIDDEN, &mut hidden, map.outputs);
                }
                let none = Buffer::default;
                Inner { first, memory: none(), distances: none(), weights: none(), last: hidden }
            }
        }
    }

    /// From the gradient of what the next sub-layer reads to that of what this one read. `d_memory` is added to.
    pub(super) fn backward<T: Real>(
        &self,
        work: &mut Work<'_, T>,
        site: Site<'_, T>,
        trace: Trace<T>,
        mut d: Buffer<T>,
        d_memory: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) -> Buffer<T> {
        let is_post = work.config.norm == Norm::Post;
        let Trace { input, normal, steepness, inner } = trace;
        if is_post {
            work.normalise_backward(&self.norm, &normal, &steepness, &mut d, gradients);
        }
        let mut d_out = work.room.copy(&d);
        work.drop(site.rows, site.place, &mut d_out, self.output.outputs);
        self.output.learn(work, &inner.last, &d_out, gradients);
        let mut d_last = work.room.take(inner.last.len());
        self.output.backward(work, &d_out, &mut d_last, Into::Replace);
        if is_post {
            self.inner_backward(work, site, inner, &input, d_last, (&mut d, Into::Add), d_memory, gradients);
        } else {
            let into = (&mut d_out[..], Into::Replace);
            self.inner_backward(work, site, inner, &input, d_last, into, d_memory, gradients);
            work.normalise_backward(&self.norm, &normal, &steepness, &mut d_out, gradients);
            add(work.isa, &d_out, &mut d);
        }
        work.room.give_all([input, normal, steepness, d_out]);
        d
    }

    /// The backward pass from what the output matrix read to the input.
    #[allow(clippy::too_many_arguments)]
    fn inner_backward<T: Real>(
        &self,
        work: &mut Work<'_, T>,
        site: Site<'_, T>,
        inner: Inner<T>,
        input: &[T],
        mut d_last: Buffer<T>,
        (d_input, into): (&mut [T], Into),
        d_memory: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let mut through =
            |work: &mut Work<'_, T>, linear: Linear, d: &[T], gradients: &mut Gradients<'_, T>| {
                linear.learn(work, input, d, gradients);
                linear.backward(work, d, d_input, into);
            };
        match self.kind {
            Kind::Itself { input: projection, relative, causal } => {
                let mut d = work.room.take(inner.first.len());
                let mut d_distances = work.room.zeros(inner.distances.len());
                let heads = site.itself(work.config, relative, causal);
                let buffers = [&inner.first[..], &[]];
                let into = [&mut d[..], &mut []];
                attend_backward(
                    work,
                    heads,
                    buffers,
                    &inner.distances,
                    &inner.weights,
                    &d_last,
                    into,
                    &mut d_distances,
                    gradients,
                );
                if let Some((relative, window)) = heads.relative {
                    let mut codes = work.room.take(window.len() * work.config.width);
                    work.codes.window(window, &mut codes);
                    relative.distance.learn(work, &codes, &d_distances, gradients);
                    work.room.give(codes);
                }
                through(work, projection, &d, gradients);
                work.room.give_all([d, d_distances]);
            }
            Kind::Cross { query, memory } => {
                let mut d = work.room.take(inner.first.len());
                let mut d_pairs = work.room.take(inner.memory.len());
                let buffers = [&inner.first[..], &inner.memory];
                let into = [&mut d[..], &mut d_pairs];
                let heads = site.cross(work.config);
                attend_backward(work, heads, buffers, &[], &inner.weights, &d_last, into, &mut [], gradients);
                through(work, query, &d, gradients);
                memory.learn(work, site.memory, &d_pairs, gradients);
                memory.backward(work, &d_pairs, d_memory, Into::Add);
                work.room.give_all([d, d_pairs]);
            }
            Kind::Feed { input: map } => {
                let drops = work.dropout > 0.0 && work.config.drop_hidden;
                if work.config.activation == Activation::Relu {
                    let factor = if drops { 1.0 / (1.0 - work.dropout) } else { 1.0 };
                    relu_backward(work.isa, &inner.last, T::from_f64(factor), &mut d_last);
                } else {
                    if drops {
                        work.drop(site.rows, site.place | HIDDEN, &mut d_last, map.outputs);
                    }
                    gelu_backward(work.isa, &inner.first, &mut d_last);
                }
                through(work, map, &d_last, gradients);
            }
        }
        work.room.give(d_last);
        inner.give(work);
    }
}

/// What tells the hidden units of a feed-forward layer from its output, for dropout.
pub(super) const HIDDEN: u64 = 1 << 32;

impl<T: Real> Inner<T> {
    fn attended(
        work: &mut Work<'_, T>,
        heads: Heads<'_>,
        first: Buffer<T>,
        memory: Buffer<T>,
        distances: Buffer<T>,
    ) -> Self {
        let mut weights = work.room.take(heads.weights(work.config.heads));
        let mut last = work.room.take(heads.queries.total() * work.config.width);
        attend(work, heads, [&first, &memory], &distances, &mut weights, &mut last);
        Self { first, memory, distances, weights, last }
    }

    fn give(self, work: &mut Work<'_, T>) {
        let Self { first, memory, distances, weights, last } = self;
        work.room.give_all([first, memory, distances, weights, last]);
    }
}

impl<T: Real> Trace<T> {
    /// Gives the buffers back where there is no way back.
    pub(super) fn give(self, work: &mut Work<'_, T>) {
        let Self { input, normal, steepness, inner } = self;
        inner.give(work);
        work.room.give_all([input, normal, steepness]);
    }
}

/// The vectors of the distances in the window; none where distances do not count.
fn distances<T: Real>(work: &mut Work<'_, T>, heads: &Heads<'_>) -> Buffer<T> {
    let Some((relative, window)) = heads.relative else { return Buffer::default() };
    let mut codes = work.room.take(window.len() * work.config.width);
    work.codes.window(window, &mut codes);
    let distances = relative.distance.forward(work, &codes);
    work.room.give(codes);
    distances
}
