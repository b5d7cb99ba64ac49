//! What came out, beside what the paper says.

use serde::{Deserialize, Serialize};

use super::{Experiment, Scale};

/// What `scores.json` of a run has.
#[derive(Debug, Clone, Deserialize)]
pub struct Scores {
    parts: Vec<PartScores>,
}

#[derive(Debug, Clone, Deserialize)]
struct PartScores {
    n: u64,
    correct: u64,
    score: Option<f64>,
    by: Option<GroupScores>,
}

#[derive(Debug, Clone, Deserialize)]
struct GroupScores {
    groups: Vec<GroupScore>,
}

#[derive(Debug, Clone, Deserialize)]
struct GroupScore {
    value: serde_json::Value,
    n: u64,
    correct: u64,
}

impl Scores {
    /// The number of a column: percent right, of all or of one group, or the score of the whole part.
    pub fn value(&self, group: Option<&str>) -> Option<f64> {
        let part = self.parts.first()?;
        let percent = |correct: u64, n: u64| (n > 0).then(|| 100.0 * correct as f64 / n as f64);
        let Some(group) = group else {
            return part.score.or_else(|| percent(part.correct, part.n));
        };
        let same = |value: &serde_json::Value| match value.as_str() {
            Some(text) => text == group,
            None => format!("{value}") == group,
        };
        let found = part.by.as_ref()?.groups.iter().find(|other| same(&other.value))?;
        percent(found.correct, found.n)
    }
}

/// What there is of a cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ours {
    /// The row is the paper's alone.
    NotRun,
    /// There is no such learner yet.
    NoLearner,
    /// The values of the runs that are done; none if all are open.
    Runs(Vec<f64>),
    /// The runs had no example that counts here, as a small scale may not.
    NoExamples,
    /// A run failed.
    Failed(String),
}

impl Ours {
    /// Mean of the runs.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Self::Runs(values) if !values.is_empty() => {
                Some(values.iter().sum::<f64>() / values.len() as f64)
            }
            _ => None,
        }
    }

    /// Standard deviation of at least two runs, with their number as the divisor, as the papers have it.
    pub fn spread(&self) -> Option<f64> {
        let (Self::Runs(values), Some(mean)) = (self, self.mean()) else { return None };
        let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        (values.len() > 1).then(|| (squares / values.len() as f64).sqrt())
    }

    /// How many runs are done.
    pub fn runs(&self) -> usize {
        if let Self::Runs(values) = self { values.len() } else { 0 }
    }

    /// As it is printed: `14.2 ± 0.8`.
    pub fn printed(&self) -> String {
        match (self, self.mean(), self.spread()) {
            (Self::NotRun, ..) => String::new(),
            (Self::NoLearner, ..) => "no learner".to_owned(),
            (Self::NoExamples, ..) => "no examples".to_owned(),
            (Self::Failed(_), ..) => "failed".to_owned(),
            (_, Some(mean), Some(spread)) => format!("{mean:.1} ± {spread:.1}"),
            (_, Some(mean), None) => format!("{mean:.1}"),
            _ => "open".to_owned(),
        }
    }
}

/// A table that was run: for every row and column what came out.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was run.
    pub experiment: Experiment,
    /// What came out, by row and column.
    pub ours: Vec<Vec<Ours>>,
}

impl Outcome {
    /// What is to be said before any number of the table.
    pub fn warning(&self) -> Option<&'static str> {
        (self.experiment.scale == Scale::Smoke)
            .then_some("SMOKE TEST: this shows that the experiment runs; its numbers are no results")
    }

    /// The numbers of runs behind a row: `3`, or `1-3` where some are still open.
    pub fn runs(&self, row: usize) -> String {
        let runs = || self.ours[row].iter().filter(|ours| ours.mean().is_some()).map(Ours::runs);
        match (runs().min(), runs().max()) {
            (Some(least), Some(most)) if least < most => format!("{least}-{most}"),
            (_, Some(most)) => most.to_string(),
            _ => String::new(),
        }
    }

    /// The same for the paper's row.
    pub fn their_runs(&self, row: usize) -> String {
        let theirs = self.experiment.rows[row].theirs.iter().flatten();
        theirs.filter_map(|theirs| theirs.runs).max().map_or(String::new(), |runs| runs.to_string())
    }
}
