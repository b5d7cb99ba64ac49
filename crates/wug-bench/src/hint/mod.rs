//! HINT: handwritten arithmetic with integers.
//!
//! *Does a learner that has seen short sums of small numbers read, parse and compute longer and larger ones?* An
//! expression, as symbols or as handwriting, is mapped to its value (Li et al., 2023). Only the value is given, so
//! perception, syntax and semantics must be learnt together.
//!
//! | dataset | train | val | test | asks for |
//! |---|---|---|---|---|
//! | `symbol` | 998,000 | 4,698 | 46,620 | the value of an expression of symbols |
//! | `image` | the same | the same | the same | the value of a handwritten expression |
//! | `fewshot-{x,y}` | 1,100 | 491, 493 | 4,900 | a new number from a few examples |
//! | `fewshot-{a,b,c,d}` | 1,000 | 470 | 4,700 | a new operator from a few examples |
//! | `fewshot-{...}-image` | the same | the same | the same | the same in handwriting |
//!
//! | subset of val and test | operators | values | rows of test |
//! |---|---|---|---|
//! | `I` | as train | as train | 9,980, seen in train |
//! | `SS` | up to 10 | up to 100 | 8,000, new |
//! | `LS` | 11 to 20 | up to 100 | 10,000 |
//! | `SL` | up to 10 | 101 to 10,000 | 8,640 |
//! | `LL` | 11 to 20 | 101 to 10,000 | 10,000 |
//!
//! Subtraction stops at 0, division rounds up: `3-5*(2/4)` -> `0`, `7/2*(9*5)` -> `180`.

pub mod expression;
pub mod files;
pub mod grammar;
pub mod import;
pub mod meaning;
pub mod pictures;
pub mod pool;
pub mod python;
pub mod score;
pub mod splits;
pub mod statistics;
mod stream;
pub mod table;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use wug_data::{Dataset, Error, Part, Result, Selection, Table};
use wug_ink::{GlyphSource, Layout};

use crate::{
    Availability, Benchmark, BenchmarkInfo, DataSettings, Family, Feature, Items, Metric, NativeFile,
    NativePictures, Release, Setting, SettingKind, Slice, Source, Statistic,
};
use grammar::Symbol;
use pictures::{Strips, Style};
use splits::{Design, MAX_OPERATORS, MAX_VALUE, QUOTA};

/// The benchmark HINT.
pub struct Hint;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "hint",
    title: "HINT: handwritten arithmetic with integers",
    summary: "Arithmetic expressions, as symbols or in handwriting, are mapped to their values. Subtraction stops at 0 \
              and division rounds up. Test asks for expressions that are longer (L.), have larger values (.L) or \
              both (LL) than those of train.",
    licence: "CC BY-NC 4.0 (the released files; what wug makes from the grammar carries no licence of its own)",
    homepage: "https://liqing-ustc.github.io/HINT/",
    citation: "@inproceedings{li2023minimalist,
  title     = {A Minimalist Dataset for Systematic Generalization of Perception, Syntax, and Semantics},
  author    = {Li, Qing and Huang, Siyuan and Hong, Yining and Zhu, Yixin and Wu, Ying Nian and Zhu, Song-Chun},
  booktitle = {International Conference on Learning Representations},
  year      = {2023}
}",
};

const NEW_SYMBOLS: &str = "xyabcd";

static SETTINGS: [Setting; 13] = [
    whole("train-operators", 10, 0..=MAX_OPERATORS as u64, "the most operators of an expression in train"),
    whole("operators", 20, 0..=MAX_OPERATORS as u64, "the most operators of an expression"),
    whole("train-value", 100, 12..=MAX_VALUE - 1, "the largest value of any part of an expression in train"),
    whole("value", 10_000, 13..=MAX_VALUE, "the largest value of any part of an expression"),
    whole("train", 100_000, QUOTA, "expressions of each number of operators in train (few-shot: 100)"),
    whole("val", 100, QUOTA, "the same in each subset of val (few-shot: 10)"),
    whole("test", 1000, QUOTA, "the same in each subset of test (few-shot: 100)"),
    Setting {
        name: "glyphs",
        default: SettingKind::Text("built-in"),
        about: "images of symbols: built-in, inkml:DIR, images:DIR",
    },
    Setting {
        name: "pen",
        default: SettingKind::Text("writer"),
        about: "the writer's own, thin (one pixel, as in the release), or a width from 0.5 to 10",
    },
    whole("height", 45, Layout::HEIGHT, "height of an image; the models of the paper see 32"),
    whole("gap", 0, Layout::GAP, "the widest gap between symbols, in pixels of 45"),
    whole(
        "baseline",
        0,
        Layout::BASELINE,
        "how far a symbol may be above or below the line, in pixels of 45",
    ),
    Setting {
        name: "scale",
        default: SettingKind::Number { default: 0.0, least: 0.0, most: Layout::MAX_SCALE },
        about: "how much smaller a symbol may be",
    },
];

