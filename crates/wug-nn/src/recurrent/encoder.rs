//! The encoder: words to vectors to states, layer upon layer.

use super::RecurrentNetwork;
use super::layer::{Input, State, Trace};
use crate::batch::{Batch, Place};
use crate::kernels::{Accumulate, embed, embed_backward, scale_by};
use crate::linear::Linear;
use crate::network::Context;
use crate::parameters::Gradients;
use crate::{Buffer, Real};

/// What the encoder has computed.
pub(crate) struct Encoded<T> {
    layers: Vec<EncodedLayer<T>>,
    /// The states of the last layer, both directions side by side.
    pub(crate) output: Buffer<T>,
    /// The last states of each layer, both directions side by side, in the order of the decoder's rows.
    pub(crate) last: Vec<State<T>>,
}

/// What one layer has computed.
struct EncodedLayer<T> {
    input: Buffer<T>,
    /// The factors of dropout of the input.
    factors: Buffer<T>,
    /// A trace for each direction.
    traces: Vec<Trace<T>>,
}

impl<T: Real> Encoded<T> {
    /// Returns the buffers to the workspace.
    pub(crate) fn recycle(self, context: &mut Context<'_, T>) {
        for layer in self.layers {
            context.recycle([layer.input, layer.factors]);
            layer.traces.into_iter().for_each(|trace| trace.recycle(context));
        }
        context.recycle([self.output]);
    }
}

