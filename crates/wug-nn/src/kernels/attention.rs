//! Attention: scores of the keys by a query, additive (`v . tanh(query + key)`) or dot products, weights by softmax, the
//! weighted sum of the values.

use super::isa::{Isa, Kernel, Vectors};
use super::lanes::LANES;
use crate::{Real, Steps};

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

/// The sum of products, in 32 sums that are added at the end: one sum could not be a vector, and one vector would wait for itself.
#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let (a, a_tail) = a.as_chunks::<32>();
    let (b, b_tail) = b.as_chunks::<32>();
    let mut sums = [T::ZERO; 32];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..32 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let tail: T = a_tail.iter().zip(b_tail).map(|(&a, &b)| a * b).sum();
    sums.into_iter().sum::<T>() + tail
}

/// Adds weighted rows. Of some columns all rows are added before the next columns, so that the sums stay in registers.
#[inline(always)]
fn add_weighted<'a, T: Real, V: Vectors>(out: &mut [T], rows: impl Iterator<Item = (T, &'a [T])> + Clone) {
    let (blocks, tail) = out.as_chunks_mut::<{ 2 * LANES }>();
    let done = blocks.len() * 2 * LANES;
    for (i, block) in blocks.iter_mut().enumerate() {
        let (sums, _) = block.as_chunks_mut::<LANES>();
        let mut two = [sums[0], sums[1]];
        for (weight, row) in rows.clone() {
            let (row, _) = row[i * 2 * LANES..][..2 * LANES].as_chunks::<LANES>();
            T::multiply_add::<V, LANES>(&mut two[0], weight, &row[0]);
            T::multiply_add::<V, LANES>(&mut two[1], weight, &row[1]);
        }
        sums.copy_from_slice(&two);
    }
    for (weight, row) in rows {
        for (out, &x) in tail.iter_mut().zip(&row[done..]) {
            *out += weight * x;
        }
    }
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
            gather::<T, V>(values, width, rows, weights, context);
        }
    }
}

/// Scores become weights by softmax, the unused ones 0; the context is the weighted sum of the values.
#[inline(always)]
fn gather<T: Real, V: Vectors>(
    values: &[T],
    width: usize,
    rows: &[usize],
    weights: &mut [T],
    context: &mut [T],
) {
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
    add_weighted::<T, V>(
        context,
        used.iter().zip(rows).map(|(&weight, &row)| (weight, &values[row * width..])),
    );
}

kernel! {
    /// Adds to rows of `out`, which begin `stride` apart, what the weights make of rows of `width` numbers.
    fn mix(
        values: &'a [T],
        width: usize,
        rows: &'a [Vec<usize>],
        weights: &'a [T],
        longest: usize,
        out: &'a mut [T],
        stride: usize,
    ) {
        for ((rows, weights), out) in
            rows.iter().zip(weights.chunks_exact(longest)).zip(out.chunks_exact_mut(stride))
        {
            let terms = weights.iter().zip(rows).map(|(&weight, &row)| (weight, &values[row * width..]));
            add_weighted::<T, V>(&mut out[..width], terms);
        }
    }
}

kernel! {
    /// The way back from mixtures to their values, whose gradients are replaced, of all steps at once: each row is added up while
    /// it is near, not all rows in each step.
    fn mix_backward(
        steps: &'a Steps,
        rows: &'a [Vec<usize>],
        weights: &'a [T],
        longest: usize,
        d: &'a [T],
        stride: usize,
        d_values: &'a mut [T],
        width: usize,
    ) {
        for (i, rows) in rows.iter().enumerate() {
            let places = (0..steps.len()).rev().filter(|&t| steps.rows(t) > i).map(|t| steps.start(t) + i);
            for (source, &row) in rows.iter().enumerate() {
                let d_value = &mut d_values[row * width..][..width];
                d_value.fill(T::ZERO);
                let terms = places.clone().map(|at| (weights[at * longest + source], &d[at * stride..]));
                add_weighted::<T, V>(d_value, terms);
            }
        }
    }
}

