use std::io::Write;

use serde::Serialize;

use wug_bench::{Address, Benchmark};
use wug_data::{Dataset, Error, Predictions, Result, Selection, write_file};
use wug_report::{Groups, Importance, Scored, Tally};

use crate::args::Score;
use crate::output::{BOLD, DIM, Done, GREEN, RED, bar, json, out, shorten, table, thousands};

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    dataset: &'a str,
    metric: &'a str,
    parts: Vec<PartReport<'a>>,
}

#[derive(Serialize)]
struct PartReport<'a> {
    part: &'a str,
    #[serde(flatten)]
    tally: Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Groups<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slices: Vec<SliceReport>,
}

/// A slice that the benchmark's paper reports.
#[derive(Serialize)]
struct SliceReport {
    slice: &'static str,
    #[serde(flatten)]
    tally: Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    importance: Option<Importance>,
}

pub(crate) fn run(args: &Score) -> Done {
    let address: Address = args.dataset.parse()?;
    let metric = args.metric.as_deref().unwrap_or(address.benchmark.metrics()[0].name);
    let judge = address.benchmark.judge(metric)?;
    let predictions = Predictions::read(&args.predictions)?;
    let dataset = dataset(args, &address)?;
    let fact = args.by.as_deref().map(|fact| dataset.table.facts.column(fact)).transpose()?;

    let selections: Vec<Selection<'_>> = parts(&address, &dataset, &predictions)
        .iter()
        .map(|part| Ok(dataset.select(part)?.limited(args.limit)))
        .collect::<Result<_>>()?;
    let aligned = predictions.align(&selections)?;
    let scored: Vec<Scored<'_>> = selections
        .iter()
        .zip(&aligned)
        .map(|(selection, texts)| wug_report::score(&dataset, selection, texts, judge.as_ref()))
        .collect();

    if let Some(path) = &args.verdicts {
        write_file(path, |out| write_verdicts(&scored, out))?;
    }
    let mut parts: Vec<PartReport<'_>> = scored
        .iter()
        .map(|scored| PartReport {
            part: &scored.selection().name,
            tally: scored.total(),
            by: fact.map(|fact| scored.by(fact)),
            slices: Vec::new(),
        })
        .collect();
    for (part, scored) in parts.iter_mut().zip(&scored) {
        part.slices = slices(args, address.benchmark, &dataset, scored)?;
    }
    if args.json {
        return json(&Report { schema: 1, dataset: &dataset.name, metric, parts });
    }

    let mut out = out();
    writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}", dataset.name, describe(address.benchmark, metric))?;
    let rows = parts
        .iter()
        .flat_map(|part| {
            let slices = part.slices.iter();
            let slices = slices.map(|slice| row(format!("  {}", slice.slice), &slice.tally));
            std::iter::once(row(part.part.to_owned(), &part.tally)).chain(slices)
        })
        .collect();
    write!(out, "{}", table(&["part", "n", "correct", "accuracy", "95% interval"], &[1, 2, 3], rows))?;
    for part in &parts {
        if part.tally.undecided > 0 {
            writeln!(
                out,
                "{} of {} were not decided within the bound on work",
                part.tally.undecided, part.part
            )?;
        }
        if args.importance {
            show_importance(&mut out, part)?;
        }
        if let Some(groups) = &part.by {
            writeln!(out, "\n{BOLD}{} by {}{BOLD:#}", part.part, groups.fact)?;
            let rows = groups.groups.iter().map(|group| {
                let mut row = row(shorten(&group.value.to_string(), 50), &group.tally);
                row.truncate(4);
                row.push(bar(group.tally.accuracy().unwrap_or_default(), 20));
                row
            });
            write!(
                out,
                "{}",
                table(&[groups.fact, "n", "correct", "accuracy", ""], &[1, 2, 3], rows.collect())
            )?;
        }
    }
    let mut left = args.errors;
    for (scored, texts) in scored.iter().zip(&aligned) {
        left -= show_errors(&mut out, &dataset, scored, texts, left)?;
    }
    out.flush()?;
    Ok(())
}

/// The slices of a part that it has examples of; none if it is one of them itself.
fn slices(
    args: &Score,
    benchmark: &dyn Benchmark,
    dataset: &Dataset,
    scored: &Scored<'_>,
) -> Result<Vec<SliceReport>> {
    if args.importance && benchmark.features().is_empty() {
        return Err(Error::usage(format!("{} has no facts for --importance", benchmark.about().name)));
    }
    let mut reports = Vec::new();
    for slice in benchmark.slices() {
        let Ok(fact) = dataset.table.facts.column(slice.fact) else { continue };
        let keeps = |row| (slice.keeps)(fact.value(row));
        let tally = scored.of(keeps);
        if tally.n == 0 || tally.n == scored.total().n {
            continue;
        }
        // The paper looks at each of its subsets, not at slices across them.
        let importance = if args.importance && slice.fact == "subset" {
            Some(wug_report::importance(dataset, scored, benchmark.features(), keeps, 0)?)
        } else {
            None
        };
        reports.push(SliceReport { slice: slice.name, tally, importance });
    }
    if args.importance && reports.is_empty() {
        let importance = wug_report::importance(dataset, scored, benchmark.features(), |_| true, 0)?;
        reports.push(SliceReport { slice: "all", tally: scored.total(), importance: Some(importance) });
    }
    Ok(reports)
}

