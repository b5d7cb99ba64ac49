//! One sub-layer over whole sequences, forward and backward: what it computes, its residual sum, its normalisation.

use super::attention::{Columns, Heads, attend, attend_backward};
use super::config::{Activation, Config, Norm, Positions};
use super::context::TransformerContext;
use super::model::{Kind, Relative, Sublayer};
use super::sequences::Rows;
use crate::kernels::{Accumulate, Window, add, gelu, gelu_backward, relu, relu_backward, residual};
use crate::linear::Linear;
use crate::{Buffer, Gradients, Real};

/// What a sub-layer has computed and its backward pass needs.
pub(super) struct Trace<T> {
    /// What the sub-layer read.
    input: Buffer<T>,
    /// Rows of mean 0 and variance 1, and one over the deviation that they had.
    normal: Buffer<T>,
    inverse_std: Buffer<T>,
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
        context: &mut TransformerContext<'_, T>,
        site: Site<'_, T>,
        x: Buffer<T>,
    ) -> (Trace<T>, Buffer<T>) {
        let width = context.config.width;
        let is_post = context.config.norm == Norm::Post;
        let (mut normal, mut inverse_std) = (Buffer::default(), Buffer::default());
        let mut before = Buffer::default();
        let input = if is_post {
            x
        } else {
            normal = context.copy(&x);
            before = x;
            let read;
            (inverse_std, read) = context.normalise(&self.norm, &mut normal);
            read
        };
        let inner = self.inner(context, site, &input);
        let mut out = context.take(input.len());
        self.output.forward_without_bias(context, &inner.last, &mut out);
        let bias = self.output.bias(context);
        let kept = if is_post { &input } else { &before };
        if context.dropout > 0.0 {
            if !bias.is_empty() {
                crate::kernels::add_row(context.isa, bias, &mut out, width);
            }
            context.drop(site.rows, site.place, &mut out, width);
            residual(context.isa, kept, &[], &mut out, width);
        } else {
            residual(context.isa, kept, bias, &mut out, width);
        }
        context.recycle([before]);
        if is_post {
            let y;
            (inverse_std, y) = context.normalise(&self.norm, &mut out);
            (Trace { input, normal: out, inverse_std, inner }, y)
        } else {
            (Trace { input, normal, inverse_std, inner }, out)
        }
    }

    /// What comes before the output matrix.
    fn inner<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        site: Site<'_, T>,
        input: &[T],
    ) -> Inner<T> {
        match self.kind {
            Kind::Itself { input: projection, relative, causal } => {
                let first = projection.forward(context, input);
                let heads = site.itself(context.config, relative, causal);
                let distances = distances(context, &heads);
                Inner::attended(context, heads, first, Buffer::default(), distances)
            }
            Kind::Cross { query, memory } => {
                let (first, memory) = (query.forward(context, input), memory.forward(context, site.memory));
                let heads = site.cross(context.config);
                Inner::attended(context, heads, first, memory, Buffer::default())
            }
            Kind::Feed { input: map } => {
                let mut hidden = context.take(input.len() / map.inputs * map.outputs);
                map.forward_without_bias(context, input, &mut hidden);
                let bias = map.bias(context);
                let mut first = Buffer::default();
                if context.config.activation == Activation::Relu {
                    relu(context.isa, bias, &mut hidden);
                } else {
                    first = hidden;
                    hidden = context.take(first.len());
                    gelu(context.isa, bias, &mut first, &mut hidden);
                }
                if context.config.drop_hidden {
                    context.drop(site.rows, site.place | HIDDEN, &mut hidden, map.outputs);
                }
                let none = Buffer::default;
                Inner { first, memory: none(), distances: none(), weights: none(), last: hidden }
            }
        }
    }

    /// From the gradient of what the next sub-layer reads to that of what this one read. `d_memory` is added to.
    pub(super) fn backward<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        site: Site<'_, T>,
        trace: Trace<T>,
        mut d: Buffer<T>,
        d_memory: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) -> Buffer<T> {
        let is_post = context.config.norm == Norm::Post;
        let Trace { input, normal, inverse_std, inner } = trace;
        if is_post {
            context.normalise_backward(&self.norm, &normal, &inverse_std, &mut d, gradients);
        }
        let mut d_out = context.copy(&d);
        context.drop(site.rows, site.place, &mut d_out, self.output.outputs);
        self.output.learn(context, &inner.last, &d_out, gradients);
        let mut d_last = context.take(inner.last.len());
        self.output.backward_into(context, &d_out, &mut d_last, Accumulate::Overwrite);
        if is_post {
            self.inner_backward(
                context,
                site,
                inner,
                &input,
                d_last,
                (&mut d, Accumulate::Add),
                d_memory,
                gradients,
            );
        } else {
            let into = (&mut d_out[..], Accumulate::Overwrite);
            self.inner_backward(context, site, inner, &input, d_last, into, d_memory, gradients);
            context.normalise_backward(&self.norm, &normal, &inverse_std, &mut d_out, gradients);
            add(context.isa, &d_out, &mut d);
        }
        context.recycle([input, normal, inverse_std, d_out]);
        d
    }

    /// The backward pass from what the output matrix read to the input.
    #[allow(clippy::too_many_arguments)]
    fn inner_backward<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        site: Site<'_, T>,
        inner: Inner<T>,
        input: &[T],
        mut d_last: Buffer<T>,
        (d_input, into): (&mut [T], Accumulate),
        d_memory: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let mut through = |context: &mut TransformerContext<'_, T>,
                           linear: Linear,
                           d: &[T],
                           gradients: &mut Gradients<'_, T>| {
            linear.learn(context, input, d, gradients);
            linear.backward_into(context, d, d_input, into);
        };
        match self.kind {
            Kind::Itself { input: projection, relative, causal } => {
                let mut d = context.take(inner.first.len());
                let mut d_distances = context.zeros(inner.distances.len());
                let heads = site.itself(context.config, relative, causal);
                let buffers = [&inner.first[..], &[]];
                let into = [&mut d[..], &mut []];
                attend_backward(
                    context,
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
                    let mut codes = context.take(window.len() * context.config.width);
                    context.codes.window(window, &mut codes);
                    relative.distance.learn(context, &codes, &d_distances, gradients);
                    context.recycle([codes]);
                }
                through(context, projection, &d, gradients);
                context.recycle([d, d_distances]);
            }
            Kind::Cross { query, memory } => {
                let mut d = context.take(inner.first.len());
                let mut d_pairs = context.take(inner.memory.len());
                let buffers = [&inner.first[..], &inner.memory];
                let into = [&mut d[..], &mut d_pairs];
                let heads = site.cross(context.config);
                attend_backward(
                    context,
                    heads,
                    buffers,
                    &[],
                    &inner.weights,
                    &d_last,
                    into,
                    &mut [],
                    gradients,
                );
                through(context, query, &d, gradients);
                memory.learn(context, site.memory, &d_pairs, gradients);
                memory.backward_into(context, &d_pairs, d_memory, Accumulate::Add);
                context.recycle([d, d_pairs]);
            }
            Kind::Feed { input: map } => {
                let drops = context.dropout > 0.0 && context.config.drop_hidden;
                if context.config.activation == Activation::Relu {
                    let factor = if drops { 1.0 / (1.0 - context.dropout) } else { 1.0 };
                    relu_backward(context.isa, &inner.last, T::from_f64(factor), &mut d_last);
                } else {
                    if drops {
                        context.drop(site.rows, site.place | HIDDEN, &mut d_last, map.outputs);
                    }
                    gelu_backward(context.isa, &inner.first, &mut d_last);
                }
                through(context, map, &d_last, gradients);
            }
        }
        context.recycle([d_last]);
        inner.give(context);
    }
}

