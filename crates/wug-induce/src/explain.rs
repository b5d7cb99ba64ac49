//! Grammars and derivations as a person reads them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::chart::Tree;
use crate::grammar::TOP;
use crate::integers::Integers;
use crate::model::{Kit, Learned};
use crate::symbols::{Child, Sym};
use crate::{Algebra, Model, Prediction};

impl Model {
    /// The derivation of a prediction in one line, rules with what fills them, `?` where it was never seen; then what each
    /// step covers and its value, and the rules that are used, a line each.
    pub fn derivation(&self, prediction: &Prediction) -> String {
        let Some(tree) = &prediction.tree else { return prediction.explained.clone() };
        match &self.learned {
            Learned::General(_) => prediction.explained.clone(),
            Learned::Strings(kit) => self.explained(kit, tree, prediction),
            Learned::Predications(kit, _) => self.explained(kit, tree, prediction),
            Learned::Integers(kit) => {
                let text = self.explained(kit, tree, prediction);
                let functions = function_texts(kit);
                let named = functions.iter().enumerate().filter(|(i, _)| text.contains(&format!("f{i}(")));
                let named: String = named.map(|(_, function)| format!("\n{function}")).collect();
                text + &named
            }
        }
    }

    fn explained<A: Algebra>(&self, kit: &Kit<A>, tree: &Tree, prediction: &Prediction) -> String {
        let mut text = self.tree_text(kit, tree, (TOP, 0));
        let mut used = BTreeSet::new();
        Self::steps(kit, tree, &prediction.words, &mut used, &mut text);
        for rule in used {
            let _ = write!(text, "\n{}", self.rule_text(kit, rule as usize));
        }
        text
    }

    /// Writes what each rule of a derivation covers, with its value, the innermost first. Returns the value.
    fn steps<A: Algebra>(
        kit: &Kit<A>,
        tree: &Tree,
        words: &[String],
        used: &mut BTreeSet<u32>,
        text: &mut String,
    ) -> Option<A::Value> {
        let Child::Rule(rule) = tree.child else {
            let Child::Word(word) = tree.child else { return None };
            return Some(kit.algebra.word(word, tree.span.0));
        };
        used.insert(rule);
        let children: Vec<Option<A::Value>> =
            tree.children.iter().map(|child| Self::steps(kit, child, words, used, text)).collect();
        let children: Option<Vec<A::Value>> = children.into_iter().collect();
        let term = &kit.grammar.rules[rule as usize].term;
        let value = kit.algebra.apply(term, &children?.iter().collect::<Vec<_>>())?;
        let stretch = words.get(tree.span.0..tree.span.1).unwrap_or_default().join(" ");
        let _ = write!(text, "\n  r{rule} {stretch} = {}", kit.algebra.show_value(&value, words));
        Some(value)
    }

    fn tree_text<A: Algebra>(&self, kit: &Kit<A>, tree: &Tree, place: (u32, u8)) -> String {
        let mark = if kit.grammar.link(place, tree.child) > 0.0 { "" } else { "?" };
        match tree.child {
            Child::Word(word) if (word as usize) < self.words.len() => {
                format!("{mark}{}", self.words.word(word))
            }
            Child::Word(_) => format!("{mark}<new word>"),
            Child::Rule(rule) => {
                let children: Vec<String> = tree
                    .children
                    .iter()
                    .enumerate()
                    .map(|(slot, child)| self.tree_text(kit, child, (rule, slot as u8)))
                    .collect();
                format!("{mark}r{rule}({})", children.join(" "))
            }
        }
    }

    /// The grammar as text.
    pub fn text(&self) -> String {
        match &self.learned {
            Learned::General(model) => model.text(),
            Learned::Strings(kit) => self.kit_text(kit),
            Learned::Predications(kit, _) => self.kit_text(kit),
            Learned::Integers(kit) => {
                let functions: String =
                    function_texts(kit).iter().map(|function| format!("{function}\n")).collect();
                functions + &self.kit_text(kit)
            }
        }
    }

    /// A rule as a person reads it: `r3: $1 twice => $1 $1`.
    fn rule_text<A: Algebra>(&self, kit: &Kit<A>, number: usize) -> String {
        let rule = &kit.grammar.rules[number];
        let mut slot = 0;
        let source = rule.source.iter().map(|sym| match sym {
            Sym::Word(word) => self.words.word(*word).to_owned(),
            Sym::Slot(class) => {
                slot += 1;
                if *class == 0 { format!("${slot}") } else { format!("${slot}:{class}") }
            }
        });
        let source: Vec<String> = source.collect();
        let kind = if rule.root { "ROOT" } else { "r" };
        format!("{kind}{number}: {} => {}", source.join(" "), kit.algebra.show(&rule.term))
    }

    fn kit_text<A: Algebra>(&self, kit: &Kit<A>) -> String {
        let mut text = String::new();
        let child_name = |child: &Child| match child {
            Child::Word(word) => self.words.word(*word).to_owned(),
            Child::Rule(rule) => format!("r{rule}"),
        };
        if !self.erased.is_empty() {
            let erased: Vec<&str> = self.erased.iter().map(|&word| self.words.word(word)).collect();
            let _ = writeln!(text, "without meaning: {}", erased.join(" "));
        }
        for (i, rule) in kit.grammar.rules.iter().enumerate() {
            // How many training rows a root covers; other rules are counted where they fill slots.
            let n = kit.grammar.link((TOP, 0), Child::Rule(i as u32));
            let rows = if rule.root { format!("  [{n:.1}]") } else { String::new() };
            let _ = writeln!(text, "{}{rows}", self.rule_text(kit, i));
            let slots = rule.source.iter().filter(|sym| matches!(sym, Sym::Slot(_))).count();
            for slot in 0..slots {
                if let Some(children) = kit.grammar.links.get(&(i as u32, slot as u8)) {
                    let names: Vec<String> =
                        children.iter().map(|(c, n)| format!("{}({n:.1})", child_name(c))).collect();
                    let _ = writeln!(text, "    ${}: {}", slot + 1, names.join(" "));
                }
            }
        }
        text
    }
}

/// The functions that the rules of a grammar of numbers use: `f0(x, y) = ...`.
fn function_texts(kit: &Kit<Integers>) -> Vec<String> {
    let library = &kit.algebra.library.functions;
    library
        .iter()
        .enumerate()
        .map(|(i, (function, _))| format!("f{i}(x, y) = {}", function.show(i)))
        .collect()
}
