//! Recurrent encoders and decoders: the learners of the SCAN and NACS papers.
//!
//! The files follow the data: `words.rs` turns examples into numbers, `plan.rs` says what the settings mean, `train.rs` is
//! the training loop, `checkpoint.rs` keeps it, and the trained model answers from here.

mod checkpoint;
mod plan;
#[cfg(test)]
mod tests;
mod train;
mod words;

use std::sync::Mutex;

use wug_data::Result;
use wug_nn::{Cell, Engine};

use crate::{About, Answer, Learner, Model, Question, Task};

use words::Words;

/// One of the nine: a cell, with attention or not, with the word before or not.
pub struct Recurrent {
    about: &'static About,
    cell: Cell,
    attention: bool,
    dependence: bool,
}

macro_rules! learners {
    ($($constant:ident $name:literal $title:literal $cell:ident $attention:literal $dependence:literal)*) => {
        $(
            #[doc = $title]
            pub static $constant: Recurrent = Recurrent {
                about: &About { name: $name, title: $title, benchmarks: &[], settings: plan::SETTINGS },
                cell: Cell::$cell,
                attention: $attention,
                dependence: $dependence,
            };
        )*
    };
}

learners! {
    RNN "rnn" "simple recurrent encoder and decoder" Rnn false true
    RNN_ATTN "rnn-attn" "simple recurrent encoder and decoder with attention" Rnn true true
    RNN_ATTN_NODEP "rnn-attn-nodep" "rnn-attn whose decoder does not see its last word" Rnn true false
    GRU "gru" "GRU encoder and decoder" Gru false true
    GRU_ATTN "gru-attn" "GRU encoder and decoder with attention" Gru true true
    GRU_ATTN_NODEP "gru-attn-nodep" "gru-attn whose decoder does not see its last word" Gru true false
    LSTM "lstm" "LSTM encoder and decoder" Lstm false true
    LSTM_ATTN "lstm-attn" "LSTM encoder and decoder with attention" Lstm true true
    LSTM_ATTN_NODEP "lstm-attn-nodep" "lstm-attn whose decoder does not see its last word" Lstm true false
}

impl Learner for Recurrent {
    fn about(&self) -> &'static About {
        self.about
    }

    fn keeps(&self) -> &'static [&'static str] {
        &[checkpoint::FILE, checkpoint::METRICS]
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        // Where a model is chosen by validation, it must not have seen it.
        let validates = task.settings.whole("validate") > 0;
        let lessons = if validates { task.train_apart()? } else { task.train()? };
        let words = Words::of(&lessons);
        let plan = plan::Plan::read(self, task, &words)?;
        let (engine, values) = train::train(self.about.name, task, &plan, &words)?;
        Ok(Box::new(Trained { engine: Mutex::new(engine), values, longest: plan.longest, words }))
    }
}

/// A trained model.
struct Trained {
    engine: Mutex<Engine<f32>>,
    values: Vec<f32>,
    longest: usize,
    words: Words,
}

impl Model for Trained {
    fn answer(&self, question: &Question<'_>) -> Answer {
        self.answers(std::slice::from_ref(question)).pop().unwrap_or_default()
    }

    fn answers(&self, questions: &[Question<'_>]) -> Vec<Answer> {
        let sources: Vec<Vec<u32>> =
            questions.iter().map(|question| self.words.source(question.input)).collect();
        let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
        let mut engine = self.engine.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let answer = |said: Option<Vec<u32>>| match said {
            Some(said) => Answer::new(self.words.text(&said)),
            None => Answer::abstain().note("endless", true),
        };
        engine.answer(&self.values, &sources, self.longest).into_iter().map(answer).collect()
    }
}
