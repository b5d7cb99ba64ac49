//! A table or figure of a paper as something to run: which learner on which part, how often, and what the paper says.

mod document;
mod embedded;
mod figure;
mod file;
mod fit;
mod outcome;
mod print;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use wug_bench::Source;
use wug_data::{Error, Result};
use wug_run::{RunSpec, Symbols};

use crate::Number;

pub use document::{ColumnDocument, RowDocument, TableDocument};
pub use embedded::{EXPERIMENTS, experiment_text};
pub use figure::figure;
pub(crate) use figure::figure_on;
pub use fit::{Fit, Line};
pub use outcome::{Measured, Outcome};
pub use print::{csv as experiment_csv, latex, markdown};

/// How much of an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Seconds: shows that it runs, and is no result.
    Smoke,
    /// About an hour on two cores: fewer runs.
    Cpu,
    /// The paper's whole protocol.
    Paper,
}

impl Scale {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Smoke, Self::Cpu, Self::Paper];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Cpu => "cpu",
            Self::Paper => "paper",
        }
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|scale| scale.name() == text)
            .ok_or("expected smoke, cpu or paper".to_owned())
    }
}

/// A table or figure at one scale.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// `scan/experiment-2`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The paper.
    pub paper: String,
    /// Where in the paper.
    pub source: String,
    /// What a reader should know.
    pub note: Option<String>,
    /// How much of it this is.
    pub scale: Scale,
    /// How it is drawn, if a picture says more than a table.
    pub figure: Option<Figure>,
    /// What the columns are, for the axis of a figure.
    pub axis: Option<String>,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// The line that is fitted to the numbers of a row, if there is one.
    pub fit: Option<Fit>,
    /// What all runs are evaluated on beside what the columns show.
    evaluation: Evaluation,
    /// Where the data come from.
    data: Source,
    /// Settings of the data.
    with: BTreeMap<String, String>,
    limit: Option<usize>,
}

/// What a trained model is evaluated on.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluation {
    /// The parts it answers.
    pub parts: BTreeSet<String>,
    /// The facts that its scores are broken down by.
    pub by: BTreeSet<String>,
    /// Whether the importance of facts is measured.
    pub importance: bool,
}

/// How an experiment is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// A line for each row.
    Lines,
    /// A bar for each row, in groups by column.
    Bars,
    /// Points by size of data or model, and the line that is fitted to them.
    Fit,
}

/// What a column measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// The dataset; `{run}` stands for the number of the run, from 1.
    pub dataset: String,
    /// The part.
    pub part: String,
    /// The metric, if not the benchmark's own.
    pub metric: Option<String>,
    /// The fact that scores are broken down by, and the value that counts; all if there is none.
    pub by: Option<(String, Option<String>)>,
    /// The fact whose share of all importance it is, instead of accuracy.
    pub importance: Option<String>,
    /// Settings that only this column has, for rows that follow a protocol.
    pub set: BTreeMap<String, String>,
    /// The setting whose value the column is, for all rows.
    pub vary: Option<(String, String)>,
}

/// A learner in a table.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its heading.
    pub name: String,
    /// What is run; nothing where the paper's numbers stand alone.
    pub run: Option<Run>,
    /// The dataset, instead of the columns'.
    pub dataset: Option<String>,
    /// The rows whose mean it is, if it is not run itself.
    pub average: Vec<String>,
    /// The value of a column's fact that counts in this row, where the column has none.
    pub value: Option<String>,
    /// How often it is run.
    pub runs: u64,
    /// The paper's numbers, a column each.
    pub theirs: Vec<Option<PublishedCell>>,
    /// What a reader should know.
    pub note: Option<String>,
}

impl Row {
    /// Its name and, if its learner is given the symbols behind the images, that.
    pub fn heading(&self) -> String {
        match self.run.as_ref().and_then(|run| run.reads) {
            Some(Symbols::Symbols) => format!("{} (reads symbols)", self.name),
            None => self.name.clone(),
        }
    }
}

