//! One recurrent layer over a whole sequence, forward and backward.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::kernels::{
    Accumulate, View, add, add_columns, embed, gru_backward, gru_forward, lstm_backward, lstm_forward,
    rnn_backward, rnn_forward,
};
use crate::network::Context;
use crate::parameters::{Gradients, Init, Layout, TensorId};
use crate::{Buffer, Real, Steps};

/// The kind of recurrent cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cell {
    /// Elman's simple recurrent network, with tanh.
    Rnn,
    /// Gated recurrent unit, with the reset gate after the product as in cuDNN and PyTorch.
    Gru,
    /// Long short-term memory.
    Lstm,
}

impl Cell {
    /// How many numbers the gates have for each hidden unit.
    fn gates(self) -> usize {
        if self == Self::Rnn { 1 } else { 4 }
    }

    /// How many of them depend on the input; as many on the state.
    fn sums(self) -> usize {
        match self {
            Self::Rnn => 1,
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }

    pub(crate) fn has_memory(self) -> bool {
        self == Self::Lstm
    }
}

/// Where a layer's parameters are. The rows of the matrices are in the order of the gates (see `kernels/cell.rs`): `input`
/// has those that depend on the input, n r z for the GRU, and `recurrent` those that depend on the state, r z n.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) cell: Cell,
    pub(crate) hidden: usize,
    /// The input may come in several pieces, each with a matrix.
    pub(crate) inputs: Vec<(TensorId, usize)>,
    pub(super) recurrent: TensorId,
    pub(super) bias_input: TensorId,
    pub(super) bias_recurrent: TensorId,
}

impl Layer {
    pub(crate) fn new(
        layout: &mut Layout,
        name: &str,
        cell: Cell,
        inputs: &[(&str, usize)],
        hidden: usize,
    ) -> Self {
        let rows = cell.sums() * hidden;
        let bound = 1.0 / (hidden as f64).sqrt();
        let (matrix, vector) = (Init::Matrix(bound), Init::Vector(bound));
        let inputs = inputs
            .iter()
            .map(|(piece, width)| (layout.add(format!("{name}.{piece}"), rows, *width, matrix), *width))
            .collect();
        Self {
            cell,
            hidden,
            inputs,
            recurrent: layout.add(format!("{name}.recurrent"), rows, hidden, matrix),
            bias_input: layout.add(format!("{name}.bias-input"), 1, rows, vector),
            bias_recurrent: layout.add(format!("{name}.bias-recurrent"), 1, rows, vector),
        }
    }

    /// Numbers in a row of gates.
    pub(crate) fn width(&self) -> usize {
        self.cell.gates() * self.hidden
    }

    /// Numbers that depend on the input, or on the state.
    pub(crate) fn sums(&self) -> usize {
        self.cell.sums() * self.hidden
    }

    /// Where those that depend on the state begin.
    fn state_sums(&self) -> usize {
        if self.cell == Cell::Gru { self.hidden } else { 0 }
    }

    /// Starts rows of sums with the biases.
    fn biases<T: Real>(&self, context: &Context<'_, T>, sums: &mut [T]) {
        let Some((first, others)) = sums.split_at_mut_checked(self.width()) else { return };
        first[self.sums()..].fill(T::ZERO);
        first[..self.sums()].copy_from_slice(context.flat(self.bias_input));
        add(context.isa, context.flat(self.bias_recurrent), &mut first[self.state_sums()..]);
        others.chunks_exact_mut(self.width()).for_each(|row| row.copy_from_slice(first));
    }

    /// What each row adds to the sums as a piece of the input.
    pub(crate) fn project<T: Real>(&self, context: &mut Context<'_, T>, piece: usize, x: &[T]) -> Buffer<T> {
        let (weight, columns) = self.inputs[piece];
        let rows = x.len() / columns;
        let mut projected = context.take(rows * self.sums());
        context.apply(
            weight,
            View::new(x, rows, columns),
            &mut projected,
            self.sums(),
            Accumulate::Overwrite,
        );
        projected
    }

