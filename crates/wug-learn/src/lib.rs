//! Learners: what is given a task and answers its questions.
//!
//! A [`Learner`] looks at the training examples of a [`Task`] (or not: a search needs none) and becomes a [`Model`],
//! which answers [`Question`]s. An [`Answer`] may say how sure it is and why, or that there is none.
//!
//! ```
//! use wug_bench::{Address, Source};
//! use wug_learn::{Settings, Task, input_kind, learner, questions};
//!
//! let address: Address = "mns/circle#test".parse()?;
//! let dataset = address.benchmark.make(&address.dataset, &Source::Seed(0))?;
//! let learner = learner("bayes")?;
//! let settings = Settings::read(learner.about(), &[])?;
//! // The inputs are images; `bayes` is told the symbols behind them.
//! let reads = input_kind(learner.about(), &dataset, true)?;
//! let model = learner.learn(&Task::reading(&dataset, reads, settings, 0))?;
//!
//! let selection = dataset.select("test")?.limited(Some(28));
//! let answers = model.answers(&questions(&dataset, &selection, reads, None))?;
//! let right = selection.examples().zip(&answers).filter(|((_, row), answer)| {
//!     answer.text.as_deref() == Some(&dataset.table.targets.get(*row).to_string())
//! });
//! assert!(right.count() >= 27);
//! # Ok::<(), wug_data::Error>(())
//! ```

mod always_one;
mod chance;
mod export;
mod induced;
mod input;
mod learner;
mod llm;
pub mod mns;
mod model;
pub mod neural;
mod protocols;
mod settings;
mod task;

pub use always_one::AlwaysOne;
pub use chance::Chance;
pub use export::{Exported, Harness, export, exported_prompt};
pub use induced::Induced;
pub use input::{Image, Input, Oracle, Question, questions};
pub use learner::{Learner, LearnerInfo, Reads, input_kind, learner};
pub use llm::{Llm, preview_requests};
pub use model::{
    Answer, Answering, BestValidation, DecoderStates, EarlyStop, ImageVectors, Model, ModelSize, StopReason,
    Training, Watch, answer_each,
};
pub use protocols::{PROTOCOLS, Protocol};
pub use settings::{EXECUTION_SETTINGS, Settings};
pub use task::{InitCheckpoint, Lesson, Lessons, Progress, SearchProgress, Task, Validation};
pub use wug_data::{Preset, Setting, SettingKind};
pub use wug_nn::Device;

/// All learners. A new one is a file and a line here.
pub static LEARNERS: &[&dyn Learner] = &[
    &AlwaysOne,
    &Chance,
    &Induced,
    &Llm,
    &mns::SearchPure,
    &mns::SearchContext,
    &mns::Bayes,
    &mns::BayesImage,
    &neural::RNN,
    &neural::RNN_ATTN,
    &neural::RNN_ATTN_NODEP,
    &neural::GRU,
    &neural::GRU_ATTN,
    &neural::GRU_ATTN_NODEP,
    &neural::LSTM,
    &neural::LSTM_ATTN,
    &neural::LSTM_ATTN_NODEP,
    &neural::TRANSFORMER,
    &neural::TRANSFORMER_REL,
    &neural::TRANSFORMER_UNI,
    &neural::TRANSFORMER_REL_UNI,
    &neural::CNN,
    &neural::CNN_LSTM,
    &neural::RELATION_NETWORK,
    &neural::RESNET18,
];
