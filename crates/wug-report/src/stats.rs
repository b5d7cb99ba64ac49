//! What a dataset looks like: sizes, lengths, and which words follow which.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use serde::Serialize;

use wug_data::{Dataset, Sequences};

/// Figures over a whole dataset.
#[derive(Debug, Serialize)]
pub struct Stats {
    /// A row for each part.
    pub parts: Vec<PartStats>,
    /// Which words follow a comma in the targets of the first part, and how often.
    pub followers: Vec<Followers>,
}

/// Figures over a part.
#[derive(Debug, Serialize)]
pub struct PartStats {
    /// Its name.
    pub part: String,
    /// How many examples it has.
    pub rows: usize,
    /// How many inputs have each length in tokens.
    pub input_lengths: BTreeMap<usize, usize>,
    /// How many targets have each length in tokens.
    pub target_lengths: BTreeMap<usize, usize>,
}

/// Which words follow a comma.
#[derive(Debug, Serialize)]
pub struct Followers {
    /// Tokens that were left out before counting.
    pub without: Vec<&'static str>,
    /// Words and how often they follow, most frequent first.
    pub counts: Vec<(String, usize)>,
}

/// The tokens of COGS that mark variables; without them the words behind a comma are more even.
const MARKS: [&str; 2] = ["x", "_"];

impl Stats {
    /// Counts.
    pub fn of(dataset: &Dataset) -> Self {
        let table = &dataset.table;
        let lengths = |sequences: &Sequences, rows: &[u32]| {
            let mut lengths = BTreeMap::new();
            for &row in rows {
                *lengths.entry(sequences.get(row).ids().len()).or_insert(0) += 1;
            }
            lengths
        };
        let parts = dataset.parts.iter().map(|part| PartStats {
            part: part.name.clone(),
            rows: part.rows.len(),
            input_lengths: lengths(&table.inputs, &part.rows),
            target_lengths: lengths(&table.targets, &part.rows),
        });
        let vocab = table.targets.vocab();
        let mut followers = Vec::new();
        if let (Some(comma), Some(part)) = (vocab.get(","), dataset.parts.first()) {
            let whole = behind(&table.targets, &part.rows, comma, &[]);
            let marks: Vec<u32> = MARKS.iter().filter_map(|mark| vocab.get(mark)).collect();
            followers.push(Followers { without: Vec::new(), counts: whole });
            if marks.len() == MARKS.len() {
                let counts = behind(&table.targets, &part.rows, comma, &marks);
                followers.push(Followers { without: MARKS.to_vec(), counts });
            }
        }
        Self { parts: parts.collect(), followers }
    }

    /// Writes all counts as CSV with the columns `figure`, `part`, `key` and `count`.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "figure,part,key,count")?;
        for part in &self.parts {
            writeln!(out, "size,{},,{}", part.part, part.rows)?;
        }
        for part in &self.parts {
            for (figure, lengths) in
                [("input_length", &part.input_lengths), ("target_length", &part.target_lengths)]
            {
                for (length, count) in lengths {
                    writeln!(out, "{figure},{},{length},{count}", part.part)?;
                }
            }
        }
        let first = self.parts.first().map_or("", |part| &part.part);
        for followers in &self.followers {
            let figure = if followers.without.is_empty() { "after_comma" } else { "after_comma_reduced" };
            for (word, count) in &followers.counts {
                // Words may hold what CSV gives a meaning to.
                writeln!(out, "{figure},{first},\"{}\",{count}", word.replace('"', "\"\""))?;
            }
        }
        Ok(())
    }
}

/// The words behind a token, most frequent first, `skipped` tokens left out.
fn behind(sequences: &Sequences, rows: &[u32], token: u32, skipped: &[u32]) -> Vec<(String, usize)> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for &row in rows {
        let mut last = None;
        for &id in sequences.get(row).ids().iter().filter(|id| !skipped.contains(id)) {
            if last == Some(token) {
                *counts.entry(id).or_default() += 1;
            }
            last = Some(id);
        }
    }
    let vocab = sequences.vocab();
    let mut counts: Vec<(String, usize)> =
        counts.into_iter().map(|(id, count)| (vocab.word(id).to_owned(), count)).collect();
    counts.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
    counts
}

/// The smallest length that at least this share of the examples (from 0 to 1) do not exceed.
pub fn quantile(lengths: &BTreeMap<usize, usize>, share: f64) -> usize {
    let all: usize = lengths.values().sum();
    let wanted = (share * all as f64).ceil().max(1.0) as usize;
    let mut below = 0;
    for (&length, count) in lengths {
        below += count;
        if below >= wanted {
            return length;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let lengths = BTreeMap::from([(1, 5), (2, 4), (9, 1)]);
        assert_eq!([0.0, 0.5, 0.9, 1.0].map(|share| quantile(&lengths, share)), [1, 1, 2, 9]);
        assert_eq!(quantile(&BTreeMap::new(), 0.5), 0);
    }
}
