//! Which facts of an example decide whether it is answered right: permutation importance of a k-nearest-neighbours
//! classifier, as Fig. A6 of the HINT paper measures it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use wug_bench::Feature;
use wug_data::{Dataset, Fact, FactValue, Result, Streams};

use super::kd_tree::KdTree;
use crate::Scored;

/// Neighbours that vote.
const K: usize = 3;
/// How often each feature is shuffled.
const REPEATS: u64 = 5;

/// How much each feature matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// Examples.
    pub n: usize,
    /// How often the classifier says what is true, of the examples it has seen.
    pub fit: f64,
    /// The same for verdicts that were shuffled, so that nothing can matter: what a fit of this size is worth.
    pub null_fit: f64,
    /// For each feature its share of all importance; they sum to 1, if anything matters.
    pub shares: Vec<FeatureShare>,
}

/// The importance of one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureShare {
    /// The fact.
    pub fact: String,
    /// How much worse the classifier is when the feature is shuffled, over the sum of that for all features.
    pub share: f64,
    /// That loss itself.
    pub loss: f64,
    /// The loss for verdicts that were shuffled: a loss no larger than this means nothing.
    pub null_loss: f64,
}

/// Features of the examples that a slice keeps (all if there is none) against whether they were answered right: each
/// feature is standardised, a classifier by three nearest neighbours is fitted and scored on the same examples, and
/// again with each feature shuffled five times. Equally near neighbours vote in the order of the examples.
pub fn importance(
    dataset: &Dataset,
    scored: &Scored<'_>,
    features: &[Feature],
    keeps: impl Fn(u32) -> bool,
    seed: u64,
) -> Result<Importance> {
    let selection = scored.selection();
    let rows = selection.positions.iter().map(|&position| selection.part.rows[position as usize]);
    let kept: Vec<(u32, bool)> = rows
        .zip(scored.verdicts())
        .filter(|(row, _)| keeps(*row))
        .map(|(row, verdict)| (row, verdict.correct))
        .collect();
    let facts: Vec<&Fact> =
        features.iter().map(|feature| dataset.table.facts.column(feature.fact)).collect::<Result<_>>()?;
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for (feature, fact) in features.iter().zip(&facts) {
        columns
            .push(standardised(kept.iter().map(|(row, _)| number(fact, *row, feature.logarithm)).collect()));
    }
    let right: Vec<bool> = kept.iter().map(|(_, right)| *right).collect();
    let points = |columns: &[Vec<f64>]| -> Vec<Vec<f64>> {
        (0..right.len()).map(|i| columns.iter().map(|column| column[i]).collect()).collect()
    };
    let neighbours = KdTree::new(points(&columns));
    let accuracy = |points: &[Vec<f64>], right: &[bool]| {
        let agree = |(point, own): (&Vec<f64>, &bool)| {
            let votes = neighbours.nearest(point, K).iter().filter(|&&i| right[i]).count();
            (votes * 2 > K.min(right.len())) == *own
        };
        let agreeing = points.par_iter().zip(right).filter(|&pair| agree(pair)).count();
        agreeing as f64 / right.len().max(1) as f64
    };
    let fit_and_losses = |right: &[bool], repeats: u64| {
        let fit = accuracy(&points(&columns), right);
        let loss = |(i, feature): (usize, &Feature)| {
            let streams = Streams::new("importance", &format!("{} {}", selection.name, feature.fact), seed);
            let lost = (0..repeats).map(|repeat| {
                let mut shuffled = columns.clone();
                streams.item(repeat).shuffle(&mut shuffled[i]);
                (fit - accuracy(&points(&shuffled), right)) / repeats as f64
            });
            lost.fold(0.0, |sum, loss| sum + loss)
        };
        (fit, features.iter().enumerate().map(loss).collect::<Vec<f64>>())
    };
    let (fit, losses) = fit_and_losses(&right, REPEATS);
    let mut shuffled = right.clone();
    Streams::new("importance", &format!("{} verdicts", selection.name), seed).item(0).shuffle(&mut shuffled);
    let (null_fit, null_losses) = fit_and_losses(&shuffled, 1);
    let total: f64 = losses.iter().sum();
    let losses = losses.iter().zip(&null_losses);
    let shares = features.iter().zip(losses).map(|(feature, (&loss, &null_loss))| FeatureShare {
        fact: feature.fact.to_owned(),
        share: if total == 0.0 { 0.0 } else { loss / total },
        loss,
        null_loss,
    });
    Ok(Importance { n: right.len(), fit, null_fit, shares: shares.collect() })
}

fn number(fact: &Fact, row: u32, logarithm: bool) -> f64 {
    let value = match fact.value(row) {
        FactValue::Number(number) | FactValue::Range(number, _) => number as f64,
        FactValue::Label(_) => 0.0,
    };
    if logarithm { (value + 1e-6).ln() } else { value }
}

/// The column with mean 0 and standard deviation (of a sample) 1; all 0 if it is constant.
fn standardised(mut column: Vec<f64>) -> Vec<f64> {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n.max(1.0);
    let variance = column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    for x in &mut column {
        *x = (*x - mean) / scale;
    }
    column
}
