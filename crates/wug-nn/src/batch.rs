use std::ops::Range;

use crate::kernels::{dropout, largest};
use crate::network::{Context, Lesson, Query};
use crate::{Buffer, Real, Steps};

/// A few examples in the order of the kernels: the sources from long to short, and so, apart from them, the targets.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) sources: Steps,
    pub(crate) source_words: Vec<u32>,
    pub(crate) targets: Steps,
    pub(crate) target_words: Vec<u32>,
    /// For each row of the decoder, whether it is fed the target.
    pub(crate) forced: Vec<bool>,
    /// For each row of the decoder, whether it is told how long the answer is; empty for none.
    told: Vec<bool>,
    /// For each row of the decoder, that of the encoder.
    pub(crate) partner: Vec<usize>,
    /// For each row of the decoder, the rows of its source.
    pub(crate) source_rows: Vec<Vec<usize>>,
    /// For each row of the encoder, and of the decoder, which example of the whole batch it is.
    source_index: Vec<usize>,
    pub(crate) target_index: Vec<usize>,
}

/// Indices from long to short; equals stay in order.
fn by_length(lengths: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(lengths[i]));
    order
}

/// The words of sequences that are ordered from long to short.
fn words<'a>(steps: &Steps, sequences: impl Fn(usize) -> &'a [u32]) -> Vec<u32> {
    let step = |t: usize| (0..steps.rows(t)).map(move |row| (t, row));
    (0..steps.len()).flat_map(step).map(|(t, row)| sequences(row)[t]).collect()
}

