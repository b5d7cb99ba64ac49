//! Folders, as they are found, made a report.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use wug_data::{Error, Lines, MANIFEST, Manifest, Result};
use wug_run::{PartScores, RunRecord, Status};

use super::examples::{TableBuilder, template};
use super::{
    Curve, ExperimentReport, PartReport, Problem, Provenance, REPORT_SCHEMA, Report, RunReport, Training,
    facts, summary::summary,
};
use crate::experiment::figure_on;
use crate::plot::Paper;
use crate::{
    Comparison, Datasets, EXPERIMENTS, Experiment, Judged, JudgedPart, Outcome, System, TableDocument,
};

/// How deep runs are looked for below a folder.
const DEPTH: usize = 4;
/// More runs than this are listed in the summary, without their examples.
const MOST_WITH_EXAMPLES: usize = 40;
/// Predictions that a page embeds; the runs beyond have their scores only.
const MOST_PREDICTIONS: usize = 300_000;
/// Flipped examples that the document lists for each pair.
const MOST_FLIPS: usize = 200;

/// What was found below the folders.
#[derive(Default)]
struct Found {
    runs: Vec<(PathBuf, RunRecord)>,
    /// Documents of experiments.
    tables: Vec<PathBuf>,
    problems: Vec<Problem>,
}

impl Report {
    /// Reads folders of runs, of experiments, or with such folders below them. What cannot be read is listed in the report
    /// and stops nothing.
    pub fn collect(folders: &[PathBuf]) -> Self {
        let mut found = Found::default();
        let mut seen = BTreeSet::new();
        for folder in folders {
            let before = found.runs.len() + found.tables.len() + found.problems.len();
            found.look(folder, 0, &mut seen);
            if found.runs.len() + found.tables.len() + found.problems.len() == before {
                let what = if folder.is_dir() {
                    "no run and no experiment is in this folder"
                } else if folder.exists() {
                    "not a folder"
                } else {
                    "no such folder"
                };
                found.problem(folder, what);
            }
        }
        let Found { runs, tables, mut problems } = found;
        let mut report = Self {
            schema: REPORT_SCHEMA,
            wug: env!("CARGO_PKG_VERSION").to_owned(),
            summary: summary(runs.iter().map(|(_, record)| record)),
            runs: Vec::new(),
            experiments: tables.iter().filter_map(|path| experiment(path, &mut problems)).collect(),
            comparisons: Vec::new(),
            problems: Vec::new(),
            tables: Vec::new(),
        };
        report.add_runs(runs, &mut problems);
        report.problems = problems;
        report
    }

    fn add_runs(&mut self, runs: Vec<(PathBuf, RunRecord)>, problems: &mut Vec<Problem>) {
        let mut datasets = Datasets::default();
        let mut builders: Vec<(TableBuilder, Vec<(usize, usize)>)> = Vec::new();
        let mut all: Vec<Judged> = Vec::new();
        let mut embedded = 0;
        let is_small = runs.len() <= MOST_WITH_EXAMPLES;
        for (folder, record) in runs {
            let mut run = RunReport::new(&folder, &record);
            let parts = record.scores.as_ref().map_or(&[][..], |scores| &scores.parts);
            run.parts = parts.iter().map(|part| PartReport::new(part, &record.spec.metric)).collect();
            let n: usize = parts.iter().map(|part| part.tally.n).sum();
            if record.status == Status::Done && is_small && embedded + n <= MOST_PREDICTIONS {
                match datasets
                    .judge_record(&folder, record, None)
                    .and_then(|judged| as_scored(&folder, judged))
                {
                    Ok(judged) => {
                        embedded += n;
                        for (i, part) in judged.parts.iter().enumerate() {
                            let at = (self.runs.len(), i);
                            if let Some(report) = run.parts.get_mut(i) {
                                report.analyse(&judged, part, at, &mut builders);
                            }
                        }
                        all.push(judged);
                    }
                    Err(error) => problems.push(Problem {
                        folder: folder.display().to_string(),
                        what: format!("its examples cannot be shown: {error}"),
                    }),
                }
            }
            self.runs.push(run);
        }
        let missing =
            self.runs.iter().flat_map(|run| &run.parts).filter(|part| part.examples.is_none()).count();
        if missing > 0 && (!is_small || embedded > 0) {
            problems.push(Problem {
                folder: format!("{missing} parts of runs"),
                what: format!(
                    "shown without examples: a page has those of at most {MOST_WITH_EXAMPLES} runs and \
                     {MOST_PREDICTIONS} predictions"
                ),
            });
        }
        for (builder, places) in builders {
            let (table, predictions) = builder.finish();
            self.tables.push(table);
            for ((run, part), predictions) in places.into_iter().zip(predictions) {
                if let Some(examples) = &mut self.runs[run].parts[part].examples {
                    examples.predictions = predictions;
                }
            }
        }
        self.comparisons = comparisons(&all);
    }
}

