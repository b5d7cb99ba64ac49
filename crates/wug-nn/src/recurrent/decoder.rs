//! The decoder over a whole target: step by step where a step needs what the one before has said or attended to, else
//! layer by layer.

use std::ops::Range;

use super::encoder::{Encoded, by_word};
use super::layer::{Input, State, Trace, neighbours};
use super::{Attention, Begin, Model, Output, Piece};
use crate::Real;
use crate::batch::{Batch, Place};
use crate::kernels::{
    AttentionGradients, Into, Mixed, Powers, Sources, View, add, attend, attend_backward, attend_dot,
    attend_dot_backward, cross_entropy, embed, embed_backward, mix, mix_backward, scale_by,
};
use crate::network::{Pass, Step};
use crate::parameters::Gradients;

/// What the decoder has computed, in the layout of the targets' steps.
pub(crate) struct Decoded<T> {
    /// What was fed.
    words: Vec<u32>,
    /// What every word starts the first layer's sums with; empty where that is computed for each place.
    word_sums: Vec<T>,
    /// The vectors of what was fed, where they are needed.
    embedded: Vec<T>,
    /// Inputs of the layers above the first, where something is dropped: else the states of the layer below.
    inputs: Vec<Vec<T>>,
    traces: Vec<Trace<T>>,
    keys: Vec<T>,
    key_powers: Powers<T>,
    /// What the encoder's output adds to the first layer's sums, where that is mixed; else empty.
    projected: Vec<T>,
    queries: Vec<T>,
    weights: Vec<T>,
    contexts: Vec<T>,
    /// Inputs of the pre-output layer, where something is dropped, and what it made of them.
    pieces: Vec<Vec<T>>,
    pre_output: Vec<T>,
    scores: Vec<T>,
    scratch: Vec<T>,
    /// What was said.
    pub(crate) said: Vec<u32>,
    factors: Factors<T>,
}

/// The factors of dropout.
struct Factors<T> {
    words: Vec<T>,
    layers: Vec<Vec<T>>,
    pieces: Vec<Vec<T>>,
}

impl<T: Real> Decoded<T> {
    /// The states of the last layer.
    pub(crate) fn top(&self) -> &[T] {
        self.traces.last().map_or(&[], |trace| &trace.state)
    }

    /// The input of a layer above the first.
    fn input(&self, l: usize) -> &[T] {
        let (dropped, below) = (&self.inputs[l - 1], &self.traces[l - 1].state);
        if dropped.is_empty() { below } else { dropped }
    }

    /// The input of the `i`th piece of the pre-output layer.
    fn piece(&self, i: usize, piece: Piece) -> &[T] {
        match piece {
            _ if !self.pieces[i].is_empty() => &self.pieces[i],
            Piece::Word => &self.embedded,
            Piece::State => self.top(),
            Piece::Context => &self.contexts,
        }
    }

    /// Gives the room back.
    pub(crate) fn recycle(self, pass: &mut Pass<'_, T>) {
        self.traces.into_iter().for_each(|trace| trace.recycle(pass));
        let Factors { words, layers, pieces } = self.factors;
        pass.recycle([self.embedded, self.keys, self.queries, self.weights, self.contexts]);
        pass.recycle([
            self.pre_output,
            self.scores,
            self.word_sums,
            self.projected,
            self.key_powers.of,
            words,
        ]);
        pass.recycle(self.inputs.into_iter().chain(self.pieces).chain(layers).chain(pieces));
    }
}

/// Rows of a buffer with so many numbers in a row.
fn of<T>(buffer: &[T], rows: &Range<usize>, width: usize) -> Range<usize> {
    debug_assert!(buffer.len() >= rows.end * width);
    rows.start * width..rows.end * width
}

