//! SLOG: structural generalization on COGS.
//!
//! *Does a learner put known structures where it never saw them?* COGS extended by relative clauses, wh-questions and centre
//! embedding, with 17 kinds of generalization. The rows are the official ones, read with `--data DIR`.
//!
//! | dataset | targets | asks for |
//! |---|---|---|
//! | `varfree` | logical forms without variables | `test` in distribution; `gen` where the folder has it, by type |
//! | `cogs` | logical forms as in COGS | the same |

use std::path::Path;
use std::sync::Arc;

use wug_data::{Dataset, Error, Facts, Part, Result, Selection, Sequences, Table, Vocab};

use crate::cogs::files::{Row, read, write_selection};
use crate::{Availability, Benchmark, BenchmarkInfo, Family, NativeFile, Release, Source};

/// The benchmark.
pub struct Slog;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "slog",
    title: "SLOG: structural generalization in semantic parsing",
    summary: "English sentences to logical forms. Training has relative clauses, questions and embeddings in some \
              positions and depths; generalization asks for others.",
    licence: "MIT",
    homepage: "https://github.com/bingzhilee/SLOG",
    citation: "@inproceedings{li-etal-2023-slog,\n  title={{SLOG}: A Structural Generalization Benchmark for \
               Semantic Parsing},\n  author={Li, Bingzhi and Donatelli, Lucia and Koller, Alexander and Linzen, Tal \
               and Yao, Yuekun and Kim, Najoung},\n  booktitle={Proceedings of EMNLP},\n  year={2023}\n}",
};

/// Datasets, with how the files of their notation are named.
const DATASETS: [(&str, &str); 2] = [("varfree", "varfreeLF"), ("cogs", "cogsLF")];

/// Parts with the names of their files; `gen` may be missing.
const PARTS: [(&str, &[&str]); 4] = [
    ("train", &["train"]),
    ("dev", &["dev"]),
    ("test", &["test"]),
    ("gen", &["generalization_sets/gen", "gen"]),
];

impl Benchmark for Slog {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        vec![Family {
            pattern: "{varfree,cogs}",
            names: DATASETS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            about: "the official rows from --data DIR, with logical forms without variables or as in COGS",
            origin: Availability::Imported,
        }]
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        let Source::Folder(folder, _) = source else {
            let what = "slog has only the official rows: give --data DIR with train_varfreeLF.tsv, test_varfreeLF.tsv";
            return Err(Error::usage(what));
        };
        let notation = DATASETS.iter().find(|(name, _)| *name == dataset).map_or("", |(_, files)| files);
        let mut rows = Vec::new();
        let mut parts = Vec::new();
        for (part, stems) in PARTS {
            let files = stems.iter().flat_map(|stem| {
                [format!("{stem}_{notation}.tsv"), format!("{stem}_{notation}.rebuilt.tsv")]
            });
            match files.map(|file| folder.join(file)).find(|file| file.exists()) {
                Some(file) => {
                    let first = rows.len() as u32;
                    rows.extend(read(&file)?);
                    parts.push(Part::new(part, (first..rows.len() as u32).collect()));
                }
                None if part == "train" || part == "test" => {
                    return Err(Error::file(folder, format!("has no {part}_{notation}.tsv")));
                }
                None => {}
            }
        }
        Ok(table(format!("slog/{dataset}"), &rows, parts))
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Slog {
    fn is_released(&self, _: &str, _: &str) -> bool {
        true
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        let name = dataset.name.rsplit('/').next().unwrap_or_default();
        let notation =
            DATASETS.iter().find(|(known, _)| *known == name).map_or("varfreeLF", |(_, files)| files);
        let path = format!("{}_{notation}.tsv", selection.name);
        vec![NativeFile { path, write: Box::new(|out| write_selection(dataset, selection, out)) }]
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        let rows = read(file)?;
        let parts = vec![Part::new("gold", (0..rows.len() as u32).collect())];
        Ok(table(format!("slog/{dataset}"), &rows, parts))
    }
}

fn table(name: String, rows: &[Row], parts: Vec<Part>) -> Dataset {
    let mut table = Table {
        inputs: Sequences::new(Vocab::default(), " "),
        targets: Sequences::new(Vocab::default(), " "),
        facts: Facts::default(),
    };
    for row in rows {
        table.inputs.push_words(row.sentence.split_whitespace());
        table.targets.push_words(row.form.split_whitespace());
    }
    table.facts.add_labels("type", rows.iter().map(|row| &row.kind));
    Dataset { name, table: Arc::new(table), parts, pictures: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_types() {
        let folder = std::env::temp_dir().join(format!("wug-slog-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("train_varfreeLF.tsv"), "A b .\tb ( a )\tin_distribution\n").unwrap();
        let missing = Slog.make("varfree", &Source::Folder(folder.clone(), 0)).err().unwrap().to_string();
        assert!(missing.contains("test_varfreeLF.tsv"), "{missing}");
        std::fs::write(folder.join("test_varfreeLF.tsv"), "A c .\tc ( a )\tin_distribution\n").unwrap();
        std::fs::write(folder.join("gen_varfreeLF.tsv"), "A d .\td ( a )\tQ_subj_active\n").unwrap();
        let dataset = Slog.make("varfree", &Source::Folder(folder.clone(), 0)).unwrap();
        assert_eq!(dataset.part("gen").unwrap().rows, [2]);
        let kind = dataset.table.facts.column("type").unwrap().value(2);
        assert!(matches!(kind, wug_data::FactValue::Label("Q_subj_active")));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
