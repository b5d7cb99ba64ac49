//! Phrases: spans of a source whose words stand together in the target, as in phrase-based translation. They give units and
//! short rows where nothing but whole sentences is seen.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;

use super::grammar::Grammar;
use super::read::Row;
use super::value::{Token, Value, token_int};

/// A phrase of a row: where it is, and its value with positions from its own start.
pub(crate) type Phrase = ((usize, usize), Value);

/// Longer spans are no phrases.
const LONGEST: usize = 14;
/// Phrases that become rows of their own.
const MOST: usize = 500;

/// The phrases of each row.
pub(crate) fn phrases(
    rows: &[Row],
    grammar: &Grammar,
    brackets: &(dyn Fn(Token) -> i32 + Sync),
) -> Vec<Vec<Phrase>> {
    rows.par_iter().map(|row| of_row(row, grammar, brackets).unwrap_or_default()).collect()
}

/// The token that a word stands for.
fn token_of(grammar: &Grammar, word: u32) -> Option<Token> {
    let values = grammar.lexicon.get(word as usize)?;
    match values.first().and_then(Value::as_str) {
        Some([token]) => Some(*token),
        _ => None,
    }
}

fn of_row(row: &Row, grammar: &Grammar, brackets: &(dyn Fn(Token) -> i32 + Sync)) -> Option<Vec<Phrase>> {
    let parts: Vec<&[Token]> = match &row.target {
        Value::Str(tokens) => vec![tokens],
        Value::Record(parts) => parts.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    let n = row.source.len();
    let tokens: Vec<Option<Token>> = row.source.iter().map(|&word| token_of(grammar, word)).collect();
    let mut found = Vec::new();
    // The word that each token of the target comes from; a token that several words stand for comes from none.
    let owners: Vec<Vec<Owner>> =
        parts.iter().map(|part| owners(part, &tokens, grammar.language.positions)).collect();
    for from in 0..n {
        for to in from + 2..=n.min(from + LONGEST) {
            if to - from == n {
                continue;
            }
            let blocks: Option<Vec<Vec<Token>>> = parts
                .iter()
                .zip(&owners)
                .map(|(part, owners)| block(part, owners, from, to, brackets))
                .collect();
            let Some(blocks) = blocks else { continue };
            if blocks.iter().all(Vec::is_empty) {
                continue;
            }
            let value = if let Value::Str(_) = row.target {
                Value::string(&blocks[0])
            } else {
                Value::Record(blocks.iter().map(|block| Value::string(block)).collect())
            };
            let by = if grammar.language.positions { -(from as i64) } else { 0 };
            found.push(((from, to), value.shifted(by)));
        }
    }
    Some(found)
}

#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Word(usize),
    /// A position in the source.
    Position(usize),
    Ambiguous,
    None,
}

fn owners(part: &[Token], tokens: &[Option<Token>], positions: bool) -> Vec<Owner> {
    let mut sources: HashMap<Token, Vec<usize>> = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        if let Some(token) = token {
            sources.entry(*token).or_default().push(at);
        }
    }
    let mut seen: HashMap<Token, usize> = HashMap::new();
    for &token in part {
        *seen.entry(token).or_default() += 1;
    }
    part.iter()
        .map(|token| match (token_int(*token), sources.get(token)) {
            (Some(at), _) if positions => Owner::Position(at.max(0) as usize),
            (_, Some(at)) if at.len() == 1 && seen[token] == 1 => Owner::Word(at[0]),
            (_, Some(_)) => Owner::Ambiguous,
            _ => Owner::None,
        })
        .collect()
}

/// The tokens that the words of a span stand for, if they stand together; with what is needed to close brackets.
fn block(
    part: &[Token],
    owners: &[Owner],
    from: usize,
    to: usize,
    brackets: &dyn Fn(Token) -> i32,
) -> Option<Vec<Token>> {
    let inside = |at: usize| (from..to).contains(&at);
    let mine = |owner: &Owner| matches!(owner, Owner::Word(at) if inside(*at));
    let Some(first) = owners.iter().position(mine) else { return Some(Vec::new()) };
    let last = owners.iter().rposition(mine)?;
    let fits = |owner: &Owner| match owner {
        Owner::Word(at) | Owner::Position(at) => inside(*at),
        Owner::Ambiguous => false,
        Owner::None => true,
    };
    if !owners[first..=last].iter().all(fits) {
        return None;
    }
    let (mut depth, mut lowest) = (0, 0);
    for &token in &part[first..=last] {
        depth += brackets(token);
        lowest = lowest.min(depth);
    }
    let mut end = last + 1;
    while depth > 0 && lowest == 0 && end < part.len() && fits(&owners[end]) {
        depth += brackets(part[end]);
        end += 1;
    }
    (depth == 0 && lowest == 0).then(|| part[first..end].to_vec())
}

/// Phrases as rows: the shortest spans that have the same value nearly always.
pub(crate) fn as_rows(rows: &[Row], phrases: &[Vec<Phrase>]) -> Vec<Row> {
    let known: HashSet<&[u32]> = rows.iter().map(|row| &row.source[..]).collect();
    let mut votes: BTreeMap<(usize, &[u32]), BTreeMap<&Value, f64>> = BTreeMap::new();
    for (row, phrases) in rows.iter().zip(phrases) {
        for ((from, to), value) in phrases {
            let source = &row.source[*from..*to];
            if !known.contains(source) {
                *votes.entry((source.len(), source)).or_default().entry(value).or_default() += 1.0;
            }
        }
    }
    let mut all: Vec<Row> = Vec::new();
    for ((_, source), votes) in votes {
        let total: f64 = votes.values().sum();
        let Some((value, n)) = votes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        if n >= 0.8 * total {
            all.push(Row { source: source.to_vec(), target: value.clone() });
        }
        if all.len() >= MOST {
            break;
        }
    }
    all
}
