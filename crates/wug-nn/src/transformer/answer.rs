//! Greedy decoding, one word at a time, with the keys and values of all words so far kept.

use super::config::{Activation, Norm, Positions};
use super::context::TransformerContext;
use super::model::{Body, Kind, Relative, Sublayer};
use super::sequences::Sequences;
use crate::kernels::{Seen, add_row, attend_one, gelu, largest, relu, residual};
use crate::linear::Linear;
use crate::network::Query;
use crate::{Buffer, Real};

/// For each layer of the decoder that has parameters of its own, the vectors of the distances 0, 1, ...; empty where they do
/// not count.
type Distances<T> = Vec<Buffer<T>>;

/// What is known of the sequences that are being decoded.
struct State<T> {
    /// For each layer that is applied and each example, keys and values of its words so far.
    said: Vec<Vec<Vec<T>>>,
    /// For each layer with parameters of its own, keys and values of the encoder's output.
    memory: Vec<Buffer<T>>,
    /// The examples that have not ended.
    active: Vec<usize>,
    scores: Buffer<T>,
}

impl Body {
    /// The embeddings of all relative positions up to the maximum length.
    fn distances<T: Real>(&self, context: &mut TransformerContext<'_, T>, longest: usize) -> Distances<T> {
        let clip = match self.config.positions {
            Positions::Relative { clip } => clip.unwrap_or(usize::MAX),
            _ => return vec![Buffer::default(); self.decoder.layers.len()],
        };
        let count = longest.min(clip.saturating_add(1));
        let of = |layer: &Vec<Sublayer>| {
            let relative = layer.iter().find_map(|sublayer| match sublayer.kind {
                Kind::Itself { relative, .. } => relative,
                _ => None,
            });
            let codes = context.codes.first(count);
            relative.map(|relative| relative.distance.forward(context, codes)).unwrap_or_default()
        };
        self.decoder.layers.iter().map(of).collect()
    }

    /// Greedy decoding of each query up to a maximum length; `None` without an end-of-sequence token. The sequences are the
    /// sources of the queries.
    pub(super) fn answer<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        sequences: &Sequences,
        queries: &[Query<'_>],
        longest: usize,
    ) -> Vec<Option<Vec<u32>>> {
        let before = self.config.before();
        let distances = self.distances(context, before + longest + 1);
        let examples = sequences.source.len();
        let memory = self.encode(context, sequences);
        let pairs = |layer: &Vec<Sublayer>| {
            let map = layer.iter().find_map(|sublayer| match sublayer.kind {
                Kind::Cross { memory, .. } => Some(memory),
                _ => None,
            });
            map.map(|map| map.forward(context, &memory)).unwrap_or_default()
        };
        let mut state = State {
            memory: self.decoder.layers.iter().map(pairs).collect(),
            said: vec![vec![Vec::new(); examples]; self.decoder.depth],
            active: (0..examples).collect(),
            scores: Buffer::default(),
        };
        context.recycle([memory]);
        let mut answers: Vec<Vec<u32>> = vec![Vec::new(); examples];
        let mut ended = vec![false; examples];
        let mut fed = vec![self.config.start(); examples];
        // A start symbol that is to be said is not asked for, only fed.
        for t in 0..before {
            let x = self.step(context, sequences, &mut state, &distances, &fed, t);
            context.recycle([x]);
        }
        for t in 0..=longest {
            let x = self.step(context, sequences, &mut state, &distances, &fed, before + t);
            let scores = self.scores(context, &x);
            fed.clear();
            let rows = scores.chunks_exact(self.output.outputs);
            for (&i, scores) in state.active.iter().zip(rows) {
                let word = match queries[i].length {
                    // The end is said where it is due, and before it the best of all others.
                    Some(length) if length == t => 0,
                    Some(_) if scores.len() > 1 => 1 + largest(&scores[1..]),
                    _ => largest(scores),
                };
                if word == 0 || word >= self.config.start() {
                    ended[i] = true;
                } else {
                    answers[i].push(word);
                    fed.push(word);
                }
            }
            state.active.retain(|&i| !ended[i]);
            context.recycle([x, scores]);
            if state.active.is_empty() {
                break;
            }
        }
        context.recycle(state.memory);
        answers.into_iter().zip(ended).map(|(answer, ended)| ended.then_some(answer)).collect()
    }

