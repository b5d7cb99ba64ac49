//! Many runs: those of a table, several at a time, each once.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wug_data::{Dataset, Error, Result, remove_stale_output};
use wug_learn::learner;

use crate::execute::make;
use crate::{Existing, Options, Prepared, RunRecord, RunSpec};

/// Operations per second of one core in training, as far as an estimate goes; runs that are done correct it.
const FLOPS_PER_CORE: f64 = 2e10;

/// Seconds of a run whose learner has no estimate.
const UNKNOWN: f64 = 10.0;

/// Seconds of everything but training.
const LEAST: f64 = 1.0;

/// Datasets that are kept for the runs that follow.
const DATASETS: usize = 4;

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
    /// Told when a run begins.
    pub begins: &'a (dyn Fn(&Begins<'_>) + Sync),
}

/// A run begins.
pub struct Begins<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// How many there are to do.
    pub of: usize,
    /// What it is.
    pub spec: &'a RunSpec,
    /// About how long all that are not done will take, by the time that others took.
    pub left: Duration,
}

/// How the runs ended that had to be executed.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The folders of those that failed, with why.
    pub failed: BTreeMap<String, String>,
    /// How many there was no time for.
    pub unfinished: usize,
}

/// The runs of a table that are not done, the short ones first.
pub struct Plan {
    folder: PathBuf,
    groups: Vec<Group>,
    datasets: Datasets,
}

/// Specs with the same training, so that those after the first need not train again.
struct Group {
    specs: Vec<RunSpec>,
    /// How long it takes, by estimate.
    seconds: f64,
}

impl Plan {
    /// Finds out what is to be run of `specs`, whose folders are below `folder` and named by [`RunSpec::folder`].
    ///
    /// # Errors
    /// If a spec cannot be run at all: everything is checked before the first run begins.
    pub fn new(specs: &[RunSpec], folder: &Path) -> Result<Self> {
        let mut groups = groups(specs, folder)?;
        let datasets = Datasets::default();
        let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
        for group in &mut groups {
            let first = &group.specs[0];
            let flops = || Prepared::with(first.clone(), &|spec| datasets.of(spec))?.training_flops();
            // A run that cannot even be prepared fails when its turn comes, and the others go on.
            let flops = flops().unwrap_or_default();
            group.seconds = flops.map_or(UNKNOWN, |flops| LEAST + flops / (FLOPS_PER_CORE * cores));
            if trained(first, folder)?.is_some() {
                group.seconds = group.seconds.min(UNKNOWN);
            }
        }
        // What is fine-tuned must be trained before.
        let tunes = |group: &Group| group.specs[0].init.is_some();
        groups
            .sort_by(|one, other| tunes(one).cmp(&tunes(other)).then(one.seconds.total_cmp(&other.seconds)));
        Ok(Self { folder: folder.to_owned(), groups, datasets })
    }

    /// How many runs there are to do.
    pub fn runs(&self) -> usize {
        self.groups.iter().map(|group| group.specs.len()).sum()
    }

    /// About how long they will take on all cores of this machine.
    pub fn estimate(&self) -> Duration {
        duration(self.groups.iter().map(|group| group.seconds).sum())
    }

