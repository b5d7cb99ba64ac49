//! Values of words that never stand alone, from rows that the rules derive up to such a word.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::chart::{Bounds, parse};
use super::search::Search;
use super::value::Value;

/// Rows in which the value of a word is looked for.
const ASKED: usize = 12;

impl Search<'_> {
    /// Finds the values of words that never stand alone: with a stand-in for the word, rules that are known derive a row
    /// up to that word, and the target says what it must have been.
    pub(crate) fn abduce(&mut self, left: &BTreeSet<u32>) -> usize {
        let mut votes: BTreeMap<u32, BTreeMap<Value, f64>> = BTreeMap::new();
        let mut asked: BTreeMap<u32, usize> = BTreeMap::new();
        let has_value = |word: u32| {
            self.grammar.lexicon.get(word as usize).is_some_and(|values| !values.is_empty())
                || self.grammar.in_run.get(word as usize).is_some_and(Option::is_some)
        };
        let mut jobs: Vec<(u32, u32)> = Vec::new();
        for &row in left {
            let row_words: BTreeSet<u32> = self.rows[row as usize].source.iter().copied().collect();
            let unknown: Vec<u32> = row_words.into_iter().filter(|&word| !has_value(word)).collect();
            for word in unknown {
                if *asked.entry(word).and_modify(|n| *n += 1).or_insert(1) <= ASKED {
                    jobs.push((row, word));
                }
            }
        }
        let values: Vec<Option<Value>> =
            jobs.par_iter().map(|&(row, word)| self.solve_word(row, word)).collect();
        for ((_, word), value) in jobs.into_iter().zip(values) {
            if let Some(value) = value {
                *votes.entry(word).or_default().entry(value).or_default() += 1.0;
            }
        }
        let mut learned = 0;
        for (word, votes) in votes {
            let Some((value, &n)) = votes.iter().max_by(|a, b| a.1.total_cmp(b.1)) else { continue };
            if n >= 2.0 && n >= 0.6 * asked[&word].min(ASKED) as f64 {
                self.grammar.lexicon[word as usize].push(value.clone());
                if let Some([token]) = value.as_str() {
                    self.grammar.in_run[word as usize] = Some(*token);
                }
                learned += 1;
            }
        }
        learned
    }

    /// The value that a word must have in a row.
    fn solve_word(&self, row: u32, word: u32) -> Option<Value> {
        if self.effort.is_stopped() {
            return None;
        }
        let row = &self.rows[row as usize];
        let read = |value: Value| {
            let mut grammar = self.grammar.clone();
            grammar.lexicon[word as usize] = vec![value];
            let chart = parse(&grammar, &row.source, Bounds::TRAIN);
            self.effort.charge(chart.steps);
            let best = chart.whole(&grammar).first().copied()?;
            Some(chart.item(best.1, false).value.clone())
        };
        match &row.target {
            Value::Int(target) => {
                let (zero, one) = (read(Value::Int(0))?.as_int()?, read(Value::Int(1))?.as_int()?);
                let slope = one - zero;
                (slope != 0 && (target - zero) % slope == 0).then(|| Value::Int((target - zero) / slope))
            }
            Value::Str(target) => {
                let marker = u32::MAX >> 1;
                let text = read(Value::string(&[marker]))?;
                let text = text.as_str()?;
                let times = text.iter().filter(|&&token| token == marker).count();
                let spare = (target.len() + times).checked_sub(text.len())?;
                if times == 0 || spare % times != 0 || spare == 0 {
                    return None;
                }
                let at = text.iter().position(|&token| token == marker)?;
                let value = target.get(at..at + spare / times)?.to_vec();
                let filled: Vec<u32> = text
                    .iter()
                    .flat_map(|&token| if token == marker { value.clone() } else { vec![token] })
                    .collect();
                (filled[..] == target[..]).then(|| Value::string(&value))
            }
            _ => None,
        }
    }
}
