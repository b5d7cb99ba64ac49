//! MT: short sentences, English to French and back.
//!
//! *Who learns `i am daxy` = `je suis daxiste`: can he say that he is not?* Lake and Baroni (2018, Experiment 4) train on
//! short pairs such as `i am very tired .` = `je suis tres fatigue .`, add one sentence with an invented word 1,000 times,
//! and ask for eight others with it; Bastings et al. (2018) ask in both directions.
//!
//! The papers' pairs are from Tatoeba, and are read with `--data`. Without, a grammar of our own draws pairs of the same
//! shape: pronouns and contractions, gender and number, negation, adverbs, and more than 300 predicates. As in the
//! original a sentence has more than one translation (`you` is `tu` or `vous`, `je suis` is `i am` or `i m`).
//!
//! | dataset | train | test | asks for |
//! |---|---|---|---|
//! | `en-fr` | 10,000 | 1,180 | translations; `tired` in eight sentences that train does not have |
//! | `en-fr-daxy` | 11,000 | 1,180 | the same, and an invented word in the eight, seen in one sentence 1,000 times |
//! | `fr-en`, `fr-en-daxy` | the same | the same | the same the other way round |
//!
//! Each has the parts `daxy` and `tired` (the eight sentences), and `val-random` (one line of train in ten) with
//! `train-wo-random`.
//!
//! Example: `he is not always at home .` -> `il n est pas toujours a la maison .`

pub mod bleu;
pub mod files;
pub mod grammar;
pub mod lexicon;
pub mod splits;
mod stream;

use std::path::Path;
use std::sync::Arc;

use wug_data::{Dataset, Error, Part, RawPart, Result, Selection, Table, read_fact};

use crate::import::written_parts;
use crate::pair_files::{as_given, read_pairs, write_lines};
use crate::{
    Availability, Benchmark, BenchmarkInfo, DataSettings, EXACT, Family, Items, Metric, NativeFile, Release,
    Source, read_written_by_wug,
};

pub use bleu::{BLEU, Bleu, bleu, tokenised};
pub use files::normalised;

/// The benchmark MT.
pub struct Mt;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "mt",
    title: "MT: short sentences between English and French",
    summary: "Sentences such as `i am very tired .` are translated. An invented adjective is taught in one sentence and \
              asked for in eight others.",
    licence: "none for what wug makes; the papers' pairs are from Tatoeba (CC BY 2.0 FR), their files CC BY-NC 4.0",
    homepage: "https://github.com/facebookresearch/NACS",
    citation: "@inproceedings{lake2018generalization,
  title     = {Generalization without Systematicity: On the Compositional Skills of Sequence-to-Sequence Recurrent Networks},
  author    = {Lake, Brenden M. and Baroni, Marco},
  booktitle = {Proceedings of the 35th International Conference on Machine Learning},
  year      = {2018}
}
@inproceedings{bastings2018jump,
  title     = {Jump to Better Conclusions: SCAN both Left and Right},
  author    = {Bastings, Jasmijn and Baroni, Marco and Weston, Jason and Cho, Kyunghyun and Kiela, Douwe},
  booktitle = {Proceedings of the EMNLP Workshop BlackboxNLP},
  year      = {2018}
}",
};

/// A dataset: which way, and with the invented word or not.
#[derive(Clone, Copy)]
struct Task {
    from_french: bool,
    with_daxy: bool,
}

fn task(dataset: &str) -> Result<Task> {
    let (from_french, with_daxy) = match dataset {
        "en-fr" => (false, false),
        "en-fr-daxy" => (false, true),
        "fr-en" => (true, false),
        "fr-en-daxy" => (true, true),
        _ => return Err(Error::usage(format!("mt has no dataset `{dataset}`"))),
    };
    Ok(Task { from_french, with_daxy })
}

