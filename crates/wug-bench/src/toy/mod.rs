//! Toy: random small languages, for learners that claim to find any grammar.
//!
//! *Was a learner made for languages, or for five benchmarks?* Every number names another language of invented words:
//! word order, modifiers before or behind, repetition, reversal, recursion and agreement are drawn. Training shows
//! short sentences, and some words only in the plainest ones; the test asks for longer sentences and for these words
//! anywhere.
//!
//! | dataset | train | test | asks for |
//! |---|---|---|---|
//! | `random-N` | 400 | 200 | longer sentences and new combinations of language N |

mod files;
mod language;
mod stream;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use wug_data::{Dataset, Error, Facts, Part, Result, Selection, Sequences, Streams, Table, Vocab};
use wug_grammar::{Arena, NodeId};

use crate::pairs::files::write_tsv;
use crate::{
    Availability, Benchmark, BenchmarkInfo, DataSettings, Family, Items, NativeFile, Release, Source,
};
use language::Language;

/// The random languages.
pub struct Toy;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "toy",
    title: "Toy: random small languages",
    summary: "Sentences of a random language are translated to symbols. Training shows short sentences, and some words \
              only in the plainest; the test has longer sentences and new combinations.",
    licence: "none: the data is made here",
    homepage: "docs/results/induced.md",
    citation: "",
};

const TRAIN: usize = 400;
const TEST: usize = 200;
/// The maximum number of rules in a training sentence that make it more than plain.
const TRAIN_RICH: usize = 3;
/// No sentence has more nodes.
const MAX_NODES: usize = 80;

impl Benchmark for Toy {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        vec![Family {
            pattern: "random-{1,2,3,...}",
            names: (1..=50).map(|seed| format!("random-{seed}")).collect(),
            about: "longer sentences and new combinations of a random language",
            origin: Availability::Drawn,
        }]
    }

    fn has(&self, dataset: &str) -> bool {
        language_number(dataset).is_ok()
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        let number = language_number(dataset)?;
        let language = language::draw(number).map_err(|error| Error::usage(error.to_string()))?;
        match source {
            Source::Seed(seed) => Ok(sentences(&language, dataset, *seed)),
            Source::Folder(folder, _) => files::import(folder, dataset, &language),
            Source::Official => {
                Err(Error::usage(format!("toy/{dataset} has no release: it is drawn with --seed N")))
            }
        }
    }

    fn stream(&self, dataset: &str, settings: &DataSettings) -> Result<Box<dyn Items>> {
        settings.check("toy", &[])?;
        let language = language::draw(language_number(dataset)?);
        Ok(stream::stream(language.map_err(|error| Error::usage(error.to_string()))?))
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Toy {
    fn is_released(&self, _: &str, _: &str) -> bool {
        false
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        let folder = dataset.name.trim_start_matches("toy/");
        let path = format!("{folder}/{}.tsv", selection.name);
        vec![NativeFile { path, write: Box::new(|out| write_tsv(dataset, selection, out)) }]
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        language_number(dataset)?;
        Ok(crate::pair_files::as_given(format!("toy/{dataset}"), crate::pairs::files::read(file)?))
    }
}

fn language_number(dataset: &str) -> Result<u64> {
    let number = dataset.strip_prefix("random-").filter(|number| !number.starts_with(['0', '+']));
    number.and_then(|number| number.parse().ok()).ok_or_else(|| {
        Error::usage(format!("toy has no dataset `{dataset}`; there are: random-1, random-2, ..."))
    })
}

/// Draws sentences until both parts are full, or for as long as new ones come.
fn sentences(language: &Language, dataset: &str, seed: u64) -> Dataset {
    let name = format!("toy/{dataset}");
    let streams = Streams::new(&name, "sentences", seed);
    let (mut train, mut test) = (Vec::new(), Vec::new());
    let mut table = Table {
        inputs: Sequences::new(Vocab::default(), " "),
        targets: Sequences::new(Vocab::default(), " "),
        facts: Facts::default(),
    };
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let sort = language.grammar.sort("S").expect("every language has sentences");
    for i in 0..20_000 {
        if train.len() == TRAIN && test.len() == TEST {
            break;
        }
        let mut arena = Arena::new();
        let Some(tree) = language.grammar.sample(sort, &mut arena, &mut streams.item(i), MAX_NODES) else {
            continue;
        };
        let text = language.words.text(&arena, tree);
        if !seen.insert(text.clone()) {
            continue;
        }
        let part = if is_easy(language, &arena, tree, &text) { &mut train } else { &mut test };
        if part.len() < if is_easy(language, &arena, tree, &text) { TRAIN } else { TEST } {
            part.push(table.inputs.len() as u32);
            table.inputs.push_words(text.split_whitespace());
            table.targets.push_words(language.symbols.text(&arena, tree).split_whitespace());
        }
    }
    let parts = vec![Part::new("train", train), Part::new("test", test)];
    Dataset { name, table: Arc::new(table), parts, pictures: None }
}

/// Whether training may show a sentence: not too rich, and plain if it has a shy word.
fn is_easy(language: &Language, arena: &Arena, tree: NodeId, text: &str) -> bool {
    let mut open = vec![tree];
    let mut rich = 0;
    while let Some(node) = open.pop() {
        let name = language.grammar.rule(arena.rule(node)).name();
        rich += usize::from(language.rich.contains(&name));
        open.extend(arena.children(node));
    }
    let shy = text.split(' ').any(|word| language.shy.iter().any(|shy| shy == word));
    if shy { rich == 0 } else { rich <= TRAIN_RICH }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_both_parts_and_differ() {
        let make = |number: u64| Toy.make(&format!("random-{number}"), &Source::Seed(0)).unwrap();
        for number in 1..=20 {
            let dataset = make(number);
            assert_eq!(dataset.part("train").unwrap().rows.len(), TRAIN, "language {number}");
            assert!(dataset.part("test").unwrap().rows.len() >= TEST / 2, "language {number}");
        }
        let first = |number: u64| make(number).table.example(0).input.to_string();
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
