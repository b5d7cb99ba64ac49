//! The backward pass through the decoder.

use super::super::encoder::Encoded;
use super::super::layer::{State, neighbours};
use super::super::{Attention, Output, Piece, RecurrentNetwork};
use super::{Decoded, of};
use crate::batch::Batch;
use crate::kernels::{
    Accumulate, AttentionGradients, Mixed, View, add, attend_backward, attend_dot_backward, cross_entropy,
    embed_backward, mix_backward, scale_by,
};
use crate::network::{Context, Step};
use crate::parameters::Gradients;
use crate::{Buffer, Real};

/// Where the backward pass through attention collects.
struct AttentionBack<'a, T> {
    d_keys: &'a mut [T],
    d_queries: &'a mut [T],
    d_contexts: &'a mut [T],
}

impl RecurrentNetwork {
    /// The summed cross-entropy of the targets; its gradient times the step's factor goes back through the decoder. Returns the loss
    /// and the gradients of the encoder's output and of the first states.
    pub(crate) fn decode_backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        decoded: &mut Decoded<T>,
        step: Step,
        gradients: &mut Gradients<'_, T>,
    ) -> (f64, Buffer<T>, Vec<State<T>>) {
        let (factor, smoothing) = (T::from_f64(step.factor), step.smoothing);
        let loss = cross_entropy(context.isa, &mut decoded.scores, &batch.target_words, factor, smoothing);
        let mut d_words = context.zeros(decoded.embedded.len());
        // Zeros only where nothing takes their place.
        let predicts = self.pre_output.iter().any(|(piece, _)| matches!(piece, Piece::Context));
        let contexts = decoded.contexts.len();
        let mut d_contexts = if predicts { context.take(contexts) } else { context.zeros(contexts) };
        let mut d_state = self.predict_backward(context, decoded, &mut d_words, &mut d_contexts, gradients);
        let memory = encoded.output.len();
        let mut d_memory =
            if self.attention.is_some() { context.take(memory) } else { context.zeros(memory) };
        let d_first = if let Some(attention) = &self.attention {
            let size = self.config.hidden;
            let mut d_keys = context.zeros(decoded.keys.len());
            let mut d_queries = context.take(decoded.queries.len());
            let mut back =
                AttentionBack { d_keys: &mut d_keys, d_queries: &mut d_queries, d_contexts: &mut d_contexts };
            let d_first =
                self.steps_backward(context, batch, encoded, decoded, d_state, &mut back, gradients);
            let (weights, longest) = (&decoded.weights, batch.sources.len());
            let (from, width) = (&batch.source_rows, self.memory_width());
            let into = &mut d_memory;
            mix_backward(
                context.isa,
                &batch.targets,
                from,
                weights,
                longest,
                &d_contexts,
                width,
                into,
                width,
            );
            let before = &decoded.traces[self.decoder.len() - 1].before;
            debug_assert_eq!(before.len() / size, d_queries.len() / size);
            attention.query.learn(context, before, &d_queries, gradients);
            attention.key.learn(context, &encoded.output, &d_keys, gradients);
            attention.key.backward_into(context, &d_keys, &mut d_memory, Accumulate::Add);
            if !decoded.projected.is_empty() {
                let (layer, piece) = (&self.decoder[0], self.context_piece());
                let mut d_projected = context.take(decoded.projected.len());
                let (d, width) = (&decoded.traces[0].gates, layer.width());
                let into = &mut d_projected;
                mix_backward(
                    context.isa,
                    &batch.targets,
                    from,
                    weights,
                    longest,
                    d,
                    width,
                    into,
                    layer.sums(),
                );
                let projected = (&encoded.output[..], &d_projected[..]);
                layer.project_backward(context, piece, projected, &mut d_memory, gradients);
                context.recycle([d_projected]);
            }
            context.recycle([d_keys, d_queries]);
            d_first
        } else {
            self.look_back_backward(
                context,
                batch,
                encoded,
                decoded,
                &d_contexts,
                &mut d_state,
                &mut d_memory,
            );
            self.layers_backward(context, batch, decoded, d_state)
        };
        self.learn_layers(context, decoded, &mut d_words, gradients);
        context.recycle([d_words, d_contexts]);
        (loss, d_memory, d_first)
    }

    /// From the gradient of the scores to those of the state, the word and the context.
    fn predict_backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        decoded: &Decoded<T>,
        d_words: &mut [T],
        d_contexts: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) -> Buffer<T> {
        let state = &decoded.traces[self.decoder.len() - 1].state;
        let d = match (&self.output, self.target_table) {
            (Some(output), _) if self.config.output == Output::State => {
                output.learn(context, state, &decoded.scores, gradients);
                return output.backward(context, &decoded.scores);
            }
            (Some(output), _) => {
                output.learn(context, &decoded.pre_output, &decoded.scores, gradients);
                output.backward(context, &decoded.scores)
            }
            (None, Some(table)) if self.config.output == Output::Tied => {
                let (rows, e) = (decoded.said.len(), self.config.embedding);
                let d_scores = View::new(&decoded.scores, rows, self.outputs());
                let x = View::new(&decoded.pre_output, rows, e);
                context.learn(table, d_scores, x, e, gradients);
                let mut d = context.zeros(rows * e);
                context.apply_backward(table, d_scores, &mut d, e, Accumulate::Add);
                for (d, &y) in d.iter_mut().zip(&decoded.pre_output) {
                    *d *= T::ONE - y * y;
                }
                d
            }
            _ => {
                let mut d = context.zeros(decoded.scores.len());
                d.copy_from_slice(&decoded.scores);
                d
            }
        };
        let mut d_state = context.take(state.len());
        for (i, (piece, linear)) in self.pre_output.iter().enumerate() {
            let target: &mut [T] = match piece {
                Piece::Word => d_words,
                Piece::State => &mut d_state,
                Piece::Context => d_contexts,
            };
            linear.learn(context, decoded.piece(i, *piece), &d, gradients);
            linear.backward_into(context, &d, target, Accumulate::Overwrite);
            scale_by(context.isa, &decoded.factors.pieces[i], target);
        }
        context.recycle([d]);
        d_state
    }

    /// The backward pass through [`RecurrentNetwork::look_back`], of all steps.
    #[allow(clippy::too_many_arguments)]
    fn look_back_backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
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
        let mut scratch = Buffer::default();
        for t in 0..batch.targets.len() {
            let (rows, _) = neighbours(&batch.targets, t, false);
            let states = rows.start * sources.size..rows.end * sources.size;
            let contexts = &d_contexts[rows.start * sources.width..rows.end * sources.width];
            let weights = &decoded.weights[rows.start * sources.longest..rows.end * sources.longest];
            let (asked, d_asked) = (&state[states.clone()], &mut d_state[states]);
            attend_dot_backward(
                context.isa,
                sources,
                asked,
                weights,
                contexts,
                d_asked,
                d_memory,
                &mut scratch,
            );
        }
    }

    /// Where no context is fed, the backward pass goes layer by layer, however the forward pass went. Returns the gradients of the
    /// first states.
    fn layers_backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        batch: &Batch,
        decoded: &mut Decoded<T>,
        mut d_state: Buffer<T>,
    ) -> Vec<State<T>> {
        let mut d_first = Vec::new();
        for (l, layer) in self.decoder.iter().enumerate().rev() {
            let (trace, steps) = (&mut decoded.traces[l], &batch.targets);
            let mut carry = State::zeros(layer, batch.forced.len());
            trace.run_backward(context, layer, steps, &mut d_state, &mut carry, false);
            if l > 0 {
                trace.input_backward(
                    context,
                    layer,
                    0,
                    0..steps.total(),
                    &mut d_state,
                    Accumulate::Overwrite,
                );
                scale_by(context.isa, &decoded.factors.layers[l - 1], &mut d_state);
            }
            d_first.push(carry);
        }
        d_first.reverse();
        context.recycle([d_state]);
        d_first
    }

    /// With additive attention, the backward pass goes step by step.
    #[allow(clippy::too_many_arguments)]
    fn steps_backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        batch: &Batch,
        encoded: &Encoded<T>,
        decoded: &mut Decoded<T>,
        mut all_d_state: Buffer<T>,
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
        let mut scratch = Buffer::default();
        for t in (0..steps.len()).rev() {
            let (rows, _) = neighbours(steps, t, false);
            let d_state = &mut all_d_state[rows.start * h..rows.end * h];
            let d_contexts = &mut back.d_contexts[rows.start * sources.width..rows.end * sources.width];
            for (l, (layer, trace)) in self.decoder.iter().zip(traces.iter_mut()).enumerate().rev() {
                trace.step_backward(context, layer, rows.clone(), d_state, &mut carry[l]);
                if l > 0 {
                    trace.input_backward(context, layer, 0, rows.clone(), d_state, Accumulate::Overwrite);
                    let factors = &factors.layers[l - 1];
                    if !factors.is_empty() {
                        scale_by(context.isa, &factors[rows.start * h..rows.end * h], d_state);
                    }
                } else if projected.is_empty() {
                    let piece = self.context_piece();
                    trace.input_backward(context, layer, piece, rows.clone(), d_contexts, Accumulate::Add);
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
            let (v, asked, at) = (context.flat(attention.v), &asked[queries.clone()], &mut scratch);
            attend_backward(context.isa, sources, key_powers, v, asked, weights, d_contexts, mixed, into, at);
            let d_before = &mut carry[top].state[..rows.len() * h];
            attention.query.backward_into(context, &back.d_queries[queries], d_before, Accumulate::Add);
        }
        add(context.isa, &d_v, gradients.of(attention.v));
        context.recycle([all_d_state]);
        carry
    }

    /// Adds the gradients of the parameters of all layers and of the words.
    fn learn_layers<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        decoded: &Decoded<T>,
        d_words: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let by_word = !decoded.word_sums.is_empty();
        for (l, (layer, trace)) in self.decoder.iter().zip(&decoded.traces).enumerate() {
            trace.learn(context, layer, gradients);
            let mut learn = |piece: usize, x: &[T]| trace.learn_input(context, layer, piece, x, gradients);
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
                let words = (&decoded.words[..], &trace.gates[..]);
                layer.learn_words(context, table, words, gradients);
            } else {
                trace.input_backward(context, layer, 0, 0..decoded.words.len(), d_words, Accumulate::Add);
                scale_by(context.isa, &decoded.factors.words, d_words);
            }
            if !d_words.is_empty() {
                let starts = self.starts(&decoded.words);
                let d_table = gradients.of(table);
                embed_backward(&d_words[starts * width..], width, &decoded.words[starts..], d_table);
            }
        }
    }
}
