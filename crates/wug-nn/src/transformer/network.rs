use std::sync::{Mutex, PoisonError};

use super::config::Config;
use super::model::Body;
use super::positions::Codes;
use super::room::Room;
use super::sequences::Sequences;
use super::work::Work;
use crate::network::{Network, Outcome, Pass, Query, Shard};
use crate::{Gradients, Layout, Real};

/// A Transformer: what its configuration says, laid out in one flat buffer of parameters.
#[derive(Debug)]
pub struct Model<T> {
    pub(super) body: Body,
    /// Those that no thread uses now.
    desks: Mutex<Vec<Desk<T>>>,
}

/// What one thread works with, kept from step to step.
#[derive(Debug)]
struct Desk<T> {
    sequences: Sequences,
    codes: Codes<T>,
    room: Room<T>,
}

impl<T: Real> Model<T> {
    /// Lays the model out, or says why the configuration is no model.
    pub fn new(config: Config) -> Result<Self, String> {
        Ok(Self { body: Body::new(config)?, desks: Mutex::default() })
    }

    /// What it was made from.
    pub fn config(&self) -> &Config {
        &self.body.config
    }

    /// How many words a source has beside its own.
    fn added(&self) -> usize {
        usize::from(self.body.config.source_start.is_some())
    }

    /// Works at a desk where sequences of this length can be read.
    fn at_desk<R>(
        &self,
        pass: &Pass<'_, T>,
        longest: usize,
        drops: bool,
        work: impl FnOnce(&mut Work<'_, T>, &mut Sequences) -> R,
    ) -> R {
        let desk = self.desks.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut desk = desk.unwrap_or_else(|| Desk {
            sequences: Sequences::default(),
            codes: Codes::new(self.body.config.width),
            room: Room::default(),
        });
        desk.codes.reach(longest);
        let mut tools = Work {
            isa: pass.isa,
            config: &self.body.config,
            weights: pass.weights,
            values: pass.values,
            codes: &desk.codes,
            dropout: if drops { self.body.config.dropout } else { 0.0 },
            room: &mut desk.room,
        };
        let result = work(&mut tools, &mut desk.sequences);
        self.desks.lock().unwrap_or_else(PoisonError::into_inner).push(desk);
        result
    }
}

impl<T: Real> Network<T> for Model<T> {
    fn layout(&self) -> &Layout {
        &self.body.layout
    }

    /// The decoder is always fed the target.
    ///
    /// # Panics
    /// If a sequence is empty, or longer than [`Config::longest`].
    fn learn(&self, pass: &mut Pass<'_, T>, shard: &Shard<'_>, gradients: &mut Gradients<'_, T>) -> Outcome {
        let lengths = shard.lessons.iter().flat_map(|lesson| [lesson.source.len(), lesson.target.len()]);
        assert!(lengths.clone().all(|length| length > 0), "a sequence without words");
        let longest = lengths.max().unwrap_or_default() + self.added().max(self.body.config.before());
        if let Some(limit) = self.body.config.longest() {
            assert!(longest <= limit, "a sequence of {longest} words, but {limit} positions");
        }
        self.at_desk(pass, longest, shard.step.key.is_some(), |work, sequences| {
            let key = shard.step.key.unwrap_or_default();
            sequences.read(&self.body.config, shard.lessons, shard.first, key);
            self.body.learn(work, sequences, shard.step, gradients)
        })
    }

    /// A source that has no words, or more than there are positions, has no answer; an answer that would have more has no
    /// end.
    fn answer(&self, pass: &mut Pass<'_, T>, queries: &[Query<'_>], longest: usize) -> Vec<Option<Vec<u32>>> {
        let (limit, before) = (self.body.config.longest().unwrap_or(usize::MAX), self.body.config.before());
        let fits = |query: &Query<'_>| {
            let length = query.length.unwrap_or_default();
            !query.source.is_empty() && query.source.len() + self.added() <= limit && before + length < limit
        };
        let asked: Vec<Query<'_>> = queries.iter().copied().filter(fits).collect();
        let longest = longest.min((limit - 1).saturating_sub(before));
        let reach = before + longest + 1;
        let reach = asked.iter().map(|query| query.source.len() + self.added()).fold(reach, usize::max);
        let mut answers = self.at_desk(pass, reach, false, |work, sequences| {
            sequences.read_sources(&self.body.config, asked.iter().map(|query| query.source.tokens()), 0, 0);
            self.body.answer(work, sequences, &asked, longest).into_iter()
        });
        queries.iter().map(|query| if fits(query) { answers.next().flatten() } else { None }).collect()
    }

    #[cfg(feature = "burn")]
    fn composed(&self) -> Option<crate::device::Portable> {
        Some(crate::device::Portable(Box::new(self.body.clone())))
    }
}
