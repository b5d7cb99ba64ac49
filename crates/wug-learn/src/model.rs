use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use wug_data::{Result, Tokens};

use crate::{Image, Question};

/// A prediction and what stands behind it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The prediction; `None` to abstain, which is scored as wrong.
    pub text: Option<String>,
    /// Whether there is no prediction through no fault of the model, as when a server did not respond. It is scored as
    /// wrong, and the score says how many there are.
    pub unanswered: bool,
    /// The predictions of which this is the majority vote, where several were sampled.
    pub samples: Vec<Option<String>>,
    /// How it was derived, for a person.
    pub explanation: Option<String>,
    /// The probability that the model gives it.
    pub probability: Option<f64>,
    /// What else is known: steps, flags, the runner-up.
    pub notes: Map<String, Value>,
}

impl Answer {
    /// Just a prediction.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// No prediction.
    pub fn abstain() -> Self {
        Self::default()
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.notes.insert(name.to_owned(), value.into());
        self
    }
}

/// What a learner has learned.
///
/// A model answers questions; whatever else it can do is a trait of its own, which it hands out if it has it.
pub trait Model: Send + Sync {
    /// Answers the questions in order, on all cores. An answer depends on its question and the learner's seed alone.
    ///
    /// # Errors
    /// If an answer could not be had, as when a server does not respond. A model that has no answer abstains instead.
    fn answers(&self, questions: &[Question<'_>]) -> Result<Vec<Answer>>;

    /// Answers as [`Model::answers`] does; a model that takes long also tells how far it is, and stops when interrupted.
    ///
    /// # Errors
    /// As [`Model::answers`]; [`Error::Unfinished`](wug_data::Error::Unfinished) if it stopped and can go on.
    fn answers_watched(&self, questions: &[Question<'_>], _: &Watch<'_>) -> Result<Vec<Answer>> {
        self.answers(questions)
    }

    /// The decoder's states, if it has a recurrent decoder.
    fn decoder_states(&self) -> Option<&dyn DecoderStates> {
        None
    }

    /// The outputs of its image encoder, if it has one.
    fn image_vectors(&self) -> Option<&dyn ImageVectors> {
        None
    }

    /// Its size, if it has parameters.
    fn size(&self) -> Option<ModelSize> {
        None
    }

    /// How its training went, if it was trained step by step.
    fn training(&self) -> Option<Training> {
        None
    }

    /// What ended learning before it was done, of a learner that then goes on with the best it has.
    fn stopped_early(&self) -> Option<EarlyStop> {
        None
    }

    /// Files that describe what was learned, such as a grammar.
    fn files(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// What ended learning before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EarlyStop {
    /// The time was over; another machine may come further.
    Time,
    /// The bound on steps was reached, as it would be on any machine.
    Steps,
}

/// Who watches a model answer.
pub struct Watch<'a> {
    /// Stops the model when it becomes true, if it can go on later.
    pub interrupted: &'a AtomicBool,
    /// Told how far it is.
    pub answering: &'a (dyn Fn(Answering<'_>) + Sync),
}

/// What a model that takes long tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answering<'a> {
    /// Something to know, once.
    Note(&'a str),
    /// How far it is.
    Progress {
        /// Questions answered.
        done: usize,
        /// Questions in all.
        of: usize,
        /// What else to know now.
        message: &'a str,
    },
}

/// A model with a recurrent decoder, whose states can be looked at.
pub trait DecoderStates {
    /// The state of the decoder at the end of its answer to each input.
    fn final_states(&self, inputs: &[Tokens<'_>]) -> Vec<Vec<f32>>;
}

/// A model that reads a sequence of images through an encoder, whose outputs can be looked at.
pub trait ImageVectors {
    /// For each picture the vector of each image in it.
    fn vectors(&self, pictures: &[Image<'_>]) -> Vec<Vec<Vec<f32>>>;
}

/// How large a trained model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSize {
    /// Parameters.
    pub parameters: usize,
    /// Training examples.
    pub examples: usize,
}

/// How training went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Updates done.
    pub updates: u64,
    /// Updates that there would have been at most.
    pub of: u64,
    /// The best model by validation, where there was validation.
    pub best: Option<BestValidation>,
    /// Why it stopped.
    pub stopped: StopReason,
    /// The share of the time of all threads that the rendering of images took, in the process that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendering: Option<f64>,
}

/// The best model by validation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BestValidation {
    /// The update after which it was measured.
    pub update: u64,
    /// Its accuracy on the validation part, 0 to 1.
    pub accuracy: f64,
}

/// Why training stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// All updates were done.
    Steps,
    /// Validation had not become better for as long as the setting `patience` says.
    Patience,
    /// Everything in the validation part was right, so that no later model could be better.
    Perfect,
}

/// Answers each question by itself, on all cores: for models that gain nothing from batches.
pub fn answer_each(
    questions: &[Question<'_>],
    answer: impl Fn(&Question<'_>) -> Result<Answer> + Send + Sync,
) -> Result<Vec<Answer>> {
    questions.par_iter().map(answer).collect()
}
