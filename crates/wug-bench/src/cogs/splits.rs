//! Which examples go where, and why.

use std::collections::HashMap;

use rayon::prelude::*;
use wug_data::Streams;

use super::draw::{Drawn, Recursion, distinct, recursive};
use super::files::Row;
use super::grammar::START;
use super::lexicon;
use super::lf::Notation;
use super::meaning::meaning_of;
use super::types::{EXPOSURES, GENERALIZATIONS, Generalization, HELD_OUT_PRIMITIVES, Made};

/// The parts, as the release has them.
pub const PARTS: [&str; 4] = ["train", "dev", "test", "gen"];

/// Sentences of the training distribution in train, and in dev and test each.
pub const IN_DISTRIBUTION: (usize, usize) = (24_000, 3_000);
/// Rows of each kind of generalization.
pub const ROWS_PER_KIND: usize = 1_000;
/// Depths of the two recursive kinds, equally many rows for each.
pub const DEPTHS: std::ops::RangeInclusive<usize> = 3..=12;
/// Nouns and names that train shows on their own.
const PRIMITIVE_NOUNS: usize = 40;
const PRIMITIVE_NAMES: usize = 20;

/// The streams of a step of the draw.
fn streams(step: &str, seed: u64) -> Streams {
    Streams::new("cogs/main", step, seed)
}

/// Draws train, dev and test: distinct sentences of one distribution, shared out at random. Train also gets the
/// primitives and, once each, what is held out.
pub fn in_distribution(seed: u64) -> Vec<Vec<Row>> {
    let (train, other) = IN_DISTRIBUTION;
    let drawn = distinct(START, &streams("in_distribution", seed), train + 2 * other);
    let mut rows = rows(&drawn, "in_distribution");
    streams("split", seed).item(0).shuffle(&mut rows);
    let test = rows.split_off(train + other);
    let dev = rows.split_off(train);
    rows.extend(primitives(seed));
    rows.extend(exposures());
    streams("train", seed).item(0).shuffle(&mut rows);
    vec![rows, dev, test]
}

fn rows(drawn: &[Drawn], kind: &str) -> Vec<Row> {
    drawn.par_iter().map(|drawn| drawn.row(kind)).collect()
}

/// A row for a sentence that is known to be one.
pub(super) fn row(sentence: &str, kind: &str) -> Row {
    let form = meaning_of(sentence).map(|form| form.print(Notation::Cogs)).unwrap_or_default();
    Row { sentence: sentence.to_owned(), form, kind: kind.to_owned() }
}

/// What is held out, once each.
pub fn exposures() -> Vec<Row> {
    EXPOSURES.iter().map(|(name, sentence)| row(sentence, &format!("exposure_example_{name}"))).collect()
}

/// Words on their own: all verbs with one or two arguments, and some nouns and names.
pub fn primitives(seed: u64) -> Vec<Row> {
    let streams = streams("primitives", seed);
    let nouns: Vec<&str> = lexicon::ANIMATE.into_iter().chain(lexicon::INANIMATE).collect();
    let verbs = [lexicon::UNERGATIVE, lexicon::UNACCUSATIVE, lexicon::OPTIONAL, lexicon::OBLIGATORY];
    let mut words: Vec<&str> = verbs.into_iter().flatten().filter_map(lexicon::lemma).collect();
    words.extend(streams.item(0).sample(&nouns, PRIMITIVE_NOUNS));
    words.extend(streams.item(1).sample(&lexicon::NAMES, PRIMITIVE_NAMES));
    words.extend(HELD_OUT_PRIMITIVES);
    words.into_iter().map(|word| row(word, "primitive")).collect()
}

/// Draws the generalization part: the 21 kinds, shuffled.
pub fn generalization(seed: u64) -> Vec<Row> {
    let mut made: HashMap<&str, Vec<Row>> = HashMap::new();
    for kind in &GENERALIZATIONS {
        let rows = match kind.made {
            Made::Exchanged { from, old } => exchanged(&made[from], kind, old),
            Made::Drawn(sort) => rows(&distinct(sort, &streams(kind.name, seed), ROWS_PER_KIND), kind.name),
            Made::Clauses => depths(Recursion::Clauses, kind, seed),
            Made::Phrases => depths(Recursion::Phrases, kind, seed),
        };
        made.insert(kind.name, rows);
    }
    let mut rows: Vec<Row> =
        GENERALIZATIONS.iter().filter_map(|kind| made.remove(kind.name)).flatten().collect();
    streams("gen", seed).item(0).shuffle(&mut rows);
    rows
}

/// The rows of another kind with its word exchanged.
fn exchanged(rows: &[Row], kind: &Generalization, old: &str) -> Vec<Row> {
    rows.par_iter().map(|row| exchange(row, kind, old)).collect()
}

/// A row with a word exchanged for that of a kind of generalization.
pub(super) fn exchange(of: &Row, kind: &Generalization, old: &str) -> Row {
    let new = kind.item.unwrap_or_default();
    let exchange = |word| if word == old { new } else { word };
    row(&of.sentence.split(' ').map(exchange).collect::<Vec<_>>().join(" "), kind.name)
}

fn depths(recursion: Recursion, kind: &Generalization, seed: u64) -> Vec<Row> {
    let each = ROWS_PER_KIND / DEPTHS.count();
    let of_depth = |depth: usize| {
        let streams = streams(&format!("{}-{depth}", kind.name), seed);
        rows(&recursive(recursion, depth, &streams, each), kind.name)
    };
    DEPTHS.flat_map(of_depth).collect()
}

/// The greatest depth of a recursion set: beyond it the words run out, since none is used twice.
pub const DEEPEST: usize = 100;

/// The kind of generalization that a recursion set is of.
pub(super) fn kind_of(recursion: Recursion) -> &'static str {
    match recursion {
        Recursion::Clauses => "cp_recursion",
        Recursion::Phrases => "pp_recursion",
    }
}

/// Whether a row is one of a recursion set.
pub fn has_depth(row: &Row, recursion: Recursion, depth: usize) -> bool {
    let counted = |word: &&str| match recursion {
        Recursion::Clauses => *word == "that",
        Recursion::Phrases => lexicon::is_preposition(word),
    };
    row.kind == kind_of(recursion) && row.sentence.split(' ').filter(counted).count() == depth
}

/// Draws a set of one depth.
pub fn recursion_set(recursion: Recursion, depth: usize, seed: u64) -> Vec<Row> {
    let name = kind_of(recursion);
    let streams = Streams::new(&format!("cogs/{name}"), &depth.to_string(), seed);
    rows(&recursive(recursion, depth, &streams, ROWS_PER_KIND), name)
}

#[cfg(test)]
mod tests;
