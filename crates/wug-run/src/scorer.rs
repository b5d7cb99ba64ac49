//! Scores predictions against the examples of a dataset: what the command line and other callers share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wug_bench::{Address, DataSettings, Draw, Judge, Source};
use wug_data::{
    Dataset, Error, Fact, Prediction, PredictionFormat, Predictions, Result, Selection, truncate,
};
use wug_learn::exported_prompt;

use crate::{Explained, PredictionsRead, Scored, Scores, Suspect, mismatch, score};

/// The longest input that an error shows, in characters ...
const SHOWN_INPUT: usize = 60;
/// ... and the longest prediction that an explanation shows.
const SHOWN_PREDICTION: usize = 4000;

/// What predictions are scored against, and by which metric.
pub struct Scorer {
    /// The dataset, with the parts that were asked for.
    pub address: Address,
    /// The examples.
    pub dataset: Arc<Dataset>,
    source: Source,
    settings: DataSettings,
    draw: Draw,
    metric: String,
    judge: Box<dyn Judge>,
    limit: Option<usize>,
}

/// What a [`Scorer`] is made from, besides the dataset.
#[derive(Debug, Clone, Default)]
pub struct ScorerOptions {
    /// The metric; the benchmark's own if there is none.
    pub metric: Option<String>,
    /// A file of the official format to score against, instead of the dataset.
    pub gold: Option<PathBuf>,
    /// The number of examples of each part, from the first.
    pub limit: Option<usize>,
}

/// Predictions with their verdicts, in the order of the examples.
pub struct JudgedPredictions<'a> {
    scorer: &'a Scorer,
    predictions: &'a Predictions,
    /// The verdicts, by part.
    pub scored: Vec<Scored<'a>>,
    /// The predictions, by part.
    pub texts: Vec<Vec<&'a str>>,
    hashes: BTreeMap<String, String>,
}

impl Scorer {
    /// Finds the metric, and makes or reads the data.
    pub fn new(
        address: Address,
        source: Source,
        settings: DataSettings,
        options: &ScorerOptions,
    ) -> Result<Self> {
        let own = address.benchmark.metrics()[0].name;
        let metric = options.metric.as_deref().unwrap_or(own).to_owned();
        let judge = address.benchmark.judge(&metric)?;
        let dataset = match &options.gold {
            None => address.benchmark.make_with(&address.dataset, &source, &settings)?,
            Some(gold) => read_gold(&address, gold)?,
        };
        let draw = options.gold.as_ref().map_or_else(|| Draw::of(&source), |gold| Ok(Draw::of_file(gold)))?;
        let (dataset, limit) = (Arc::new(dataset), options.limit);
        Ok(Self { address, dataset, source, settings, draw, metric, judge, limit })
    }

    /// The facts with these names.
    pub fn facts(&self, names: &[String]) -> Result<Vec<&Fact>> {
        names.iter().map(|fact| self.dataset.table.facts.column(fact)).collect()
    }

    /// Reads a file of predictions, of which there may be no more than examples. Of replies that a harness logged, the
    /// answers are read as the exported task reads them.
    pub fn read(&self, path: &Path, format: Option<PredictionFormat>) -> Result<Predictions> {
        let read = Predictions::read_for(path, format, &self.dataset, &self.select(&[])?)?;
        if !read.format().has_replies() {
            return Ok(read);
        }
        let answer = exported_prompt(&*self.address.benchmark)?.answer;
        Ok(read.map_texts(|reply| answer.read(reply).unwrap_or_default()))
    }

    /// Judges one prediction for each example.
    ///
    /// # Errors
    /// If examples and predictions do not match, or the predictions say that they are for other data.
    pub fn judge<'a>(&'a self, predictions: &'a Predictions) -> Result<JudgedPredictions<'a>> {
        let selections = self.select(&predictions.parts())?;
        let rows = predictions
            .align_rows(&selections)
            .map_err(|error| with_part_of_size(error, &self.dataset, predictions))?;
        let hashes = self.check_draw(predictions, &selections, &rows)?;
        let texts: Vec<Vec<&str>> =
            rows.iter().map(|rows| rows.iter().map(|row| row.text.as_str()).collect()).collect();
        let scored = selections
            .into_iter()
            .zip(&texts)
            .map(|(selection, texts)| score(&self.dataset, selection, texts, self.judge.as_ref()))
            .collect();
        Ok(JudgedPredictions { scorer: self, predictions, scored, texts, hashes })
    }

