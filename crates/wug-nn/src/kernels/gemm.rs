//! Matrix multiplication (GEMM) with a packed right factor.

use std::ops::Range;

use rayon::prelude::*;

use super::isa::{Isa, Kernel, Vectors};
use super::lanes::{LANES, prefetch};
use crate::{Buffer, Real};

/// Columns of a panel.
pub(super) const COLUMNS: usize = LANES;
/// Half of them.
pub(super) const HALF: usize = COLUMNS / 2;
/// Depth of a block: a panel of 256 x 16 `f32` is half of a first-level cache.
const DEPTH: usize = 256;
/// Rows of a block: 96 x 256 `f32` stay in the second-level cache.
const HEIGHT: usize = 96;

/// The maximum number of pieces that a matrix multiplication is split into, for different threads.
const LEAVES: usize = 8;

/// Columns of a right factor up to which packing the left one would take longer than it saves.
const NARROW: usize = 256;

/// Lines of a right factor from which it is far from the processor when it is needed again.
const FAR: usize = 1 << 14;

/// A matrix in someone else's buffer: element (i, j) is at `i * row_stride + j * column_stride`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T: Real> View<'a, T> {
    /// Rows one after the other.
    pub(crate) fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        Self::strided(data, rows, columns, columns)
    }

    /// Rows that begin `stride` apart.
    pub(crate) fn strided(data: &'a [T], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(rows == 0 || columns == 0 || data.len() >= (rows - 1) * stride + columns);
        Self { data, rows, columns, row_stride: stride, column_stride: 1 }
    }

    /// The same matrix with rows and columns exchanged.
    pub(crate) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// Packs the columns of one panel, from `first` on.
    fn pack_panel(&self, first: usize, rows: &mut [Line<T>]) {
        let matrix = self;
        let width = COLUMNS.min(matrix.columns - first);
        if matrix.column_stride == 1 {
            for (i, Line(row)) in rows.iter_mut().enumerate() {
                let line = &matrix.data[i * matrix.row_stride + first..];
                // A copy of known size is a move of registers, not a call.
                if let (Some(line), COLUMNS) = (line.first_chunk::<COLUMNS>(), width) {
                    *row = *line;
                } else {
                    row[..width].copy_from_slice(&line[..width]);
                    row[width..].fill(T::ZERO);
                }
            }
        } else {
            // Lines are read in order, four abreast: each is a column of the panel.
            debug_assert_eq!(matrix.row_stride, 1, "rows or columns are one after the other");
            if width < COLUMNS {
                for Line(row) in rows.iter_mut() {
                    row[width..].fill(T::ZERO);
                }
            }
            let line = |j: usize| &matrix.data[(first + j) * matrix.column_stride..][..matrix.rows];
            for j in (0..width - width % 4).step_by(4) {
                let lines = [line(j), line(j + 1), line(j + 2), line(j + 3)];
                let blocks = lines.map(|line| line.as_chunks::<4>().0);
                let (whole, rest) = rows.as_chunks_mut::<4>();
                for (i, rows) in whole.iter_mut().enumerate() {
                    let block = T::transpose(blocks.map(|line| line[i]));
                    for (Line(row), cells) in rows.iter_mut().zip(block) {
                        row[j..j + 4].copy_from_slice(&cells);
                    }
                }
                let done = whole.len() * 4;
                for (i, Line(row)) in rest.iter_mut().enumerate() {
                    let cells: &mut [T; 4] = (&mut row[j..j + 4]).try_into().expect("four");
                    *cells = lines.map(|line| line[done + i]);
                }
            }
            for j in width - width % 4..width {
                rows.iter_mut().zip(line(j)).for_each(|(Line(row), &x)| row[j] = x);
            }
        }
    }

    #[cfg(test)]
    fn at(&self, i: usize, j: usize) -> T {
        self.data[i * self.row_stride + j * self.column_stride]
    }
}

/// A row of a panel, cache-line aligned: a load that crosses two cache lines takes twice as long.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Line<T>(pub(super) [T; COLUMNS]);

/// A right factor in the order in which [`gemm`] reads it: panels of 16 columns, filled up with zeros.
#[derive(Debug, Clone, Default)]
pub(crate) struct Packed<T> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) data: Vec<Line<T>>,
}

