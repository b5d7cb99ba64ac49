use crate::kernels::Packed;
use crate::{Buffer, Real};

/// Buffers that are used again, so that a step of training takes no memory once another of its size was made.
#[derive(Debug, Default)]
pub(super) struct Room<T> {
    free: Vec<Buffer<T>>,
    pub(super) scratch: Buffer<T>,
    pub(super) packed: Packed<T>,
    /// One for each head.
    pub(super) heads: Vec<Packed<T>>,
    pub(super) keys: Vec<u64>,
}

impl<T: Real> Room<T> {
    /// A buffer of this size with whatever was in it.
    pub(super) fn take(&mut self, size: usize) -> Buffer<T> {
        let fits = |buffer: &Buffer<T>| buffer.capacity() >= size;
        // The smallest that is large enough, else the largest.
        let best = (0..self.free.len()).min_by_key(|&i| {
            let buffer = &self.free[i];
            (!fits(buffer), if fits(buffer) { buffer.capacity() } else { usize::MAX - buffer.capacity() })
        });
        let mut buffer = best.map(|i| self.free.swap_remove(i)).unwrap_or_default();
        if !fits(&buffer) {
            // What would have to be copied is of no use.
            buffer = Buffer::default();
        }
        buffer.stretch(size);
        buffer
    }

    /// A buffer of zeros.
    pub(super) fn zeros(&mut self, size: usize) -> Buffer<T> {
        let mut buffer = self.take(size);
        buffer.fill(T::ZERO);
        buffer
    }

    /// A copy.
    pub(super) fn copy(&mut self, values: &[T]) -> Buffer<T> {
        let mut buffer = self.take(values.len());
        buffer.copy_from_slice(values);
        buffer
    }

    /// Takes a buffer back.
    pub(super) fn give(&mut self, buffer: Buffer<T>) {
        if buffer.capacity() > 0 {
            self.free.push(buffer);
        }
    }

    /// Takes several buffers back.
    pub(super) fn give_all(&mut self, buffers: impl IntoIterator<Item = Buffer<T>>) {
        for buffer in buffers {
            self.give(buffer);
        }
    }
}