const fn whole(name: &'static str, default: u64, range: RangeInclusive<u64>, about: &'static str) -> Setting {
    let default = SettingKind::Whole { default, least: *range.start(), most: *range.end() };
    Setting { name, about, default }
}

impl Benchmark for Hint {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        let few_shot =
            |end: &str| NEW_SYMBOLS.chars().map(|symbol| format!("fewshot-{symbol}{end}")).collect();
        let family = |pattern, names, about| Family { pattern, names, about, origin: Availability::Drawn };
        vec![
            family(
                "symbol",
                vec!["symbol".to_owned()],
                "longer expressions and larger values than train has",
            ),
            family("image", vec!["image".to_owned()], "the same in handwriting"),
            family("fewshot-{x,y,a,b,c,d}", few_shot(""), "a new number or operator from 1,000 examples"),
            family("fewshot-{x,y,a,b,c,d}-image", few_shot("-image"), "the same in handwriting"),
        ]
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        self.make_with(dataset, source, &DataSettings::default())
    }

    fn settings(&self) -> &'static [Setting] {
        &SETTINGS
    }

    fn make_with(&self, dataset: &str, source: &Source, settings: &DataSettings) -> Result<Dataset> {
        settings.check("hint", &SETTINGS)?;
        let design = design(dataset, settings)?;
        let style = Style::of(settings)?;
        if *source == Source::Official && design != default_design(dataset) {
            return Err(Error::usage(
                "--seed official is the released dataset, whose sizes and bounds are fixed",
            ));
        }
        let (table, parts, images) = rows(dataset, source, &design)?;
        let table = Arc::new(table);
        let seed = if let Source::Seed(seed) | Source::Folder(_, seed) = source { *seed } else { 0 };
        let mut made =
            Dataset { name: format!("hint/{dataset}"), table: table.clone(), parts, pictures: None };
        if dataset.ends_with("image") {
            made.pictures = Some(Arc::new(handwriting(&made, source, style, images, seed)?));
        }
        Ok(made)
    }

    fn stream(&self, dataset: &str, settings: &DataSettings) -> Result<Box<dyn Items>> {
        settings.check("hint", &SETTINGS)?;
        let style = dataset.ends_with("image").then(|| Style::of(settings)).transpose()?;
        stream::stream(design(dataset, settings)?, style.as_ref())
    }

    fn metrics(&self) -> &'static [Metric] {
        &[score::EXACT_RESULT, score::GPT3_NOTEBOOK]
    }

    fn slices(&self) -> &'static [Slice] {
        &score::SLICES
    }

    fn features(&self) -> &'static [Feature] {
        &score::FEATURES
    }

    fn statistics(&self, dataset: &Dataset) -> Vec<Statistic> {
        statistics::statistics(dataset)
    }

    fn explain(&self, dataset: &Dataset, row: u32) -> Option<String> {
        expression::derivation(&dataset.table.inputs.get(row).to_string())
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Hint {
    fn is_released(&self, _dataset: &str, _part: &str) -> bool {
        true
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        let name = dataset.name.trim_start_matches("hint/");
        let folder = if name.ends_with("image") { "image" } else { "symbol" };
        let path = format!("{folder}/{}", files::file_name(new_symbol(name), &selection.name));
        let write = |out: &mut dyn std::io::Write| files::write(dataset, selection, out);
        let mut native = vec![NativeFile { path, write: Box::new(write) }];
        if dataset.pictures.is_some() {
            let path = format!("{folder}/sym_{}.json", selection.name);
            let write = |out: &mut dyn std::io::Write| files::write_listing(dataset, selection, out);
            native.push(NativeFile { path, write: Box::new(write) });
        }
        native
    }

    fn native_pictures<'a>(
        &self,
        dataset: &'a Dataset,
        selections: &'a [Selection<'a>],
    ) -> Vec<NativePictures<'a>> {
        pictures::strips(dataset).map(|strips| strips.folders(selections)).unwrap_or_default()
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        let design = default_design(dataset);
        let checked = files::read(file)?;
        let mut subsets = Vec::with_capacity(checked.rows.len());
        for (i, row) in checked.rows.iter().enumerate() {
            let place = splits::SUBSETS.iter().position(|subset| row.subset.as_deref() == Some(*subset));
            let subset = match (&row.subset, place) {
                (_, Some(place)) => place as u8,
                (None, None) => design.subset_unseen(&row.prefix),
                (Some(said), None) => return Err(checked.fail(i, format!("no subset is called `{said}`"))),
            };
            subsets.push(subset);
        }
        let prefixes: Vec<Vec<u8>> = checked.rows.into_iter().map(|row| row.prefix).collect();
        let rows = (0..prefixes.len() as u32).collect();
        Ok(Dataset {
            name: format!("hint/{dataset}"),
            table: Arc::new(table::table_of(&prefixes, &subsets)),
            parts: vec![Part::new("test", rows)],
            pictures: None,
        })
    }
}