/// A learner with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The learner.
    pub learner: String,
    /// What it reads, if not the images.
    pub reads: Option<Symbols>,
    /// Its settings.
    pub set: BTreeMap<String, String>,
    /// The dataset and the settings of the run that it fine-tunes.
    pub init: Option<(String, BTreeMap<String, String>)>,
    /// Whether it follows a protocol of the experiment, as networks do and searches do not.
    pub follows: bool,
}

/// A number of the paper in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedCell {
    /// The number.
    pub value: f64,
    /// As the paper prints it.
    pub printed: String,
    /// How many runs are behind it.
    pub runs: Option<u32>,
    /// The figure behind plus or minus.
    pub spread: Option<f64>,
}

impl From<&Number> for PublishedCell {
    fn from(number: &Number) -> Self {
        Self { value: number.value, printed: number.printed(), runs: number.runs, spread: number.spread }
    }
}

impl Experiment {
    /// Reads an experiment that is part of the program, by name.
    pub fn named(name: &str, scale: Scale) -> Result<Self> {
        Self::read(name, experiment_text(name)?, scale)
    }

    /// Reads the text of an experiment.
    pub fn read(name: &str, text: &str, scale: Scale) -> Result<Self> {
        file::read(name, text, scale)
    }

    /// The run of a row and a column with this number (from 0); none if the row is the paper's alone.
    pub fn spec(&self, row: &Row, column: &Column, number: u64) -> Result<Option<RunSpec>> {
        let Some(run) = row.run.as_ref() else { return Ok(None) };
        let dataset = row.dataset.as_ref().unwrap_or(&column.dataset);
        let dataset = dataset.replace("{run}", &(number % 5 + 1).to_string());
        let in_row = |error: Error| wrong(&self.name, format!("row {}: {error}", row.name));
        let mut spec = RunSpec::new(&dataset, &run.learner).map_err(in_row)?;
        let mut set = run.set.clone();
        set.extend(column.set.clone().into_iter().filter(|_| run.follows));
        set.extend(column.vary.clone());
        if let Some((dataset, set)) = &run.init {
            let mut init = RunSpec::new(dataset, &run.learner).map_err(in_row)?;
            init.set(&given(set)).map_err(in_row)?;
            self.ask(&mut init, run, column, number);
            spec.fine_tune(init).map_err(in_row)?;
        }
        spec.set(&given(&set)).map_err(in_row)?;
        if let Some(metric) = &column.metric {
            spec.judge_by(metric).map_err(in_row)?;
        }
        self.ask(&mut spec, run, column, number);
        Ok(Some(spec))
    }

    /// What a run is asked, on which data, and its number.
    fn ask(&self, spec: &mut RunSpec, run: &Run, column: &Column, number: u64) {
        let evaluation = self.evaluation_of(column);
        spec.source = self.data.clone();
        spec.with = self.with.clone();
        spec.parts = evaluation.parts.into_iter().collect();
        spec.by = evaluation.by.into_iter().collect();
        spec.importance = evaluation.importance;
        spec.limit = self.limit;
        spec.reads = run.reads;
        spec.learner_seed = number;
    }

    /// Everything that a model is evaluated on for this column: what all columns of its dataset show, so that they are one
    /// run.
    fn evaluation_of(&self, column: &Column) -> Evaluation {
        let mut evaluation = self.evaluation.clone();
        let alike = |other: &&Column| (&other.dataset, &other.metric) == (&column.dataset, &column.metric);
        for other in self.columns.iter().filter(alike) {
            evaluation.parts.insert(other.part.clone());
            evaluation.by.extend(other.by.iter().map(|(fact, _)| fact.clone()));
            evaluation.importance |= other.importance.is_some();
        }
        evaluation
    }

    /// Every run, each once: all first runs before all second ones, so that a table left half done has no empty cells.
    pub fn specs(&self) -> Result<Vec<RunSpec>> {
        self.specs_where(|_| true, |_| true)
    }

