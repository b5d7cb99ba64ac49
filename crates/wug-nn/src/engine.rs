use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::device::{Backend, Device};
use crate::kernels::{Isa, add};
use crate::network::{Context, Lesson, Network, Outcome, Query, Shard, Step};
use crate::parameters::{Gradients, Weights};
use crate::workspace::Workspace;
use crate::{Buffer, Real};

/// The maximum number of examples that one thread computes together: many enough that the weights, which each step reads anew,
/// are worth their way from the cache.
const SHARD: usize = 64;

/// The maximum number of tokens computed together, unless one example has more: what is kept for the backward pass grows
/// with them.
const WORDS: usize = 2048;

/// A model with more parameters than this has gradients in two places at once; one with a fourth of them in eight.
const PARAMETERS: usize = 1 << 23;

/// Parameters that are added up by one thread at a time.
pub(crate) const BLOCK: usize = 1 << 15;

/// Computes losses, gradients and answers of a model.
///
/// A batch is divided into shards by its lengths alone. A worker computes some of them, one after the other, and adds up
/// their gradients; how many workers there are depends on the model and the batch and never on the machine, and their
/// gradients are added in order: the result does not depend on how many threads there are.
#[derive(Debug)]
pub struct Engine<T> {
    network: Box<dyn Network<T>>,
    isa: Isa,
    weights: Weights<T>,
    workers: Vec<Worker<T>>,
    /// Workspaces in which no shard of queries is answered now.
    free: Mutex<Vec<Workspace<T>>>,
    shards: Vec<Range<usize>>,
    /// What computes instead of all this, if it is not the CPU.
    backend: Option<Box<dyn Backend<T>>>,
    /// The gradient of the last batch.
    gradients: Buffer<T>,
}

/// What shards are computed in.
#[derive(Debug, Default)]
struct Worker<T> {
    /// Of all but the first worker, which has the gradient of the batch.
    gradients: Buffer<T>,
    d_table: Buffer<T>,
    workspace: Workspace<T>,
    outcome: Outcome,
}

/// How many examples a shard of a batch has.
fn shard_size(examples: usize) -> usize {
    let shards = examples.div_ceil(SHARD).max(if examples >= 16 { 2 } else { 1 });
    examples.div_ceil(shards).max(1)
}

/// The number of workers for a model with this number of parameters.
fn workers(parameters: usize, shards: usize) -> usize {
    (2 * PARAMETERS / parameters.max(1)).clamp(2, 8).min(shards)
}

impl<T: Real> Engine<T> {
    /// An engine for a model.
    pub fn new(network: impl Network<T> + 'static, isa: Isa) -> Self {
        Self::boxed(Box::new(network), isa)
    }

    /// An engine for some model.
    pub fn boxed(network: Box<dyn Network<T>>, isa: Isa) -> Self {
        Self {
            network,
            isa,
            weights: Weights::default(),
            workers: Vec::new(),
            free: Mutex::default(),
            shards: Vec::new(),
            backend: None,
            gradients: Buffer::default(),
        }
    }

    /// The model.
    pub fn network(&self) -> &dyn Network<T> {
        self.network.as_ref()
    }

    /// Computes with other instructions from now on.
    pub(crate) fn compute_with(&mut self, isa: Isa) {
        self.isa = isa;
    }

