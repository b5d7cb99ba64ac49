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

/// How the numbers of a left factor lie that meet the same row of the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    /// So far apart, and those that meet the next row follow each.
    Apart(usize),
    /// One after the other, and those that meet the next row begin so far behind.
    Abreast(usize),
}

/// A left factor whose rows are put together from segments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gathered<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) segments: &'a [Segment],
    pub(crate) unit: usize,
    pub(crate) lie: Lie,
    /// Numbers of a segment.
    pub(crate) depth: usize,
}

/// Calls a function with the height of a tile as a constant.
macro_rules! by_height {
    ($height:expr, $function:ident::<$t:ty, $v:ty, $abreast:ident>$arguments:tt) => {
        match $height {
            1 => $function::<$t, $v, $abreast, 1> $arguments,
            2 => $function::<$t, $v, $abreast, 2> $arguments,
            3 => $function::<$t, $v, $abreast, 3> $arguments,
            4 => $function::<$t, $v, $abreast, 4> $arguments,
            5 => $function::<$t, $v, $abreast, 5> $arguments,
            6 => $function::<$t, $v, $abreast, 6> $arguments,
            7 => $function::<$t, $v, $abreast, 7> $arguments,
            _ => $function::<$t, $v, $abreast, 8> $arguments,
        }
    };
}

/// The first of the columns that are computed together, and whether these are two whole panels.
#[inline(always)]
fn panels<V: Vectors>(columns: usize) -> impl Iterator<Item = (usize, bool)> {
    let pairs = if V::PANELS == 2 { columns / (2 * COLUMNS) } else { 0 };
    let single = (2 * COLUMNS * pairs..columns).step_by(COLUMNS);
    (0..pairs).map(|pair| (2 * COLUMNS * pair, true)).chain(single.map(|column| (column, false)))
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
        match left.lie {
            Lie::Apart(step) => gather::<T, V, false>(&left, step, right, rows, out, into),
            Lie::Abreast(step) => gather::<T, V, true>(&left, step, right, rows, out, into),
        }
    }
}

#[inline(always)]
fn gather<T: Real, V: Vectors, const ABREAST: bool>(
    left: &Gathered<'_, T>,
    step: usize,
    right: &Packed<T>,
    rows: Range<usize>,
    out: &mut [T],
    into: Accumulate,
) {
    let stride = right.columns;
    for (column, two) in panels::<V>(stride) {
        let panel = |i: usize| &right.data[(column / COLUMNS + i) * right.rows..][..right.rows];
        for span in tiles::<V>(rows.clone()) {
            let out = &mut out[(span.start - rows.start) * stride + column..];
            let at = (span.start, step);
            if two {
                let panels = [panel(0), panel(1)];
                by_height!(span.len(), gathered_two::<T, V, ABREAST>(left, panels, at, out, stride, into));
            } else {
                let size = (stride, COLUMNS.min(stride - column));
                by_height!(span.len(), gathered::<T, V, ABREAST>(left, panel(0), at, out, size, into));
            }
        }
    }
}

/// One tile of the result.
#[inline(always)]
fn gathered<T: Real, V: Vectors, const ABREAST: bool, const HEIGHT: usize>(
    left: &Gathered<'_, T>,
    panel: &[Line<T>],
    at: (usize, usize),
    out: &mut [T],
    (stride, width): (usize, usize),
    into: Accumulate,
) {
    match width {
        COLUMNS => {
            place(gathered_sums::<T, V, ABREAST, HEIGHT, COLUMNS>(left, panel, at), out, stride, into);
        }
        HALF => place(gathered_sums::<T, V, ABREAST, HEIGHT, HALF>(left, panel, at), out, stride, into),
        _ => {
            let sums = gathered_sums::<T, V, ABREAST, HEIGHT, COLUMNS>(left, panel, at);
            for (i, sums) in sums.iter().enumerate() {
                put(sums, &mut out[i * stride..][..width], into);
            }
        }
    }
}

#[inline(always)]
fn gathered_sums<T: Real, V: Vectors, const ABREAST: bool, const HEIGHT: usize, const WIDTH: usize>(
    left: &Gathered<'_, T>,
    panel: &[Line<T>],
    at: (usize, usize),
) -> [[T; WIDTH]; HEIGHT] {
    let mut sums = [[T::ZERO; WIDTH]; HEIGHT];
    for segment in left.segments {
        let data = &left.data[segment.from * left.unit..];
        let right = &panel[segment.row..][..left.depth];
        add_products::<T, V, ABREAST, HEIGHT, WIDTH>(&mut sums, data, at, right);
    }
    sums
}