    /// The runs of the rows and the columns with these names; of all rows, or columns, where none is named.
    pub fn specs_of(&self, rows: &[String], columns: &[String]) -> Result<Vec<RunSpec>> {
        let known: [Vec<&str>; 2] = [
            self.rows.iter().map(|row| row.name.as_str()).collect(),
            self.columns.iter().map(|column| column.name.as_str()).collect(),
        ];
        for ((names, known), what) in [rows, columns].into_iter().zip(known).zip(["row", "column"]) {
            if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
                let known = known.join("\n  ");
                return Err(wrong(&self.name, format!("there is no {what} `{name}`; there are\n  {known}")));
            }
        }
        let has = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        self.specs_where(|row| has(rows, &row.name), |column| has(columns, &column.name))
    }

    fn specs_where(
        &self,
        is_row: impl Fn(&Row) -> bool,
        is_column: impl Fn(&Column) -> bool,
    ) -> Result<Vec<RunSpec>> {
        let most = self.rows.iter().map(|row| row.runs).max().unwrap_or_default();
        let (mut specs, mut known) = (Vec::new(), HashSet::new());
        for number in 0..most {
            for row in self.rows.iter().filter(|row| number < row.runs && is_row(row)) {
                let columns = self.columns.iter().filter(|column| is_column(column));
                for spec in self.specs_of_row(row, columns, number)? {
                    for spec in spec.init.as_deref().into_iter().chain([&spec]) {
                        if known.insert(spec.key()?) {
                            specs.push(spec.clone());
                        }
                    }
                }
            }
        }
        Ok(specs)
    }

    /// The names of the rows that each run is for, by [`RunSpec::key`].
    pub fn row_names(&self) -> Result<BTreeMap<String, String>> {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for row in &self.rows {
            for number in 0..row.runs {
                for spec in self.specs_of_row(row, self.columns.iter(), number)? {
                    let name = names.entry(spec.key()?).or_default();
                    if !name.is_empty() {
                        name.push_str(", ");
                    }
                    name.push_str(&row.name);
                    if let Some(init) = &spec.init {
                        names.insert(init.key()?, "to be fine-tuned".to_owned());
                    }
                }
            }
        }
        Ok(names)
    }

    /// How many runs there are, without making a spec for each.
    pub fn run_count(&self) -> Result<u64> {
        // Runs of a row differ by their number alone, and rows may share runs.
        let mut runs: HashMap<String, u64> = HashMap::new();
        for row in self.rows.iter().filter(|row| row.runs > 0) {
            for spec in self.specs_of_row(row, self.columns.iter(), 0)? {
                for spec in spec.init.as_deref().into_iter().chain([&spec]) {
                    let known = runs.entry(spec.key()?).or_default();
                    *known = row.runs.max(*known);
                }
            }
        }
        Ok(runs.values().sum())
    }

    /// The runs of a row with this number. Columns that read different numbers off one run make it once.
    fn specs_of_row<'c>(
        &self,
        row: &Row,
        columns: impl Iterator<Item = &'c Column>,
        number: u64,
    ) -> Result<Vec<RunSpec>> {
        let mut seen: Vec<&Column> = Vec::new();
        let mut specs = Vec::new();
        for column in columns {
            let of_run = |column: &'c Column| (&column.dataset, &column.metric, &column.set, &column.vary);
            if !seen.iter().any(|&other| of_run(other) == of_run(column)) {
                seen.push(column);
                specs.extend(self.spec(row, column, number)?);
            }
        }
        Ok(specs)
    }
}

/// Settings as `--set` takes them.
fn given(set: &BTreeMap<String, String>) -> Vec<String> {
    set.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// An error in the text of an experiment.
fn wrong(name: &str, what: impl fmt::Display) -> Error {
    Error::usage(format!("experiment {name}: {what}"))
}

#[cfg(test)]
mod tests;