/// What tells the hidden units of a feed-forward layer from its output, for dropout.
pub(super) const HIDDEN: u64 = 1 << 32;

impl<T: Real> Inner<T> {
    fn attended(
        context: &mut TransformerContext<'_, T>,
        heads: Heads<'_>,
        first: Buffer<T>,
        memory: Buffer<T>,
        distances: Buffer<T>,
    ) -> Self {
        let mut weights = context.take(heads.weights(context.config.heads));
        let mut last = context.take(heads.queries.total() * context.config.width);
        attend(context, heads, [&first, &memory], &distances, &mut weights, &mut last);
        Self { first, memory, distances, weights, last }
    }

    fn give(self, context: &mut TransformerContext<'_, T>) {
        let Self { first, memory, distances, weights, last } = self;
        context.recycle([first, memory, distances, weights, last]);
    }
}

impl<T: Real> Trace<T> {
    /// Returns the buffers to the workspace where there is no backward pass.
    pub(super) fn give(self, context: &mut TransformerContext<'_, T>) {
        let Self { input, normal, inverse_std, inner } = self;
        inner.give(context);
        context.recycle([input, normal, inverse_std]);
    }
}

/// The vectors of the distances in the window; none where distances do not count.
fn distances<T: Real>(context: &mut TransformerContext<'_, T>, heads: &Heads<'_>) -> Buffer<T> {
    let Some((relative, window)) = heads.relative else { return Buffer::default() };
    let mut codes = context.take(window.len() * context.config.width);
    context.codes.window(window, &mut codes);
    let distances = relative.distance.forward(context, &codes);
    context.recycle([codes]);
    distances
}
