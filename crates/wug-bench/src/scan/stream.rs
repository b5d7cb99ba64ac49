//! The endless stream: commands drawn from the parts of a split.
//!
//! The language is finite, so items come again; the stream says how many different ones there are. What a dataset
//! chooses at random, a stream chooses by the hash of the input, so that every seed has the same choice.

use std::collections::BTreeSet;
use std::sync::Arc;

use wug_data::{Error, Part, Result, Stream, Table};

use super::splits::{self, SIMPLE_TRAIN, Split};
use crate::stream::{Generator, place};
use crate::{Availability, Items};

/// Draws commands.
struct Commands {
    table: Arc<Table>,
    parts: Vec<Part>,
}

/// The stream of a split whose rows are those of `table`.
pub(crate) fn stream(benchmark: &str, split: Split, table: &Arc<Table>) -> Result<Box<dyn Items>> {
    if split.origin() == Availability::Imported {
        let name = split.name();
        return Err(Error::usage(format!(
            "{benchmark}/{name} has no stream: its examples are read from files"
        )));
    }
    let input = |row: u32| place(&table.inputs.get(row).to_string());
    let mut rows = splits::candidates(split);
    let parts = match split {
        Split::Simple | Split::Share(_) => {
            let share = if let Split::Share(percent) = split { f64::from(percent) / 100.0 } else { simple() };
            // By place rather than by rank: equal inputs (of NACS) are on one side.
            rows.retain(|&row| input(row) < share);
            splits::rule(Split::Simple, &rows)
        }
        _ => {
            // Repetitions of a draw differ by their names.
            let key = split.name();
            let rank = |&row: &u32| place(&format!("{key} {}", table.inputs.get(row))).to_bits();
            rows.sort_by_cached_key(rank);
            rows.truncate(splits::choice_size(split));
            splits::rule(split, &rows)
        }
    };
    Ok(Box::new(Commands { table: Arc::clone(table), parts }))
}

/// The share of the simple split that is train.
fn simple() -> f64 {
    SIMPLE_TRAIN as f64 / f64::from(super::language::LANGUAGE.size())
}

impl Commands {
    fn rows(&self, split: &str) -> &[u32] {
        self.parts.iter().find(|part| part.name == split).map_or(&[], |part| part.rows.as_slice())
    }
}

impl Generator for Commands {
    type Row = u32;

    fn splits(&self) -> Vec<&'static str> {
        let named = |name: &&str| !self.rows(name).is_empty();
        ["train", "test", "all"].into_iter().filter(named).collect()
    }

    fn size(&self, split: &str) -> Option<u64> {
        Some(self.rows(split).iter().collect::<BTreeSet<_>>().len() as u64)
    }

    fn draw(&self, split: &str, _: u64, random: &mut Stream) -> Option<u32> {
        let rows = self.rows(split);
        (!rows.is_empty()).then(|| *random.choose(rows))
    }

    fn table(&self, rows: Vec<u32>) -> Table {
        self.table.take(&rows)
    }
}