impl Benchmark for Mt {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        let family = |pattern: &'static str, about| Family {
            pattern,
            names: vec![pattern.to_owned(), format!("{pattern}-daxy")],
            about,
            origin: Availability::Drawn,
        };
        vec![
            Family {
                pattern: "en-fr{,-daxy}",
                ..family("en-fr", "English to French, with or without an invented word")
            },
            Family {
                pattern: "fr-en{,-daxy}",
                ..family("fr-en", "French to English, with or without an invented word")
            },
        ]
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        let task = task(dataset)?;
        let name = format!("mt/{dataset}");
        let (table, parts) = match source {
            Source::Seed(seed) => splits::dataset(&splits::draw(*seed), task.with_daxy, *seed)?,
            Source::Folder(path, seed) => match read_written(path, &name, task)? {
                Some(read) => read,
                None => splits::dataset(&files::read(path, task.with_daxy, *seed)?, task.with_daxy, *seed)?,
            },
            Source::Official => {
                return Err(Error::usage(format!(
                    "the release of {name} cannot be repeated from a seed: read it with --data DIR"
                )));
            }
        };
        let table = if task.from_french { Arc::new(Table::clone(&table).reversed()) } else { table };
        Ok(Dataset { name, table, parts, pictures: None })
    }

    fn stream(&self, dataset: &str, settings: &DataSettings) -> Result<Box<dyn Items>> {
        settings.check("mt", &[])?;
        Ok(stream::stream(task(dataset)?))
    }

    fn metrics(&self) -> &'static [Metric] {
        &[BLEU, EXACT]
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Mt {
    fn is_released(&self, _: &str, _: &str) -> bool {
        true
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        let Ok(task) = task(dataset.name.trim_start_matches("mt/")) else { return Vec::new() };
        let stem = files::nacs_path(task.with_daxy, &selection.name);
        let (english, french) = if task.from_french {
            (&dataset.table.targets, &dataset.table.inputs)
        } else {
            (&dataset.table.inputs, &dataset.table.targets)
        };
        // As released: English is the source, whichever way is asked.
        [(".src", english), (".trg", french)]
            .map(|(suffix, column)| NativeFile {
                path: format!("{stem}{suffix}"),
                write: Box::new(move |out| {
                    write_lines(selection, out, |row, line| column.get(row).write(line))
                }),
            })
            .into()
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        let task = task(dataset)?;
        let mut raw = read_pairs(file)?;
        if task.from_french {
            swap(&mut raw);
        }
        Ok(as_given(format!("mt/{dataset}"), raw))
    }
}

fn swap(raw: &mut RawPart) {
    for row in &mut raw.rows {
        std::mem::swap(&mut row.input, &mut row.target);
    }
}

/// The table, English first, and the parts of a folder that wug wrote; `None` for any other.
fn read_written(folder: &Path, name: &str, task: Task) -> Result<Option<(Arc<Table>, Vec<Part>)>> {
    let Some(sizes) = folder.is_dir().then(|| written_parts(folder, name)).transpose()?.flatten() else {
        return Ok(None);
    };
    let (mut parts, mut predicates) = (Vec::new(), Vec::new());
    for (part, _) in sizes {
        let raw = if let Some(mut raw) = read_written_by_wug(folder, name, &part)? {
            if task.from_french {
                swap(&mut raw);
            }
            predicates.extend(read_fact(&raw.path, "predicate").unwrap_or_default());
            raw
        } else {
            let path = files::nacs_path(task.with_daxy, &part);
            let missing = || Error::file(folder, format!("lacks {path}.src, which wug wrote"));
            files::part_at(folder, &path)?.ok_or_else(missing)?
        };
        parts.push((part, raw.rows.into_iter().map(|row| (row.input, row.target)).collect::<Vec<_>>()));
    }
    let rows: usize = parts.iter().map(|(_, pairs)| pairs.len()).sum();
    let predicates = (predicates.len() == rows).then_some(&predicates);
    Ok(Some(splits::as_read(parts, predicates)))
}

#[cfg(test)]
mod tests;
