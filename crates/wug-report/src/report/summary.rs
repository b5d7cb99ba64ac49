use serde::Serialize;

use wug_run::{RunRecord, RunSpec, Scores, SeedScores, Status, Symbols};

use super::provenance::chosen;
use crate::{Attribution, Decoding, Number, compared, published};

/// A learner on a part of a dataset, beside what is published.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The learner.
    pub learner: String,
    /// Present if it was given the symbols behind the images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<Symbols>,
    /// Its settings that are not at their defaults.
    pub settings: Vec<String>,
    /// The dataset.
    pub dataset: String,
    /// The part.
    pub part: String,
    /// The metric.
    pub metric: String,
    /// Examples.
    pub n: usize,
    /// The accuracy of each run, from 0 to 1.
    pub accuracies: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Its 95% interval: of one run that of Wilson, of several Student's t over seeds.
    pub interval: (f64, f64),
    /// What papers say of this learner on this part.
    pub published: Vec<PublishedNumber>,
    /// The highest published number on this part, if that is of another learner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_published: Option<PublishedNumber>,
}

/// A number of a paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedNumber {
    /// The paper and the place in it.
    pub source: String,
    /// The learner, in the paper's terms.
    pub learner: String,
    /// Percent.
    pub value: f64,
    /// As the paper prints it.
    pub printed: String,
}

impl From<&Number> for PublishedNumber {
    fn from(number: &Number) -> Self {
        Self {
            source: format!("{}, {}", number.paper, number.source),
            learner: number.learner.clone(),
            value: number.value,
            printed: number.printed(),
        }
    }
}

/// A row for each learner and part; runs that differ by their seeds alone share one.
pub(super) fn summary<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Vec<SummaryRow> {
    let mut groups: Vec<(String, &RunSpec, Vec<&Scores>)> = Vec::new();
    for record in records.filter(|record| record.status == Status::Done) {
        let Some(scores) = &record.scores else { continue };
        let key = RunSpec { learner_seed: 0, ..record.spec.clone() }.key().unwrap_or_default();
        match groups.iter_mut().find(|(known, ..)| *known == key) {
            Some((.., runs)) => runs.push(scores),
            None => groups.push((key, &record.spec, vec![scores])),
        }
    }
    let mut summary: Vec<SummaryRow> = groups.iter().flat_map(|(_, spec, runs)| rows(spec, runs)).collect();
    // Those that can be compared stand together, wherever their folders are.
    summary.sort_by(|one, other| one.dataset.cmp(&other.dataset));
    summary
}

fn rows(spec: &RunSpec, runs: &[&Scores]) -> Vec<SummaryRow> {
    let parts = |scores: &Scores| scores.parts.iter().map(|part| part.part.clone()).collect::<Vec<_>>();
    let alike: Vec<Scores> =
        runs.iter().filter(|run| parts(run) == parts(runs[0])).map(|run| (*run).clone()).collect();
    let seeds = SeedScores::new(alike);
    let row = |(i, summary): (usize, &wug_run::SeedSummary)| {
        let tally = &seeds.runs[0].parts[i].tally;
        let interval = if summary.accuracies.len() > 1 { summary.interval } else { tally.interval() };
        let (own, best) = find(spec, &summary.part);
        SummaryRow {
            learner: spec.learner.clone(),
            reads: spec.reads,
            settings: chosen(spec),
            dataset: spec.dataset.clone(),
            part: summary.part.clone(),
            metric: spec.metric.clone(),
            n: tally.n,
            accuracies: summary.accuracies.clone(),
            mean: summary.mean,
            interval,
            published: own,
            best_published: best,
        }
    };
    seeds.parts.iter().enumerate().map(row).collect()
}

/// What papers say of a learner on a part, and the best of others.
fn find(spec: &RunSpec, part: &str) -> (Vec<PublishedNumber>, Option<PublishedNumber>) {
    let here = published().iter().filter(|number| number.origin == Attribution::Own).filter(|number| {
        let compared = compared(number);
        let [place] = compared.places.as_slice() else { return false };
        compared.decoding == Decoding::Usual
            && place.filter.is_none()
            && (place.dataset.as_str(), place.part.as_str()) == (spec.dataset.as_str(), part)
    });
    let (own, others): (Vec<&Number>, Vec<&Number>) =
        here.partition(|number| compared(number).learners.contains(&spec.learner));
    let mut distinct: Vec<PublishedNumber> = Vec::new();
    for number in own.into_iter().map(PublishedNumber::from) {
        // Papers repeat numbers in several tables.
        if !distinct.iter().any(|known| known.printed == number.printed) {
            distinct.push(number);
        }
    }
    let best = others.into_iter().max_by(|a, b| a.value.total_cmp(&b.value)).map(PublishedNumber::from);
    let is_best = |best: &PublishedNumber| distinct.iter().all(|own| own.value < best.value);
    let best = best.filter(is_best);
    (distinct, best)
}
