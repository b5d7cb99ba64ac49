use std::io::{self, Write};
use std::path::{Path, PathBuf};

use wug_bench::Address;
use wug_data::{Error, Result};
use wug_report::{Change, Comparison, Datasets, Judged, Method, Pair, PartComparison, System, seed_folders};

use crate::args::Compare;
use crate::output::{BOLD, DIM, Done, GREEN, RED, json, out, table};
use wug_data::{thousands, truncate};

pub(crate) fn run(args: &Compare) -> Done {
    let runs = judge(args)?;
    if runs.len() < 2 {
        return Err(Error::usage("name at least two runs to compare").into());
    }
    let comparison = Comparison::new(&System::group(&runs)?, &args.by)?;
    if args.json {
        return json(&comparison);
    }
    let mut out = out();
    writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}", comparison.dataset, comparison.metric)?;
    for part in &comparison.parts {
        show_part(&mut out, part, args.flips)?;
    }
    out.flush()?;
    Ok(())
}

/// Judges what each path names: a run, the seeds of one, or a file.
fn judge(args: &Compare) -> Result<Vec<Judged>> {
    let mut datasets = Datasets::default();
    let metric = args.metric.as_deref();
    let address = args.dataset.as_ref().map(|dataset| dataset.parse::<Address>()).transpose()?;
    let mut runs = Vec::new();
    for path in &args.runs {
        if path.is_dir() {
            for folder in folders(path)? {
                runs.push(datasets.judge_run(&folder, metric)?);
            }
            continue;
        }
        let Some(address) = &address else {
            let what = format!(
                "{}: not a run folder; if it is a file of predictions, name what they are for with --dataset",
                path.display()
            );
            return Err(Error::usage(what));
        };
        let (source, settings) = (args.data.source()?, args.data.settings()?);
        runs.push(datasets.judge_file(path, address, &source, &settings, metric)?);
    }
    Ok(runs)
}

/// The folder of a run, or those of its seeds.
fn folders(path: &Path) -> Result<Vec<PathBuf>> {
    let seeds = seed_folders(path)?;
    Ok(if seeds.is_empty() { vec![path.to_owned()] } else { seeds })
}

fn show_part(out: &mut impl Write, part: &PartComparison, flips: usize) -> io::Result<()> {
    writeln!(out, "\n{BOLD}{}{BOLD:#}  {} examples", part.part, thousands(part.n))?;
    let rows = part.systems.iter().map(|system| {
        let each = system.accuracies.iter().map(|&accuracy| percent(accuracy));
        let each =
            if system.accuracies.len() > 1 { each.collect::<Vec<_>>().join(" ") } else { String::new() };
        vec![system.name.clone(), percent(system.mean), each]
    });
    write!(out, "{}", table(&["system", "accuracy", "each seed"], &[1], rows.collect()))?;
    for pair in &part.pairs {
        show_pair(out, pair, flips)?;
    }
    Ok(())
}

fn show_pair(out: &mut impl Write, pair: &Pair, flips: usize) -> io::Result<()> {
    writeln!(out, "\n{BOLD}{} less {}{BOLD:#}", pair.other, pair.baseline)?;
    let header = ["", "n", "both right", "gained", "lost", "both wrong", "difference", "95% interval", "p"];
    let right = [1, 2, 3, 4, 5, 6, 7, 8];
    write!(out, "{}", table(&header, &right, vec![row("all".to_owned(), &pair.change)]))?;
    for by in &pair.by {
        let header = [&[by.fact.as_str()], &header[1..]].concat();
        let rows = by.groups.iter().map(|group| row(truncate(&group.value.to_string(), 40), &group.change));
        write!(out, "\n{}", table(&header, &right, rows.collect()))?;
    }
    let method = match pair.method {
        Method::PairedBootstrap => {
            "interval: paired bootstrap over examples; p: exact McNemar test, not corrected for several tests"
        }
        Method::SeedBootstrap => {
            "interval: bootstrap over seeds and examples; gained and lost by the majority of seeds"
        }
    };
    writeln!(out, "{DIM}differences in points of percent; {method}{DIM:#}")?;
    for flip in pair.flips.iter().take(flips) {
        const LINE: usize = 400;
        let what = if flip.gained { "gained" } else { "lost" };
        let (ours, theirs) = if flip.gained { (RED, GREEN) } else { (GREEN, RED) };
        writeln!(out, "\n{DIM}{}{DIM:#}  {what}", flip.id)?;
        writeln!(out, "  input    {}", truncate(&flip.input, LINE))?;
        writeln!(out, "  target   {}", truncate(&flip.target, LINE))?;
        writeln!(out, "  baseline {ours}{}{ours:#}", truncate(&flip.baseline, LINE))?;
        writeln!(out, "  other    {theirs}{}{theirs:#}", truncate(&flip.other, LINE))?;
    }
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

fn row(name: String, change: &Change) -> Vec<String> {
    let (low, high) = change.interval;
    let mut row = vec![name];
    let counts = [change.n, change.both, change.gained, change.lost, change.neither];
    row.extend(counts.map(thousands));
    row.push(format!("{:+.2}", 100.0 * change.difference));
    row.push(format!("{:+.2} to {:+.2}", 100.0 * low, 100.0 * high));
    row.push(change.printed_p());
    row
}
