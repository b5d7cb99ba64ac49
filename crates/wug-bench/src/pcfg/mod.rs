//! PCFG SET: nested functions on strings.
//!
//! *Does a learner compose functions that it knows?* Sources apply ten functions in prefix notation to strings of letters
//! with numbers; targets are the results. The rows are the official ones, read with `--data DIR`.
//!
//! | dataset | rows | asks for |
//! |---|---|---|
//! | `set` | `train`, `dev`, `test` | new rows of the same distribution |
//! | `systematicity` | those of the folder of that name | pairs of functions that training has not together |
//! | `productivity` | those of the folder of that name | more functions than any row of training has |

use std::path::Path;
use std::sync::Arc;

use wug_data::{Dataset, Error, Facts, Lines, Part, Result, Selection, Sequences, Table, Vocab};

use crate::{Availability, Benchmark, BenchmarkInfo, Family, NativeFile, Release, Source};

/// The benchmark.
pub struct Pcfg;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "pcfg",
    title: "PCFG SET: compositions of string functions",
    summary: "Functions such as reverse, repeat and append, nested in prefix notation over an alphabet of 520 letters; \
              the target is the resulting string.",
    licence: "MIT",
    homepage: "https://github.com/i-machine-think/am-i-compositional",
    citation: "@article{hupkes-etal-2020-compositionality,\n  title={Compositionality Decomposed: How do Neural Networks \
               Generalise?},\n  author={Hupkes, Dieuwke and Dankers, Verna and Mul, Mathijs and Bruni, Elia},\n  \
               journal={Journal of Artificial Intelligence Research},\n  volume={67},\n  year={2020}\n}",
};

const DATASETS: [&str; 3] = ["set", "systematicity", "productivity"];

type Pair = (String, String);

impl Benchmark for Pcfg {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        vec![Family {
            pattern: "{set,systematicity,productivity}",
            names: DATASETS.map(str::to_owned).to_vec(),
            about: "the official rows from --data DIR: train.src and train.tgt, or train.tsv; dev and test likewise",
            origin: Availability::Imported,
        }]
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        let Source::Folder(folder, _) = source else {
            return Err(Error::usage(
                "pcfg has only the official rows: give --data DIR with train.src, train.tgt, ...",
            ));
        };
        let inside = folder.join(dataset);
        let folder = if inside.is_dir() { &inside } else { folder };
        let (mut rows, mut parts) = (Vec::new(), Vec::new());
        for part in ["train", "dev", "test"] {
            match read_part(folder, part)? {
                Some(more) => {
                    let first = rows.len() as u32;
                    rows.extend(more);
                    parts.push(Part::new(part, (first..rows.len() as u32).collect()));
                }
                None if part == "dev" => {}
                None => {
                    let what = format!("has neither {part}.src with {part}.tgt nor {part}.tsv");
                    return Err(Error::file(folder, what));
                }
            }
        }
        Ok(table(format!("pcfg/{dataset}"), &rows, parts))
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Pcfg {
    fn is_released(&self, _: &str, _: &str) -> bool {
        true
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        let side = |extension: &str, is_source: bool| NativeFile {
            path: format!("{}.{extension}", selection.name),
            write: Box::new(move |out| {
                for (_, row) in selection.examples() {
                    let example = dataset.table.example(row);
                    writeln!(out, "{}", if is_source { example.input } else { example.target })?;
                }
                Ok(())
            }),
        };
        vec![side("src", true), side("tgt", false)]
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        let rows = read_tsv(file)?;
        let parts = vec![Part::new("gold", (0..rows.len() as u32).collect())];
        Ok(table(format!("pcfg/{dataset}"), &rows, parts))
    }
}

/// The rows of a part: `.src` beside `.tgt`, a file of pairs, or what could be recovered of one (`.partial.tsv`).
fn read_part(folder: &Path, part: &str) -> Result<Option<Vec<Pair>>> {
    let (source, target) = (folder.join(format!("{part}.src")), folder.join(format!("{part}.tgt")));
    if source.exists() && target.exists() {
        let (sources, targets) = (read_lines(&source)?, read_lines(&target)?);
        if sources.len() != targets.len() {
            let what = format!("has {} lines, {} has {}", targets.len(), source.display(), sources.len());
            return Err(Error::file(&target, what));
        }
        return Ok(Some(sources.into_iter().zip(targets).collect()));
    }
    for name in [format!("{part}.tsv"), format!("{part}.partial.tsv")] {
        let file = folder.join(name);
        if file.exists() {
            return read_tsv(&file).map(Some);
        }
    }
    Ok(None)
}

fn read_lines(file: &Path) -> Result<Vec<String>> {
    let mut lines = Lines::open(file)?;
    let mut all = Vec::new();
    while let Some((_, text)) = lines.next()? {
        all.push(text.to_owned());
    }
    Ok(all)
}

fn read_tsv(file: &Path) -> Result<Vec<Pair>> {
    let mut lines = Lines::open(file)?;
    let mut all = Vec::new();
    while let Some((line, text)) = lines.next()? {
        let Some((input, target)) = text.split_once('\t') else {
            return Err(Error::line(file, line, "expected input and target with a tab between them"));
        };
        all.push((input.to_owned(), target.to_owned()));
    }
    Ok(all)
}

/// Functions are spelled in lower case, letters of the alphabet in upper case.
fn functions(input: &str) -> i64 {
    input.split_whitespace().filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).count() as i64
}

fn table(name: String, rows: &[Pair], parts: Vec<Part>) -> Dataset {
    let mut table = Table {
        inputs: Sequences::new(Vocab::default(), " "),
        targets: Sequences::new(Vocab::default(), " "),
        facts: Facts::default(),
    };
    for (input, target) in rows {
        table.inputs.push_words(input.split_whitespace());
        table.targets.push_words(target.split_whitespace());
    }
    table.facts.add_numbers("functions", rows.iter().map(|(input, _)| functions(input)));
    Dataset { name, table: Arc::new(table), parts, pictures: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_are_read() {
        let folder = std::env::temp_dir().join(format!("wug-pcfg-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("train.partial.tsv"), "reverse copy A1 B2\tB2 A1\n").unwrap();
        std::fs::write(folder.join("test.src"), "copy A1\nrepeat B2\n").unwrap();
        std::fs::write(folder.join("test.tgt"), "A1\n").unwrap();
        let uneven = Pcfg.make("set", &Source::Folder(folder.clone(), 0)).err().unwrap().to_string();
        assert!(uneven.contains("has 1 lines"), "{uneven}");
        std::fs::write(folder.join("test.tgt"), "A1\nB2 B2\n").unwrap();
        let dataset = Pcfg.make("set", &Source::Folder(folder.clone(), 0)).unwrap();
        assert_eq!(dataset.part("test").unwrap().rows, [1, 2]);
        let depth = dataset.table.facts.column("functions").unwrap().value(0);
        assert!(matches!(depth, wug_data::FactValue::Number(2)));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
