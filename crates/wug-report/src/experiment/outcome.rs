//! What came out, beside what the paper says.

use serde::{Deserialize, Serialize};

use super::{Column, Experiment, Fit, Line, Row, Scale};

/// What `scores.json` of a run has.
#[derive(Debug, Clone, Deserialize)]
pub struct Scores {
    parts: Vec<PartScores>,
    learned: Option<Learned>,
}

/// How large the model was that was scored.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Learned {
    pub(super) parameters: u64,
    pub(super) examples: u64,
}

#[derive(Debug, Clone, Deserialize)]
struct PartScores {
    part: String,
    n: u64,
    correct: u64,
    score: Option<f64>,
    by: Option<By>,
    #[serde(default)]
    slices: Vec<SliceScores>,
}

/// One table by itself, several as a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum By {
    One(GroupScores),
    Several(Vec<GroupScores>),
}

impl By {
    fn all(&self) -> &[GroupScores] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
struct SliceScores {
    slice: String,
    importance: Option<ImportanceScores>,
}

#[derive(Debug, Clone, Deserialize)]
struct ImportanceScores {
    shares: Vec<ShareScores>,
}

#[derive(Debug, Clone, Deserialize)]
struct ShareScores {
    fact: String,
    share: f64,
}

#[derive(Debug, Clone, Deserialize)]
struct GroupScores {
    fact: String,
    groups: Vec<GroupScore>,
}

#[derive(Debug, Clone, Deserialize)]
struct GroupScore {
    value: serde_json::Value,
    n: u64,
    correct: u64,
}

impl Scores {
    /// The number of a row and column: percent right, of all or of one group, or the score of the whole part.
    pub fn value(&self, row: &Row, column: &Column) -> Option<f64> {
        let part = self.parts.iter().find(|part| part.part == column.part)?;
        let percent = |correct: u64, n: u64| (n > 0).then(|| 100.0 * correct as f64 / n as f64);
        let group =
            column.by.as_ref().and_then(|(fact, value)| Some((fact, value.as_ref().or(row.value.as_ref())?)));
        if let Some(feature) = &column.importance {
            let slice = group.map_or("all", |(_, value)| value);
            let slice = part.slices.iter().find(|known| known.slice == slice)?;
            let shares = &slice.importance.as_ref()?.shares;
            return shares.iter().find(|share| share.fact == *feature).map(|share| 100.0 * share.share);
        }
        let Some((fact, group)) = group else {
            return part.score.or_else(|| percent(part.correct, part.n));
        };
        let same = |value: &serde_json::Value| match value.as_str() {
            Some(text) => text == group,
            None => format!("{value}") == *group,
        };
        let fact = fact.replace('-', "_");
        let groups = part.by.as_ref()?.all().iter().find(|groups| groups.fact == fact)?;
        let found = groups.groups.iter().find(|other| same(&other.value))?;
        percent(found.correct, found.n)
    }

    /// How large the model was, if it has parameters.
    pub(super) fn learned(&self) -> Option<Learned> {
        self.learned
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
    /// For each row the sizes and numbers of its runs, where a line is fitted to them.
    pub points: Vec<Vec<(f64, f64)>>,
}

impl Outcome {
    /// What is to be said before any number of the table.
    pub fn warning(&self) -> Option<&'static str> {
        (self.experiment.scale == Scale::Smoke)
            .then_some("SMOKE TEST: this shows that the experiment runs; its numbers are no results")
    }

    /// The lines that are fitted to rows, with their names.
    pub(super) fn lines(&self) -> Vec<(&str, &Fit, Line)> {
        let Some(fit) = &self.experiment.fit else { return Vec::new() };
        let rows = self.experiment.rows.iter().zip(&self.points);
        rows.filter_map(|(row, points)| Some((row.name.as_str(), fit, Line::fitted(points)?))).collect()
    }

    /// What the fitted lines say, a sentence each.
    pub fn fitted(&self) -> Vec<String> {
        let lines = self.lines().into_iter();
        lines.map(|(name, fit, line)| format!("{name}: {}", fit.said(line))).collect()
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
