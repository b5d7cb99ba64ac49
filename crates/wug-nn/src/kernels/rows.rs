//! Small work on rows: words to vectors and back, sums of columns, dropout, cross-entropy.

use super::isa::{Isa, Kernel, Vectors};
use super::softmax::largest_of;
use crate::Real;

kernel! {
    /// Adds `row` to every row of `out`; the rows begin `stride` apart.
    fn add_row(row: &'a [T], out: &'a mut [T], stride: usize) {
        for out in out.chunks_mut(stride) {
            for (out, &x) in out.iter_mut().zip(row) {
                *out += x;
            }
        }
    }
}

kernel! {
    /// Adds the sum of the rows (`stride` apart, as many columns as `sum` has) to `sum`.
    fn add_columns(rows: &'a [T], stride: usize, sum: &'a mut [T]) {
        for row in rows.chunks(stride) {
            for (sum, &x) in sum.iter_mut().zip(row) {
                *sum += x;
            }
        }
    }
}

kernel! {
    /// `out += x`.
    fn add(x: &'a [T], out: &'a mut [T]) {
        for (out, &x) in out.iter_mut().zip(x) {
            *out += x;
        }
    }
}

kernel! {
    /// `out = out * factor + x`; where `x` ends, nothing is added.
    fn scale_add(factor: T, x: &'a [T], out: &'a mut [T]) {
        let (with, without) = out.split_at_mut(x.len().min(out.len()));
        for (out, &x) in with.iter_mut().zip(x) {
            *out = *out * factor + x;
        }
        for out in without {
            *out *= factor;
        }
    }
}

kernel! {
    /// `out *= factors`, or nothing if there are no factors.
    fn scale_by(factors: &'a [T], out: &'a mut [T]) {
        for (out, &factor) in out.iter_mut().zip(factors) {
            *out *= factor;
        }
    }
}

/// The threshold of dropout, and what keeps the mean.
#[inline(always)]
fn keeping<T: Real>(probability: f64) -> (u32, T) {
    ((probability * f64::from(u32::MAX)) as u32, T::from_f64(1.0 / (1.0 - probability)))
}

/// The random number of element `j`: a mixing of 32 bits that leaves no visible pattern between neighbours.
#[inline(always)]
fn random(key: u64, j: usize) -> u32 {
    let mut x = (j as u32).wrapping_mul(0x9E37_79B9).wrapping_add(key as u32);
    x = (x ^ (x >> 16)).wrapping_mul(0x21F0_AAAD) ^ (key >> 32) as u32;
    x = (x ^ (x >> 15)).wrapping_mul(0x735A_2D97);
    x ^ (x >> 15)
}

kernel! {
    /// Fills the factors of dropout: 0 with this probability, else what keeps the mean. The factor of element `j` depends
    /// on `key` and `j` alone.
    fn dropout(key: u64, probability: f64, factors: &'a mut [T]) {
        let (threshold, keep) = keeping::<T>(probability);
        for (j, factor) in factors.iter_mut().enumerate() {
            *factor = if random(key, j) < threshold { T::ZERO } else { keep };
        }
    }
}

kernel! {
    /// Dropout of whole rows, each by its own key, in place; the same call is the backward context.
    fn drop_rows(keys: &'a [u64], probability: f64, values: &'a mut [T], width: usize) {
        let (threshold, keep) = keeping::<T>(probability);
        for (row, &key) in values.chunks_exact_mut(width).zip(keys) {
            for (j, x) in row.iter_mut().enumerate() {
                *x *= if random(key, j) < threshold { T::ZERO } else { keep };
            }
        }
    }
}

/// Copies the vectors of words.
pub(crate) fn embed<T: Real>(table: &[T], width: usize, words: &[u32], out: &mut [T]) {
    for (&word, out) in words.iter().zip(out.chunks_exact_mut(width)) {
        out.copy_from_slice(&table[word as usize * width..][..width]);
    }
}

/// Adds the gradients of the vectors of words to those of the table.
pub(crate) fn embed_backward<T: Real>(d_out: &[T], width: usize, words: &[u32], d_table: &mut [T]) {
    for (&word, d_out) in words.iter().zip(d_out.chunks_exact(width)) {
        for (d, &d_out) in d_table[word as usize * width..][..width].iter_mut().zip(d_out) {
            *d += d_out;
        }
    }
}

/// The index of the largest, the first of equals.
pub(crate) fn largest<T: Real>(row: &[T]) -> u32 {
    let mut best = 0;
    for (i, &x) in row.iter().enumerate() {
        if x > row[best] {
            best = i;
        }
    }
    best as u32
}

kernel! {
    /// The cross-entropy of the targets, summed; the scores become its gradient times `factor`. Of the probability that is
    /// wanted of a target, the share `smoothing` is spread over all classes.
    fn cross_entropy(scores: &'a mut [T], targets: &'a [u32], factor: T, smoothing: f64) -> f64 {
        let classes = (scores.len() / targets.len().max(1)).max(1);
        let spread = smoothing / classes as f64;
        let mut loss = 0.0;
        for (row, &target) in scores.chunks_exact_mut(classes).zip(targets) {
            let top = largest_of(row);
            let mut right = (1.0 - smoothing) * (row[target as usize] - top).to_f64();
            if smoothing > 0.0 {
                right += spread * row.iter().map(|&score| (score - top).to_f64()).sum::<f64>();
            }
            // The sum is apart because exponentials that are added up one by one are no vectors.
            for score in row.iter_mut() {
                *score = (*score - top).exp();
            }
            let sum: T = row.iter().copied().sum();
            loss += sum.to_f64().ln() - right;
            let share = factor / sum;
            for score in row.iter_mut() {
                *score *= share;
            }
            if smoothing > 0.0 {
                let spread = factor * T::from_f64(spread);
                for score in row.iter_mut() {
                    *score -= spread;
                }
            }
            row[target as usize] -= factor * T::from_f64(1.0 - smoothing);
        }
        loss
    }
}