    /// The backward pass through [`Layer::project`].
    pub(crate) fn project_backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        piece: usize,
        (x, d): (&[T], &[T]),
        d_x: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (weight, columns) = self.inputs[piece];
        let rows = x.len() / columns;
        let d = View::new(d, rows, self.sums());
        context.learn(weight, d, View::new(x, rows, columns), columns, gradients);
        context.apply_backward(weight, d, d_x, columns, Accumulate::Add);
    }

    /// The sums that a step starts with, for each token of a vocabulary of this size. Tokens without an embedding are zeros.
    ///
    /// A word that nothing is dropped of has the same sums wherever it stands: where places are many and words are few, this
    /// saves most of the product with the input.
    pub(crate) fn word_sums<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        table: TensorId,
        words: usize,
    ) -> Buffer<T> {
        let (weight, columns) = self.inputs[0];
        let mut sums = context.take(words * self.width());
        self.biases(context, &mut sums);
        let table = context.flat(table);
        let x = View::new(table, table.len() / columns, columns);
        context.apply(weight, x, &mut sums, self.width(), Accumulate::Add);
        sums
    }

    /// The backward pass through [`Layer::word_sums`]: adds the gradients of the matrix and the table. `d` is that of the sums of
    /// all places.
    pub(crate) fn learn_words<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        table: TensorId,
        (words, d): (&[u32], &[T]),
        gradients: &mut Gradients<'_, T>,
    ) {
        let ((weight, columns), sums) = (self.inputs[0], self.sums());
        let vectors = context.flat(table);
        let known = vectors.len() / columns;
        let mut d_words = context.zeros(known * sums);
        for (&word, d) in words.iter().zip(d.chunks_exact(self.width())) {
            if (word as usize) < known {
                add(context.isa, &d[..sums], &mut d_words[word as usize * sums..][..sums]);
            }
        }
        let d = View::new(&d_words, known, sums);
        context.learn(weight, d, View::new(vectors, known, columns), columns, gradients);
        let d_table = gradients.of(table);
        context.apply_backward(weight, d, d_table, columns, Accumulate::Add);
        context.recycle([d_words]);
    }
}

/// What a layer has computed over a sequence, in the layout of [`Steps`].
#[derive(Debug, Default)]
pub(crate) struct Trace<T> {
    /// What the cell needs for the backward context; after it, the gradient of the sums.
    pub(crate) gates: Buffer<T>,
    pub(crate) state: Buffer<T>,
    memory: Buffer<T>,
    tangent: Buffer<T>,
    pub(crate) before: Buffer<T>,
    memory_before: Buffer<T>,
    /// The rows whose states before are zeros, which nobody has to multiply with.
    from_zeros: Range<usize>,
    /// Room for a row of gates.
    scratch: Buffer<T>,
}

/// The input of a layer over a whole sequence.
pub(crate) enum Input<'a, T> {
    /// A row for each place.
    Rows(&'a [T]),
    /// The word of each place, and what [`Layer::word_sums`] says of every word.
    Words(&'a [u32], &'a [T]),
}

/// The state of every sequence; `memory` is empty where the cell has none.
#[derive(Debug, Default, Clone)]
pub(crate) struct State<T> {
    pub(crate) state: Buffer<T>,
    pub(crate) memory: Buffer<T>,
}

impl<T: Real> State<T> {
    pub(crate) fn zeros(layer: &Layer, rows: usize) -> Self {
        let size = rows * layer.hidden;
        let memory = if layer.cell.has_memory() { size } else { 0 };
        Self { state: Buffer::zeros(size), memory: Buffer::zeros(memory) }
    }
}

impl<T: Real> Trace<T> {
    /// Room for a sequence.
    pub(crate) fn new(context: &mut Context<'_, T>, layer: &Layer, rows: usize) -> Self {
        let size = rows * layer.hidden;
        let memory = if layer.cell.has_memory() { size } else { 0 };
        Self {
            gates: context.take(rows * layer.width()),
            state: context.take(size),
            memory: context.take(memory),
            tangent: context.take(memory),
            before: context.take(size),
            memory_before: context.take(memory),
            from_zeros: 0..0,
            scratch: context.take(layer.width()),
        }
    }

    /// Returns the buffers to the workspace.
    pub(crate) fn recycle(self, context: &mut Context<'_, T>) {
        context.recycle([self.gates, self.state, self.memory, self.tangent]);
        context.recycle([self.before, self.memory_before, self.scratch]);
    }

    /// Starts the sums of some rows: the biases.
    pub(crate) fn start(&mut self, context: &Context<'_, T>, layer: &Layer, rows: Range<usize>) {
        let width = layer.width();
        layer.biases(context, &mut self.gates[rows.start * width..rows.end * width]);
    }

    /// Adds a piece of the input to the sums of some rows.
    pub(crate) fn add_input(
        &mut self,
        context: &mut Context<'_, T>,
        layer: &Layer,
        piece: usize,
        rows: Range<usize>,
        x: &[T],
    ) {
        let (weight, columns) = layer.inputs[piece];
        let width = layer.width();
        let gates = &mut self.gates[rows.start * width..rows.end * width];
        context.apply(weight, View::new(x, rows.len(), columns), gates, width, Accumulate::Add);
    }

