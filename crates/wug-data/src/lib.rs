//! Datasets: rows in flat buffers, parts that name rows, files that hold them.
//!
//! A [`Dataset`] has one [`Table`] of examples and any number of [`Part`]s, which are lists of rows. Parts may share
//! rows and repeat them (SCAN's `jump` stands 1,467 times in one training part), and cost four bytes a row.
//!
//! Random choices come from [`Streams`]: item `i` of a part has a stream of its own, so what it is does not depend on
//! threads, order, or how many items are asked for.
//!
//! ```
//! use std::sync::Arc;
//! use wug_data::{Dataset, Facts, Part, Sequences, Streams, Table, Vocab};
//!
//! let column = |words: [&str; 3]| {
//!     let mut column = Sequences::new(words.join(" ").split(' ').collect::<Vocab>(), " ");
//!     words.iter().for_each(|text| column.push_words(text.split(' ')));
//!     column
//! };
//! let inputs = column(["jump", "walk", "jump twice"]);
//! let targets = column(["JUMP", "WALK", "JUMP JUMP"]);
//! let mut rows: Vec<u32> = (0..3).collect();
//! Streams::new("toy/commands", "split", 0).item(0).shuffle(&mut rows);
//! let (train, test) = rows.split_at(2);
//! let dataset = Dataset {
//!     name: "toy/commands".to_owned(),
//!     table: Arc::new(Table { inputs, targets, facts: Facts::default() }),
//!     parts: vec![Part::new("train", train.to_vec()), Part::new("test", test.to_vec())],
//!     pictures: None,
//! };
//! let test = dataset.select("test")?;
//! assert_eq!(test.examples().next().unwrap().0, "test_00000000");
//! assert_eq!(dataset.table.example(2).target.to_string(), "JUMP JUMP");
//! # Ok::<(), wug_data::Error>(())
//! ```

mod dataset;
mod error;
mod facts;
mod folder;
mod format;
mod jsonl;
mod lines;
mod parquet;
mod partial;
mod picture;
mod predictions;
mod python;
mod settings;
mod stream;
mod text;

pub use dataset::{Dataset, Example, InputKind, Part, Selection, Sequences, Table, Tokens};
pub use error::{Error, Result};
pub use facts::{Fact, FactValue, Facts, Values};
pub use folder::{FileEntry, FileWriter, Folder, MANIFEST, Manifest, PartSize, Summed};
pub use format::{format_duration, parse_duration, thousands, truncate};
pub use jsonl::{picture_path, read_jsonl, write_image_list, write_jsonl, write_jsonl_counted};
pub use lines::{Lines, MAX_LINE};
pub use parquet::{panic_is_caught, read_parquet, write_parquet, write_parquet_counted};
pub use partial::{is_interrupted, remove_partial_output, remove_stale_output, write_file};
pub use picture::{Picture, Pictures, sheet};
pub use predictions::{Prediction, PredictionFormat, Predictions};
pub use python::PythonRandom;
pub use settings::{Preset, Setting, SettingKind, read_setting};
pub use stream::{Stream, Streams};
pub use wug_grammar::Vocab;

use std::path::PathBuf;

/// The values of one fact in a JSONL or Parquet file that wug wrote, row by row.
pub fn read_fact(path: &std::path::Path, fact: &str) -> Result<Vec<String>> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("parquet") => parquet::read_parquet_fact(path, fact),
        _ => jsonl::read_jsonl_fact(path, fact),
    }
}

/// One row of a file, before anyone has checked what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRow {
    /// Line of the file, from 1 (row, for Parquet).
    pub line: usize,
    /// Input tokens separated by spaces.
    pub input: String,
    /// Target tokens separated by spaces.
    pub target: String,
}

/// The rows of one file, before anyone has checked what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawPart {
    /// Where they come from.
    pub path: PathBuf,
    /// In the order of the file.
    pub rows: Vec<RawRow>,
}

impl RawPart {
    /// An error about one row.
    pub fn fail(&self, row: &RawRow, what: impl Into<String>) -> Error {
        Error::line(&self.path, row.line, what)
    }
}
