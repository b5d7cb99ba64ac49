//! One pass over the flat buffer of all parameters.

use super::isa::{Isa, Kernel, Vectors};
use crate::Real;

kernel! {
    /// The sum of squares, in double precision.
    fn squares(values: &'a [T]) -> f64 {
        let mut sums = [0f64; 8];
        let (blocks, tail) = values.as_chunks::<8>();
        for block in blocks {
            for (sum, &x) in sums.iter_mut().zip(block) {
                *sum += x.to_f64() * x.to_f64();
            }
        }
        sums.into_iter().sum::<f64>() + tail.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>()
    }
}

/// What a step of Adam needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdamStep {
    /// Learning rate over the bias correction of the mean.
    pub(crate) rate: f64,
    /// The square root of the bias correction of the squares.
    pub(crate) correction: f64,
    pub(crate) beta1: f64,
    pub(crate) beta2: f64,
    pub(crate) epsilon: f64,
    /// Factor of the gradient, from clipping.
    pub(crate) factor: f64,
    /// Share of the parameter that is added to its gradient.
    pub(crate) weight_decay: f64,
}

kernel! {
    /// One step of Adam.
    fn adam(step: AdamStep, values: &'a mut [T], gradients: &'a [T], means: &'a mut [T], squares: &'a mut [T]) {
        let of = |x: f64| T::from_f64(x);
        let (rate, correction, epsilon) = (of(step.rate), of(step.correction), of(step.epsilon));
        let (beta1, rest1) = (of(step.beta1), of(1.0 - step.beta1));
        let (beta2, rest2) = (of(step.beta2), of(1.0 - step.beta2));
        let (factor, weight_decay) = (of(step.factor), of(step.weight_decay));
        for (((x, &g), mean), square) in values.iter_mut().zip(gradients).zip(means).zip(squares) {
            let g = g * factor + *x * weight_decay;
            *mean = *mean * beta1 + g * rest1;
            *square = *square * beta2 + g * g * rest2;
            *x -= rate * *mean / (square.sqrt() / correction + epsilon);
        }
    }
}

kernel! {
    /// One step of gradient descent.
    fn descend(rate: f64, factor: f64, weight_decay: f64, values: &'a mut [T], gradients: &'a [T]) {
        let (rate, factor) = (T::from_f64(rate), T::from_f64(factor));
        let weight_decay = T::from_f64(weight_decay);
        for (x, &g) in values.iter_mut().zip(gradients) {
            *x -= rate * (g * factor + *x * weight_decay);
        }
    }
}
