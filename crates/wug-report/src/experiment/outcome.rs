//! What came out, beside what the paper says.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use wug_data::Result;
use wug_run::{RunRecord, Scores, Tally};

use super::{Column, Experiment, Fit, Line, Row, Scale};

/// The number of a row and column: percent right, of all or of one group, or the corpus-level score of the part.
pub(super) fn value(scores: &Scores, row: &Row, column: &Column) -> Option<f64> {
    let part = scores.parts.iter().find(|part| part.part == column.part)?;
    let percent = |tally: &Tally| (tally.n > 0).then(|| 100.0 * tally.correct as f64 / tally.n as f64);
    let group =
        column.by.as_ref().and_then(|(fact, value)| Some((fact, value.as_ref().or(row.value.as_ref())?)));
    if let Some(feature) = &column.importance {
        let slice = group.map_or("all", |(_, value)| value);
        let slice = part.slices.iter().find(|known| known.slice == slice)?;
        let shares = &slice.importance.as_ref()?.shares;
        return shares.iter().find(|share| share.fact == *feature).map(|share| 100.0 * share.share);
    }
    let Some((fact, group)) = group else {
        return part.score.or_else(|| percent(&part.tally));
    };
    let fact = fact.replace('-', "_");
    let groups = part.by.iter().find(|groups| groups.fact == fact)?;
    let found = groups.groups.iter().find(|other| other.value.to_string() == *group)?;
    percent(&found.tally)
}

/// What there is of a cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// The row is the paper's alone.
    NotRun,
    /// The values of the runs that are done; none if all are open.
    Runs(Vec<f64>),
    /// The runs had no example that counts here, as a small scale may not.
    NoExamples,
    /// A run failed.
    Failed(String),
}

impl Measured {
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
            (Self::NoExamples, ..) => "no examples".to_owned(),
            (Self::Failed(_), ..) => "failed".to_owned(),
            (_, Some(mean), Some(spread)) => format!("{mean:.1} ± {spread:.1}"),
            (_, Some(mean), None) => format!("{mean:.1}"),
            _ => "not run".to_owned(),
        }
    }
}

/// A table that was run: for every row and column what came out.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was run.
    pub experiment: Experiment,
    /// What came out, by row and column.
    pub ours: Vec<Vec<Measured>>,
    /// For each row the sizes and numbers of its runs, where a line is fitted to them.
    pub points: Vec<Vec<(f64, f64)>>,
}

impl Outcome {
    /// Reads what is done of an experiment whose runs are below `folder`; `failed` says which runs failed, and why.
    pub fn collect(experiment: Experiment, folder: &Path, failed: &BTreeMap<String, String>) -> Result<Self> {
        let mut read: BTreeMap<String, Option<Scores>> = BTreeMap::new();
        for spec in experiment.specs()? {
            let name = spec.folder()?;
            let record = RunRecord::read(&folder.join(&name))?;
            read.insert(name, record.and_then(|record| record.scores));
        }
        let (mut ours, mut points) = (Vec::new(), Vec::new());
        for row in &experiment.rows {
            let mut of_row = Vec::new();
            for column in &experiment.columns {
                of_row.push(measured(&experiment, row, column, &read, failed)?);
            }
            ours.push(of_row);
            points.push(sizes(&experiment, row, &read)?);
        }
        for (i, row) in experiment.rows.iter().enumerate().filter(|(_, row)| !row.average.is_empty()) {
            let named = |other: &Row| row.average.contains(&other.name);
            let places: Vec<usize> =
                (0..ours.len()).filter(|&other| named(&experiment.rows[other])).collect();
            ours[i] = (0..experiment.columns.len()).map(|column| average(&ours, &places, column)).collect();
        }
        Ok(Self { experiment, ours, points })
    }

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
        let runs = || self.ours[row].iter().filter(|ours| ours.mean().is_some()).map(Measured::runs);
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

/// The mean of rows in a column, for each number of a run that all of them have.
pub(super) fn average(ours: &[Vec<Measured>], rows: &[usize], column: usize) -> Measured {
    let cells = || rows.iter().map(|&row| &ours[row][column]);
    let runs = cells().map(Measured::runs).min().unwrap_or_default();
    let of_run = |run: usize| {
        let values = cells().filter_map(|cell| match cell {
            Measured::Runs(values) => values.get(run),
            _ => None,
        });
        values.sum::<f64>() / rows.len() as f64
    };
    Measured::Runs((0..runs).map(of_run).collect())
}

/// What there is of one cell.
fn measured(
    experiment: &Experiment,
    row: &Row,
    column: &Column,
    read: &BTreeMap<String, Option<Scores>>,
    failed: &BTreeMap<String, String>,
) -> Result<Measured> {
    if row.run.is_none() {
        return Ok(Measured::NotRun);
    }
    let (mut values, mut done) = (Vec::new(), 0);
    for number in 0..row.runs {
        let Some(spec) = experiment.spec(row, column, number)? else { continue };
        let name = spec.folder()?;
        match (read.get(&name), failed.get(&name)) {
            (Some(Some(scores)), _) => {
                done += 1;
                values.extend(value(scores, row, column));
            }
            (_, Some(why)) => return Ok(Measured::Failed(why.clone())),
            _ => {}
        }
    }
    Ok(if done > 0 && values.is_empty() { Measured::NoExamples } else { Measured::Runs(values) })
}

/// The sizes and numbers of a row's runs, where a line is fitted to them.
fn sizes(
    experiment: &Experiment,
    row: &Row,
    read: &BTreeMap<String, Option<Scores>>,
) -> Result<Vec<(f64, f64)>> {
    let Some(fit) = &experiment.fit else { return Ok(Vec::new()) };
    let mut points = Vec::new();
    for number in 0..row.runs {
        for column in &experiment.columns {
            let Some(spec) = experiment.spec(row, column, number)? else { continue };
            if let Some(Some(scores)) = read.get(&spec.folder()?) {
                let point = fit.size(scores).zip(value(scores, row, column));
                points.extend(point);
            }
        }
    }
    Ok(points)
}
