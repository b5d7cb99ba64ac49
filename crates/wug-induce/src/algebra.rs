use std::fmt::Debug;
use std::hash::Hash;

use crate::symbols::Sym;

/// What targets are made of. The search, the links and the parser are the same for all targets; an algebra says how a
/// target is cut into parts and how parts are put together again.
///
/// A *term* is the target side of a rule: an expression over the rule's slots. A *value* is what a tree evaluates to.
pub trait Algebra: Sync {
    /// The target side of a rule.
    type Term: Clone + Ord + Hash + Debug + Send + Sync;
    /// What a tree means.
    type Value: Clone + Ord + Hash + Debug + Send + Sync;

    /// The ways to see the slots `from..to` of a term as one part: terms over slots `0..to - from`.
    fn parts(&self, term: &Self::Term, from: usize, to: usize) -> Vec<Self::Term>;

    /// The term with the part over the slots `from..to` replaced by one slot; `None` if the part is not there.
    fn cut(&self, term: &Self::Term, from: usize, to: usize, part: &Self::Term) -> Option<Self::Term>;

    /// Bits to write a term down.
    fn bits(&self, term: &Self::Term) -> f64;

    /// The class of what a rule makes.
    fn class(&self, source: &[Sym], term: &Self::Term) -> u16;

    /// The term of a root that only puts its slots behind each other, where the targets of sentences add up.
    fn beside(&self) -> Option<Self::Term> {
        None
    }

    /// The value that stands for whatever fills a slot of a template.
    fn slot(&self, slot: usize) -> Self::Value;

    /// The value of a content word at a position of the source.
    fn word(&self, word: u32, position: usize) -> Self::Value;

    /// The value of a rule from the values of its children; `None` if it has none (too large, undefined).
    fn apply(&self, term: &Self::Term, children: &[&Self::Value]) -> Option<Self::Value>;

    /// Whether a value can be part of a derivation of the gold value.
    fn is_part(&self, value: &Self::Value, gold: &Self::Value) -> bool;

    /// Whether the value of a whole source is the gold value.
    fn is_whole(&self, value: &Self::Value, gold: &Self::Value) -> bool;

    /// The term as a person reads it; slots are `$1`, `$2`, ...
    fn show(&self, term: &Self::Term) -> String;

    /// A value as a person reads it; `words` are those of the source, which positions name.
    fn show_value(&self, value: &Self::Value, words: &[String]) -> String;
}
