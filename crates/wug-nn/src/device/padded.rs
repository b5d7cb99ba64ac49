use burn_tensor::{Bool, Device, Int, Tensor, TensorData};
use rayon::prelude::*;

use crate::batch::Place;
use crate::kernels::{Isa, dropout};
use crate::network::{Lesson, Query, Step};

/// Sequences of words as long as the longest of them, step after step.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) lengths: Vec<usize>,
    pub(crate) longest: usize,
    words: Vec<i32>,
}

impl Side {
    /// Each sequence begins with `start`, if there is such a word.
    fn new(start: Option<u32>, sequences: &[&[u32]]) -> Self {
        let added = usize::from(start.is_some());
        let mut side = Self::blank(sequences.iter().map(|words| words.len() + added).collect());
        side.words = vec![0; side.longest * sequences.len()];
        for (row, words) in sequences.iter().enumerate() {
            for (t, &word) in start.iter().chain(*words).enumerate() {
                side.words[t * sequences.len() + row] = word as i32;
            }
        }
        side
    }

    /// Sequences of these lengths whose words are not known yet.
    fn blank(lengths: Vec<usize>) -> Self {
        let longest = lengths.iter().copied().max().unwrap_or_default();
        Self { lengths, longest, words: Vec::new() }
    }
}

/// Some examples on their way to a device: padded to the same length, with masks where they are shorter.
#[derive(Debug)]
pub(crate) struct Padded {
    pub(crate) device: Device,
    isa: Isa,
    pub(crate) rows: usize,
    pub(crate) sources: Side,
    pub(crate) targets: Side,
    /// Whether each row is fed the target.
    pub(crate) forced: Vec<bool>,
    /// Whether each row is told how long the answer is.
    told: Vec<bool>,
    /// Which example of the whole batch the first row is, and what dropout depends on.
    pub(crate) first: usize,
    key: Option<u64>,
}

