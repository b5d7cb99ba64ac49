use crate::kernels::Packed;
use crate::{Buffer, Real};

/// A buffer pool and what products are packed into. It outlives a context: memory that the system gives anew costs more than most
/// of what is done with it.
#[derive(Debug, Default)]
pub(crate) struct Workspace<T> {
    free: Vec<Buffer<T>>,
    pub(crate) scratch: Buffer<T>,
    pub(crate) packed: Packed<T>,
    /// One for each attention head.
    pub(crate) heads: Vec<Packed<T>>,
    /// One for each thread that works for this one.
    pub(crate) parts: Vec<Workspace<T>>,
    /// Dropout keys of rows.
    pub(crate) keys: Vec<u64>,
}

impl<T: Real> Workspace<T> {
    /// A buffer of this length with whatever was in it.
    pub(crate) fn take(&mut self, len: usize) -> Buffer<T> {
        let fits = |buffer: &Buffer<T>| buffer.capacity() >= len;
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
        buffer.stretch(len);
        buffer
    }

    /// Takes buffers back.
    pub(crate) fn recycle(&mut self, buffers: impl IntoIterator<Item = Buffer<T>>) {
        self.free.extend(buffers.into_iter().filter(|buffer| buffer.capacity() > 0));
    }
}
