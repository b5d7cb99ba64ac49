//! Softmax with its ways forward and back, the bias of relative positions, and attention of one word.

use super::isa::{Isa, Kernel, Vectors};
use crate::{Buffer, Real};

/// The largest number of a row, from the largest of each of eight columns: one by one they would wait for each other.
#[inline(always)]
pub(super) fn largest_of<T: Real>(row: &[T]) -> T {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let mut tops = [T::from_f64(f64::NEG_INFINITY); 8];
    let (blocks, tail) = row.as_chunks::<8>();
    for block in blocks {
        for (top, &x) in tops.iter_mut().zip(block) {
            *top = larger(*top, x);
        }
    }
    tops.iter().chain(tail).copied().fold(T::from_f64(f64::NEG_INFINITY), larger)
}

/// Exponentials of a row less its largest, and their sum.
#[inline(always)]
fn exponentials<T: Real>(row: &mut [T], factor: T) -> T {
    let top = largest_of(row);
    for x in row.iter_mut() {
        *x = ((*x - top) * factor).exp();
    }
    let mut sums = [T::ZERO; 8];
    let (blocks, tail) = row.as_chunks::<8>();
    for block in blocks {
        for (sum, &x) in sums.iter_mut().zip(block) {
            *sum += x;
        }
    }
    sums.into_iter().sum::<T>() + tail.iter().copied().sum::<T>()
}

kernel! {
    /// The softmax of `factor` times the scores, row by row. `causal`: row `i` may not look beyond column `i`, where its
    /// weights are 0.
    fn softmax(scores: &'a mut [T], width: usize, factor: T, causal: bool) {
        for (i, row) in scores.chunks_exact_mut(width).enumerate() {
            let (seen, hidden) = row.split_at_mut(if causal { (i + 1).min(width) } else { width });
            let share = T::ONE / exponentials(seen, factor);
            for x in seen.iter_mut() {
                *x *= share;
            }
            hidden.fill(T::ZERO);
        }
    }
}

kernel! {
    /// From the gradient of the weights to that of the scores, in place.
    fn softmax_backward(weights: &'a [T], d: &'a mut [T], width: usize, factor: T) {
        for (weights, d) in weights.chunks_exact(width).zip(d.chunks_exact_mut(width)) {
            let mut sums = [T::ZERO; 8];
            let whole = width / 8 * 8;
            for first in (0..whole).step_by(8) {
                for (lane, sum) in sums.iter_mut().enumerate() {
                    *sum += weights[first + lane] * d[first + lane];
                }
            }
            let tail: T = (whole..width).map(|j| weights[j] * d[j]).sum();
            let mean = sums.into_iter().sum::<T>() + tail;
            for (d, &weight) in d.iter_mut().zip(weights) {
                *d = weight * (*d - mean) * factor;
            }
        }
    }
}

/// Which relative positions a score can have: column `t` stands for the key `t - before` places after the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// How far back.
    pub(crate) before: usize,
    /// How far ahead.
    pub(crate) after: usize,
}

impl Window {
    pub(crate) fn len(self) -> usize {
        self.before + 1 + self.after
    }

    /// Whether all of the first `keys` keys are visible to query `i`.
    #[inline(always)]
    fn holds(self, i: usize, keys: usize) -> bool {
        i <= self.before && keys <= i + self.after + 1
    }

    /// The column of key `j` for query `i`; what is farther away counts as at the edge.
    #[inline(always)]
    fn column(self, i: usize, j: usize) -> usize {
        (j + self.before).saturating_sub(i).min(self.before + self.after)
    }
}

kernel! {
    /// Adds the score of the relative position to that of each query and key; `causal`: to those that are seen.
    fn add_window(window: Window, of_window: &'a [T], scores: &'a mut [T], keys: usize, causal: bool) {
        let rows = scores.chunks_exact_mut(keys).zip(of_window.chunks_exact(window.len()));
        for (i, (row, of_window)) in rows.enumerate() {
            let row = &mut row[..if causal { (i + 1).min(keys) } else { keys }];
            if window.holds(i, row.len()) {
                for (score, &x) in row.iter_mut().zip(&of_window[window.before - i..]) {
                    *score += x;
                }
            } else {
                for (j, score) in row.iter_mut().enumerate() {
                    *score += of_window[window.column(i, j)];
                }
            }
        }
    }
}

