use std::io::Write;

use wug_bench::{Address, Judge};
use wug_data::{Dataset, Error, Predictions, Result, Selection, write_file};
use wug_run::{Explained, Scored, Scores, score};

use crate::args::Score;
use crate::output::{Done, json, out, shorten};
use crate::scores::{show_errors, write_scores, write_verdicts};

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
        .into_iter()
        .zip(&aligned)
        .map(|(selection, texts)| score(&dataset, selection, texts, judge.as_ref()))
        .collect();

    if let Some(path) = &args.verdicts {
        write_file(path, |out| write_verdicts(&scored, out))?;
    }
    let benchmark = &*address.benchmark;
    let mut scores = Scores::new(benchmark, &dataset, metric, &scored, fact.as_slice(), args.importance)?;
    scores.explained = args
        .explain
        .iter()
        .map(|id| explain(id, &dataset, judge.as_ref(), &scored, &aligned))
        .collect::<Result<_>>()?;
    if args.json {
        return json(&scores);
    }

    let mut out = out();
    write_scores(&scores, benchmark, &mut out)?;
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