impl<T: Real> Packed<T> {
    /// Takes the place of what was packed before.
    pub(crate) fn pack(&mut self, matrix: View<'_, T>) {
        self.stack([matrix].into_iter());
    }

    /// Packs matrices of as many columns below each other.
    fn stack<'v>(&mut self, matrices: impl Iterator<Item = View<'v, T>> + Clone)
    where
        T: 'v,
    {
        self.begin(matrices.clone());
        for (rows, first) in self.data.chunks_exact_mut(self.rows.max(1)).zip((0..).step_by(COLUMNS)) {
            Self::stack_panel(matrices.clone(), first, rows);
        }
    }

    /// The same with a panel for each thread.
    pub(crate) fn stack_with_all<'v>(&mut self, matrices: impl Iterator<Item = View<'v, T>> + Clone + Sync)
    where
        T: 'v,
    {
        self.begin(matrices.clone());
        let panels = self.data.par_chunks_exact_mut(self.rows.max(1)).enumerate();
        panels.for_each(|(i, rows)| Self::stack_panel(matrices.clone(), i * COLUMNS, rows));
    }

    fn begin<'v>(&mut self, matrices: impl Iterator<Item = View<'v, T>> + Clone)
    where
        T: 'v,
    {
        self.rows = matrices.clone().map(|matrix| matrix.rows).sum();
        self.columns = matrices.clone().next().map_or(0, |matrix| matrix.columns);
        self.data.resize(self.rows * self.columns.div_ceil(COLUMNS), Line([T::ZERO; COLUMNS]));
    }

    fn stack_panel<'v>(matrices: impl Iterator<Item = View<'v, T>>, first: usize, mut rows: &mut [Line<T>])
    where
        T: 'v,
    {
        for matrix in matrices {
            let (own, below) = rows.split_at_mut(matrix.rows);
            matrix.pack_panel(first, own);
            rows = below;
        }
    }

    /// Whether something was packed.
    pub(crate) fn has_columns(&self) -> bool {
        self.columns > 0
    }

    /// What each tile of some rows has brought nearer of the panel after this one: nothing where the matrix stays in a cache
    /// or its panels are read more than once, which the machine foresees.
    #[inline(always)]
    fn ahead<V: Vectors>(
        &self,
        panel: usize,
        depth: &Range<usize>,
        rows: &Range<usize>,
        all_rows: usize,
    ) -> std::slice::Chunks<'_, Line<T>> {
        let far = self.data.len() >= FAR && rows.len() == all_rows;
        let start = (panel + 1) * self.rows + depth.start;
        let next = if far { self.data.get(start..start + depth.len()) } else { None };
        let share = depth.len().div_ceil(rows.len().div_ceil(V::ROWS));
        next.unwrap_or_default().chunks(share)
    }

    /// A packed matrix.
    #[cfg(test)]
    pub(crate) fn new(matrix: View<'_, T>) -> Self {
        let mut packed = Self::default();
        packed.pack(matrix);
        packed
    }
}

/// Whether a product takes the place of what was there or is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accumulate {
    Overwrite,
    Add,
}

/// `out = left * right`, or `out += left * right`. The rows of `out` begin `stride` apart.
///
/// Every element is summed from the first to the last, whatever the shape of the rest, so a row of the result does not
/// depend on which rows are computed with it.
pub(crate) fn gemm<T: Real>(
    isa: Isa,
    left: View<'_, T>,
    right: &Packed<T>,
    out: &mut [T],
    stride: usize,
    into: Accumulate,
    scratch: &mut Buffer<T>,
) {
    assert_eq!(left.columns, right.rows, "the factors do not fit");
    if left.rows == 0 || right.columns == 0 {
        return;
    }
    assert!(stride >= right.columns && out.len() >= (left.rows - 1) * stride + right.columns);
    if left.columns == 0 {
        if into == Accumulate::Overwrite {
            out.chunks_mut(stride).take(left.rows).for_each(|row| row[..right.columns].fill(T::ZERO));
        }
        return;
    }
    let in_pool = rayon::current_thread_index().is_some();
    let leaves = if in_pool { left.rows.div_ceil(HEIGHT).min(LEAVES) } else { 1 };
    // It never shrinks, or it would be filled with zeros whenever it grows again.
    scratch.resize(scratch.len().max(leaves * HEIGHT * DEPTH), T::ZERO);
    let scratch = &mut scratch[..leaves * HEIGHT * DEPTH];
    if left.rows == 1 {
        return isa.run(SingleRow { left, right, out, into, scratch });
    }
    let mut into = into;
    for depth in (0..left.columns).step_by(DEPTH) {
        let depth = depth..left.columns.min(depth + DEPTH);
        let blocks = Blocks { left, right, depth, rows: 0..left.rows, out, stride, into, scratch };
        blocks.run_with(isa);
        into = Accumulate::Add;
    }
}