kernel! {
    /// The backward context: adds the gradient of each score to that of its relative position.
    fn add_window_backward(
        window: Window,
        d_scores: &'a [T],
        keys: usize,
        causal: bool,
        d_window: &'a mut [T],
    ) {
        let rows = d_scores.chunks_exact(keys).zip(d_window.chunks_exact_mut(window.len()));
        for (i, (row, d_window)) in rows.enumerate() {
            let row = &row[..if causal { (i + 1).min(keys) } else { keys }];
            if window.holds(i, row.len()) {
                for (&d, d_window) in row.iter().zip(&mut d_window[window.before - i..]) {
                    *d_window += d;
                }
            } else {
                for (j, &d) in row.iter().enumerate() {
                    d_window[window.column(i, j)] += d;
                }
            }
        }
    }
}

/// What one new word attends to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a, T> {
    /// Rows of keys and values side by side.
    pub(crate) memory: &'a [T],
    /// Rows of `distances`, one for each distance from 0 on; what is farther counts as the last. Empty where positions do
    /// not matter.
    pub(crate) distances: &'a [T],
    /// The query where it meets a distance; empty where positions do not matter.
    pub(crate) distance_query: &'a [T],
}

/// The product of two rows, head by head.
#[inline(always)]
fn heads_product<T: Real>(a: &[T], b: &[T], size: usize, mut each: impl FnMut(usize, T)) {
    for (head, (a, b)) in a.chunks_exact(size).zip(b.chunks_exact(size)).enumerate() {
        let mut sums = [T::ZERO; 8];
        let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        for (a, b) in a.iter().zip(b) {
            for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
                *sum += a * b;
            }
        }
        let tail: T = a_tail.iter().zip(b_tail).map(|(&a, &b)| a * b).sum();
        // Halves onto halves: a chain of eight additions would take as long as all the rest.
        let [a, b, c, d, e, f, g, h] = sums;
        each(head, ((a + e) + (c + g)) + ((b + f) + (d + h)) + tail);
    }
}

kernel! {
    /// Attention of one word with heads of this size: the last row of the memory is the word itself where distances count.
    fn attend_one(
        seen: Seen<'a, T>,
        query: &'a [T],
        size: usize,
        factor: T,
        scores: &'a mut Buffer<T>,
        context: &'a mut [T],
    ) {
        let (width, heads) = (query.len(), query.len() / size);
        let rows = seen.memory.len() / (2 * width);
        scores.resize(heads * rows, T::ZERO);
        let far = (seen.distances.len() / width).saturating_sub(1);
        for (j, row) in seen.memory.chunks_exact(2 * width).enumerate() {
            heads_product(query, &row[..width], size, |head, x| scores[head * rows + j] = x);
            if !seen.distances.is_empty() {
                let distance = &seen.distances[(rows - 1 - j).min(far) * width..][..width];
                heads_product(seen.distance_query, distance, size, |head, x| scores[head * rows + j] += x);
            }
        }
        for row in scores[..heads * rows].chunks_exact_mut(rows) {
            let share = T::ONE / exponentials(row, factor);
            for x in row.iter_mut() {
                *x *= share;
            }
        }
        context.fill(T::ZERO);
        for (j, row) in seen.memory.chunks_exact(2 * width).enumerate() {
            let heads = context.chunks_exact_mut(size).zip(row[width..].chunks_exact(size));
            for (head, (context, value)) in heads.enumerate() {
                let weight = scores[head * rows + j];
                for (context, &value) in context.iter_mut().zip(value) {
                    *context += weight * value;
                }
            }
        }
    }
}
