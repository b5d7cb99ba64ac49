//! The object that is learned: a lexicon, rules, and what each hole of a rule takes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pairs;
use super::program::Program;
use super::synthesis::Language;
use super::value::{Token, Value};

/// A symbol of a rule's pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Symbol {
    Word(u32),
    /// A span with a value.
    Hole,
    /// A run of content words.
    Run,
    /// One or more adjacent spans with values.
    List,
}

/// A rule: a pattern of words and holes, and a program over the values of the holes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Rule {
    pub pattern: Vec<Symbol>,
    /// A number that stays when other rules go.
    pub id: u32,
    /// The number of the pattern; rules with the same pattern share it, and holes tell children apart by it.
    pub frame: u32,
    pub program: Program,
    pub bits: f64,
}

/// What fills a hole: the frame of a rule, or one of these.
pub(crate) const WORD: u32 = 1 << 30;
pub(crate) const RUN: u32 = WORD + 1;

/// A child of a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Child {
    /// A frame, [`WORD`] or [`RUN`].
    pub kind: u32,
    pub word: Option<u32>,
    /// The number of the rule.
    pub rule: Option<u32>,
}

/// What was seen in a hole.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    pub total: f64,
    #[serde(with = "pairs")]
    pub children: BTreeMap<u32, f64>,
    /// Which rule of a frame, by its id.
    #[serde(with = "pairs")]
    pub variants: BTreeMap<u32, f64>,
    pub words_total: f64,
    #[serde(with = "pairs")]
    pub words: BTreeMap<u32, f64>,
    /// Extra bits of children: seen only in derivations that training refutes, or learned from mistakes.
    #[serde(with = "pairs")]
    pub extra: BTreeMap<u32, f64>,
    #[serde(with = "pairs")]
    pub extra_words: BTreeMap<u32, f64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Grammar {
    pub rules: Vec<Rule>,
    pub frames: Vec<Vec<Symbol>>,
    /// The values of each word by itself.
    pub lexicon: Vec<Vec<Value>>,
    /// What each word gives to a run, if it can stand in one.
    pub in_run: Vec<Option<Token>>,
    /// By rule and hole; what whole sources are is under [`Grammar::top`].
    pub places: Vec<Vec<Place>>,
    pub top: Place,
    pub list: Place,
    /// Bits of each rule among those with its frame.
    pub variant_bits: Vec<f64>,
    pub language: Language,
    pub next_id: u32,
}

impl Grammar {
    /// Adds a rule; its places know nothing yet.
    pub(crate) fn add(&mut self, pattern: Vec<Symbol>, program: Program, bits: f64) {
        let known = self.frames.iter().position(|frame| *frame == pattern);
        let frame = known.unwrap_or_else(|| {
            self.frames.push(pattern.clone());
            self.frames.len() - 1
        }) as u32;
        let holes = pattern.iter().filter(|symbol| !matches!(symbol, Symbol::Word(_))).count();
        let id = self.rules.iter().map(|rule| rule.id + 1).max().unwrap_or(0).max(self.next_id);
        self.next_id = id + 1;
        self.rules.push(Rule { pattern, id, frame, program, bits });
        self.places.push(vec![Place::default(); holes]);
        self.variant_bits.push(0.0);
    }

    /// Takes a rule out.
    pub(crate) fn remove(&mut self, rule: usize) {
        self.rules.remove(rule);
        self.places.remove(rule);
        self.variant_bits.remove(rule);
    }

    /// Bits of a child in a hole. The less it was seen there, the more.
    pub(crate) fn link(&self, place: &Place, child: Child) -> f64 {
        let kinds = self.frames.len() as f64 + 2.0;
        if place.total == 0.0 {
            return kinds.log2();
        }
        let seen = place.children.get(&child.kind).copied().unwrap_or(0.0);
        let mut bits = -((seen + 0.3 / kinds) / (place.total + 0.3)).log2();
        bits += place.extra.get(&child.kind).copied().unwrap_or(0.0);
        if let Some(rule) = child.rule {
            // Which of the rules with this frame: as seen here, or else as anywhere.
            let rule = &self.rules[rule as usize];
            let anywhere = (-self.variant_bits[child.rule.map_or(0, |rule| rule as usize)]).exp2();
            if anywhere < 1.0 {
                let this = place.variants.get(&rule.id).copied().unwrap_or(0.0);
                bits -= ((this + 4.0 * anywhere) / (seen + 4.0)).log2();
            }
        }
        if let Some(word) = child.word {
            let words = self.lexicon.len() as f64 + 1.0;
            let seen = place.words.get(&word).copied().unwrap_or(0.0);
            bits -= ((seen + 2.02 / words) / (place.words_total + 2.02)).log2();
            bits += place.extra_words.get(&word).copied().unwrap_or(0.0);
        }
        bits
    }

    /// Rounds costs to what survives being written as decimal fractions, so that a saved grammar is the same grammar.
    pub(crate) fn round(&mut self) {
        let places = self.places.iter_mut().flatten().chain([&mut self.top, &mut self.list]);
        for place in places {
            let maps = [&mut place.children, &mut place.variants, &mut place.words];
            let extra = [&mut place.extra, &mut place.extra_words];
            let values = maps.into_iter().chain(extra).flat_map(BTreeMap::values_mut);
            for value in values.chain([&mut place.total, &mut place.words_total]) {
                *value = round(*value);
            }
        }
        for value in self.variant_bits.iter_mut().chain(self.rules.iter_mut().map(|rule| &mut rule.bits)) {
            *value = round(*value);
        }
        self.language.token_bits = round(self.language.token_bits);
    }

    /// Bits of all rules.
    pub(crate) fn bits(&self) -> f64 {
        self.rules.iter().map(|rule| rule.bits).sum()
    }
}

/// A multiple of 1/1024.
pub(crate) fn round(value: f64) -> f64 {
    (value * 1024.0).round() / 1024.0
}
