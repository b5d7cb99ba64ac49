//! Pairs: anyone's own inputs and targets.
//!
//! *What would a learner make of my data?* A folder with `train` and `test`, each as TSV (`input TAB target`), as JSONL
//! (`{"input":...,"target":...}`) or as Parquet with these columns, is learned from and scored by exact match. `val`, `dev` and `gen` are read where they
//! are there.
//!
//! | dataset | rows | asks for |
//! |---|---|---|
//! | `own` | those of `--data DIR` | the targets of the test rows |
//!
//! It is the only dataset, so `pairs` alone names it: `wug run pairs --data DIR --learner induced`.

pub(crate) mod files;

use std::path::Path;
use std::sync::Arc;

use wug_data::{Dataset, Error, Facts, Part, RawPart, Result, Selection, Sequences, Table, Vocab};

use crate::{Availability, Benchmark, BenchmarkInfo, Family, NativeFile, Release, Source};

/// A user's own pairs.
pub struct Pairs;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "pairs",
    title: "Pairs: your own inputs and targets",
    summary: "Inputs and targets from a folder of the user's, with a part to learn from and a part to be asked.",
    licence: "that of the data that were read",
    homepage: "docs/results/induced.md",
    citation: "",
};

/// Parts in the order they are listed; the first and the fourth must be there.
const PARTS: [&str; 5] = ["train", "val", "dev", "test", "gen"];

impl Benchmark for Pairs {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        vec![Family {
            pattern: "own",
            names: vec!["own".to_owned()],
            about: "train and test as TSV (input TAB target) or JSONL, from --data DIR",
            origin: Availability::Imported,
        }]
    }

    fn make(&self, _: &str, source: &Source) -> Result<Dataset> {
        let Source::Folder(folder, _) = source else {
            return Err(Error::usage(
                "pairs are your own: give --data DIR with train and test as TSV (input TAB target) or JSONL",
            ));
        };
        let mut parts = Vec::new();
        for name in PARTS {
            match files::find(folder, name)? {
                Some(part) if part.rows.is_empty() => return Err(Error::file(&part.path, "has no rows")),
                Some(part) => parts.push((name, part)),
                None if name == "train" || name == "test" => {
                    let what = format!("has none of {name}.tsv, {name}.jsonl and {name}.parquet");
                    return Err(Error::file(folder, what));
                }
                None => {}
            }
        }
        Ok(dataset(&parts))
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Pairs {
    fn is_released(&self, _: &str, _: &str) -> bool {
        false
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        let path = format!("{}.tsv", selection.name);
        vec![NativeFile { path, write: Box::new(|out| files::write_tsv(dataset, selection, out)) }]
    }

    fn read_gold(&self, _: &str, file: &Path) -> Result<Dataset> {
        Ok(dataset(&[("gold", files::read(file)?)]))
    }
}

fn dataset(parts: &[(&str, RawPart)]) -> Dataset {
    let mut table = Table {
        inputs: Sequences::new(Vocab::default(), " "),
        targets: Sequences::new(Vocab::default(), " "),
        facts: Facts::default(),
    };
    let mut all = Vec::new();
    for (name, part) in parts {
        let first = table.inputs.len() as u32;
        for row in &part.rows {
            table.inputs.push_words(row.input.split_whitespace());
            table.targets.push_words(row.target.split_whitespace());
        }
        all.push(Part::new(*name, (first..table.inputs.len() as u32).collect()));
    }
    Dataset { name: "pairs/own".to_owned(), table: Arc::new(table), parts: all, pictures: None }
}
