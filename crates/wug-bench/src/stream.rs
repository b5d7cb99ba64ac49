//! Endless streams: item `i` of a seed is the same whoever asks, whatever was asked before.
//!
//! Train and test never share an item. Where a split has a rule (length, held-out words) the rule decides; where it has
//! none, a hash of the input does, so that no seed of train can meet any seed of test.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use wug_data::{Error, Example, FactValue, Facts, Picture, Result, Stream, Streams, Table, Values};

use crate::{Address, DataSettings};

/// The share of the inputs that belong to test where only the hash decides.
pub const TEST_SHARE: f64 = 0.1;

/// Candidates for one item that may be rejected before it is taken to be impossible.
const MOST_DRAWS: usize = 100_000;

/// What a benchmark draws the items of its streams with.
pub(crate) trait Generator: Send + Sync {
    /// An item before it is a row of a table.
    type Row: Clone + Send;

    /// Names of the splits.
    fn splits(&self) -> Vec<&'static str>;

    /// The number of different items of a split, where it is known to be finite.
    fn size(&self, split: &str) -> Option<u64> {
        let _ = split;
        None
    }

    /// Draws a candidate for item `i`; `None` if it does not belong to the split.
    fn draw(&self, split: &str, i: u64, random: &mut Stream) -> Option<Self::Row>;

    /// The items with their facts.
    fn table(&self, rows: Vec<Self::Row>) -> Table;

    /// What an item looks like, where items are pictures.
    fn picture(&self, split: &str, item: &Example<'_>, random: &mut Stream) -> Option<Picture> {
        let _ = (split, item, random);
        None
    }
}

/// The items of a benchmark's streams.
pub trait Items: Send + Sync {
    /// Names of the splits.
    fn splits(&self) -> Vec<&'static str>;

    /// The number of different items of a split, where it is known to be finite.
    fn size(&self, split: &str) -> Option<u64>;

    /// Some items that are within the limits.
    fn items(&self, streams: &Streams, split: &str, range: Range<u64>, limits: &[Limit]) -> Result<Table>;

    /// What an item looks like, where items are pictures.
    fn picture(&self, split: &str, item: &Example<'_>, random: &mut Stream) -> Option<Picture>;
}

impl<G: Generator> Items for G {
    fn splits(&self) -> Vec<&'static str> {
        Generator::splits(self)
    }

    fn size(&self, split: &str) -> Option<u64> {
        Generator::size(self, split)
    }

    fn items(&self, streams: &Streams, split: &str, range: Range<u64>, limits: &[Limit]) -> Result<Table> {
        let draw = |i: u64| {
            let mut random = streams.item(i);
            for _ in 0..MOST_DRAWS {
                let Some(row) = self.draw(split, i, &mut random) else { continue };
                // Facts are columns of a table, so a candidate becomes a table of its own.
                let admits = |facts: &Facts| limits.iter().all(|limit| limit.admits(facts));
                if limits.is_empty() || admits(&self.table(vec![row.clone()]).facts) {
                    return Ok(row);
                }
            }
            let limits: Vec<String> = limits.iter().map(ToString::to_string).collect();
            let within =
                if limits.is_empty() { String::new() } else { format!(" with {}", limits.join(", ")) };
            Err(Error::failed(format!("no item{within} among {MOST_DRAWS} draws")))
        };
        let rows: Vec<G::Row> = range.into_par_iter().map(draw).collect::<Result<_>>()?;
        Ok(self.table(rows))
    }

    fn picture(&self, split: &str, item: &Example<'_>, random: &mut Stream) -> Option<Picture> {
        Generator::picture(self, split, item, random)
    }
}

/// The items of one split of a dataset at one seed.
///
/// ```
/// use wug_bench::{ItemStream, DataSettings};
///
/// let train = ItemStream::new(&"hint/symbol#train".parse()?, 7, &DataSettings::default(), Vec::new())?;
/// let items = train.items(1_000_000, 2)?;
/// assert_eq!(items.example(1).input.to_string(), train.items(1_000_001, 1)?.example(0).input.to_string());
/// # Ok::<(), wug_data::Error>(())
/// ```
pub struct ItemStream {
    source: Box<dyn Items>,
    split: String,
    streams: Streams,
    pictures: Streams,
    limits: Vec<Limit>,
}

