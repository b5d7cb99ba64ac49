//! Training pairs as sources of words and targets that are values.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use wug_grammar::Vocab;

use super::integers;
use super::value::{Token, Value, int_token, token_int};

/// How targets are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Format {
    /// One integer.
    Int,
    /// One integer, a token for each digit.
    Digits,
    Str,
    /// A token for each component; true where it is an integer.
    Record(Vec<bool>),
    /// Strings around a token that every target has once.
    Split(Token),
}

/// A training row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub source: Vec<u32>,
    pub target: Value,
}

/// Words of both sides; a word that is copied has one number.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub(crate) struct Words {
    pub vocabulary: Vocab,
}

impl From<Vec<String>> for Words {
    fn from(words: Vec<String>) -> Self {
        Self { vocabulary: words.iter().collect() }
    }
}

impl From<Words> for Vec<String> {
    fn from(words: Words) -> Self {
        words.vocabulary.words().to_vec()
    }
}

impl Words {
    /// The token of a word of a target.
    pub(crate) fn token(&mut self, text: &str) -> Token {
        parse_int(text).unwrap_or_else(|| self.vocabulary.add(text))
    }

    /// What a word of a source is as a token.
    pub(crate) fn as_token(&self, word: u32) -> Token {
        self.vocabulary.words().get(word as usize).and_then(|text| parse_int(text)).unwrap_or(word)
    }

    pub(crate) fn show(&self, token: Token) -> String {
        match token_int(token) {
            Some(value) => value.to_string(),
            None => self
                .vocabulary
                .words()
                .get(token as usize)
                .map_or_else(|| "?".to_owned(), ToString::to_string),
        }
    }
}

/// The token of an integer that is written in the usual way.
fn parse_int(text: &str) -> Option<Token> {
    let value: i64 = text.parse().ok()?;
    if value.to_string() == text { int_token(value) } else { None }
}

/// Words that begin or end every source and stand nowhere else: they say nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Ends {
    first: Option<u32>,
    last: Option<u32>,
}

impl Ends {
    fn find(rows: &[TokenRow]) -> Self {
        let only = |word: u32| {
            rows.iter()
                .all(|row| row.0.len() > 1 && row.0.iter().filter(|&&other| other == word).count() == 1)
        };
        let shared = |end: fn(&[u32]) -> Option<&u32>| {
            let word = *rows.first().and_then(|row| end(&row.0))?;
            (rows.iter().all(|row| end(&row.0) == Some(&word)) && only(word)).then_some(word)
        };
        let (first, last) = (shared(<[u32]>::first), shared(<[u32]>::last));
        Self { first: first.filter(|_| last.is_none()), last }
    }

    /// A source without them.
    pub(crate) fn strip<'a>(&self, mut source: &'a [u32]) -> &'a [u32] {
        if source.len() > 1 && self.first.is_some() && source.first().copied() == self.first {
            source = &source[1..];
        }
        if source.len() > 1 && self.last.is_some() && source.last().copied() == self.last {
            source = &source[..source.len() - 1];
        }
        source
    }
}

/// Targets as tokens, with their sources.
pub(crate) type TokenRow = (Vec<u32>, Vec<Token>, f64);

/// Reads pairs; equal sources with several targets keep the most frequent one.
pub(crate) fn read<S: AsRef<str>, T: AsRef<str>>(
    pairs: impl IntoIterator<Item = (S, T)>,
) -> (Words, Ends, Vec<TokenRow>) {
    let mut words = Words::default();
    let mut order: Vec<Vec<u32>> = Vec::new();
    let mut targets: HashMap<Vec<u32>, BTreeMap<Vec<Token>, f64>> = HashMap::new();
    for (source, target) in pairs {
        let source: Vec<u32> =
            source.as_ref().split_whitespace().map(|word| words.vocabulary.add(word)).collect();
        let target: Vec<Token> = target.as_ref().split_whitespace().map(|word| words.token(word)).collect();
        if source.is_empty()
            || source.len() > LONGEST_SOURCE
            || target.is_empty()
            || target.len() > LONGEST_TARGET
        {
            continue;
        }
        let known = targets.entry(source.clone()).or_insert_with(|| {
            order.push(source);
            BTreeMap::new()
        });
        *known.entry(target).or_default() += 1.0;
    }
    let mut rows: Vec<TokenRow> = order
        .into_iter()
        .filter_map(|source| {
            let all = targets.get(&source)?;
            let (target, count) = all.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
            Some((source, target.clone(), *count))
        })
        .collect();
    let ends = Ends::find(&rows);
    for row in &mut rows {
        row.0 = ends.strip(&row.0).to_vec();
    }
    rows.sort_by(|a, b| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0)));
    (words, ends, rows)
}

