use std::collections::BTreeMap;

use serde::Serialize;

use wug_run::Symbols;

use super::{Ours, Outcome, Scale};

/// A table as one JSON document: ours beside the paper's.
#[derive(Serialize)]
pub struct TableDocument<'a> {
    schema: u32,
    experiment: &'a str,
    title: &'a str,
    paper: &'a str,
    source: &'a str,
    scale: Scale,
    is_result: bool,
    rows: Vec<RowDocument<'a>>,
}

#[derive(Serialize)]
struct RowDocument<'a> {
    row: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    learner: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<Symbols>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<&'a BTreeMap<String, String>>,
    columns: Vec<ColumnDocument<'a>>,
}

#[derive(Serialize)]
struct ColumnDocument<'a> {
    column: &'a str,
    ours: &'a Ours,
    mean: Option<f64>,
    std: Option<f64>,
    theirs: Option<f64>,
    theirs_printed: Option<&'a str>,
    theirs_runs: Option<u32>,
}

impl<'a> RowDocument<'a> {
    fn new(outcome: &'a Outcome, i: usize) -> Self {
        let row = &outcome.experiment.rows[i];
        let cells = outcome.experiment.columns.iter().zip(&outcome.ours[i]).zip(&row.theirs);
        let columns = cells.map(|((column, ours), theirs)| ColumnDocument {
            column: &column.name,
            ours,
            mean: ours.mean(),
            std: ours.spread(),
            theirs: theirs.as_ref().map(|theirs| theirs.value),
            theirs_printed: theirs.as_ref().map(|theirs| theirs.printed.as_str()),
            theirs_runs: theirs.as_ref().and_then(|theirs| theirs.runs),
        });
        Self {
            row: &row.name,
            learner: row.run.as_ref().map(|run| run.learner.as_str()),
            reads: row.run.as_ref().and_then(|run| run.reads),
            settings: row.run.as_ref().map(|run| &run.set),
            columns: columns.collect(),
        }
    }
}

impl<'a> From<&'a Outcome> for TableDocument<'a> {
    fn from(outcome: &'a Outcome) -> Self {
        let experiment = &outcome.experiment;
        Self {
            schema: 1,
            experiment: &experiment.name,
            title: &experiment.title,
            paper: &experiment.paper,
            source: &experiment.source,
            scale: experiment.scale,
            is_result: outcome.warning().is_none(),
            rows: (0..experiment.rows.len()).map(|i| RowDocument::new(outcome, i)).collect(),
        }
    }
}
