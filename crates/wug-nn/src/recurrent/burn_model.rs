//! The models in burn's tensor operations, for other devices than the CPU: padded and masked, with gradients by burn.
//!
//! A sequence is a list of its steps and never one tensor that is cut: the gradient of a cut is as large as what was cut.

use burn_tensor::{Bool, Int, Tensor, activation};

use super::layer::{Cell, Layer};
use super::{Attention, Begin, Bridge, Output, Piece, RecurrentNetwork};
use crate::batch::Place;
use crate::device::{BurnModel, DecodedTokens, Padded, Parameters};

/// What a layer hands from step to step.
#[derive(Clone)]
struct State {
    state: Tensor<2>,
    memory: Option<Tensor<2>>,
}

impl State {
    fn zeros(layer: &Layer, batch: &Padded) -> Self {
        let zeros = || Tensor::zeros([batch.rows, layer.hidden], &batch.device);
        Self { state: zeros(), memory: layer.cell.has_memory().then(zeros) }
    }

    /// Both, with the same done to each.
    fn map(&self, mut f: impl FnMut(usize, &Tensor<2>) -> Tensor<2>) -> Self {
        Self { state: f(0, &self.state), memory: self.memory.as_ref().map(|memory| f(1, memory)) }
    }

    /// This one in the rows of the mask, the one before in the others.
    fn where_on(self, mask: &Tensor<2, Bool>, before: Self) -> Self {
        let state = before.state.mask_where(mask.clone(), self.state);
        let memory = before.memory.zip(self.memory).map(|(old, new)| old.mask_where(mask.clone(), new));
        Self { state, memory }
    }
}

/// One step of a layer, its inputs in pieces.
fn step(parameters: &Parameters, layer: &Layer, inputs: &[Tensor<2>], before: State) -> State {
    let mut x = parameters.get(layer.bias_input);
    for (input, (matrix, _)) in inputs.iter().zip(&layer.inputs) {
        x = x + input.clone().matmul(parameters.factor(*matrix));
    }
    let s = before.state.clone().matmul(parameters.factor(layer.recurrent));
    let s = s + parameters.get(layer.bias_recurrent);
    let part = |of: &Tensor<2>, i: usize| of.clone().narrow(1, i * layer.hidden, layer.hidden);
    match layer.cell {
        Cell::Rnn => State { state: (x + s).tanh(), memory: None },
        Cell::Gru => {
            let r = activation::sigmoid(part(&x, 1) + part(&s, 0));
            let z = activation::sigmoid(part(&x, 2) + part(&s, 1));
            let n = (part(&x, 0) + r * part(&s, 2)).tanh();
            State { state: n.clone() + z * (before.state - n), memory: None }
        }
        Cell::Lstm => {
            let sums = x + s;
            let [i, f, o] = [0, 1, 3].map(|gate| activation::sigmoid(part(&sums, gate)));
            let new = i * part(&sums, 2).tanh();
            let memory = match before.memory {
                Some(memory) => f * memory + new,
                None => new,
            };
            State { state: o * memory.clone().tanh(), memory: Some(memory) }
        }
    }
}

/// Step `t` of the factors of dropout, times `x`.
fn dropped(x: Tensor<2>, factors: Option<&Tensor<3>>, t: usize) -> Tensor<2> {
    match factors {
        Some(factors) => x * factors.clone().narrow(0, t, 1).squeeze_dim(0),
        None => x,
    }
}

/// The vectors of words.
fn embed(parameters: &Parameters, table: crate::parameters::TensorId, words: Tensor<1, Int>) -> Tensor<2> {
    parameters.get(table).select(0, words)
}

/// Row `t`.
fn row(words: &Tensor<2, Int>, t: usize) -> Tensor<1, Int> {
    words.clone().narrow(0, t, 1).squeeze_dim(0)
}

impl RecurrentNetwork {
    /// The states of the last layer, step by step, and the last states of each layer, directions side by side.
    fn compose_encoder(&self, parameters: &Parameters, batch: &Padded) -> (Vec<Tensor<2>>, Vec<State>) {
        let side = &batch.sources;
        let words = batch.words(side);
        let mut xs: Vec<Tensor<2>> =
            (0..side.longest).map(|t| embed(parameters, self.source_table, row(&words, t))).collect();
        let masks = Masks::new(batch, self.config.hidden);
        let mut last = Vec::new();
        for (l, directions) in self.encoder.iter().enumerate() {
            let factors = batch.dropout(self.config.dropout, Place::Source(l), xs[0].dims()[1]);
            xs = xs.into_iter().enumerate().map(|(t, x)| dropped(x, factors.as_ref(), t)).collect();
            let runs: Vec<Run> = directions
                .iter()
                .enumerate()
                .map(|(d, layer)| run(parameters, layer, batch, &xs, &masks, d == 1))
                .collect();
            let beside = |of: &dyn Fn(&Run) -> Tensor<2>| Tensor::cat(runs.iter().map(of).collect(), 1);
            last.push(runs[0].1.map(|which, _| {
                beside(&|(_, end)| match &end.memory {
                    Some(memory) if which == 1 => memory.clone(),
                    _ => end.state.clone(),
                })
            }));
            xs = (0..side.longest).map(|t| beside(&|(states, _)| states[t].clone())).collect();
        }
        (xs, last)
    }

