use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Error, Facts, Pictures, Result, Vocab};

/// Sequences of tokens in one flat buffer.
#[derive(Debug, Clone)]
pub struct Sequences {
    vocab: Vocab,
    separator: &'static str,
    ids: Vec<u32>,
    ends: Vec<u64>,
}

impl Sequences {
    /// No sequence yet. `separator` stands between tokens when they are written.
    pub fn new(vocab: Vocab, separator: &'static str) -> Self {
        Self { vocab, separator, ids: Vec::new(), ends: Vec::new() }
    }

    /// Adds a sequence of tokens of the vocabulary.
    pub fn push(&mut self, ids: impl IntoIterator<Item = u32>) {
        self.ids.extend(ids);
        debug_assert!(self.ids.iter().rev().take(64).all(|&id| (id as usize) < self.vocab.len()));
        self.ends.push(self.ids.len() as u64);
    }

    /// Adds a sequence of words, new ones included.
    pub fn push_words<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        for word in words {
            let id = self.vocab.add(word);
            self.ids.push(id);
        }
        self.ends.push(self.ids.len() as u64);
    }

    /// Adds many sequences of tokens of the vocabulary at once: their tokens, and how many each has.
    ///
    /// # Panics
    /// If the lengths do not sum to the number of tokens.
    pub fn extend(&mut self, ids: Vec<u32>, lengths: impl IntoIterator<Item = u32>) {
        let mut end = self.ids.len() as u64;
        self.ids.extend(ids);
        self.ends.extend(lengths.into_iter().map(|length| {
            end += u64::from(length);
            end
        }));
        assert_eq!(end, self.ids.len() as u64, "every token belongs to a sequence");
    }

    /// The sequence of a row.
    pub fn get(&self, row: u32) -> Tokens<'_> {
        let row = row as usize;
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        Tokens {
            vocab: &self.vocab,
            separator: self.separator,
            ids: &self.ids[start..self.ends[row] as usize],
        }
    }

    /// How many sequences there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What stands between tokens when they are written.
    pub(crate) fn separator(&self) -> &'static str {
        self.separator
    }

    /// The words.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }
}

/// One sequence of tokens; as text, its words with the separator between them.
#[derive(Debug, Clone, Copy)]
pub struct Tokens<'a> {
    vocab: &'a Vocab,
    separator: &'static str,
    ids: &'a [u32],
}

impl<'a> Tokens<'a> {
    /// The numbers of the words.
    pub fn ids(&self) -> &'a [u32] {
        self.ids
    }

    /// The words.
    pub fn words(&self) -> impl DoubleEndedIterator<Item = &'a str> + ExactSizeIterator + use<'a> {
        let vocab = self.vocab;
        self.ids.iter().map(move |&id| vocab.word(id))
    }

    /// Writes the text.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (i, word) in self.words().enumerate() {
            if i > 0 {
                out.write_all(self.separator.as_bytes())?;
            }
            out.write_all(word.as_bytes())?;
        }
        Ok(())
    }

    /// Whether a text says the same: equal words, whatever the white space between them.
    pub fn same_words(&self, text: &str) -> bool {
        if self.separator.is_empty() {
            let mut letters = text.chars().filter(|c| !c.is_whitespace());
            self.words().flat_map(str::chars).all(|c| letters.next() == Some(c)) && letters.next().is_none()
        } else {
            self.words().filter(|word| !word.is_empty()).eq(text.split_whitespace())
        }
    }
}

impl fmt::Display for Tokens<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, word) in self.words().enumerate() {
            if i > 0 {
                f.write_str(self.separator)?;
            }
            f.write_str(word)?;
        }
        Ok(())
    }
}

/// Examples in columns: row `i` has an input, a target and facts.
#[derive(Debug, Clone)]
pub struct Table {
    /// What the learner is given.
    pub inputs: Sequences,
    /// What it should answer.
    pub targets: Sequences,
    /// What else is known of each row.
    pub facts: Facts,
}

impl Table {
    /// The same rows the other way round: targets become inputs.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { inputs: self.targets, targets: self.inputs, facts: self.facts }
    }

    /// A table of some rows, in this order.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        let take = |all: &Sequences| {
            let mut some = Sequences::new(all.vocab.clone(), all.separator);
            for &row in rows {
                some.push(all.get(row).ids.iter().copied());
            }
            some
        };
        Self { inputs: take(&self.inputs), targets: take(&self.targets), facts: self.facts.take(rows) }
    }

    /// One row.
    pub fn example(&self, row: u32) -> Example<'_> {
        Example { row, input: self.inputs.get(row), target: self.targets.get(row) }
    }
}

