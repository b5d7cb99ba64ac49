use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use wug_data::{Dataset, Error, Example, FactValue, Manifest, Picture, Result, Selection};

use crate::{DataSettings, EXACT, Items, Setting};

/// A family of datasets made from one language.
pub trait Benchmark: Send + Sync {
    /// What it is and where it comes from.
    fn about(&self) -> &BenchmarkInfo;

    /// The datasets, grouped as a person would list them.
    fn families(&self) -> Vec<Family>;

    /// Whether there is a dataset of this name; a benchmark without end has more than it lists.
    fn has(&self, dataset: &str) -> bool {
        self.families().iter().any(|family| family.names.iter().any(|known| known == dataset))
    }

    /// Makes a dataset (`length`, without the benchmark's name) or reads it.
    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset>;

    /// What a user may choose about its datasets.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// Makes a dataset as [`Benchmark::make`] does, with what a user chose.
    fn make_with(&self, dataset: &str, source: &Source, settings: &DataSettings) -> Result<Dataset> {
        settings.check(self.about().name, self.settings())?;
        self.make(dataset, source)
    }

    /// What draws the items of the endless stream of a dataset.
    ///
    /// # Errors
    /// If the dataset has none: its examples are read from files, or are the same as another one's.
    fn stream(&self, dataset: &str, settings: &DataSettings) -> Result<Box<dyn Items>> {
        let _ = settings;
        let name = self.about().name;
        Err(Error::usage(format!("{name}/{dataset} has no stream: its examples are read from files")))
    }

    /// The part that `score` takes when none is named.
    fn default_part(&self, dataset: &str) -> &'static str {
        let _ = dataset;
        "test"
    }

    /// Ways to judge a prediction; the first is the benchmark's own.
    fn metrics(&self) -> &'static [Metric] {
        &[EXACT]
    }

    /// A judge for one of the metrics.
    fn judge(&self, metric: &str) -> Result<Box<dyn Judge>> {
        let known = self.metrics().iter().find(|known| known.name == metric);
        known.map(|known| (known.judge)()).ok_or_else(|| self.no_metric(metric))
    }

    /// The error of a metric that it does not have.
    fn no_metric(&self, metric: &str) -> Error {
        let known: Vec<&str> = self.metrics().iter().map(|metric| metric.name).collect();
        let are = if known.len() == 1 { "is" } else { "are" };
        let name = self.about().name;
        Error::usage(format!("{name} has no metric `{metric}`; there {are}: {}", known.join(", ")))
    }

    /// Its files: those of the official release or, where there is none, of its own format.
    fn release(&self) -> Option<&dyn Release> {
        None
    }

    /// The same.
    ///
    /// # Errors
    /// If it has no files of its own.
    fn expect_release(&self) -> Result<&dyn Release> {
        let none = || format!("{} has no files of its own: use JSONL or Parquet", self.about().name);
        self.release().ok_or_else(|| Error::usage(none()))
    }

    /// Slices of a part that its paper reports; `score` prints each beside the whole.
    fn slices(&self) -> &'static [Slice] {
        &[]
    }

    /// The facts whose importance for being right its paper reports.
    fn features(&self) -> &'static [Feature] {
        &[]
    }

    /// The distributions that its paper shows of a dataset, or those of sizes and lengths.
    fn statistics(&self, dataset: &Dataset) -> Vec<Statistic> {
        crate::statistics::usual(dataset)
    }

    /// Examples below each other as an SVG document, where they are drawings.
    fn svg(&self, dataset: &Dataset, rows: &[u32]) -> Option<String> {
        let _ = (dataset, rows);
        None
    }

    /// How the target of an example comes about, where that takes more than reading the two.
    fn explain(&self, dataset: &Dataset, row: u32) -> Option<String> {
        let _ = (dataset, row);
        None
    }
}

/// The files of a benchmark's release.
pub trait Release {
    /// Whether the official release has files for this part.
    fn is_released(&self, dataset: &str, part: &str) -> bool;

    /// The examples as files of the official format.
    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>>;

    /// The folders of pictures that belong to the official files of these examples.
    fn native_pictures<'a>(
        &self,
        _dataset: &'a Dataset,
        _selections: &'a [Selection<'a>],
    ) -> Vec<NativePictures<'a>> {
        Vec::new()
    }

    /// Reads a file of the official format as a dataset with one part, whose examples are scored against.
    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset>;
}

/// What a benchmark is and where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct BenchmarkInfo {
    /// Lower-case name, as in `scan/length`.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// What it asks of a learner, in a paragraph.
    pub summary: &'static str,
    /// Licence of the released data.
    pub licence: &'static str,
    /// Where the official release is.
    pub homepage: &'static str,
    /// BibTeX of the papers.
    pub citation: &'static str,
}

