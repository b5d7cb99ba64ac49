use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use wug_bench::{Judge, Verdict};
use wug_data::{Dataset, Fact, FactValue, Selection};

use crate::wilson;

/// The verdicts on all predictions for a part.
#[derive(Debug)]
pub struct Scored<'a> {
    selection: &'a Selection<'a>,
    verdicts: Vec<Verdict>,
}

/// Judges one prediction per example, on all cores; the result does not depend on how many there are.
///
/// # Panics
/// If there are not as many predictions as examples.
pub fn score<'a>(
    dataset: &Dataset,
    selection: &'a Selection<'a>,
    predictions: &[&str],
    judge: &dyn Judge,
) -> Scored<'a> {
    assert_eq!(predictions.len(), selection.positions.len(), "a prediction for each example");
    let rows = selection.positions.par_iter().map(|&position| selection.part.rows[position as usize]);
    let verdicts = rows
        .zip(predictions)
        .map(|(row, prediction)| judge.judge(&dataset.table.example(row), prediction))
        .collect();
    Scored { selection, verdicts }
}

impl<'a> Scored<'a> {
    /// What was scored.
    pub fn selection(&self) -> &'a Selection<'a> {
        self.selection
    }

    /// The verdicts in the order of the selection.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Over everything.
    pub fn total(&self) -> Tally {
        self.verdicts.iter().collect()
    }

    /// Over the examples whose row is kept.
    pub fn of(&self, keeps: impl Fn(u32) -> bool) -> Tally {
        let rows =
            self.selection.positions.iter().map(|&position| self.selection.part.rows[position as usize]);
        rows.zip(&self.verdicts).filter(|(row, _)| keeps(*row)).map(|(_, verdict)| verdict).collect()
    }

    /// Over each value of a fact, in its order.
    pub fn by<'f>(&self, fact: &'f Fact) -> Groups<'f> {
        let mut groups: BTreeMap<FactValue<'f>, Tally> = BTreeMap::new();
        for (&position, verdict) in self.selection.positions.iter().zip(&self.verdicts) {
            let value = fact.group(self.selection.part.rows[position as usize]);
            groups.entry(value).or_default().add(verdict);
        }
        let groups = groups.into_iter().map(|(value, tally)| Group { value, tally }).collect();
        Groups { fact: fact.name(), groups }
    }
}

/// Scores by the values of one fact.
#[derive(Debug, Serialize)]
pub struct Groups<'f> {
    /// Name of the fact.
    pub fact: &'static str,
    /// A score for each of its values.
    pub groups: Vec<Group<'f>>,
}

/// The score of the examples with one value of a fact.
#[derive(Debug, Serialize)]
pub struct Group<'f> {
    /// The value.
    pub value: FactValue<'f>,
    /// The score.
    #[serde(flatten)]
    pub tally: Tally,
}

/// How many were judged, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(into = "TallyJson")]
pub struct Tally {
    /// Examples.
    pub n: usize,
    /// Right predictions.
    pub correct: usize,
    /// Predictions that the judge could not decide within its bound; they count as wrong.
    pub undecided: usize,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        self.n += 1;
        self.correct += usize::from(verdict.correct);
        self.undecided += usize::from(verdict.undecided);
    }

    /// Share of right predictions, from 0 to 1; none without examples.
    pub fn accuracy(&self) -> Option<f64> {
        (self.n > 0).then(|| self.correct as f64 / self.n as f64)
    }

    /// The 95% interval of the accuracy.
    pub fn interval(&self) -> (f64, f64) {
        wilson(self.correct, self.n)
    }
}

impl<'v> FromIterator<&'v Verdict> for Tally {
    fn from_iter<I: IntoIterator<Item = &'v Verdict>>(verdicts: I) -> Self {
        let mut tally = Self::default();
        verdicts.into_iter().for_each(|verdict| tally.add(verdict));
        tally
    }
}

/// A tally as it stands in JSON, with what follows from it.
#[derive(Serialize)]
struct TallyJson {
    n: usize,
    correct: usize,
    accuracy: Option<f64>,
    interval: (f64, f64),
    undecided: usize,
}

impl From<Tally> for TallyJson {
    fn from(tally: Tally) -> Self {
        Self {
            n: tally.n,
            correct: tally.correct,
            accuracy: tally.accuracy(),
            interval: tally.interval(),
            undecided: tally.undecided,
        }
    }
}