    /// From the encoder's last states to the decoder's first.
    fn compose_bridge(&self, parameters: &Parameters, last: &[State]) -> Vec<State> {
        let last = &last[last.len() - self.decoder.len()..];
        if self.config.bridge == Bridge::Copy {
            return last.to_vec();
        }
        let through = |(last, linears): (&State, &Vec<_>)| {
            last.map(|which, x| parameters.linear(&linears[which], x.clone()).tanh())
        };
        last.iter().zip(&self.bridges).map(through).collect()
    }
}

/// Which rows have a word at each step of the source; none where all have.
struct Masks(Vec<Option<Tensor<2, Bool>>>);

impl Masks {
    fn new(batch: &Padded, width: usize) -> Self {
        let has = batch.mask(&batch.sources);
        let shortest = batch.sources.lengths.iter().copied().min().unwrap_or_default();
        let mask = |t: usize| {
            let column = has.clone().narrow(0, t, 1).reshape([batch.rows, 1]);
            (t >= shortest).then(|| column.expand([batch.rows, width]))
        };
        Self((0..batch.sources.longest).map(mask).collect())
    }
}

/// The states of a layer of the encoder, step by step, and its last state.
type Run = (Vec<Tensor<2>>, State);

/// All steps of a layer of the encoder, from the front or from the end.
fn run(
    parameters: &Parameters,
    layer: &Layer,
    batch: &Padded,
    xs: &[Tensor<2>],
    masks: &Masks,
    reverse: bool,
) -> Run {
    let mut state = State::zeros(layer, batch);
    let mut states = Vec::with_capacity(xs.len());
    for i in 0..xs.len() {
        let t = if reverse { xs.len() - 1 - i } else { i };
        let new = step(parameters, layer, &xs[t..=t], state.clone());
        state = match &masks.0[t] {
            Some(mask) => new.where_on(mask, state),
            None => new,
        };
        states.push(state.state.clone());
    }
    if reverse {
        states.reverse();
    }
    (states, state)
}

/// What a word is predicted from.
struct Seen {
    word: Option<Tensor<2>>,
    state: Tensor<2>,
    context: Option<Tensor<2>>,
}

/// The factors of dropout of the decoder.
struct Factors {
    word: Option<Tensor<3>>,
    layers: Vec<Option<Tensor<3>>>,
    pieces: Vec<Option<Tensor<3>>>,
}

/// The decoder between two steps.
struct Decoder<'a> {
    model: &'a RecurrentNetwork,
    parameters: &'a Parameters,
    batch: &'a Padded,
    /// The encoder's states, `[rows, steps, width]`, their keys, and where there are none.
    memory: Option<(Tensor<3>, Tensor<3>, Tensor<2, Bool>)>,
    states: Vec<State>,
    factors: Factors,
}

impl<'a> Decoder<'a> {
    fn new(model: &'a RecurrentNetwork, parameters: &'a Parameters, batch: &'a Padded) -> Self {
        let (xs, last) = model.compose_encoder(parameters, batch);
        let memory = (model.config.attention != Attention::None).then(|| {
            let [rows, width] = xs[0].dims();
            let memory: Tensor<3> = Tensor::stack(xs, 1);
            let keys = match &model.attention {
                Some(attention) => {
                    let flat = memory.clone().reshape([rows * batch.sources.longest, width]);
                    let keys = parameters.linear(&attention.key, flat);
                    keys.reshape([rows, batch.sources.longest, model.config.hidden])
                }
                None => memory.clone(),
            };
            (memory, keys, batch.mask(&batch.sources).transpose().bool_not())
        });
        let states = model.compose_bridge(parameters, &last);
        Self { model, parameters, batch, memory, states, factors: Self::factors(model, batch) }
    }

    /// Numbered as the CPU numbers them.
    fn factors(model: &RecurrentNetwork, batch: &Padded) -> Factors {
        let config = &model.config;
        let mut place = 0;
        let mut factors = |width: usize| {
            place += 1;
            batch.dropout(config.dropout, Place::Target(place), width)
        };
        Factors {
            word: if config.dependence { factors(config.embedding) } else { None },
            layers: model.decoder[1..].iter().map(|_| factors(config.hidden)).collect(),
            pieces: match config.output {
                Output::PreOutput => {
                    model.pre_output.iter().map(|(_, linear)| factors(linear.inputs)).collect()
                }
                _ => vec![None; model.pre_output.len()],
            },
        }
    }

