//! MNS: numbers in figures, and the rule that ties them together.
//!
//! *Given two panels, do you know the third?* Each panel is a figure with numbers; a calculation over the numbers of
//! the panel, or of each group in it, comes to the same constant. One number of the last panel is asked for ("Machine
//! Number Sense", Zhang et al., 2020).
//!
//! | dataset | train | val | test | asks for |
//! |---|---|---|---|---|
//! | `circle` | 168,000 | 56,000 | 56,000 | the missing number; 28 conditions of 10,000 problems, as released |
//! | `shapes` | 169,200 | 56,400 | 56,400 | the same with all 42 figures of the paper; 94 conditions of 3,000 |
//! | `circle-panels-{2,4,5,6,8}` | 16,800 | 5,600 | 5,600 | fewer or more panels to learn the rule from |
//! | `circle-to-{20,50,200,500,999}` | 16,800 | 5,600 | 5,600 | numbers up to another bound than 99 |
//!
//! Problem `i` of a part has condition `i` modulo the number of conditions, so every prefix is balanced.
//!
//! Example: `combination overlap : 54 22 | 67 9 | 17 ?` -> `59`, because 54 + 22 = 76, 67 + 9 = 76, 17 + 59 = 76.
//! After the type and the layout, the input has the numbers of each panel in position order, ` = 45` after a panel that
//! shows its constant, and before the colon the shape where it is no circle.

pub mod derivations;
pub mod drawing;
mod files;
pub mod grammar;
pub mod groups;
pub mod meaning;
mod npz;
pub mod problem;
pub mod sample;
pub mod splits;
mod stream;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wug_data::{Dataset, Error, Part, Pictures, Result, Selection, Table, read_jsonl};

use crate::{
    Benchmark, BenchmarkInfo, DataSettings, Family, Items, NativeFile, Release, Setting, SettingKind, Source,
};
use drawing::{Figures, Jitter};
use files::Imported;
use problem::Problem;
use sample::Sampler;
use splits::{Design, Rows};

/// The benchmark MNS.
pub struct Mns;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "mns",
    title: "MNS: number puzzles in geometric figures",
    summary: "Three panels show the same figure with numbers in it. One calculation explains the numbers of every \
              panel, or of every group of neighbouring or symmetrical numbers; the missing number follows from it.",
    licence: "MIT (the released code; what wug makes from the grammar carries no licence of its own)",
    homepage: "https://github.com/zwh1999anne/Machine-Number-Sense-Dataset",
    citation: "@inproceedings{zhang2020machine,
  title     = {Machine Number Sense: A Dataset of Visual Arithmetic Problems for Abstract and Relational Reasoning},
  author    = {Zhang, Wenhe and Zhang, Chi and Zhu, Yixin and Zhu, Song-Chun},
  booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},
  year      = {2020}
}",
};

/// Numbers that are moved farther than this touch the lines of the figure.
const MAX_JITTER: u64 = 20;

static SETTINGS: [Setting; 1] = [Setting {
    name: "jitter",
    default: SettingKind::Whole { default: 0, least: 0, most: MAX_JITTER },
    about: "how far each number may stand beside its place, in pixels of 300",
}];

impl Benchmark for Mns {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        splits::families()
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        self.make_with(dataset, source, &DataSettings::default())
    }

    fn settings(&self) -> &'static [Setting] {
        &SETTINGS
    }

    fn make_with(&self, dataset: &str, source: &Source, settings: &DataSettings) -> Result<Dataset> {
        let pixels = jitter(settings)?;
        let seed = if let Source::Seed(seed) | Source::Folder(_, seed) = source { *seed } else { 0 };
        let jitter = (pixels > 0).then(|| Jitter { pixels, dataset: format!("mns/{dataset}"), seed });
        let design = design(dataset)?;
        let (table, parts, pictures) = match source {
            Source::Seed(seed) => {
                let (table, parts) = design.make(*seed)?;
                (table, parts, Vec::new())
            }
            Source::Folder(folder, _) => {
                let Imported { table, parts, pictures } = files::import(folder, &design)?;
                (table, parts, pictures)
            }
            Source::Official => {
                return Err(Error::usage(
                    "the release of MNS cannot be repeated from a seed: read it with --data DIR",
                ));
            }
        };
        Ok(dataset_of(dataset, table, parts, pictures, jitter))
    }

    fn stream(&self, dataset: &str, settings: &DataSettings) -> Result<Box<dyn Items>> {
        stream::stream(design(dataset)?, jitter(settings)?)
    }

    fn svg(&self, dataset: &Dataset, rows: &[u32]) -> Option<String> {
        let problem = |&row: &u32| Problem::read(dataset.table.example(row).input.words()).ok();
        let problems: Vec<Problem> = rows.iter().map(problem).collect::<Option<_>>()?;
        Some(drawing::svg_sheet(&problems))
    }

    fn explain(&self, dataset: &Dataset, row: u32) -> Option<String> {
        files::derivation(dataset, row).map(|(problem, derivation)| derivation.explain(&problem))
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Mns {
    fn is_released(&self, dataset: &str, _part: &str) -> bool {
        dataset == "circle"
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        let design = design(dataset.name.trim_start_matches("mns/"));
        design.and_then(|design| files::native(dataset, selection, &design)).unwrap_or_default()
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        let sampler = Sampler::new(design(dataset)?.parameters)?;
        let is_npz = file.extension().is_some_and(|extension| extension == "npz");
        let (rows, pictures) = if is_npz {
            (vec![files::read_npz(file, &sampler)?], vec![file.to_owned()])
        } else {
            (files::read_rows(&read_jsonl(file)?, &sampler, None)?, Vec::new())
        };
        let parts = vec![Part::new("test", (0..rows.len() as u32).collect())];
        Ok(dataset_of(dataset, Rows { rows }.table(), parts, pictures, None))
    }
}

/// How far a number may stand beside its place, as a user chose.
fn jitter(settings: &DataSettings) -> Result<u8> {
    settings.check("mns", &SETTINGS)?;
    let mut pixels = 0;
    settings.apply("jitter", &mut pixels)?;
    Ok(pixels)
}

fn design(dataset: &str) -> Result<Design> {
    Design::named(dataset).ok_or_else(|| Error::usage(format!("mns has no dataset `{dataset}`")))
}

fn dataset_of(
    name: &str,
    table: Table,
    parts: Vec<Part>,
    pictures: Vec<PathBuf>,
    jitter: Option<Jitter>,
) -> Dataset {
    let table = Arc::new(table);
    let pictures: Arc<dyn Pictures> = Arc::new(Figures::new(&table, &parts, pictures, jitter));
    Dataset { name: format!("mns/{name}"), table, parts, pictures: Some(pictures) }
}
