use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use wug_data::{Error, Result, write_file};
use wug_report::{Experiment, Measured, Outcome, TableDocument, experiment_csv, figure, latex, markdown};
use wug_run::{Batch, Begins, Plan};

use crate::args::{Reproduce, TableFormat};
use crate::output::{BOLD, DIM, Done, RED, json, out, table};
use crate::signals::{INTERRUPTED, stop_with_checkpoint};
use wug_data::{format_duration, thousands};

pub(crate) fn run(args: &Reproduce) -> Done {
    let experiment = read(args)?;
    let folder = args.out.clone().unwrap_or_else(|| {
        PathBuf::from("runs")
            .join(experiment.name.replace('/', std::path::MAIN_SEPARATOR_STR))
            .join(args.scale.name())
    });
    let wug_run::Outcome { failed, unfinished: open } = run_all(args, &experiment, &folder)?;
    let outcome = Outcome::collect(experiment, &folder, &failed)?;
    write_files(&outcome, &folder)?;
    show(args, &outcome, &folder)?;
    if open > 0 && failed.is_empty() {
        let why = if INTERRUPTED.load(Ordering::Relaxed) { "interrupted" } else { "the time is up" };
        return Err(Error::unfinished(format!(
            "{why}, runs that are not done: {open}; the same command goes on"
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

/// Runs what is not done, several at a time, the short ones first.
fn run_all(args: &Reproduce, experiment: &Experiment, folder: &Path) -> Result<wug_run::Outcome> {
    let specs = experiment.specs_of(&args.rows, &args.columns)?;
    // Whoever looks at the folder meanwhile (`wug report --watch`) finds what is being run.
    write_document(&Outcome::collect(experiment.clone(), folder, &BTreeMap::new())?, folder)?;
    let plan = Plan::new(&specs, folder)?;
    let names = experiment.row_names()?;
    if !args.quiet && plan.runs() > 0 {
        let (runs, time) = (thousands(plan.runs()), format_duration(plan.estimate()));
        let s = if plan.runs() == 1 { "" } else { "s" };
        anstream::eprintln!("{DIM}{runs} run{s}, about {time} on this machine{DIM:#}");
    }
    let begins = |begins: &Begins<'_>| {
        if !args.quiet {
            let Begins { number, of, spec, left } = begins;
            let name = spec.key().ok().and_then(|key| names.get(&key)).map_or("", String::as_str);
            let left = format_duration(*left);
            anstream::eprintln!("{DIM}[{number}/{of}, about {left} left] {name}: {spec}{DIM:#}");
        }
    };
    let batch = Batch {
        jobs: args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        deadline: args.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
        device: args.device.as_deref(),
        interrupted: &INTERRUPTED,
        begins: &begins,
    };
    stop_with_checkpoint();
    Ok(plan.execute(&batch))
}

/// Leaves the table beside the runs as one JSON document.
fn write_document(outcome: &Outcome, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    let path = folder.join(format!("{}.json", outcome.experiment.name.replace('/', "-")));
    let document = TableDocument::from(outcome);
    write_file(&path, |out| Ok(serde_json::to_writer_pretty(out, &document)?))
}

/// Leaves the table beside the runs, in every format.
fn write_files(outcome: &Outcome, folder: &Path) -> Result<()> {
    write_document(outcome, folder)?;
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

fn show(args: &Reproduce, outcome: &Outcome, folder: &Path) -> Done {
    if args.json {
        return json(&TableDocument::from(outcome));
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
    let failures = outcome.ours.iter().flatten().filter_map(|ours| match ours {
        Measured::Failed(why) => Some(why),
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
