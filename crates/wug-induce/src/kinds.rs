//! Kinds of words by what stands beside them: the kinds that describe the sources shortest.

use std::collections::{BTreeMap, BTreeSet};

use crate::pairs::Pairs;
use crate::plan::Plan;
use crate::symbols::log2;

/// More content words are not sorted into kinds: every two of them are compared, again and again.
const MAX_WORDS: usize = 120;

/// Sorts content words into kinds; kinds are numbered from 0. Words of one kind share their neighbours: each source is
/// described as a chain of kinds, function words and its two ends, and the kinds are joined as long as that description,
/// with the table of neighbours that it needs, gets shorter.
pub(crate) fn kinds(pairs: &Pairs, owns: &[Option<u32>], plan: &Plan) -> Option<Vec<Option<u16>>> {
    let words = owns.len();
    let content: Vec<usize> = (0..words).filter(|&word| owns[word].is_some()).collect();
    if content.len() > MAX_WORDS {
        return None;
    }
    let edge = words as u32;
    let mut beside: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (source, _, _) in &pairs.rows {
        let chain: Vec<u32> = [edge].into_iter().chain(source.iter().copied()).chain([edge]).collect();
        for pair in chain.windows(2) {
            *beside.entry((pair[0], pair[1])).or_default() += 1.0;
        }
    }
    let mut chain = Chain::new(&beside);
    loop {
        let open: Vec<u32> =
            content.iter().map(|&word| word as u32).filter(|word| chain.total.contains_key(word)).collect();
        let mut best: Option<(f64, u32, u32)> = None;
        for (i, &a) in open.iter().enumerate() {
            for &b in &open[i + 1..] {
                let gain = chain.gain(a, b);
                if gain > 1e-9 && best.is_none_or(|(most, ..)| gain > most) {
                    best = Some((gain, a, b));
                }
            }
        }
        let Some((_, a, b)) = best else { break };
        chain.join(a, b);
        if plan.is_spent() {
            return None;
        }
    }
    while let Some((word, kind)) = rare_word(&chain, pairs, owns) {
        chain.joined.insert(word, kind);
    }
    let mut numbers: BTreeMap<u32, u16> = BTreeMap::new();
    let kind = |word: usize| {
        let kind = chain.kind_of(word as u32);
        let next = numbers.len() as u16;
        owns[word].map(|_| *numbers.entry(kind).or_insert(next))
    };
    Some((0..words).map(kind).collect())
}

/// The share of a rare word's places that a kind must know for the word to belong to it.
const KNOWN: f64 = 0.8;

/// A word that is alone of its kind although nearly all places where it stands, in source and target, are places of
/// another kind, whose words are commoner: it was seen too seldom to be seen everywhere. Returns the word and that kind.
fn rare_word(chain: &Chain, pairs: &Pairs, owns: &[Option<u32>]) -> Option<(u32, u32)> {
    let mut places: BTreeMap<u32, BTreeMap<[Option<u32>; 4], f64>> = BTreeMap::new();
    let mut members: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let owner: BTreeMap<u32, u32> =
        (0..).zip(owns).filter_map(|(word, owns)| Some(((*owns)?, word))).collect();
    // Kinds and symbols nobody owns are told apart by their sign.
    let symbol_kind = |symbol: &u32| owner.get(symbol).map_or(!symbol, |&word| chain.kind_of(word));
    for (source, target, _) in &pairs.rows {
        for (at, &word) in source.iter().enumerate() {
            let Some(symbol) = owns[word as usize] else { continue };
            members.entry(chain.kind_of(word)).or_default().insert(word);
            let mut there = target.iter().enumerate().filter(|(_, other)| **other == symbol);
            let (Some((there, _)), None) = (there.next(), there.next()) else { continue };
            let here = |at: usize| source.get(at).map(|&word| chain.kind_of(word));
            let beyond = |at: usize| target.get(at).map(symbol_kind);
            let place =
                [here(at.wrapping_sub(1)), here(at + 1), beyond(there.wrapping_sub(1)), beyond(there + 1)];
            *places.entry(chain.kind_of(word)).or_default().entry(place).or_default() += 1.0;
        }
    }
    members.retain(|kind, _| places.contains_key(kind));
    let total = |kind: &u32| places[kind].values().sum::<f64>();
    let mut alone: Vec<u32> = members.keys().copied().filter(|kind| members[kind].len() == 1).collect();
    alone.sort_by(|a, b| total(a).total_cmp(&total(b)));
    alone.into_iter().find_map(|word| {
        let known = |kind: &u32| {
            let known = places[&word].iter().filter(|(place, _)| places[kind].contains_key(*place));
            known.map(|(_, n)| n).sum::<f64>() / total(&word)
        };
        let commoner = |kind: &u32| total(kind) / members[kind].len() as f64 > total(&word);
        let others = members.keys().filter(|&kind| *kind != word && commoner(kind));
        let best = others
            .max_by(|a, b| known(a).total_cmp(&known(b)).then_with(|| total(a).total_cmp(&total(b))))?;
        (known(best) >= KNOWN).then_some((word, *best))
    })
}

