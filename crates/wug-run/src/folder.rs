//! The folder of a run: `run.json` and, when it is done, `scores.json` and `predictions.jsonl`, with what the learner keeps.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use wug_data::{Error, FileEntry, Folder, Manifest, PartSize, Result, Selection};
use wug_learn::{Answer, Learner, Model, Training};

use crate::{Prepared, RunSpec, Scores};

/// Version of `run.json`.
pub const RUN_SCHEMA: u32 = 2;

const RUN: &str = "run.json";
const SCORES: &str = "scores.json";
const PREDICTIONS: &str = "predictions.jsonl";

/// What a run was, and how far it has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this format.
    pub schema: u32,
    /// Version of wug that wrote it.
    pub wug: String,
    /// Everything that determines the result.
    pub spec: RunSpec,
    /// How far it has come.
    pub status: Status,
    /// Seconds that were spent on it, by all the processes that went on with it.
    pub seconds: f64,
    /// How training went, of a learner that is trained step by step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Training>,
    /// The machine that it was begun on; older versions of wug did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// What came out; kept in `scores.json`.
    #[serde(skip)]
    pub scores: Option<Scores>,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is running, or was interrupted.
    Unfinished,
    /// It has its scores.
    Done,
}

/// What a run was computed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The operating system.
    pub system: String,
    /// The architecture.
    pub architecture: String,
    /// The processor, where the system says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<String>,
    /// Cores that could be used.
    pub cores: usize,
}

impl Machine {
    fn this() -> Self {
        let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
        Self {
            system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            processor,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl RunRecord {
    pub(crate) fn new(spec: &RunSpec) -> Self {
        Self {
            schema: RUN_SCHEMA,
            wug: env!("CARGO_PKG_VERSION").to_owned(),
            spec: spec.clone(),
            status: Status::Unfinished,
            seconds: 0.0,
            training: None,
            machine: Some(Machine::this()),
            scores: None,
        }
    }

    /// Reads the run in a folder; `None` if there is none.
    ///
    /// # Errors
    /// If the folder holds something else, or the run of an older version.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        #[derive(Deserialize)]
        struct Versioned {
            schema: u32,
        }
        let Some(manifest) = Manifest::read(folder)? else { return Ok(None) };
        if manifest.format != "run" {
            let what = format!("holds data of {}, not a run: choose another folder", manifest.dataset);
            return Err(Error::file(folder, what));
        }
        let path = folder.join(RUN);
        let text = fs::read(&path).map_err(Error::io(&path))?;
        let wrong =
            |error: serde_json::Error| Error::line(&path, error.line(), format!("not a run: {error}"));
        let Versioned { schema } = serde_json::from_slice(&text).map_err(wrong)?;
        if schema != RUN_SCHEMA {
            let what = format!(
                "holds a run of another version of wug (schema {schema}, this one has {RUN_SCHEMA}): \
                 choose another folder, or replace it with --force"
            );
            return Err(Error::file(folder, what));
        }
        let mut record: Self = serde_json::from_slice(&text).map_err(wrong)?;
        // The manifest is the last file that comes to its place: without the scores in it, somebody was killed on the way.
        if !manifest.files.iter().any(|file| file.path == SCORES) {
            record.status = Status::Unfinished;
        }
        if record.status == Status::Done {
            record.scores = Some(Scores::read(&folder.join(SCORES))?);
        }
        Ok(Some(record))
    }

    /// Whether a folder has a run with its scores.
    pub fn is_done(folder: &Path) -> Result<bool> {
        Ok(Self::read(folder)?.is_some_and(|record| record.status == Status::Done))
    }
}

/// What to do with a run that the folder already has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Existing {
    /// Refuse to touch it.
    #[default]
    Refuse,
    /// Go on with it.
    Resume,
    /// Replace it.
    Replace,
}

/// The folder of a run that is being executed. Nobody else can execute one in it meanwhile.
pub(crate) struct RunFolder {
    path: PathBuf,
    /// The lock; the system releases it when the process ends, however it ends.
    _lock: File,
    record: RunRecord,
    /// Whether there is a run to go on with.
    pub(crate) resumes: bool,
}

impl RunFolder {
    /// Claims a folder for a run, and records what will be run.
    pub(crate) fn claim(prepared: &Prepared, path: &Path, existing: Existing) -> Result<Self> {
        let learner = prepared.learner;
        if existing == Existing::Resume {
            if RunRecord::read(path)?.is_none() {
                return Err(Error::usage(format!("{}: there is no run to resume", path.display())));
            }
            if learner.keeps().is_empty() {
                let name = learner.about().name;
                return Err(Error::usage(format!("{name} keeps no checkpoints: run it again with --out")));
            }
        }
        let is_new = !path.exists();
        fs::create_dir_all(path).map_err(Error::io(path))?;
        let claimed = Self::claim_existing(prepared, path, existing);
        if claimed.is_err() && is_new {
            let _ = fs::remove_dir(path); // only if it is still empty
        }
        claimed
    }

    fn claim_existing(prepared: &Prepared, path: &Path, existing: Existing) -> Result<Self> {
        let lock = lock(path)?;
        let mut record = RunRecord::new(&prepared.spec);
        match (existing, RunRecord::read(path)) {
            (_, Ok(None)) => {}
            (Existing::Resume, Ok(Some(old))) => record.seconds = old.seconds,
            (Existing::Replace, Ok(Some(_))) => clear(path)?,
            (Existing::Replace, Err(_)) if is_run(path)? => clear(path)?,
            (Existing::Refuse, Ok(Some(old))) => return Err(refuse(path, &old)),
            (_, Err(error)) => return Err(error),
        }
        let resumes = existing == Existing::Resume;
        let folder = Self { path: path.to_owned(), _lock: lock, record, resumes };
        // Checkpoints may follow: the folder must be known as a run's before it is complete.
        if !resumes && !prepared.learner.keeps().is_empty() {
            folder.write(prepared, Vec::new())?;
        }
        Ok(folder)
    }