impl RecurrentNetwork {
    pub(crate) fn encode<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        batch: &Batch,
        key: Option<u64>,
    ) -> Encoded<T> {
        let (steps, h, width) = (&batch.sources, self.config.hidden, self.memory_width());
        // A table of images has more rows than there are words.
        let rows = context.flat(self.source_table).len() / self.config.embedding;
        let words = self.config.source_words.max(rows);
        let by_word = by_word(self.config.dropout, key, words, steps.total());
        let mut x = context.take(if by_word { 0 } else { steps.total() * self.config.embedding });
        embed(context.flat(self.source_table), self.config.embedding, &batch.source_words, &mut x);
        let mut encoded = Encoded { layers: Vec::new(), output: Buffer::default(), last: Vec::new() };
        for (l, directions) in self.encoder.iter().enumerate() {
            let factors = batch.dropout(
                context,
                self.config.dropout,
                key,
                Place::Source(l),
                x.len() / steps.total().max(1),
            );
            scale_by(context.isa, &factors, &mut x);
            let mut traces = Vec::new();
            let mut output = context.take(steps.total() * width);
            let mut last = State::default();
            for (d, layer) in directions.iter().enumerate() {
                let mut trace = Trace::new(context, layer, steps.total());
                if l == 0 && by_word {
                    let sums = layer.word_sums(context, self.source_table, words);
                    let input = Input::Words(&batch.source_words, &sums);
                    trace.run(context, layer, steps, input, None, d == 1);
                    context.recycle([sums]);
                } else {
                    trace.run(context, layer, steps, Input::Rows(&x), None, d == 1);
                }
                beside(&trace.state, h, &mut output, width, d * h);
                let end = trace.last(layer, steps, d == 1);
                for (end, last) in [(&end.state, &mut last.state), (&end.memory, &mut last.memory)] {
                    if !end.is_empty() {
                        last.resize(batch.partner.len() * width, T::ZERO);
                        for (row, &partner) in batch.partner.iter().enumerate() {
                            last[row * width + d * h..][..h].copy_from_slice(&end[partner * h..][..h]);
                        }
                    }
                }
                traces.push(trace);
            }
            encoded.layers.push(EncodedLayer { input: std::mem::replace(&mut x, output), factors, traces });
            encoded.last.push(last);
        }
        encoded.output = x;
        encoded
    }

    /// The backward context: from the gradients of the output and of the last states of each layer.
    pub(crate) fn encode_backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        batch: &Batch,
        encoded: &mut Encoded<T>,
        mut d_output: Buffer<T>,
        d_last: &[State<T>],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (steps, h, width) = (&batch.sources, self.config.hidden, self.memory_width());
        for (l, directions) in self.encoder.iter().enumerate().rev() {
            let EncodedLayer { input: x, factors, traces } = &mut encoded.layers[l];
            let mut d_x = context.take(x.len());
            for (d, (layer, trace)) in directions.iter().zip(traces).enumerate() {
                let mut carry = State::zeros(layer, batch.partner.len());
                for (d_last, carry) in
                    [(&d_last[l].state, &mut carry.state), (&d_last[l].memory, &mut carry.memory)]
                {
                    if !d_last.is_empty() {
                        for (row, &partner) in batch.partner.iter().enumerate() {
                            carry[partner * h..][..h].copy_from_slice(&d_last[row * width + d * h..][..h]);
                        }
                    }
                }
                let mut d_state = context.take(steps.total() * h);
                for (to, from) in d_state.chunks_exact_mut(h).zip(d_output.chunks_exact(width)) {
                    to.copy_from_slice(&from[d * h..][..h]);
                }
                trace.run_backward(context, layer, steps, &mut d_state, &mut carry, d == 1);
                trace.learn(context, layer, gradients);
                if x.is_empty() {
                    let words = (&batch.source_words[..], &trace.gates[..]);
                    layer.learn_words(context, self.source_table, words, gradients);
                } else {
                    trace.learn_input(context, layer, 0, x, gradients);
                    let into = if d == 0 { Accumulate::Overwrite } else { Accumulate::Add };
                    trace.input_backward(context, layer, 0, 0..steps.total(), &mut d_x, into);
                }
                context.recycle([d_state]);
            }
            scale_by(context.isa, factors, &mut d_x);
            context.recycle([std::mem::replace(&mut d_output, d_x)]);
        }
        let d_table = gradients.of(self.source_table);
        embed_backward(&d_output, self.config.embedding, &batch.source_words, d_table);
        context.recycle([d_output]);
    }

    /// From the encoder's last states to the decoder's first.
    pub(crate) fn bridge<T: Real>(&self, context: &mut Context<'_, T>, last: &[State<T>]) -> Vec<State<T>> {
        let last = &last[last.len() - self.decoder.len()..];
        if self.bridges.is_empty() {
            return last.to_vec();
        }
        let mut first = Vec::new();
        for (last, linears) in last.iter().zip(&self.bridges) {
            let mut outputs = linears.iter().zip([&last.state, &last.memory]).map(|(linear, x)| {
                let mut out = linear.forward(context, x);
                for y in &mut out {
                    *y = y.tanh();
                }
                out
            });
            let state = outputs.next().expect("a bridge for the state");
            first.push(State { state, memory: outputs.next().unwrap_or_default() });
        }
        first
    }

    /// The backward context: `first` is what [`RecurrentNetwork::bridge`] gave.
    pub(crate) fn bridge_backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        last: &[State<T>],
        first: &[State<T>],
        d_first: Vec<State<T>>,
        gradients: &mut Gradients<'_, T>,
    ) -> Vec<State<T>> {
        let unused = last.len() - self.decoder.len();
        let mut d_last = vec![State::default(); unused];
        if self.bridges.is_empty() {
            d_last.extend(d_first);
            return d_last;
        }
        for (l, (mut d, linears)) in d_first.into_iter().zip(&self.bridges).enumerate() {
            let mut through = |linear: &Linear, x: &[T], y: &[T], d: &mut [T]| {
                d.iter_mut().zip(y).for_each(|(d, &y)| *d *= T::ONE - y * y);
                linear.learn(context, x, d, gradients);
                linear.backward(context, d)
            };
            let (last, first) = (&last[unused + l], &first[l]);
            let state = through(&linears[0], &last.state, &first.state, &mut d.state);
            let memory =
                linears.get(1).map(|linear| through(linear, &last.memory, &first.memory, &mut d.memory));
            d_last.push(State { state, memory: memory.unwrap_or_default() });
        }
        d_last
    }
}

/// Whether the first layer computes with words instead of places: nothing is dropped, and the words are the fewer ones.
pub(super) fn by_word(dropout: f64, key: Option<u64>, words: usize, places: usize) -> bool {
    (dropout == 0.0 || key.is_none()) && 2 * words <= places
}

/// Copies rows of `width` numbers into wider rows, from this column on.
fn beside<T: Real>(rows: &[T], width: usize, out: &mut [T], stride: usize, column: usize) {
    for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(stride)) {
        out[column..column + width].copy_from_slice(row);
    }
}
