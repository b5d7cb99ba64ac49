//! Batch normalisation: every column of a matrix gets mean 0 and variance 1. Rows come in blocks, which threads share; what
//! they find of a block is put together in order backend.

use super::isa::{Isa, Kernel, Vectors};
use crate::Real;

kernel! {
    /// The means of the columns of a block of rows, and the sums of the squares of what deviates from them.
    fn moments(x: &'a [T], mean: &'a mut [T], squares: &'a mut [T]) {
        let width = mean.len();
        let share = T::from_f64(1.0 / (x.len() / width).max(1) as f64);
        mean.fill(T::ZERO);
        squares.fill(T::ZERO);
        for row in x.chunks_exact(width) {
            for (mean, &x) in mean.iter_mut().zip(row) {
                *mean += x;
            }
        }
        for mean in mean.iter_mut() {
            *mean *= share;
        }
        for row in x.chunks_exact(width) {
            for ((square, &mean), &x) in squares.iter_mut().zip(mean.iter()).zip(row) {
                *square += (x - mean) * (x - mean);
            }
        }
    }
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
    /// The sums over a block of rows of the gradient, and of its products with what deviates from the mean.
    fn batch_norm_sums(x: &'a [T], mean: &'a [T], d: &'a [T], sum: &'a mut [T], product: &'a mut [T]) {
        let width = mean.len();
        sum.fill(T::ZERO);
        product.fill(T::ZERO);
        for (x, d) in x.chunks_exact(width).zip(d.chunks_exact(width)) {
            let sums = sum.iter_mut().zip(product.iter_mut());
            for (((&x, &d), &mean), (sum, product)) in x.iter().zip(d).zip(mean).zip(sums) {
                *sum += d;
                *product += d * (x - mean);
            }
        }
    }
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