impl Model {
    fn sources<'a, T>(&self, batch: &'a Batch, keys: &'a [T], values: &'a [T]) -> Sources<'a, T> {
        Sources {
            keys,
            size: self.config.hidden,
            values,
            width: self.memory_width(),
            rows: &batch.source_rows,
            longest: batch.sources.len(),
        }
    }

    fn room<T: Real>(&self, pass: &mut Pass<'_, T>, batch: &Batch, key: Option<u64>) -> Decoded<T> {
        let config = &self.config;
        let total = batch.targets.total();
        let mut place = 0;
        let mut factors = |pass: &mut Pass<'_, T>, width: usize| {
            place += 1;
            batch.dropout(pass, config.dropout, key, Place::Target(place), width)
        };
        let factors = Factors {
            words: if config.dependence { factors(pass, config.embedding) } else { Vec::new() },
            layers: self.decoder[1..].iter().map(|_| factors(pass, config.hidden)).collect(),
            pieces: match config.output {
                Output::PreOutput => {
                    self.pre_output.iter().map(|(_, linear)| factors(pass, linear.inputs)).collect()
                }
                _ => vec![Vec::new(); self.pre_output.len()],
            },
        };
        let attended = usize::from(config.attention != Attention::None);
        let words = config.target_words + 1;
        let by_word = by_word(config.dropout, key, words, total);
        let word_sums = match self.target_table {
            Some(table) if by_word => self.decoder[0].word_sums(pass, table, words),
            _ => Vec::new(),
        };
        let predicts = self.pre_output.iter().any(|(piece, _)| matches!(piece, Piece::Word));
        let embedded = usize::from(config.dependence && (word_sums.is_empty() || predicts));
        let asked = usize::from(config.attention == Attention::Additive);
        let between = match config.output {
            Output::State | Output::Joint | Output::Context => 0,
            Output::PreOutput => config.hidden,
            Output::Tied => config.embedding,
        };
        Decoded {
            words: vec![0; total],
            word_sums,
            embedded: pass.zeros(embedded * total * config.embedding),
            inputs: factors.layers.iter().map(|factors| pass.any(factors.len())).collect(),
            traces: self.decoder.iter().map(|layer| Trace::new(pass, layer, total)).collect(),
            keys: Vec::new(),
            key_powers: Powers::default(),
            projected: Vec::new(),
            queries: pass.any(asked * total * config.hidden),
            weights: pass.any(attended * total * batch.sources.len()),
            contexts: pass.any(attended * total * self.memory_width()),
            pieces: factors.pieces.iter().map(|factors| pass.any(factors.len())).collect(),
            pre_output: pass.zeros(total * between),
            scores: pass.zeros(total * self.outputs()),
            scratch: Vec::new(),
            said: vec![0; total],
            factors,
        }
    }

    /// Decodes a batch: rows that are forced are fed the target, the others what they say. Stops before the last step when
    /// every row has said the end and none is forced.
    pub(crate) fn decode<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        first: &[State<T>],
        key: Option<u64>,
    ) -> Decoded<T> {
        let steps = &batch.targets;
        let mut decoded = self.room(pass, batch, key);
        if let Some(attention) = &self.attention {
            decoded.keys = attention.key.forward(pass, &encoded.output);
            let room = pass.any(decoded.keys.len());
            decoded.key_powers = Powers::new(pass.isa, &decoded.keys, self.config.hidden, room);
            if self.projects(batch) {
                decoded.projected = self.decoder[0].project(pass, self.context_piece(), &encoded.output);
            }
        }
        if batch.forced.iter().all(|&forced| forced) {
            for t in 0..steps.len() {
                self.feed(batch, t, &mut decoded);
            }
            self.embed_words(pass, 0..steps.total(), &mut decoded);
            if self.attention.is_some() {
                self.start_sums(pass, 0..steps.total(), &mut decoded);
                for t in 0..steps.len() {
                    self.step(pass, batch, encoded, first, t, &mut decoded);
                }
            } else {
                self.layer_by_layer(pass, batch, first, &mut decoded);
                for t in 0..steps.len() {
                    self.look_back(pass, batch, encoded, t, &mut decoded);
                }
            }
            self.predict(pass, 0..steps.total(), &mut decoded);
            batch.say(0..steps.len(), &decoded.scores, self.config.target_words, &mut decoded.said);
            return decoded;
        }
        let mut ended = vec![false; batch.forced.len()];
        for t in 0..steps.len() {
            let (rows, _) = neighbours(steps, t, false);
            self.feed(batch, t, &mut decoded);
            self.embed_words(pass, rows.clone(), &mut decoded);
            self.start_sums(pass, rows.clone(), &mut decoded);
            self.step(pass, batch, encoded, first, t, &mut decoded);
            self.look_back(pass, batch, encoded, t, &mut decoded);
            self.predict(pass, rows.clone(), &mut decoded);
            batch.say(t..t + 1, &decoded.scores, self.config.target_words, &mut decoded.said);
            for (ended, &said) in ended.iter_mut().zip(&decoded.said[rows]) {
                *ended |= said == 0;
            }
            if batch.target_words.is_empty() && ended.iter().all(|&ended| ended) {
                break;
            }
        }
        decoded
    }

    /// Which piece of the first layer's input the context is: the first, or the second after the word.
    fn context_piece(&self) -> usize {
        usize::from(self.config.dependence)
    }

    /// Whether the encoder's output is multiplied with the first layer's matrix before it is mixed, not after: a product for each
    /// word of the sources in the place of one for each word of the targets, and longer mixtures. Only to learn: what one query is
    /// answered would depend on the others.
    pub(super) fn projects(&self, batch: &Batch) -> bool {
        let (sources, targets) = (batch.sources.total(), batch.targets.total());
        let saved = targets.saturating_sub(sources) * self.memory_width();
        // A number of a mixture costs about as much as four of a product.
        !batch.target_words.is_empty() && saved > 4 * targets * batch.sources.len()
    }

    /// Notes what each row is fed at step `t`.
    fn feed<T>(&self, batch: &Batch, t: usize, decoded: &mut Decoded<T>) {
        let (rows, earlier) = neighbours(&batch.targets, t, false);
        for (i, row) in rows.enumerate() {
            decoded.words[row] = if t == 0 {
                self.config.target_words as u32
            } else if batch.forced[i] {
                batch.target_words[earlier.start + i]
            } else {
                decoded.said[earlier.start + i]
            };
        }
    }

    /// The vectors of what is fed.
    fn embed_words<T: Real>(&self, pass: &mut Pass<'_, T>, rows: Range<usize>, decoded: &mut Decoded<T>) {
        let Some(table) = self.target_table.filter(|_| !decoded.embedded.is_empty()) else { return };
        let width = self.config.embedding;
        let starts = self.starts(&decoded.words[rows.clone()]);
        let range = of(&decoded.embedded, &rows, width);
        let embedded = &mut decoded.embedded[range.clone()];
        let words = &decoded.words[rows.start + starts..rows.end];
        embed(pass.flat(table), width, words, &mut embedded[starts * width..]);
        if !decoded.factors.words.is_empty() {
            scale_by(pass.isa, &decoded.factors.words[range], embedded);
        }
    }

    /// How many rows at the front are fed the start and have no vector for it.
    fn starts(&self, words: &[u32]) -> usize {
        let is_start = |&&word: &&u32| word as usize == self.config.target_words;
        if self.config.begin == Begin::Zero { words.iter().take_while(is_start).count() } else { 0 }
    }

    /// Starts the sums of the first layer: the bias and the word.
    fn start_sums<T: Real>(&self, pass: &mut Pass<'_, T>, rows: Range<usize>, decoded: &mut Decoded<T>) {
        if !decoded.word_sums.is_empty() {
            let words = &decoded.words[rows.clone()];
            return decoded.traces[0].start_words(&self.decoder[0], rows, words, &decoded.word_sums);
        }
        decoded.traces[0].start(pass, &self.decoder[0], rows.clone());
        if self.config.dependence {
            let x = &decoded.embedded[of(&decoded.embedded, &rows, self.config.embedding)];
            decoded.traces[0].add_input(pass, &self.decoder[0], 0, rows, x);
        }
    }

    /// One step of attention and all layers; the first layer's sums have the bias and the word already.
    fn step<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        first: &[State<T>],
        t: usize,
        decoded: &mut Decoded<T>,
    ) {
        let (rows, earlier) = neighbours(&batch.targets, t, false);
        let h = self.config.hidden;
        for (l, layer) in self.decoder.iter().enumerate() {
            decoded.traces[l].remember(layer, rows.clone(), earlier.clone(), Some(&first[l]));
        }
        if let Some(attention) = &self.attention {
            let before = &decoded.traces[self.decoder.len() - 1].before;
            let before = &before[of(before, &rows, h)];
            let queries = &mut decoded.queries[rows.start * h..rows.end * h];
            attention.query.forward_into(pass, before, queries, Into::Replace);
            let sources = self.sources(batch, &decoded.keys, &encoded.output);
            let contexts = of(&decoded.contexts, &rows, sources.width);
            let contexts = &mut decoded.contexts[contexts];
            let weights = of(&decoded.weights, &rows, sources.longest);
            let weights = &mut decoded.weights[weights];
            let v = pass.flat(attention.v);
            attend(
                pass.isa,
                sources,
                &decoded.key_powers,
                v,
                queries,
                weights,
                contexts,
                &mut decoded.scratch,
            );
            if decoded.projected.is_empty() {
                let (layer, piece) = (&self.decoder[0], self.context_piece());
                decoded.traces[0].add_input(pass, layer, piece, rows.clone(), contexts);
            } else {
                let (sums, width) = (self.decoder[0].sums(), self.decoder[0].width());
                let gates = &mut decoded.traces[0].gates[rows.start * width..rows.end * width];
                let (from, longest) = (&batch.source_rows, batch.sources.len());
                mix(pass.isa, &decoded.projected, sums, from, weights, longest, gates, width);
            }
        }
        for (l, layer) in self.decoder.iter().enumerate() {
            if l > 0 {
                let range = rows.start * h..rows.end * h;
                let (below, above) = decoded.traces.split_at_mut(l);
                let mut x = &below[l - 1].state[range.clone()];
                if !decoded.factors.layers[l - 1].is_empty() {
                    let dropped = &mut decoded.inputs[l - 1][range.clone()];
                    dropped.copy_from_slice(x);
                    scale_by(pass.isa, &decoded.factors.layers[l - 1][range], dropped);
                    x = dropped;
                }
                above[0].start(pass, layer, rows.clone());
                above[0].add_input(pass, layer, 0, rows.clone(), x);
            }
            decoded.traces[l].step(pass, layer, rows.clone());
        }
    }

    /// Attends by the states after the step, where that is how it attends.
    fn look_back<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        t: usize,
        decoded: &mut Decoded<T>,
    ) {
        if self.config.attention != Attention::Dot {
            return;
        }
        let (rows, _) = neighbours(&batch.targets, t, false);
        let sources = self.sources(batch, &encoded.output, &encoded.output);
        let state = &decoded.traces[self.decoder.len() - 1].state;
        let state = &state[of(state, &rows, sources.size)];
        let contexts = &mut decoded.contexts[rows.start * sources.width..rows.end * sources.width];
        let weights = &mut decoded.weights[rows.start * sources.longest..rows.end * sources.longest];
        attend_dot(pass.isa, sources, state, weights, contexts);
    }

    /// All steps of the first layer, then of the second, ...: fewer and larger products.
    fn layer_by_layer<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        first: &[State<T>],
        decoded: &mut Decoded<T>,
    ) {
        for (l, layer) in self.decoder.iter().enumerate() {
            let (below, above) = decoded.traces.split_at_mut(l);
            let input = match below.last() {
                None if decoded.word_sums.is_empty() => Input::Rows(&decoded.embedded),
                None => Input::Words(&decoded.words, &decoded.word_sums),
                Some(below) if decoded.factors.layers[l - 1].is_empty() => Input::Rows(&below.state),
                Some(below) => {
                    let dropped = &mut decoded.inputs[l - 1];
                    dropped.copy_from_slice(&below.state);
                    scale_by(pass.isa, &decoded.factors.layers[l - 1], dropped);
                    Input::Rows(dropped)
                }
            };
            above[0].run(pass, layer, &batch.targets, input, Some(&first[l]), false);
        }
    }

    /// The scores of all words.
    fn predict<T: Real>(&self, pass: &mut Pass<'_, T>, rows: Range<usize>, decoded: &mut Decoded<T>) {
        let outputs = self.outputs();
        let Decoded { traces, pieces, pre_output, scores, embedded, contexts, factors, .. } = decoded;
        let state = &traces[self.decoder.len() - 1].state;
        let scores = &mut scores[rows.start * outputs..rows.end * outputs];
        let between = pre_output.len() / batch_rows(state, self.config.hidden);
        let between = &mut pre_output[rows.start * between..rows.end * between];
        for (i, (piece, linear)) in self.pre_output.iter().enumerate() {
            let given: &[T] = match piece {
                Piece::Word => embedded,
                Piece::State => state,
                Piece::Context => contexts,
            };
            let range = of(given, &rows, linear.inputs);
            let mut x = &given[range.clone()];
            if !factors.pieces[i].is_empty() {
                let dropped = &mut pieces[i][range.clone()];
                dropped.copy_from_slice(x);
                scale_by(pass.isa, &factors.pieces[i][range], dropped);
                x = dropped;
            }
            let direct = self.config.output.is_direct();
            let out = if direct { &mut *scores } else { &mut *between };
            linear.forward_into(pass, x, out, Into::Add);
        }
        match (&self.output, self.target_table) {
            (Some(output), _) if self.config.output == Output::State => {
                let state = &state[of(state, &rows, self.config.hidden)];
                output.forward_into(pass, state, scores, Into::Add);
            }
            (Some(output), _) => output.forward_into(pass, between, scores, Into::Add),
            (None, Some(table)) if self.config.output == Output::Tied => {
                for y in between.iter_mut() {
                    *y = y.tanh();
                }
                let x = View::new(between, rows.len(), self.config.embedding);
                pass.apply(table, x, scores, outputs, Into::Add);
            }
            _ => (),
        }
    }

    /// The summed cross-entropy of the targets; its gradient times the step's factor goes back through the decoder. Returns the loss
    /// and the gradients of the encoder's output and of the first states.
    pub(crate) fn decode_backward<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        decoded: &mut Decoded<T>,
        step: Step,
        gradients: &mut Gradients<'_, T>,
    ) -> (f64, Vec<T>, Vec<State<T>>) {
        let (factor, smoothing) = (T::from_f64(step.factor), step.smoothing);
        let loss = cross_entropy(pass.isa, &mut decoded.scores, &batch.target_words, factor, smoothing);
        let mut d_words = pass.zeros(decoded.embedded.len());
        // Zeros only where nothing takes their place.
        let predicts = self.pre_output.iter().any(|(piece, _)| matches!(piece, Piece::Context));
        let contexts = decoded.contexts.len();
        let mut d_contexts = if predicts { pass.any(contexts) } else { pass.zeros(contexts) };
        let mut d_state = self.predict_backward(pass, decoded, &mut d_words, &mut d_contexts, gradients);
        let memory = encoded.output.len();
        let mut d_memory = if self.attention.is_some() { pass.any(memory) } else { pass.zeros(memory) };
        let d_first = if let Some(attention) = &self.attention {
            let size = self.config.hidden;
            let mut d_keys = pass.zeros(decoded.keys.len());
            let mut d_queries = pass.any(decoded.queries.len());
            let mut back =
                AttentionBack { d_keys: &mut d_keys, d_queries: &mut d_queries, d_contexts: &mut d_contexts };
            let d_first = self.steps_backward(pass, batch, encoded, decoded, d_state, &mut back, gradients);
            let (weights, longest) = (&decoded.weights, batch.sources.len());
            let (from, width) = (&batch.source_rows, self.memory_width());
            let into = &mut d_memory;
            mix_backward(pass.isa, &batch.targets, from, weights, longest, &d_contexts, width, into, width);
            let before = &decoded.traces[self.decoder.len() - 1].before;
            debug_assert_eq!(before.len() / size, d_queries.len() / size);
            attention.query.learn(pass, before, &d_queries, gradients);
            attention.key.learn(pass, &encoded.output, &d_keys, gradients);
            attention.key.backward_into(pass, &d_keys, &mut d_memory, Into::Add);
            if !decoded.projected.is_empty() {
                let (layer, piece) = (&self.decoder[0], self.context_piece());
                let mut d_projected = pass.any(decoded.projected.len());
                let (d, width) = (&decoded.traces[0].gates, layer.width());
                let into = &mut d_projected;
                mix_backward(pass.isa, &batch.targets, from, weights, longest, d, width, into, layer.sums());
                let projected = (encoded.output.as_slice(), d_projected.as_slice());
                layer.project_backward(pass, piece, projected, &mut d_memory, gradients);
                pass.recycle([d_projected]);
            }
            pass.recycle([d_keys, d_queries]);
            d_first
        } else {
            self.look_back_backward(pass, batch, encoded, decoded, &d_contexts, &mut d_state, &mut d_memory);
            self.layers_backward(pass, batch, decoded, d_state)
        };
        self.learn_layers(pass, decoded, &mut d_words, gradients);
        pass.recycle([d_words, d_contexts]);
        (loss, d_memory, d_first)
    }

    /// From the gradient of the scores to those of the state, the word and the context.
    fn predict_backward<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        decoded: &Decoded<T>,
        d_words: &mut [T],
        d_contexts: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) -> Vec<T> {
        let state = &decoded.traces[self.decoder.len() - 1].state;
        let d = match (&self.output, self.target_table) {
            (Some(output), _) if self.config.output == Output::State => {
                output.learn(pass, state, &decoded.scores, gradients);
                return output.backward(pass, &decoded.scores);
            }
            (Some(output), _) => {
                output.learn(pass, &decoded.pre_output, &decoded.scores, gradients);
                output.backward(pass, &decoded.scores)
            }
            (None, Some(table)) if self.config.output == Output::Tied => {
                let (rows, e) = (decoded.said.len(), self.config.embedding);
                let d_scores = View::new(&decoded.scores, rows, self.outputs());
                let x = View::new(&decoded.pre_output, rows, e);
                pass.learn(table, d_scores, x, e, gradients);
                let mut d = pass.zeros(rows * e);
                pass.apply_backward(table, d_scores, &mut d, e, Into::Add);
                for (d, &y) in d.iter_mut().zip(&decoded.pre_output) {
                    *d *= T::ONE - y * y;
                }
                d
            }
            _ => {
                let mut d = pass.zeros(decoded.scores.len());
                d.copy_from_slice(&decoded.scores);
                d
            }
        };
        let mut d_state = pass.any(state.len());
        for (i, (piece, linear)) in self.pre_output.iter().enumerate() {
            let target: &mut [T] = match piece {
                Piece::Word => d_words,
                Piece::State => &mut d_state,
                Piece::Context => d_contexts,
            };
            linear.learn(pass, decoded.piece(i, *piece), &d, gradients);
            linear.backward_into(pass, &d, target, Into::Replace);
            scale_by(pass.isa, &decoded.factors.pieces[i], target);
        }
        pass.recycle([d]);
        d_state
    }

    /// The way back through [`Model::look_back`], of all steps.
    #[allow(clippy::too_many_arguments)]
    fn look_back_backward<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        decoded: &Decoded<T>,
        d_contexts: &[T],
        d_state: &mut [T],
        d_memory: &mut [T],
    ) {
        if self.config.attention != Attention::Dot {
            return;
        }
        let sources = self.sources(batch, &encoded.output, &encoded.output);
        let state = &decoded.traces[self.decoder.len() - 1].state;
        let mut scratch = Vec::new();
        for t in 0..batch.targets.len() {
            let (rows, _) = neighbours(&batch.targets, t, false);
            let states = rows.start * sources.size..rows.end * sources.size;
            let contexts = &d_contexts[rows.start * sources.width..rows.end * sources.width];
            let weights = &decoded.weights[rows.start * sources.longest..rows.end * sources.longest];
            let (asked, d_asked) = (&state[states.clone()], &mut d_state[states]);
            attend_dot_backward(pass.isa, sources, asked, weights, contexts, d_asked, d_memory, &mut scratch);
        }
    }

    /// Where no context is fed, the way back goes layer by layer, however the way forward went. Returns the gradients of the
    /// first states.
    fn layers_backward<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        decoded: &mut Decoded<T>,
        mut d_state: Vec<T>,
    ) -> Vec<State<T>> {
        let mut d_first = Vec::new();
        for (l, layer) in self.decoder.iter().enumerate().rev() {
            let (trace, steps) = (&mut decoded.traces[l], &batch.targets);
            let mut carry = State::zeros(layer, batch.forced.len());
            trace.run_backward(pass, layer, steps, &mut d_state, &mut carry, false);
            if l > 0 {
                trace.input_backward(pass, layer, 0, 0..steps.total(), &mut d_state, Into::Replace);
                scale_by(pass.isa, &decoded.factors.layers[l - 1], &mut d_state);
            }
            d_first.push(carry);
        }
        d_first.reverse();
        pass.recycle([d_state]);
        d_first
    }

    /// With additive attention, the way back goes step by step.
    #[allow(clippy::too_many_arguments)]
    fn steps_backward<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        decoded: &mut Decoded<T>,
        mut all_d_state: Vec<T>,
        back: &mut AttentionBack<'_, T>,
        gradients: &mut Gradients<'_, T>,
    ) -> Vec<State<T>> {
        let attention = self.attention.as_ref().expect("a model with attention");
        let (steps, h, top) = (&batch.targets, self.config.hidden, self.decoder.len() - 1);
        let Decoded { traces, keys, key_powers, projected, queries: asked, weights, factors, .. } = decoded;
        let sources = self.sources(batch, keys, &encoded.output);
        let mut carry: Vec<State<T>> =
            self.decoder.iter().map(|layer| State::zeros(layer, batch.forced.len())).collect();
        let mut d_v = vec![T::ZERO; h];
        let mut scratch = Vec::new();
        for t in (0..steps.len()).rev() {
            let (rows, _) = neighbours(steps, t, false);
            let d_state = &mut all_d_state[rows.start * h..rows.end * h];
            let d_contexts = &mut back.d_contexts[rows.start * sources.width..rows.end * sources.width];
            for (l, (layer, trace)) in self.decoder.iter().zip(traces.iter_mut()).enumerate().rev() {
                trace.step_backward(pass, layer, rows.clone(), d_state, &mut carry[l]);
                if l > 0 {
                    trace.input_backward(pass, layer, 0, rows.clone(), d_state, Into::Replace);
                    let factors = &factors.layers[l - 1];
                    if !factors.is_empty() {
                        scale_by(pass.isa, &factors[rows.start * h..rows.end * h], d_state);
                    }
                } else if projected.is_empty() {
                    let piece = self.context_piece();
                    trace.input_backward(pass, layer, piece, rows.clone(), d_contexts, Into::Add);
                }
            }
            let queries = rows.start * h..rows.end * h;
            let into = AttentionGradients {
                queries: &mut back.d_queries[queries.clone()],
                keys: &mut *back.d_keys,
                v: &mut d_v,
            };
            let mixed = (!projected.is_empty()).then(|| Mixed {
                values: projected,
                width: self.decoder[0].sums(),
                d: &traces[0].gates[rows.start * self.decoder[0].width()..],
                stride: self.decoder[0].width(),
            });
            let weights = &weights[of(weights, &rows, sources.longest)];
            let (v, asked, at) = (pass.flat(attention.v), &asked[queries.clone()], &mut scratch);
            attend_backward(pass.isa, sources, key_powers, v, asked, weights, d_contexts, mixed, into, at);
            let d_before = &mut carry[top].state[..rows.len() * h];
            attention.query.backward_into(pass, &back.d_queries[queries], d_before, Into::Add);
        }
        add(pass.isa, &d_v, gradients.of(attention.v));
        pass.recycle([all_d_state]);
        carry
    }

    /// Adds the gradients of the parameters of all layers and of the words.
    fn learn_layers<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        decoded: &Decoded<T>,
        d_words: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let by_word = !decoded.word_sums.is_empty();
        for (l, (layer, trace)) in self.decoder.iter().zip(&decoded.traces).enumerate() {
            trace.learn(pass, layer, gradients);
            let mut learn = |piece: usize, x: &[T]| trace.learn_input(pass, layer, piece, x, gradients);
            if l > 0 {
                learn(0, decoded.input(l));
                continue;
            }
            if self.config.dependence && !by_word {
                learn(0, &decoded.embedded);
            }
            if self.attention.is_some() && decoded.projected.is_empty() {
                learn(self.context_piece(), &decoded.contexts);
            }
        }
        if let Some(table) = self.target_table {
            let (width, layer, trace) = (self.config.embedding, &self.decoder[0], &decoded.traces[0]);
            if by_word {
                let words = (decoded.words.as_slice(), trace.gates.as_slice());
                layer.learn_words(pass, table, words, gradients);
            } else {
                trace.input_backward(pass, layer, 0, 0..decoded.words.len(), d_words, Into::Add);
                scale_by(pass.isa, &decoded.factors.words, d_words);
            }
            if !d_words.is_empty() {
                let starts = self.starts(&decoded.words);
                let d_table = gradients.of(table);
                embed_backward(&d_words[starts * width..], width, &decoded.words[starts..], d_table);
            }
        }
    }
}

/// How many rows a buffer has; one for an empty buffer.
fn batch_rows<T>(buffer: &[T], width: usize) -> usize {
    (buffer.len() / width).max(1)
}

/// Where the way back through attention collects.
struct AttentionBack<'a, T> {
    d_keys: &'a mut [T],
    d_queries: &'a mut [T],
    d_contexts: &'a mut [T],
}