/// Matrix multiplication for layers outside of this crate: a right factor that is packed once, for any number of left ones.
///
/// ```
/// use wug_nn::kernels::{Isa, MatMul};
///
/// let mut by = MatMul::new(&[3.0, 4.0, 5.0, 6.0], 2, 2);
/// let mut out = [0.0; 2];
/// by.multiply(Isa::best(), &[1.0, 2.0], &mut out);
/// assert_eq!(out, [13.0, 16.0]);
/// ```
#[derive(Debug, Default)]
pub struct MatMul<T> {
    packed: Packed<T>,
    scratch: Buffer<T>,
}

impl<T: Real> MatMul<T> {
    /// Packs a right factor, row by row.
    ///
    /// # Panics
    /// If it has too few numbers.
    pub fn new(right: &[T], rows: usize, columns: usize) -> Self {
        let mut new = Self::default();
        new.pack(right, rows, columns);
        new
    }

    /// Packs another right factor into the same memory.
    pub fn pack(&mut self, right: &[T], rows: usize, columns: usize) {
        self.packed.pack(View::new(right, rows, columns));
    }

    /// `out = left * right`, row by row. The same bits for any number of threads and of rows computed together.
    ///
    /// # Panics
    /// If the rows of `left` are not as long as the right factor has rows, or `out` is too short.
    pub fn multiply(&mut self, isa: Isa, left: &[T], out: &mut [T]) {
        let (depth, columns) = (self.packed.rows, self.packed.columns);
        let left = View::new(left, left.len() / depth.max(1), depth);
        gemm(isa, left, &self.packed, out, columns, Accumulate::Overwrite, &mut self.scratch);
    }
}

/// Some rows of a product, in one block of its depth.
struct Blocks<'a, T> {
    left: View<'a, T>,
    right: &'a Packed<T>,
    depth: Range<usize>,
    rows: Range<usize>,
    /// From the first of the rows on.
    out: &'a mut [T],
    stride: usize,
    into: Accumulate,
    /// For each leaf a block of the left factor.
    scratch: &'a mut [T],
}

impl<T: Real> Blocks<'_, T> {
    /// Halves the rows as long as there is scratch for more than one leaf: a thread that has nothing else to do takes the other
    /// half.
    fn run_with(self, isa: Isa) {
        let leaves = self.scratch.len() / (HEIGHT * DEPTH);
        if leaves == 1 {
            return isa.run(self);
        }
        let first = self.rows.len().div_ceil(HEIGHT) * (leaves / 2) / leaves * HEIGHT;
        let middle = self.rows.start + first;
        let (out, rest) = self.out.split_at_mut(first * self.stride);
        let (scratch, other) = self.scratch.split_at_mut(leaves / 2 * HEIGHT * DEPTH);
        let (Range { start, end }, depth) = (self.rows, self.depth.clone());
        let one = Blocks { rows: start..middle, out, scratch, depth: self.depth, ..self };
        let two = Blocks { rows: middle..end, out: rest, scratch: other, depth, ..self };
        rayon::join(|| one.run_with(isa), || two.run_with(isa));
    }
}

