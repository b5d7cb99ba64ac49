//! The products of a convolution, which read their factors where they lie: nothing is copied into columns first.
//!
//! An output is a sum over the taps of the kernel that fall into the image; taps beside it are left out, which in small
//! images saves up to eight ninths of the work of a 3x3 kernel.

use std::ops::Range;

use super::gemm::{Accumulate, COLUMNS, HALF, Line, Packed, place, put, tiles};
use super::isa::{Isa, Kernel, Vectors};
use crate::Real;

/// Numbers of the left factor, and the rows of the right one that they meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Where they begin, in units of [`Gathered::unit`].
    pub(crate) from: usize,
    /// The first of the rows.
    pub(crate) row: usize,
}

/// A left factor whose rows are put together from segments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gathered<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) segments: &'a [Segment],
    pub(crate) unit: usize,
    /// How far apart the rows of a segment begin.
    pub(crate) stride: usize,
    /// Numbers of a segment.
    pub(crate) depth: usize,
}

kernel! {
    /// `out (+)= left * right` for some rows of the left factor.
    fn gather_product(
        left: Gathered<'a, T>,
        right: &'a Packed<T>,
        rows: Range<usize>,
        out: &'a mut [T],
        into: Accumulate,
    ) {
        let stride = right.columns;
        for (panel, column) in right.data.chunks_exact(right.rows.max(1)).zip((0..).step_by(COLUMNS)) {
            let width = COLUMNS.min(stride - column);
            for span in tiles::<V>(rows.clone()) {
                let out = &mut out[(span.start - rows.start) * stride + column..];
                let (row, size) = (span.start, (stride, width));
                match span.len() {
                    1 => gathered::<T, V, 1>(&left, panel, row, out, size, into),
                    2 => gathered::<T, V, 2>(&left, panel, row, out, size, into),
                    3 => gathered::<T, V, 3>(&left, panel, row, out, size, into),
                    4 => gathered::<T, V, 4>(&left, panel, row, out, size, into),
                    5 => gathered::<T, V, 5>(&left, panel, row, out, size, into),
                    6 => gathered::<T, V, 6>(&left, panel, row, out, size, into),
                    7 => gathered::<T, V, 7>(&left, panel, row, out, size, into),
                    _ => gathered::<T, V, 8>(&left, panel, row, out, size, into),
                }
            }
        }
    }
}

/// One tile of the result.
#[inline(always)]
fn gathered<T: Real, V: Vectors, const HEIGHT: usize>(
    left: &Gathered<'_, T>,
    panel: &[Line<T>],
    row: usize,
    out: &mut [T],
    (stride, width): (usize, usize),
    into: Accumulate,
) {
    match width {
        COLUMNS => place(gathered_sums::<T, V, HEIGHT, COLUMNS>(left, panel, row), out, stride, into),
        HALF => place(gathered_sums::<T, V, HEIGHT, HALF>(left, panel, row), out, stride, into),
        _ => {
            for (i, sums) in gathered_sums::<T, V, HEIGHT, COLUMNS>(left, panel, row).iter().enumerate() {
                put(sums, &mut out[i * stride..][..width], into);
            }
        }
    }
}

#[inline(always)]
fn gathered_sums<T: Real, V: Vectors, const HEIGHT: usize, const WIDTH: usize>(
    left: &Gathered<'_, T>,
    panel: &[Line<T>],
    row: usize,
) -> [[T; WIDTH]; HEIGHT] {
    let mut sums = [[T::ZERO; WIDTH]; HEIGHT];
    for segment in left.segments {
        let data = &left.data[segment.from * left.unit + row * left.stride..];
        let lines: [&[T]; HEIGHT] = std::array::from_fn(|i| &data[i * left.stride..][..left.depth]);
        for (k, line) in panel[segment.row..][..left.depth].iter().enumerate() {
            let right: [T; WIDTH] = *line.0.first_chunk().expect("no more than a panel has");
            for (sums, left) in sums.iter_mut().zip(lines) {
                T::multiply_add::<V, WIDTH>(sums, left[k], &right);
            }
        }
    }
    sums
}

/// The two factors of the gradient of a kernel: for each pair of positions, one matrix of inputs and one of output gradients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Correlated<'a, T> {
    /// Inputs and gradients of outputs.
    pub(crate) left: &'a [T],
    pub(crate) right: &'a [T],
    /// Where both matrices of a pair begin.
    pub(crate) pairs: &'a [(usize, usize)],
    pub(crate) rows: usize,
    /// How far apart rows of the left matrices begin; those of the right ones follow each other.
    pub(crate) stride: usize,
    /// Columns of the right matrices.
    pub(crate) columns: usize,
}