/// A tile that is two panels wide: with 32 registers a number of the left factor is loaded once for both.
#[inline(always)]
fn gathered_two<T: Real, V: Vectors, const ABREAST: bool, const HEIGHT: usize>(
    left: &Gathered<'_, T>,
    panels: [&[Line<T>]; 2],
    at: (usize, usize),
    out: &mut [T],
    stride: usize,
    into: Accumulate,
) {
    let mut one = [[T::ZERO; COLUMNS]; HEIGHT];
    let mut other = [[T::ZERO; COLUMNS]; HEIGHT];
    for segment in left.segments {
        let data = &left.data[segment.from * left.unit..];
        let right = panels.map(|panel| &panel[segment.row..][..left.depth]);
        add_products_two::<T, V, ABREAST, HEIGHT>(&mut one, &mut other, data, at, right);
    }
    place(one, out, stride, into);
    place(other, &mut out[COLUMNS..], stride, into);
}

/// Adds the products of some numbers of the left factor with rows of a panel; `at` is the first of them and how far apart
/// they lie or, where they are abreast, those that meet the next row.
#[inline(always)]
fn add_products<T: Real, V: Vectors, const ABREAST: bool, const HEIGHT: usize, const WIDTH: usize>(
    sums: &mut [[T; WIDTH]; HEIGHT],
    left: &[T],
    (row, step): (usize, usize),
    right: &[Line<T>],
) {
    let first = |line: &Line<T>| -> [T; WIDTH] { *line.0.first_chunk().expect("no more than a panel has") };
    if ABREAST {
        let left = &left[row..];
        for (k, right) in right.iter().enumerate() {
            let cells: [T; HEIGHT] = *left[k * step..].first_chunk().expect("the rows of a tile");
            for (sums, left) in sums.iter_mut().zip(cells) {
                T::multiply_add::<V, WIDTH>(sums, left, &first(right));
            }
        }
    } else {
        let lines: [&[T]; HEIGHT] = std::array::from_fn(|i| &left[(row + i) * step..][..right.len()]);
        for (k, right) in right.iter().enumerate() {
            for (sums, line) in sums.iter_mut().zip(lines) {
                T::multiply_add::<V, WIDTH>(sums, line[k], &first(right));
            }
        }
    }
}

/// The same with two panels.
#[inline(always)]
fn add_products_two<T: Real, V: Vectors, const ABREAST: bool, const HEIGHT: usize>(
    one: &mut [[T; COLUMNS]; HEIGHT],
    other: &mut [[T; COLUMNS]; HEIGHT],
    left: &[T],
    (row, step): (usize, usize),
    [right, beside]: [&[Line<T>]; 2],
) {
    // All of one length, so that the compiler sees that no index is beyond it.
    let depth = right.len();
    let beside = &beside[..depth];
    if ABREAST {
        let left = &left[row..];
        for k in 0..depth {
            let cells: [T; HEIGHT] = *left[k * step..].first_chunk().expect("the rows of a tile");
            for ((one, other), left) in one.iter_mut().zip(other.iter_mut()).zip(cells) {
                T::multiply_add::<V, COLUMNS>(one, left, &right[k].0);
                T::multiply_add::<V, COLUMNS>(other, left, &beside[k].0);
            }
        }
    } else {
        let lines: [&[T]; HEIGHT] = std::array::from_fn(|i| &left[(row + i) * step..][..depth]);
        for k in 0..depth {
            for ((one, other), line) in one.iter_mut().zip(other.iter_mut()).zip(lines) {
                T::multiply_add::<V, COLUMNS>(one, line[k], &right[k].0);
                T::multiply_add::<V, COLUMNS>(other, line[k], &beside[k].0);
            }
        }
    }
}

/// The factors of the gradient of a kernel: matrices of inputs and of output gradients, a row for each image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Correlated<'a, T> {
    pub(crate) inputs: &'a [T],
    /// What the places of [`Pair::input`] are multiplied with.
    pub(crate) unit: usize,
    pub(crate) lie: Lie,
    pub(crate) outputs: &'a [T],
    /// Where the matrices of output gradients begin that are read together.
    pub(crate) places: &'a [usize],
    pub(crate) rows: usize,
    /// Columns of the output gradients.
    pub(crate) columns: usize,
}

/// A place of the input that a tap sees from a place of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) input: usize,
    /// Which of [`Correlated::places`].
    pub(crate) output: usize,
}

/// Rows of all matrices of output gradients that are read together, at most: two panels of them leave room in a first-level
/// cache.
pub(crate) const CORRELATED: usize = 144;

kernel! {
    /// `out += sum of inputs^T * outputs` over all pairs of each tap, for `height` columns of the inputs from `first` on.
    fn correlate(
        factors: Correlated<'a, T>,
        taps: &'a [&'a [Pair]],
        first: usize,
        height: usize,
        out: &'a mut [T],
    ) {
        match factors.lie {
            Lie::Apart(step) => correlate_taps::<T, V, false>(&factors, step, taps, (first, height), out),
            Lie::Abreast(step) => correlate_taps::<T, V, true>(&factors, step, taps, (first, height), out),
        }
    }
}

