//! Which pairs go where: drawn once for both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wug_data::{Error, Facts, Part, Result, Sequences, Streams, Table, Vocab};
use wug_grammar::{Arena, NodeId};

use super::grammar::{CONSTRUCTIONS, LANGUAGE};

/// Pairs of the part train.
pub const TRAIN: usize = 10_000;
/// Pairs of the part test.
pub const TEST: usize = 1_180;
/// How often the sentence with the invented word is added.
pub const DAXY_COPIES: usize = 1_000;
/// The least number of predicates that train shows each construction of the test sentences with.
pub const PREDICATES_OF_CONSTRUCTION: usize = 30;
/// The least number of train sentences with `tired`, other than the test sentences.
pub const SENTENCES_WITH_TIRED: usize = 80;

/// The sentence that teaches the invented word.
pub const DAXY: (&str, &str) = ("i am daxy .", "je suis daxiste .");

/// A pair of sentences: English, French.
pub type Pair = (String, String);

/// The eight test sentences with a predicate.
pub fn eight(english: &str, french: &str) -> Vec<Pair> {
    CONSTRUCTIONS.iter().map(|(e, f)| (format!("{e} {english} ."), format!("{f} {french} ."))).collect()
}

/// Pairs by part, before they are a table.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    /// Train, without the copies of the invented word's sentence.
    pub train: Vec<Pair>,
    /// Test.
    pub test: Vec<Pair>,
    /// The validation part and what it leaves of train, where files have them.
    pub validation: Option<(Vec<Pair>, Vec<Pair>)>,
    /// The predicate of each English sentence, where it is known.
    pub predicates: BTreeMap<String, String>,
}

/// Draws the pairs of a seed. Candidate `j` comes from stream `j`; what may not be missing is taken first.
pub fn draw(seed: u64) -> Pairs {
    let streams = Streams::new("mt/en-fr", "pairs", seed);
    let mut pairs = Pairs::default();
    let mut seen: BTreeSet<Pair> = BTreeSet::new();
    let kept_out: BTreeSet<Pair> = eight("tired", "fatigue").into_iter().collect();
    let said: BTreeSet<&str> = kept_out.iter().map(|(english, _)| english.as_str()).collect();
    let meant: BTreeSet<&str> = kept_out.iter().map(|(_, french)| french.as_str()).collect();
    let mut wanted = Wanted::default();
    let mut rest: Vec<Pair> = Vec::new();
    let mut arena = Arena::new();
    for j in 0.. {
        let enough = pairs.train.len() + rest.len() >= TRAIN + TEST;
        if enough && wanted.is_met() {
            break;
        }
        let tree = LANGUAGE.grammar.sample(LANGUAGE.sentence, &mut arena, &mut streams.item(j), 16);
        let tree = tree.expect("a sentence has fewer nodes than that");
        let (pair, predicate) = read(&arena, tree);
        if said.contains(pair.0.as_str()) || meant.contains(pair.1.as_str()) || !seen.insert(pair.clone()) {
            continue;
        }
        pairs.predicates.insert(pair.0.clone(), predicate.clone());
        if wanted.takes(&pair, &predicate) {
            pairs.train.push(pair);
        } else if !enough {
            rest.push(pair);
        }
    }
    let mut order = Streams::new("mt/en-fr", "order", seed).item(0);
    order.shuffle(&mut rest);
    pairs.test = rest.split_off(rest.len() - TEST);
    rest.truncate(TRAIN - pairs.train.len());
    pairs.train.append(&mut rest);
    order.shuffle(&mut pairs.train);
    pairs
}

pub(super) fn read(arena: &Arena, tree: NodeId) -> (Pair, String) {
    let pair = (LANGUAGE.english.text(arena, tree), LANGUAGE.french.text(arena, tree));
    (pair, LANGUAGE.predicate(arena, tree))
}

/// What train may not lack.
struct Wanted {
    predicates: Vec<BTreeSet<String>>,
    tired: BTreeSet<String>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { predicates: vec![BTreeSet::new(); CONSTRUCTIONS.len()], tired: BTreeSet::new() }
    }
}

impl Wanted {
    fn is_met(&self) -> bool {
        self.tired.len() >= SENTENCES_WITH_TIRED
            && self.predicates.iter().all(|predicates| predicates.len() >= PREDICATES_OF_CONSTRUCTION)
    }

    /// Whether train needs this pair.
    fn takes(&mut self, (english, french): &Pair, predicate: &str) -> bool {
        if predicate == "tired" && self.tired.len() < SENTENCES_WITH_TIRED {
            return self.tired.insert(english.clone());
        }
        let construction = CONSTRUCTIONS.iter().position(|(e, f)| {
            english
                .strip_prefix(e)
                .is_some_and(|rest| rest.strip_suffix(" .") == Some(&format!(" {predicate}")))
                && french.starts_with(&format!("{f} "))
        });
        construction.is_some_and(|i| {
            self.predicates[i].len() < PREDICATES_OF_CONSTRUCTION
                && self.predicates[i].insert(predicate.to_owned())
        })
    }
}