impl Batch {
    /// Examples `first..` of a batch.
    pub(crate) fn new(lessons: &[Lesson<'_>], first: usize) -> Self {
        let target_lengths: Vec<usize> = lessons.iter().map(|lesson| lesson.target.len()).collect();
        let mut batch =
            Self::sources(lessons.iter().map(|lesson| lesson.source.tokens()), &target_lengths, first);
        batch.target_words = words(&batch.targets, |row| lessons[batch.target_index[row] - first].target);
        batch.forced = batch.target_index.iter().map(|&i| lessons[i - first].forced).collect();
        batch
    }

    /// Queries, each to be decoded for its length and the end, or for the maximum length.
    pub(crate) fn queries(queries: &[Query<'_>], steps: usize) -> Self {
        let lengths: Vec<usize> =
            queries.iter().map(|query| query.length.map_or(steps, |length| length + 1)).collect();
        let mut batch = Self::sources(queries.iter().map(|query| query.source.tokens()), &lengths, 0);
        batch.told = batch.target_index.iter().map(|&i| queries[i].length.is_some()).collect();
        batch
    }

    fn sources<'a>(sources: impl Iterator<Item = &'a [u32]>, target_lengths: &[usize], first: usize) -> Self {
        let sequences: Vec<&[u32]> = sources.collect();
        assert!(sequences.iter().all(|source| !source.is_empty()), "a source has at least one word");
        let lengths: Vec<usize> = sequences.iter().map(|source| source.len()).collect();
        let (source_order, target_order) = (by_length(&lengths), by_length(target_lengths));
        let ordered = |order: &[usize], lengths: &[usize]| {
            Steps::new(&order.iter().map(|&i| lengths[i]).collect::<Vec<_>>())
        };
        let sources = ordered(&source_order, &lengths);
        let mut place = vec![0; lengths.len()];
        source_order.iter().enumerate().for_each(|(row, &i)| place[i] = row);
        let partner: Vec<usize> = target_order.iter().map(|&i| place[i]).collect();
        let rows_of = |i: &usize| (0..lengths[*i]).map(|t| sources.start(t) + place[*i]).collect();
        Self {
            source_words: words(&sources, |row| sequences[source_order[row]]),
            targets: ordered(&target_order, target_lengths),
            target_words: Vec::new(),
            forced: vec![false; lengths.len()],
            told: Vec::new(),
            source_rows: target_order.iter().map(rows_of).collect(),
            sources,
            partner,
            source_index: source_order.iter().map(|i| i + first).collect(),
            target_index: target_order.iter().map(|i| i + first).collect(),
        }
    }

    /// Greedy decoding: the token with the highest score for each row of these steps, of a vocabulary of this size.
    pub(crate) fn say<T: Real>(&self, steps: Range<usize>, scores: &[T], words: usize, said: &mut [u32]) {
        let stride = scores.len() / self.targets.total().max(1);
        for t in steps {
            let rows = self.targets.rows(t);
            for row in 0..rows {
                let at = self.targets.start(t) + row;
                let scores = &scores[at * stride..][..words];
                said[at] = match self.told.get(row) {
                    // The end is said where it is due, and before it the best of all others.
                    Some(true) if row >= self.targets.rows(t + 1) => 0,
                    Some(true) if words > 1 => 1 + largest(&scores[1..]),
                    _ => largest(scores),
                };
            }
        }
    }

    /// How many examples have been said as the target has them.
    pub(crate) fn right(&self, said: &[u32]) -> usize {
        let mut wrong = vec![false; self.forced.len()];
        for t in 0..self.targets.len() {
            let start = self.targets.start(t);
            for (row, wrong) in wrong[..self.targets.rows(t)].iter_mut().enumerate() {
                *wrong |= said[start + row] != self.target_words[start + row];
            }
        }
        wrong.into_iter().filter(|wrong| !wrong).count()
    }

    /// What was said, in the order of the queries.
    pub(crate) fn answers(&self, said: &[u32]) -> Vec<Option<Vec<u32>>> {
        let mut answers = vec![None; self.target_index.len()];
        for (row, &i) in self.target_index.iter().enumerate() {
            let steps = (0..self.targets.len()).take_while(|&t| row < self.targets.rows(t));
            let mut words = steps.map(|t| said[self.targets.start(t) + row]);
            let mut answer = Vec::new();
            let end = words.find(|&word| {
                answer.extend((word != 0).then_some(word));
                word == 0
            });
            answers[i] = end.map(|_| answer);
        }
        answers
    }

    /// The row in which each query has said its end, or its last one, in the order of the queries.
    pub(crate) fn ends(&self, said: &[u32]) -> Vec<usize> {
        let mut ends = vec![0; self.target_index.len()];
        for (row, &i) in self.target_index.iter().enumerate() {
            let steps = (0..self.targets.len()).take_while(|&t| row < self.targets.rows(t));
            let rows = steps.map(|t| self.targets.start(t) + row);
            ends[i] = rows.clone().find(|&row| said[row] == 0).or_else(|| rows.last()).unwrap_or_default();
        }
        ends
    }

    /// The factors of dropout at a place of the model, for every row; none where nothing is dropped. They depend on the
    /// key, the place, the example and the step, and not on how the batch is divided.
    pub(crate) fn dropout<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        probability: f64,
        key: Option<u64>,
        place: Place,
        width: usize,
    ) -> Buffer<T> {
        let (Some(key), true) = (key, probability > 0.0) else { return Buffer::default() };
        let (steps, index) = match place {
            Place::Source(_) => (&self.sources, &self.source_index),
            Place::Target(_) => (&self.targets, &self.target_index),
        };
        let mut factors = context.zeros(steps.total() * width);
        let mut rows = factors.chunks_exact_mut(width);
        for t in 0..steps.len() {
            for (&i, row) in index[..steps.rows(t)].iter().zip(&mut rows) {
                dropout(context.isa, place.key(key, i, t), probability, row);
            }
        }
        factors
    }
}

/// A place where something is dropped: over the source or the target, numbered.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    Source(usize),
    Target(usize),
}

impl Place {
    /// What is dropped here from word `t` of an example of the batch depends on this alone.
    pub(crate) fn key(self, key: u64, example: usize, t: usize) -> u64 {
        let number = match self {
            Self::Source(number) => number,
            Self::Target(number) => number + 1024,
        };
        mix(mix(mix(key ^ number as u64) ^ example as u64) ^ t as u64)
    }
}

/// Spreads the bits (the finaliser of SplitMix64).
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
