//! Hypotheses about units: what words are worth before any rule is known.

use std::collections::{BTreeMap, BTreeSet};

use super::grammar::Grammar;
use super::read::{Format, Row, Words};
use super::synthesis::Language;
use super::value::{Token, Value};

/// How much is assumed of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Words that are rows, words that are spelled as numbers, and words that are copied.
    Rows,
    /// Also every word that both sides share, and every other word as a symbol of its own.
    Symbols,
    /// Also words that are aligned to a token, and phrases.
    Phrases,
}

/// A grammar without rules: the lexicon of a level.
pub(crate) fn lexicon(
    rows: &[Row],
    words: &Words,
    format: &Format,
    level: Level,
    language: Language,
) -> Grammar {
    let n = words.vocabulary.len();
    let mut grammar =
        Grammar { lexicon: vec![Vec::new(); n], in_run: vec![None; n], language, ..Grammar::default() };
    for row in rows.iter().filter(|row| row.source.len() == 1) {
        let word = row.source[0] as usize;
        grammar.lexicon[word].push(row.target.clone());
        if let Some([token]) = row.target.as_str() {
            grammar.in_run[word] = Some(*token);
        }
    }
    let sources: BTreeSet<u32> = rows.iter().flat_map(|row| row.source.iter().copied()).collect();
    let is_number = matches!(format, Format::Int | Format::Digits | Format::Record(_));
    if is_number {
        for &word in &sources {
            let spelled = super::value::token_int(words.as_token(word));
            if let Some(value) = spelled
                && grammar.lexicon[word as usize].is_empty()
            {
                grammar.lexicon[word as usize].push(Value::Int(value));
            }
        }
    }
    let is_known = |grammar: &Grammar, word: u32| !grammar.lexicon[word as usize].is_empty();
    // Where most words that are copied stand alone, units are what stands alone.
    let copied = copied(rows, words, level);
    let alone = copied.iter().filter(|&&word| is_known(&grammar, word)).count();
    let by_rows = level == Level::Rows && alone >= 3 && 2 * alone >= copied.len();
    for word in copied {
        if !by_rows && !is_known(&grammar, word) {
            let token = words.as_token(word);
            if level == Level::Phrases {
                grammar.lexicon[word as usize].push(Value::string(&[token]));
            } else {
                grammar.in_run[word as usize] = Some(token);
            }
        }
    }
    if level == Level::Symbols && sources.len() <= 400 {
        let alike = interchangeable(rows);
        for &word in &sources {
            if is_known(&grammar, word) || grammar.in_run[word as usize].is_some() {
                continue;
            }
            let token = words.as_token(word);
            if alike.contains(&word) {
                grammar.in_run[word as usize] = Some(token);
            } else {
                grammar.lexicon[word as usize].push(Value::string(&[token]));
            }
        }
    }
    if level == Level::Phrases {
        for (word, token) in aligned(rows, words) {
            if !is_known(&grammar, word) && grammar.in_run[word as usize].is_none() {
                grammar.lexicon[word as usize].push(Value::string(&[token]));
            }
        }
    }
    grammar
}

/// The tokens of a target.
pub(crate) fn tokens_of(value: &Value) -> Vec<Token> {
    match value {
        Value::Int(_) => Vec::new(),
        Value::Str(tokens) => tokens.to_vec(),
        Value::Record(parts) | Value::List(parts) => parts.iter().flat_map(tokens_of).collect(),
    }
}