/// The predictions, if they are still those that `scores.json` is about.
fn as_scored(folder: &Path, judged: Judged) -> Result<Judged> {
    let scored = judged.record.iter().flat_map(|record| &record.scores).flat_map(|scores| &scores.parts);
    for (part, scored) in judged.parts.iter().zip(scored) {
        let right = part.verdicts.iter().filter(|verdict| verdict.correct).count();
        if right != scored.tally.correct || part.verdicts.len() != scored.tally.n {
            let what = format!(
                "of its predictions for {} {right} of {} are right now; scores.json has {} of {}: one of the files was changed",
                part.name,
                part.verdicts.len(),
                scored.tally.correct,
                scored.tally.n
            );
            return Err(Error::file(folder, what));
        }
    }
    Ok(judged)
}

/// Compares the systems that answered the same examples, by every fact.
fn comparisons(runs: &[Judged]) -> Vec<Comparison> {
    let mut alike: Vec<Vec<&Judged>> = Vec::new();
    for run in runs {
        let same = |group: &Vec<&Judged>| {
            let first = group[0];
            let key = |judged: &Judged| {
                let parts = judged.parts.iter().map(|part| (part.name.clone(), part.hash.clone()));
                (judged.dataset.name.clone(), judged.metric.clone(), parts.collect::<Vec<_>>())
            };
            key(first) == key(run)
        };
        match alike.iter_mut().find(|group| same(group)) {
            Some(group) => group.push(run),
            None => alike.push(vec![run]),
        }
    }
    let mut found = Vec::new();
    for group in alike.iter().filter(|group| group.len() > 1) {
        let by: Vec<String> =
            group[0].dataset.table.facts.columns().iter().map(|fact| fact.name().to_owned()).collect();
        let compared = System::group_of(group).and_then(|systems| Comparison::new(&systems, &by));
        let Ok(mut comparison) = compared else { continue };
        for pair in comparison.parts.iter_mut().flat_map(|part| &mut part.pairs) {
            pair.flips.truncate(MOST_FLIPS);
            pair.by.retain(|by| (2..=40).contains(&by.groups.len()));
        }
        found.push(comparison);
    }
    found
}

impl Found {
    fn problem(&mut self, folder: &Path, what: impl Into<String>) {
        self.problems.push(Problem { folder: folder.display().to_string(), what: what.into() });
    }

    /// Takes what a folder is, or looks below it.
    fn look(&mut self, folder: &Path, depth: usize, seen: &mut BTreeSet<PathBuf>) {
        let own = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        if !folder.is_dir() || !seen.insert(own) {
            return;
        }
        if folder.join(MANIFEST).exists() {
            match RunRecord::read(folder) {
                Ok(Some(record)) => self.runs.push((folder.to_owned(), record)),
                Ok(None) => self.problem(folder, "the manifest is gone"),
                Err(error) => {
                    let foreign = Manifest::read(folder).is_ok_and(|m| m.is_some_and(|m| m.format != "run"));
                    // Data beside runs are no mistake; a folder that was named and holds data is.
                    if !foreign || depth == 0 {
                        self.problem(folder, error.to_string());
                    }
                }
            }
            return;
        }
        if ["run.json", "scores.json", "predictions.jsonl"].iter().any(|name| folder.join(name).exists()) {
            self.problem(
                folder,
                format!("looks like a run, but has no {MANIFEST}: it is incomplete, or foreign"),
            );
            return;
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.problem(folder, error.to_string()),
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        self.tables.extend(paths.iter().filter(|path| is_table(path)).cloned());
        if depth < DEPTH {
            let is_hidden =
                |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            for path in paths.iter().filter(|path| path.is_dir() && !is_hidden(path)) {
                self.look(path, depth + 1, seen);
            }
        }
    }
}

/// Whether a file is the document of an experiment, by its first bytes.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
        && path.is_file()
        && TableDocument::read(path).is_ok_and(|document| document.is_some())
}

/// An experiment as its runs are now, where it is one of the program's; else as its document says.
fn experiment(path: &Path, problems: &mut Vec<Problem>) -> Option<ExperimentReport> {
    let table = TableDocument::read(path).ok()??;
    let folder = path.parent()?;
    if !EXPERIMENTS.iter().any(|(name, _)| *name == table.experiment) {
        return Some(ExperimentReport { table, progress: None, figure: None });
    }
    let fresh = || -> Result<ExperimentReport> {
        let experiment = Experiment::named(&table.experiment, table.scale)?;
        let specs = experiment.specs()?;
        let mut done = 0;
        for spec in &specs {
            done += usize::from(RunRecord::is_done(&folder.join(spec.folder()?)).unwrap_or(false));
        }
        let outcome = Outcome::collect(experiment, folder, &std::collections::BTreeMap::new())?;
        let figure = figure_on(&outcome, Paper::Page);
        let progress = Some((done, specs.len()));
        Ok(ExperimentReport { table: TableDocument::from(&outcome), progress, figure })
    };
    match fresh() {
        Ok(report) => Some(report),
        Err(error) => {
            let what = format!("the table is shown as it was written: {error}");
            problems.push(Problem { folder: path.display().to_string(), what });
            Some(ExperimentReport { table, progress: None, figure: None })
        }
    }
}

