//! Additive attention: `score = v . tanh(query + key)`, weights by softmax, the weighted sum of the values.

use super::isa::{Isa, Kernel, Vectors};
use crate::Real;

/// What is attended to: for each query, the rows of its keys and values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources<'a, T> {
    /// Rows of `size` numbers.
    pub(crate) keys: &'a [T],
    pub(crate) size: usize,
    /// Rows of `width` numbers.
    pub(crate) values: &'a [T],
    pub(crate) width: usize,
    /// For query `i`, the rows `rows[i]`.
    pub(crate) rows: &'a [Vec<usize>],
    /// The longest list of rows: how many weights are kept for a query.
    pub(crate) longest: usize,
}

/// The sum of products, in eight sums that are added at the end: one sum could not be a vector.
#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let (a, a_tail) = a.as_chunks::<8>();
    let (b, b_tail) = b.as_chunks::<8>();
    let mut sums = [T::ZERO; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let tail: T = a_tail.iter().zip(b_tail).map(|(&a, &b)| a * b).sum();
    sums.into_iter().sum::<T>() + tail
}

kernel! {
    /// Weights (`longest` for each query, the unused ones 0) and contexts.
    fn attend(
        sources: Sources<'a, T>,
        v: &'a [T],
        queries: &'a [T],
        weights: &'a mut [T],
        contexts: &'a mut [T],
        scratch: &'a mut Vec<T>,
    ) {
        let Sources { keys, size, values, width, rows, longest } = sources;
        scratch.resize(size, T::ZERO);
        for (((query, rows), weights), context) in queries
            .chunks_exact(size)
            .zip(rows)
            .zip(weights.chunks_exact_mut(longest))
            .zip(contexts.chunks_exact_mut(width))
        {
            for (weight, &row) in weights.iter_mut().zip(rows) {
                let key = &keys[row * size..][..size];
                for ((y, &query), &key) in scratch.iter_mut().zip(query).zip(key) {
                    *y = (query + key).tanh();
                }
                *weight = dot(v, scratch);
            }
            let (used, unused) = weights.split_at_mut(rows.len());
            let largest = used.iter().copied().fold(T::from_f64(f64::NEG_INFINITY), |a, b| if b > a { b } else { a });
            let mut sum = T::ZERO;
            for weight in used.iter_mut() {
                *weight = (*weight - largest).exp();
                sum += *weight;
            }
            for weight in used.iter_mut() {
                *weight = *weight / sum;
            }
            unused.fill(T::ZERO);
            context.fill(T::ZERO);
            for (&weight, &row) in used.iter().zip(rows) {
                for (context, &value) in context.iter_mut().zip(&values[row * width..][..width]) {
                    *context += weight * value;
                }
            }
        }
    }
}

/// Where the way back through attention leaves its gradients: all are added to, but the queries', which are replaced.
pub(crate) struct AttentionGradients<'a, T> {
    pub(crate) queries: &'a mut [T],
    pub(crate) keys: &'a mut [T],
    pub(crate) values: &'a mut [T],
    pub(crate) v: &'a mut [T],
}

kernel! {
    /// From the gradient of the contexts to all that they depend on.
    fn attend_backward(
        sources: Sources<'a, T>,
        v: &'a [T],
        queries: &'a [T],
        weights: &'a [T],
        d_contexts: &'a [T],
        gradients: AttentionGradients<'a, T>,
        scratch: &'a mut Vec<T>,
    ) {
        let Sources { keys, size, values, width, rows, longest } = sources;
        scratch.resize(longest, T::ZERO);
        for ((((query, rows), weights), d_context), d_query) in queries
            .chunks_exact(size)
            .zip(rows)
            .zip(weights.chunks_exact(longest))
            .zip(d_contexts.chunks_exact(width))
            .zip(gradients.queries.chunks_exact_mut(size))
        {
            // The softmax needs the mean over all of its weights before the gradient of one. Only differences between the rows
            // count, and those to the first one keep more digits than those to the mean.
            let mut sum = T::ZERO;
            let mut first = None;
            for ((d_score, &weight), &row) in scratch.iter_mut().zip(weights).zip(rows) {
                let value = &values[row * width..][..width];
                let d_weight = dot(d_context, value);
                *d_score = d_weight - *first.get_or_insert(d_weight);
                sum += *d_score * weight;
                for (d_value, &d_context) in gradients.values[row * width..][..width].iter_mut().zip(d_context) {
                    *d_value += weight * d_context;
                }
            }
            d_query.fill(T::ZERO);
            for ((&d_weight, &weight), &row) in scratch.iter().zip(weights).zip(rows) {
                let d_score = weight * (d_weight - sum);
                let key = &keys[row * size..][..size];
                let d_key = &mut gradients.keys[row * size..][..size];
                let (query, v, d_v, d_query) =
                    (&query[..size], &v[..size], &mut gradients.v[..size], &mut d_query[..size]);
                for j in 0..size {
                    let y = (query[j] + key[j]).tanh();
                    let d = d_score * v[j] * (T::ONE - y * y);
                    d_v[j] += d_score * y;
                    d_key[j] += d;
                    d_query[j] += d;
                }
            }
        }
    }
}