impl<T: Real> Kernel for Blocks<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { left, right, depth, rows, out, stride, into, scratch } = self;
        let begin = rows.start;
        for first in rows.clone().step_by(HEIGHT) {
            let rows = first..rows.end.min(first + HEIGHT);
            let direct = left.column_stride == 1 && right.columns <= NARROW;
            if !direct {
                pack_left::<T, V>(&left, rows.clone(), depth.clone(), scratch);
            }
            for (panel, column) in right.data.chunks_exact(right.rows).zip((0..).step_by(COLUMNS)) {
                let panel = &panel[depth.clone()];
                let width = COLUMNS.min(right.columns - column);
                let mut ahead = right.ahead::<V>(column / COLUMNS, &depth, &rows, left.rows);
                for span in tiles::<V>(rows.clone()) {
                    for Line(line) in ahead.next().unwrap_or_default() {
                        prefetch(line);
                    }
                    let (row, height) = (span.start, span.len());
                    let block = if direct {
                        Rows::Lines(&left.data[row * left.row_stride + depth.start..], left.row_stride)
                    } else {
                        Rows::Abreast(&scratch[(row - first) * depth.len()..][..height * depth.len()])
                    };
                    let out = &mut out[(row - begin) * stride + column..];
                    match height {
                        1 => tile::<T, V, 1>(block, panel, out, stride, width, into),
                        2 => tile::<T, V, 2>(block, panel, out, stride, width, into),
                        3 => tile::<T, V, 3>(block, panel, out, stride, width, into),
                        4 => tile::<T, V, 4>(block, panel, out, stride, width, into),
                        5 => tile::<T, V, 5>(block, panel, out, stride, width, into),
                        6 => tile::<T, V, 6>(block, panel, out, stride, width, into),
                        7 => tile::<T, V, 7>(block, panel, out, stride, width, into),
                        _ => tile::<T, V, 8>(block, panel, out, stride, width, into),
                    }
                }
            }
        }
    }
}

/// The rows of each tile: as many as fit, or one less. A tile of few rows takes as long as one of five, because its sums wait
/// for each other.
#[inline(always)]
pub(super) fn tiles<V: Vectors>(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let count = rows.len().div_ceil(V::ROWS).max(1);
    let (height, larger) = (rows.len() / count, rows.len() % count);
    (0..count).map(move |i| {
        let start = rows.start + i * height + i.min(larger);
        start..start + height + usize::from(i < larger)
    })
}

/// A product with one row: four panels side by side, because the sums of one panel would wait for each other.
struct SingleRow<'a, T> {
    left: View<'a, T>,
    right: &'a Packed<T>,
    out: &'a mut [T],
    into: Accumulate,
    scratch: &'a mut [T],
}

impl<T: Real> Kernel for SingleRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self) {
        let Self { left, right, out, mut into, scratch } = self;
        for depth in (0..left.columns).step_by(DEPTH) {
            let depth = depth..left.columns.min(depth + DEPTH);
            pack_left::<T, V>(&left, 0..1, depth.clone(), scratch);
            let line = &scratch[..depth.len()];
            let panel = |i: usize| {
                let start = i * right.rows + depth.start;
                start..start + depth.len()
            };
            let size = 4 * right.rows;
            for (panels, column) in right.data.chunks(size).zip((0..).step_by(4 * COLUMNS)) {
                let out = &mut out[column..right.columns.min(column + 4 * COLUMNS)];
                if panels.len() == size {
                    let four = [0, 1, 2, 3].map(|i| &panels[panel(i)]);
                    let mut sums = [[T::ZERO; COLUMNS]; 4];
                    for ((((&left, a), b), c), d) in
                        line.iter().zip(four[0]).zip(four[1]).zip(four[2]).zip(four[3])
                    {
                        T::multiply_add::<V, COLUMNS>(&mut sums[0], left, &a.0);
                        T::multiply_add::<V, COLUMNS>(&mut sums[1], left, &b.0);
                        T::multiply_add::<V, COLUMNS>(&mut sums[2], left, &c.0);
                        T::multiply_add::<V, COLUMNS>(&mut sums[3], left, &d.0);
                    }
                    put(sums.as_flattened(), out, into);
                } else {
                    for (i, out) in out.chunks_mut(COLUMNS).enumerate() {
                        let width = out.len();
                        tile::<T, V, 1>(Rows::Abreast(line), &panels[panel(i)], out, width, width, into);
                    }
                }
            }
            into = Accumulate::Add;
        }
    }
}

/// Writes sums, or adds them to what is there.
#[inline(always)]
pub(super) fn put<T: Real>(sums: &[T], out: &mut [T], into: Accumulate) {
    for (out, &sum) in out.iter_mut().zip(sums) {
        *out = if into == Accumulate::Overwrite { sum } else { *out + sum };
    }
}