/// One example.
#[derive(Debug, Clone, Copy)]
pub struct Example<'a> {
    /// Its row in the table.
    pub row: u32,
    /// What the learner is given.
    pub input: Tokens<'a>,
    /// What it should answer.
    pub target: Tokens<'a>,
}

/// A named list of rows.
#[derive(Debug, Clone)]
pub struct Part {
    /// `train`, `test`, `val-random`, ...
    pub name: String,
    /// Rows of the table, in the order of the part; a row may occur again.
    pub rows: Vec<u32>,
}

impl Part {
    /// A part.
    pub fn new(name: impl Into<String>, rows: Vec<u32>) -> Self {
        Self { name: name.into(), rows }
    }

    /// The id of the example at a position.
    pub fn id(&self, position: usize) -> String {
        format!("{}_{position:08}", self.name)
    }
}

/// A table of examples and the parts it is split into.
#[derive(Clone)]
pub struct Dataset {
    /// `scan/length`.
    pub name: String,
    /// All examples.
    pub table: Arc<Table>,
    /// Which of them are train, test, ...
    pub parts: Vec<Part>,
    /// What the examples look like, where they are pictures.
    pub pictures: Option<Arc<dyn Pictures>>,
}

/// What `#PART` picks: a part, or those of its examples that belong to a subset.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    /// As asked for: `test` or `test-SL`.
    pub name: String,
    /// The part the examples belong to.
    pub part: &'a Part,
    /// Their positions in the part.
    pub positions: Vec<u32>,
}

impl<'a> Selection<'a> {
    /// A whole part.
    pub fn whole(part: &'a Part) -> Self {
        Self { name: part.name.clone(), part, positions: (0..part.rows.len() as u32).collect() }
    }

    /// At most the first `limit` examples.
    #[must_use]
    pub fn limited(mut self, limit: Option<usize>) -> Self {
        self.positions.truncate(limit.unwrap_or(usize::MAX));
        self
    }

    /// Ids and rows of the examples, in order.
    pub fn examples(&self) -> impl ExactSizeIterator<Item = (String, u32)> + use<'_> {
        self.positions.iter().map(|&position| {
            let position = position as usize;
            (self.part.id(position), self.part.rows[position])
        })
    }
}

/// What the inputs of a dataset are to a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputKind {
    /// Sequences of tokens.
    Tokens,
    /// Images. The table still has the symbols that they show, for scores and people.
    Images,
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tokens => "tokens",
            Self::Images => "images",
        })
    }
}

impl Dataset {
    /// What a learner is given: images where the examples have pictures, else tokens.
    pub fn input_kind(&self) -> InputKind {
        if self.pictures.is_some() { InputKind::Images } else { InputKind::Tokens }
    }

    /// The part with this name, if there is one.
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == name)
    }

    /// The first half of the SHA-256 of a part's inputs and targets, in order (`sha256:` and 32 digits): what was drawn,
    /// wherever it comes from and however it is stored.
    pub fn part_sha256(&self, part: &Part) -> String {
        let mut hash = Sha256::new();
        let mut line = Vec::new();
        for &row in &part.rows {
            let Example { input, target, .. } = self.table.example(row);
            line.clear();
            let written = input.write(&mut line).and_then(|()| {
                line.push(b'\t');
                target.write(&mut line)
            });
            written.expect("memory takes everything");
            line.push(b'\n');
            hash.update(&line);
        }
        let digits = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("sha256:{digits}")
    }

    /// The part, or the subset of a part (`test-SL`: those of `test` whose fact `subset` is `SL`), with this name.
    pub fn select(&self, name: &str) -> Result<Selection<'_>> {
        if let Some(part) = self.part(name) {
            return Ok(Selection::whole(part));
        }
        if let Ok(fact) = self.table.facts.column("subset") {
            // Both names may have dashes: `test-combination-holistic`.
            for (dash, _) in name.match_indices('-') {
                let Some(part) = self.part(&name[..dash]) else { continue };
                let label = crate::FactValue::Label(&name[dash + 1..]);
                let rows = part.rows.iter().enumerate().filter(|&(_, &row)| fact.value(row) == label);
                let positions: Vec<u32> = rows.map(|(position, _)| position as u32).collect();
                if !positions.is_empty() {
                    return Ok(Selection { name: name.to_owned(), part, positions });
                }
            }
        }
        let known: Vec<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
        Err(Error::usage(format!("{} has no part `{name}`; there are: {}", self.name, known.join(", "))))
    }
}
