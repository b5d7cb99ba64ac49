use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::kernels::Lanes;

/// What the kernels compute with: `f32` in training, `f64` where a test wants to see the mathematics.
///
/// For `f32` the exponential is ours, made of additions and multiplications that no compiler may reorder, because the
/// one of the system differs from machine to machine and cannot be vectorised.
pub trait Real:
    Lanes
    + Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The nearest number to this one.
    fn from_f64(number: f64) -> Self;

    /// As a number of double precision.
    fn to_f64(self) -> f64;

    /// e to this power; for `f32` within 2 units in the last place, and 0 below -87.
    #[must_use]
    fn exp(self) -> Self;

    /// The square root.
    #[must_use]
    fn sqrt(self) -> Self;

    /// The logistic function.
    #[inline(always)]
    #[must_use]
    fn sigmoid(self) -> Self {
        Self::ONE / (Self::ONE + (-self).exp())
    }

    /// The hyperbolic tangent; for `f32` within 2 units in the last place, near 0 too.
    #[must_use]
    fn tanh(self) -> Self;
}

/// e^x as 2^n * (1 + p) with n whole: returns p and 2^n. Both are what a sum or a difference with 1 needs to lose nothing.
///
/// |r| <= ln(2)/2 for the rest r of x. Adding 1.5 * 2^23 rounds x/ln(2) to n and leaves n in the low bits of the sum, from
/// where a shift makes it the exponent of 2^n.
#[inline(always)]
fn exp_parts(x: f32) -> (f32, f32) {
    const ROUND: f32 = 12_582_912.0;
    // ln(2) in two parts, the first exact in few bits, so that n * LN_2_HIGH is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let sum = x * std::f32::consts::LOG2_E + ROUND;
    let n = sum - ROUND;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    // The Taylor series: the first term left out is below 1e-8 at |r| = 0.35.
    let tail = r * (1.0 / 5040.0) + 1.0 / 720.0;
    let tail = tail * r + 1.0 / 120.0;
    let tail = tail * r + 1.0 / 24.0;
    let tail = tail * r + 1.0 / 6.0;
    let tail = tail * r + 0.5;
    (tail * (r * r) + r, f32::from_bits(sum.to_bits().wrapping_add(127) << 23))
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn from_f64(number: f64) -> Self {
        number as Self
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn exp(self) -> Self {
        let (p, power) = exp_parts(self);
        (p + 1.0) * power
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        // 1 - 2 / (e^2x + 1), and near 0, where that would lose most of its digits, (e^2x - 1) / (e^2x + 1). Of |x|, because
        // for negative numbers both lose more.
        let size = self.abs();
        let (p, power) = exp_parts(2.0 * size);
        let less_one = p * power + (power - 1.0);
        let (above, start) = if size < 0.5 { (less_one, 0.0) } else { (-2.0, 1.0) };
        (start + above / (less_one + 2.0)).copysign(self)
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn from_f64(number: f64) -> Self {
        number
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn exp(self) -> Self {
        f64::exp(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        f64::tanh(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_exact_to_two_units() {
        for i in -870_000..880_000 {
            let x = i as f32 * 1e-4;
            let (ours, exact) = (Real::exp(x).to_f64(), f64::from(x).exp());
            assert!((ours / exact - 1.0).abs() < 2.4e-7, "exp({x}) = {ours}, not {exact}");
        }
        assert_eq!(Real::exp(0f32), 1.0);
        assert!(Real::exp(-1e30f32) < 1e-37);
        assert!(Real::exp(f32::NAN).is_nan());
    }

    #[test]
    fn the_squashing_functions_are_near_and_bounded() {
        for i in -30_000..30_000 {
            let x = i as f32 * 1e-3;
            let exact = f64::from(x).tanh();
            assert!((Real::tanh(x).to_f64() - exact).abs() <= 2.4e-7 * exact.abs(), "tanh({x})");
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((x.sigmoid().to_f64() - exact).abs() < 2e-7, "sigmoid({x})");
        }
        // As near 0 as backend: gradients are products of many of these.
        for x in [1e-30f32, -1e-12, 1e-7, 3e-5, -0.01] {
            assert!((Real::tanh(x).to_f64() / f64::from(x).tanh() - 1.0).abs() < 2.4e-7, "tanh({x})");
        }
        assert!(Real::tanh(f32::NAN).is_nan());
        assert_eq!(Real::tanh(1e30f32), 1.0);
        assert_eq!(Real::tanh(-1e30f32), -1.0);
    }
}
