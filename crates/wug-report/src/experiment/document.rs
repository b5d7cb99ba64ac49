use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use wug_data::{Error, Result};
use wug_run::Symbols;

use super::{Measured, Outcome, Scale};

/// Version of [`TableDocument`] as JSON.
const SCHEMA: u32 = 1;
/// Larger files are no tables.
const MOST_BYTES: u64 = 16 << 20;

/// A table as one JSON document: ours beside the paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableDocument {
    /// Version of this format.
    pub schema: u32,
    /// `scan/experiment-2`.
    pub experiment: String,
    /// What it shows.
    pub title: String,
    /// The paper.
    pub paper: String,
    /// Where in the paper.
    pub source: String,
    /// How much of it was run.
    pub scale: Scale,
    /// Whether its numbers are results, as those of a smoke test are not.
    pub is_result: bool,
    /// The rows.
    pub rows: Vec<RowDocument>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowDocument {
    /// Its heading.
    pub row: String,
    /// The learner, if one was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learner: Option<String>,
    /// Present if the learner was given the symbols behind the images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Symbols>,
    /// Its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
    /// A number for each column.
    pub columns: Vec<ColumnDocument>,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnDocument {
    /// The heading of its column.
    pub column: String,
    /// What came out.
    pub ours: Measured,
    /// The mean of that.
    pub mean: Option<f64>,
    /// Its standard deviation.
    pub std: Option<f64>,
    /// The paper's number.
    pub theirs: Option<f64>,
    /// As the paper prints it.
    pub theirs_printed: Option<String>,
    /// How many runs are behind it.
    pub theirs_runs: Option<u32>,
}

impl RowDocument {
    fn new(outcome: &Outcome, i: usize) -> Self {
        let row = &outcome.experiment.rows[i];
        let cells = outcome.experiment.columns.iter().zip(&outcome.ours[i]).zip(&row.theirs);
        let columns = cells.map(|((column, ours), theirs)| ColumnDocument {
            column: column.name.clone(),
            ours: ours.clone(),
            mean: ours.mean(),
            std: ours.spread(),
            theirs: theirs.as_ref().map(|theirs| theirs.value),
            theirs_printed: theirs.as_ref().map(|theirs| theirs.printed.clone()),
            theirs_runs: theirs.as_ref().and_then(|theirs| theirs.runs),
        });
        Self {
            row: row.name.clone(),
            learner: row.run.as_ref().map(|run| run.learner.clone()),
            reads: row.run.as_ref().and_then(|run| run.reads),
            settings: row.run.as_ref().map(|run| run.set.clone()),
            columns: columns.collect(),
        }
    }
}

impl From<&Outcome> for TableDocument {
    fn from(outcome: &Outcome) -> Self {
        let experiment = &outcome.experiment;
        Self {
            schema: SCHEMA,
            experiment: experiment.name.clone(),
            title: experiment.title.clone(),
            paper: experiment.paper.clone(),
            source: experiment.source.clone(),
            scale: experiment.scale,
            is_result: outcome.warning().is_none(),
            rows: (0..experiment.rows.len()).map(|i| RowDocument::new(outcome, i)).collect(),
        }
    }
}

impl TableDocument {
    /// Reads a table that was written; `None` if the file is something else.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        if std::fs::metadata(path).map_err(Error::io(path))?.len() > MOST_BYTES {
            return Ok(None);
        }
        let text = std::fs::read(path).map_err(Error::io(path))?;
        Ok(serde_json::from_slice(&text).ok().filter(|document: &Self| document.schema == SCHEMA))
    }
}
