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
mod compare;
mod experiment;
mod gallery;
mod judged;
pub mod plot;
mod published;
mod report;
mod serve;
mod tsne;

pub use chart::{csv, svg};
pub use compare::{
    COMPARISON_SCHEMA, Change, ChangeOfGroup, ChangesByFact, Comparison, Flip, Method, Pair, PartComparison,
    System, SystemScore, mcnemar, paired_interval, seeded_interval,
};
pub use experiment::{
    Column, ColumnDocument, EXPERIMENTS, Evaluation, Experiment, Figure, Fit, Line, Measured, Outcome,
    PublishedCell, Row, RowDocument, Run, Scale, TableDocument, experiment_csv, experiment_text, figure,
    latex, markdown,
};
pub use gallery::write_gallery;
pub use judged::{Datasets, Judged, JudgedPart, seed_folders};
pub use published::{
    Attribution, Compared, Decoding, Filter, Number, Place, SplitSize, SpreadKind, Summary, compared,
    published, published_sizes,
};
pub use report::{
    Curve, ExampleTable, ExperimentReport, FactColumn, PartReport, Problem, Provenance, PublishedNumber,
    REPORT_SCHEMA, ReasonsByFact, Report, RunExamples, RunReport, SummaryRow, Training,
};
pub use serve::serve;
pub use tsne::embedding_map;