    /// Executes the runs. Those with the same training as one that is done in the folder take its checkpoint.
    pub fn execute(&self, batch: &Batch<'_>) -> Outcome {
        let outcome = Mutex::new(Outcome::default());
        let clock =
            Mutex::new(Clock { left: self.estimate().as_secs_f64(), planned: 0.0, begun: Instant::now() });
        let number = AtomicUsize::new(0);
        let settle = |spec: &RunSpec, result: Result<()>| {
            let mut outcome = locked(&outcome);
            match result {
                Ok(()) => {}
                Err(error) if error.is_unfinished() => outcome.unfinished += 1,
                Err(error) => {
                    let name = spec.folder().unwrap_or_else(|_| spec.to_string());
                    outcome.failed.insert(name, error.to_string());
                }
            }
        };
        let work = |groups: &[Group], next: &AtomicUsize| {
            while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                for spec in &group.specs {
                    let is_late = batch.deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if is_late || batch.interrupted.load(Ordering::Relaxed) {
                        settle(spec, Err(Error::unfinished("not begun")));
                        continue;
                    }
                    let number = number.fetch_add(1, Ordering::Relaxed) + 1;
                    let left = locked(&clock).left();
                    (batch.begins)(&Begins { number, of: self.runs(), spec, left });
                    settle(spec, self.execute_one(spec, batch));
                }
                locked(&clock).done(group.seconds);
            }
        };
        let fine_tuned = self.groups.partition_point(|group| group.specs[0].init.is_none());
        let (first, then) = self.groups.split_at(fine_tuned);
        for groups in [first, then] {
            let next = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..batch.jobs.clamp(1, groups.len().max(1)) {
                    scope.spawn(|| work(groups, &next));
                }
            });
        }
        outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one, or goes on where it was left.
    fn execute_one(&self, spec: &RunSpec, batch: &Batch<'_>) -> Result<()> {
        let about = learner(&spec.learner)?;
        let place = self.folder.join(spec.folder()?);
        let keeps = !about.keeps().is_empty();
        let is_left = keeps && RunRecord::read(&place)?.is_some();
        let init = match &spec.init {
            Some(init) => {
                let place = self.folder.join(init.folder()?);
                if !is_left && !RunRecord::is_done(&place)? {
                    return Err(Error::unfinished(format!("not begun: {init} is to be trained before")));
                }
                Some(place)
            }
            None => None,
        };
        let mut spec = spec.clone();
        if let (Some(device), Some(setting)) = (batch.device, spec.settings.get_mut("device")) {
            *setting = device.into();
        }
        let time_left = batch.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let options = Options {
            existing: if is_left { Existing::Resume } else { Existing::Replace },
            trained: if keeps && !is_left { trained(&spec, &self.folder)? } else { None },
            init,
            symbol_vectors: false,
            time_limit: time_left.filter(|_| keeps),
            folder: Some(place),
            interrupted: batch.interrupted,
            progress: &|_| (),
            answering: &|_| (),
        };
        Prepared::with(spec, &|spec| self.datasets.of(spec))?.execute(&options).map(|_| ())
    }
}

/// Estimates what is left by how long it took to do what is done.
struct Clock {
    /// Planned seconds that are not done.
    left: f64,
    /// Planned seconds that are done.
    planned: f64,
    begun: Instant,
}

impl Clock {
    fn done(&mut self, planned: f64) {
        self.left -= planned;
        self.planned += planned;
    }

    fn left(&self) -> Duration {
        let slower = if self.planned > 0.0 { self.begun.elapsed().as_secs_f64() / self.planned } else { 1.0 };
        duration(self.left * slower)
    }
}

/// The data of the last specs, of which many share them.
#[derive(Default)]
struct Datasets(Mutex<VecDeque<(RunSpec, Arc<Dataset>)>>);

impl Datasets {
    fn of(&self, spec: &RunSpec) -> Result<Arc<Dataset>> {
        let shares = |other: &RunSpec| {
            (&other.dataset, &other.source, &other.with) == (&spec.dataset, &spec.source, &spec.with)
        };
        let mut kept = locked(&self.0);
        if let Some(place) = kept.iter().position(|(other, _)| shares(other)) {
            // The last to go is the one that was used last, such as what all fine-tunings begin from.
            let found = kept.remove(place).expect("it has this place");
            let dataset = Arc::clone(&found.1);
            kept.push_back(found);
            return Ok(dataset);
        }
        drop(kept);
        let dataset = Arc::new(make(spec)?);
        let mut kept = locked(&self.0);
        if kept.len() == DATASETS {
            kept.pop_front();
        }
        kept.push_back((spec.clone(), Arc::clone(&dataset)));
        Ok(dataset)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

/// What is to be run, specs with the same training together.
fn groups(specs: &[RunSpec], folder: &Path) -> Result<Vec<Group>> {
    let mut open: Vec<Group> = Vec::new();
    for spec in specs {
        spec.check()?;
        let place = folder.join(spec.folder()?);
        if RunRecord::is_done(&place)? {
            remove_stale_output(&place);
            continue;
        }
        let mut group = None;
        for (i, known) in open.iter().enumerate() {
            if known.specs[0].trains_as(spec)? {
                group = Some(i);
                break;
            }
        }
        match group {
            Some(i) => open[i].specs.push(spec.clone()),
            None => open.push(Group { specs: vec![spec.clone()], seconds: 0.0 }),
        }
    }
    Ok(open)
}

/// The folder of another run below `folder` that is done and has the same training, of this experiment or another one.
fn trained(spec: &RunSpec, folder: &Path) -> Result<Option<PathBuf>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(None) };
    // Whichever it is makes no difference; in order, so that the record names the same one whenever it is repeated.
    let mut places: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    places.sort();
    let own = spec.folder()?;
    for place in places.into_iter().filter(|place| !place.ends_with(&own)) {
        // Other folders may be here, damaged ones too: they are nobody's checkpoint.
        let Ok(Some(record)) = RunRecord::read(&place) else { continue };
        if record.spec.trains_as(spec).unwrap_or(false) && RunRecord::is_done(&place).unwrap_or(false) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}
