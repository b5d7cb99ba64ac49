use rayon::prelude::*;

use crate::Real;
use crate::batch::{Batch, Lesson};
use crate::config::Model;
use crate::kernels::{AdamStep, Isa, adam, add, descend, squares};
use crate::parameters::Weights;
use crate::recurrent::Pass;

/// At most so many examples are computed together by one thread. Small enough to feed two cores at batch 32, large enough
/// to fill the tiles of a product.
const SHARD: usize = 32;

/// Computes losses, gradients and answers of a model.
///
/// A batch is divided into shards by its size alone, each shard is computed by one thread, and their gradients are added in
/// order: the result does not depend on how many threads there are.
#[derive(Debug)]
pub struct Engine<T> {
    model: Model,
    isa: Isa,
    weights: Weights<T>,
    gradients: Vec<Vec<T>>,
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcome {
    /// Cross-entropy, summed over all words.
    pub loss: f64,
    /// Words of the targets.
    pub words: usize,
    /// Examples whose every word was predicted.
    pub right: usize,
}

impl Outcome {
    pub(crate) fn add(&mut self, other: Self) {
        self.loss += other.loss;
        self.words += other.words;
        self.right += other.right;
    }
}

/// How many examples a shard of a batch has.
fn shard_size(examples: usize) -> usize {
    let shards = examples.div_ceil(SHARD).max(if examples >= 16 { 2 } else { 1 });
    examples.div_ceil(shards).max(1)
}

impl<T: Real> Engine<T> {
    /// An engine for a model.
    pub fn new(model: Model, isa: Isa) -> Self {
        Self { model, isa, weights: Weights::default(), gradients: Vec::new() }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The loss of a batch and its gradient times `factor`, in the order of the flat buffer. With a key, what dropout drops
    /// depends on it; without, nothing is dropped.
    pub fn learn(
        &mut self,
        values: &[T],
        lessons: &[Lesson<'_>],
        factor: f64,
        key: Option<u64>,
    ) -> (Outcome, &mut [T]) {
        self.weights.read(&self.model.layout, values, true);
        let size = shard_size(lessons.len());
        let shards = lessons.len().div_ceil(size).max(1);
        self.gradients.resize_with(shards.max(self.gradients.len()), Vec::new);
        let (model, isa, weights) = (&self.model, self.isa, &self.weights);
        let work = |(i, gradients): (usize, &mut Vec<T>)| {
            gradients.clear();
            gradients.resize(values.len(), T::ZERO);
            let first = i * size;
            let shard = &lessons[first..lessons.len().min(first + size)];
            shard_pass(model, isa, weights, &Batch::new(shard, first), T::from_f64(factor), key, gradients)
        };
        let outcomes: Vec<Outcome> = if shards == 1 {
            self.gradients[..1].iter_mut().enumerate().map(work).collect()
        } else {
            self.gradients[..shards].par_iter_mut().enumerate().map(work).collect()
        };
        let (sum, rest) = self.gradients.split_at_mut(1);
        for gradients in &rest[..shards - 1] {
            add(isa, gradients, &mut sum[0]);
        }
        let mut all = Outcome::default();
        outcomes.into_iter().for_each(|outcome| all.add(outcome));
        (all, &mut self.gradients[0])
    }

    /// What the model answers to each source, word by word the most probable, for at most so many words. `None` where it
    /// comes to no end.
    pub fn answer(&mut self, values: &[T], sources: &[&[u32]], longest: usize) -> Vec<Option<Vec<u32>>> {
        self.weights.read(&self.model.layout, values, false);
        let mut order: Vec<usize> = (0..sources.len()).collect();
        // Sources of like length have answers of like length, mostly: a shard then ends early.
        order.sort_by_key(|&i| sources[i].len());
        let answered: Vec<Vec<(usize, Option<Vec<u32>>)>> = order
            .par_chunks(2 * SHARD)
            .map(|shard| {
                let asked: Vec<&[u32]> = shard.iter().map(|&i| sources[i]).collect();
                let answers = answer_shard(&self.model, self.isa, &self.weights, &asked, longest + 1);
                shard.iter().copied().zip(answers).collect()
            })
            .collect();
        let mut answers = vec![None; sources.len()];
        for (i, answer) in answered.into_iter().flatten() {
            answers[i] = answer;
        }
        answers
    }
}

fn shard_pass<T: Real>(
    model: &Model,
    isa: Isa,
    weights: &Weights<T>,
    batch: &Batch,
    factor: T,
    key: Option<u64>,
    gradients: &mut [T],
) -> Outcome {
    let mut pass = Pass::new(isa, weights);
    let encoded = model.encode(&mut pass, batch, key);
    let first = model.bridge(&mut pass, &encoded.last);
    let mut decoded = model.decode(&mut pass, batch, &encoded, &first, key);
    let mut wrong = vec![false; batch.forced.len()];
    for t in 0..batch.targets.len() {
        let start = batch.targets.start(t);
        for (row, wrong) in wrong[..batch.targets.rows(t)].iter_mut().enumerate() {
            *wrong |= decoded.said[start + row] != batch.target_words[start + row];
        }
    }
    let (loss, d_memory, d_first) =
        model.decode_backward(&mut pass, batch, &encoded, &mut decoded, factor, gradients);
    let d_last = model.bridge_backward(&mut pass, &encoded.last, &first, d_first, gradients);
    model.encode_backward(&mut pass, batch, &encoded, d_memory, &d_last, gradients);
    let right = wrong.iter().filter(|&&wrong| !wrong).count();
    Outcome { loss, words: batch.target_words.len(), right }
}

fn answer_shard<T: Real>(
    model: &Model,
    isa: Isa,
    weights: &Weights<T>,
    sources: &[&[u32]],
    steps: usize,
) -> Vec<Option<Vec<u32>>> {
    let batch = Batch::questions(sources, steps);
    let mut pass = Pass::new(isa, weights);
    let encoded = model.encode(&mut pass, &batch, None);
    let first = model.bridge(&mut pass, &encoded.last);
    let decoded = model.decode(&mut pass, &batch, &encoded, &first, None);
    let mut answers = vec![None; sources.len()];
    for (row, &i) in batch.target_index.iter().enumerate() {
        let words = (0..steps).map(|t| decoded.said[batch.targets.start(t) + row]);
        let said: Vec<u32> = words.take_while(|&word| word != 0).collect();
        answers[i] = (said.len() < steps).then_some(said);
    }
    answers
}

/// How parameters follow their gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Adam with its usual constants: 0.9, 0.999, 1e-8.
    Adam,
    /// Gradient descent.
    Sgd,
}

/// An optimiser and what it remembers.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimiser<T> {
    /// How parameters follow their gradients.
    pub rule: Rule,
    /// Adam's means of the gradients and of their squares; empty for gradient descent.
    pub moments: [Vec<T>; 2],
    /// Adam's constants to the power of the number of steps.
    pub powers: [f64; 2],
}

impl<T: Real> Optimiser<T> {
    /// An optimiser of so many parameters that has made no step.
    pub fn new(rule: Rule, parameters: usize) -> Self {
        let size = if rule == Rule::Adam { parameters } else { 0 };
        Self { rule, moments: [vec![T::ZERO; size], vec![T::ZERO; size]], powers: [1.0, 1.0] }
    }

    /// Makes a step. The gradient is shortened to the length `clip` if it is longer (0: never); its length is returned.
    pub fn step(
        &mut self,
        isa: Isa,
        values: &mut [T],
        gradients: &[T],
        rate: f64,
        clip: f64,
        weight_decay: f64,
    ) -> f64 {
        let norm = squares(isa, gradients).sqrt();
        let factor = if clip > 0.0 && norm > clip { clip / (norm + 1e-6) } else { 1.0 };
        match self.rule {
            Rule::Sgd => descend(isa, rate, factor, weight_decay, values, gradients),
            Rule::Adam => {
                let (beta1, beta2) = (0.9, 0.999);
                self.powers = [self.powers[0] * beta1, self.powers[1] * beta2];
                let step = AdamStep {
                    rate: rate / (1.0 - self.powers[0]),
                    correction: (1.0 - self.powers[1]).sqrt(),
                    beta1,
                    beta2,
                    epsilon: 1e-8,
                    factor,
                    weight_decay,
                };
                let [means, squares] = &mut self.moments;
                adam(isa, step, values, gradients, means, squares);
            }
        }
        norm
    }
}