/// The new symbol of a few-shot dataset.
fn new_symbol(dataset: &str) -> Option<Symbol> {
    dataset.strip_prefix("fewshot-").and_then(|rest| rest.chars().next()).and_then(Symbol::of)
}

fn default_design(dataset: &str) -> Design {
    new_symbol(dataset).map_or_else(Design::main, Design::few_shot)
}

/// Sizes and bounds of a dataset as a user chose them.
fn design(dataset: &str, settings: &DataSettings) -> Result<Design> {
    let mut design = default_design(dataset);
    settings.apply("train-operators", &mut design.train_operators)?;
    settings.apply("operators", &mut design.operators)?;
    settings.apply("train-value", &mut design.train_value)?;
    settings.apply("value", &mut design.value)?;
    settings.apply("train", &mut design.train)?;
    settings.apply("val", &mut design.val)?;
    settings.apply("test", &mut design.test)?;
    design.check()?;
    Ok(design)
}

/// By part, row and token: the image that a file names.
type Images = Vec<Vec<Vec<String>>>;

/// Table and parts of a dataset from any source.
fn rows(dataset: &str, source: &Source, design: &Design) -> Result<(Table, Vec<Part>, Images)> {
    let pools = match source {
        Source::Folder(folder, _) => {
            let imported = import::import(folder, dataset, design)?;
            let table = table::table_of(&imported.prefixes, &imported.subsets);
            return Ok((table, imported.parts, imported.images));
        }
        Source::Official => splits::official(design)?,
        Source::Seed(seed) => splits::fresh(design, *seed)?,
    };
    let (parts, subsets) = splits::parts(design, &pools);
    Ok((table::table(&pools, &subsets), parts, Vec::new()))
}

/// The handwriting of a dataset. A folder that names the images of every token and has them keeps them.
fn handwriting(
    dataset: &Dataset,
    source: &Source,
    mut style: Style,
    images: Images,
    seed: u64,
) -> Result<Strips> {
    let all_named = images.iter().all(|part| part.iter().all(|row| !row.is_empty()));
    let keeps = match source {
        Source::Folder(folder, _) if all_named && style.glyphs == GlyphSource::BuiltIn => {
            Some(folder).filter(|folder| folder.join("symbol_images").is_dir())
        }
        _ => None,
    };
    if let Some(folder) = keeps {
        style.glyphs = GlyphSource::Images(folder.clone());
    }
    let mut strips = Strips::new(dataset.table.clone(), &dataset.parts, &style, seed)?;
    if keeps.is_some() {
        strips.give(&images)?;
    }
    Ok(strips)
}
