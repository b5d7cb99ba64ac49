//! Runs, comparisons and reports.

use std::collections::BTreeMap;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use wug_data::{Error, Result};
use wug_learn::{Answering, Progress};
use wug_report::{Comparison, Datasets, Judged, Report, System};
use wug_run::{Existing, Options, Prepared, RunRecord, RunSpec, Status, Symbols};

use crate::data::{Seed, source};
use crate::errors::exception;
use crate::score::{JudgedPart, Verdicts};
use crate::work::{Unattended, Waiting, run as wait};

/// How far a run is: unit, done, of, message.
type Latest = (&'static str, u64, u64, String);

/// A run that is waited for.
struct Watched {
    interrupted: Arc<AtomicBool>,
    resumable: bool,
    latest: Arc<Mutex<Option<Latest>>>,
    progress: Option<Py<PyAny>>,
}

impl Waiting for Watched {
    fn tick(&self, py: Python<'_>) -> PyResult<()> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(progress), Some(latest)) = (&self.progress, latest) {
            progress.call1(py, latest)?;
        }
        Ok(())
    }

    fn stop(&self) -> bool {
        self.interrupted.store(true, Ordering::Relaxed);
        self.resumable
    }
}

/// Executes a run in a folder, goes on with the one that the folder has, or finds it done. Returns the folder.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    dataset: String,
    learner: String,
    set: Vec<String>,
    learner_seed: u64,
    metric: Option<String>,
    limit: Option<usize>,
    reads_symbols: bool,
    seed: Option<Seed>,
    data: Option<PathBuf>,
    settings: BTreeMap<String, String>,
    folder: Option<PathBuf>,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<PathBuf> {
    let prepare = move || -> Result<(Prepared, PathBuf, Option<Existing>)> {
        let mut spec = RunSpec::new(&dataset, &learner)?;
        spec.set(&set)?;
        if let Some(metric) = metric {
            spec.judge_by(&metric)?;
        }
        let (source, settings) = source(seed, data, settings)?;
        (spec.source, spec.with) = (source, settings.to_map());
        (spec.limit, spec.learner_seed) = (limit, learner_seed);
        spec.reads = reads_symbols.then_some(Symbols::Symbols);
        let folder = match folder {
            Some(folder) => folder,
            None => PathBuf::from("runs").join(spec.folder()?),
        };
        let existing = existing(&spec, &folder, force)?;
        Ok((Prepared::new(spec)?, folder, existing))
    };
    let (prepared, folder, existing) = wait(py, &Unattended, prepare)?.map_err(exception)?;
    let Some(existing) = existing else { return Ok(folder) };
    let watched = Watched {
        interrupted: Arc::default(),
        resumable: prepared.keeps_checkpoints(),
        latest: Arc::default(),
        progress,
    };
    let (interrupted, latest, into) =
        (Arc::clone(&watched.interrupted), Arc::clone(&watched.latest), folder.clone());
    let execute = move || -> Result<()> {
        let say = |now: Latest| *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        let options = Options {
            folder: Some(into),
            existing,
            interrupted: &interrupted,
            progress: &|now: Progress| {
                let accuracy = 100.0 * now.accuracy;
                say(("updates", now.done, now.of, format!("loss {:.4}, accuracy {accuracy:.1}%", now.loss)));
            },
            answering: &|now| {
                if let Answering::Progress { done, of, message } = now {
                    say(("answers", done as u64, of as u64, message.to_owned()));
                }
            },
            ..Options::default()
        };
        prepared.execute(&options).map(|_| ())
    };
    wait(py, &watched, execute)?.map_err(exception)?;
    Ok(folder)
}

/// What to do with the run that a folder has; nothing if it is the one that is asked for, and done.
fn existing(spec: &RunSpec, folder: &std::path::Path, force: bool) -> Result<Option<Existing>> {
    if force {
        return Ok(Some(Existing::Replace));
    }
    let Some(record) = RunRecord::read(folder)? else { return Ok(Some(Existing::Refuse)) };
    // A record names the parts that were answered, and a spec may leave them to the benchmark.
    let mut known = record.spec.clone();
    if spec.parts.is_empty() {
        known.parts.clear();
    }
    if known.key()? != spec.key()? {
        let shown = folder.display();
        let what =
            format!("{shown} holds another run ({}): choose another folder, or force=True", record.spec);
        return Err(Error::usage(what));
    }
    Ok((record.status != Status::Done).then_some(Existing::Resume))
}

/// The record and the scores of a run, as JSON, and its verdicts.
#[pyfunction]
pub(crate) fn judge_run(py: Python<'_>, folder: PathBuf) -> PyResult<(String, String, Verdicts)> {
    let judge = move || -> Result<_> {
        let Judged { record, dataset, parts, .. } = Datasets::default().judge_run(&folder, None)?;
        let part = |part: wug_report::JudgedPart| JudgedPart {
            name: part.name,
            positions: part.positions,
            verdicts: part.verdicts,
        };
        Ok((record, Verdicts { dataset, parts: parts.into_iter().map(part).collect() }))
    };
    let (record, verdicts) = wait(py, &Unattended, judge)?.map_err(exception)?;
    let scores = record.as_ref().and_then(|record| record.scores.as_ref());
    Ok((json(&record)?, json(&scores)?, verdicts))
}

/// Compares runs on the same examples, as JSON.
#[pyfunction]
pub(crate) fn compare(py: Python<'_>, folders: Vec<PathBuf>, by: Vec<String>) -> PyResult<String> {
    if folders.len() < 2 {
        return Err(PyValueError::new_err("name at least two runs to compare"));
    }
    let compare = move || -> Result<Comparison> {
        let mut datasets = Datasets::default();
        let runs: Vec<Judged> =
            folders.iter().map(|folder| datasets.judge_run(folder, None)).collect::<Result<_>>()?;
        Comparison::new(&System::group(&runs)?, &by)
    };
    json(&wait(py, &Unattended, compare)?.map_err(exception)?)
}

/// Writes the page of some runs; returns what could not be shown.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    path: PathBuf,
) -> PyResult<Vec<(String, String)>> {
    let write = move || -> Result<Vec<(String, String)>> {
        let report = Report::collect(&folders);
        wug_data::write_file(&path, |out| out.write_all(report.html().as_bytes()))?;
        Ok(report.problems.into_iter().map(|problem| (problem.folder, problem.what)).collect())
    };
    wait(py, &Unattended, write)?.map_err(exception)
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