/// Words that stand for themselves in targets.
fn copied(rows: &[Row], words: &Words, level: Level) -> Vec<u32> {
    let mut in_source: BTreeMap<u32, f64> = BTreeMap::new();
    let mut in_both: BTreeMap<u32, f64> = BTreeMap::new();
    let mut in_target: BTreeMap<Token, f64> = BTreeMap::new();
    for row in rows {
        let source: BTreeSet<u32> = row.source.iter().copied().collect();
        let target: BTreeSet<Token> = tokens_of(&row.target).into_iter().collect();
        for &word in &source {
            *in_source.entry(word).or_default() += 1.0;
            if target.contains(&words.as_token(word)) {
                *in_both.entry(word).or_default() += 1.0;
            }
        }
        for token in target {
            *in_target.entry(token).or_default() += 1.0;
        }
    }
    let total = rows.len() as f64;
    let is_copied = |word: &u32| {
        let (all, both) = (in_source[word], in_both.get(word).copied().unwrap_or(0.0));
        let target = in_target.get(&words.as_token(*word)).copied().unwrap_or(0.0);
        if target == 0.0 {
            return false;
        }
        level == Level::Symbols
            || both >= 0.9 * target && both >= 0.3 * all
            || both >= 0.8 * all && both / all >= 1.5 * target / total
    };
    in_source.keys().filter(|word| is_copied(word)).copied().collect()
}

/// How often each word stands before (false) and behind a word.
type Context = BTreeMap<(bool, u32), f64>;

/// Words that stand in like places as another word: names and items of lists, not function words.
pub(crate) fn interchangeable(rows: &[Row]) -> BTreeSet<u32> {
    let mut contexts: BTreeMap<u32, Context> = BTreeMap::new();
    for row in rows {
        for (i, &word) in row.source.iter().enumerate() {
            let before = if i == 0 { u32::MAX } else { row.source[i - 1] };
            let after = row.source.get(i + 1).copied().unwrap_or(u32::MAX);
            let context = contexts.entry(word).or_default();
            *context.entry((false, before)).or_default() += 1.0;
            *context.entry((true, after)).or_default() += 1.0;
        }
    }
    let like = |a: &Context, b: &Context| {
        let shared: f64 = a.iter().filter_map(|(key, n)| Some((n * b.get(key)?).sqrt())).sum();
        shared / (a.values().sum::<f64>() * b.values().sum::<f64>()).sqrt()
    };
    let all: Vec<(&u32, &Context)> = contexts.iter().collect();
    let mut alike = BTreeSet::new();
    for (i, (a, a_context)) in all.iter().enumerate() {
        for (b, b_context) in &all[i + 1..] {
            if like(a_context, b_context) >= 0.9 {
                alike.extend([**a, **b]);
            }
        }
    }
    alike
}

/// Words with the token that is there whenever they are, and more often than elsewhere.
pub(crate) fn aligned(rows: &[Row], words: &Words) -> Vec<(u32, Token)> {
    let mut source: BTreeMap<u32, f64> = BTreeMap::new();
    let mut target: BTreeMap<Token, f64> = BTreeMap::new();
    let mut both: BTreeMap<(u32, Token), f64> = BTreeMap::new();
    for row in rows {
        let in_source: BTreeSet<u32> = row.source.iter().copied().collect();
        let in_target: BTreeSet<Token> = tokens_of(&row.target)
            .into_iter()
            .filter(|&token| super::value::token_int(token).is_none())
            .collect();
        for &word in &in_source {
            *source.entry(word).or_default() += 1.0;
            for &token in &in_target {
                *both.entry((word, token)).or_default() += 1.0;
            }
        }
        for token in in_target {
            *target.entry(token).or_default() += 1.0;
        }
    }
    let total = rows.len() as f64;
    let mut best: BTreeMap<u32, (f64, f64, Token)> = BTreeMap::new();
    for ((word, token), n) in both {
        let share = n / source[&word];
        if share < 0.9 || share / (target[&token] / total) < 1.4 {
            continue;
        }
        let strength = share * n / target[&token];
        let spelling = alike(&words.show(word), &words.show(token));
        let known = best.entry(word).or_insert((strength, spelling, token));
        let better = strength > known.0 * 1.25 || strength > known.0 * 0.8 && spelling > known.1;
        if better {
            *known = (strength, spelling, token);
        }
    }
    best.into_iter().map(|(word, (_, _, token))| (word, token)).collect()
}

/// The share of equal letters at equal places.
fn alike(a: &str, b: &str) -> f64 {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let same = a.chars().zip(b.chars()).filter(|(a, b)| a == b).count();
    same as f64 / a.chars().count().max(b.chars().count()).max(1) as f64
}
