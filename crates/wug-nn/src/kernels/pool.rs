//! Pooling: the largest or the mean of the places in a window.

use super::isa::{Isa, Kernel, Vectors};
use crate::Real;

kernel! {
    /// Where `x` is larger than `largest`, it takes its place, and `tap` that of the taps.
    fn larger(x: &'a [T], tap: u8, largest: &'a mut [T], taps: &'a mut [u8]) {
        for ((&x, largest), own) in x.iter().zip(largest).zip(taps) {
            let is_larger = x > *largest;
            *largest = if is_larger { x } else { *largest };
            *own = if is_larger { tap } else { *own };
        }
    }
}

kernel! {
    /// Adds the gradient of the largest where this tap was it.
    fn larger_backward(d: &'a [T], taps: &'a [u8], tap: u8, d_x: &'a mut [T]) {
        for ((d_x, &d), &own) in d_x.iter_mut().zip(d).zip(taps) {
            *d_x += if own == tap { d } else { T::ZERO };
        }
    }
}
