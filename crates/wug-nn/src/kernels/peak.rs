use std::hint::black_box;
use std::time::Instant;

use super::isa::{Isa, Kernel, Vectors};
use super::lanes::LANES;

/// Sums that are computed side by side: enough to hide how long one takes, few enough to stay in registers.
const SUMS: usize = 5;
const ROUNDS: usize = 200_000;

/// Operations in a second that one thread can do at most: products and sums of numbers that never leave the registers. The
/// best of several trials; to be compared with what a program reaches.
pub fn peak(isa: Isa) -> f64 {
    let trial = |_| {
        let start = Instant::now();
        black_box(isa.run(Peak { factor: black_box(0.999) }));
        (2 * LANES * SUMS * ROUNDS) as f64 / start.elapsed().as_secs_f64()
    };
    (0..40).map(trial).fold(0.0, f64::max)
}

struct Peak {
    factor: f32,
}

impl Kernel for Peak {
    type Output = f32;

    #[inline(always)]
    fn run<V: Vectors>(self) -> f32 {
        let mut sums = [[1f32; LANES]; SUMS];
        let right = [self.factor; LANES];
        for _ in 0..ROUNDS {
            for sums in &mut sums {
                V::multiply_add(sums, self.factor, &right);
            }
        }
        sums.iter().flatten().sum()
    }
}