    /// The parts to score: those asked for, those that the ids name, or the benchmark's own.
    fn select(&self, named: &[&str]) -> Result<Vec<Selection<'_>>> {
        let (address, dataset) = (&self.address, &self.dataset);
        let known = named.iter().filter(|part| dataset.part(part).is_some()).map(ToString::to_string);
        let parts: Vec<String> = match &address.part {
            Some(parts) => parts.split(',').map(str::to_owned).collect(),
            None => known.collect(),
        };
        let default = address.benchmark.default_part(&address.dataset);
        let default = dataset.part(default).unwrap_or(&dataset.parts[0]);
        let parts = if parts.is_empty() { vec![default.name.clone()] } else { parts };
        parts.iter().map(|part| Ok(dataset.select(part)?.limited(self.limit))).collect()
    }

    /// Checks what the predictions say about the draw and the inputs they are for; the hash of each part.
    fn check_draw(
        &self,
        predictions: &Predictions,
        selections: &[Selection<'_>],
        rows: &[Vec<&Prediction>],
    ) -> Result<BTreeMap<String, String>> {
        let (draw, dataset) = (&self.draw, &self.dataset);
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
                    let (said, input) =
                        (truncate(said, SHOWN_INPUT), truncate(&input.to_string(), SHOWN_INPUT));
                    let what = format!("its input is `{said}`, but that of {id} of {draw} is `{input}`");
                    return Err(predictions.fail(prediction, what));
                }
            }
            hashes.insert(selection.part.name.clone(), hash);
        }
        Ok(hashes)
    }
}

impl JudgedPredictions<'_> {
    /// The scores, by the facts that are given, with the importance of facts if asked for.
    pub fn scores(&self, facts: &[&Fact], importance: bool) -> Result<Scores> {
        let Scorer { address, dataset, source, settings, metric, judge, limit, draw } = self.scorer;
        let benchmark = &*address.benchmark;
        let mut scores = Scores::new(benchmark, dataset, metric, &self.scored, facts, importance)?;
        let selections: Vec<Selection<'_>> =
            self.scored.iter().map(|scored| scored.selection().clone()).collect();
        scores.hint = mismatch(&Suspect {
            benchmark,
            dataset_name: &address.dataset,
            source,
            settings,
            dataset,
            selections: &selections,
            limit: *limit,
            predictions: self.predictions,
            judge: judge.as_ref(),
            accuracy: accuracy(&self.scored),
        });
        let (n, format) = (self.predictions.len(), self.predictions.format().to_string());
        scores.predictions = Some(PredictionsRead { n, format });
        scores.draw = Some(draw.clone());
        scores.hashes.clone_from(&self.hashes);
        Ok(scores)
    }

    /// The ids of the first wrong predictions.
    pub fn first_wrong(&self, most: usize) -> Vec<String> {
        let all = self.scored.iter().flat_map(|scored| scored.selection().examples().zip(scored.verdicts()));
        all.filter(|(_, verdict)| !verdict.correct).take(most).map(|((id, _), _)| id).collect()
    }

    /// Finds the prediction with an id and has the judge say what it says of it.
    pub fn explain(&self, id: &str) -> Result<Explained> {
        for (scored, texts) in self.scored.iter().zip(&self.texts) {
            let mut examples = scored.selection().examples().zip(texts);
            if let Some(((id, row), text)) = examples.find(|((known, _), _)| known == id) {
                let example = self.scorer.dataset.table.example(row);
                return Ok(Explained {
                    id,
                    input: example.input.to_string(),
                    target: example.target.to_string(),
                    prediction: truncate(text, SHOWN_PREDICTION),
                    reasons: self.scorer.judge.explain(&example, text),
                });
            }
        }
        Err(Error::usage(format!("--explain: `{id}` is not the id of a prediction that was scored")))
    }
}

fn read_gold(address: &Address, gold: &Path) -> Result<Dataset> {
    let mut dataset = address.benchmark.expect_release()?.read_gold(&address.dataset, gold)?;
    if let Some(part) = &address.part {
        // Whatever the file holds is the part that was asked for, so that ids fit.
        dataset.parts[0].name.clone_from(part);
    }
    Ok(dataset)
}

/// The share of all predictions that is right.
fn accuracy(scored: &[Scored<'_>]) -> f64 {
    let tallies = scored.iter().map(Scored::total);
    let (right, n) = tallies.fold((0, 0), |(right, n), tally| (right + tally.correct, n + tally.n));
    right as f64 / (n as f64).max(1.0)
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