    /// Gives a folder back in which nothing was learned: the same command, corrected, finds it as it was.
    pub(crate) fn abandon(self, learner: &dyn Learner) {
        if !self.resumes && !learner.keeps().iter().any(|name| self.path.join(name).exists()) {
            // The error that led here is the one to report.
            let _ = clear(&self.path);
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Adds to the time that was spent on an unfinished run.
    pub(crate) fn leave(mut self, prepared: &Prepared, seconds: f64) -> Result<()> {
        self.record.seconds += seconds;
        self.write(prepared, Vec::new())
    }

    fn write(&self, prepared: &Prepared, selections: Vec<PartSize>) -> Result<()> {
        let folder = Folder::create(&self.path)?;
        let file = folder.file(RUN, |out| document(&self.record, out))?;
        let mut files = vec![file];
        keep(&folder, &self.path, prepared.learner, &mut files)?;
        folder.finish(&manifest(prepared, selections, files))
    }

    /// Writes what came out.
    pub(crate) fn finish(
        mut self,
        prepared: &Prepared,
        selections: &[Selection<'_>],
        answers: &[Vec<Answer>],
        scores: &Scores,
        model: &dyn Model,
        seconds: f64,
    ) -> Result<RunRecord> {
        self.record.status = Status::Done;
        self.record.seconds += seconds;
        self.record.training = model.training();
        self.record.spec.parts = selections.iter().map(|selection| selection.name.clone()).collect();
        let folder = Folder::create(&self.path)?;
        let mut files = vec![
            folder.file(RUN, |out| document(&self.record, out))?,
            folder.file(SCORES, |out| document(scores, out))?,
            folder.file(PREDICTIONS, |out| write_predictions(selections, answers, out))?,
        ];
        for (name, text) in model.files() {
            files.push(folder.file(name, |out| out.write_all(text.as_bytes()))?);
        }
        keep(&folder, &self.path, prepared.learner, &mut files)?;
        let size = |selection: &Selection<'_>| PartSize {
            part: selection.name.clone(),
            rows: selection.positions.len(),
        };
        folder.finish(&manifest(prepared, selections.iter().map(size).collect(), files))?;
        Ok(self.record)
    }
}

/// Carries over what the learner keeps in the folder.
fn keep(folder: &Folder, path: &Path, learner: &dyn Learner, files: &mut Vec<FileEntry>) -> Result<()> {
    for name in learner.keeps() {
        let path = path.join(name);
        match fs::read(&path) {
            Ok(bytes) => files.push(folder.file(name, |out| out.write_all(&bytes))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(&path)(error)),
        }
    }
    Ok(())
}

fn manifest(prepared: &Prepared, parts: Vec<PartSize>, files: Vec<FileEntry>) -> Manifest {
    Manifest {
        schema: 1,
        wug: env!("CARGO_PKG_VERSION").to_owned(),
        dataset: prepared.spec.dataset.clone(),
        format: "run".to_owned(),
        seed: prepared.spec.recorded_seed(),
        settings: prepared.spec.data_settings().typed(),
        parts,
        licence: prepared.address.benchmark.about().licence.to_owned(),
        files,
    }
}

/// Locks a folder against other processes.
fn lock(path: &Path) -> Result<File> {
    // A folder can be locked itself where the system has files for folders.
    let file = if cfg!(unix) { File::open(path) } else { File::create(path.join(".wug.lock")) };
    let file = file.map_err(Error::io(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let what = "another process is running in it: wait for it, or choose another folder";
            Err(Error::usage(format!("{}: {what}", path.display())))
        }
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(Error::io(path)(error)),
    }
}

/// Whether the folder has a run, of whatever version.
fn is_run(path: &Path) -> Result<bool> {
    Ok(Manifest::read(path)?.is_some_and(|manifest| manifest.format == "run"))
}

/// Empties the folder of a run.
fn clear(path: &Path) -> Result<()> {
    for entry in fs::read_dir(path).map_err(Error::io(path))?.flatten() {
        if entry.path().is_file() {
            fs::remove_file(entry.path()).map_err(Error::io(path))?;
        }
    }
    Ok(())
}

fn refuse(path: &Path, old: &RunRecord) -> Error {
    let (shown, spec) = (path.display(), &old.spec);
    let state = if old.status == Status::Done { "the finished" } else { "an unfinished" };
    Error::usage(format!(
        "{shown} holds {state} run of {spec}: --resume {shown} goes on with it, --force replaces it"
    ))
}

/// Writes one JSON document.
fn document(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// A line for every answer, in a form that `wug score` reads.
fn write_predictions(
    selections: &[Selection<'_>],
    answers: &[Vec<Answer>],
    out: &mut impl Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: String,
        prediction: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        abstains: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        probability: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        explanation: Option<&'a str>,
        #[serde(flatten)]
        notes: &'a serde_json::Map<String, serde_json::Value>,
    }
    let ids = selections.iter().flat_map(|selection| selection.examples().map(|(id, _)| id));
    for (id, answer) in ids.zip(answers.iter().flatten()) {
        let line = Line {
            id,
            prediction: answer.text.as_deref().unwrap_or_default(),
            abstains: answer.text.is_none(),
            probability: answer.probability,
            explanation: answer.explanation.as_deref(),
            notes: &answer.notes,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
