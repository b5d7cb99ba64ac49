//! Scores with uncertainty, and the papers' numbers beside them.
//!
//! ```
//! use wug_bench::{Address, Source};
//! use wug_report::score;
//!
//! let address: Address = "nacs/length#test".parse()?;
//! let dataset = address.benchmark.make(&address.dataset, &Source::Seed(0))?;
//! let selection = dataset.select("test")?.limited(Some(100));
//! let targets: Vec<String> =
//!     selection.examples().map(|(_, row)| dataset.table.targets.get(row).to_string()).collect();
//! let predictions: Vec<&str> = targets.iter().map(String::as_str).collect();
//!
//! let judge = address.benchmark.judge("meaning")?;
//! let scored = score(&dataset, &selection, &predictions, judge.as_ref());
//! assert_eq!(scored.total().correct, 100);
//! # Ok::<(), wug_data::Error>(())
//! ```

mod chart;
mod experiment;
mod importance;
mod interval;
mod mismatch;
mod neighbours;
mod published;
mod score;

pub use chart::{csv, svg};
pub use experiment::{
    Asks, Cell, Column, EXPERIMENTS, Experiment, Figure, Fit, Line, Ours, Outcome, Row, Run, Scale, Scores,
    Theirs, experiment_csv, experiment_text, figure, latex, markdown,
};
pub use importance::{FeatureShare, Importance, importance};
pub use interval::wilson;
pub use mismatch::{Suspect, mismatch};
pub use published::{
    Compared, Decoding, Filter, Number, Origin, Place, Size, SpreadKind, Summary, compared, published,
    published_sizes,
};
pub use score::{Group, Groups, Scored, Tally, score};
