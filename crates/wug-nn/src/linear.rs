use crate::kernels::{Into, View, add_columns, add_row};
use crate::network::Pass;
use crate::parameters::{Gradients, Id, Layout, Start};
use crate::{Buffer, Real};

/// A matrix and perhaps a bias.
#[derive(Debug, Clone)]
pub(crate) struct Linear {
    pub(crate) weight: Id,
    pub(crate) bias: Option<Id>,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl Linear {
    pub(crate) fn new(layout: &mut Layout, name: &str, inputs: usize, outputs: usize, bias: bool) -> Self {
        let bound = 1.0 / (inputs as f64).sqrt();
        Self {
            weight: layout.add(name, outputs, inputs, Start::Matrix(bound)),
            bias: bias.then(|| layout.add(format!("{name}.bias"), 1, outputs, Start::Vector(bound))),
            inputs,
            outputs,
        }
    }

    /// `W x + b` for every row.
    pub(crate) fn forward<T: Real>(&self, pass: &mut Pass<'_, T>, x: &[T]) -> Buffer<T> {
        let mut out = pass.any(x.len() / self.inputs * self.outputs);
        self.forward_into(pass, x, &mut out, Into::Replace);
        out
    }

    /// `W x + b` for every row, or that added to what is there.
    pub(crate) fn forward_into<T: Real>(&self, pass: &mut Pass<'_, T>, x: &[T], out: &mut [T], into: Into) {
        let x = View::new(x, x.len() / self.inputs, self.inputs);
        pass.apply(self.weight, x, out, self.outputs, into);
        if let Some(bias) = self.bias {
            add_row(pass.isa, pass.flat(bias), out, self.outputs);
        }
    }

    /// The gradient of the input.
    pub(crate) fn backward<T: Real>(&self, pass: &mut Pass<'_, T>, d: &[T]) -> Buffer<T> {
        let rows = d.len() / self.outputs;
        let mut d_x = pass.any(rows * self.inputs);
        self.backward_into(pass, d, &mut d_x, Into::Replace);
        d_x
    }

    /// The gradient of the input, or that added to what is there.
    pub(crate) fn backward_into<T: Real>(&self, pass: &mut Pass<'_, T>, d: &[T], d_x: &mut [T], into: Into) {
        let d = View::new(d, d.len() / self.outputs, self.outputs);
        pass.apply_backward(self.weight, d, d_x, self.inputs, into);
    }

    /// Adds the gradients of the matrix and the bias.
    pub(crate) fn learn<T: Real>(
        &self,
        pass: &mut Pass<'_, T>,
        x: &[T],
        d: &[T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let rows = d.len() / self.outputs;
        let view = View::new;
        let (d_rows, x) = (view(d, rows, self.outputs), view(x, rows, self.inputs));
        pass.learn(self.weight, d_rows, x, self.inputs, gradients);
        if let Some(bias) = self.bias {
            let d_bias = gradients.of(bias);
            add_columns(pass.isa, d, self.outputs, d_bias);
        }
    }
}
