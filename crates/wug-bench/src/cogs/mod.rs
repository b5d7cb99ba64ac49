//! COGS: sentences to logical forms.
//!
//! *Does a learner that knows `hedgehog` as a subject know it as an object?* English sentences of a small grammar are
//! translated to logical forms (Kim and Linzen, 2020). Train, dev and test come from one distribution; the
//! generalization part holds 21 kinds of sentences that follow from what train shows: 18 put a known word into a known
//! place where it was not seen, 3 are structures that were not seen.
//!
//! | dataset | train | dev | test | gen | what differs |
//! |---|---|---|---|---|---|
//! | `main` | 24,155 | 3,000 | 3,000 | 21,000 | |
//! | `remove-x`, `-paren`, `-comma` | 24,155 | 3,000 | 3,000 | 21,000 | logical forms without some tokens |
//! | `concat-{256..3072}` | 24,155 + k | 3,000 | 3,000 | 21,000 | train has k rows made of three |
//! | `preposing`, `preposing-filler` | 24,155 | 3,000 | 3,000 | 21,000 | noun phrases moved, `um` strewn in |
//! | `participial`, `-easy` | 24,155 | 3,000 | 3,000 | 21,000 | participial verb phrases added |
//! | `variable-free` | 24,155 | 3,000 | 3,000 | 21,000 | logical forms as trees |
//! | `recursion-cp-N`, `recursion-pp-N` | | | | 1,000 | one depth of recursion, any from 1 to 100 |
//!
//! Example: `The girl slept .` -> `* girl ( x _ 1 ) ; sleep . agent ( x _ 2 , x _ 1 )`.
//!
//! The variants are those of the ReCOGS paper (Wu, Manning and Potts, 2023), which is [`crate::recogs`].

pub mod convert;
pub mod draw;
pub mod files;
pub mod grammar;
pub mod lexicon;
pub mod lf;
pub mod meaning;
pub mod score;
pub mod sem;
pub mod sentence;
pub mod splits;
pub mod statistics;
pub(crate) mod stream;
mod table;
pub mod types;

use std::path::Path;

use wug_data::{Dataset, Error, Result, Selection};

use crate::{
    Availability, Benchmark, BenchmarkInfo, DataSettings, Family, Items, Metric, NativeFile, Release, Source,
    Statistic,
};
use convert::{Draws, Variant};
use draw::Recursion;
use files::Row;

/// The benchmark COGS.
pub struct Cogs;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "cogs",
    title: "COGS: English sentences to logical forms",
    summary: "Sentences such as `The girl slept .` are translated to logical forms. The generalization part puts known \
              words into places where they were not seen, and nests known structures deeper than they were seen.",
    licence: "MIT (the released files; what wug makes from the grammar carries no licence of its own)",
    homepage: "https://github.com/najoungkim/COGS",
    citation: "@inproceedings{kim2020cogs,
  title     = {{COGS}: A Compositional Generalization Challenge Based on Semantic Interpretation},
  author    = {Kim, Najoung and Linzen, Tal},
  booktitle = {Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing (EMNLP)},
  year      = {2020}
}",
};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Variant(Variant),
    Recursion(Recursion, usize),
}

fn named(dataset: &str) -> Result<Named> {
    let depth = |rest: &str| rest.parse().ok().filter(|depth| (1..=splits::DEEPEST).contains(depth));
    let recursion = match (dataset.strip_prefix("recursion-cp-"), dataset.strip_prefix("recursion-pp-")) {
        (Some(rest), _) => depth(rest).map(|depth| Named::Recursion(Recursion::Clauses, depth)),
        (_, Some(rest)) => depth(rest).map(|depth| Named::Recursion(Recursion::Phrases, depth)),
        _ => None,
    };
    let variant = || Variant::named(&format!("cogs/{dataset}")).map(Named::Variant);
    recursion.or_else(variant).ok_or_else(|| Error::usage(format!("cogs has no dataset `{dataset}`")))
}

