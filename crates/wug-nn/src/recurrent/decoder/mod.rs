//! The decoder over a whole target: step by step where a step needs what the one before has said or attended to, else
//! layer by layer.

mod backward;

use std::ops::Range;

use super::encoder::{Encoded, by_word};
use super::layer::{Input, State, Trace, neighbours};
use super::{Attention, Begin, Output, Piece, RecurrentNetwork};
use crate::batch::{Batch, Place};
use crate::kernels::{Accumulate, Powers, Sources, View, attend, attend_dot, embed, mix, scale_by};
use crate::network::Context;
use crate::{Buffer, Real};

/// What the decoder has computed, in the layout of the targets' steps.
pub(crate) struct Decoded<T> {
    /// What was fed.
    words: Vec<u32>,
    /// What every word starts the first layer's sums with; empty where that is computed for each place.
    word_sums: Buffer<T>,
    /// The vectors of what was fed, where they are needed.
    embedded: Buffer<T>,
    /// Inputs of the layers above the first, where something is dropped: else the states of the layer below.
    inputs: Vec<Buffer<T>>,
    traces: Vec<Trace<T>>,
    keys: Buffer<T>,
    key_powers: Powers<T>,
    /// What the encoder's output adds to the first layer's sums, where that is mixed; else empty.
    projected: Buffer<T>,
    queries: Buffer<T>,
    weights: Buffer<T>,
    contexts: Buffer<T>,
    /// Inputs of the pre-output layer, where something is dropped, and what it made of them.
    pieces: Vec<Buffer<T>>,
    pre_output: Buffer<T>,
    scores: Buffer<T>,
    scratch: Buffer<T>,
    /// What was said.
    pub(crate) said: Vec<u32>,
    factors: Factors<T>,
}

/// The factors of dropout.
struct Factors<T> {
    words: Buffer<T>,
    layers: Vec<Buffer<T>>,
    pieces: Vec<Buffer<T>>,
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

    /// Returns the buffers to the workspace.
    pub(crate) fn recycle(self, context: &mut Context<'_, T>) {
        self.traces.into_iter().for_each(|trace| trace.recycle(context));
        let Factors { words, layers, pieces } = self.factors;
        context.recycle([self.embedded, self.keys, self.queries, self.weights, self.contexts]);
        context.recycle([
            self.pre_output,
            self.scores,
            self.word_sums,
            self.projected,
            self.key_powers.of,
            words,
        ]);
        context.recycle(self.inputs.into_iter().chain(self.pieces).chain(layers).chain(pieces));
    }
}

/// Rows of a buffer of this width.
fn of<T>(buffer: &[T], rows: &Range<usize>, width: usize) -> Range<usize> {
    debug_assert!(buffer.len() >= rows.end * width);
    rows.start * width..rows.end * width
}

impl RecurrentNetwork {
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

