//! Recurrent sequence-to-sequence models, and an engine that trains them on the CPU.
//!
//! A [`Config`] says what a model is; [`Model`] lays its parameters out in one flat buffer; an [`Engine`] computes losses,
//! gradients and answers from such a buffer, and an [`Optimiser`] changes it. Nothing here knows of benchmarks or files.
//!
//! Training is the same bits for the same [`Isa`](kernels::Isa), whatever the number of threads.

mod batch;
mod config;
mod decoder;
mod encoder;
mod engine;
pub mod kernels;
mod parameters;
mod real;
mod recurrent;
mod steps;
pub mod transformer;
#[cfg(test)]
mod twin;

pub use batch::Lesson;
pub use config::{Begin, Bridge, Config, Model, Output};
pub use engine::{Engine, Optimiser, Outcome, Rule};
pub use parameters::{Layout, Tensor};
pub use real::Real;
pub use recurrent::Cell;
pub use steps::Steps;
