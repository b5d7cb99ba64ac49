use serde::{Deserialize, Serialize};

use crate::batch::mix;
use crate::kernels::{Accumulate, View, add, add_columns, drop_rows, relu, relu_backward};
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

/// The layers of a relation network. A pair is first read by one matrix for each of the two: their sum is what one matrix
/// would make of the pair.
#[derive(Debug, Clone)]
struct Relation {
    places: usize,
    one: Linear,
    other: Linear,
    pairs: Vec<Linear>,
    sums: Vec<Linear>,
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
            Head::Relation { .. } => {
                let one = Linear::new(layout, "relation.one", width + 2, units, false);
                let other = Linear::new(layout, "relation.other", width + 2, units, true);
                let mut layer = |name: String| Linear::new(layout, &name, units, units, true);
                let pairs = (1..4).map(|l| layer(format!("relation.{l}"))).collect();
                let sums = (0..2).map(|l| layer(format!("sum.{l}"))).collect();
                Kind::Relation(Box::new(Relation { places, one, other, pairs, sums }))
            }
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
fn rectified<T: Real>(context: &mut Context<'_, T>, linear: &Linear, x: &[T]) -> Buffer<T> {
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
fn rectified_backward<T: Real>(
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

impl Relation {
    /// Adds to the layers: the places with their coordinates, four layers of all pairs, their sums, two layers of these.
    fn forward<T: Real>(&self, context: &mut Context<'_, T>, layers: &mut Vec<Buffer<T>>, examples: usize) {
        let (places, units, width) = (self.places, self.one.outputs, self.one.inputs - 2);
        let side = (places as f64).sqrt().round().max(1.0) as usize;
        let middle = ((side - 1) as f64 / 2.0).max(0.5);
        let mut objects = context.take(examples * places * (width + 2));
        let rows = objects.chunks_exact_mut(width + 2).zip(layers[0].chunks_exact(width));
        for (row, (object, x)) in rows.enumerate() {
            let place = row % places;
            let coordinate = |at: usize| T::from_f64((at as f64 - (side - 1) as f64 / 2.0) / middle);
            object[..width].copy_from_slice(x);
            object[width..].copy_from_slice(&[coordinate(place / side), coordinate(place % side)]);
        }
        let (one, other) = (self.one.forward(context, &objects), self.other.forward(context, &objects));
        let mut first = context.take(examples * places * places * units);
        for (row, first) in first.chunks_exact_mut(units).enumerate() {
            let (i, j) = (row / places, row / (places * places) * places + row % places);
            let pair = one[i * units..][..units].iter().zip(&other[j * units..][..units]);
            for (first, (&one, &other)) in first.iter_mut().zip(pair) {
                let sum = one + other;
                *first = if sum > T::ZERO { sum } else { T::ZERO };
            }
        }
        context.recycle([one, other]);
        layers.extend([objects, first]);
        for linear in &self.pairs {
            let y = rectified(context, linear, &layers[layers.len() - 1]);
            layers.push(y);
        }
        let mut sums = context.zeros(examples * units);
        let pairs = layers[layers.len() - 1].chunks_exact(places * places * units);
        for (sum, pairs) in sums.chunks_exact_mut(units).zip(pairs) {
            add_columns(context.isa, pairs, units, sum);
        }
        layers.push(sums);
        for linear in &self.sums {
            let y = rectified(context, linear, &layers[layers.len() - 1]);
            layers.push(y);
        }
    }

    /// The backward context; `last` has been taken from the layers.
    fn backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        layers: &mut Vec<Buffer<T>>,
        last: (&[T], T),
        mut d: Buffer<T>,
        gradients: &mut Gradients<'_, T>,
    ) -> Buffer<T> {
        let (places, units, width) = (self.places, self.one.outputs, self.one.inputs - 2);
        let mut y = Buffer::default();
        for (i, linear) in self.sums.iter().enumerate().rev() {
            let x = layers.pop().unwrap_or_default();
            let above = if i + 1 == self.sums.len() { last } else { (&y[..], T::ONE) };
            d = rectified_backward(context, linear, &x, above, d, gradients);
            context.recycle([std::mem::replace(&mut y, x)]);
        }
        let mut d_pairs = context.take(d.len() * places * places);
        for (d_pairs, d) in d_pairs.chunks_exact_mut(places * places * units).zip(d.chunks_exact(units)) {
            d_pairs.chunks_exact_mut(units).for_each(|row| row.copy_from_slice(d));
        }
        context.recycle([std::mem::replace(&mut d, d_pairs)]);
        let mut y = layers.pop().unwrap_or_default();
        for linear in self.pairs.iter().rev() {
            let x = layers.pop().unwrap_or_default();
            d = rectified_backward(context, linear, &x, (&y, T::ONE), d, gradients);
            context.recycle([std::mem::replace(&mut y, x)]);
        }
        relu_backward(context.isa, &y, T::ONE, &mut d);
        let objects = layers.pop().unwrap_or_default();
        let rows = objects.len() / (width + 2);
        let (mut d_one, mut d_other) = (context.zeros(rows * units), context.zeros(rows * units));
        for (row, d) in d.chunks_exact(units).enumerate() {
            let (i, j) = (row / places, row / (places * places) * places + row % places);
            add(context.isa, d, &mut d_one[i * units..][..units]);
            add(context.isa, d, &mut d_other[j * units..][..units]);
        }
        self.one.learn(context, &objects, &d_one, gradients);
        self.other.learn(context, &objects, &d_other, gradients);
        let mut d_objects = self.one.backward(context, &d_one);
        self.other.backward_into(context, &d_other, &mut d_objects, Accumulate::Add);
        let mut d_x = context.take(rows * width);
        for (d_x, d) in d_x.chunks_exact_mut(width).zip(d_objects.chunks_exact(width + 2)) {
            d_x.copy_from_slice(&d[..width]);
        }
        context.recycle([d, y, objects, d_one, d_other, d_objects]);
        d_x
    }
}

/// What dropout of an example depends on.
pub(super) fn key(step: u64, example: usize) -> u64 {
    mix(mix(step ^ 0x5EE5) ^ example as u64)
}
