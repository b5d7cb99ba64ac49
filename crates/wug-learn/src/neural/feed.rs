//! The batches of training, made ahead of the update that needs them.

use wug_data::{Stream, Streams};

use super::examples::{BatchSources, Examples};
use super::plan::{Order, Plan};

/// Draws batches. Every random choice of an update comes from the stream of its number, so a batch is the same whenever
/// it is made.
pub(super) struct Feed<'a> {
    plan: &'a Plan,
    examples: &'a Examples<'a>,
    orders: Streams,
    updates: Streams,
    /// The batches of the round with this number.
    round: (u64, Vec<Vec<usize>>),
}

/// The examples of an update, in memory.
pub(super) struct Batch<'a> {
    /// Their numbers.
    pub(super) examples: Vec<usize>,
    /// What the network reads of them.
    pub(super) sources: BatchSources<'a>,
    /// Whether all of them are fed their targets, where that is decided for a batch.
    pub(super) forced: Option<bool>,
    /// All other random choices of the update.
    pub(super) stream: Stream,
}

impl<'a> Feed<'a> {
    pub(super) fn new(plan: &'a Plan, examples: &'a Examples<'a>, orders: Streams, updates: Streams) -> Self {
        Self { plan, examples, orders, updates, round: (u64::MAX, Vec::new()) }
    }

    /// The batch of an update; images are rendered on all threads.
    pub(super) fn batch(&mut self, step: u64) -> Batch<'a> {
        let (plan, examples) = (self.plan, self.examples);
        let mut stream = self.updates.item(step);
        let mut chosen: Vec<usize> = if plan.order == Order::Drawn {
            (0..plan.batch).map(|_| stream.below(examples.len() as u64) as usize).collect()
        } else {
            let number = step / plan.steps_of_round;
            if self.round.0 != number {
                self.round = (number, batches(plan, examples, &self.orders, number));
            }
            self.round.1[(step % plan.steps_of_round) as usize].clone()
        };
        if plan.mix > 0.0 {
            for example in &mut chosen {
                if stream.coin(plan.mix) {
                    *example = examples.len() + stream.below(examples.mixed_in() as u64) as usize;
                }
            }
        }
        let forced = plan.teacher_by_batch.then(|| stream.coin(plan.teacher));
        let sources = examples.batch(&chosen);
        Batch { examples: chosen, sources, forced, stream }
    }
}

/// The batches of a round.
fn batches(plan: &Plan, examples: &Examples<'_>, orders: &Streams, round: u64) -> Vec<Vec<usize>> {
    let mut stream = orders.item(round);
    let mut order: Vec<usize> = (0..examples.len()).collect();
    stream.shuffle(&mut order);
    if plan.order == Order::Bucketed {
        order.sort_by_key(|&i| examples.source_len(i));
    }
    let mut batches: Vec<Vec<usize>> = order.chunks(plan.batch).map(<[usize]>::to_vec).collect();
    if plan.order == Order::Bucketed {
        stream.shuffle(&mut batches);
    }
    batches
}
