use std::collections::BTreeMap;
use std::fmt;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use wug_bench::{Judge, Verdict};
use wug_data::{Dataset, Fact, FactValue, Selection};

use super::wilson;

/// The verdicts on all predictions for a part.
#[derive(Debug)]
pub struct Scored<'a> {
    selection: Selection<'a>,
    verdicts: Vec<Verdict>,
    corpus_score: Option<f64>,
}

/// Judges one prediction per example, on all cores; the result does not depend on how many there are.
///
/// # Panics
/// If there are not as many predictions as examples.
pub fn score<'a>(
    dataset: &Dataset,
    selection: Selection<'a>,
    predictions: &[&str],
    judge: &dyn Judge,
) -> Scored<'a> {
    assert_eq!(predictions.len(), selection.positions.len(), "a prediction for each example");
    let rows = selection.positions.par_iter().map(|&position| selection.part.rows[position as usize]);
    let verdicts = rows
        .zip(predictions)
        .map(|(row, prediction)| judge.judge(&dataset.table.example(row), prediction))
        .collect();
    let examples = selection.examples().zip(predictions);
    let examples: Vec<_> =
        examples.map(|((_, row), prediction)| (dataset.table.example(row), *prediction)).collect();
    let corpus_score = judge.corpus_score(&examples);
    Scored { selection, verdicts, corpus_score }
}

impl<'a> Scored<'a> {
    /// Verdicts that were given before, one per example.
    ///
    /// # Panics
    /// If there are not as many verdicts as examples.
    pub fn new(selection: Selection<'a>, verdicts: Vec<Verdict>, corpus_score: Option<f64>) -> Self {
        assert_eq!(verdicts.len(), selection.positions.len(), "a verdict for each example");
        Self { selection, verdicts, corpus_score }
    }

    /// What was scored.
    pub fn selection(&self) -> &Selection<'a> {
        &self.selection
    }

    /// The verdicts in the order of the selection.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// The corpus-level score of all predictions, where the metric has one.
    pub fn corpus_score(&self) -> Option<f64> {
        self.corpus_score
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
    pub fn by(&self, fact: &Fact) -> Groups {
        let mut groups: BTreeMap<FactValue<'_>, Tally> = BTreeMap::new();
        for (&position, verdict) in self.selection.positions.iter().zip(&self.verdicts) {
            let value = fact.group(self.selection.part.rows[position as usize]);
            groups.entry(value).or_default().add(verdict);
        }
        let groups = groups.into_iter().map(|(value, tally)| Group { value: value.into(), tally }).collect();
        Groups { fact: fact.name().to_owned(), groups }
    }
}

/// Scores by the values of one fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Groups {
    /// Name of the fact.
    pub fact: String,
    /// A score for each of its values.
    pub groups: Vec<Group>,
}

/// The score of the examples with one value of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The value.
    pub value: GroupValue,
    /// The score.
    #[serde(flatten)]
    pub tally: Tally,
}

/// The value of a fact that a group shares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GroupValue {
    /// A whole number.
    Number(i64),
    /// A word, or a range of numbers such as `11-20`.
    Label(String),
}

impl From<FactValue<'_>> for GroupValue {
    fn from(value: FactValue<'_>) -> Self {
        match value {
            FactValue::Number(number) => Self::Number(number),
            other => Self::Label(other.to_string()),
        }
    }
}

impl fmt::Display for GroupValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Label(label) => f.pad(label),
        }
    }
}

/// How many were judged, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "TallyJson", from = "TallyJson")]
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
#[derive(Serialize, Deserialize)]
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

impl From<TallyJson> for Tally {
    fn from(TallyJson { n, correct, undecided, .. }: TallyJson) -> Self {
        Self { n, correct, undecided }
    }
}