/// The way back through [`gather`] to the scores.
///
/// The softmax needs the mean over all of its weights before the gradient of one. Only differences between the rows count,
/// and those to the first one keep more digits than those to the mean. `mixed` and its gradient are what [`mix`] has mixed by the
/// same weights, if it has.
#[inline(always)]
fn gather_backward<T: Real>(
    (values, width): (&[T], usize),
    rows: &[usize],
    weights: &[T],
    d_context: &[T],
    d_scores: &mut [T],
    mixed: Option<(Mixed<'_, T>, &[T])>,
) {
    let mut mean = T::ZERO;
    let mut first = None;
    for ((d_score, &weight), &row) in d_scores.iter_mut().zip(weights).zip(rows) {
        let mut d_weight = dot(d_context, &values[row * width..][..width]);
        if let Some((mixed, d)) = mixed {
            d_weight += dot(d, &mixed.values[row * mixed.width..][..mixed.width]);
        }
        *d_score = d_weight - *first.get_or_insert(d_weight);
        mean += *d_score * weight;
    }
    for ((d_score, &weight), _) in d_scores.iter_mut().zip(weights).zip(rows) {
        *d_score = weight * (*d_score - mean);
    }
}

kernel! {
    /// The same with scores that are dot products of queries and keys.
    fn attend_dot(sources: Sources<'a, T>, queries: &'a [T], weights: &'a mut [T], contexts: &'a mut [T]) {
        let Sources { keys, size, values, width, rows, longest } = sources;
        for (((query, rows), weights), context) in queries
            .chunks_exact(size)
            .zip(rows)
            .zip(weights.chunks_exact_mut(longest))
            .zip(contexts.chunks_exact_mut(width))
        {
            for (weight, &row) in weights.iter_mut().zip(rows) {
                *weight = dot(query, &keys[row * size..][..size]);
            }
            gather::<T, V>(values, width, rows, weights, context);
        }
    }
}

kernel! {
    /// The way back through [`attend_dot`] whose keys are its values; all gradients are added to.
    fn attend_dot_backward(
        sources: Sources<'a, T>,
        queries: &'a [T],
        weights: &'a [T],
        d_contexts: &'a [T],
        d_queries: &'a mut [T],
        d_values: &'a mut [T],
        scratch: &'a mut Vec<T>,
    ) {
        let Sources { size, values, width, rows, longest, .. } = sources;
        scratch.resize(longest, T::ZERO);
        for ((((query, rows), weights), d_context), d_query) in queries
            .chunks_exact(size)
            .zip(rows)
            .zip(weights.chunks_exact(longest))
            .zip(d_contexts.chunks_exact(width))
            .zip(d_queries.chunks_exact_mut(size))
        {
            gather_backward((values, width), rows, weights, d_context, scratch, None);
            for ((&d_score, &weight), &row) in scratch.iter().zip(weights).zip(rows) {
                for (d, &value) in d_query.iter_mut().zip(&values[row * width..][..width]) {
                    *d += d_score * value;
                }
                let d_value = &mut d_values[row * width..][..width];
                for ((d, &d_context), &query) in d_value.iter_mut().zip(d_context).zip(query) {
                    *d = *d + weight * d_context + d_score * query;
                }
            }
        }
    }
}

/// What [`mix`] has mixed, for the way back to the weights.
#[derive(Clone, Copy)]
pub(crate) struct Mixed<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) width: usize,
    /// The gradient of the mixtures, whose rows begin `stride` apart.
    pub(crate) d: &'a [T],
    pub(crate) stride: usize,
}

/// Where the way back through attention leaves its gradients: all are added to, but the queries', which are replaced.
pub(crate) struct AttentionGradients<'a, T> {
    pub(crate) queries: &'a mut [T],
    pub(crate) keys: &'a mut [T],
    pub(crate) v: &'a mut [T],
}

kernel! {
    /// From the gradient of the contexts, and of what was mixed by the same weights, to all that they depend on but the values:
    /// see [`mix_backward`].
    fn attend_backward(
        sources: Sources<'a, T>,
        v: &'a [T],
        queries: &'a [T],
        weights: &'a [T],
        d_contexts: &'a [T],
        mixed: Option<Mixed<'a, T>>,
        gradients: AttentionGradients<'a, T>,
        scratch: &'a mut Vec<T>,
    ) {
        let Sources { keys, size, values, width, rows, longest } = sources;
        let AttentionGradients { queries: d_queries, keys: d_keys, v: d_v } = gradients;
        scratch.resize(longest + size, T::ZERO);
        let (scratch, tanhs) = scratch.split_at_mut(longest);
        for (i, ((((query, rows), weights), d_context), d_query)) in queries
            .chunks_exact(size)
            .zip(rows)
            .zip(weights.chunks_exact(longest))
            .zip(d_contexts.chunks_exact(width))
            .zip(d_queries.chunks_exact_mut(size))
            .enumerate()
        {
            let mixed = mixed.map(|mixed| (mixed, &mixed.d[i * mixed.stride..][..mixed.width]));
            gather_backward((values, width), rows, weights, d_context, scratch, mixed);
            d_query.fill(T::ZERO);
            for (&d_score, &row) in scratch.iter().zip(rows) {
                let key = &keys[row * size..][..size];
                let d_key = &mut d_keys[row * size..][..size];
                // One output in each loop: with all at once the compiler makes no vectors.
                for ((y, &query), &key) in tanhs.iter_mut().zip(query).zip(key) {
                    *y = (query + key).tanh();
                }
                for (d, &y) in d_v.iter_mut().zip(tanhs.iter()) {
                    *d += d_score * y;
                }
                for (y, &v) in tanhs.iter_mut().zip(v) {
                    *y = d_score * v * (T::ONE - *y * *y);
                }
                for (d, &y) in d_key.iter_mut().zip(tanhs.iter()) {
                    *d += y;
                }
                for (d, &y) in d_query.iter_mut().zip(tanhs.iter()) {
                    *d += y;
                }
            }
        }
    }
}