    /// Notes the states before the step of these rows: they come from the rows `earlier` where there are some, else from
    /// `first`, or are zeros.
    pub(crate) fn remember(
        &mut self,
        layer: &Layer,
        rows: Range<usize>,
        earlier: Range<usize>,
        first: Option<&State<T>>,
    ) {
        let h = layer.hidden;
        let from_earlier = earlier.len().min(rows.len());
        let copy = |now: &[T], before: &mut [T], first: Option<&[T]>| {
            let (before, rest) = before[rows.start * h..rows.end * h].split_at_mut(from_earlier * h);
            before.copy_from_slice(&now[earlier.start * h..][..before.len()]);
            match first {
                Some(first) => rest.copy_from_slice(&first[before.len()..][..rest.len()]),
                None => rest.fill(T::ZERO),
            }
        };
        copy(&self.state, &mut self.before, first.map(|first| &*first.state));
        if layer.cell.has_memory() {
            copy(&self.memory, &mut self.memory_before, first.map(|first| &*first.memory));
        }
        if from_earlier == 0 && first.is_none() {
            self.from_zeros = rows;
        }
    }

    /// Takes the step of these rows, whose inputs are in the sums already and whose states before are noted.
    pub(crate) fn step(&mut self, context: &mut Context<'_, T>, layer: &Layer, rows: Range<usize>) {
        let (h, width) = (layer.hidden, layer.width());
        let of_units = rows.start * h..rows.end * h;
        let gates = &mut self.gates[rows.start * width..rows.end * width];
        let before = &self.before[of_units.clone()];
        let state = &mut self.state[of_units.clone()];
        if rows != self.from_zeros {
            let left = View::new(before, rows.len(), h);
            context.apply(layer.recurrent, left, &mut gates[layer.state_sums()..], width, Accumulate::Add);
        }
        match layer.cell {
            Cell::Rnn => rnn_forward(context.isa, gates, state),
            Cell::Gru => gru_forward(context.isa, h, gates, before, state),
            Cell::Lstm => {
                let before = &self.memory_before[of_units.clone()];
                let (memory, tangent) = (&mut self.memory[of_units.clone()], &mut self.tangent[of_units]);
                lstm_forward(context.isa, h, gates, before, memory, tangent, state);
            }
        }
    }

    /// Starts the sums of some rows: the biases and the words.
    pub(crate) fn start_words(&mut self, layer: &Layer, rows: Range<usize>, words: &[u32], sums: &[T]) {
        let width = layer.width();
        embed(sums, width, words, &mut self.gates[rows.start * width..rows.end * width]);
    }

    /// Runs over a whole sequence, from its end if `reverse`. Without first states it begins with zeros.
    pub(crate) fn run(
        &mut self,
        context: &mut Context<'_, T>,
        layer: &Layer,
        steps: &Steps,
        input: Input<'_, T>,
        first: Option<&State<T>>,
        reverse: bool,
    ) {
        let all = 0..steps.total();
        match input {
            Input::Rows(x) => {
                self.start(context, layer, all.clone());
                self.add_input(context, layer, 0, all, x);
            }
            Input::Words(words, sums) => self.start_words(layer, all, words, sums),
        }
        for i in 0..steps.len() {
            let (rows, earlier) = neighbours(steps, i, reverse);
            self.remember(layer, rows.clone(), earlier, first);
            self.step(context, layer, rows);
        }
    }

    /// The states after the last step of each sequence.
    pub(crate) fn last(&self, layer: &Layer, steps: &Steps, reverse: bool) -> State<T> {
        let h = layer.hidden;
        let mut last = State::zeros(layer, steps.rows(0));
        for t in 0..if reverse { 1 } else { steps.len() } {
            let (start, size) = (steps.start(t) * h, steps.rows(t) * h);
            last.state[..size].copy_from_slice(&self.state[start..start + size]);
            if layer.cell.has_memory() {
                last.memory[..size].copy_from_slice(&self.memory[start..start + size]);
            }
        }
        last
    }

