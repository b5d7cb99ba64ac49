//! The pieces all algebras share: source patterns, children of slots, counted children, bits.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// A symbol of a source pattern: a word that stands for itself, or a slot with the class of what may fill it. Slots
/// are numbered by their order in the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Sym {
    /// A function word.
    Word(u32),
    /// A slot of this class.
    Slot(u16),
}

/// The class of a word that was never seen: it fits every slot.
pub(crate) const ANY_CLASS: u16 = u16::MAX;

/// How many slots a pattern has.
pub(crate) fn slot_count(source: &[Sym]) -> usize {
    source.iter().filter(|sym| matches!(sym, Sym::Slot(_))).count()
}

/// Where a pattern stands in a longer one.
pub(crate) fn matches<'a>(source: &'a [Sym], pattern: &'a [Sym]) -> impl Iterator<Item = usize> + 'a {
    let last = (source.len() + 1).saturating_sub(pattern.len());
    (0..last).filter(move |&i| source[i..i + pattern.len()] == *pattern)
}

/// What fills a slot: a content word or a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Child {
    /// A content word.
    Word(u32),
    /// A rule, by its number.
    Rule(u32),
}

/// Children with how often each was seen, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Counts(Vec<(Child, f64)>);

impl Counts {
    /// One child.
    pub(crate) fn one(child: Child, n: f64) -> Self {
        Self(vec![(child, n)])
    }

    /// The pairs in order of the children.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Child, f64)> + '_ {
        self.0.iter().copied()
    }

    /// How often a child was seen.
    pub(crate) fn get(&self, child: Child) -> f64 {
        self.0.binary_search_by_key(&child, |&(c, _)| c).map_or(0.0, |i| self.0[i].1)
    }

    /// Adds all of another.
    pub(crate) fn add(&mut self, other: &Self) {
        if other.0.len() == 1 {
            let (child, n) = other.0[0];
            match self.0.binary_search_by_key(&child, |&(c, _)| c) {
                Ok(i) => self.0[i].1 += n,
                Err(i) => self.0.insert(i, (child, n)),
            }
            return;
        }
        let mut merged = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (Some(&&x), Some(&&y)) if x.0 == y.0 => {
                    merged.push((x.0, x.1 + y.1));
                    a.next();
                    b.next();
                }
                (Some(&&x), Some(&&y)) if x.0 < y.0 => {
                    merged.push(x);
                    a.next();
                }
                (_, Some(&&y)) => {
                    merged.push(y);
                    b.next();
                }
                (Some(&&x), None) => {
                    merged.push(x);
                    a.next();
                }
                (None, None) => break,
            }
        }
        self.0 = merged;
    }

    /// Renames children; those that become equal are added up.
    pub(crate) fn rename(&self, name: impl Fn(Child) -> Child) -> Self {
        let mut renamed = Self::default();
        for (child, n) in self.iter() {
            renamed.add(&Self::one(name(child), n));
        }
        renamed
    }
}

/// Adds up many counts: one place for each word and each rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sum {
    words: Vec<f64>,
    rules: Vec<f64>,
    any: bool,
}

impl Sum {
    /// Adds all of a count.
    pub(crate) fn add(&mut self, counts: &Counts) {
        self.any |= !counts.0.is_empty();
        for (child, n) in counts.iter() {
            let (places, i) = match child {
                Child::Word(word) => (&mut self.words, word as usize),
                Child::Rule(rule) => (&mut self.rules, rule as usize),
            };
            if places.len() <= i {
                places.resize(i + 1, 0.0);
            }
            places[i] += n;
        }
    }

    /// How often a child was seen.
    pub(crate) fn get(&self, child: Child) -> f64 {
        let n = match child {
            Child::Word(word) => self.words.get(word as usize),
            Child::Rule(rule) => self.rules.get(rule as usize),
        };
        n.copied().unwrap_or(0.0)
    }

    /// Whether nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        !self.any
    }

    /// The sum in order.
    pub(crate) fn counts(&self) -> Counts {
        let seen = |(i, n): (usize, &f64)| (*n > 0.0).then_some((i as u32, *n));
        let words = self.words.iter().enumerate().filter_map(seen).map(|(i, n)| (Child::Word(i), n));
        let rules = self.rules.iter().enumerate().filter_map(seen).map(|(i, n)| (Child::Rule(i), n));
        Counts(words.chain(rules).collect())
    }
}

/// A hash that is only used to find equal things.
pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Base-2 logarithm from additions and multiplications alone, so that every machine rounds it alike.
pub(crate) fn log2(x: f64) -> f64 {
    if x <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let (mut mantissa, mut exponent) = (x, 0.0);
    while mantissa >= 1.5 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    while mantissa < 0.75 {
        mantissa *= 2.0;
        exponent -= 1.0;
    }
    // ln m = 2 atanh((m-1)/(m+1)), |(m-1)/(m+1)| <= 1/5.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let (mut power, mut sum) = (t, 0.0);
    for k in 0..14 {
        sum += power / f64::from(2 * k + 1);
        power *= square;
    }
    exponent + 2.0 * sum * std::f64::consts::LOG2_E
}

/// Bits to say, `a + b` times, which of two outcomes came, when one came `a` and the other `b` times.
pub(crate) fn binary_entropy_bits(a: f64, b: f64) -> f64 {
    entropy_bits(&[a, b])
}

/// Bits to say which outcome came, for outcomes that came this often.
pub(crate) fn entropy_bits(counts: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let bits: f64 = counts.iter().filter(|&&n| n > 0.0).map(|&n| n * (log2(total) - log2(n))).sum();
    bits.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_agrees_with_the_libraries() {
        for x in [1e-9, 0.1, 0.5, 0.75, 1.0, 1.4999, 2.0, 3.0, 1000.0, 1e12] {
            assert!((log2(x) - f64::log2(x)).abs() < 1e-12, "{x}");
        }
        assert_eq!(log2(8.0), 3.0);
        assert_eq!(entropy_bits(&[4.0, 4.0]), 8.0);
        assert_eq!(entropy_bits(&[4.0, 0.0]), 0.0);
    }

    #[test]
    fn counts_add_up_in_order() {
        let mut counts = Counts::one(Child::Rule(1), 2.0);
        counts.add(&Counts::one(Child::Word(5), 1.0));
        let mut more = Counts::one(Child::Word(5), 1.0);
        more.add(&Counts::one(Child::Word(9), 4.0));
        counts.add(&more);
        let pairs: Vec<_> = counts.iter().collect();
        assert_eq!(pairs, [(Child::Word(5), 2.0), (Child::Word(9), 4.0), (Child::Rule(1), 2.0)]);
        assert_eq!(counts.get(Child::Word(9)), 4.0);
    }
}
