//! The endless stream: plain sentences are train, the others test.

use wug_data::{Facts, Sequences, Stream, Table, Vocab};
use wug_grammar::Arena;

use super::language::Language;
use super::{MAX_NODES, is_easy};
use crate::Items;
use crate::stream::Generator;

/// Draws sentences of a language.
struct Sentences(Language);

/// The stream of a language.
pub(super) fn stream(language: Language) -> Box<dyn Items> {
    Box::new(Sentences(language))
}

impl Generator for Sentences {
    /// The sentence and its symbols.
    type Row = (String, String);

    fn splits(&self) -> Vec<&'static str> {
        vec!["train", "test"]
    }

    fn draw(&self, split: &str, _: u64, random: &mut Stream) -> Option<Self::Row> {
        let Self(language) = self;
        let sort = language.grammar.sort("S").ok()?;
        let mut arena = Arena::new();
        let tree = language.grammar.sample(sort, &mut arena, random, MAX_NODES)?;
        let text = language.words.text(&arena, tree);
        let fits = is_easy(language, &arena, tree, &text) == (split == "train");
        fits.then(|| (text, language.symbols.text(&arena, tree)))
    }

    fn table(&self, rows: Vec<Self::Row>) -> Table {
        let mut table = Table {
            inputs: Sequences::new(Vocab::default(), " "),
            targets: Sequences::new(Vocab::default(), " "),
            facts: Facts::default(),
        };
        for (sentence, symbols) in &rows {
            table.inputs.push_words(sentence.split_whitespace());
            table.targets.push_words(symbols.split_whitespace());
        }
        table.facts.add_numbers("length", rows.iter().map(|row| row.0.split_whitespace().count() as i64));
        table
    }
}
