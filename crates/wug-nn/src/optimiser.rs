use rayon::prelude::*;

use crate::engine::BLOCK;
use crate::kernels::{AdamStep, Isa, adam, descend, scale_add, squares};
use crate::{Buffer, Real};

/// How parameters follow their gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Adam (Kingma and Ba 2015).
    Adam {
        /// Share of the old mean of the gradients that is kept.
        beta1: f64,
        /// Share of the old mean of their squares that is kept.
        beta2: f64,
        /// What keeps the divisor from 0.
        epsilon: f64,
        /// Whether decay shrinks the parameters themselves, by its share of the rate (Loshchilov and Hutter 2019), or is added
        /// to their gradients.
        decoupled: bool,
    },
    /// Gradient descent.
    Sgd,
}

impl Rule {
    /// Adam with its usual constants.
    pub const ADAM: Self = Self::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: false };
}

/// An optimiser and what it remembers.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimiser<T> {
    /// How parameters follow their gradients.
    pub rule: Rule,
    /// Adam's means of the gradients and of their squares; empty for gradient descent.
    pub moments: [Buffer<T>; 2],
    /// Adam's constants to the power of the number of steps.
    pub powers: [f64; 2],
}

impl<T: Real> Optimiser<T> {
    /// An optimiser for this number of parameters, before its first step.
    pub fn new(rule: Rule, parameters: usize) -> Self {
        let size = if rule == Rule::Sgd { 0 } else { parameters };
        Self { rule, moments: [Buffer::zeros(size), Buffer::zeros(size)], powers: [1.0, 1.0] }
    }

    /// Makes a step. The gradient is shortened to the length `clip` if it is longer (0: never); its length is returned.
    pub fn step(
        &mut self,
        isa: Isa,
        values: &mut [T],
        gradients: &[T],
        rate: f64,
        clip: f64,
        weight_decay: f64,
    ) -> f64 {
        // The sums of blocks are added in order, whoever computed them.
        let sums: Vec<f64> = gradients.par_chunks(BLOCK).map(|block| squares(isa, block)).collect();
        let norm = sums.into_iter().sum::<f64>().sqrt();
        let factor = if clip > 0.0 && norm > clip { clip / (norm + 1e-6) } else { 1.0 };
        match self.rule {
            Rule::Sgd => values
                .par_chunks_mut(BLOCK)
                .zip(gradients.par_chunks(BLOCK))
                .for_each(|(x, g)| descend(isa, rate, factor, weight_decay, x, g)),
            Rule::Adam { beta1, beta2, epsilon, decoupled } => {
                self.powers = [self.powers[0] * beta1, self.powers[1] * beta2];
                let step = AdamStep {
                    rate: rate / (1.0 - self.powers[0]),
                    correction: (1.0 - self.powers[1]).sqrt(),
                    beta1,
                    beta2,
                    epsilon,
                    factor,
                    weight_decay: if decoupled { 0.0 } else { weight_decay },
                };
                let kept = T::from_f64(1.0 - rate * weight_decay);
                let [means, squares] = &mut self.moments;
                let values = values.par_chunks_mut(BLOCK).zip(gradients.par_chunks(BLOCK));
                let moments = means.par_chunks_mut(BLOCK).zip(squares.par_chunks_mut(BLOCK));
                values.zip(moments).for_each(|((x, g), (m, s))| {
                    if decoupled && weight_decay > 0.0 {
                        scale_add(isa, kept, &[], x);
                    }
                    adam(isa, step, x, g, m, s);
                });
            }
        }
        norm
    }
}

/// How the learning rate goes over the steps of training. Only exact operations are used, so that it is the same on any
/// machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// The highest rate (of Noam's: its factor).
    pub rate: f64,
    /// Steps in which the rate rises to it.
    pub warmup: u64,
    /// What comes then.
    pub shape: Shape,
}

/// How the learning rate falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Not at all.
    Constant,
    /// By a factor after every such number of steps.
    Exponential {
        /// The factor.
        factor: f64,
        /// The steps.
        every: u64,
    },
    /// Straight to 0 at the last step.
    Linear {
        /// Steps of the whole training.
        steps: u64,
    },
    /// With the root of the step, from `rate / sqrt(width * warmup)` (Vaswani et al. 2017).
    Noam {
        /// Width of the model.
        width: usize,
    },
}

impl Schedule {
    /// The rate of a step, counted from 0.
    pub fn at(&self, step: u64) -> f64 {
        let now = step as f64 + 1.0;
        let warmup = self.warmup.max(1) as f64;
        let risen = if now < warmup { self.rate * now / warmup } else { self.rate };
        match self.shape {
            Shape::Constant => risen,
            Shape::Exponential { factor, every } => {
                (0..step / every.max(1)).fold(risen, |rate, _| rate * factor)
            }
            Shape::Linear { steps } => risen * (steps.saturating_sub(step) as f64 / steps.max(1) as f64),
            Shape::Noam { width } => risen / (width as f64 * now.max(warmup)).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_rise_and_fall_as_they_should() {
        let rates = |warmup, shape| {
            let schedule = Schedule { rate: 8.0, warmup, shape };
            [0, 1, 3, 4, 8].map(|step| schedule.at(step))
        };
        assert_eq!(rates(0, Shape::Constant), [8.0; 5]);
        assert_eq!(rates(4, Shape::Constant), [2.0, 4.0, 8.0, 8.0, 8.0]);
        assert_eq!(rates(0, Shape::Exponential { factor: 0.5, every: 4 }), [8.0, 8.0, 8.0, 4.0, 2.0]);
        assert_eq!(rates(0, Shape::Linear { steps: 8 }), [8.0, 7.0, 5.0, 4.0, 0.0]);
        // Of the paper: width^-1/2 * min(step^-1/2, step * warmup^-3/2).
        let noam = Schedule { rate: 1.0, warmup: 4, shape: Shape::Noam { width: 16 } };
        for (step, paper) in [(0, 0.25 / 8.0), (1, 0.25 * 2.0 / 8.0), (3, 0.25 / 2.0), (8, 0.25 / 3.0)] {
            assert!((noam.at(step) - paper).abs() < 1e-15, "{step}: {} not {paper}", noam.at(step));
        }
    }
}
