use crate::kernels::{Accumulate, View, add_columns, add_row};
use crate::network::Context;
use crate::parameters::{Gradients, Init, Layout, TensorId};
use crate::{Buffer, Real};

/// A linear layer: `W x + b` for every row, with or without the bias.
#[derive(Debug, Clone, Copy)]
pub struct Linear {
    pub(crate) weight: TensorId,
    pub(crate) bias: Option<TensorId>,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl Linear {
    /// Adds its parameters to a layout, uniform within one over the root of `inputs` as in PyTorch.
    pub fn new(layout: &mut Layout, name: &str, inputs: usize, outputs: usize, bias: bool) -> Self {
        let bound = 1.0 / (inputs as f64).sqrt();
        Self {
            weight: layout.add(name, outputs, inputs, Init::Matrix(bound)),
            bias: bias.then(|| layout.add(format!("{name}.bias"), 1, outputs, Init::Vector(bound))),
            inputs,
            outputs,
        }
    }

    /// `W x` for every row, without the bias, which [`Linear::bias`] gives to whoever fuses it with something else.
    pub(crate) fn forward_without_bias<T: Real>(&self, context: &mut Context<'_, T>, x: &[T], out: &mut [T]) {
        let x = View::new(x, x.len() / self.inputs, self.inputs);
        context.apply(self.weight, x, out, self.outputs, Accumulate::Overwrite);
    }

    /// The bias, empty if there is none.
    pub(crate) fn bias<'a, T: Real>(&self, context: &Context<'a, T>) -> &'a [T] {
        self.bias.map(|bias| context.flat(bias)).unwrap_or_default()
    }

    /// `W x + b` for every row.
    pub fn forward<T: Real>(&self, context: &mut Context<'_, T>, x: &[T]) -> Buffer<T> {
        let mut out = context.take(x.len() / self.inputs * self.outputs);
        self.forward_into(context, x, &mut out, Accumulate::Overwrite);
        out
    }

    /// `W x + b` for every row, or that added to what is there.
    pub(crate) fn forward_into<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        x: &[T],
        out: &mut [T],
        into: Accumulate,
    ) {
        let x = View::new(x, x.len() / self.inputs, self.inputs);
        context.apply(self.weight, x, out, self.outputs, into);
        if let Some(bias) = self.bias {
            add_row(context.isa, context.flat(bias), out, self.outputs);
        }
    }

    /// The gradient of the input.
    pub fn backward<T: Real>(&self, context: &mut Context<'_, T>, d: &[T]) -> Buffer<T> {
        let rows = d.len() / self.outputs;
        let mut d_x = context.take(rows * self.inputs);
        self.backward_into(context, d, &mut d_x, Accumulate::Overwrite);
        d_x
    }

    /// The gradient of the input, or that added to what is there.
    pub(crate) fn backward_into<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        d: &[T],
        d_x: &mut [T],
        into: Accumulate,
    ) {
        let d = View::new(d, d.len() / self.outputs, self.outputs);
        context.apply_backward(self.weight, d, d_x, self.inputs, into);
    }

    /// Adds the gradients of the matrix and the bias.
    pub fn learn<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        x: &[T],
        d: &[T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let rows = d.len() / self.outputs;
        let view = View::new;
        let (d_rows, x) = (view(d, rows, self.outputs), view(x, rows, self.inputs));
        context.learn(self.weight, d_rows, x, self.inputs, gradients);
        if let Some(bias) = self.bias {
            let d_bias = gradients.of(bias);
            add_columns(context.isa, d, self.outputs, d_bias);
        }
    }
}
