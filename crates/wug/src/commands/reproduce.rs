use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Parser;
use serde::Serialize;

use wug_data::{Error, Manifest, Result, write_file};
use wug_learn::{LEARNERS, learner};
use wug_report::{Cell, Experiment, Ours, Outcome, Scores, experiment_csv, figure, latex, markdown};

use crate::args::{Args, Command, Reproduce, TableFormat};
use crate::commands::run;
use crate::output::{BOLD, DIM, Done, Failure, RED, json, out, table};

pub(crate) fn run(args: &Reproduce) -> Done {
    let experiment = read(args)?;
    let folder = args.out.clone().unwrap_or_else(|| {
        PathBuf::from("runs")
            .join(experiment.name.replace('/', std::path::MAIN_SEPARATOR_STR))
            .join(args.scale.name())
    });
    let Ran { failed, open } = run_all(args, &experiment, &folder)?;
    let outcome = collect(experiment, &folder, &failed)?;
    write_files(&outcome, &folder)?;
    show(args, &outcome, &folder)?;
    if open > 0 && failed.is_empty() {
        return Err(Error::unfinished(format!(
            "the time is up, runs that are open: {open}; the same command goes on"
        ))
        .into());
    }
    match failed.iter().next() {
        None => Ok(()),
        Some((cell, why)) => {
            let more =
                if failed.len() > 1 { format!(" (and {} more)", failed.len() - 1) } else { String::new() };
            Err(Error::file(&folder.join(cell), format!("this run failed: {why}{more}")).into())
        }
    }
}

/// The experiment with this name, or of this file.
fn read(args: &Reproduce) -> Result<Experiment> {
    let path = Path::new(&args.experiment);
    if path.extension().is_some_and(|extension| extension == "toml") {
        let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        return Experiment::read(&name, &text, args.scale);
    }
    Experiment::named(&args.experiment, args.scale)
}

/// What became of the runs that were open.
struct Ran {
    /// The folders of those that failed, with why.
    failed: BTreeMap<String, String>,
    /// How many there was no time for.
    open: usize,
}

