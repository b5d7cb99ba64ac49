use std::sync::{Mutex, PoisonError};

use super::config::Config;
use super::model::Body;
use super::positions::Codes;
use super::room::Room;
use super::sequences::Sequences;
use super::work::Work;
use crate::network::{Network, Outcome, Pass, Query, Shard};
use crate::{Layout, Real};

/// A Transformer: what its configuration says, laid out in one flat buffer of parameters.
#[derive(Debug)]
pub struct Model<T> {
    body: Body,
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

    /// Works at a desk where sequences of this length can be read.
    fn at_desk<R>(
        &self,
        pass: &Pass<'_, T>,
        longest: usize,
        drops: bool,
        work: impl FnOnce(&mut Work<'_, T>, &mut Sequences) -> R,
    ) -> R {
        if let Some(limit) = self.body.config.longest() {
            assert!(longest <= limit, "a sequence of {longest} words, but {limit} positions");
        }
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
            layout: &self.body.layout,
            weights: pass.weights,
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
    /// If a source or a target is empty, or longer than [`Config::longest`].
    fn learn(&self, pass: &mut Pass<'_, T>, shard: &Shard<'_>, gradients: &mut [T]) -> Outcome {
        let lengths = shard.lessons.iter().flat_map(|lesson| [lesson.source.len(), lesson.target.len()]);
        assert!(lengths.clone().all(|length| length > 0), "a sequence without words");
        self.at_desk(pass, lengths.max().unwrap_or_default(), shard.step.key.is_some(), |work, sequences| {
            let key = shard.step.key.unwrap_or_default();
            sequences.read(shard.lessons, shard.first, self.body.start(), key);
            self.body.learn(work, sequences, shard.step, gradients)
        })
    }

    /// # Panics
    /// If a source is empty, or it or the longest answer and its end are longer than [`Config::longest`].
    fn answer(&self, pass: &mut Pass<'_, T>, queries: &[Query<'_>], longest: usize) -> Vec<Option<Vec<u32>>> {
        let lengths = queries.iter().map(|query| query.source.len());
        assert!(lengths.clone().all(|length| length > 0), "a sequence without words");
        self.at_desk(pass, lengths.fold(longest + 1, usize::max), false, |work, sequences| {
            sequences.read_sources(queries.iter().map(|query| query.source), 0, 0);
            self.body.answer(work, sequences, queries, longest)
        })
    }
}
