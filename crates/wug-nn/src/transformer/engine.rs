use rayon::prelude::*;

use super::model::Model;
use super::positions::Codes;
use super::room::Room;
use super::shard::Shard;
use super::work::Work;
use crate::kernels::{Isa, add};
use crate::parameters::Weights;
use crate::{Lesson, Outcome, Real};

/// At most so many examples are computed together, and so many words.
const EXAMPLES: usize = 32;
const WORDS: usize = 1536;

/// At most so many parameters have gradients of their own in several lanes.
const PARAMETERS: usize = 1 << 24;

/// Computes losses, gradients and answers of a Transformer.
///
/// A batch is cut into shards by its lengths alone. A lane computes one shard after the other and adds up their gradients;
/// how many lanes there are depends on the model and the batch, never on the machine, so any number of threads gives the
/// same bits. Few lanes for large models keep memory small.
#[derive(Debug)]
pub struct Engine<T> {
    model: Model,
    isa: Isa,
    weights: Weights<T>,
    codes: Codes<T>,
    lanes: Vec<Lane<T>>,
    shards: Vec<std::ops::Range<usize>>,
}

/// What one thread needs.
#[derive(Debug, Default)]
struct Lane<T> {
    gradients: Vec<T>,
    shard: Shard,
    room: Room<T>,
    outcome: Outcome,
}

impl<T: Real> Engine<T> {
    /// An engine for a model.
    pub fn new(model: Model, isa: Isa) -> Self {
        let codes = Codes::new(model.config.width);
        Self { model, isa, weights: Weights::default(), codes, lanes: Vec::new(), shards: Vec::new() }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The loss of a batch and its gradient times `factor`, in the order of the flat buffer. With a key, what dropout drops
    /// depends on it; without, nothing is dropped. The decoder is always fed the target.
    ///
    /// # Panics
    /// If a source or a target is empty, or longer than [`Config::longest`](super::Config::longest).
    pub fn learn(
        &mut self,
        values: &[T],
        lessons: &[Lesson<'_>],
        factor: f64,
        key: Option<u64>,
    ) -> (Outcome, &mut [T]) {
        let longest = lessons.iter().map(|lesson| lesson.source.len().max(lesson.target.len())).max();
        self.check(longest.unwrap_or_default());
        assert!(lessons.iter().all(|lesson| !lesson.source.is_empty() && !lesson.target.is_empty()));
        self.weights.read(&self.model.layout, values, true);
        self.codes.reach(longest.unwrap_or_default());
        self.cut(lessons);
        let lanes = (PARAMETERS / values.len().max(1)).clamp(2, 8).min(self.shards.len()).max(1);
        self.lanes.resize_with(lanes.max(self.lanes.len()), Lane::default);
        let Self { model, isa, weights, codes, shards, .. } = self;
        let start = model.start();
        let dropout = if key.is_some() { model.config.dropout } else { 0.0 };
        let run = |(i, lane): (usize, &mut Lane<T>)| {
            lane.gradients.resize(values.len(), T::ZERO);
            lane.gradients.fill(T::ZERO);
            lane.outcome = Outcome::default();
            for range in shards.iter().skip(i).step_by(lanes) {
                lane.shard.read(&lessons[range.clone()], range.start, start, key.unwrap_or_default());
                let mut work = work(model, *isa, weights, codes, dropout, &mut lane.room);
                let outcome = model.learn(&mut work, &lane.shard, T::from_f64(factor), &mut lane.gradients);
                lane.outcome.add(outcome);
            }
        };
        self.lanes[..lanes].par_iter_mut().enumerate().for_each(run);
        let (sum, rest) = self.lanes.split_at_mut(1);
        let mut all = sum[0].outcome;
        for lane in &rest[..lanes - 1] {
            add_all(self.isa, &lane.gradients, &mut sum[0].gradients);
            all.add(lane.outcome);
        }
        (all, &mut self.lanes[0].gradients)
    }

    /// What the model answers to each source, word by word the most probable, for at most so many words. `None` where it
    /// comes to no end.
    ///
    /// # Panics
    /// If a source is empty, or it or `longest` is longer than [`Config::longest`](super::Config::longest).
    pub fn answer(&mut self, values: &[T], sources: &[&[u32]], longest: usize) -> Vec<Option<Vec<u32>>> {
        let longest_source = sources.iter().map(|source| source.len()).max().unwrap_or_default();
        self.check(longest_source.max(longest + 1));
        assert!(sources.iter().all(|source| !source.is_empty()));
        self.weights.read(&self.model.layout, values, false);
        self.codes.reach(longest_source.max(longest + 1));
        let mut order: Vec<usize> = (0..sources.len()).collect();
        // Sources of like length have answers of like length, mostly: a shard then ends early.
        order.sort_by_key(|&i| sources[i].len());
        let Self { model, isa, weights, codes, .. } = self;
        let mut room = Room::default();
        let distances = model.distances(&mut work(model, *isa, weights, codes, 0.0, &mut room), longest + 1);
        let answered: Vec<Vec<(usize, Option<Vec<u32>>)>> = order
            .par_chunks(2 * EXAMPLES)
            .map(|chunk| {
                let mut shard = Shard::default();
                shard.read_sources(chunk.iter().map(|&i| sources[i]), 0, 0);
                let mut room = Room::default();
                let mut work = work(model, *isa, weights, codes, 0.0, &mut room);
                let answers = model.answer(&mut work, &shard, longest + 1, &distances);
                chunk.iter().copied().zip(answers).collect()
            })
            .collect();
        let mut answers = vec![None; sources.len()];
        for (i, answer) in answered.into_iter().flatten() {
            answers[i] = answer;
        }
        answers
    }

    fn check(&self, longest: usize) {
        if let Some(limit) = self.model.config.longest() {
            assert!(longest <= limit, "a sequence of {longest} words, but {limit} positions");
        }
    }

    /// Cuts a batch into shards.
    fn cut(&mut self, lessons: &[Lesson<'_>]) {
        // So that two cores have work.
        let most = if lessons.len() >= 16 { EXAMPLES.min(lessons.len().div_ceil(2)) } else { EXAMPLES };
        self.shards.clear();
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
}

fn work<'a, T: Real>(
    model: &'a Model,
    isa: Isa,
    weights: &'a Weights<T>,
    codes: &'a Codes<T>,
    dropout: f64,
    room: &'a mut Room<T>,
) -> Work<'a, T> {
    Work { isa, config: &model.config, layout: &model.layout, weights, codes, dropout, room }
}

/// Adds long lists with all threads.
fn add_all<T: Real>(isa: Isa, x: &[T], out: &mut [T]) {
    let size = 1 << 16;
    out.par_chunks_mut(size).zip(x.par_chunks(size)).for_each(|(out, x)| add(isa, x, out));
}
