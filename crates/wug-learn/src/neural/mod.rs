//! Learners that train a network of `wug-nn`.
//!
//! A [`Blueprint`] says which network the settings of a learner mean; everything else is the same for all of them. The files
//! follow the data: `words.rs` turns examples into numbers, `plan.rs` says what the settings of training mean, `train.rs` is
//! the training loop, `checkpoint.rs` and `tensorboard.rs` keep it, and the trained model answers from here. `recurrent.rs`
//! and `transformer.rs` have blueprints.

mod checkpoint;
mod plan;
mod recurrent;
mod tensorboard;
#[cfg(test)]
mod tests;
mod train;
mod transformer;
mod words;

use std::sync::Mutex;

use serde_json::Value;

use wug_data::{Result, Tokens};
use wug_nn::{Buffer, Engine, Network, Query};

use crate::{About, Answer, Learner, Model, Question, Settings, Size, Task};

use plan::Plan;
use words::Words;

pub use recurrent::{
    GRU, GRU_ATTN, GRU_ATTN_NODEP, LSTM, LSTM_ATTN, LSTM_ATTN_NODEP, RNN, RNN_ATTN, RNN_ATTN_NODEP, Recurrent,
};
pub use transformer::{TRANSFORMER, TRANSFORMER_REL, TRANSFORMER_REL_UNI, TRANSFORMER_UNI, Transformer};

/// A network and what it was made from.
pub struct Built {
    /// The network.
    pub network: Box<dyn Network<f32>>,
    /// Its configuration, for the checkpoint.
    pub config: Value,
    /// Numbers in its states, for the learning rate of Noam.
    pub width: usize,
}

/// How many words there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Words of a source, its special ones included.
    pub source_words: usize,
    /// Words of a target; word 0 ends it.
    pub target_words: usize,
    /// Words of the longest source among the training examples, with its end.
    pub longest_source: usize,
    /// Words of the longest target among them, with its end.
    pub longest_target: usize,
}

/// Which network the settings of a learner mean.
pub trait Blueprint: Sync {
    /// Builds the network, or says which settings do not go together.
    fn build(&self, settings: &Settings, sizes: Sizes) -> Result<Built>;

    /// Whether its networks have a recurrent decoder, whose states can be looked at.
    fn has_states(&self) -> bool {
        false
    }
}

/// A learner that trains the network of its blueprint. Its settings are those of the blueprint and those of training.
pub struct Neural<B> {
    about: &'static About,
    blueprint: B,
}

impl<B: Blueprint> Learner for Neural<B> {
    fn about(&self) -> &'static About {
        self.about
    }

    fn keeps(&self) -> &'static [&'static str] {
        &[checkpoint::FILE, checkpoint::METRICS, tensorboard::EVENTS]
    }

    fn has_states(&self) -> bool {
        self.blueprint.has_states()
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        // Where a model is chosen by validation, it must not have seen it.
        let validates = plan::validates(&task.settings);
        let lessons = if validates { task.train_apart()? } else { task.train()? };
        let mut words = Words::of(&lessons, task.settings.flag("reverse"));
        words.keep_share(task.settings.number("share"), &mut task.streams("share").item(0));
        let built = self.blueprint.build(&task.settings, words.sizes())?;
        let plan = Plan::read(task, &words, built.width)?;
        // On a thread of the pool: another one would have to wake it several times an update.
        let train = |_: &rayon::Scope<'_>| train::train(self.about.name, task, &plan, &words, built);
        let (engine, values) = rayon::scope(train)?;
        Ok(Box::new(Trained { engine: Mutex::new(engine), values, plan, words }))
    }
}

/// A trained model.
struct Trained {
    engine: Mutex<Engine<f32>>,
    values: Buffer<f32>,
    plan: Plan,
    words: Words,
}

impl Model for Trained {
    fn answer(&self, question: &Question<'_>) -> Answer {
        self.answers(std::slice::from_ref(question)).pop().unwrap_or_default()
    }

    fn states(&self, inputs: &[Tokens<'_>]) -> Option<Vec<Vec<f32>>> {
        let sources: Vec<Vec<u32>> = inputs.iter().map(|&input| self.words.source(input)).collect();
        let queries: Vec<Query<'_>> = sources.iter().map(|source| Query { source, length: None }).collect();
        let mut engine = self.engine.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        engine.states(&self.values, &queries, self.plan.longest)
    }

    fn size(&self) -> Option<Size> {
        Some(Size { parameters: self.values.len(), examples: self.words.examples.len() })
    }

    fn answers(&self, questions: &[Question<'_>]) -> Vec<Answer> {
        let sources: Vec<Vec<u32>> =
            questions.iter().map(|question| self.words.source(question.input)).collect();
        let query = |(source, question): (_, &Question<'_>)| {
            let length = self.plan.oracle_length.then(|| question.oracle_length());
            Query { source, length: length.map(|length| length.min(self.plan.longest)) }
        };
        let queries: Vec<Query<'_>> = sources.iter().map(Vec::as_slice).zip(questions).map(query).collect();
        let mut engine = self.engine.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let answer = |said: Option<Vec<u32>>| match said {
            Some(said) => Answer::new(self.words.text(&said)),
            None => Answer::abstain().note("endless", true),
        };
        engine.answer(&self.values, &queries, self.plan.longest).into_iter().map(answer).collect()
    }
}
