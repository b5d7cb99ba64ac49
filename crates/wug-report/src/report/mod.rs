//! Runs and experiments as one document, and that document as one page.
//!
//! [`Report::collect`] reads folders into a [`Report`]; [`Report::html`] is the page that shows it, and its JSON is what
//! `--json` writes. The page needs no network and no other file.

mod collect;
mod examples;
mod facts;
mod page;
mod provenance;
mod summary;

use std::collections::BTreeMap;

use serde::Serialize;

use wug_learn::ModelSize;
use wug_run::{Groups, SliceScores, Status, Symbols, Tally};

use crate::{Comparison, TableDocument};

pub(crate) use page::{STYLE, TABLES};

pub use examples::{ExampleTable, FactColumn, RunExamples};
pub use provenance::Provenance;
pub(crate) use provenance::chosen;
pub use summary::{PublishedNumber, SummaryRow};

/// Version of [`Report`] as JSON.
pub const REPORT_SCHEMA: u32 = 1;

/// Everything that a page shows.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Version of this format.
    pub schema: u32,
    /// Version of wug.
    pub wug: String,
    /// Learners on datasets, ours beside the published numbers.
    pub summary: Vec<SummaryRow>,
    /// Each run.
    pub runs: Vec<RunReport>,
    /// Tables of papers that were run.
    pub experiments: Vec<ExperimentReport>,
    /// Systems that answered the same examples.
    pub comparisons: Vec<Comparison>,
    /// Folders that could not be shown, or not completely.
    pub problems: Vec<Problem>,
    /// Examples, each once for all the runs that answered them.
    pub tables: Vec<ExampleTable>,
}

/// A table of a paper.
#[derive(Debug, Serialize)]
pub struct ExperimentReport {
    /// Its numbers.
    #[serde(flatten)]
    pub table: TableDocument,
    /// How many of its runs are done, and how many there are.
    pub progress: Option<(usize, usize)>,
    /// Its figure.
    #[serde(skip)]
    pub figure: Option<String>,
}

/// A folder that could not be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The folder.
    pub folder: String,
    /// What is wrong with it.
    pub what: String,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// The folder.
    pub folder: String,
    /// The dataset.
    pub dataset: String,
    /// The learner.
    pub learner: String,
    /// Present if the learner was given the symbols behind the images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<Symbols>,
    /// How far it has come.
    pub status: Status,
    /// How far training has come, while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Training>,
    /// How it can be repeated.
    pub provenance: Provenance,
    /// How large the model is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned: Option<ModelSize>,
    /// Loss and accuracy by step.
    pub curves: Vec<Curve>,
    /// Each part that was answered.
    pub parts: Vec<PartReport>,
}

/// How far training has come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Training {
    /// Updates that are done.
    pub step: u64,
    /// Updates in all, where that is known.
    pub steps: Option<u64>,
    /// Estimated seconds to the last update.
    pub seconds_left: Option<f64>,
}

/// A metric of training by step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// `loss`, `accuracy`, `validation`.
    pub name: String,
    /// Steps and values.
    pub points: Vec<(f64, f64)>,
}

/// The scores of a part, and its examples.
#[derive(Debug, Serialize)]
pub struct PartReport {
    /// The part.
    pub part: String,
    /// The metric.
    pub metric: String,
    /// Over all of it.
    #[serde(flatten)]
    pub tally: Tally,
    /// The corpus-level score, where the metric has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Slices that the benchmark's paper reports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<SliceScores>,
    /// Accuracy by every fact.
    pub by: Vec<Groups>,
    /// Why predictions are wrong, with the number of each reason by the values of each fact.
    pub reasons: Vec<ReasonsByFact>,
    /// Its predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<RunExamples>,
}

/// How many predictions are wrong for each reason, by the values of a fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReasonsByFact {
    /// The fact.
    pub fact: String,
    /// Its values.
    pub values: Vec<String>,
    /// The most frequent reasons, with a number for each value.
    pub reasons: BTreeMap<String, Vec<usize>>,
}
