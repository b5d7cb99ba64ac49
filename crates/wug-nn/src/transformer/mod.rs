//! Transformers with an encoder and a decoder.
//!
//! A [`Config`] says what a model is, a [`TransformerNetwork`] lays its parameters out in one flat buffer (`model.rs`) and computes losses,
//! gradients (`pass.rs`, `sublayer.rs`, `attention.rs`) and answers (`answer.rs`). Sequences lie one after the other, nothing
//! padded, so there are no masks but that of the decoder.

mod answer;
mod attention;
#[cfg(feature = "burn")]
mod burn_model;
mod config;
mod context;
mod model;
mod network;
mod pass;
mod positions;
#[cfg(test)]
mod reference;
mod sequences;
mod sublayer;

pub use config::{Activation, Config, Initial, Norm, Positions};
pub use network::TransformerNetwork;
