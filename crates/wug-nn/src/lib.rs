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
//!
//! A GRU with attention that learns to reverse a sequence (token 0 ends a target):
//!
//! ```
//! use wug_nn::kernels::Isa;
//! use wug_nn::recurrent::{Attention, Begin, Bridge, Cell, Config, Output, RecurrentNetwork};
//! use wug_nn::{Engine, Lesson, Network, Optimiser, Query, Rule, Sequence, Step};
//!
//! let network = RecurrentNetwork::new(Config {
//!     cell: Cell::Gru,
//!     encoder_layers: 1,
//!     decoder_layers: 1,
//!     hidden: 16,
//!     embedding: 16,
//!     bidirectional: false,
//!     attention: Attention::Additive,
//!     attention_bias: false,
//!     dependence: true,
//!     begin: Begin::Learned,
//!     bridge: Bridge::Copy,
//!     output: Output::Context,
//!     dropout: 0.0,
//!     source_words: 4,
//!     target_words: 4,
//! })?;
//! let sources = [[1, 2, 3], [2, 1, 1], [3, 3, 2], [1, 3, 1]];
//! let targets = sources.map(|[a, b, c]| [c, b, a, 0]);
//! let mut seed = 1u32;
//! let mut values = Network::<f32>::layout(&network).draw::<f32>(|| {
//!     seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
//!     f64::from(seed >> 8) / f64::from(1 << 24)
//! });
//! let mut engine = Engine::new(network, Isa::best());
//! let mut adam = Optimiser::new(Rule::ADAM, values.len());
//! let lessons: Vec<Lesson<'_>> = (0..4)
//!     .map(|i| Lesson { source: Sequence::Tokens(&sources[i]), target: &targets[i], forced: true })
//!     .collect();
//! for _ in 0..300 {
//!     let step = Step { factor: 0.25, ..Step::PLAIN };
//!     let (_, gradients) = engine.learn(&values, &lessons, step);
//!     adam.step(Isa::best(), &mut values, gradients, 0.01, 5.0, 0.0);
//! }
//! let queries: Vec<Query<'_>> = lessons.iter().map(|lesson| Query { source: lesson.source, length: None }).collect();
//! let answers = engine.answer(&values, &queries, 10);
//! assert_eq!(answers, sources.map(|[a, b, c]| Some(vec![c, b, a])));
//! # Ok::<(), String>(())
//! ```

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