/// Longer rows are not learned from.
const LONGEST_SOURCE: usize = 200;
const LONGEST_TARGET: usize = 1000;

/// The formats that targets may have, the most specific first.
pub(crate) fn formats(rows: &[TokenRow], words: &Words) -> Vec<Format> {
    let Some(first) = rows.first() else { return Vec::new() };
    let is_int = |token: Token| token_int(token).is_some();
    if rows.iter().all(|row| row.1.len() == 1 && is_int(row.1[0])) {
        return vec![Format::Int];
    }
    let mut all = Vec::new();
    let digit = |token: &Token| token_int(*token).is_some_and(|value| (0..10).contains(&value));
    let zero = int_token(0).expect("zero is small");
    if rows
        .iter()
        .all(|row| row.1.iter().all(digit) && row.1.len() <= 15 && (row.1.len() == 1 || row.1[0] != zero))
        && rows.iter().filter(|row| row.1.len() > 1).count() >= 10
    {
        all.push(Format::Digits);
    }
    let columns: Vec<bool> = first.1.iter().map(|&token| is_int(token)).collect();
    if (2..=4).contains(&columns.len())
        && columns.contains(&true)
        && rows.iter().all(|row| {
            row.1.len() == columns.len()
                && row.1.iter().zip(&columns).all(|(&token, &int)| is_int(token) == int)
        })
    {
        all.push(Format::Record(columns));
    }
    all.push(Format::Str);
    let mut splits: Vec<Token> = first.1.clone();
    splits.retain(|&token| {
        !is_int(token)
            && rows.iter().all(|row| row.1.iter().filter(|&&other| other == token).count() == 1)
            && rows.iter().all(|row| row.1.first() != Some(&token) && row.1.last() != Some(&token))
            && words.vocabulary.words().get(token as usize).is_some()
    });
    all.extend(splits.into_iter().take(1).map(Format::Split));
    all
}

impl Format {
    /// The value of a target.
    pub(crate) fn value(&self, target: &[Token]) -> Option<Value> {
        let int = |token: Token| token_int(token).map(Value::Int);
        match self {
            Self::Int => int(*target.first()?).filter(|_| target.len() == 1),
            Self::Digits => {
                let mut value = 0i64;
                for &token in target {
                    value = value.checked_mul(10)?.checked_add(token_int(token)?)?;
                }
                Some(Value::Int(value))
            }
            Self::Str => Some(Value::string(target)),
            Self::Record(columns) => {
                let parts = target
                    .iter()
                    .zip(columns)
                    .map(|(&token, &is_int)| if is_int { int(token) } else { Some(Value::string(&[token])) });
                parts.collect::<Option<Vec<_>>>().map(|parts| Value::Record(parts.into()))
            }
            Self::Split(token) => {
                let at = target.iter().position(|other| other == token)?;
                Some(Value::Record([Value::string(&target[..at]), Value::string(&target[at + 1..])].into()))
            }
        }
    }

    /// The tokens of a value; `None` if no target is written so.
    pub(crate) fn tokens(&self, value: &Value) -> Option<Vec<Token>> {
        match (self, value) {
            (Self::Int, Value::Int(value)) => Some(vec![int_token(*value)?]),
            (Self::Digits, Value::Int(value)) if *value >= 0 => {
                value.to_string().bytes().map(|digit| int_token(i64::from(digit - b'0'))).collect()
            }
            (Self::Str, Value::Str(tokens)) => Some(tokens.to_vec()),
            (Self::Record(columns), Value::Record(parts)) if parts.len() == columns.len() => parts
                .iter()
                .map(|part| match part {
                    Value::Int(value) => int_token(*value),
                    Value::Str(tokens) if tokens.len() == 1 => Some(tokens[0]),
                    _ => None,
                })
                .collect(),
            (Self::Split(token), Value::Record(parts)) => match &parts[..] {
                [Value::Str(a), Value::Str(b)] => Some([&a[..], &[*token], &b[..]].concat()),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Bits of a target that is remembered.
pub(crate) fn value_bits(value: &Value, token: f64) -> f64 {
    match value {
        Value::Int(value) => integers::row_bits(*value),
        Value::Str(tokens) => 4.0 + token * tokens.len() as f64,
        Value::Record(parts) | Value::List(parts) => parts.iter().map(|part| value_bits(part, token)).sum(),
    }
}