/// Rows of all pairs together, at most.
pub(crate) const DEPTH: usize = 256;

kernel! {
    /// `out += sum of left^T * right` over all pairs, for the columns of the left factors from `first` on.
    fn correlate(factors: Correlated<'a, T>, first: usize, out: &'a mut [T]) {
        let stride = factors.columns;
        // Lines that lie far apart in the right factors would drive each other out of the cache.
        let mut panel = [Line([T::ZERO; COLUMNS]); DEPTH];
        let panel = &mut panel[..factors.pairs.len() * factors.rows];
        for column in (0..stride).step_by(COLUMNS) {
            let width = COLUMNS.min(stride - column);
            factors.pack_right(column, width, panel);
            for span in tiles::<V>(0..out.len() / stride) {
                let out = &mut out[span.start * stride + column..];
                let (row, size) = (first + span.start, (stride, width));
                match span.len() {
                    1 => correlated::<T, V, 1>(&factors, panel, row, out, size),
                    2 => correlated::<T, V, 2>(&factors, panel, row, out, size),
                    3 => correlated::<T, V, 3>(&factors, panel, row, out, size),
                    4 => correlated::<T, V, 4>(&factors, panel, row, out, size),
                    5 => correlated::<T, V, 5>(&factors, panel, row, out, size),
                    6 => correlated::<T, V, 6>(&factors, panel, row, out, size),
                    7 => correlated::<T, V, 7>(&factors, panel, row, out, size),
                    _ => correlated::<T, V, 8>(&factors, panel, row, out, size),
                }
            }
        }
    }
}

impl<T: Real> Correlated<'_, T> {
    /// Some columns of the right matrices, one below the other.
    #[inline(always)]
    fn pack_right(&self, column: usize, width: usize, panel: &mut [Line<T>]) {
        for (&(_, right), lines) in self.pairs.iter().zip(panel.chunks_exact_mut(self.rows.max(1))) {
            for (n, Line(line)) in lines.iter_mut().enumerate() {
                let from = &self.right[right + n * self.columns + column..];
                // A copy of known size is a move of registers, not a call.
                if let (Some(from), COLUMNS) = (from.first_chunk::<COLUMNS>(), width) {
                    *line = *from;
                } else {
                    line[..width].copy_from_slice(&from[..width]);
                    line[width..].fill(T::ZERO);
                }
            }
        }
    }
}

/// One tile of the result.
#[inline(always)]
fn correlated<T: Real, V: Vectors, const HEIGHT: usize>(
    factors: &Correlated<'_, T>,
    panel: &[Line<T>],
    row: usize,
    out: &mut [T],
    (stride, width): (usize, usize),
) {
    match width {
        COLUMNS => {
            place(
                correlated_sums::<T, V, HEIGHT, COLUMNS>(factors, panel, row),
                out,
                stride,
                Accumulate::Add,
            );
        }
        HALF => {
            place(correlated_sums::<T, V, HEIGHT, HALF>(factors, panel, row), out, stride, Accumulate::Add);
        }
        _ => {
            let sums = correlated_sums::<T, V, HEIGHT, COLUMNS>(factors, panel, row);
            for (i, sums) in sums.iter().enumerate() {
                put(sums, &mut out[i * stride..][..width], Accumulate::Add);
            }
        }
    }
}

#[inline(always)]
fn correlated_sums<T: Real, V: Vectors, const HEIGHT: usize, const WIDTH: usize>(
    factors: &Correlated<'_, T>,
    panel: &[Line<T>],
    row: usize,
) -> [[T; WIDTH]; HEIGHT] {
    let mut sums = [[T::ZERO; WIDTH]; HEIGHT];
    for (&(left, _), lines) in factors.pairs.iter().zip(panel.chunks_exact(factors.rows.max(1))) {
        let left = &factors.left[left + row..];
        for (n, line) in lines.iter().enumerate() {
            let cells: [T; HEIGHT] = *left[n * factors.stride..].first_chunk().expect("the rows of a tile");
            let right: [T; WIDTH] = *line.0.first_chunk().expect("no more than a panel has");
            for (sums, left) in sums.iter_mut().zip(cells) {
                T::multiply_add::<V, WIDTH>(sums, left, &right);
            }
        }
    }
    sums
}