    /// The loss of a batch and its gradient, in the order of the flat buffer.
    pub fn learn(&mut self, values: &[T], lessons: &[Lesson<'_>], step: Step) -> (Outcome, &mut [T]) {
        if let Some(backend) = &mut self.backend {
            let outcome = backend.learn(values, lessons, step, &mut self.gradients);
            return (outcome, &mut self.gradients);
        }
        let mut gradients = std::mem::take(&mut self.gradients);
        gradients.resize(values.len(), T::ZERO);
        let outcome = self.learn_with(values, None, lessons, step, (&mut gradients, &mut []));
        self.gradients = gradients;
        (outcome, &mut self.gradients)
    }

    /// The same into buffers of the caller. A table that is given replaces the first tensor, with as many rows
    /// as it has, and has a gradient of its own.
    pub(crate) fn learn_with(
        &mut self,
        values: &[T],
        table: Option<&[T]>,
        lessons: &[Lesson<'_>],
        step: Step,
        (sum, d_table): (&mut [T], &mut [T]),
    ) -> Outcome {
        self.weights.read(self.network.layout(), values, true);
        self.cut(lessons);
        let count = workers(values.len(), self.shards.len());
        self.workers.resize_with(count.max(self.workers.len()), Worker::default);
        let (network, isa, weights, shards) = (&self.network, self.isa, &self.weights, &self.shards);
        let mut sums = Some((&mut *sum, &mut *d_table));
        let work: Vec<_> = self.workers[..count]
            .iter_mut()
            .enumerate()
            .map(|(i, worker)| {
                let Worker { gradients, d_table, workspace, outcome } = worker;
                let own = if let Some(own) = sums.take() {
                    own
                } else {
                    gradients.resize(values.len(), T::ZERO);
                    d_table.resize(table.map_or(0, <[T]>::len), T::ZERO);
                    (&mut gradients[..], &mut d_table[..])
                };
                (i, own, workspace, outcome)
            })
            .collect();
        let learn =
            |(i, (gradients, d_table), workspace, outcome): (_, _, &mut Workspace<T>, &mut Outcome)| {
                let d_table = table.map(|_| d_table);
                let mut gradients = Gradients::new(network.layout(), gradients).with_table(d_table);
                *outcome = Outcome::default();
                for range in shards.iter().skip(i).step_by(count) {
                    let shard = Shard { lessons: &lessons[range.clone()], first: range.start, step };
                    let mut context = Context { table, ..Context::new(isa, weights, values, workspace) };
                    outcome.add(network.learn(&mut context, &shard, &mut gradients));
                }
                gradients.finish();
            };
        if count == 1 {
            work.into_iter().for_each(learn);
        } else {
            work.into_par_iter().for_each(learn);
        }
        let (first, rest) = self.workers[..count].split_at(1);
        sum.par_chunks_mut(BLOCK).enumerate().for_each(|(i, sum)| {
            for worker in rest {
                add(isa, &worker.gradients[i * BLOCK..][..sum.len()], sum);
            }
        });
        let mut all = first[0].outcome;
        for worker in rest {
            add(isa, &worker.d_table, d_table);
            all.add(worker.outcome);
        }
        all
    }

    /// After a step of the optimiser: replaces running statistics among the parameters, which have no gradient, by what
    /// the last batch has made of them.
    pub fn update_running(&self, values: &mut [T]) {
        self.network.update_running(values);
    }

    /// Divides a batch into shards.
    fn cut(&mut self, lessons: &[Lesson<'_>]) {
        let most = shard_size(lessons.len());
        self.shards.clear();
        if self.network.whole_batch() {
            self.shards.push(0..lessons.len());
            return;
        }
        let (mut start, mut words) = (0, 0);
        for (i, lesson) in lessons.iter().enumerate() {
            let more = lesson.source.len() + lesson.target.len();
            if i > start && (i - start == most || words + more > WORDS) {
                self.shards.push(start..i);
                (start, words) = (i, 0);
            }
            words += more;
        }
        self.shards.push(start..lessons.len());
    }

    /// Greedy decoding of each query, up to a maximum length. `None` where no end-of-sequence token comes in time.
    pub fn answer(&mut self, values: &[T], queries: &[Query<'_>], longest: usize) -> Vec<Option<Vec<u32>>> {
        if let Some(backend) = &mut self.backend {
            return backend.answer(values, queries, longest);
        }
        self.answer_with(values, None, queries, longest)
    }

    /// The same with a table instead of the first tensor, if one is given.
    pub(crate) fn answer_with(
        &mut self,
        values: &[T],
        table: Option<&[T]>,
        queries: &[Query<'_>],
        longest: usize,
    ) -> Vec<Option<Vec<u32>>> {
        self.ask(values, table, queries, |network, context, asked| network.answer(context, asked, longest))
    }

    /// The state in which a recurrent decoder has ended its answer to each query; `None` for other models. On the CPU.
    pub fn states(&mut self, values: &[T], queries: &[Query<'_>], longest: usize) -> Option<Vec<Vec<T>>> {
        let states = |network: &dyn Network<T>, context: &mut Context<'_, T>, asked: &[Query<'_>]| {
            let states = network.states(context, asked, longest);
            states.map_or_else(|| vec![None; asked.len()], |states| states.into_iter().map(Some).collect())
        };
        self.ask(values, None, queries, states).into_iter().collect()
    }

    /// What the image encoder says of each image, one after the other; `None` for a model without one. On the CPU.
    pub fn image_vectors(&mut self, values: &[T], images: &[&[u8]]) -> Option<Vec<T>> {
        self.weights.read(self.network.layout(), values, false);
        let mut workspace =
            self.free.get_mut().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let mut context = Context::new(self.isa, &self.weights, values, &mut workspace);
        let vectors = self.network.image_vectors(&mut context, images);
        self.free.get_mut().unwrap_or_else(PoisonError::into_inner).push(workspace);
        vectors
    }

    /// Asks the model a shard at a time.
    fn ask<A: Default + Clone + Send>(
        &mut self,
        values: &[T],
        table: Option<&[T]>,
        queries: &[Query<'_>],
        ask: impl Fn(&dyn Network<T>, &mut Context<'_, T>, &[Query<'_>]) -> Vec<A> + Sync,
    ) -> Vec<A> {
        self.weights.read(self.network.layout(), values, false);
        let mut order: Vec<usize> = (0..queries.len()).collect();
        // Sources of like length have answers of like length, mostly: a shard then ends early.
        order.sort_by_key(|&i| queries[i].source.len());
        let most = if self.network.whole_batch() { queries.len().max(1) } else { SHARD };
        let answered: Vec<Vec<A>> = order
            .par_chunks(most)
            .map(|shard| {
                let asked: Vec<Query<'_>> = shard.iter().map(|&i| queries[i]).collect();
                let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
                let mut workspace = free().pop().unwrap_or_default();
                let context = Context::new(self.isa, &self.weights, values, &mut workspace);
                let mut context = Context { table, ..context };
                let answers = ask(self.network.as_ref(), &mut context, &asked);
                free().push(workspace);
                answers
            })
            .collect();
        let mut answers = vec![A::default(); queries.len()];
        for (i, answer) in order.into_iter().zip(answered.into_iter().flatten()) {
            answers[i] = answer;
        }
        answers
    }
}

impl Engine<f32> {
    /// An engine for some model that computes on this device, or why it cannot.
    pub fn on(device: Device, network: Box<dyn Network<f32>>, isa: Isa) -> Result<Self, String> {
        let backend = device.open(network.as_ref(), isa)?;
        Ok(Self { backend, ..Self::boxed(network, isa) })
    }
}
