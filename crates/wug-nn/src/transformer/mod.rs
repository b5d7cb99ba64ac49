//! Transformers with an encoder and a decoder.
//!
//! A [`Config`] says what a model is, a [`Model`] lays its parameters out in one flat buffer (`model.rs`) and computes losses,
//! gradients (`pass.rs`, `sublayer.rs`, `attention.rs`) and answers (`answer.rs`). Sequences lie one after the other, nothing
//! padded, so there are no masks but that of the decoder.

mod answer;
mod attention;
#[cfg(feature = "burn")]
mod composed;
mod config;
mod model;
mod network;
mod pass;
mod positions;
#[cfg(test)]
mod reference;
mod room;
mod sequences;
mod sublayer;
mod work;

pub use config::{Activation, Config, Initial, Norm, Positions};
pub use network::Model;
