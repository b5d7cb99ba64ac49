//! Variables that are numbered by mention: the k-th of a sort is the k-th word of some class in the source. Seen as the
//! position of that word, a variable does not depend on what else the sentence mentions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::read::TokenRow;
use super::value::{Token, int_token, token_int};

/// The classes of words that introduce variables.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Mentions {
    /// By the token before the number, where that tells sorts apart; else one sort.
    sorts: Vec<(Option<Token>, BTreeSet<u32>)>,
    /// The number of the first variable.
    first: i64,
}

/// Words that a class is begun with.
const STARTS: usize = 60;
/// Rows that may contradict.
const NOISE: f64 = 0.02;

impl Mentions {
    /// The classes that explain the numbers in the targets, if there are such.
    pub(crate) fn find(rows: &[TokenRow]) -> Option<Self> {
        let mut before: BTreeSet<Option<Token>> = BTreeSet::new();
        let mut first = i64::MAX;
        for (_, target, _) in rows {
            for (i, value) in target.iter().enumerate().filter_map(|(i, &token)| Some((i, token_int(token)?)))
            {
                before.insert(i.checked_sub(1).map(|i| target[i]));
                first = first.min(value);
            }
        }
        if before.is_empty() || !(0..=1).contains(&first) {
            return None;
        }
        let by_token =
            before.len() <= 3 && before.iter().all(|token| token.is_some_and(|t| token_int(t).is_none()));
        let sorts: Vec<Option<Token>> = if by_token { before.into_iter().collect() } else { vec![None] };
        let sorts = sorts.into_iter().map(|sort| Some((sort, class(rows, sort, first)?)));
        Some(Self { sorts: sorts.collect::<Option<_>>()?, first })
    }

    fn class_of(&self, target: &[Token], at: usize) -> Option<&BTreeSet<u32>> {
        let before = at.checked_sub(1).map(|i| target[i]);
        self.sorts.iter().find(|(sort, _)| sort.is_none() || *sort == before).map(|(_, class)| class)
    }

    /// A target with positions for numbers.
    pub(crate) fn to_positions(&self, source: &[u32], target: &[Token]) -> Option<Vec<Token>> {
        let convert = |(i, &token): (usize, &Token)| {
            let Some(value) = token_int(token) else { return Some(token) };
            let class = self.class_of(target, i)?;
            let mut places = (0..source.len()).filter(|&at| class.contains(&source[at]));
            int_token(places.nth(usize::try_from(value - self.first).ok()?)? as i64)
        };
        target.iter().enumerate().map(convert).collect()
    }

    /// A target with numbers for positions.
    pub(crate) fn to_numbers(&self, source: &[u32], target: &[Token]) -> Option<Vec<Token>> {
        let convert = |(i, &token): (usize, &Token)| {
            let Some(at) = token_int(token) else { return Some(token) };
            let class = self.class_of(target, i)?;
            let at =
                usize::try_from(at).ok().filter(|&at| source.get(at).is_some_and(|w| class.contains(w)))?;
            let number = source[..at].iter().filter(|word| class.contains(word)).count() as i64;
            int_token(number + self.first)
        };
        target.iter().enumerate().map(convert).collect()
    }
}

/// The class of words of which a source has as many as the target has variables of a sort.
fn class(rows: &[TokenRow], sort: Option<Token>, first: i64) -> Option<BTreeSet<u32>> {
    let variables = |target: &[Token]| {
        let of_sort = |i: usize| sort.is_none() || i > 0 && Some(target[i - 1]) == sort;
        let numbers = (0..target.len()).filter(|&i| of_sort(i)).filter_map(|i| token_int(target[i]));
        let all: BTreeSet<i64> = numbers.collect();
        let dense = all.iter().enumerate().all(|(i, &value)| value == i as i64 + first);
        dense.then_some(all.len())
    };
    let counts: Vec<Option<usize>> = rows.iter().map(|(_, target, _)| variables(target)).collect();
    // How often each word is in which rows.
    let mut places: BTreeMap<u32, BTreeMap<usize, usize>> = BTreeMap::new();
    for (i, (source, ..)) in rows.iter().enumerate() {
        for &word in source {
            *places.entry(word).or_default().entry(i).or_default() += 1;
        }
    }
    let frequency: BTreeMap<u32, usize> =
        places.iter().map(|(&word, rows)| (word, rows.values().sum())).collect();
    let mut order: Vec<u32> = frequency.keys().copied().collect();
    order.sort_by_key(|word| (std::cmp::Reverse(frequency[word]), *word));
    let allowed = NOISE * rows.len() as f64;
    let mut best: Option<(usize, BTreeSet<u32>)> = None;
    // The most frequent word may belong to no class; each of the first few is tried as the first member.
    for start in 0..order.len().min(STARTS) {
        let mut class: BTreeSet<u32> = BTreeSet::new();
        let mut have = vec![0usize; rows.len()];
        for &word in order[start..].iter().chain(&order[..start]) {
            let over =
                places[&word].iter().filter(|&(&i, &adds)| counts[i].is_none_or(|n| have[i] + adds > n));
            if over.count() as f64 <= allowed.min(0.1 * frequency[&word] as f64) {
                class.insert(word);
                for (&i, &adds) in &places[&word] {
                    have[i] += adds;
                }
            }
        }
        let right = (0..rows.len()).filter(|&i| counts[i] == Some(have[i])).count();
        if best.as_ref().is_none_or(|best| right > best.0) {
            best = Some((right, class));
        }
    }
    best.filter(|(right, _)| *right as f64 >= (1.0 - 1.5 * NOISE) * rows.len() as f64).map(|(_, class)| class)
}