    /// The decoder's output for word `t` of every sequence that has not ended.
    fn step<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        sequences: &Sequences,
        state: &mut State<T>,
        distances: &Distances<T>,
        fed: &[u32],
        t: usize,
    ) -> Buffer<T> {
        let stack = &self.decoder;
        let (looked, mut x) = stack.words(context, fed, (0..fed.len()).map(|row| (row..row + 1, t)));
        context.recycle([looked]);
        if let Some(norm) = &stack.words_norm {
            x = replaced(context, x, |context, x| context.normalise(norm, x));
        }
        for l in 0..stack.depth {
            let own = l % stack.layers.len();
            for sublayer in &stack.layers[own] {
                x = sublayer.step(context, x, |context, input| match sublayer.kind {
                    Kind::Itself { input: projection, relative, .. } => {
                        let State { active, scores, said, .. } = &mut *state;
                        let relative = relative.map(|relative| (relative, &distances[own][..]));
                        itself(context, projection, relative, input, active, &mut said[l], scores)
                    }
                    Kind::Cross { query, .. } => cross(context, query, input, sequences, own, state),
                    Kind::Feed { input: map } => {
                        let mut hidden = context.take(input.len() / map.inputs * map.outputs);
                        map.forward_without_bias(context, input, &mut hidden);
                        let bias = map.bias(context);
                        if context.config.activation == Activation::Relu {
                            relu(context.isa, bias, &mut hidden);
                            hidden
                        } else {
                            replaced(context, hidden, |context, hidden| {
                                let mut out = context.take(hidden.len());
                                gelu(context.isa, bias, hidden, &mut out);
                                (Buffer::default(), out)
                            })
                        }
                    }
                });
            }
        }
        if let Some(norm) = &stack.last_norm {
            x = replaced(context, x, |context, x| context.normalise(norm, x));
        }
        x
    }
}

/// Makes a buffer of another one and gives all others back.
fn replaced<T: Real>(
    context: &mut TransformerContext<'_, T>,
    mut x: Buffer<T>,
    make: impl FnOnce(&mut TransformerContext<'_, T>, &mut Buffer<T>) -> (Buffer<T>, Buffer<T>),
) -> Buffer<T> {
    let (beside, y) = make(context, &mut x);
    context.recycle([beside]);
    context.recycle([x]);
    y
}

impl Sublayer {
    /// The sub-layer for one word of each sequence; `inner` is what comes before its output matrix.
    fn step<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        x: Buffer<T>,
        inner: impl FnOnce(&mut TransformerContext<'_, T>, &[T]) -> Buffer<T>,
    ) -> Buffer<T> {
        let is_post = context.config.norm == Norm::Post;
        let last = if is_post {
            inner(context, &x)
        } else {
            let copy = context.copy(&x);
            let input = replaced(context, copy, |context, copy| context.normalise(&self.norm, copy));
            let last = inner(context, &input);
            context.recycle([input]);
            last
        };
        let mut out = context.take(x.len());
        self.output.forward_without_bias(context, &last, &mut out);
        residual(context.isa, &x, self.output.bias(context), &mut out, context.config.width);
        context.recycle([x, last]);
        if is_post { replaced(context, out, |context, out| context.normalise(&self.norm, out)) } else { out }
    }
}

/// Attention of a new word of each sequence to the words so far, which it joins.
fn itself<T: Real>(
    context: &mut TransformerContext<'_, T>,
    projection: Linear,
    relative: Option<(Relative, &[T])>,
    input: &[T],
    active: &[usize],
    said: &mut [Vec<T>],
    scores: &mut Buffer<T>,
) -> Buffer<T> {
    let (width, size) = (context.config.width, context.config.head());
    let factor = T::from_f64(1.0 / (size as f64).sqrt());
    let mut projected = projection.forward(context, input);
    let mut attended = context.take(input.len());
    let mut distance_query = context.take(if relative.is_some() { width } else { 0 });
    let rows = projected.chunks_exact_mut(3 * width).zip(attended.chunks_exact_mut(width));
    for (&i, (row, out)) in active.iter().zip(rows) {
        let (query, pair) = row.split_at_mut(width);
        said[i].extend_from_slice(pair);
        let mut seen = Seen { memory: &said[i], distances: &[], distance_query: &[] };
        if let Some((relative, distances)) = relative {
            distance_query.copy_from_slice(query);
            add_row(context.isa, context.flat(relative.distance_bias), &mut distance_query, width);
            add_row(context.isa, context.flat(relative.content_bias), query, width);
            seen = Seen { distances, distance_query: &distance_query, ..seen };
        }
        attend_one(context.isa, seen, query, size, factor, scores, out);
    }
    context.recycle([projected, distance_query]);
    attended
}

/// Attention of a new word of each sequence to its source.
fn cross<T: Real>(
    context: &mut TransformerContext<'_, T>,
    query: Linear,
    input: &[T],
    sequences: &Sequences,
    own: usize,
    state: &mut State<T>,
) -> Buffer<T> {
    let (width, size) = (context.config.width, context.config.head());
    let factor = T::from_f64(1.0 / (size as f64).sqrt());
    let queries = query.forward(context, input);
    let mut attended = context.take(input.len());
    let rows = queries.chunks_exact(width).zip(attended.chunks_exact_mut(width));
    for (&i, (query, out)) in state.active.iter().zip(rows) {
        let rows = sequences.source.range(i);
        let memory = &state.memory[own][rows.start * 2 * width..rows.end * 2 * width];
        let seen = Seen { memory, distances: &[], distance_query: &[] };
        attend_one(context.isa, seen, query, size, factor, &mut state.scores, out);
    }
    context.recycle([queries]);
    attended
}
