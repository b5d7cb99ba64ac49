use std::ops::Range;

use rayon::prelude::*;

use crate::kernels::{self, Packed, View};
use crate::{Buffer, Real};

/// How a tensor is initialised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    /// A matrix that is a factor of products, uniform between minus and plus this.
    Matrix(f64),
    /// A vector, uniform between minus and plus this.
    Vector(f64),
    /// An embedding table, normal with mean 0 and deviation 1.
    Table,
    /// A matrix that is a factor of products, normal with mean 0 and this deviation.
    NormalMatrix(f64),
    /// A table or a vector, normal with mean 0 and this deviation.
    Normal(f64),
    /// The same number everywhere.
    Constant(f64),
}

impl Init {
    /// Whether it is a factor of products.
    fn is_matrix(self) -> bool {
        matches!(self, Self::Matrix(_) | Self::NormalMatrix(_))
    }
}

/// A named matrix (or, with one row, a vector) in the flat buffer of all parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// `encoder.0.forward.input`, ...
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    start: usize,
    first: Init,
    /// Taps of the kernels of a convolution, whose inputs are stacked once for each tap; 0 for what is none.
    taps: usize,
}

impl Tensor {
    /// Its place in the flat buffer.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }
}

/// A tensor of a [`Layout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorId(usize);

impl TensorId {
    /// Whether it is the first of its layout.
    pub(crate) fn is_first(self) -> bool {
        self.0 == 0
    }

    /// Its place among the tensors.
    #[cfg(feature = "burn")]
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// All tensors of a model, one after the other in one flat buffer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    tensors: Vec<Tensor>,
}

impl Layout {
    /// Adds a tensor behind the others.
    pub fn add(&mut self, name: impl Into<String>, rows: usize, columns: usize, first: Init) -> TensorId {
        let start = self.len();
        self.tensors.push(Tensor { name: name.into(), rows, columns, start, first, taps: 0 });
        TensorId(self.tensors.len() - 1)
    }

    /// The kernels of a convolution: for each tap and input a row of outputs.
    pub(crate) fn add_kernels(
        &mut self,
        name: impl Into<String>,
        taps: usize,
        inputs: usize,
        outputs: usize,
        first: Init,
    ) -> TensorId {
        let id = self.add(name, taps * inputs, outputs, first);
        self.tensors[id.0].taps = taps;
        id
    }

    /// Adds the tensors of another layout, to be given to it as they are: none is packed for products.
    pub(crate) fn include(&mut self, other: &Self) -> Vec<TensorId> {
        let plain = |first: Init| match first {
            Init::Matrix(bound) => Init::Vector(bound),
            Init::NormalMatrix(deviation) => Init::Normal(deviation),
            first => first,
        };
        let tensors = other.tensors.iter();
        tensors.map(|each| self.add(&each.name, each.rows, each.columns, plain(each.first))).collect()
    }

    /// The tensors in order.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The length of the flat buffer.
    pub fn len(&self) -> usize {
        self.tensors.last().map_or(0, |tensor| tensor.range().end)
    }

    /// Whether there is no tensor.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    pub(crate) fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// First values. `unit` draws uniformly from [0, 1).
    ///
    /// A normal number is the sum of twelve uniform ones less six: exact arithmetic, so the same on any machine.
    pub fn draw<T: Real>(&self, mut unit: impl FnMut() -> f64) -> Buffer<T> {
        let mut values = Vec::with_capacity(self.len());
        for tensor in &self.tensors {
            for _ in tensor.range() {
                values.push(T::from_f64(match tensor.first {
                    Init::Matrix(bound) | Init::Vector(bound) => (2.0 * unit() - 1.0) * bound,
                    Init::Table => normal(&mut unit),
                    Init::NormalMatrix(deviation) | Init::Normal(deviation) => deviation * normal(&mut unit),
                    Init::Constant(number) => number,
                }));
            }
        }
        values.into()
    }
}

/// A normal number, mean 0 and deviation 1.
fn normal(unit: &mut impl FnMut() -> f64) -> f64 {
    (0..12).map(|_| unit()).sum::<f64>() - 6.0
}

/// The gradient of a flat buffer of parameters, tensor by tensor. The buffer is not cleared before: what it held of a tensor is
/// forgotten when the tensor's first gradient comes, and of the others in the end.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    layout: &'a Layout,
    values: &'a mut [T],
    /// The gradient of what replaces the first tensor, if something does.
    table: Option<&'a mut [T]>,
    begun: Vec<bool>,
}

impl<'a, T: Real> Gradients<'a, T> {
    /// `values` are laid out as the parameters, whatever they hold.
    pub(crate) fn new(layout: &'a Layout, values: &'a mut [T]) -> Self {
        assert_eq!(values.len(), layout.len());
        Self { layout, values, table: None, begun: vec![false; layout.tensors.len()] }
    }

