//! Gradients by the chain rule of a small tape: slow and plain, for the reference implementations that models are tested against.

use std::cell::RefCell;

/// A number's worth of a computation: a vector and how its gradient goes on to what it was made from.
type Back = Box<dyn Fn(&[f64], &mut [Vec<f64>])>;

/// All that was computed, in order.
#[derive(Default)]
pub(crate) struct Tape {
    values: RefCell<Vec<Vec<f64>>>,
    backs: RefCell<Vec<Option<Back>>>,
}

/// What was computed.
#[derive(Clone, Copy)]
pub(crate) struct Var(pub(crate) usize);

impl Tape {
    pub(crate) fn push(&self, value: Vec<f64>, back: Option<Back>) -> Var {
        self.values.borrow_mut().push(value);
        self.backs.borrow_mut().push(back);
        Var(self.values.borrow().len() - 1)
    }

    pub(crate) fn value(&self, x: Var) -> Vec<f64> {
        self.values.borrow()[x.0].clone()
    }

    pub(crate) fn constant(&self, value: Vec<f64>) -> Var {
        self.push(value, None)
    }

    /// A function of each element, with its derivative from its result.
    pub(crate) fn map(&self, x: Var, f: fn(f64) -> f64, derivative: fn(f64) -> f64) -> Var {
        let y: Vec<f64> = self.value(x).into_iter().map(f).collect();
        let slopes: Vec<f64> = y.iter().map(|&y| derivative(y)).collect();
        let back = move |d: &[f64], all: &mut [Vec<f64>]| {
            (0..d.len()).for_each(|i| all[x.0][i] += d[i] * slopes[i]);
        };
        self.push(y, Some(Box::new(back)))
    }

    pub(crate) fn tanh(&self, x: Var) -> Var {
        self.map(x, f64::tanh, |y| 1.0 - y * y)
    }

    pub(crate) fn sigmoid(&self, x: Var) -> Var {
        self.map(x, |x| 1.0 / (1.0 + (-x).exp()), |y| y * (1.0 - y))
    }

    pub(crate) fn one_minus(&self, x: Var) -> Var {
        self.map(x, |x| 1.0 - x, |_| -1.0)
    }

    pub(crate) fn add(&self, a: Var, b: Var) -> Var {
        let y = self.value(a).iter().zip(self.value(b)).map(|(a, b)| a + b).collect();
        let back = move |d: &[f64], all: &mut [Vec<f64>]| {
            for i in 0..d.len() {
                all[a.0][i] += d[i];
                all[b.0][i] += d[i];
            }
        };
        self.push(y, Some(Box::new(back)))
    }

    pub(crate) fn multiply(&self, a: Var, b: Var) -> Var {
        let (x, y) = (self.value(a), self.value(b));
        let product = x.iter().zip(&y).map(|(a, b)| a * b).collect();
        let back = move |d: &[f64], all: &mut [Vec<f64>]| {
            for i in 0..d.len() {
                all[a.0][i] += d[i] * y[i];
                all[b.0][i] += d[i] * x[i];
            }
        };
        self.push(product, Some(Box::new(back)))
    }

    pub(crate) fn concatenate(&self, parts: &[Var]) -> Var {
        let y = parts.iter().flat_map(|&part| self.value(part)).collect();
        let parts = parts.to_vec();
        let back = move |d: &[f64], all: &mut [Vec<f64>]| {
            let mut d = d.iter();
            for part in &parts {
                all[part.0].iter_mut().for_each(|x| *x += d.next().unwrap());
            }
        };
        self.push(y, Some(Box::new(back)))
    }

    pub(crate) fn slice(&self, x: Var, start: usize, len: usize) -> Var {
        let y = self.value(x)[start..start + len].to_vec();
        let back = move |d: &[f64], all: &mut [Vec<f64>]| {
            (0..len).for_each(|i| all[x.0][start + i] += d[i]);
        };
        self.push(y, Some(Box::new(back)))
    }

    /// A matrix, given row by row, times a vector.
    pub(crate) fn matrix(&self, w: Var, x: Var) -> Var {
        let (weights, input) = (self.value(w), self.value(x));
        let columns = input.len();
        let y = weights.chunks(columns).map(|row| row.iter().zip(&input).map(|(a, b)| a * b).sum()).collect();
        let back = move |d: &[f64], all: &mut [Vec<f64>]| {
            for (i, d) in d.iter().enumerate() {
                for j in 0..columns {
                    all[w.0][i * columns + j] += d * input[j];
                    all[x.0][j] += d * weights[i * columns + j];
                }
            }
        };
        self.push(y, Some(Box::new(back)))
    }

    pub(crate) fn softmax(&self, x: Var) -> Var {
        let exps: Vec<f64> = self.value(x).iter().map(|x| x.exp()).collect();
        let sum: f64 = exps.iter().sum();
        let y: Vec<f64> = exps.iter().map(|e| e / sum).collect();
        let shares = y.clone();
        let back = move |d: &[f64], all: &mut [Vec<f64>]| {
            let mean: f64 = d.iter().zip(&shares).map(|(d, y)| d * y).sum();
            (0..d.len()).for_each(|i| all[x.0][i] += shares[i] * (d[i] - mean));
        };
        self.push(y, Some(Box::new(back)))
    }

    /// The gradients of a number with respect to everything.
    pub(crate) fn gradients(&self, of: Var) -> Vec<Vec<f64>> {
        let mut all: Vec<Vec<f64>> =
            self.values.borrow().iter().map(|value| vec![0.0; value.len()]).collect();
        all[of.0][0] = 1.0;
        for i in (0..=of.0).rev() {
            if let Some(back) = &self.backs.borrow()[i] {
                let d = all[i].clone();
                back(&d, &mut all);
            }
        }
        all
    }
}
