//! The functions between the two products of a feed-forward layer.

use super::isa::{Isa, Kernel, Vectors};
use crate::Real;

/// The share of a normal distribution below `x`, and its density there; the share is within 1e-7 (Abramowitz and Stegun,
/// 7.1.26).
#[inline(always)]
pub(crate) fn normal<T: Real>(x: T) -> (T, T) {
    let of = |number: f64| T::from_f64(number);
    let z = if x < T::ZERO { -x } else { x } * of(std::f64::consts::FRAC_1_SQRT_2);
    let t = T::ONE / (T::ONE + of(0.327_591_1) * z);
    let series = of(1.061_405_429) * t - of(1.453_152_027);
    let series = (series * t + of(1.421_413_741)) * t - of(0.284_496_736);
    let series = (series * t + of(0.254_829_592)) * t;
    let bell = (-(z * z)).exp();
    let beyond = of(0.5) * series * bell;
    let below = if x < T::ZERO { beyond } else { T::ONE - beyond };
    // 1 / sqrt(2 pi)
    (below, bell * of(0.398_942_280_401_432_7))
}

kernel! {
    /// `x = max(x + bias, 0)`.
    fn relu(bias: &'a [T], x: &'a mut [T]) {
        for row in x.chunks_exact_mut(bias.len()) {
            for (x, &bias) in row.iter_mut().zip(bias) {
                let sum = *x + bias;
                *x = if sum > T::ZERO { sum } else { T::ZERO };
            }
        }
    }
}

kernel! {
    /// From the gradient of `y` to that of its sum. Where dropout has made zeros of some of `y` and has multiplied the
    /// others by `factor`, the gradient goes the same way.
    fn relu_backward(y: &'a [T], factor: T, d: &'a mut [T]) {
        for (d, &y) in d.iter_mut().zip(y) {
            *d = if y > T::ZERO { *d * factor } else { T::ZERO };
        }
    }
}

kernel! {
    /// `x += bias`, `y = x * (share of a normal distribution below x)`.
    fn gelu(bias: &'a [T], x: &'a mut [T], y: &'a mut [T]) {
        for (x, y) in x.chunks_exact_mut(bias.len()).zip(y.chunks_exact_mut(bias.len())) {
            for ((x, y), &bias) in x.iter_mut().zip(y).zip(bias) {
                *x += bias;
                *y = *x * normal(*x).0;
            }
        }
    }
}

kernel! {
    /// From the gradient of `y` to that of `x`.
    fn gelu_backward(x: &'a [T], d: &'a mut [T]) {
        for (d, &x) in d.iter_mut().zip(x) {
            let (below, density) = normal(x);
            *d *= below + x * density;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of a normal distribution below `x`, from a series without cancellation.
    fn below(x: f64) -> f64 {
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term.abs() > 1e-17 {
            n += 2.0;
            term *= x * x / n;
            sum += term;
        }
        0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }

    #[test]
    fn gelu_is_near_its_definition() {
        for i in -8_000..8_000 {
            let x = i as f32 * 1e-3;
            let exact = below(f64::from(x));
            let (share, density) = normal(x);
            assert!((f64::from(share) - exact).abs() < 3e-7, "below {x}: {share}, not {exact}");
            let bell = (-f64::from(x).powi(2) / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
            assert!((f64::from(density) - bell).abs() < 1e-7, "density of {x}");
        }
    }
}