    /// The backward pass through the step of these rows: from the gradient of their states to that of their sums. `d_state` comes from
    /// above, `carry` from the next step and becomes that for the step before, if there is one.
    pub(crate) fn step_backward(
        &mut self,
        context: &mut Context<'_, T>,
        layer: &Layer,
        rows: Range<usize>,
        d_state: &mut [T],
        carry: &mut State<T>,
    ) {
        let (h, width) = (layer.hidden, layer.width());
        let of_units = rows.start * h..rows.end * h;
        let gates = &mut self.gates[rows.start * width..rows.end * width];
        let before = &self.before[of_units.clone()];
        let carried = &mut carry.state[..rows.len() * h];
        add(context.isa, carried, d_state);
        let mut into = Accumulate::Overwrite;
        match layer.cell {
            Cell::Rnn => rnn_backward(context.isa, gates, d_state),
            Cell::Gru => {
                gru_backward(context.isa, h, gates, before, d_state, carried, &mut self.scratch);
                into = Accumulate::Add;
            }
            Cell::Lstm => {
                let memory = &mut carry.memory[..rows.len() * h];
                let (before, tangent) = (&self.memory_before[of_units.clone()], &self.tangent[of_units]);
                lstm_backward(context.isa, h, gates, before, tangent, d_state, memory, &mut self.scratch);
            }
        }
        if rows != self.from_zeros {
            let of_state = View::strided(&gates[layer.state_sums()..], rows.len(), layer.sums(), width);
            context.apply_backward(layer.recurrent, of_state, carried, h, into);
        }
    }

    /// The backward pass over a whole sequence: `d_state` from above, `carry` from the states after the last steps, which
    /// becomes that of the states before the first, unless these were zeros.
    pub(crate) fn run_backward(
        &mut self,
        context: &mut Context<'_, T>,
        layer: &Layer,
        steps: &Steps,
        d_state: &mut [T],
        carry: &mut State<T>,
        reverse: bool,
    ) {
        let h = layer.hidden;
        for i in (0..steps.len()).rev() {
            let (rows, _) = neighbours(steps, i, reverse);
            let d_state = &mut d_state[rows.start * h..rows.end * h];
            self.step_backward(context, layer, rows, d_state, carry);
        }
    }

    /// After the backward context: adds the gradients of the layer's own parameters, but those of its inputs.
    pub(crate) fn learn(
        &self,
        context: &mut Context<'_, T>,
        layer: &Layer,
        gradients: &mut Gradients<'_, T>,
    ) {
        let (h, width, sums) = (layer.hidden, layer.width(), layer.sums());
        let rows = self.gates.len() / width;
        if rows == 0 {
            return;
        }
        let of_state = &self.gates[layer.state_sums()..];
        let (d_input, d_recurrent) = gradients.two(layer.bias_input, layer.bias_recurrent);
        add_columns(context.isa, &self.gates, width, d_input);
        if layer.state_sums() == 0 {
            // The same sums have the same gradients.
            d_recurrent.copy_from_slice(d_input);
        } else {
            add_columns(context.isa, of_state, width, d_recurrent);
        }
        // Rows that came from zeros add nothing. They are the first or, where the sequence is read from its end, the last.
        let Range { start, end } = self.from_zeros;
        let rest = if start == 0 { end..rows } else { 0..start };
        let of_state = &of_state[(rest.start * width).min(of_state.len())..];
        let before = View::new(&self.before[rest.start * h..], rest.len(), h);
        context.learn(
            layer.recurrent,
            View::strided(of_state, rest.len(), sums, width),
            before,
            h,
            gradients,
        );
    }

    /// After the backward context: the gradient of the sums of some rows that depend on the input.
    fn d_sums(&self, layer: &Layer, rows: Range<usize>) -> View<'_, T> {
        let width = layer.width();
        View::strided(&self.gates[rows.start * width..rows.end * width], rows.len(), layer.sums(), width)
    }

    /// After the backward context: adds the gradient of the matrix of a piece of the input.
    pub(crate) fn learn_input(
        &self,
        context: &mut Context<'_, T>,
        layer: &Layer,
        piece: usize,
        x: &[T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (weight, columns) = layer.inputs[piece];
        let rows = self.gates.len() / layer.width();
        context.learn(weight, self.d_sums(layer, 0..rows), View::new(x, rows, columns), columns, gradients);
    }

    /// After the backward context: the gradient of a piece of the input of some rows.
    pub(crate) fn input_backward(
        &self,
        context: &mut Context<'_, T>,
        layer: &Layer,
        piece: usize,
        rows: Range<usize>,
        d_x: &mut [T],
        into: Accumulate,
    ) {
        let (weight, columns) = layer.inputs[piece];
        context.apply_backward(weight, self.d_sums(layer, rows), d_x, columns, into);
    }
}

/// The rows of step `i` and of the step taken before it.
pub(crate) fn neighbours(steps: &Steps, i: usize, reverse: bool) -> (Range<usize>, Range<usize>) {
    let rows = |t: usize| steps.start(t)..steps.start(t) + steps.rows(t);
    if reverse {
        let t = steps.len() - 1 - i;
        (rows(t), if i == 0 { 0..0 } else { rows(t + 1) })
    } else {
        (rows(i), if i == 0 { 0..0 } else { rows(i - 1) })
    }
}
