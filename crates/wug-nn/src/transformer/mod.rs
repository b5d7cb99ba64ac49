//! Transformers with an encoder and a decoder, and an engine that trains them on the CPU.
//!
//! As for recurrent models, a [`Config`] says what a model is, a [`Model`] lays its parameters out in one flat buffer, and an
//! [`Engine`] computes losses, gradients and answers from such a buffer. Sequences lie one after the other, nothing padded.

mod answer;
mod attention;
mod config;
mod engine;
mod model;
mod pass;
mod positions;
mod room;
mod shard;
mod sublayer;
mod work;

pub use config::{Activation, Config, Initial, Norm, Positions};
pub use engine::Engine;
pub use model::Model;