/// Brings rows of the left factor into the order in which a tile reads them: the rows of a tile abreast.
#[inline(always)]
fn pack_left<T: Real, V: Vectors>(
    left: &View<'_, T>,
    rows: Range<usize>,
    depth: Range<usize>,
    scratch: &mut [T],
) {
    for span in tiles::<V>(rows.clone()) {
        let block = &mut scratch[(span.start - rows.start) * depth.len()..][..span.len() * depth.len()];
        match span.len() {
            1 => pack_tile::<T, 1>(left, span.start, depth.clone(), block),
            2 => pack_tile::<T, 2>(left, span.start, depth.clone(), block),
            3 => pack_tile::<T, 3>(left, span.start, depth.clone(), block),
            4 => pack_tile::<T, 4>(left, span.start, depth.clone(), block),
            5 => pack_tile::<T, 5>(left, span.start, depth.clone(), block),
            6 => pack_tile::<T, 6>(left, span.start, depth.clone(), block),
            7 => pack_tile::<T, 7>(left, span.start, depth.clone(), block),
            _ => pack_tile::<T, 8>(left, span.start, depth.clone(), block),
        }
    }
}

/// The same for one tile, from `row` on. Copies of known size are moves of registers, not calls.
#[inline(always)]
fn pack_tile<T: Real, const HEIGHT: usize>(
    left: &View<'_, T>,
    row: usize,
    depth: Range<usize>,
    block: &mut [T],
) {
    let (cells, _) = block.as_chunks_mut::<HEIGHT>();
    if left.row_stride == 1 {
        for (k, cell) in depth.zip(cells) {
            *cell = *left.data[k * left.column_stride + row..].first_chunk().expect("the rows of a tile");
        }
    } else {
        debug_assert_eq!(left.column_stride, 1, "rows or columns are one after the other");
        let lines: [&[T]; HEIGHT] =
            std::array::from_fn(|i| &left.data[(row + i) * left.row_stride + depth.start..][..depth.len()]);
        for (k, cell) in cells.iter_mut().enumerate() {
            *cell = std::array::from_fn(|i| lines[i][k]);
        }
    }
}

/// One tile of the result. Where no more than half of the columns are there, only half are computed.
#[inline(always)]
fn tile<T: Real, V: Vectors, const HEIGHT: usize>(
    left: Rows<'_, T>,
    right: &[Line<T>],
    out: &mut [T],
    stride: usize,
    width: usize,
    into: Accumulate,
) {
    // The three are apart because sums that are read by an index stay in memory: those of whole rows go from registers to
    // their places.
    match width {
        COLUMNS => place(sums::<T, V, HEIGHT, COLUMNS>(left, right), out, stride, into),
        HALF => place(sums::<T, V, HEIGHT, HALF>(left, right), out, stride, into),
        _ => {
            for (i, sums) in sums::<T, V, HEIGHT, COLUMNS>(left, right).iter().enumerate() {
                put(sums, &mut out[i * stride..][..width], into);
            }
        }
    }
}

/// Writes whole rows of sums, or adds them to what is there.
#[inline(always)]
pub(super) fn place<T: Real, const HEIGHT: usize, const WIDTH: usize>(
    sums: [[T; WIDTH]; HEIGHT],
    out: &mut [T],
    stride: usize,
    into: Accumulate,
) {
    for (i, sums) in sums.into_iter().enumerate() {
        let out: &mut [T; WIDTH] = out[i * stride..].first_chunk_mut().expect("a whole row");
        *out = match into {
            Accumulate::Overwrite => sums,
            Accumulate::Add => std::array::from_fn(|j| out[j] + sums[j]),
        };
    }
}

