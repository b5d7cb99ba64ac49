//! Attention: scores of the keys by a query, additive (`v . tanh(query + key)`) or dot products, weights by softmax, the
//! weighted sum of the values.

use super::isa::{Isa, Kernel, Vectors};
use super::lanes::LANES;
use crate::{Buffer, Real, Steps};

/// e^2x of rows of numbers: tanh(a + b) is 1 - 2 / (e^2a e^2b + 1), which takes a quarter of the time where one `a` meets many
/// `b`.
#[derive(Debug, Default)]
pub(crate) struct Powers<T> {
    pub(crate) of: Buffer<T>,
    /// Which rows have powers that are neither too large nor too small to be multiplied.
    within: Vec<bool>,
}

impl<T: Real> Powers<T> {
    /// Of rows of `size` numbers, in this room.
    pub(crate) fn new(isa: Isa, rows: &[T], size: usize, mut room: Buffer<T>) -> Self {
        room.resize(rows.len(), T::ZERO);
        let mut within = vec![false; rows.len() / size];
        powers(isa, rows, size, &mut room, &mut within);
        Self { of: room, within }
    }

    #[inline(always)]
    fn row(&self, row: usize, size: usize) -> Option<&[T]> {
        self.within[row].then(|| &self.of[row * size..][..size])
    }
}

/// e^2x of a row. Whether all of them are within what can be multiplied: even where a product of two such is infinite or 0, the
/// tangent is right.
#[inline(always)]
fn power_row<T: Real>(row: &[T], out: &mut [T]) -> bool {
    let limit = T::from_f64(40.0);
    let mut outside = false;
    for (out, &x) in out.iter_mut().zip(row) {
        *out = (x + x).exp();
    }
    for &x in row {
        outside |= !(-limit <= x && x <= limit);
    }
    !outside
}

kernel! {
    /// Each row by [`power_row`].
    fn powers(rows: &'a [T], size: usize, out: &'a mut [T], within: &'a mut [bool]) {
        for ((row, out), within) in rows.chunks_exact(size).zip(out.chunks_exact_mut(size)).zip(within) {
            *within = power_row(row, out);
        }
    }
}

/// `out = tanh(a + b)`, by their powers where both are there.
#[inline(always)]
fn tanh_of_sums<T: Real>(a: (&[T], Option<&[T]>), b: (&[T], Option<&[T]>), out: &mut [T]) {
    if let (Some(a), Some(b)) = (a.1, b.1) {
        let two = T::from_f64(2.0);
        for ((y, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *y = T::ONE - two / (a * b + T::ONE);
        }
    } else {
        for ((y, &a), &b) in out.iter_mut().zip(a.0).zip(b.0) {
            *y = (a + b).tanh();
        }
    }
}

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
        key_powers: &'a Powers<T>,
        v: &'a [T],
        queries: &'a [T],
        weights: &'a mut [T],
        contexts: &'a mut [T],
        scratch: &'a mut Buffer<T>,
    ) {
        let Sources { keys, size, values, width, rows, longest } = sources;
        scratch.resize(2 * size, T::ZERO);
        let (tanhs, power) = scratch.split_at_mut(size);
        for (((query, rows), weights), context) in queries
            .chunks_exact(size)
            .zip(rows)
            .zip(weights.chunks_exact_mut(longest))
            .zip(contexts.chunks_exact_mut(width))
        {
            let query = (query, power_row(query, power).then_some(&*power));
            for (weight, &row) in weights.iter_mut().zip(rows) {
                tanh_of_sums(query, (&keys[row * size..][..size], key_powers.row(row, size)), tanhs);
                *weight = dot(v, tanhs);
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
    /// The backward pass from mixtures to their values, whose gradients are replaced, of all steps at once: each row is added up while
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

/// The backward pass through [`gather`] to the scores.
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
    /// The backward pass through [`attend_dot`] whose keys are its values; all gradients are added to.
    fn attend_dot_backward(
        sources: Sources<'a, T>,
        queries: &'a [T],
        weights: &'a [T],
        d_contexts: &'a [T],
        d_queries: &'a mut [T],
        d_values: &'a mut [T],
        scratch: &'a mut Buffer<T>,
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

/// What [`mix`] has mixed, for the backward pass to the weights.
#[derive(Clone, Copy)]
pub(crate) struct Mixed<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) width: usize,
    /// The gradient of the mixtures, whose rows begin `stride` apart.
    pub(crate) d: &'a [T],
    pub(crate) stride: usize,
}

/// Where the backward pass through attention leaves its gradients: all are added to, but the queries', which are replaced.
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
        key_powers: &'a Powers<T>,
        v: &'a [T],
        queries: &'a [T],
        weights: &'a [T],
        d_contexts: &'a [T],
        mixed: Option<Mixed<'a, T>>,
        gradients: AttentionGradients<'a, T>,
        scratch: &'a mut Buffer<T>,
    ) {
        let Sources { keys, size, values, width, rows, longest } = sources;
        let AttentionGradients { queries: d_queries, keys: d_keys, v: d_v } = gradients;
        scratch.resize(longest + 2 * size, T::ZERO);
        let (scratch, rest) = scratch.split_at_mut(longest);
        let (tanhs, power) = rest.split_at_mut(size);
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
            let query = (query, power_row(query, power).then_some(&*power));
            for (&d_score, &row) in scratch.iter().zip(rows) {
                tanh_of_sums(query, (&keys[row * size..][..size], key_powers.row(row, size)), tanhs);
                let d_key = &mut d_keys[row * size..][..size];
                // One output in each loop: with all at once the compiler makes no vectors.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_of_sums_are_right_where_powers_are_within_and_where_not() {
        let ends = [-1e30f32, -300.0, -88.5, -45.0, -40.0, -39.9, 39.9, 40.0, 45.0, 88.5, 300.0, 1e30];
        let a: Vec<f32> = (-400..=400).map(|i| i as f32 * 0.1).chain(ends).collect();
        let mut by_powers = 0;
        for &x in &a {
            // A row of one number each, and the same number among others.
            for b in [a.iter().map(|_| x).collect::<Vec<f32>>(), a.iter().map(|a| x - a).collect()] {
                let both: Vec<f32> = a.iter().chain(&b).copied().collect();
                let powers = Powers::new(Isa::best(), &both, 1, Buffer::default());
                for i in 0..a.len() {
                    let mut y = [0.0];
                    let (left, right) = (powers.row(i, 1), powers.row(a.len() + i, 1));
                    by_powers += usize::from(left.is_some() && right.is_some());
                    tanh_of_sums((&a[i..=i], left), (&b[i..=i], right), &mut y);
                    // Where the sum itself is rounded, its tangent is as wrong.
                    let exact = if left.and(right).is_some() {
                        (f64::from(a[i]) + f64::from(b[i])).tanh()
                    } else {
                        f64::from(a[i] + b[i]).tanh()
                    };
                    assert!((f64::from(y[0]) - exact).abs() < 4e-7, "tanh({} + {}) = {}", a[i], b[i], y[0]);
                }
            }
        }
        assert!(by_powers > 900_000, "{by_powers} by powers");
        assert!(Powers::new(Isa::best(), &[1.0f32, f32::NAN], 2, Buffer::default()).row(0, 2).is_none());
    }
}