#[inline(always)]
fn correlate_taps<T: Real, V: Vectors, const ABREAST: bool>(
    factors: &Correlated<'_, T>,
    step: usize,
    taps: &[&[Pair]],
    (first, height): (usize, usize),
    out: &mut [T],
) {
    let stride = factors.columns;
    // Lines that lie far apart in the output gradients would drive each other out of the cache.
    let mut lines = [[Line([T::ZERO; COLUMNS]); CORRELATED]; 2];
    let [one, other] = &mut lines;
    let used = factors.places.len() * factors.rows;
    let (one, other) = (&mut one[..used], &mut other[..used]);
    for (column, two) in panels::<V>(stride) {
        let width = COLUMNS.min(stride - column);
        factors.pack(column, width, one);
        if two {
            factors.pack(column + COLUMNS, COLUMNS, other);
        }
        let panels = [&*one, &*other];
        for (pairs, out) in taps.iter().zip(out.chunks_exact_mut(height * stride)) {
            for span in tiles::<V>(0..height) {
                let out = &mut out[span.start * stride + column..];
                let at = (first + span.start, step);
                if two {
                    by_height!(span.len(), correlated_two::<T, V, ABREAST>(factors, pairs, panels, at, out));
                } else {
                    let panel = panels[0];
                    by_height!(
                        span.len(),
                        correlated::<T, V, ABREAST>(factors, pairs, panel, at, out, width)
                    );
                }
            }
        }
    }
}

impl<T: Real> Correlated<'_, T> {
    /// Some columns of the output gradients, one below the other.
    #[inline(always)]
    fn pack(&self, column: usize, width: usize, panel: &mut [Line<T>]) {
        for (&place, lines) in self.places.iter().zip(panel.chunks_exact_mut(self.rows.max(1))) {
            for (n, Line(line)) in lines.iter_mut().enumerate() {
                let from = &self.outputs[place + n * self.columns + column..];
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
fn correlated<T: Real, V: Vectors, const ABREAST: bool, const HEIGHT: usize>(
    factors: &Correlated<'_, T>,
    pairs: &[Pair],
    panel: &[Line<T>],
    at: (usize, usize),
    out: &mut [T],
    width: usize,
) {
    let stride = factors.columns;
    match width {
        COLUMNS => {
            let sums = correlated_sums::<T, V, ABREAST, HEIGHT, COLUMNS>(factors, pairs, panel, at);
            place(sums, out, stride, Accumulate::Add);
        }
        HALF => {
            let sums = correlated_sums::<T, V, ABREAST, HEIGHT, HALF>(factors, pairs, panel, at);
            place(sums, out, stride, Accumulate::Add);
        }
        _ => {
            let sums = correlated_sums::<T, V, ABREAST, HEIGHT, COLUMNS>(factors, pairs, panel, at);
            for (i, sums) in sums.iter().enumerate() {
                put(sums, &mut out[i * stride..][..width], Accumulate::Add);
            }
        }
    }
}

#[inline(always)]
fn correlated_sums<T: Real, V: Vectors, const ABREAST: bool, const HEIGHT: usize, const WIDTH: usize>(
    factors: &Correlated<'_, T>,
    pairs: &[Pair],
    panel: &[Line<T>],
    at: (usize, usize),
) -> [[T; WIDTH]; HEIGHT] {
    let mut sums = [[T::ZERO; WIDTH]; HEIGHT];
    for pair in pairs {
        let data = &factors.inputs[pair.input * factors.unit..];
        let right = &panel[pair.output * factors.rows..][..factors.rows];
        add_products::<T, V, ABREAST, HEIGHT, WIDTH>(&mut sums, data, at, right);
    }
    sums
}

/// A tile that is two panels wide.
#[inline(always)]
fn correlated_two<T: Real, V: Vectors, const ABREAST: bool, const HEIGHT: usize>(
    factors: &Correlated<'_, T>,
    pairs: &[Pair],
    panels: [&[Line<T>]; 2],
    at: (usize, usize),
    out: &mut [T],
) {
    let mut one = [[T::ZERO; COLUMNS]; HEIGHT];
    let mut other = [[T::ZERO; COLUMNS]; HEIGHT];
    for pair in pairs {
        let data = &factors.inputs[pair.input * factors.unit..];
        let right = panels.map(|panel| &panel[pair.output * factors.rows..][..factors.rows]);
        add_products_two::<T, V, ABREAST, HEIGHT>(&mut one, &mut other, data, at, right);
    }
    place(one, out, factors.columns, Accumulate::Add);
    place(other, &mut out[COLUMNS..], factors.columns, Accumulate::Add);
}