/// Counts of neighbouring kinds. A kind is named by its smallest word.
struct Chain {
    /// What stands behind each kind, and before it.
    next: BTreeMap<u32, BTreeMap<u32, f64>>,
    previous: BTreeMap<u32, BTreeMap<u32, f64>>,
    total: BTreeMap<u32, f64>,
    joined: BTreeMap<u32, u32>,
    /// Bits for each entry of the table of neighbours.
    entry: f64,
}

/// `n log n`, which sums of code lengths are made of.
fn weight(n: f64) -> f64 {
    if n > 0.0 { n * log2(n) } else { 0.0 }
}

impl Chain {
    fn new(beside: &BTreeMap<(u32, u32), f64>) -> Self {
        let mut chain = Self {
            next: BTreeMap::new(),
            previous: BTreeMap::new(),
            total: BTreeMap::new(),
            joined: BTreeMap::new(),
            entry: 0.5 * log2(beside.values().sum::<f64>().max(2.0)),
        };
        for (&(a, b), &n) in beside {
            chain.next.entry(a).or_default().insert(b, n);
            chain.previous.entry(b).or_default().insert(a, n);
            *chain.total.entry(a).or_default() += n;
        }
        chain
    }

    fn kind_of(&self, word: u32) -> u32 {
        self.joined.get(&word).map_or(word, |&kind| self.kind_of(kind))
    }

    /// Bits saved when two kinds become one. With `w(n) = n log n`, a chain costs `-w` for each pair of neighbours, twice
    /// `w` for each kind (once for what follows it, once for the choice of its word), and the table.
    fn gain(&self, a: u32, b: u32) -> f64 {
        let mut gain = 2.0 * (weight(self.total[&a]) + weight(self.total[&b]));
        gain -= 2.0 * weight(self.total[&a] + self.total[&b]);
        let none = BTreeMap::new();
        for side in [&self.next, &self.previous] {
            let (of_a, of_b) = (side.get(&a).unwrap_or(&none), side.get(&b).unwrap_or(&none));
            for (other, n) in of_a {
                if let Some(m) = of_b.get(other)
                    && *other != a
                    && *other != b
                {
                    gain += weight(n + m) - weight(*n) - weight(*m) + self.entry;
                }
            }
        }
        let pair = |x: u32, y: u32| self.next.get(&x).and_then(|next| next.get(&y)).copied().unwrap_or(0.0);
        let among = [pair(a, a), pair(a, b), pair(b, a), pair(b, b)];
        gain += weight(among.iter().sum()) - among.iter().map(|&n| weight(n)).sum::<f64>();
        let entries = among.iter().filter(|&&n| n > 0.0).count();
        gain + self.entry * entries.saturating_sub(1) as f64
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (a.min(b), a.max(b));
        self.joined.insert(b, a);
        let moved = self.total.remove(&b).unwrap_or(0.0);
        *self.total.entry(a).or_default() += moved;
        for side in [&mut self.next, &mut self.previous] {
            for (other, n) in side.remove(&b).unwrap_or_default() {
                *side.entry(a).or_default().entry(other).or_default() += n;
            }
            for others in side.values_mut() {
                if let Some(n) = others.remove(&b) {
                    *others.entry(a).or_default() += n;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn words_with_the_same_neighbours_are_of_one_kind() {
        // Nouns 0 to 3, verbs 4 and 5, adjectives 6 and 7; 8 is a function word.
        let mut sources = Vec::new();
        for noun in 0..4 {
            for verb in 4..6 {
                sources.push(vec![noun, verb]);
                sources.push(vec![6 + (noun + verb) % 2, noun, verb]);
                sources.push(vec![noun, verb, 8, (noun + 1) % 4, verb]);
            }
        }
        let rows = sources.into_iter().map(|source: Vec<u32>| (source.clone(), source, 1.0)).collect();
        let pairs = Pairs { rows, ..Pairs::default() };
        let owns: Vec<Option<u32>> = (0..9).map(|word| (word < 8).then_some(word)).collect();
        let plan = Plan::new(&Settings::default());
        let found = kinds(&pairs, &owns, &plan).unwrap();
        assert_eq!(found[..4], [Some(0); 4]);
        assert_eq!(found[4..6], [Some(1); 2]);
        assert_eq!(found[6..8], [Some(2); 2]);
        assert_eq!(found[8], None);
    }
}