impl Benchmark for Cogs {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        let family = |pattern, about, names: &[&str]| Family {
            pattern,
            names: names.iter().map(ToString::to_string).collect(),
            about,
            origin: Availability::Drawn,
        };
        let depths = |pattern, about, prefix: &str| Family {
            pattern,
            names: (1..=splits::DEEPEST).map(|depth| format!("{prefix}{depth}")).collect(),
            about,
            origin: Availability::Drawn,
        };
        vec![
            family("main", "known words in new places, known structures nested deeper", &["main"]),
            family(
                "remove-x{,-paren{,-comma}}",
                "the same with fewer tokens in the logical forms",
                &["remove-x", "remove-x-paren", "remove-x-paren-comma"],
            ),
            family(
                "concat-{256,512,1024,2048,3072}",
                "main with k concatenated rows in train",
                &["concat-256", "concat-512", "concat-1024", "concat-2048", "concat-3072"],
            ),
            family("preposing", "main with noun phrases preposed in 5% of train", &["preposing"]),
            family("preposing-filler", "preposing with `um` in 5% of train", &["preposing-filler"]),
            family(
                "participial{,-easy}",
                "main with participial verb phrases in 15% of train",
                &["participial", "participial-easy"],
            ),
            family("variable-free", "main with logical forms that have no variables", &["variable-free"]),
            depths("recursion-cp-{1..100}", "clauses embedded to one depth", "recursion-cp-"),
            depths("recursion-pp-{1..100}", "prepositional phrases nested to one depth", "recursion-pp-"),
        ]
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        make("cogs", dataset, named(dataset)?, source)
    }

    fn stream(&self, dataset: &str, settings: &DataSettings) -> Result<Box<dyn Items>> {
        settings.check("cogs", &[])?;
        stream::stream(&format!("cogs/{dataset}"), named(dataset)?)
    }

    fn default_part(&self, _: &str) -> &'static str {
        "gen"
    }

    fn metrics(&self) -> &'static [Metric] {
        &score::METRICS
    }

    fn statistics(&self, dataset: &Dataset) -> Vec<Statistic> {
        statistics::statistics(dataset)
    }

    fn explain(&self, dataset: &Dataset, row: u32) -> Option<String> {
        let sentence = dataset.table.inputs.get(row).to_string();
        sentence::Sentence::parse(&sentence).ok().map(|sentence| sentence.term())
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Cogs {
    fn is_released(&self, dataset: &str, _: &str) -> bool {
        matches!(named(dataset), Ok(Named::Variant(_)))
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        native_files(dataset, selection)
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        named(dataset)?;
        read_gold(&format!("cogs/{dataset}"), file)
    }
}

/// Makes a variant of COGS or ReCOGS.
pub(crate) fn make_variant(
    benchmark: &str,
    dataset: &str,
    variant: Variant,
    source: &Source,
) -> Result<Dataset> {
    make(benchmark, dataset, Named::Variant(variant), source)
}

fn make(benchmark: &str, dataset: &str, named: Named, source: &Source) -> Result<Dataset> {
    let name = format!("{benchmark}/{dataset}");
    let parts: Vec<(String, Vec<Row>)> = match (source, named) {
        (Source::Official, _) => {
            return Err(Error::usage(format!(
                "the release of {name} cannot be repeated from a seed: read it with --data DIR{}",
                if named == Named::Variant(Variant::Main) {
                    ""
                } else {
                    ", or make it from the released COGS with `wug convert --seed official`"
                }
            )));
        }
        (Source::Folder(folder, _), Named::Variant(variant)) => files::import(folder, &name, variant)?,
        (Source::Folder(folder, _), Named::Recursion(recursion, depth)) => {
            let mut parts = files::import(folder, &name, Variant::Main)?;
            parts.retain(|(part, _)| part == "gen");
            for (_, rows) in &mut parts {
                rows.retain(|row| splits::has_depth(row, recursion, depth));
            }
            if parts.iter().all(|(_, rows)| rows.is_empty()) {
                return Err(Error::file(folder, format!("has no rows of {name}")));
            }
            parts
        }
        (Source::Seed(seed), Named::Recursion(recursion, depth)) => {
            let rows = splits::recursion_set(recursion, depth, *seed);
            if rows.is_empty() {
                return Err(Error::usage(format!("{name}: the words do not suffice for this depth")));
            }
            vec![("gen".to_owned(), rows)]
        }
        (Source::Seed(seed), Named::Variant(variant)) => drawn(variant, *seed)?,
    };
    Ok(table::dataset(name, parts))
}

/// Wug's own draw of COGS, converted.
fn drawn(variant: Variant, seed: u64) -> Result<Vec<(String, Vec<Row>)>> {
    let (mut parts, generalization) =
        rayon::join(|| splits::in_distribution(seed), || splits::generalization(seed));
    parts.push(generalization);
    let convert = |(part, rows): (&str, Vec<Row>)| {
        let rows = convert::convert(variant, part, rows, Draws::Seed(seed));
        // What wug drew is well formed, or there is a mistake to be seen.
        rows.map(|rows| (part.to_owned(), rows))
            .map_err(|error| Error::usage(format!("{} row {}: {}", variant.name(), error.row, error.what)))
    };
    splits::PARTS.into_iter().zip(parts).map(convert).collect()
}

/// The examples as a file of the release.
pub(crate) fn native_files<'a>(dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
    let write = |out: &mut dyn std::io::Write| files::write_selection(dataset, selection, out);
    let path = match Variant::named(&dataset.name) {
        Some(variant) => files::native_path(variant, &selection.name),
        None => format!("{}/{}.tsv", dataset.name.trim_start_matches("cogs/"), selection.name),
    };
    vec![NativeFile { path, write: Box::new(write) }]
}

/// A file of the official format as a dataset with one part.
pub(crate) fn read_gold(name: &str, file: &Path) -> Result<Dataset> {
    Ok(table::dataset(name.to_owned(), vec![("gen".to_owned(), files::read(file)?)]))
}
