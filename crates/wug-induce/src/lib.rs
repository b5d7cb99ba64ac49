//! Finds the grammar behind pairs of texts.

mod algebra;
mod budget;
mod chart;
mod costs;
mod forest;
mod grammar;
mod induce;
mod integers;
mod invert;
mod lexicon;
mod links;
mod meaning;
mod model;
mod pairs;
mod pool;
mod predications;
mod programs;
mod saved;
mod search;
mod strings;
mod symbols;

pub use algebra::Algebra;
pub use chart::Tree;
pub use model::{Model, Prediction, Settings, learn};
pub use saved::LoadError;
