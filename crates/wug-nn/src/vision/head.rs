use serde::{Deserialize, Serialize};

use super::relation::Relation;
use crate::batch::mix;
use crate::kernels::{Accumulate, View, drop_rows, relu, relu_backward};
use crate::linear::Linear;
use crate::network::Context;
use crate::parameters::{Gradients, Layout};
use crate::recurrent::layer::{Cell, Input, Layer, State, Trace};
use crate::{Buffer, Real, Steps};

/// What a class is predicted from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Head {
    /// A hidden layer over all that the convolutions say; the frames of an example are the channels of one image.
    Hidden {
        /// Its units.
        units: usize,
        /// Probability of dropout of them.
        dropout: f64,
    },
    /// The last state of an LSTM over the frames of an example, each an image of its own.
    Lstm {
        /// Its units.
        units: usize,
    },
    /// A relation network (Santoro et al. 2017): four layers over every pair of places, their sum, and two layers.
    Relation {
        /// Units of all layers.
        units: usize,
        /// Probability of dropout of the last of them.
        dropout: f64,
    },
}

impl Head {
    fn dropout(self) -> f64 {
        match self {
            Self::Hidden { dropout, .. } | Self::Relation { dropout, .. } => dropout,
            Self::Lstm { .. } => 0.0,
        }
    }
}

/// A head laid out.
#[derive(Debug, Clone)]
pub(super) struct Laid {
    head: Head,
    kind: Kind,
    output: Linear,
}

#[derive(Debug, Clone)]
enum Kind {
    Hidden(Linear),
    Lstm(Layer),
    Relation(Box<Relation>),
}

/// What a head has computed and its backward pass needs.
pub(super) struct Judged<T> {
    /// Inputs of layers and, last, what the output reads.
    layers: Vec<Buffer<T>>,
    trace: Option<Trace<T>>,
    pub(super) scores: Buffer<T>,
}

impl<T: Real> Judged<T> {
    /// Returns the buffers to the workspace.
    pub(super) fn recycle(self, context: &mut Context<'_, T>) {
        let Self { layers, trace, scores } = self;
        context.recycle(layers);
        context.recycle([scores]);
        if let Some(trace) = trace {
            trace.recycle(context);
        }
    }
}

impl Laid {
    /// For features with this number of places and channels per image.
    pub(super) fn new(
        layout: &mut Layout,
        head: Head,
        (places, width): (usize, usize),
        classes: usize,
    ) -> Result<Self, String> {
        let (Head::Hidden { units, .. } | Head::Lstm { units } | Head::Relation { units, .. }) = head;
        if units == 0 || units > 1 << 14 || classes == 0 || classes > 1 << 20 {
            return Err("a head has 1 to 16,384 units and at least one class".to_owned());
        }
        if !(0.0..1.0).contains(&head.dropout()) {
            return Err(format!("dropout {} is not in [0, 1)", head.dropout()));
        }
        let kind = match head {
            Head::Hidden { .. } => Kind::Hidden(Linear::new(layout, "hidden", places * width, units, true)),
            Head::Lstm { .. } => {
                Kind::Lstm(Layer::new(layout, "lstm", Cell::Lstm, &[("input", places * width)], units))
            }
            Head::Relation { .. } => Kind::Relation(Box::new(Relation::new(layout, (places, width), units))),
        };
        Ok(Self { head, kind, output: Linear::new(layout, "output", units, classes, true) })
    }

