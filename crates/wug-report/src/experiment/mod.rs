//! A table or figure of a paper as something to run: which learner on which part, how often, and what the paper says.

mod embedded;
mod figure;
mod file;
mod fit;
mod outcome;
mod print;
mod scatter;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use wug_data::{Error, Result};

use crate::Number;

pub use embedded::{EXPERIMENTS, experiment_text};
pub use figure::figure;
pub use fit::{Fit, Line};
pub use outcome::{Ours, Outcome, Scores};
pub use print::{csv as experiment_csv, latex, markdown};

/// How much of an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
    /// What all runs are asked beside what the columns show.
    asks: Asks,
    /// Seed of the data, if not the first.
    data_seed: Option<String>,
    /// Settings of the data.
    with: BTreeMap<String, String>,
    limit: Option<usize>,
}

/// What a trained model is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asks {
    /// The parts it answers.
    pub parts: BTreeSet<String>,
    /// The facts that its scores are broken down by.
    pub by: BTreeSet<String>,
    /// Whether the importance of facts is measured.
    pub importance: bool,
}

/// How an experiment is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
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
    /// The fact whose share of all importance it is, in the place of accuracy.
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
    /// The dataset, in the place of the columns'.
    pub dataset: Option<String>,
    /// The value of a column's fact that counts in this row, where the column has none.
    pub value: Option<String>,
    /// How often it is run.
    pub runs: u64,
    /// The paper's numbers, a column each.
    pub theirs: Vec<Option<Theirs>>,
    /// What a reader should know.
    pub note: Option<String>,
}

/// A learner with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The learner.
    pub learner: String,
    /// Its settings.
    pub set: BTreeMap<String, String>,
    /// Whether it follows a protocol of the experiment, as networks do and searches do not.
    pub follows: bool,
}

/// A number of the paper in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Theirs {
    /// The number.
    pub value: f64,
    /// As the paper prints it.
    pub printed: String,
    /// How many runs are behind it.
    pub runs: Option<u32>,
    /// The figure behind plus or minus.
    pub spread: Option<f64>,
}

impl From<&Number> for Theirs {
    fn from(number: &Number) -> Self {
        Self { value: number.value, printed: number.printed(), runs: number.runs, spread: number.spread }
    }
}

/// One run: everything that decides its outcome.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The dataset.
    pub dataset: String,
    /// Its seed, if not the first.
    pub data_seed: Option<String>,
    /// Its settings.
    pub with: BTreeMap<String, String>,
    /// The learner.
    pub learner: String,
    /// Its settings.
    pub set: BTreeMap<String, String>,
    /// The metric, if not the benchmark's own.
    pub metric: Option<String>,
    /// What it is asked.
    pub asks: Asks,
    /// Only so many examples of a part.
    pub limit: Option<usize>,
    /// Seed of the learner.
    pub seed: u64,
}

impl Cell {
    /// What `wug` is called with to run it.
    pub fn arguments(&self) -> Vec<String> {
        let mut all = vec!["run".to_owned(), format!("{}#{}", self.dataset, self.parts(","))];
        let mut add = |option: &str, value: String| all.extend([option.to_owned(), value]);
        add("--learner", self.learner.clone());
        for (name, value) in &self.set {
            add("--set", format!("{name}={value}"));
        }
        add("--learner-seed", self.seed.to_string());
        if let Some(metric) = &self.metric {
            add("--metric", metric.clone());
        }
        for by in &self.asks.by {
            add("--by", by.clone());
        }
        if let Some(limit) = self.limit {
            add("--limit", limit.to_string());
        }
        if let Some(seed) = &self.data_seed {
            add("--seed", seed.clone());
        }
        for (name, value) in &self.with {
            add("--with", format!("{name}={value}"));
        }
        if self.asks.importance {
            all.push("--importance".to_owned());
        }
        all
    }

    /// Whether one training serves both: they differ only in what is answered and how.
    pub fn learns_as(&self, other: &Self) -> bool {
        let training = |cell: &Self| {
            let mut set = cell.set.clone();
            set.remove("oracle-length");
            let data = (cell.dataset.clone(), cell.data_seed.clone(), cell.with.clone());
            (data, cell.learner.clone(), set, cell.seed)
        };
        training(self) == training(other)
    }

    fn parts(&self, between: &str) -> String {
        let parts: Vec<&str> = self.asks.parts.iter().map(String::as_str).collect();
        parts.join(between)
    }

    /// A name for its folder: readable, and another for every other run.
    pub fn folder(&self) -> String {
        // FNV-1a: stable, and only has to tell the runs of a few tables apart.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.arguments().join("\0").bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        let place = format!("{}-{}", self.dataset.replace('/', "-"), self.parts("-"));
        format!("{}.{place}.{}-{hash:016x}", self.learner, self.seed)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}#{}, seed {}", self.learner, self.dataset, self.parts(","), self.seed)
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
    pub fn cell(&self, row: &Row, column: &Column, number: u64) -> Option<Cell> {
        let run = row.run.as_ref()?;
        let mut set = run.set.clone();
        set.extend(column.set.clone().into_iter().filter(|_| run.follows));
        set.extend(column.vary.clone());
        Some(Cell {
            dataset: row
                .dataset
                .as_ref()
                .unwrap_or(&column.dataset)
                .replace("{run}", &(number % 5 + 1).to_string()),
            data_seed: self.data_seed.clone(),
            with: self.with.clone(),
            learner: run.learner.clone(),
            set,
            metric: column.metric.clone(),
            asks: self.asks_of(column),
            limit: self.limit,
            seed: number,
        })
    }

    /// Everything that is asked of a model for this column: what all columns of its dataset show, so that they are one run.
    fn asks_of(&self, column: &Column) -> Asks {
        let mut asks = self.asks.clone();
        let alike = |other: &&Column| (&other.dataset, &other.metric) == (&column.dataset, &column.metric);
        for other in self.columns.iter().filter(alike) {
            asks.parts.insert(other.part.clone());
            asks.by.extend(other.by.iter().map(|(fact, _)| fact.clone()));
            asks.importance |= other.importance.is_some();
        }
        asks
    }

    /// Every run, each once: all first runs before all second ones, so that a table left half done has no empty cells.
    pub fn cells(&self) -> Vec<Cell> {
        self.cells_where(|_| true, |_| true)
    }

    /// The runs of the rows and the columns with these names; of all rows, or columns, where none is named.
    pub fn cells_of(&self, rows: &[String], columns: &[String]) -> Result<Vec<Cell>> {
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
        Ok(self.cells_where(|row| has(rows, &row.name), |column| has(columns, &column.name)))
    }

    fn cells_where(&self, is_row: impl Fn(&Row) -> bool, is_column: impl Fn(&Column) -> bool) -> Vec<Cell> {
        let most = self.rows.iter().map(|row| row.runs).max().unwrap_or_default();
        let (mut cells, mut known) = (Vec::new(), BTreeSet::new());
        for number in 0..most {
            for row in self.rows.iter().filter(|row| number < row.runs && is_row(row)) {
                let columns = self.columns.iter().filter(|column| is_column(column));
                for cell in columns.filter_map(|column| self.cell(row, column, number)) {
                    if known.insert(cell.clone()) {
                        cells.push(cell);
                    }
                }
            }
        }
        cells
    }
}

/// An error in the text of an experiment.
fn wrong(name: &str, what: impl fmt::Display) -> Error {
    Error::usage(format!("experiment {name}: {what}"))
}

#[cfg(test)]
mod tests;
