use std::sync::{Mutex, PoisonError};

use super::config::Config;
use super::context::TransformerContext;
use super::model::Body;
use super::positions::Codes;
use super::sequences::Sequences;
use crate::network::{Context, Network, Outcome, Query, Shard};
use crate::{Gradients, Layout, Real};

/// A Transformer: what its configuration says, laid out in one flat buffer of parameters.
#[derive(Debug)]
pub struct TransformerNetwork<T> {
    pub(super) body: Body,
    /// Batches that no thread fills now, kept from step to step for their memory.
    batches: Mutex<Vec<Batch<T>>>,
}

/// The sequences of a shard, and the codes of their positions.
#[derive(Debug)]
struct Batch<T> {
    sequences: Sequences,
    codes: Codes<T>,
}

impl<T: Real> TransformerNetwork<T> {
    /// Lays the model out, or says why the configuration is no model.
    pub fn new(config: Config) -> Result<Self, String> {
        Ok(Self { body: Body::new(config)?, batches: Mutex::default() })
    }

    /// What it was made from.
    pub fn config(&self) -> &Config {
        &self.body.config
    }

    /// How many words a source has beside its own.
    fn added(&self) -> usize {
        usize::from(self.body.config.source_start.is_some())
    }

    /// Computes with a batch that has codes for sequences of this length.
    fn with_batch<R>(
        &self,
        context: &mut Context<'_, T>,
        longest: usize,
        drops: bool,
        work: impl FnOnce(&mut TransformerContext<'_, T>, &mut Sequences) -> R,
    ) -> R {
        let free = || self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = free().pop();
        let mut batch = batch.unwrap_or_else(|| Batch {
            sequences: Sequences::default(),
            codes: Codes::new(self.body.config.width),
        });
        batch.codes.reach(longest);
        let Context { isa, weights, values, table, .. } = *context;
        let context = Context { isa, weights, values, table, workspace: &mut *context.workspace };
        let mut context = TransformerContext::new(context, &self.body.config, &batch.codes, drops);
        let result = work(&mut context, &mut batch.sequences);
        free().push(batch);
        result
    }
}

impl TransformerNetwork<f32> {
    /// The network in single precision. Compiled here, once, and not in every crate that trains one.
    pub fn network(self) -> Box<dyn Network<f32>> {
        Box::new(self)
    }
}

impl<T: Real> Network<T> for TransformerNetwork<T> {
    fn layout(&self) -> &Layout {
        &self.body.layout
    }

    /// The decoder is always fed the target.
    ///
    /// # Panics
    /// If a sequence is empty, or longer than [`Config::longest`].
    fn learn(
        &self,
        context: &mut Context<'_, T>,
        shard: &Shard<'_>,
        gradients: &mut Gradients<'_, T>,
    ) -> Outcome {
        let lengths = shard.lessons.iter().flat_map(|lesson| [lesson.source.len(), lesson.target.len()]);
        assert!(lengths.clone().all(|length| length > 0), "a sequence without words");
        let longest = lengths.max().unwrap_or_default() + self.added().max(self.body.config.before());
        if let Some(limit) = self.body.config.longest() {
            assert!(longest <= limit, "a sequence of {longest} words, but {limit} positions");
        }
        self.with_batch(context, longest, shard.step.key.is_some(), |context, sequences| {
            let key = shard.step.key.unwrap_or_default();
            sequences.read(&self.body.config, shard.lessons, shard.first, key);
            self.body.learn(context, sequences, shard.step, gradients)
        })
    }

    /// A source that has no words, or more than there are positions, has no answer; an answer that would have more has no
    /// end.
    fn answer(
        &self,
        context: &mut Context<'_, T>,
        queries: &[Query<'_>],
        longest: usize,
    ) -> Vec<Option<Vec<u32>>> {
        let (limit, before) = (self.body.config.longest().unwrap_or(usize::MAX), self.body.config.before());
        let fits = |query: &Query<'_>| {
            let length = query.length.unwrap_or_default();
            !query.source.is_empty() && query.source.len() + self.added() <= limit && before + length < limit
        };
        let asked: Vec<Query<'_>> = queries.iter().copied().filter(fits).collect();
        let longest = longest.min((limit - 1).saturating_sub(before));
        let reach = before + longest + 1;
        let reach = asked.iter().map(|query| query.source.len() + self.added()).fold(reach, usize::max);
        let mut answers = self.with_batch(context, reach, false, |context, sequences| {
            sequences.read_sources(&self.body.config, asked.iter().map(|query| query.source.tokens()), 0, 0);
            self.body.answer(context, sequences, &asked, longest).into_iter()
        });
        queries.iter().map(|query| if fits(query) { answers.next().flatten() } else { None }).collect()
    }

    #[cfg(feature = "burn")]
    fn burn_model(&self) -> Option<crate::device::Portable> {
        Some(crate::device::Portable(Box::new(self.body.clone())))
    }
}