    /// The scores of all classes. `x` has a row for each image: of an LSTM, the first frames of all examples, then the
    /// second. With keys, one for each example, some units are dropped.
    pub(super) fn forward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        x: Buffer<T>,
        examples: usize,
        keys: Option<&[u64]>,
    ) -> Judged<T> {
        let mut layers = vec![x];
        let mut trace = None;
        match &self.kind {
            Kind::Hidden(linear) => layers.push(rectified(context, linear, &layers[0])),
            Kind::Lstm(layer) => {
                let rows = layers[0].len() / layer.inputs[0].1;
                let steps = Steps::new(&vec![rows / examples.max(1); examples]);
                let mut run = Trace::new(context, layer, rows);
                run.run(context, layer, &steps, Input::Rows(&layers[0]), None, false);
                layers.push(run.last(layer, &steps, false).state);
                trace = Some(run);
            }
            Kind::Relation(relation) => relation.forward(context, &mut layers, examples),
        }
        if let (Some(keys), Some(last), true) = (keys, layers.last_mut(), self.head.dropout() > 0.0) {
            drop_rows(context.isa, keys, self.head.dropout(), last, self.output.inputs);
        }
        let scores = self.output.forward(context, &layers[layers.len() - 1]);
        Judged { layers, trace, scores }
    }

    /// From the gradient of the scores, which are in their place, to that of the features. What was dropped had zeros, which
    /// rectification sends no gradient to.
    pub(super) fn backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        judged: Judged<T>,
        drops: bool,
        gradients: &mut Gradients<'_, T>,
    ) -> Buffer<T> {
        let Judged { mut layers, trace, scores } = judged;
        let Some(last) = layers.pop() else { return Buffer::default() };
        self.output.learn(context, &last, &scores, gradients);
        let d = self.output.backward(context, &scores);
        let factor = T::from_f64(if drops { 1.0 / (1.0 - self.head.dropout()) } else { 1.0 });
        let d = match (&self.kind, trace) {
            (Kind::Hidden(linear), _) => {
                rectified_backward(context, linear, &layers[0], (&last, factor), d, gradients)
            }
            (Kind::Lstm(layer), Some(mut trace)) => {
                let rows = layers[0].len() / layer.inputs[0].1;
                let examples = d.len() / layer.hidden;
                let steps = Steps::new(&vec![rows / examples.max(1); examples]);
                let mut carry = State::zeros(layer, examples);
                carry.state.copy_from_slice(&d);
                let mut d_state = context.zeros(rows * layer.hidden);
                trace.run_backward(context, layer, &steps, &mut d_state, &mut carry, false);
                trace.learn(context, layer, gradients);
                trace.learn_input(context, layer, 0, &layers[0], gradients);
                let mut d_x = context.take(layers[0].len());
                trace.input_backward(context, layer, 0, 0..rows, &mut d_x, Accumulate::Overwrite);
                trace.recycle(context);
                context.recycle([d, d_state]);
                d_x
            }
            (Kind::Lstm(_), None) => d,
            (Kind::Relation(relation), _) => {
                relation.backward(context, &mut layers, (&last, factor), d, gradients)
            }
        };
        context.recycle(layers);
        context.recycle([last, scores]);
        d
    }
}

/// `max(W x + b, 0)` for every row.
pub(super) fn rectified<T: Real>(context: &mut Context<'_, T>, linear: &Linear, x: &[T]) -> Buffer<T> {
    let rows = x.len() / linear.inputs;
    let mut y = context.take(rows * linear.outputs);
    context.apply(
        linear.weight,
        View::new(x, rows, linear.inputs),
        &mut y,
        linear.outputs,
        Accumulate::Overwrite,
    );
    let bias = linear.bias.map(|bias| context.flat(bias)).unwrap_or_default();
    relu(context.isa, bias, &mut y);
    y
}

/// The backward context: `y` is what came out, multiplied by `factor` where it was not dropped.
pub(super) fn rectified_backward<T: Real>(
    context: &mut Context<'_, T>,
    linear: &Linear,
    x: &[T],
    (y, factor): (&[T], T),
    mut d: Buffer<T>,
    gradients: &mut Gradients<'_, T>,
) -> Buffer<T> {
    relu_backward(context.isa, y, factor, &mut d);
    linear.learn(context, x, &d, gradients);
    let d_x = linear.backward(context, &d);
    context.recycle([d]);
    d_x
}

/// What dropout of an example depends on.
pub(super) fn key(step: u64, example: usize) -> u64 {
    mix(mix(step ^ 0x5EE5) ^ example as u64)
}