/// The rows of the left factor that a tile reads.
#[derive(Clone, Copy)]
enum Rows<'a, T> {
    /// Packed: the first numbers of all rows, then the second ones.
    Abreast(&'a [T]),
    /// As they lie, so far apart.
    Lines(&'a [T], usize),
}

/// The sums of a tile, of the first columns of a panel.
#[inline(always)]
fn sums<T: Real, V: Vectors, const HEIGHT: usize, const WIDTH: usize>(
    left: Rows<'_, T>,
    right: &[Line<T>],
) -> [[T; WIDTH]; HEIGHT] {
    let mut sums = [[T::ZERO; WIDTH]; HEIGHT];
    let first =
        |line: &'_ Line<T>| -> [T; WIDTH] { *line.0.first_chunk().expect("no more than a panel has") };
    match left {
        Rows::Abreast(left) => {
            for (left, right) in left.as_chunks::<HEIGHT>().0.iter().zip(right) {
                for (sums, &left) in sums.iter_mut().zip(left) {
                    T::multiply_add::<V, WIDTH>(sums, left, &first(right));
                }
            }
        }
        Rows::Lines(lines, stride) => {
            let lines: [&[T]; HEIGHT] = std::array::from_fn(|i| &lines[i * stride..][..right.len()]);
            for (k, right) in right.iter().enumerate() {
                for (sums, line) in sums.iter_mut().zip(lines) {
                    T::multiply_add::<V, WIDTH>(sums, line[k], &first(right));
                }
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernels::testing::{ISAS, numbers, same};

    /// The product as it is defined.
    fn plain(left: &View<'_, f64>, right: &View<'_, f64>) -> Vec<f64> {
        let element = |i, j| (0..left.columns).map(|k| left.at(i, k) * right.at(k, j)).sum();
        (0..left.rows)
            .flat_map(|i| (0..right.columns).map(move |j| (i, j)))
            .map(|(i, j)| element(i, j))
            .collect()
    }

    fn view(data: &[f64], rows: usize, columns: usize, transposed: bool) -> View<'_, f64> {
        if transposed { View::new(data, columns, rows).transposed() } else { View::new(data, rows, columns) }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn a_product_is_what_it_is_defined_to_be(
            rows in prop_oneof![Just(1usize), 0usize..120], depth in 0usize..300, columns in 0usize..150,
            transpose in any::<[bool; 2]>(), seed in any::<u64>(), gap in 0usize..3,
        ) {
            let (left, right) = (numbers(seed, rows * depth), numbers(seed ^ 1, depth * columns));
            let left = view(&left, rows, depth, transpose[0]);
            let right = view(&right, depth, columns, transpose[1]);
            let expected = plain(&left, &right);
            let stride = columns + gap;
            for isa in ISAS {
                let mut out = vec![7.0; rows * stride];
                let packed = Packed::new(right);
                gemm(isa, left, &packed, &mut out, stride, Accumulate::Overwrite, &mut Buffer::default());
                gemm(isa, left, &packed, &mut out, stride, Accumulate::Add, &mut Buffer::default());
                for (i, row) in out.chunks_exact(stride.max(1)).enumerate() {
                    let twice: Vec<f64> = expected[i * columns..][..columns].iter().map(|x| 2.0 * x).collect();
                    same(&row[..columns], &twice, 1e-12)?;
                    prop_assert!(row[columns..].iter().all(|&x| x == 7.0), "beside the matrix");
                }
            }
        }
    }

    #[test]
    fn a_product_does_not_depend_on_the_threads() {
        let (left, right): (Vec<f32>, Vec<f32>) = (numbers(1, 1000 * 300), numbers(2, 300 * 40));
        let packed = Packed::new(View::new(&right, 300, 40));
        let multiply = |rows: usize| {
            let mut out = vec![1.0; rows * 41];
            let left = View::new(&left[..rows * 300], rows, 300);
            gemm(Isa::best(), left, &packed, &mut out, 41, Accumulate::Add, &mut Buffer::default());
            out
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for rows in [2, 96, 97, 200, 300, 767, 1000] {
            assert_eq!(pool.install(|| multiply(rows)), multiply(rows), "{rows} rows");
        }
    }

    #[test]
    fn a_row_does_not_depend_on_its_neighbours() {
        let left: Vec<f32> = numbers(1, 100 * 300);
        let right: Vec<f32> = numbers(2, 300 * 40);
        let packed = Packed::new(View::new(&right, 300, 40));
        for isa in ISAS {
            let mut all = vec![0.0; 100 * 40];
            gemm(
                isa,
                View::new(&left, 100, 300),
                &packed,
                &mut all,
                40,
                Accumulate::Overwrite,
                &mut Buffer::default(),
            );
            for rows in [1, 2, 7, 11] {
                let mut some = vec![0.0; rows * 40];
                let first = View::new(&left[300 * 13..], rows, 300);
                gemm(isa, first, &packed, &mut some, 40, Accumulate::Overwrite, &mut Buffer::default());
                assert_eq!(some, all[40 * 13..40 * (13 + rows)], "{isa}, {rows} rows");
            }
        }
    }
}
