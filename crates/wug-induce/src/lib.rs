//! Finds the grammar behind pairs of texts: which words mean something, which rules put them together, and what may
//! stand where. Training pairs are all it reads.
//!
//! ```
//! use wug_induce::{Settings, learn};
//!
//! let pairs = [
//!     ("jump", "JUMP"), ("walk", "WALK"), ("look", "LOOK"),
//!     ("walk twice", "WALK WALK"), ("look twice", "LOOK LOOK"),
//!     ("walk and look", "WALK LOOK"), ("look twice and walk", "LOOK LOOK WALK"),
//!     ("jump and look", "JUMP LOOK"), ("walk and look twice", "WALK LOOK LOOK"),
//! ];
//! let model = learn(pairs, &Settings::default());
//! assert_eq!(model.predict("jump twice and walk twice").text, "JUMP JUMP WALK WALK");
//! assert!(model.predict("jump around").abstained.is_some());
//! ```
//!
//! | step | module |
//! |---|---|
//! | which word owns which symbol; which words are of one kind | `lexicon`, `kinds` |
//! | rows without their content words; words without meaning; noise | `induce` |
//! | rules, by the shortest description | `pool`, `search` |
//! | what each slot takes, from all derivations of the training rows | `forest`, `links` |
//! | what an unseen filler of a slot costs | `costs` |
//! | the cheapest derivation of a source, of a target | `chart`, `invert` |
//! | strings, sets of predications, whole numbers: an [`Algebra`] each | `strings`, `predications` with `notation`, `meaning`, `glued`, `roles` and `script`, `integers` with `programs` |

mod algebra;
mod calibration;
mod chart;
mod costs;
mod explain;
mod forest;
mod general;
mod glued;
mod grammar;
mod induce;
mod integers;
mod invert;
mod kinds;
mod lexicon;
mod links;
mod meaning;
mod model;
mod notation;
mod pairs;
mod plan;
mod pool;
mod predications;
mod programs;
mod roles;
mod saved;
mod script;
mod search;
mod strings;
mod symbols;

pub use algebra::Algebra;
pub use chart::Tree;
pub use model::{Model, Prediction, Progress, Settings, Stopped, Without, learn, learn_watched};
pub use saved::LoadError;
pub use symbols::{Child, Sym};