    /// With the gradient of what replaces the first tensor.
    pub(crate) fn with_table(self, table: Option<&'a mut [T]>) -> Self {
        Self { table, ..self }
    }

    /// The gradients of the first tensors, for whoever writes all of them.
    pub(crate) fn first(&mut self, tensors: usize) -> &mut [T] {
        self.begun[..tensors].fill(true);
        let end = self.layout.tensors[..tensors].last().map_or(0, |tensor| tensor.range().end);
        &mut self.values[..end]
    }

    /// The gradient of a tensor, and whether what comes now takes its place or is added to it.
    pub(crate) fn begin(&mut self, id: TensorId) -> (&mut [T], kernels::Accumulate) {
        let into = if std::mem::replace(&mut self.begun[id.0], true) {
            kernels::Accumulate::Add
        } else {
            kernels::Accumulate::Overwrite
        };
        match &mut self.table {
            Some(table) if id.is_first() => (table, into),
            _ => (&mut self.values[self.layout.tensor(id).range()], into),
        }
    }

    /// The gradient of a tensor, to be added to.
    pub fn of(&mut self, id: TensorId) -> &mut [T] {
        let (values, into) = self.begin(id);
        if into == kernels::Accumulate::Overwrite {
            values.fill(T::ZERO);
        }
        values
    }

    /// The gradients of two tensors that follow each other.
    pub(crate) fn two(&mut self, first: TensorId, second: TensorId) -> (&mut [T], &mut [T]) {
        self.of(first);
        self.of(second);
        let (first, second) = (self.layout.tensor(first).range(), self.layout.tensor(second).range());
        assert_eq!(first.end, second.start);
        self.values[first.start..second.end].split_at_mut(first.len())
    }

    /// Zeros for every tensor that nothing was added to.
    pub(crate) fn finish(mut self) {
        if let Some(table) = self.table.take().filter(|_| !self.begun[0]) {
            table.fill(T::ZERO);
        }
        for (tensor, _) in self.layout.tensors.iter().zip(self.begun).filter(|(_, begun)| !begun) {
            self.values[tensor.range()].fill(T::ZERO);
        }
    }
}

/// The parameters as products read them: each matrix in the order of a right factor, once for the way forward and once for
/// the backward context. Made once for each step of training and shared by all threads.
#[derive(Debug, Default)]
pub(crate) struct Weights<T> {
    ranges: Vec<Range<usize>>,
    forward: Vec<Packed<T>>,
    backward: Vec<Packed<T>>,
}

impl<T: Real> Weights<T> {
    /// Reads the parameters; `backward` only if there will be a backward pass.
    pub(crate) fn read(&mut self, layout: &Layout, values: &[T], backward: bool) {
        assert_eq!(values.len(), layout.len());
        self.ranges = layout.tensors.iter().map(Tensor::range).collect();
        self.forward.resize_with(layout.tensors.len(), Packed::default);
        self.backward.resize_with(layout.tensors.len(), Packed::default);
        let both = self.forward.par_iter_mut().zip(&mut self.backward);
        both.zip(&layout.tensors).for_each(|((forward, back), tensor)| {
            let matrix = View::new(&values[tensor.range()], tensor.rows, tensor.columns);
            if tensor.taps > 0 {
                // A step of training reads them once each way: whoever does packs them.
                if backward {
                    *forward = Packed::default();
                } else {
                    forward.pack(matrix);
                }
            } else if tensor.first.is_matrix() {
                forward.pack(matrix.transposed());
                if backward {
                    back.pack(matrix);
                }
            }
        });
    }

    /// Where the values of a tensor are.
    pub(crate) fn range(&self, id: TensorId) -> Range<usize> {
        self.ranges[id.0].clone()
    }

    /// Right factor of `x * W^T`; of a convolution, the rows of its taps below each other, but nothing in training.
    pub(crate) fn forward(&self, id: TensorId) -> &Packed<T> {
        &self.forward[id.0]
    }

    /// Right factor of `d * W`; of a convolution nothing.
    pub(crate) fn backward(&self, id: TensorId) -> &Packed<T> {
        &self.backward[id.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_forget_what_the_buffer_held() {
        let mut layout = Layout::default();
        let ids = ["a", "b", "c", "d", "e"].map(|name| layout.add(name, 1, 2, Init::Vector(1.0)));
        let mut values = vec![7.0; layout.len()];
        let mut gradients = Gradients::new(&layout, &mut values);
        for expected in [kernels::Accumulate::Overwrite, kernels::Accumulate::Add] {
            let (a, into) = gradients.begin(ids[0]);
            assert_eq!(into, expected);
            a.fill(1.0);
        }
        gradients.of(ids[1])[0] += 2.0;
        gradients.of(ids[1])[0] += 2.0;
        let (c, d) = gradients.two(ids[2], ids[3]);
        c[1] += 3.0;
        d[0] += 4.0;
        gradients.finish();
        assert_eq!(values, [1.0, 1.0, 4.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0]);
    }
}
