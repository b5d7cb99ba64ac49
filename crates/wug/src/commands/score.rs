use std::collections::BTreeMap;
use std::io::Write;

use indicatif::ProgressBar;

use wug_bench::{Address, Draw, Judge, Settings, Source};
use wug_data::{Dataset, Error, Fact, Prediction, Predictions, Result, Selection, write_file};
use wug_run::{Explained, PredictionsRead, Scored, Scores, Suspect, mismatch, score};

use crate::args::Score;
use crate::output::{Done, json, out};
use crate::progress::spinner;
use crate::scores::{show_errors, write_scores, write_verdicts};
use wug_data::truncate;

pub(crate) fn run(args: &Score) -> Done {
    let address: Address = args.dataset.parse()?;
    let metric = args.metric.as_deref().unwrap_or(address.benchmark.metrics()[0].name);
    let judge = address.benchmark.judge(metric)?;
    let (source, settings) = (args.data.source()?, args.data.settings()?);
    let dataset = dataset(args, &address, &source, &settings)?;
    let facts: Vec<&Fact> =
        args.by.iter().map(|fact| dataset.table.facts.column(fact)).collect::<Result<_>>()?;

    let select = |parts: &[String]| -> Result<Vec<Selection<'_>>> {
        parts.iter().map(|part| Ok(dataset.select(part)?.limited(args.limit))).collect()
    };
    let in_order = select(&parts(&address, &dataset, &[]))?;
    let predictions = Predictions::read_for(&args.predictions, args.format, &dataset, &in_order)?;
    let selections = select(&parts(&address, &dataset, &predictions.parts()))?;
    let rows = predictions
        .align_rows(&selections)
        .map_err(|error| with_part_of_size(error, &dataset, &predictions))?;
    let draw = args.gold.as_ref().map_or_else(|| Draw::of(&source), |gold| Ok(Draw::of_file(gold)))?;
    let hashes = check_draw(&draw, &dataset, &predictions, &selections, &rows)?;
    let aligned: Vec<Vec<&str>> =
        rows.iter().map(|rows| rows.iter().map(|row| row.text.as_str()).collect()).collect();
    let scored: Vec<Scored<'_>> = selections
        .iter()
        .cloned()
        .zip(&aligned)
        .map(|(selection, texts)| score(&dataset, selection, texts, judge.as_ref()))
        .collect();

    if let Some(path) = &args.verdicts {
        write_file(path, |out| write_verdicts(&scored, out))?;
    }
    let benchmark = &*address.benchmark;
    let spinner = args.importance.then(|| spinner("measuring which facts decide"));
    let mut scores = Scores::new(benchmark, &dataset, metric, &scored, &facts, args.importance)?;
    spinner.inspect(ProgressBar::finish_and_clear);
    scores.hint = mismatch(&Suspect {
        benchmark,
        dataset_name: &address.dataset,
        source: &source,
        settings: &settings,
        dataset: &dataset,
        selections: &selections,
        limit: args.limit,
        predictions: &predictions,
        judge: judge.as_ref(),
        accuracy: accuracy(&scored),
    });
    let (n, format) = (predictions.len(), predictions.format().to_string());
    scores.predictions = Some(PredictionsRead { n, format });
    scores.draw = Some(draw);
    scores.hashes = hashes;
    let wrong = first_wrong(&scored, args.explain_first);
    scores.explained = args
        .explain
        .iter()
        .chain(&wrong)
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

/// The share of all predictions that is right.
fn accuracy(scored: &[Scored<'_>]) -> f64 {
    let tallies = scored.iter().map(Scored::total);
    let (right, n) = tallies.fold((0, 0), |(right, n), tally| (right + tally.correct, n + tally.n));
    right as f64 / (n as f64).max(1.0)
}

/// The ids of the first wrong predictions.
fn first_wrong(scored: &[Scored<'_>], most: usize) -> Vec<String> {
    let all = scored.iter().flat_map(|scored| scored.selection().examples().zip(scored.verdicts()));
    all.filter(|(_, verdict)| !verdict.correct).take(most).map(|((id, _), _)| id).collect()
}

/// An error about too few predictions, with the part that has as many.
fn with_part_of_size(error: Error, dataset: &Dataset, predictions: &Predictions) -> Error {
    let fits = dataset.parts.iter().find(|part| part.rows.len() == predictions.len());
    match (error, fits) {
        (Error::Line { path, line, what }, Some(part)) if what.starts_with("ends after") => {
            let what = format!("{what} ({1} has as many: score {0}#{1})", dataset.name, part.name);
            Error::Line { path, line, what }
        }
        (error, _) => error,
    }
}

/// Checks what the predictions say about the draw and the inputs they are for; the hash of each part.
fn check_draw(
    draw: &Draw,
    dataset: &Dataset,
    predictions: &Predictions,
    selections: &[Selection<'_>],
    rows: &[Vec<&Prediction>],
) -> Result<BTreeMap<String, String>> {
    let mut hashes = BTreeMap::new();
    for (selection, rows) in selections.iter().zip(rows) {
        let hash = dataset.part_sha256(selection.part);
        for ((id, row), prediction) in selection.examples().zip(rows) {
            if let Some(said) = &prediction.draw {
                draw.check(said, &selection.part.name, &hash)
                    .map_err(|what| predictions.fail(prediction, what))?;
            }
            let input = dataset.table.inputs.get(row);
            if let Some(said) = prediction.input.as_ref().filter(|said| !input.same_words(said)) {
                let (said, input) = (truncate(said, 60), truncate(&input.to_string(), 60));
                let what = format!("its input is `{said}`, but that of {id} of {draw} is `{input}`");
                return Err(predictions.fail(prediction, what));
            }
        }
        hashes.insert(selection.part.name.clone(), hash);
    }
    Ok(hashes)
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
                prediction: truncate(text, LONGEST),
                reasons: judge.explain(&example, text),
            });
        }
    }
    Err(Error::usage(format!("--explain: `{id}` is not the id of a prediction that was scored")))
}

/// What the predictions are scored against.
fn dataset(args: &Score, address: &Address, source: &Source, settings: &Settings) -> Result<Dataset> {
    let Some(gold) = &args.gold else {
        return address.benchmark.make_with(&address.dataset, source, settings);
    };
    let mut dataset = address.benchmark.expect_release()?.read_gold(&address.dataset, gold)?;
    if let Some(part) = &address.part {
        // Whatever the file holds is the part that was asked for, so that ids fit.
        dataset.parts[0].name.clone_from(part);
    }
    Ok(dataset)
}

/// The parts to score: those asked for, those that the ids name, or the benchmark's own.
fn parts(address: &Address, dataset: &Dataset, named: &[&str]) -> Vec<String> {
    if let Some(parts) = &address.part {
        return parts.split(',').map(str::to_owned).collect();
    }
    let named: Vec<String> =
        named.iter().filter(|part| dataset.part(part).is_some()).map(ToString::to_string).collect();
    let default = address.benchmark.default_part(&address.dataset);
    match named.as_slice() {
        [] => vec![
            dataset.part(default).map_or_else(|| dataset.parts[0].name.clone(), |part| part.name.clone()),
        ],
        _ => named,
    }
}