/// Datasets that differ only by a number or a word.
#[derive(Debug, Clone)]
pub struct Family {
    /// How it is listed: `fewshot-{1,2,4,...,1024}-rep-{1..5}`.
    pub pattern: &'static str,
    /// The datasets of the family.
    pub names: Vec<String>,
    /// What its split asks.
    pub about: &'static str,
    /// Where the rows come from.
    pub origin: Availability,
}

/// How far a dataset can be made from rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// A function of the grammar: every seed gives the released rows, in another order.
    Rule,
    /// Drawn at random: every seed gives other rows; the released ones are read with `--data`.
    Drawn,
    /// Only the released files exist: read with `--data`.
    Imported,
}

/// Where the rows of a dataset come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Drawn with this seed.
    Seed(u64),
    /// Drawn as the release was, where its generator can be repeated.
    Official,
    /// Read from a folder: the official release, or one that wug wrote. Draws on top of it (validation parts that the
    /// folder does not have) use the seed.
    Folder(PathBuf, u64),
}

impl Source {
    /// A folder; without a seed, what wug drew on top of the rows it writes, such as handwriting, is drawn as before.
    pub fn folder(folder: &Path, seed: Option<u64>) -> Result<Self> {
        let written = || -> Result<u64> {
            let manifest = if folder.is_dir() { Manifest::read(folder)? } else { None };
            Ok(manifest.and_then(|manifest| manifest.seed?.as_u64()).unwrap_or_default())
        };
        Ok(Self::Folder(folder.to_owned(), seed.map_or_else(written, Ok)?))
    }
}

/// A way to judge predictions.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name, for `--metric`.
    pub name: &'static str,
    /// When a prediction is right.
    pub about: &'static str,
    /// Makes its judge.
    pub judge: fn() -> Box<dyn Judge>,
}

/// Decides whether predictions are right.
pub trait Judge: Send + Sync {
    /// The verdict on one prediction. Predictions are hostile: any text gets a verdict.
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict;

    /// Why a prediction is wrong, at whatever length helps, a line each; nothing if it is right.
    fn explain(&self, example: &Example<'_>, prediction: &str) -> Vec<String> {
        let verdict = self.judge(example, prediction);
        if verdict.correct { Vec::new() } else { vec![verdict.reason] }
    }

    /// The score of all predictions together, where the metric has one that is no share of right ones, as BLEU is.
    fn corpus_score(&self, _examples: &[(Example<'_>, &str)]) -> Option<f64> {
        None
    }
}

/// Whether a prediction is right, and why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it counts as right.
    pub correct: bool,
    /// Whether the judge gave up within its bound on work; counts as wrong.
    pub undecided: bool,
    /// Why it is wrong; empty if it is right.
    pub reason: String,
}

impl Verdict {
    /// Right.
    pub fn right() -> Self {
        Self { correct: true, undecided: false, reason: String::new() }
    }

    /// Wrong, because.
    pub fn wrong(reason: impl Into<String>) -> Self {
        Self { correct: false, undecided: false, reason: reason.into() }
    }
}

/// Some of a part's examples, by a fact.
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// What is printed: `SL`, `result above 100`.
    pub name: &'static str,
    /// The fact that decides.
    pub fact: &'static str,
    /// Which values belong.
    pub keeps: fn(FactValue<'_>) -> bool,
}

/// A fact as a coordinate of an example.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// The fact.
    pub fact: &'static str,
    /// Whether its logarithm counts, for facts that spread over orders of magnitude.
    pub logarithm: bool,
}

/// A table of a dataset's statistics: a row for each value, a column for each part.
#[derive(Debug, Clone)]
pub struct Statistic {
    /// Lower-case name, also of its files: `length`.
    pub name: String,
    /// What it counts.
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// For each value its number in every column.
    pub rows: Vec<(String, Vec<f64>)>,
    /// Whether the columns are shares that sum to 1, which are drawn as curves.
    pub shares: bool,
    /// What follows from the table, such as the divergence of two columns.
    pub notes: Vec<String>,
}

/// A folder of pictures of the official release, ready to be written.
pub struct NativePictures<'a> {
    /// Path in the release, ending with `/`.
    pub path: String,
    /// Names of the files.
    pub names: Vec<String>,
    /// Draws the i-th.
    pub draw: Box<dyn Fn(usize) -> Picture + Send + Sync + 'a>,
}

/// Writes the content of a file.
pub type WriteFile<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + Send + Sync + 'a>;

/// A file of the official format, ready to be written.
pub struct NativeFile<'a> {
    /// Path in the official repository; its last component is the file's name.
    pub path: String,
    /// Writes the content.
    pub write: WriteFile<'a>,
}

impl NativeFile<'_> {
    /// The name without the folders of the repository.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}
