//! Many runs: those of a table, several at a time, each once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use wug_data::{Error, Result};
use wug_learn::learner;

use crate::{Existing, Options, Prepared, RunRecord, RunSpec};

/// How the runs of a table are executed. Nothing here changes their results.
pub struct Batch<'a> {
    /// How many runs at a time.
    pub jobs: usize,
    /// When to stop, with checkpoints to go on from.
    pub deadline: Option<Instant>,
    /// Where networks are computed, if not on the CPU.
    pub device: Option<&'a str>,
    /// Stops all runs when it becomes true.
    pub interrupted: &'a AtomicBool,
    /// Told when a run begins: its number from 1, how many there are to do, and what it is.
    pub begins: &'a (dyn Fn(usize, usize, &RunSpec) + Sync),
}

/// How the runs ended that had to be executed.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The folders of those that failed, with why.
    pub failed: BTreeMap<String, String>,
    /// How many there was no time for.
    pub unfinished: usize,
}

/// Executes those of `specs` that are not done, in folders below `folder` that are named by [`RunSpec::folder`]. Runs with
/// the same training as another one of `all` take its checkpoint.
///
/// # Errors
/// If a spec cannot be run at all: everything is checked before the first run begins.
pub fn execute_all(specs: &[RunSpec], all: &[RunSpec], folder: &Path, batch: &Batch<'_>) -> Result<Outcome> {
    let open = groups(specs, folder)?;
    let count = open.iter().map(Vec::len).sum();
    let outcome = Mutex::new(Outcome::default());
    let (next, number) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let settle = |spec: &RunSpec, result: Result<()>| {
        let mut outcome = outcome.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match result {
            Ok(()) => {}
            Err(error) if error.is_unfinished() => outcome.unfinished += 1,
            Err(error) => {
                let name = spec.folder().unwrap_or_else(|_| spec.to_string());
                outcome.failed.insert(name, error.to_string());
            }
        }
    };
    let work = || {
        while let Some(group) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            for spec in group {
                let is_late = batch.deadline.is_some_and(|deadline| Instant::now() >= deadline);
                if is_late || batch.interrupted.load(Ordering::Relaxed) {
                    settle(spec, Err(Error::unfinished("not begun")));
                    continue;
                }
                (batch.begins)(number.fetch_add(1, Ordering::Relaxed) + 1, count, spec);
                settle(spec, execute(spec, all, folder, batch));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..batch.jobs.clamp(1, open.len().max(1)) {
            scope.spawn(work);
        }
    });
    Ok(outcome.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// What is to be run: specs with the same training behind each other, so that those that follow need not train again.
fn groups(specs: &[RunSpec], folder: &Path) -> Result<Vec<Vec<RunSpec>>> {
    let mut open: Vec<Vec<RunSpec>> = Vec::new();
    for spec in specs {
        spec.check()?;
        if RunRecord::is_done(&folder.join(spec.folder()?))? {
            continue;
        }
        let mut group = None;
        for (i, known) in open.iter().enumerate() {
            if known[0].trains_as(spec)? {
                group = Some(i);
                break;
            }
        }
        match group {
            Some(i) => open[i].push(spec.clone()),
            None => open.push(vec![spec.clone()]),
        }
    }
    Ok(open)
}

/// Runs one, or goes on where it was left.
fn execute(spec: &RunSpec, all: &[RunSpec], folder: &Path, batch: &Batch<'_>) -> Result<()> {
    let about = learner(&spec.learner)?;
    let place = folder.join(spec.folder()?);
    let keeps = !about.keeps().is_empty();
    let is_left = keeps && RunRecord::read(&place)?.is_some();
    let mut spec = spec.clone();
    if let (Some(device), Some(setting)) = (batch.device, spec.settings.get_mut("device")) {
        *setting = device.into();
    }
    let time_left = batch.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let options = Options {
        existing: if is_left { Existing::Resume } else { Existing::Replace },
        trained: if keeps && !is_left { trained(&spec, all, folder)? } else { None },
        time_limit: time_left.filter(|_| keeps),
        folder: Some(place),
        interrupted: batch.interrupted,
        progress: &|_| (),
        answering: &|_| (),
    };
    Prepared::new(spec)?.execute(&options).map(|_| ())
}

/// The folder of another run that is done and has the same training.
fn trained(spec: &RunSpec, all: &[RunSpec], folder: &Path) -> Result<Option<std::path::PathBuf>> {
    for other in all {
        if other.trains_as(spec)? && other.key()? != spec.key()? {
            let place = folder.join(other.folder()?);
            if RunRecord::is_done(&place).unwrap_or(false) {
                return Ok(Some(place));
            }
        }
    }
    Ok(None)
}
