//! Sines and cosines of positions and distances, of additions and multiplications alone, so the same on any machine.

use std::f64::consts::{FRAC_PI_2, LN_10};

use crate::Real;
use crate::kernels::Window;

/// e to a power between -10 and 0.
fn exp(x: f64) -> f64 {
    // The series converges at once for a small power, which is then squared ten times.
    let small = x / 1024.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..12 {
        term *= small / f64::from(n);
        sum += term;
    }
    (0..10).fold(sum, |y, _| y * y)
}

/// Sine and cosine.
fn sine_cosine(x: f64) -> (f64, f64) {
    // pi / 2 is FRAC_PI_2 and this.
    const REST: f64 = 6.123_233_995_736_766e-17;
    let quarters = (x / FRAC_PI_2).round();
    let r = (x - quarters * FRAC_PI_2) - quarters * REST;
    let (mut sine, mut cosine, mut term) = (0.0, 0.0, 1.0);
    for n in 0..20 {
        let sign = if n % 4 < 2 { term } else { -term };
        if n % 2 == 0 {
            cosine += sign;
        } else {
            sine += sign;
        }
        term *= r / f64::from(n + 1);
    }
    match quarters.rem_euclid(4.0) as u8 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// The codes of the positions 0, 1, ...: element `2k` is the sine of `position / 10000^(2k / width)`, element `2k + 1` the
/// cosine.
#[derive(Debug, Clone)]
pub(super) struct Codes<T> {
    width: usize,
    values: Vec<T>,
}

impl<T: Real> Codes<T> {
    pub(super) fn new(width: usize) -> Self {
        Self { width, values: Vec::new() }
    }

    /// Grows to at least this number of positions.
    pub(super) fn reach(&mut self, positions: usize) {
        for position in self.values.len() / self.width..positions {
            for k in 0..self.width.div_ceil(2) {
                let frequency = exp(-4.0 * LN_10 * (2 * k) as f64 / self.width as f64);
                let (sine, cosine) = sine_cosine(position as f64 * frequency);
                self.values.push(T::from_f64(sine));
                if 2 * k + 1 < self.width {
                    self.values.push(T::from_f64(cosine));
                }
            }
        }
    }

    /// The codes of the first positions.
    pub(super) fn first(&self, positions: usize) -> &[T] {
        &self.values[..positions * self.width]
    }

    /// The codes of all distances in a window, from the key farthest ahead of its query to the one farthest behind: the
    /// distance is the query's position less the key's.
    pub(super) fn window(&self, window: Window, out: &mut [T]) {
        for (t, out) in out.chunks_exact_mut(self.width).enumerate() {
            let code = |distance: usize| &self.values[distance * self.width..][..self.width];
            if t <= window.before {
                out.copy_from_slice(code(window.before - t));
            } else {
                out.copy_from_slice(code(t - window.before));
                for sine in out.iter_mut().step_by(2) {
                    *sine = -*sine;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_and_cosines_are_those_of_the_library() {
        for i in -40_000..40_000 {
            let x = f64::from(i) * 0.037;
            let (sine, cosine) = sine_cosine(x);
            assert!((sine - x.sin()).abs() < 1e-12 && (cosine - x.cos()).abs() < 1e-12, "{x}");
        }
        for i in 0..1000 {
            let x = -f64::from(i) * 0.01;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn codes_are_as_the_paper_writes_them() {
        let mut codes = Codes::<f64>::new(6);
        codes.reach(3);
        codes.reach(9);
        for (position, row) in codes.first(9).chunks(6).enumerate() {
            for k in 0..3 {
                let angle = position as f64 / 10_000f64.powf(2.0 * k as f64 / 6.0);
                assert!((row[2 * k] - angle.sin()).abs() < 1e-12);
                assert!((row[2 * k + 1] - angle.cos()).abs() < 1e-12);
            }
        }
        let window = Window { before: 2, after: 1 };
        let mut out = vec![0.0; 4 * 6];
        codes.window(window, &mut out);
        for (row, distance) in out.chunks(6).zip([2.0, 1.0, 0.0, -1.0f64]) {
            assert!((row[0] - distance.sin()).abs() < 1e-12 && (row[1] - distance.cos()).abs() < 1e-12);
        }
    }
}