impl Padded {
    /// Examples `first..` of a batch, the sources and the targets of which begin with words of their own, if there are such.
    pub(crate) fn lessons(
        device: &Device,
        isa: Isa,
        [source_start, target_start]: [Option<u32>; 2],
        lessons: &[Lesson<'_>],
        first: usize,
        step: Step,
    ) -> Self {
        Self {
            device: device.clone(),
            isa,
            rows: lessons.len(),
            sources: Side::new(
                source_start,
                &lessons.iter().map(|lesson| lesson.source.tokens()).collect::<Vec<_>>(),
            ),
            targets: Side::new(target_start, &lessons.iter().map(|lesson| lesson.target).collect::<Vec<_>>()),
            forced: lessons.iter().map(|lesson| lesson.forced).collect(),
            told: vec![false; lessons.len()],
            first,
            key: step.key,
        }
    }

    /// Queries, each to be decoded for its length and the end, or for the maximum length.
    pub(crate) fn queries(
        device: &Device,
        isa: Isa,
        start: Option<u32>,
        queries: &[Query<'_>],
        steps: usize,
    ) -> Self {
        let length = |query: &Query<'_>| query.length.map_or(steps, |length| length + 1);
        Self {
            device: device.clone(),
            isa,
            rows: queries.len(),
            sources: Side::new(start, &queries.iter().map(|query| query.source.tokens()).collect::<Vec<_>>()),
            targets: Side::blank(queries.iter().map(length).collect()),
            forced: vec![false; queries.len()],
            told: queries.iter().map(|query| query.length.is_some()).collect(),
            first: 0,
            key: None,
        }
    }

    /// The words of the sources or the targets, a row for each step.
    pub(crate) fn words(&self, side: &Side) -> Tensor<2, Int> {
        Tensor::from_data(TensorData::new(side.words.clone(), [side.longest, self.rows]), &self.device)
    }

    /// For each step, which rows have a word there.
    pub(crate) fn mask(&self, side: &Side) -> Tensor<2, Bool> {
        let has = (0..side.longest).flat_map(|t| side.lengths.iter().map(move |&length| t < length));
        let data = TensorData::new(has.collect::<Vec<bool>>(), [side.longest, self.rows]);
        Tensor::from_data(data, &self.device)
    }

    /// Something about each row.
    pub(crate) fn column(&self, of: impl Iterator<Item = bool>) -> Tensor<1, Bool> {
        Tensor::from_data(TensorData::new(of.collect::<Vec<bool>>(), [self.rows]), &self.device)
    }

    /// The factors of dropout at a place of a recurrent model, for every step and row: those that the CPU would use.
    pub(crate) fn dropout(&self, probability: f64, place: Place, width: usize) -> Option<Tensor<3>> {
        let side = if matches!(place, Place::Source(_)) { &self.sources } else { &self.targets };
        self.factors(probability, [side.longest, self.rows, width], |key, i| {
            let (t, row) = (i / self.rows, i % self.rows);
            (t < side.lengths[row]).then(|| place.key(key, self.first + row, t))
        })
    }

    /// The factors of dropout in any shape, the last of whose dimensions is that of its rows. Row `i` depends on `key(_, i)`
    /// alone, of the step's key; where there is none, all is dropped.
    pub(crate) fn factors<const D: usize>(
        &self,
        probability: f64,
        shape: [usize; D],
        key: impl Fn(u64, usize) -> Option<u64> + Sync,
    ) -> Option<Tensor<D>> {
        let step = self.key.filter(|_| probability > 0.0)?;
        let mut factors = vec![0f32; shape.iter().product()];
        factors.par_chunks_exact_mut(shape[D - 1]).enumerate().for_each(|(i, factors)| {
            if let Some(key) = key(step, i) {
                dropout(self.isa, key, probability, factors);
            }
        });
        Some(Tensor::from_data(TensorData::new(factors, shape), &self.device))
    }

    /// Greedy decoding: the token with the highest score for each row at step `t`, of a vocabulary of this size.
    pub(crate) fn say(&self, t: usize, scores: Tensor<2>, words: usize) -> Tensor<1, Int> {
        let scores = scores.slice([0..self.rows, 0..words]);
        let said = scores.clone().argmax(1).reshape([self.rows]);
        if words < 2 || !self.told.contains(&true) {
            return said;
        }
        // The end is said where it is due, and before it the best of all others.
        let other = scores.slice([0..self.rows, 1..words]).argmax(1).reshape([self.rows]) + 1;
        let due = self.targets.lengths.iter().zip(&self.told).map(|(&length, &told)| told && t + 1 == length);
        said.mask_where(self.column(self.told.iter().copied()), other).mask_fill(self.column(due), 0)
    }
}

/// Steps between two looks at what was said: to look is to wait for the device.
const LOOK: usize = 8;

/// What was said so far, of which the host hears only now and then.
pub(crate) struct DecodedTokens<'a> {
    batch: &'a Padded,
    /// This word and those after it end an answer, as 0 does.
    special: i32,
    pending: Vec<Tensor<1, Int>>,
    /// The words of each row up to its end, and whether it has come to one.
    answers: Vec<(Vec<u32>, bool)>,
    steps: usize,
}

impl<'a> DecodedTokens<'a> {
    pub(crate) fn new(batch: &'a Padded, special: u32) -> Self {
        let answers = vec![(Vec::new(), false); batch.rows];
        Self { batch, special: special as i32, pending: Vec::new(), answers, steps: 0 }
    }

    /// Hears what each row says next. Returns whether every row has come to its end.
    pub(crate) fn hear(&mut self, said: Tensor<1, Int>) -> bool {
        self.pending.push(said);
        let is_last = self.steps + self.pending.len() >= self.batch.targets.longest;
        if self.pending.len() < LOOK && !is_last {
            return false;
        }
        let said = Tensor::cat(std::mem::take(&mut self.pending), 0);
        let said = said.into_data_as::<i32>().try_into_vec::<i32>().expect("whole numbers of the asked size");
        for words in said.chunks_exact(self.batch.rows) {
            for (row, (answer, ended)) in self.answers.iter_mut().enumerate() {
                if !*ended && self.steps < self.batch.targets.lengths[row] {
                    *ended = words[row] == 0 || words[row] >= self.special;
                    answer.extend((!*ended).then_some(words[row] as u32));
                }
            }
            self.steps += 1;
        }
        let is_over = |((_, ended), &length): (&(Vec<u32>, bool), &usize)| *ended || self.steps >= length;
        self.answers.iter().zip(&self.batch.targets.lengths).all(is_over)
    }

    /// The decoded sequence of each row; none without an end-of-sequence token.
    pub(crate) fn answers(self) -> Vec<Option<Vec<u32>>> {
        self.answers.into_iter().map(|(answer, ended)| ended.then_some(answer)).collect()
    }
}
