//! Scores and verdicts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use wug_bench::{Address, Verdict};
use wug_data::{Dataset, Prediction, PredictionFormat, Predictions};
use wug_run::{Scored, Scorer, ScorerOptions};

use crate::data::{Seed, source};
use crate::errors::exception;
use crate::work::{Unattended, briefly, run};

/// Predictions as a user gives them.
#[derive(FromPyObject)]
pub(crate) enum Given {
    /// One for each example, in order.
    Texts(Vec<String>),
    /// With ids, and the inputs where they are known.
    Rows(Vec<(String, String, Option<String>)>),
    /// In a file.
    File(PathBuf),
}

impl Given {
    fn read(self, scorer: &Scorer) -> wug_data::Result<Predictions> {
        let (format, rows) = match self {
            Self::File(path) => return scorer.read(&path, None),
            Self::Texts(texts) => {
                let rows = texts.into_iter().map(|text| Prediction { text, ..Prediction::default() });
                (PredictionFormat::Lines, rows.collect::<Vec<_>>())
            }
            Self::Rows(rows) => {
                let row =
                    |(id, text, input)| Prediction { id: Some(id), text, input, ..Prediction::default() };
                (PredictionFormat::JsonLines, rows.into_iter().map(row).collect())
            }
        };
        let rows = (1..).zip(rows).map(|(line, row)| Prediction { line, ..row }).collect();
        Ok(Predictions::given("predictions", format, rows))
    }
}

/// Scores predictions: the document that the command line prints, and the verdicts.
#[pyfunction]
pub(crate) fn score(
    py: Python<'_>,
    dataset: String,
    predictions: Given,
    metric: Option<String>,
    by: Vec<String>,
    limit: Option<usize>,
    seed: Option<Seed>,
    data: Option<PathBuf>,
    settings: BTreeMap<String, String>,
) -> PyResult<(String, Verdicts)> {
    let work = move || {
        let address: Address = dataset.parse()?;
        let (source, settings) = source(seed, data, settings)?;
        let options = ScorerOptions { metric, gold: None, limit };
        let scorer = Scorer::new(address, source, settings, &options)?;
        let facts = scorer.facts(&by)?;
        let predictions = predictions.read(&scorer)?;
        let judged = scorer.judge(&predictions)?;
        let scores = judged.scores(&facts, false)?;
        let parts = judged.scored.iter().map(JudgedPart::of).collect();
        let verdicts = Verdicts { dataset: Arc::clone(&scorer.dataset), parts };
        Ok((serde_json::to_string(&scores), verdicts))
    };
    let (json, verdicts) = run(py, &Unattended, work)?.map_err(exception)?;
    Ok((json.map_err(|error| PyRuntimeError::new_err(error.to_string()))?, verdicts))
}

/// Judges one answer: whether it is correct, whether the judge gave up, and why it is wrong.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    dataset: &str,
    metric: Option<&str>,
    input: &str,
    target: &str,
    answer: &str,
) -> PyResult<(bool, bool, String)> {
    let work = || {
        let address: Address = dataset.parse()?;
        wug_bench::verify(&*address.benchmark, metric, input, target, answer)
    };
    let Verdict { correct, undecided, reason } = briefly(py, work)?.map_err(exception)?;
    Ok((correct, undecided, reason))
}

/// The verdicts on the predictions for some parts.
#[pyclass(frozen, module = "wug._wug")]
pub(crate) struct Verdicts {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) parts: Vec<JudgedPart>,
}

/// The verdicts on the predictions for a part.
pub(crate) struct JudgedPart {
    pub(crate) name: String,
    pub(crate) positions: Vec<u32>,
    pub(crate) verdicts: Vec<Verdict>,
}

impl JudgedPart {
    fn of(scored: &Scored<'_>) -> Self {
        let selection = scored.selection();
        Self {
            name: selection.name.clone(),
            positions: selection.positions.clone(),
            verdicts: scored.verdicts().to_vec(),
        }
    }
}

impl Verdicts {
    fn part(&self, name: &str) -> wug_data::Result<Scored<'_>> {
        let known = self.parts.iter().find(|part| part.name == name);
        let names = || self.parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(", ");
        let none = || wug_data::Error::usage(format!("part `{name}` was not scored; there are: {}", names()));
        let JudgedPart { positions, verdicts, .. } = known.ok_or_else(none)?;
        let mut selection = self.dataset.select(name)?;
        selection.positions.clone_from(positions);
        Ok(Scored::new(selection, verdicts.clone(), None))
    }
}

#[pymethods]
impl Verdicts {
    /// The score of a part by a fact, as JSON.
    fn by(&self, py: Python<'_>, part: &str, fact: &str) -> PyResult<String> {
        let work = || Ok(self.part(part)?.by(self.dataset.table.facts.column(fact)?));
        let groups = briefly(py, work)?.map_err(exception)?;
        serde_json::to_string(&groups).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Id, whether correct, whether undecided, and why wrong, for each example of a part.
    fn list(&self, py: Python<'_>, part: &str) -> PyResult<Vec<(String, bool, bool, String)>> {
        let work = || {
            let scored = self.part(part)?;
            let rows = scored.selection().examples().zip(scored.verdicts());
            let row = |((id, _), verdict): ((String, u32), &Verdict)| {
                (id, verdict.correct, verdict.undecided, verdict.reason.clone())
            };
            Ok(rows.map(row).collect())
        };
        briefly(py, work)?.map_err(exception)
    }
}
