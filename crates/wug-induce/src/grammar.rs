//! The object that is learned.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::symbols::{ANY_CLASS, Child, Sym};

/// A rule: a source pattern, and the target term it stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rule<T> {
    /// Function words and slots.
    pub source: Vec<Sym>,
    /// The target, over the slots.
    pub term: T,
    /// The class of slots it fits; of a root, how many sentences it lets stand behind the first.
    pub class: u16,
    /// Whether it covers whole sources; other rules fill slots.
    pub root: bool,
}

/// The parent of root rules.
pub(crate) const TOP: u32 = u32::MAX;

/// A slot of a rule; slot 0 of [`TOP`] takes the root rules.
pub(crate) type Place = (u32, u8);

/// Rules, and what each of their slots takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grammar<T> {
    /// All rules; their numbers are what links name.
    pub rules: Vec<Rule<T>>,
    /// The class of each content word, by number; `None` for function words.
    pub classes: Vec<Option<u16>>,
    /// What was seen in each slot, how often.
    pub links: BTreeMap<Place, BTreeMap<Child, f64>>,
    /// What training shows not to belong in a slot.
    pub refuted: BTreeSet<(u32, u8, Child)>,
}

impl<T> Grammar<T> {
    /// The class of a child.
    pub(crate) fn class(&self, child: Child) -> Option<u16> {
        match child {
            Child::Word(word) => self.classes.get(word as usize).copied().unwrap_or(Some(ANY_CLASS)),
            Child::Rule(rule) => Some(self.rules[rule as usize].class),
        }
    }

    /// How often a child was seen in a slot.
    pub(crate) fn link(&self, place: Place, child: Child) -> f64 {
        self.links.get(&place).and_then(|children| children.get(&child)).copied().unwrap_or(0.0)
    }
}

/// Whether a child of one class fits a slot of another.
pub(crate) fn fits(child: u16, slot: u16) -> bool {
    child == slot || child == ANY_CLASS
}
