//! Our numbers beside the papers': published numbers, experiments as files, tables and figures.
//!
//! ```
//! use wug_report::{Experiment, Scale};
//!
//! let experiment = Experiment::named("mns/table-1", Scale::Smoke)?;
//! let specs = experiment.specs()?;
//! assert!(specs.iter().any(|spec| spec.learner == "search-pure"));
//! # Ok::<(), wug_data::Error>(())
//! ```

mod chart;
mod experiment;
mod published;

pub use chart::{csv, svg};
pub use experiment::{
    Column, EXPERIMENTS, Evaluation, Experiment, Figure, Fit, Line, Ours, Outcome, Row, Run, Scale,
    TableDocument, Theirs, experiment_csv, experiment_text, figure, latex, markdown,
};
pub use published::{
    Compared, Decoding, Filter, Number, Origin, Place, Size, SpreadKind, Summary, compared, published,
    published_sizes,
};
