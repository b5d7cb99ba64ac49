//! The encoder: words to vectors to states, layer upon layer.

use crate::batch::{Batch, Place};
use crate::config::{Linear, Model};
use crate::kernels::{Into, View, add_columns, add_row, embed, embed_backward, scale_by};
use crate::recurrent::{Pass, State, Trace};
use crate::{Layout, Real};

/// What the encoder has computed.
pub(crate) struct Encoded<T> {
    /// For each layer: its input, the factors of dropout of that input, and a trace for each direction.
    layers: Vec<(Vec<T>, Vec<T>, Vec<Trace<T>>)>,
    /// The states of the last layer, both directions side by side.
    pub(crate) output: Vec<T>,
    /// The last states of each layer, both directions side by side, in the order of the decoder's rows.
    pub(crate) last: Vec<State<T>>,
}

impl Model {
    pub(crate) fn encode<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        key: Option<u64>,
    ) -> Encoded<T> {
        let (steps, h, width) = (&batch.sources, self.config.hidden, self.memory_width());
        let mut x = vec![T::ZERO; steps.total() * self.config.embedding];
        embed(pass.weights.flat(self.source_table), self.config.embedding, &batch.source_words, &mut x);
        let mut encoded = Encoded { layers: Vec::new(), output: Vec::new(), last: Vec::new() };
        for (l, directions) in self.encoder.iter().enumerate() {
            let factors =
                batch.dropout(pass.isa, &self.config, key, Place::Source(l), x.len() / steps.total().max(1));
            scale_by(pass.isa, &factors, &mut x);
            let mut traces = Vec::new();
            let mut output = vec![T::ZERO; steps.total() * width];
            let mut last = State::default();
            for (d, layer) in directions.iter().enumerate() {
                let mut trace = Trace::new(layer, steps.total());
                let zeros = State::zeros(layer, batch.partner.len());
                trace.run(pass, layer, steps, &x, &zeros, d == 1);
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
            encoded.layers.push((std::mem::replace(&mut x, output), factors, traces));
            encoded.last.push(last);
        }
        encoded.output = x;
        encoded
    }

    /// The way back: from the gradients of the output and of the last states of each layer.
    pub(crate) fn encode_backward<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        mut d_output: Vec<T>,
        d_last: &[State<T>],
        gradients: &mut [T],
    ) {
        let (steps, h, width) = (&batch.sources, self.config.hidden, self.memory_width());
        for (l, directions) in self.encoder.iter().enumerate().rev() {
            let (x, factors, traces) = &encoded.layers[l];
            let mut d_x = vec![T::ZERO; x.len()];
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
                let mut d_state = vec![T::ZERO; steps.total() * h];
                for (to, from) in d_state.chunks_exact_mut(h).zip(d_output.chunks_exact(width)) {
                    to.copy_from_slice(&from[d * h..][..h]);
                }
                let d_sums = trace.run_backward(pass, layer, steps, &mut d_state, &mut carry, d == 1);
                trace.learn(pass, layer, &self.layout, &d_sums, gradients);
                Trace::learn_input(pass, layer, &self.layout, 0, &d_sums, x, gradients);
                Trace::input_backward(pass, layer, 0, &d_sums, &mut d_x, Into::Add);
            }
            scale_by(pass.isa, factors, &mut d_x);
            d_output = d_x;
        }
        let d_table = &mut gradients[self.layout.tensor(self.source_table).range()];
        embed_backward(&d_output, self.config.embedding, &batch.source_words, d_table);
    }

    /// From the encoder's last states to the decoder's first.
    pub(crate) fn bridge<T: Real>(&self, pass: &mut Pass<'_, T>, last: &[State<T>]) -> Vec<State<T>> {
        let last = &last[last.len() - self.decoder.len()..];
        if self.bridges.is_empty() {
            return last.to_vec();
        }
        let mut first = Vec::new();
        for (last, linears) in last.iter().zip(&self.bridges) {
            let mut outputs = linears.iter().zip([&last.state, &last.memory]).map(|(linear, x)| {
                let mut out = linear.forward(pass, x);
                out.iter_mut().for_each(|y| *y = y.tanh());
                out
            });
            let state = outputs.next().expect("a bridge for the state");
            first.push(State { state, memory: outputs.next().unwrap_or_default() });
        }
        first
    }

    /// The way back: `first` is what [`Model::bridge`] gave.
    pub(crate) fn bridge_backward<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        last: &[State<T>],
        first: &[State<T>],
        d_first: Vec<State<T>>,
        gradients: &mut [T],
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
                linear.learn(pass, &self.layout, x, d, gradients);
                linear.backward(pass, d)
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

/// Copies rows of `width` numbers into wider rows, from this column on.
fn beside<T: Real>(rows: &[T], width: usize, out: &mut [T], stride: usize, column: usize) {
    for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(stride)) {
        out[column..column + width].copy_from_slice(row);
    }
}

impl Linear {
    /// `W x + b` for every row.
    pub(crate) fn forward<T: Real>(&self, pass: &mut Pass<'_, T>, x: &[T]) -> Vec<T> {
        let mut out = vec![T::ZERO; x.len() / self.inputs * self.outputs];
        self.forward_into(pass, x, &mut out);
        out
    }

    /// Adds `W x + b` for every row.
    pub(crate) fn forward_into<T: Real>(&self, pass: &mut Pass<'_, T>, x: &[T], out: &mut [T]) {
        let x = View::new(x, x.len() / self.inputs, self.inputs);
        pass.apply(self.weight, x, out, self.outputs, Into::Add);
        if let Some(bias) = self.bias {
            add_row(pass.isa, pass.weights.flat(bias), out, self.outputs);
        }
    }

    /// The gradient of the input.
    pub(crate) fn backward<T: Real>(&self, pass: &mut Pass<'_, T>, d: &[T]) -> Vec<T> {
        let rows = d.len() / self.outputs;
        let mut d_x = vec![T::ZERO; rows * self.inputs];
        self.backward_into(pass, d, &mut d_x);
        d_x
    }

    /// Adds the gradient of the input.
    pub(crate) fn backward_into<T: Real>(&self, pass: &mut Pass<'_, T>, d: &[T], d_x: &mut [T]) {
        let d = View::new(d, d.len() / self.outputs, self.outputs);
        pass.apply_backward(self.weight, d, d_x, self.inputs, Into::Add);
    }

    /// Adds the gradients of the matrix and the bias.
    pub(crate) fn learn<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        layout: &Layout,
        x: &[T],
        d: &[T],
        gradients: &mut [T],
    ) {
        let rows = d.len() / self.outputs;
        let view = View::new;
        let d_weight = &mut gradients[layout.tensor(self.weight).range()];
        pass.learn(view(d, rows, self.outputs), view(x, rows, self.inputs), self.inputs, d_weight);
        if let Some(bias) = self.bias {
            let d_bias = &mut gradients[layout.tensor(bias).range()];
            add_columns(pass.isa, d, self.outputs, d_bias);
        }
    }
}
