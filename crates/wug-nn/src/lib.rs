//! Sequence-to-sequence models and networks that see, and an engine that trains them on the CPU.
//!
//! A configuration ([`recurrent::Config`], [`transformer::Config`], [`vision::Config`]) describes a network
//! ([`recurrent::RecurrentNetwork`], [`transformer::TransformerNetwork`], ...), which lays its parameters out in one flat buffer.
//! An [`Engine`] computes the loss, the gradients and the answers of any [`Network`] from that buffer; an [`Optimiser`]
//! updates it.
//! Nothing here knows of benchmarks or files. A [`Device`] says where an engine computes: the CPU with our own kernels, or, if it
//! was compiled in, a GPU through burn.
//!
//! Training is the same bits for the same [`Isa`](kernels::Isa), whatever the number of threads.

// What a kernel calls must be inlined to be compiled for its instruction set; the gates of a cell are i, f, g and o.
#![allow(clippy::inline_always, clippy::many_single_char_names)]

mod batch;
mod buffer;
pub mod device;
mod engine;
pub mod kernels;
mod linear;
mod network;
mod optimiser;
mod parameters;
mod real;
pub mod recurrent;
mod steps;
#[cfg(test)]
mod tape;
pub mod transformer;
pub mod vision;
mod workspace;

pub use buffer::Buffer;
pub use device::Device;
pub use engine::Engine;
pub use linear::Linear;
pub use network::{Context, Images, Lesson, Network, Outcome, Query, Sequence, Shard, Step};
pub use optimiser::{Optimiser, Rule, Schedule, Shape};
pub use parameters::{Gradients, Init, Layout, Tensor, TensorId};
pub use real::Real;
pub use steps::Steps;