impl RunReport {
    fn new(folder: &Path, record: &RunRecord) -> Self {
        let curves = curves(folder);
        let progress = (record.status != Status::Done).then(|| training(folder, record, &curves)).flatten();
        Self {
            folder: folder.display().to_string(),
            dataset: record.spec.dataset.clone(),
            learner: record.spec.learner.clone(),
            reads: record.spec.reads,
            status: record.status,
            progress,
            provenance: Provenance::of(record),
            learned: record.scores.as_ref().and_then(|scores| scores.learned),
            curves,
            parts: Vec::new(),
        }
    }
}

impl PartReport {
    fn new(part: &PartScores, metric: &str) -> Self {
        Self {
            part: part.part.clone(),
            metric: metric.to_owned(),
            tally: part.tally,
            score: part.score,
            slices: part.slices.clone(),
            by: part.by.clone(),
            reasons: Vec::new(),
            examples: None,
        }
    }

    /// Adds what follows from the predictions.
    fn analyse(
        &mut self,
        judged: &Judged,
        part: &JudgedPart,
        at: (usize, usize),
        builders: &mut Vec<(TableBuilder, Vec<(usize, usize)>)>,
    ) {
        let wrong = part.verdicts.iter().map(|verdict| (!verdict.correct).then(|| template(&verdict.reason)));
        let wrong: Vec<Option<(String, String)>> = wrong.collect();
        let classes: Vec<Option<&str>> =
            wrong.iter().map(|reason| reason.as_ref().map(|(class, _)| class.as_str())).collect();
        self.by.clear();
        for fact in judged.dataset.table.facts.columns() {
            let grouped = facts::grouped(part, fact);
            if grouped.names.len() < 2 {
                continue;
            }
            self.by.push(facts::accuracy(part, fact, &grouped));
            if classes.iter().any(Option::is_some) {
                self.reasons.push(facts::reasons(fact, &grouped, &classes));
            }
        }
        let known = builders.iter().position(|(builder, _)| builder.fits(judged, part));
        let table = known.unwrap_or_else(|| {
            builders.push((TableBuilder::new(judged, part), Vec::new()));
            builders.len() - 1
        });
        let (builder, places) = &mut builders[table];
        self.examples = Some(builder.add(table, judged, part, &wrong));
        places.push(at);
    }
}

/// The metrics of training by step; as many as can be read.
fn curves(folder: &Path) -> Vec<Curve> {
    const KEPT: usize = 2000;
    const MOST_CURVES: usize = 20;
    let mut curves: Vec<Curve> = Vec::new();
    let Ok(mut lines) = Lines::open(&folder.join("metrics.jsonl")) else { return curves };
    while let Ok(Some((_, line))) = lines.next() {
        let Ok(Value::Object(metrics)) = serde_json::from_str(line) else { continue };
        let Some(step) = metrics.get("step").and_then(Value::as_f64) else { continue };
        for (name, value) in
            metrics.iter().filter(|(name, _)| !["step", "epoch", "time"].contains(&name.as_str()))
        {
            // The best model so far comes with its accuracy on the validation part.
            let best = value.get("accuracy").filter(|_| name == "best").and_then(Value::as_f64);
            let name = if best.is_some() { "best validation accuracy" } else { name };
            let Some(value) = best.or_else(|| value.as_f64()) else { continue };
            match curves.iter().position(|curve| curve.name == name) {
                Some(known) => curves[known].points.push((step, value)),
                None if curves.len() < MOST_CURVES => {
                    curves.push(Curve { name: name.to_owned(), points: vec![(step, value)] });
                }
                None => {}
            }
        }
    }
    for curve in &mut curves {
        let every = curve.points.len().div_ceil(KEPT).max(1);
        let last = curve.points.len().saturating_sub(1);
        let points = std::mem::take(&mut curve.points).into_iter().enumerate();
        curve.points = points.filter(|(i, _)| i % every == 0 || *i == last).map(|(_, point)| point).collect();
    }
    curves
}

/// How far training has come, and when it will be done at the speed it had so far.
fn training(folder: &Path, record: &RunRecord, curves: &[Curve]) -> Option<Training> {
    let step = curves.iter().filter_map(|curve| curve.points.last()).map(|(step, _)| *step as u64).max()?;
    let steps = record.spec.settings.get("steps").and_then(Value::as_u64).filter(|&steps| steps >= step);
    let modified = |name: &str| fs::metadata(folder.join(name)).and_then(|file| file.modified()).ok();
    let begun: SystemTime = modified("run.json")?;
    let spent = modified("metrics.jsonl")?.duration_since(begun).ok()?.as_secs_f64() + record.seconds;
    let seconds_left =
        steps.filter(|_| step > 0 && spent > 0.0).map(|steps| spent * (steps - step) as f64 / step as f64);
    Some(Training { step, steps, seconds_left })
}
