//! The loops that take the time, each compiled for every instruction set and chosen when the program runs.
//!
//! They are plain Rust over slices, of which the compiler makes vectors. `unsafe` is in two files: `isa.rs` calls code that was
//! compiled for more than the machine may have, and `lanes.rs` spells out vectors where the compiler makes none.

/// Defines a function whose body is compiled for every instruction set.
macro_rules! kernel {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        kernel! { $(#[$doc])* fn $name($($argument: $type),*) -> () $body }
    };
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty $body:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $name<'a, T: Real>(isa: Isa, $($argument: $type),*) -> $output {
            struct Work<'a, T> {
                $($argument: $type,)*
                borrows: std::marker::PhantomData<&'a T>,
            }
            impl<'a, T: Real> Kernel for Work<'a, T> {
                type Output = $output;

                #[inline(always)]
                fn run<V: Vectors>(self) -> $output {
                    let Self { $($argument,)* borrows: _ } = self;
                    $body
                }
            }
            isa.run(Work { $($argument,)* borrows: std::marker::PhantomData })
        }
    };
}

mod activation;
mod attention;
mod batch_norm;
mod cell;
mod convolution;
mod gemm;
mod isa;
mod lanes;
mod norm;
mod optimise;
mod peak;
mod pool;
mod rows;
mod softmax;

#[cfg(test)]
pub(crate) use activation::normal;
pub(crate) use activation::{gelu, gelu_backward, relu, relu_backward};
pub(crate) use attention::{
    AttentionGradients, Mixed, Powers, Sources, attend, attend_backward, attend_dot, attend_dot_backward,
    mix, mix_backward,
};
pub(crate) use batch_norm::{batch_norm, batch_norm_backward, batch_norm_sums, moments, rectify_backward};
pub(crate) use cell::{gru_backward, gru_forward, lstm_backward, lstm_forward, rnn_backward, rnn_forward};
pub(crate) use convolution::{
    CORRELATED, Correlated, Gathered, Lie, Pair, Segment, correlate, gather_product,
};
pub use gemm::MatMul;
pub(crate) use gemm::{Accumulate, Packed, View, gemm};
pub use isa::{Isa, Vectors};
pub use lanes::Lanes;
pub(crate) use norm::{normalise, normalise_backward, residual};
pub(crate) use optimise::{AdamStep, adam, descend, squares};
pub use peak::peak;
pub(crate) use pool::{larger, larger_backward};
pub(crate) use rows::{
    add, add_columns, add_row, cross_entropy, drop_rows, dropout, embed, embed_backward, largest, scale_add,
    scale_by,
};
pub(crate) use softmax::{
    Seen, Window, add_window, add_window_backward, attend_one, softmax, softmax_backward,
};

#[cfg(test)]
pub(crate) mod testing {
    use proptest::test_runner::TestCaseError;

    use super::Isa;
    use crate::Real;

    /// Those of this machine; the others would run as portable.
    pub(crate) const ISAS: [Isa; 3] = [Isa::Avx512, Isa::Avx2, Isa::Portable];

    /// Numbers from -1 to 1 that depend on the seed.
    pub(crate) fn numbers<T: Real>(seed: u64, n: usize) -> Vec<T> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..n).map(|_| T::from_f64(next())).collect()
    }

    /// Whether two lists agree within a share of the largest entry.
    pub(crate) fn same<T: Real>(ours: &[T], theirs: &[T], tolerance: f64) -> Result<(), TestCaseError> {
        if ours.len() != theirs.len() {
            return Err(TestCaseError::fail(format!("{} entries, not {}", ours.len(), theirs.len())));
        }
        let largest = theirs.iter().map(|x| x.to_f64().abs()).fold(1e-3, f64::max);
        for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
            let apart = (a.to_f64() - b.to_f64()).abs();
            if apart.is_nan() || apart > tolerance * largest {
                return Err(TestCaseError::fail(format!("entry {i}: {a:?}, not {b:?} (largest {largest})")));
            }
        }
        Ok(())
    }
}