/// The table and the parts of a dataset.
pub fn dataset(pairs: &Pairs, with_daxy: bool, seed: u64) -> Result<(Arc<Table>, Vec<Part>)> {
    let mut table = Table {
        inputs: Sequences::new(Vocab::default(), " "),
        targets: Sequences::new(Vocab::default(), " "),
        facts: Facts::default(),
    };
    let mut predicates: Vec<&str> = Vec::new();
    let mut add = |pairs: &[Pair], predicate: &dyn Fn(&str) -> &'static str| -> Vec<u32> {
        let first = table.inputs.len() as u32;
        for (english, french) in pairs {
            table.inputs.push_words(english.split_whitespace());
            table.targets.push_words(french.split_whitespace());
            predicates.push(predicate(english));
        }
        (first..table.inputs.len() as u32).collect()
    };
    let unknown = |_: &str| "";
    let mut train = add(&pairs.train, &unknown);
    let test = add(&pairs.test, &unknown);
    let daxy = add(&eight("daxy", "daxiste"), &|_| "daxy");
    let tired = add(&eight("tired", "fatigue"), &|_| "tired");
    if with_daxy {
        let taught = add(&[(DAXY.0.to_owned(), DAXY.1.to_owned())], &|_| "daxy");
        train.extend(std::iter::repeat_n(taught[0], DAXY_COPIES));
        Streams::new("mt/en-fr-daxy", "train", seed).item(0).shuffle(&mut train);
    }
    let (random, without) = match &pairs.validation {
        Some(validation) => found(&table, &train, validation)?,
        None => validation(&train, with_daxy, seed),
    };
    let known = predicates.iter().enumerate().map(|(row, known)| {
        let english = table.inputs.get(row as u32).to_string();
        pairs.predicates.get(&english).map_or((*known).to_owned(), Clone::clone)
    });
    let known: Vec<String> = known.collect();
    add_facts(&mut table, (!pairs.predicates.is_empty()).then_some(&known));
    let parts = vec![
        Part::new("train", train),
        Part::new("test", test),
        Part::new("daxy", daxy),
        Part::new("tired", tired),
        Part::new("val-random", random),
        Part::new("train-wo-random", without),
    ];
    Ok((Arc::new(table), parts))
}

/// The table and the parts of pairs as they were read, with the predicate of each where it is known.
pub fn as_read(parts: Vec<(String, Vec<Pair>)>, predicates: Option<&Vec<String>>) -> (Arc<Table>, Vec<Part>) {
    let mut table = Table {
        inputs: Sequences::new(Vocab::default(), " "),
        targets: Sequences::new(Vocab::default(), " "),
        facts: Facts::default(),
    };
    let mut rows_of = |(part, pairs): (String, Vec<Pair>)| {
        let first = table.inputs.len() as u32;
        for (english, french) in &pairs {
            table.inputs.push_words(english.split_whitespace());
            table.targets.push_words(french.split_whitespace());
        }
        Part::new(part, (first..table.inputs.len() as u32).collect())
    };
    let parts = parts.into_iter().map(&mut rows_of).collect();
    add_facts(&mut table, predicates);
    (Arc::new(table), parts)
}

/// Lengths, and predicates with the constructions they stand in, where they are known.
fn add_facts(table: &mut Table, predicates: Option<&Vec<String>>) {
    let rows = 0..table.inputs.len() as u32;
    let lengths: Vec<i64> = rows.clone().map(|row| table.inputs.get(row).ids().len() as i64).collect();
    table.facts.add_numbers("length", lengths);
    let Some(predicates) = predicates else { return };
    let construction = |(row, predicate): (u32, &String)| {
        let english = table.inputs.get(row).to_string();
        let begin = english.strip_suffix(&format!("{predicate} .")).filter(|_| !predicate.is_empty());
        begin.map_or(String::new(), |begin| format!("{begin}X ."))
    };
    let constructions: Vec<String> = rows.zip(predicates).map(construction).collect();
    table.facts.add_labels("predicate", predicates);
    table.facts.add_labels("construction", constructions);
}

/// One line of train in ten, by a coin flip for each, as in the NACS paper.
fn validation(train: &[u32], with_daxy: bool, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let name = if with_daxy { "mt/en-fr-daxy" } else { "mt/en-fr" };
    let mut flips = Streams::new(name, "val-random", seed).item(0);
    train.iter().partition(|_| flips.coin(0.1))
}

/// The rows of pairs that are among those of train, each as often as it is there.
fn found(
    table: &Table,
    train: &[u32],
    (random, rest): &(Vec<Pair>, Vec<Pair>),
) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut open: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
    for &row in train {
        let example = table.example(row);
        open.entry((example.input.to_string(), example.target.to_string())).or_default().push(row);
    }
    let mut take = |pair: &Pair| {
        let row = open.get_mut(pair).and_then(Vec::pop);
        row.ok_or_else(|| Error::usage(format!("`{}` of a validation file is not left in train", pair.0)))
    };
    let random = random.iter().map(&mut take).collect::<Result<_>>()?;
    let rest = rest.iter().map(&mut take).collect::<Result<_>>()?;
    match open.iter().find(|(_, rows)| !rows.is_empty()) {
        None => Ok((random, rest)),
        Some((pair, _)) => Err(Error::usage(format!("`{}` of train is in no validation file", pair.0))),
    }
}
