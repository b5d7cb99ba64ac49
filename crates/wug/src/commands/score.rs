use std::io::Write;

use serde::Serialize;

use wug_bench::{Address, Benchmark, Judge};
use wug_data::{Dataset, Error, Predictions, Result, Selection, write_file};
use wug_report::{Groups, Scored, Tally};

use crate::args::Score;
use crate::output::{BOLD, DIM, Done, GREEN, RED, bar, json, out, shorten, table, thousands};

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    dataset: &'a str,
    metric: &'a str,
    parts: Vec<PartReport<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explained: Vec<Explained>,
}

/// Why one prediction is wrong.
#[derive(Serialize)]
struct Explained {
    id: String,
    input: String,
    target: String,
    prediction: String,
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct PartReport<'a> {
    part: &'a str,
    #[serde(flatten)]
    tally: Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Groups<'a>>,
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
    let parts: Vec<PartReport<'_>> = scored
        .iter()
        .map(|scored| PartReport {
            part: &scored.selection().name,
            tally: scored.total(),
            by: fact.map(|fact| scored.by(fact)),
        })
        .collect();
    let explained = args
        .explain
        .iter()
        .map(|id| explain(id, &dataset, judge.as_ref(), &scored, &aligned))
        .collect::<Result<Vec<_>>>()?;
    if args.json {
        return json(&Report { schema: 1, dataset: &dataset.name, metric, parts, explained });
    }

    let mut out = out();
    writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}", dataset.name, describe(address.benchmark, metric))?;
    let rows = parts.iter().map(|part| row(part.part.to_owned(), &part.tally)).collect();
    write!(out, "{}", table(&["part", "n", "correct", "accuracy", "95% interval"], &[1, 2, 3], rows))?;
    for part in &parts {
        if part.tally.undecided > 0 {
            writeln!(
                out,
                "{} of {} were not decided within the bound on work",
                part.tally.undecided, part.part
            )?;
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
    for explained in &explained {
        writeln!(out, "\n{BOLD}{}{BOLD:#}", explained.id)?;
        writeln!(out, "  input      {}", explained.input)?;
        writeln!(out, "  target     {GREEN}{}{GREEN:#}", explained.target)?;
        writeln!(out, "  prediction {RED}{}{RED:#}", explained.prediction)?;
        if explained.reasons.is_empty() {
            writeln!(out, "  right by {metric}")?;
        }
        for reason in &explained.reasons {
            writeln!(out, "  {reason}")?;
        }
    }
    let mut left = args.errors;
    for (scored, texts) in scored.iter().zip(&aligned) {
        left -= show_errors(&mut out, &dataset, scored, texts, left)?;
    }
    out.flush()?;
    Ok(())
}

/// Finds the prediction with an id and has the judge say what it says of it.
fn explain(
    id: &str,
    dataset: &Dataset,
    judge: &dyn Judge,
    scored: &[Scored<'_>],
    aligned: &[Vec<&str>],
) -> Result<Explained> {
    const LONGEST: usize = 4000;
    for (scored, texts) in scored.iter().zip(aligned) {
        let mut examples = scored.selection().examples().zip(texts);
        if let Some(((id, row), text)) = examples.find(|((known, _), _)| known == id) {
            let example = dataset.table.example(row);
            return Ok(Explained {
                id,
                input: example.input.to_string(),
                target: example.target.to_string(),
                prediction: shorten(text, LONGEST),
                reasons: judge.explain(&example, text),
            });
        }
    }
    Err(Error::usage(format!("--explain: `{id}` is not the id of a prediction that was scored")))
}

/// What the predictions are scored against.
fn dataset(args: &Score, address: &Address) -> Result<Dataset> {
    let Some(gold) = &args.gold else {
        return address.benchmark.make(&address.dataset, &args.data.source()?);
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
