//! Layer normalisation, and the residual sum before or after it.

use super::isa::{Isa, Kernel, Vectors};
use crate::Real;

/// What is added to the variance.
const EPSILON: f64 = 1e-5;

/// The sum of a function of the columns, in eight sums that are added at the end: one sum could not be a vector.
#[inline(always)]
fn sum<T: Real>(width: usize, of: impl Fn(usize) -> T) -> T {
    let mut sums = [T::ZERO; 8];
    let whole = width / 8 * 8;
    for first in (0..whole).step_by(8) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += of(first + lane);
        }
    }
    let tail: T = (whole..width).map(of).sum();
    sums.into_iter().sum::<T>() + tail
}

kernel! {
    /// `out = x + (out + bias)`, where there may be no bias.
    fn residual(x: &'a [T], bias: &'a [T], out: &'a mut [T], width: usize) {
        for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            if bias.is_empty() {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out += x;
                }
            } else {
                for ((out, &x), &bias) in out.iter_mut().zip(x).zip(bias) {
                    *out += x + bias;
                }
            }
        }
    }
}

kernel! {
    /// Makes every row of `x` one of mean 0 and variance 1, which stays there for the backward context, and writes
    /// `x * scale + shift` to `y`. `inverse_std` gets one over the deviation of each row.
    fn normalise(
        x: &'a mut [T],
        scale: &'a [T],
        shift: &'a [T],
        inverse_std: &'a mut [T],
        y: &'a mut [T],
    ) {
        let width = scale.len();
        let share = T::from_f64(1.0 / width as f64);
        for ((x, y), inverse_std) in x.chunks_exact_mut(width).zip(y.chunks_exact_mut(width)).zip(inverse_std) {
            let mean = sum(width, |j| x[j]) * share;
            let variance = sum(width, |j| (x[j] - mean) * (x[j] - mean)) * share;
            *inverse_std = T::ONE / (variance + T::from_f64(EPSILON)).sqrt();
            for (((x, y), &scale), &shift) in x.iter_mut().zip(y).zip(scale).zip(shift) {
                *x = (*x - mean) * *inverse_std;
                *y = *x * scale + shift;
            }
        }
    }
}

kernel! {
    /// From the gradient of `y` to that of `x` (in place), `scale` and `shift` (both added to). `x` is what
    /// `normalise` has left.
    fn normalise_backward(
        x: &'a [T],
        scale: &'a [T],
        inverse_std: &'a [T],
        d: &'a mut [T],
        d_scale: &'a mut [T],
        d_shift: &'a mut [T],
    ) {
        let width = scale.len();
        let share = T::from_f64(1.0 / width as f64);
        for ((x, d), &inverse_std) in x.chunks_exact(width).zip(d.chunks_exact_mut(width)).zip(inverse_std) {
            for ((((d, &x), &scale), d_scale), d_shift) in
                d.iter_mut().zip(x).zip(scale).zip(d_scale.iter_mut()).zip(d_shift.iter_mut())
            {
                *d_scale += *d * x;
                *d_shift += *d;
                *d *= scale;
            }
            let mean = sum(width, |j| d[j]) * share;
            let slope = sum(width, |j| d[j] * x[j]) * share;
            for (d, &x) in d.iter_mut().zip(x) {
                *d = (*d - mean - x * slope) * inverse_std;
            }
        }
    }
}
