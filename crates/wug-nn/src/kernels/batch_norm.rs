//! Batch normalisation: every column of a matrix gets mean 0 and variance 1. Rows come in blocks, which threads share; what
//! they find of a block is put together in order backend.

use super::isa::{Isa, Kernel, Vectors};
use crate::Real;

/// Columns whose sums are in registers: sums in memory would wait for themselves from row to row.
const SPAN: usize = 32;

kernel! {
    /// The means of the columns of a block of rows, and the sums of the squares of what deviates from them.
    fn moments(x: &'a [T], mean: &'a mut [T], squares: &'a mut [T]) {
        let width = mean.len();
        let share = T::from_f64(1.0 / (x.len() / width).max(1) as f64);
        let mut column = 0;
        while column < width {
            let rows = x.chunks_exact(width).map(|row| &row[column..]);
            let (mean, squares) = (&mut mean[column..], &mut squares[column..]);
            column += match width - column {
                SPAN.. => moments_of::<T, SPAN>(rows, share, mean, squares),
                8.. => moments_of::<T, 8>(rows, share, mean, squares),
                _ => moments_of::<T, 1>(rows, share, mean, squares),
            };
        }
    }
}

/// The same for the first columns; their number.
#[inline(always)]
fn moments_of<'x, T: Real, const N: usize>(
    rows: impl Iterator<Item = &'x [T]> + Clone,
    share: T,
    mean: &mut [T],
    squares: &mut [T],
) -> usize {
    let first = |row: &[T]| -> [T; N] { *row.first_chunk().expect("as many columns") };
    let mut sums = [T::ZERO; N];
    for row in rows.clone() {
        for (sum, x) in sums.iter_mut().zip(first(row)) {
            *sum += x;
        }
    }
    let means = sums.map(|sum| sum * share);
    let mut sums = [T::ZERO; N];
    for row in rows {
        for ((sum, x), mean) in sums.iter_mut().zip(first(row)).zip(means) {
            *sum += (x - mean) * (x - mean);
        }
    }
    mean[..N].copy_from_slice(&means);
    squares[..N].copy_from_slice(&sums);
    N
}

kernel! {
    /// `y = x * scale + shift`, plus what is beside it if there is something, and what is negative becomes 0 if it is
    /// to be rectified.
    fn batch_norm(x: &'a [T], scale: &'a [T], shift: &'a [T], beside: &'a [T], rectify: bool, y: &'a mut [T]) {
        let width = scale.len();
        let least = if rectify { T::ZERO } else { T::from_f64(f64::NEG_INFINITY) };
        if beside.is_empty() {
            for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
                for (((y, &x), &scale), &shift) in y.iter_mut().zip(x).zip(scale).zip(shift) {
                    let sum = x * scale + shift;
                    *y = if sum > least { sum } else { least };
                }
            }
        } else {
            let rows = x.chunks_exact(width).zip(beside.chunks_exact(width)).zip(y.chunks_exact_mut(width));
            for ((x, beside), y) in rows {
                let row = y.iter_mut().zip(x).zip(beside);
                for (((y, (&x, &beside)), &scale), &shift) in
                    row.map(|((y, x), beside)| (y, (x, beside))).zip(scale).zip(shift)
                {
                    let sum = x * scale + shift + beside;
                    *y = if sum > least { sum } else { least };
                }
            }
        }
    }
}

kernel! {
    /// The gradient before rectification, in place, where `y` is what it left; all of it if there is no `y`.
    fn rectify_backward(y: &'a [T], d: &'a mut [T]) {
        for (d, &y) in d.iter_mut().zip(y) {
            *d = if y > T::ZERO { *d } else { T::ZERO };
        }
    }
}

kernel! {
    /// The sums over a block of rows of the gradient, and of its products with what deviates from the mean. The gradient is
    /// first that before rectification, in place, where `y` is what it left; there may be no `y`.
    fn batch_norm_sums(
        x: &'a [T],
        y: &'a [T],
        mean: &'a [T],
        d: &'a mut [T],
        sum: &'a mut [T],
        product: &'a mut [T],
    ) {
        let width = mean.len();
        let mut column = 0;
        while column < width {
            let data = (x, y, &mut *d);
            let (mean, sums) = (&mean[column..], (&mut sum[column..], &mut product[column..]));
            column += match width - column {
                SPAN.. => sums_of::<T, SPAN>(data, (width, column), mean, sums),
                8.. => sums_of::<T, 8>(data, (width, column), mean, sums),
                _ => sums_of::<T, 1>(data, (width, column), mean, sums),
            };
        }
    }
}

/// The same for the columns from one on; their number.
#[inline(always)]
fn sums_of<T: Real, const N: usize>(
    (x, y, d): (&[T], &[T], &mut [T]),
    (width, column): (usize, usize),
    mean: &[T],
    (sum, product): (&mut [T], &mut [T]),
) -> usize {
    let first = |row: &[T]| -> [T; N] { *row.first_chunk().expect("as many columns") };
    let mean = first(mean);
    let (mut sums, mut products) = ([T::ZERO; N], [T::ZERO; N]);
    let mut add = |x: &[T], d: &[T; N]| {
        let x = first(&x[column..]);
        for i in 0..N {
            sums[i] += d[i];
            products[i] += d[i] * (x[i] - mean[i]);
        }
    };
    if y.is_empty() {
        for (x, d) in x.chunks_exact(width).zip(d.chunks_exact(width)) {
            add(x, &first(&d[column..]));
        }
    } else {
        let rows = x.chunks_exact(width).zip(y.chunks_exact(width));
        for ((x, y), d) in rows.zip(d.chunks_exact_mut(width)) {
            let y = first(&y[column..]);
            let d: &mut [T; N] = d[column..].first_chunk_mut().expect("as many columns");
            for (d, y) in d.iter_mut().zip(y) {
                *d = if y > T::ZERO { *d } else { T::ZERO };
            }
            add(x, d);
        }
    }
    sum[..N].copy_from_slice(&sums);
    product[..N].copy_from_slice(&products);
    N
}

kernel! {
    /// The gradient of `x`, in place: `d * scale - (x - mean) * slope - less`.
    fn batch_norm_backward(
        x: &'a [T],
        mean: &'a [T],
        scale: &'a [T],
        slope: &'a [T],
        less: &'a [T],
        d: &'a mut [T],
    ) {
        let width = mean.len();
        for (x, d) in x.chunks_exact(width).zip(d.chunks_exact_mut(width)) {
            let columns = mean.iter().zip(scale).zip(slope.iter().zip(less));
            for ((d, &x), ((&mean, &scale), (&slope, &less))) in d.iter_mut().zip(x).zip(columns) {
                *d = *d * scale - (x - mean) * slope - less;
            }
        }
    }
}