    /// What the states after the query say.
    fn attend(&self, query: &Tensor<2>) -> Option<Tensor<2>> {
        let (memory, keys, hidden) = self.memory.as_ref()?;
        let [rows, steps, width] = keys.dims();
        let scores = match &self.model.attention {
            Some(attention) => {
                let query = self.parameters.linear(&attention.query, query.clone()).unsqueeze_dim(1);
                let sums = (keys.clone() + query).tanh().reshape([rows * steps, width]);
                sums.matmul(self.parameters.factor(attention.v)).reshape([rows, steps])
            }
            None => keys.clone().matmul(query.clone().unsqueeze_dim(2)).reshape([rows, steps]),
        };
        let weights = activation::softmax(scores.mask_fill(hidden.clone(), -1e30), 1);
        Some(weights.unsqueeze_dim::<3>(1).matmul(memory.clone()).squeeze_dim(1))
    }

    /// Step `t`, fed this word; without one, the start.
    fn step(&mut self, t: usize, fed: Option<Tensor<1, Int>>) -> Seen {
        let word = self.model.target_table.map(|table| {
            let config = &self.model.config;
            let word = match (fed, config.begin) {
                (None, Begin::Zero) => Tensor::zeros([self.batch.rows, config.embedding], &self.batch.device),
                (fed, _) => {
                    let start =
                        || Tensor::full([self.batch.rows], config.target_words as i64, &self.batch.device);
                    embed(self.parameters, table, fed.unwrap_or_else(start))
                }
            };
            dropped(word, self.factors.word.as_ref(), t)
        });
        let is_additive = self.model.attention.is_some();
        let top = self.states.len() - 1;
        let mut context = if is_additive { self.attend(&self.states[top].state) } else { None };
        let mut inputs: Vec<Tensor<2>> = word.iter().chain(&context).cloned().collect();
        for (l, layer) in self.model.decoder.iter().enumerate() {
            if l > 0 {
                inputs = vec![dropped(inputs.remove(0), self.factors.layers[l - 1].as_ref(), t)];
            }
            self.states[l] = step(self.parameters, layer, &inputs, self.states[l].clone());
            inputs = vec![self.states[l].state.clone()];
        }
        let state = inputs.remove(0);
        if !is_additive {
            context = self.attend(&state);
        }
        Seen { word, state, context }
    }

    /// The scores of all words after step `t`.
    fn predict(&self, t: usize, seen: &Seen) -> Tensor<2> {
        let mut sum: Option<Tensor<2>> = None;
        for ((piece, linear), factors) in self.model.pre_output.iter().zip(&self.factors.pieces) {
            let given = match piece {
                Piece::Word => &seen.word,
                Piece::State => &Some(seen.state.clone()),
                Piece::Context => &seen.context,
            };
            if let Some(x) = given {
                let y = self.parameters.linear(linear, dropped(x.clone(), factors.as_ref(), t));
                sum = Some(sum.map_or(y.clone(), |sum| sum + y));
            }
        }
        let between = sum.unwrap_or_else(|| seen.state.clone());
        match (&self.model.output, self.model.target_table) {
            (Some(output), _) => self.parameters.linear(output, between),
            (None, Some(table)) if self.model.config.output == Output::Tied => {
                between.tanh().matmul(self.parameters.factor(table))
            }
            _ => between,
        }
    }
}

impl BurnModel for RecurrentNetwork {
    fn words(&self) -> usize {
        self.config.target_words
    }

    fn scores(&self, parameters: &Parameters, batch: &Padded) -> Tensor<2> {
        let targets = batch.words(&batch.targets);
        let is_mixed = batch.forced.contains(&false);
        let forced = is_mixed.then(|| batch.column(batch.forced.iter().copied()));
        let mut decoder = Decoder::new(self, parameters, batch);
        let (mut fed, mut scores) = (None, Vec::new());
        for t in 0..batch.targets.longest {
            let seen = decoder.step(t, fed.take());
            let predicted = decoder.predict(t, &seen);
            fed = Some(match &forced {
                None => row(&targets, t),
                Some(forced) => {
                    let said = batch.say(t, predicted.clone().detach(), self.config.target_words);
                    said.mask_where(forced.clone(), row(&targets, t))
                }
            });
            scores.push(predicted);
        }
        Tensor::cat(scores, 0)
    }

    fn answer(&self, parameters: &Parameters, batch: &Padded, heard: &mut DecodedTokens<'_>) {
        let mut decoder = Decoder::new(self, parameters, batch);
        let mut fed = None;
        for t in 0..batch.targets.longest {
            let seen = decoder.step(t, fed.take());
            let said = batch.say(t, decoder.predict(t, &seen), self.config.target_words);
            if heard.hear(said.clone()) {
                return;
            }
            fed = Some(said);
        }
    }
}
