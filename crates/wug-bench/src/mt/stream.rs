//! The endless stream: pairs of sentences, shared out between train and test by the hash of what is translated. The eight
//! test sentences are in test alone; where the invented word is taught, train has its sentence and test the eight with it.

use wug_data::{Stream, Table};
use wug_grammar::Arena;

use super::Task;
use super::grammar::LANGUAGE;
use super::splits::{DAXY, DAXY_COPIES, Pair, TRAIN, as_read, eight, read};
use crate::Items;
use crate::stream::{Generator, belongs};

/// One test item in this many is one of the eight sentences.
const EIGHT_EVERY: u64 = 10;

/// Draws pairs.
struct Sentences {
    task: Task,
    held_out: Vec<Pair>,
    asked: Vec<Pair>,
}

/// The stream of a task.
pub(super) fn stream(task: Task) -> Box<dyn Items> {
    let held_out = eight("tired", "fatigue");
    let mut asked = held_out.clone();
    if task.with_daxy {
        asked.extend(eight("daxy", "daxiste"));
    }
    Box::new(Sentences { task, held_out, asked })
}

impl Generator for Sentences {
    /// English, French, predicate.
    type Row = (Pair, String);

    fn splits(&self) -> Vec<&'static str> {
        vec!["train", "test"]
    }

    fn draw(&self, split: &str, _: u64, random: &mut Stream) -> Option<Self::Row> {
        if split == "test" && random.below(EIGHT_EVERY) == 0 {
            let pair = random.choose(&self.asked).clone();
            let predicate = if pair.0.contains("daxy") { "daxy" } else { "tired" };
            return Some((pair, predicate.to_owned()));
        }
        let copies = DAXY_COPIES as f64 / (TRAIN + DAXY_COPIES) as f64;
        if split == "train" && self.task.with_daxy && random.coin(copies) {
            return Some(((DAXY.0.to_owned(), DAXY.1.to_owned()), "daxy".to_owned()));
        }
        let mut arena = Arena::new();
        let tree = LANGUAGE.grammar.sample(LANGUAGE.sentence, &mut arena, random, 16)?;
        let (pair, predicate) = read(&arena, tree);
        // A sentence that is the same on one side would give the other away.
        let is_held_out = self.held_out.iter().any(|held| held.0 == pair.0 || held.1 == pair.1);
        let input = if self.task.from_french { &pair.1 } else { &pair.0 };
        (!is_held_out && belongs(input, split)).then_some((pair, predicate))
    }

    fn table(&self, rows: Vec<Self::Row>) -> Table {
        let (pairs, predicates): (Vec<Pair>, Vec<String>) = rows.into_iter().unzip();
        let (table, _) = as_read(vec![("stream".to_owned(), pairs)], Some(&predicates));
        let table = Table::clone(&table);
        if self.task.from_french { table.reversed() } else { table }
    }
}