/// Runs what is open, several at a time.
fn run_all(args: &Reproduce, experiment: &Experiment, folder: &Path) -> Result<Ran> {
    let mut open: Vec<Vec<Cell>> = Vec::new();
    let mut count = 0;
    for cell in experiment.cells_of(&args.rows, &args.columns)? {
        if has_learner(&cell.learner) && !is_done(&folder.join(cell.folder()))? {
            count += 1;
            // One after the other, so that those that follow need not train again.
            match open.iter_mut().find(|group| group[0].learns_as(&cell)) {
                Some(group) => group.push(cell),
                None => open.push(vec![cell]),
            }
        }
    }
    let talks = !args.quiet && std::io::stderr().is_terminal();
    let deadline = args.time_limit.and_then(|limit| Instant::now().checked_add(limit));
    let (failed, late) = (Mutex::new(BTreeMap::new()), AtomicUsize::new(0));
    let (next, number) = (AtomicUsize::new(0), AtomicUsize::new(1));
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, open.len().max(1)) {
            scope.spawn(|| {
                while let Some(group) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for cell in group {
                        let number = number.fetch_add(1, Ordering::Relaxed);
                        if talks {
                            anstream::eprintln!("{DIM}[{number}/{count}] {cell}{DIM:#}");
                        }
                        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                            late.fetch_add(1, Ordering::Relaxed);
                            continue;
                        }
                        match run_cell(args, experiment, cell, folder, deadline) {
                            Ok(()) => {}
                            Err(error) if error.is_unfinished() => {
                                late.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(error) => {
                                let mut failed =
                                    failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                                failed.insert(cell.folder(), error.to_string());
                            }
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Ran { failed, open: late.into_inner() })
}

/// The folder of a run that is done and has learnt what this one has to.
fn trained(experiment: &Experiment, cell: &Cell, folder: &Path) -> Option<PathBuf> {
    let others = experiment.cells().into_iter().filter(|other| other != cell && other.learns_as(cell));
    others.map(|other| folder.join(other.folder())).find(|place| is_done(place).unwrap_or(false))
}

fn has_learner(name: &str) -> bool {
    LEARNERS.iter().any(|learner| learner.about().name == name)
}

/// Whether a learner computes where it is told to.
fn is_network(name: &str) -> bool {
    let about = LEARNERS.iter().map(|learner| learner.about()).find(|about| about.name == name);
    about.is_some_and(|about| about.settings.iter().any(|setting| setting.name == "device"))
}

/// Whether a run has its scores. A folder that only has checkpoints is one that was left.
fn is_done(folder: &Path) -> Result<bool> {
    let manifest = Manifest::read(folder)?;
    Ok(manifest.is_some_and(|manifest| manifest.files.iter().any(|file| file.path == "scores.json")))
}

/// Runs a cell as `wug run` does, or goes on where it was left.
fn run_cell(
    args: &Reproduce,
    experiment: &Experiment,
    cell: &Cell,
    folder: &Path,
    deadline: Option<Instant>,
) -> Result<()> {
    let trained = trained(experiment, cell, folder);
    let folder = &folder.join(cell.folder());
    let keeps = learner(&cell.learner).is_ok_and(|learner| !learner.keeps().is_empty());
    let is_left = keeps && Manifest::read(folder)?.is_some();
    let mut arguments = vec!["wug".to_owned()];
    arguments.extend(cell.arguments());
    if let Some(device) = args.device.as_ref().filter(|_| is_network(&cell.learner)) {
        arguments.extend(["--device".to_owned(), device.clone()]);
    }
    let place = if is_left { "--resume" } else { "--out" };
    arguments.extend([place.to_owned(), folder.display().to_string(), "--quiet".to_owned()]);
    if let Some(trained) = trained.filter(|_| keeps && !is_left) {
        arguments.extend(["--trained".to_owned(), trained.display().to_string()]);
    }
    let parsed = Args::try_parse_from(arguments).map_err(|error| Error::failed(error.to_string()))?;
    let Command::Run(mut parsed) = parsed.command else { return Err(Error::failed("not a run")) };
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    parsed.time_limit = left.filter(|_| keeps);
    match run::quietly(&parsed) {
        Ok(()) | Err(Failure::ClosedPipe) => Ok(()),
        Err(Failure::Error(error)) => Err(error),
    }
}

/// Reads the scores of what is done.
fn collect(experiment: Experiment, folder: &Path, failed: &BTreeMap<String, String>) -> Result<Outcome> {
    let mut read: BTreeMap<String, Option<Scores>> = BTreeMap::new();
    for cell in experiment.cells() {
        let name = cell.folder();
        let place = folder.join(&name);
        let scores = if is_done(&place)? {
            let path = place.join("scores.json");
            let text = std::fs::read(&path).map_err(Error::io(&path))?;
            let scores = serde_json::from_slice(&text)
                .map_err(|error| Error::line(&path, error.line(), format!("not scores of wug: {error}")))?;
            Some(scores)
        } else {
            None
        };
        read.insert(name, scores);
    }
    let (mut ours, mut points) = (Vec::new(), Vec::new());
    for row in &experiment.rows {
        let one = |column: &wug_report::Column| {
            let Some(run) = &row.run else { return Ours::NotRun };
            if !has_learner(&run.learner) {
                return Ours::NoLearner;
            }
            let (mut values, mut done) = (Vec::new(), 0);
            for cell in (0..row.runs).filter_map(|number| experiment.cell(row, column, number)) {
                match (read.get(&cell.folder()), failed.get(&cell.folder())) {
                    (Some(Some(scores)), _) => {
                        done += 1;
                        values.extend(scores.value(row, column));
                    }
                    (_, Some(why)) => return Ours::Failed(why.clone()),
                    _ => {}
                }
            }
            if done > 0 && values.is_empty() { Ours::NoExamples } else { Ours::Runs(values) }
        };
        ours.push(experiment.columns.iter().map(one).collect());
        let cells = (0..row.runs).flat_map(|number| {
            let cell = |column| Some((column, experiment.cell(row, column, number)?));
            experiment.columns.iter().filter_map(cell).collect::<Vec<_>>()
        });
        let point = |(column, cell): (&wug_report::Column, Cell)| {
            let scores = read.get(&cell.folder())?.as_ref()?;
            Some((experiment.fit.as_ref()?.size(scores)?, scores.value(row, column)?))
        };
        points.push(cells.filter_map(point).collect());
    }
    Ok(Outcome { experiment, ours, points })
}

/// Leaves the table beside the runs, in every format.
fn write_files(outcome: &Outcome, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    let name = outcome.experiment.name.replace('/', "-");
    let mut files =
        vec![("md", markdown(outcome)), ("csv", experiment_csv(outcome)), ("tex", latex(outcome))];
    files.extend(figure(outcome).map(|drawn| ("svg", drawn)));
    for (extension, text) in files {
        let path = folder.join(format!("{name}.{extension}"));
        write_file(&path, |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    experiment: &'a str,
    title: &'a str,
    paper: &'a str,
    source: &'a str,
    scale: wug_report::Scale,
    is_result: bool,
    rows: Vec<RowDocument<'a>>,
}

#[derive(Serialize)]
struct RowDocument<'a> {
    row: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    learner: Option<&'a str>,
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
            settings: row.run.as_ref().map(|run| &run.set),
            columns: columns.collect(),
        }
    }
}

fn document(outcome: &Outcome) -> Document<'_> {
    let experiment = &outcome.experiment;
    Document {
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

fn show(args: &Reproduce, outcome: &Outcome, folder: &Path) -> Done {
    if args.json {
        return json(&document(outcome));
    }
    let mut out = out();
    match args.format {
        TableFormat::Terminal => show_table(&mut out, outcome, folder)?,
        TableFormat::Markdown => write!(out, "{}", markdown(outcome))?,
        TableFormat::Csv => write!(out, "{}", experiment_csv(outcome))?,
        TableFormat::Latex => write!(out, "{}", latex(outcome))?,
    }
    out.flush()?;
    Ok(())
}

fn show_table(out: &mut impl Write, outcome: &Outcome, folder: &Path) -> std::io::Result<()> {
    let experiment = &outcome.experiment;
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}  {DIM}{}, {}; scale {}{DIM:#}",
        experiment.title,
        experiment.paper,
        experiment.source,
        experiment.scale.name()
    )?;
    if let Some(warning) = outcome.warning() {
        writeln!(out, "{RED}{warning}{RED:#}")?;
    }
    let (header, lines) = outcome.table();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let right: Vec<usize> = (2..header.len()).collect();
    write!(out, "{}", table(&header, &right, lines))?;
    for said in outcome.fitted() {
        writeln!(out, "{said}")?;
    }
    let notes = experiment.rows.iter().filter_map(|row| Some((&row.name, row.note.as_ref()?)));
    for (name, note) in notes {
        writeln!(out, "{DIM}{name}: {note}{DIM:#}")?;
    }
    if let Some(note) = &experiment.note {
        writeln!(out, "{DIM}{note}{DIM:#}")?;
    }
    let mut waiting: Vec<&str> = experiment
        .rows
        .iter()
        .filter_map(|row| row.run.as_ref())
        .map(|run| run.learner.as_str())
        .filter(|learner| !has_learner(learner))
        .collect();
    waiting.dedup();
    if !waiting.is_empty() {
        writeln!(out, "no learner yet: {}", waiting.join(", "))?;
    }
    let failures = outcome.ours.iter().flatten().filter_map(|ours| match ours {
        Ours::Failed(why) => Some(why),
        _ => None,
    });
    let failures: std::collections::BTreeSet<&String> = failures.collect();
    for why in failures {
        writeln!(out, "{RED}failed{RED:#}: {why}")?;
    }
    writeln!(
        out,
        "{DIM}percent right, or BLEU; ± is the standard deviation over runs; runs and tables: {}{DIM:#}",
        folder.display()
    )
}