impl ItemStream {
    /// The stream of a dataset: of its split `train`, or of the one that the address names as its part.
    ///
    /// # Errors
    /// If the dataset has no stream, the stream no such split, or its items no such facts.
    pub fn new(address: &Address, seed: u64, settings: &DataSettings, limits: Vec<Limit>) -> Result<Self> {
        let (name, split) = (address.full_dataset(), address.part.as_deref().unwrap_or("train"));
        let source = address.benchmark.stream(&address.dataset, settings)?;
        let known = source.splits();
        if !known.contains(&split) {
            let known = known.join(", ");
            return Err(Error::usage(format!(
                "the stream of {name} has no split `{split}`; there are: {known}"
            )));
        }
        let streams = Streams::new(&name, &format!("stream {split}"), seed);
        let pictures = Streams::new(&name, &format!("stream pictures {split}"), seed);
        let stream = Self { source, split: split.to_owned(), streams, pictures, limits: Vec::new() };
        let facts = stream.items(0, 1)?.facts;
        limits.iter().try_for_each(|limit| limit.check(&facts))?;
        Ok(Self { limits, ..stream })
    }

    /// The split.
    pub fn split(&self) -> &str {
        &self.split
    }

    /// The number of different items, where it is known to be finite; limits are not counted.
    pub fn size(&self) -> Option<u64> {
        self.source.size(&self.split)
    }

    /// The id of item `i`.
    pub fn id(&self, i: u64) -> String {
        format!("{}_{i:08}", self.split)
    }

    /// Items `from`, `from + 1`, ...
    ///
    /// # Errors
    /// If no item is within the limits, or there are no such numbers.
    pub fn items(&self, from: u64, count: usize) -> Result<Table> {
        let end = from.checked_add(count as u64);
        let end =
            end.ok_or_else(|| Error::usage(format!("items from {from}: there is no number that large")))?;
        self.source.items(&self.streams, &self.split, from..end, &self.limits)
    }

    /// What item `i` looks like, where items are pictures.
    pub fn picture(&self, i: u64, item: &Example<'_>) -> Option<Picture> {
        self.source.picture(&self.split, item, &mut self.pictures.item(i))
    }
}

/// A bound on a fact, as difficulty: `depth=3`, `depth=3-5`, `depth=3+`, `type=cp_recursion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    fact: String,
    value: String,
    /// The value as numbers, first and last.
    range: Option<(i64, i64)>,
}

impl Limit {
    /// Whether the first row of these facts is within it.
    fn admits(&self, facts: &Facts) -> bool {
        facts.column(&self.fact).is_ok_and(|fact| match (fact.value(0), self.range) {
            (FactValue::Number(number), Some((first, last))) => (first..=last).contains(&number),
            (FactValue::Label(label), _) => label == self.value,
            _ => false,
        })
    }

    /// Fails if these facts have no such fact, or one that is no number.
    fn check(&self, facts: &Facts) -> Result<()> {
        let fact = facts.column(&self.fact)?;
        match (fact.values(), self.range) {
            (Values::Numbers(_), None) => {
                Err(Error::usage(format!("{self}: expected a number, or a range such as 3-5 or 3+")))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.fact, self.value)
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (fact, value) =
            text.split_once('=').ok_or("expected FACT=VALUE, such as depth=3 or depth=3-5")?;
        let whole = |text: &str| text.parse::<i64>().ok();
        let range = if let Some(first) = value.strip_suffix('+').and_then(whole) {
            Some((first, i64::MAX))
        } else if let Some((first, last)) = value.split_once('-') {
            whole(first).zip(whole(last)).filter(|(first, last)| first <= last)
        } else {
            whole(value).map(|number| (number, number))
        };
        Ok(Self { fact: fact.to_owned(), value: value.to_owned(), range })
    }
}

/// Where an input lies between 0 and 1: a hash of its text, the same for every seed and every dataset.
pub(crate) fn place(input: &str) -> f64 {
    let hash = Sha256::new().chain_update(b"wug stream\0").chain_update(input).finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    (u64::from_le_bytes(first) >> 11) as f64 / (1u64 << 53) as f64
}

/// Whether an input belongs to a split, `test` or any other, where only the hash decides.
pub(crate) fn belongs(input: &str, split: &str) -> bool {
    (place(input) < TEST_SHARE) == (split == "test")
}

#[cfg(test)]
mod tests;