    fn room<T: Real>(&self, context: &mut Context<'_, T>, batch: &Batch, key: Option<u64>) -> Decoded<T> {
        let config = &self.config;
        let total = batch.targets.total();
        let mut place = 0;
        let mut factors = |context: &mut Context<'_, T>, width: usize| {
            place += 1;
            batch.dropout(context, config.dropout, key, Place::Target(place), width)
        };
        let factors = Factors {
            words: if config.dependence { factors(context, config.embedding) } else { Buffer::default() },
            layers: self.decoder[1..].iter().map(|_| factors(context, config.hidden)).collect(),
            pieces: match config.output {
                Output::PreOutput => {
                    self.pre_output.iter().map(|(_, linear)| factors(context, linear.inputs)).collect()
                }
                _ => vec![Buffer::default(); self.pre_output.len()],
            },
        };
        let attended = usize::from(config.attention != Attention::None);
        let words = config.target_words + 1;
        let by_word = by_word(config.dropout, key, words, total);
        let word_sums = match self.target_table {
            Some(table) if by_word => self.decoder[0].word_sums(context, table, words),
            _ => Buffer::default(),
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
            embedded: context.zeros(embedded * total * config.embedding),
            inputs: factors.layers.iter().map(|factors| context.take(factors.len())).collect(),
            traces: self.decoder.iter().map(|layer| Trace::new(context, layer, total)).collect(),
            keys: Buffer::default(),
            key_powers: Powers::default(),
            projected: Buffer::default(),
            queries: context.take(asked * total * config.hidden),
            weights: context.take(attended * total * batch.sources.len()),
            contexts: context.take(attended * total * self.memory_width()),
            pieces: factors.pieces.iter().map(|factors| context.take(factors.len())).collect(),
            pre_output: context.zeros(total * between),
            scores: context.zeros(total * self.outputs()),
            scratch: Buffer::default(),
            said: vec![0; total],
            factors,
        }
    }

    /// Decodes a batch: rows that are forced are fed the target, the others what they say. Stops before the last step when
    /// every row has said the end and none is forced.
    pub(crate) fn decode<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        first: &[State<T>],
        key: Option<u64>,
    ) -> Decoded<T> {
        let steps = &batch.targets;
        let mut decoded = self.room(context, batch, key);
        if let Some(attention) = &self.attention {
            decoded.keys = attention.key.forward(context, &encoded.output);
            let room = context.take(decoded.keys.len());
            decoded.key_powers = Powers::new(context.isa, &decoded.keys, self.config.hidden, room);
            if self.projects(batch) {
                decoded.projected = self.decoder[0].project(context, self.context_piece(), &encoded.output);
            }
        }
        if batch.forced.iter().all(|&forced| forced) {
            for t in 0..steps.len() {
                self.feed(batch, t, &mut decoded);
            }
            self.embed_words(context, 0..steps.total(), &mut decoded);
            if self.attention.is_some() {
                self.start_sums(context, 0..steps.total(), &mut decoded);
                for t in 0..steps.len() {
                    self.step(context, batch, encoded, first, t, &mut decoded);
                }
            } else {
                self.layer_by_layer(context, batch, first, &mut decoded);
                for t in 0..steps.len() {
                    self.look_back(context, batch, encoded, t, &mut decoded);
                }
            }
            self.predict(context, 0..steps.total(), &mut decoded);
            batch.say(0..steps.len(), &decoded.scores, self.config.target_words, &mut decoded.said);
            return decoded;
        }
        let mut ended = vec![false; batch.forced.len()];
        for t in 0..steps.len() {
            let (rows, _) = neighbours(steps, t, false);
            self.feed(batch, t, &mut decoded);
            self.embed_words(context, rows.clone(), &mut decoded);
            self.start_sums(context, rows.clone(), &mut decoded);
            self.step(context, batch, encoded, first, t, &mut decoded);
            self.look_back(context, batch, encoded, t, &mut decoded);
            self.predict(context, rows.clone(), &mut decoded);
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
    /// word of the sources instead of one for each word of the targets, and longer mixtures. Only to learn: what one query is
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
    fn embed_words<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        rows: Range<usize>,
        decoded: &mut Decoded<T>,
    ) {
        let Some(table) = self.target_table.filter(|_| !decoded.embedded.is_empty()) else { return };
        let width = self.config.embedding;
        let starts = self.starts(&decoded.words[rows.clone()]);
        let range = of(&decoded.embedded, &rows, width);
        let embedded = &mut decoded.embedded[range.clone()];
        let words = &decoded.words[rows.start + starts..rows.end];
        embed(context.flat(table), width, words, &mut embedded[starts * width..]);
        if !decoded.factors.words.is_empty() {
            scale_by(context.isa, &decoded.factors.words[range], embedded);
        }
    }

    /// How many rows at the front are fed the start and have no vector for it.
    fn starts(&self, words: &[u32]) -> usize {
        let is_start = |&&word: &&u32| word as usize == self.config.target_words;
        if self.config.begin == Begin::Zero { words.iter().take_while(is_start).count() } else { 0 }
    }

    /// Starts the sums of the first layer: the bias and the word.
    fn start_sums<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        rows: Range<usize>,
        decoded: &mut Decoded<T>,
    ) {
        if !decoded.word_sums.is_empty() {
            let words = &decoded.words[rows.clone()];
            return decoded.traces[0].start_words(&self.decoder[0], rows, words, &decoded.word_sums);
        }
        decoded.traces[0].start(context, &self.decoder[0], rows.clone());
        if self.config.dependence {
            let x = &decoded.embedded[of(&decoded.embedded, &rows, self.config.embedding)];
            decoded.traces[0].add_input(context, &self.decoder[0], 0, rows, x);
        }
    }

    /// One step of attention and all layers; the first layer's sums have the bias and the word already.
    fn step<T: Real>(
        &self,
        context: &mut Context<'_, T>,
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
            attention.query.forward_into(context, before, queries, Accumulate::Overwrite);
            let sources = self.sources(batch, &decoded.keys, &encoded.output);
            let contexts = of(&decoded.contexts, &rows, sources.width);
            let contexts = &mut decoded.contexts[contexts];
            let weights = of(&decoded.weights, &rows, sources.longest);
            let weights = &mut decoded.weights[weights];
            let v = context.flat(attention.v);
            attend(
                context.isa,
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
                decoded.traces[0].add_input(context, layer, piece, rows.clone(), contexts);
            } else {
                let (sums, width) = (self.decoder[0].sums(), self.decoder[0].width());
                let gates = &mut decoded.traces[0].gates[rows.start * width..rows.end * width];
                let (from, longest) = (&batch.source_rows, batch.sources.len());
                mix(context.isa, &decoded.projected, sums, from, weights, longest, gates, width);
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
                    scale_by(context.isa, &decoded.factors.layers[l - 1][range], dropped);
                    x = dropped;
                }
                above[0].start(context, layer, rows.clone());
                above[0].add_input(context, layer, 0, rows.clone(), x);
            }
            decoded.traces[l].step(context, layer, rows.clone());
        }
    }

    /// Attends by the states after the step, where that is how it attends.
    fn look_back<T: Real>(
        &self,
        context: &mut Context<'_, T>,
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
        attend_dot(context.isa, sources, state, weights, contexts);
    }

    /// All steps of the first layer, then of the second, ...: fewer and larger products.
    fn layer_by_layer<T: Real>(
        &self,
        context: &mut Context<'_, T>,
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
                    scale_by(context.isa, &decoded.factors.layers[l - 1], dropped);
                    Input::Rows(dropped)
                }
            };
            above[0].run(context, layer, &batch.targets, input, Some(&first[l]), false);
        }
    }

    /// The scores of all words.
    fn predict<T: Real>(&self, context: &mut Context<'_, T>, rows: Range<usize>, decoded: &mut Decoded<T>) {
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
                scale_by(context.isa, &factors.pieces[i][range], dropped);
                x = dropped;
            }
            let direct = self.config.output.is_direct();
            let out = if direct { &mut *scores } else { &mut *between };
            linear.forward_into(context, x, out, Accumulate::Add);
        }
        match (&self.output, self.target_table) {
            (Some(output), _) if self.config.output == Output::State => {
                let state = &state[of(state, &rows, self.config.hidden)];
                output.forward_into(context, state, scores, Accumulate::Add);
            }
            (Some(output), _) => output.forward_into(context, between, scores, Accumulate::Add),
            (None, Some(table)) if self.config.output == Output::Tied => {
                for y in between.iter_mut() {
                    *y = y.tanh();
                }
                let x = View::new(between, rows.len(), self.config.embedding);
                context.apply(table, x, scores, outputs, Accumulate::Add);
            }
            _ => (),
        }
    }
}

/// How many rows a buffer has; one for an empty buffer.
fn batch_rows<T>(buffer: &[T], width: usize) -> usize {
    (buffer.len() / width).max(1)
}
