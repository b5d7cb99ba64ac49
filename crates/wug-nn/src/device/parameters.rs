use burn_tensor::{Device, Gradients, Tensor, TensorData};

use crate::linear::Linear;
use crate::parameters::{Layout, TensorId};

/// The parameters of a model on a device, in the order of its layout.
pub(crate) struct Parameters {
    tensors: Vec<Tensor<2>>,
    transposed: Vec<Tensor<2>>,
}

impl Parameters {
    /// Brings the flat buffer to the device in one piece. On a device with gradients each tensor has one.
    pub(crate) fn read(layout: &Layout, values: &[f32], device: &Device) -> Self {
        let plain = device.clone().without_autodiff();
        let flat = Tensor::<1>::from_data(TensorData::new(values.to_vec(), [values.len()]), &plain);
        // Cut before there are gradients: each piece then has one of its own size and not of the whole buffer's.
        let cut = |tensor: &crate::Tensor| {
            let piece = flat.clone().slice(tensor.range()).reshape([tensor.rows, tensor.columns]);
            if device.is_autodiff() { piece.autodiff().require_grad() } else { piece }
        };
        let tensors: Vec<Tensor<2>> = layout.tensors().iter().map(cut).collect();
        let transposed = tensors.iter().map(|tensor| tensor.clone().transpose()).collect();
        Self { tensors, transposed }
    }

    /// A tensor as it is.
    pub(crate) fn get(&self, id: TensorId) -> Tensor<2> {
        self.tensors[id.index()].clone()
    }

    /// A matrix as the right factor of a product with rows.
    pub(crate) fn factor(&self, id: TensorId) -> Tensor<2> {
        self.transposed[id.index()].clone()
    }

    /// `W x + b` for every row.
    pub(crate) fn linear(&self, linear: &Linear, x: Tensor<2>) -> Tensor<2> {
        let y = x.matmul(self.factor(linear.weight));
        linear.bias.map_or(y.clone(), |bias| y + self.get(bias))
    }

    /// The gradients of all tensors in one flat buffer, still on the device; zeros for what the loss does not depend on.
    pub(crate) fn gradients(&self, gradients: &mut Gradients) -> Tensor<1> {
        let flat = |tensor: &Tensor<2>| {
            let gradient = tensor.grad_remove(gradients);
            let gradient = gradient.unwrap_or_else(|| tensor.clone().without_autodiff().zeros_like());
            gradient.flatten(0, 1)
        };
        Tensor::cat(self.tensors.iter().map(flat).collect(), 0)
    }
}
