//! Models as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::grammar::{Grammar, Rule, TOP};
use crate::symbols::{Child, slot_count};

/// Why a saved model cannot be used.
#[derive(Debug, Error)]
pub enum LoadError {
    /// It is not the JSON that `save` writes.
    #[error("not a saved grammar: {0}")]
    Json(#[from] serde_json::Error),
    /// Its parts do not fit together.
    #[error("not a saved grammar: {0}")]
    Broken(&'static str),
}

/// A grammar with its links as a list.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedGrammar<T> {
    rules: Vec<Rule<T>>,
    classes: Vec<Option<u16>>,
    /// Parent, slot, child, how often.
    links: Vec<(u32, u8, Child, f64)>,
    /// Parent, slot, child.
    refuted: Vec<(u32, u8, Child)>,
}

impl<T: Clone> From<&Grammar<T>> for SavedGrammar<T> {
    fn from(grammar: &Grammar<T>) -> Self {
        let links = grammar.links.iter().flat_map(|(&(parent, slot), children)| {
            children.iter().map(move |(&child, &n)| (parent, slot, child, n))
        });
        Self {
            rules: grammar.rules.clone(),
            classes: grammar.classes.clone(),
            links: links.collect(),
            refuted: grammar.refuted.iter().copied().collect(),
        }
    }
}

impl<T> SavedGrammar<T> {
    /// The grammar, if its links name rules, slots and words that there are. `slots_used` says how many slots a term
    /// needs.
    pub(crate) fn open(
        self,
        words: usize,
        slots_used: impl Fn(&T) -> usize,
    ) -> Result<Grammar<T>, LoadError> {
        if self.classes.len() != words {
            return Err(LoadError::Broken("a class is missing for some word"));
        }
        if self.rules.iter().any(|rule| slots_used(&rule.term) > slot_count(&rule.source)) {
            return Err(LoadError::Broken("a rule uses a slot that it does not have"));
        }
        if self.rules.iter().any(|rule| rule.source.len() < 2 && !rule.root) {
            return Err(LoadError::Broken("a rule is too short"));
        }
        let is_child = |child: Child| match child {
            Child::Word(word) => (word as usize) < words,
            Child::Rule(rule) => (rule as usize) < self.rules.len(),
        };
        let is_place = |parent: u32, slot: u8| match self.rules.get(parent as usize) {
            Some(rule) => (slot as usize) < slot_count(&rule.source),
            None => parent == TOP && slot == 0,
        };
        let mut links: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for &(parent, slot, child, n) in &self.links {
            if !is_place(parent, slot) || !is_child(child) || !n.is_finite() || n <= 0.0 {
                return Err(LoadError::Broken("a link names something that is not there"));
            }
            links.entry((parent, slot)).or_default().insert(child, n);
        }
        if self.refuted.iter().any(|&(parent, slot, child)| !is_place(parent, slot) || !is_child(child)) {
            return Err(LoadError::Broken("a refuted link names something that is not there"));
        }
        let refuted = self.refuted.into_iter().collect();
        Ok(Grammar { rules: self.rules, classes: self.classes, links, refuted })
    }
}
