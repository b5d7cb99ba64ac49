use std::ops::{Deref, DerefMut};

use crate::Real;

/// Bytes of a cache line.
const LINE: usize = 64;

/// A cache-line-aligned buffer. The widest vectors are as long as a cache line: in an unaligned buffer, each
/// vector lies across two lines and takes twice as long to read and to write.
///
/// ```
/// use wug_nn::Buffer;
///
/// let mut values = Buffer::from(vec![1f32, 2.0]);
/// values.resize(4, 0.5);
/// assert_eq!(values[..], [1.0, 2.0, 0.5, 0.5]);
/// assert_eq!(values.as_ptr().addr() % 64, 0);
/// ```
#[derive(Debug, Default)]
pub struct Buffer<T> {
    /// What is before the first number is there to be left out.
    data: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Clone> Buffer<T> {
    /// So many times this number.
    fn filled(number: T, len: usize) -> Self {
        let data = vec![number; len + LINE.div_ceil(size_of::<T>().max(1)) - 1];
        Self { start: data.as_ptr().align_offset(LINE), data, len }
    }
}

impl<T: Real> Buffer<T> {
    /// So many zeros.
    pub fn zeros(len: usize) -> Self {
        Self::filled(T::ZERO, len)
    }

    /// Changes the length. New numbers are this one.
    pub fn resize(&mut self, len: usize, number: T) {
        let old = self.len;
        self.stretch(len);
        self[old.min(len)..].fill(number);
    }

    /// Changes the length. New numbers have to be written before they are read.
    pub(crate) fn stretch(&mut self, len: usize) {
        if len > self.capacity() {
            let mut longer = Self::zeros(len);
            longer[..self.len].copy_from_slice(self);
            *self = longer;
        }
        self.len = len;
    }

    /// The length to which it can be stretched without new memory.
    pub(crate) fn capacity(&self) -> usize {
        self.data.len() - self.start
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.data[self.start..][..self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data[self.start..][..self.len]
    }
}

impl<'a, T> IntoIterator for &'a Buffer<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Buffer<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: Clone> From<&[T]> for Buffer<T> {
    fn from(numbers: &[T]) -> Self {
        let Some(first) = numbers.first() else { return Self { data: Vec::new(), start: 0, len: 0 } };
        let mut buffer = Self::filled(first.clone(), numbers.len());
        buffer.clone_from_slice(numbers);
        buffer
    }
}

impl<T: Clone> From<Vec<T>> for Buffer<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::from(&numbers[..])
    }
}

// Not derived: a copy has another place, and so another start.
impl<T: Clone> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self::from(&self[..])
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_its_numbers_at_a_line_of_the_cache() {
        for len in [0, 1, 15, 16, 17, 1000, 100_000] {
            let numbers: Vec<f64> = (0..len).map(f64::from).collect();
            let mut buffer = Buffer::from(numbers.clone());
            assert_eq!(buffer[..], numbers);
            assert!(buffer.iter().eq(&numbers) && (&mut buffer).into_iter().map(|x| *x).eq(numbers.clone()));
            for longer in [buffer.len() + 1, buffer.len() + 100] {
                let mut other = buffer.clone();
                assert!(other == buffer);
                other.resize(longer, 7.0);
                assert_eq!(other[..buffer.len()], numbers);
                assert!(other.len() == longer && other[buffer.len()..].iter().all(|&x| x == 7.0));
                assert_eq!(other.as_ptr().addr() % LINE, 0);
                other.resize(0, 1.0);
                assert!(other.is_empty() && other.capacity() >= longer);
                other.resize(2, 1.0);
                assert_eq!(other[..], [1.0, 1.0]);
            }
            buffer.stretch(0);
            assert_eq!(Buffer::<f64>::default(), buffer);
        }
    }
}
