//! What a user sees: learn, predict, explain, save.

use std::time::Duration;

use wug_grammar::Vocab;

use crate::budget::Budget;
use crate::chart::Tree;
use crate::costs::Costs;
use crate::grammar::{Grammar, TOP};
use crate::induce::{best_tree, evaluate, induce};
use crate::pairs::Pairs;
use crate::strings::{Piece, Strings};
use crate::symbols::{Child, Sym};
use crate::Algebra;

/// Settings of the learner: one set for all data.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Time after which the best grammar so far is used.
    pub budget: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { budget: Duration::from_secs(60) }
    }
}

/// A learned grammar, ready to predict.
#[derive(Debug, Clone)]
pub struct Model {
    words: Vocab,
    algebra: Strings,
    grammar: Grammar<Vec<Piece>>,
    costs: Costs,
}

/// A prediction and how sure it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The predicted target; empty when the model abstains.
    pub text: String,
    /// Bits of the derivation.
    pub bits: f64,
    /// Whether a slot was filled by what was never seen in it.
    pub coerced: bool,
    /// Words that training never showed.
    pub unknown: Vec<String>,
    /// Why there is no prediction.
    pub abstained: Option<String>,
    /// The derivation.
    pub tree: Option<Tree>,
}

/// Learns from pairs of source and target, tokens separated by spaces.
pub fn learn<S: AsRef<str>, T: AsRef<str>>(
    pairs: impl IntoIterator<Item = (S, T)>,
    settings: &Settings,
) -> Model {
    let budget = Budget::new(settings.budget);
    let pairs = Pairs::new(pairs);
    let (algebra, mut material) = Strings::read(&pairs);
    let grammar = induce(&algebra, &mut material, &budget);
    let costs = Costs::new(&grammar);
    Model { words: pairs.source, algebra, grammar, costs }
}

impl Model {
    /// Predicts the target of a source.
    pub fn predict(&self, source: &str) -> Prediction {
        let tokens: Vec<u32> =
            source.split_whitespace().map(|word| self.words.get(word).unwrap_or(u32::MAX)).collect();
        let mut prediction = Prediction {
            text: String::new(),
            bits: f64::INFINITY,
            coerced: false,
            unknown: Vec::new(),
            abstained: None,
            tree: None,
        };
        match best_tree(&self.grammar, &self.costs, &tokens) {
            Ok((tree, bits)) => {
                prediction.bits = bits;
                prediction.coerced =
                    tree.links().iter().any(|&(parent, slot, child)| self.grammar.link((parent, slot), child) <= 0.0);
                if let Some(value) = evaluate(&self.algebra, &self.grammar, &tree, &tokens) {
                    let symbols = value.iter().map(|&symbol| self.algebra.symbols[symbol as usize].as_str());
                    prediction.text = symbols.collect::<Vec<_>>().join(" ");
                }
                prediction.tree = Some(tree);
            }
            Err(why) => prediction.abstained = Some(why.to_owned()),
        }
        prediction
    }

    /// The grammar as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let child_name = |child: &Child| match child {
            Child::Word(word) => self.words.word(*word).to_owned(),
            Child::Rule(rule) => format!("r{rule}"),
        };
        for (i, rule) in self.grammar.rules.iter().enumerate() {
            let mut slot = 0;
            let source: Vec<String> = rule
                .source
                .iter()
                .map(|sym| match sym {
                    Sym::Word(word) => self.words.word(*word).to_owned(),
                    Sym::Slot(class) => {
                        slot += 1;
                        if *class == 0 { format!("${slot}") } else { format!("${slot}:{class}") }
                    }
                })
                .collect();
            let kind = if rule.root { "ROOT" } else { "r" };
            let n = self.grammar.link((TOP, 0), Child::Rule(i as u32));
            text += &format!("{kind}{i}: {} => {}  [{n:.1}]\n", source.join(" "), self.algebra.show(&rule.term));
            for slot in 0..slot {
                if let Some(children) = self.grammar.links.get(&(i as u32, slot as u8)) {
                    let names: Vec<String> =
                        children.iter().map(|(c, n)| format!("{}({n:.1})", child_name(c))).collect();
                    text += &format!("    ${}: {}\n", slot + 1, names.join(" "));
                }
            }
        }
        text
    }
}
