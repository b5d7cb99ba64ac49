use rayon::prelude::*;

use crate::Real;
use crate::kernels::{Isa, add};
use crate::network::{Lesson, Network, Outcome, Pass, Query, Room, Shard, Step};
use crate::parameters::Weights;

/// At most so many examples are computed together by one thread. Small enough to feed two cores at batch 32, large enough
/// to fill the tiles of a product.
const SHARD: usize = 32;

/// Parameters that are added up by one thread at a time.
pub(crate) const BLOCK: usize = 1 << 15;

/// Computes losses, gradients and answers of a model.
///
/// A batch is divided into shards by its size alone, each shard is computed by one thread, and their gradients are added in
/// order: the result does not depend on how many threads there are.
#[derive(Debug)]
pub struct Engine<T> {
    network: Box<dyn Network<T>>,
    isa: Isa,
    weights: Weights<T>,
    workers: Vec<Worker<T>>,
}

/// What a shard is computed in.
#[derive(Debug, Default)]
struct Worker<T> {
    gradients: Vec<T>,
    room: Room<T>,
}

/// How many examples a shard of a batch has.
fn shard_size(examples: usize) -> usize {
    let shards = examples.div_ceil(SHARD).max(if examples >= 16 { 2 } else { 1 });
    examples.div_ceil(shards).max(1)
}

impl<T: Real> Engine<T> {
    /// An engine for a model.
    pub fn new(network: impl Network<T> + 'static, isa: Isa) -> Self {
        Self::boxed(Box::new(network), isa)
    }

    /// An engine for some model.
    pub fn boxed(network: Box<dyn Network<T>>, isa: Isa) -> Self {
        Self { network, isa, weights: Weights::default(), workers: Vec::new() }
    }

    /// The model.
    pub fn network(&self) -> &dyn Network<T> {
        self.network.as_ref()
    }

    /// The loss of a batch and its gradient, in the order of the flat buffer.
    pub fn learn(&mut self, values: &[T], lessons: &[Lesson<'_>], step: Step) -> (Outcome, &mut [T]) {
        self.weights.read(self.network.layout(), values, true);
        let size = shard_size(lessons.len());
        let shards = lessons.len().div_ceil(size).max(1);
        self.workers.resize_with(shards.max(self.workers.len()), Worker::default);
        let (network, isa, weights) = (&self.network, self.isa, &self.weights);
        let work = |(i, worker): (usize, &mut Worker<T>)| {
            worker.gradients.clear();
            worker.gradients.resize(values.len(), T::ZERO);
            let first = i * size;
            let shard = Shard { lessons: &lessons[first..lessons.len().min(first + size)], first, step };
            let mut pass = Pass::new(isa, weights, values, &mut worker.room);
            network.learn(&mut pass, &shard, &mut worker.gradients)
        };
        let outcomes: Vec<Outcome> = if shards == 1 {
            self.workers[..1].iter_mut().enumerate().map(work).collect()
        } else {
            self.workers[..shards].par_iter_mut().enumerate().map(work).collect()
        };
        let (sum, rest) = self.workers.split_at_mut(1);
        let sum = &mut sum[0].gradients;
        sum.par_chunks_mut(BLOCK).enumerate().for_each(|(i, sum)| {
            for worker in &rest[..shards - 1] {
                add(isa, &worker.gradients[i * BLOCK..][..sum.len()], sum);
            }
        });
        let mut all = Outcome::default();
        for outcome in outcomes {
            all.loss += outcome.loss;
            all.words += outcome.words;
            all.right += outcome.right;
        }
        (all, &mut self.workers[0].gradients)
    }

    /// What the model answers to each query, word by word the most probable, in at most so many words. `None` where it
    /// comes to no end.
    pub fn answer(&mut self, values: &[T], queries: &[Query<'_>], longest: usize) -> Vec<Option<Vec<u32>>> {
        self.weights.read(self.network.layout(), values, false);
        let mut order: Vec<usize> = (0..queries.len()).collect();
        // Sources of like length have answers of like length, mostly: a shard then ends early.
        order.sort_by_key(|&i| queries[i].source.len());
        let answered: Vec<Vec<Option<Vec<u32>>>> = order
            .par_chunks(2 * SHARD)
            .map(|shard| {
                let asked: Vec<Query<'_>> = shard.iter().map(|&i| queries[i]).collect();
                let mut room = Room::default();
                let mut pass = Pass::new(self.isa, &self.weights, values, &mut room);
                self.network.answer(&mut pass, &asked, longest)
            })
            .collect();
        let mut answers = vec![None; queries.len()];
        for (i, answer) in order.into_iter().zip(answered.into_iter().flatten()) {
            answers[i] = answer;
        }
        answers
    }
}
