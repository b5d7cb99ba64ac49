use serde::{Serialize, Serializer};

use crate::{Error, Result, Vocab};

/// What is known of each example besides input and target: columns to analyse by.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    columns: Vec<Fact>,
}

/// One column of [`Facts`].
#[derive(Debug, Clone)]
pub struct Fact {
    name: &'static str,
    values: Values,
    /// Where the ranges begin in which numbers are grouped, in order; empty if each is a group of its own.
    ranges: &'static [i64],
}

/// The values of a fact, one per row.
#[derive(Debug, Clone)]
pub enum Values {
    /// Whole numbers.
    Numbers(Vec<i64>),
    /// Words from a small set.
    Labels {
        /// The words.
        names: Vocab,
        /// For each row the number of its word.
        rows: Vec<u32>,
    },
}

/// One value of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactValue<'a> {
    /// A whole number.
    Number(i64),
    /// All numbers from the first to the second.
    Range(i64, i64),
    /// A word.
    Label(&'a str),
}

impl std::fmt::Display for FactValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Range(first, i64::MAX) => write!(f, "{first}+"),
            Self::Range(first, last) if first == last => first.fmt(f),
            Self::Range(first, last) => write!(f, "{first}-{last}"),
            Self::Label(label) => f.pad(label),
        }
    }
}

impl Serialize for FactValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Range(..) => serializer.collect_str(self),
            Self::Label(label) => serializer.serialize_str(label),
        }
    }
}

impl Facts {
    /// Adds a column of numbers.
    pub fn add_numbers(&mut self, name: &'static str, values: impl IntoIterator<Item = i64>) {
        self.columns.push(Fact { name, values: Values::Numbers(values.into_iter().collect()), ranges: &[] });
    }

    /// Groups a column of numbers, when scores are broken down by it, in ranges that begin at these numbers.
    pub fn group(&mut self, name: &str, ranges: &'static [i64]) {
        if let Some(fact) = self.columns.iter_mut().find(|fact| fact.name == name) {
            fact.ranges = ranges;
        }
    }

    /// Adds a column of words.
    pub fn add_labels<S: AsRef<str>>(&mut self, name: &'static str, values: impl IntoIterator<Item = S>) {
        let mut names = Vocab::default();
        let rows = values.into_iter().map(|value| names.add(value.as_ref())).collect();
        self.columns.push(Fact { name, values: Values::Labels { names, rows }, ranges: &[] });
    }

    /// Adds a column of words that go by small numbers: each is made once, however many rows have it.
    pub fn add_coded<S: AsRef<str>>(
        &mut self,
        name: &'static str,
        codes: impl IntoIterator<Item = u32>,
        word: impl Fn(u32) -> S,
    ) {
        let mut names = Vocab::default();
        let mut known: Vec<Option<u32>> = Vec::new();
        let rows = codes.into_iter().map(|code| {
            let at = code as usize;
            if at >= known.len() {
                known.resize(at + 1, None);
            }
            *known[at].get_or_insert_with(|| names.add(word(code).as_ref()))
        });
        let rows = rows.collect();
        self.columns.push(Fact { name, values: Values::Labels { names, rows }, ranges: &[] });
    }

    /// The facts of some rows, in this order.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        let values = |fact: &Fact| match &fact.values {
            Values::Numbers(numbers) => {
                Values::Numbers(rows.iter().map(|&row| numbers[row as usize]).collect())
            }
            Values::Labels { names, rows: of } => Values::Labels {
                names: names.clone(),
                rows: rows.iter().map(|&row| of[row as usize]).collect(),
            },
        };
        let column = |fact: &Fact| Fact { values: values(fact), ..*fact };
        Self { columns: self.columns.iter().map(column).collect() }
    }

    /// All columns.
    pub fn columns(&self) -> &[Fact] {
        &self.columns
    }

    /// The column with this name; `action-length` and `action_length` are the same.
    pub fn column(&self, name: &str) -> Result<&Fact> {
        let wanted = name.replace('-', "_");
        self.columns.iter().find(|fact| fact.name == wanted).ok_or_else(|| {
            let known: Vec<&str> = self.columns.iter().map(|fact| fact.name).collect();
            Error::usage(match known.as_slice() {
                [] => format!("no fact `{name}`: these examples carry none"),
                known => format!("no fact `{name}`; there are: {}", known.join(", ")),
            })
        })
    }
}

impl Fact {
    /// The name, with underscores.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// All values.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The group that one row belongs to when scores are broken down: its value, or the range that has it.
    pub fn group(&self, row: u32) -> FactValue<'_> {
        match self.value(row) {
            FactValue::Number(number) if !self.ranges.is_empty() => {
                let next = self.ranges.partition_point(|&first| first <= number);
                let first = if next == 0 { i64::MIN } else { self.ranges[next - 1] };
                FactValue::Range(first, self.ranges.get(next).map_or(i64::MAX, |next| next - 1))
            }
            value => value,
        }
    }

    /// The value of one row.
    pub fn value(&self, row: u32) -> FactValue<'_> {
        match &self.values {
            Values::Numbers(numbers) => FactValue::Number(numbers[row as usize]),
            Values::Labels { names, rows } => FactValue::Label(names.word(rows[row as usize])),
        }
    }
}