fn show_importance(out: &mut impl Write, part: &PartReport<'_>) -> std::io::Result<()> {
    writeln!(out, "\n{BOLD}{}: what decides whether an answer is right{BOLD:#}", part.part)?;
    let found: Vec<(&str, &Importance)> = part
        .slices
        .iter()
        .filter_map(|slice| slice.importance.as_ref().map(|importance| (slice.slice, importance)))
        .collect();
    let Some((_, first)) = found.first() else { return Ok(()) };
    let mut header = vec!["subset", "n", "fit"];
    header.extend(first.shares.iter().map(|share| share.fact));
    let rows = found.iter().map(|(slice, importance)| {
        let mut row =
            vec![(*slice).to_owned(), thousands(importance.n), format!("{:.2}%", importance.fit * 100.0)];
        row.extend(importance.shares.iter().map(|share| format!("{:.3}", share.share)));
        row
    });
    let right: Vec<usize> = (1..header.len()).collect();
    write!(out, "{}", table(&header, &right, rows.collect()))
}

/// What the predictions are scored against.
fn dataset(args: &Score, address: &Address) -> Result<Dataset> {
    let Some(gold) = &args.gold else {
        return address.benchmark.make_with(&address.dataset, &args.data.source()?, &args.data.settings()?);
    };
    let mut dataset = address.benchmark.read_gold(&address.dataset, gold)?;
    if let Some(part) = &address.part {
        // Whatever the file holds is the part that was asked for, so that ids fit.
        dataset.parts[0].name.clone_from(part);
    }
    Ok(dataset)
}

/// The parts to score: the one asked for, those that the ids name, or the benchmark's own.
fn parts(address: &Address, dataset: &Dataset, predictions: &Predictions) -> Vec<String> {
    if let Some(part) = &address.part {
        return vec![part.clone()];
    }
    let named: Vec<String> = predictions
        .parts()
        .iter()
        .filter(|part| dataset.part(part).is_some())
        .map(ToString::to_string)
        .collect();
    let default = address.benchmark.default_part(&address.dataset);
    match named.as_slice() {
        [] => vec![
            dataset.part(default).map_or_else(|| dataset.parts[0].name.clone(), |part| part.name.clone()),
        ],
        _ => named,
    }
}

fn describe(benchmark: &dyn Benchmark, metric: &str) -> String {
    let about =
        benchmark.metrics().iter().find(|known| known.name == metric).map_or("", |metric| metric.about);
    format!("{metric}: {about}")
}

fn row(name: String, tally: &Tally) -> Vec<String> {
    let (low, high) = tally.interval();
    vec![
        name,
        thousands(tally.n),
        thousands(tally.correct),
        tally.accuracy().map_or_else(|| "-".to_owned(), |accuracy| format!("{:.2}%", accuracy * 100.0)),
        format!("{:.2} to {:.2}", low * 100.0, high * 100.0),
    ]
}

fn write_verdicts(scored: &[Scored<'_>], out: &mut dyn Write) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: String,
        correct: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    }
    for scored in scored {
        for ((id, _), verdict) in scored.selection().examples().zip(scored.verdicts()) {
            let reason = (!verdict.correct).then_some(verdict.reason.as_str());
            serde_json::to_writer(&mut *out, &Line { id, correct: verdict.correct, reason })?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Lists the first wrong predictions; says how many it listed.
fn show_errors(
    out: &mut impl Write,
    dataset: &Dataset,
    scored: &Scored<'_>,
    texts: &[&str],
    most: usize,
) -> std::io::Result<usize> {
    const LINE: usize = 400;
    let wrong = scored.selection().examples().zip(scored.verdicts()).zip(texts);
    let mut listed = 0;
    for (((id, row), verdict), text) in wrong.filter(|((_, verdict), _)| !verdict.correct).take(most) {
        let example = dataset.table.example(row);
        writeln!(out, "\n{DIM}{id}{DIM:#}  {}", verdict.reason)?;
        writeln!(out, "  input      {}", shorten(&example.input.to_string(), LINE))?;
        writeln!(out, "  target     {GREEN}{}{GREEN:#}", shorten(&example.target.to_string(), LINE))?;
        writeln!(out, "  prediction {RED}{}{RED:#}", shorten(text, LINE))?;
        listed += 1;
    }
    Ok(listed)
}
