//! Rows that are several sentences, one behind the other: parts of the target that share no word are taken apart.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::predications::{Predication, referent};
use crate::symbols::Sym;

/// How often each word is the first of a sentence that stands alone, and how often it stands at all. A word that is
/// written with a capital where a sentence begins is the same word without.
pub(crate) struct Beginnings {
    /// The word that each word counts as.
    counts_as: Vec<u32>,
    counts: Vec<(usize, usize)>,
}

impl Beginnings {
    pub(crate) fn new<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut small: BTreeMap<String, u32> = BTreeMap::new();
        let counts_as: Vec<u32> = words
            .enumerate()
            .map(|(word, text)| *small.entry(text.to_lowercase()).or_insert(word as u32))
            .collect();
        let counts = vec![(0, 0); counts_as.len()];
        Self { counts_as, counts }
    }

    /// Adds a sentence that stands alone.
    pub(crate) fn add(&mut self, source: &[u32]) {
        for (at, &word) in source.iter().enumerate() {
            let (first, all) = &mut self.counts[self.counts_as[word as usize] as usize];
            *first += usize::from(at == 0);
            *all += 1;
        }
    }

    /// A pattern in which words that count as the same are equal.
    pub(crate) fn normal(&self, pattern: &[Sym]) -> Vec<Sym> {
        let normal = |sym: &Sym| match *sym {
            Sym::Word(word) => Sym::Word(self.counts_as[word as usize]),
            slot @ Sym::Slot(_) => slot,
        };
        pattern.iter().map(normal).collect()
    }

    /// Where the sentences of a row stand that has several, if each of them is known to stand
    /// alone.
    pub(crate) fn split_known(
        source: &[u32],
        gold: &Predication,
        is_known: impl Fn(&Range<usize>) -> bool,
    ) -> Option<Vec<Range<usize>>> {
        let spans = unconnected(gold);
        let mut open = vec![(0, Vec::new())];
        let mut tried = BTreeSet::new();
        while let Some((start, sentences)) = open.pop() {
            let i = sentences.len();
            let starts = match spans.get(i + 1) {
                Some(next) => spans[i].1 as usize + 1..next.0 as usize + 1,
                None => source.len()..source.len() + 1,
            };
            for end in starts.filter(|&end| tried.insert((i, start, end)) && is_known(&(start..end))) {
                let mut longer = sentences.clone();
                longer.push(start..end);
                if end == source.len() {
                    return Some(longer);
                }
                open.push((end, longer));
            }
        }
        None
    }

    /// Where the sentences of a row stand that has several: between two of them the likeliest first word begins the
    /// second. `None` if they stand within each other, or if nothing tells where one begins.
    pub(crate) fn split(&self, source: &[u32], gold: &Predication) -> Option<Vec<Range<usize>>> {
        let spans = unconnected(gold);
        let mut starts = vec![0];
        for pair in spans.windows(2) {
            let (last, next) = (pair[0].1 as usize, pair[1].0 as usize);
            let chance = |at: &usize| {
                let (first, all) = self.counts[self.counts_as[source[*at] as usize] as usize];
                (1000 * first) / all.max(1)
            };
            let start = (last + 1..=next).max_by_key(|at| (chance(at), std::cmp::Reverse(*at)))?;
            if chance(&start) == 0 {
                return None;
            }
            starts.push(start);
        }
        starts.push(source.len());
        Some(starts.windows(2).map(|pair| pair[0]..pair[1]).collect())
    }
}

/// The predications about the words of a stretch.
pub(crate) fn about(gold: &Predication, stretch: &Range<usize>) -> Predication {
    let is_here = |at: u16| stretch.contains(&(at as usize));
    let atoms = gold.atoms.iter().filter(|atom| atom.iter().any(|&part| referent(part).is_some_and(is_here)));
    Predication { atoms: atoms.cloned().collect(), head: None }
}

/// The first and last words of the parts of a target that share no word, in order.
pub(crate) fn unconnected(gold: &Predication) -> Vec<(u16, u16)> {
    let mut part: BTreeMap<u16, u16> = BTreeMap::new();
    for atom in &gold.atoms {
        let referents: Vec<u16> = atom.iter().filter_map(|&piece| referent(piece)).collect();
        let joined: BTreeSet<u16> = referents.iter().filter_map(|at| part.get(at).copied()).collect();
        let Some(&name) = joined.first().or(referents.first()) else { continue };
        part.values_mut().filter(|other| joined.contains(other)).for_each(|other| *other = name);
        part.extend(referents.into_iter().map(|at| (at, name)));
    }
    let mut spans: BTreeMap<u16, (u16, u16)> = BTreeMap::new();
    for (&at, &name) in &part {
        let span = spans.entry(name).or_insert((at, at));
        *span = (span.0.min(at), span.1.max(at));
    }
    let mut spans: Vec<(u16, u16)> = spans.into_values().collect();
    spans.sort_unstable();
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predications::Part::{Close, Comma, Open, Ref, Token};

    #[test]
    fn what_shares_no_word_is_taken_apart() {
        let atom = |a, b| vec![Token(0), Open, Ref(a), Comma, Ref(b), Close];
        let gold = Predication { atoms: vec![atom(1, 0), atom(5, 4), atom(2, 1)], head: None };
        assert_eq!(unconnected(&gold), [(0, 2), (4, 5)]);
        let words = ["Ann", "saw", "Bo", "the", "The", "dog"];
        let mut beginnings = Beginnings::new(words.into_iter());
        beginnings.add(&[4, 5, 1]);
        beginnings.add(&[0, 1, 0]);
        assert_eq!(beginnings.split(&[0, 1, 2, 3, 5, 1], &gold), Some(vec![0..3, 3..6]));
        assert_eq!(about(&gold, &(3..6)).atoms, [atom(5, 4)]);
    }
}
