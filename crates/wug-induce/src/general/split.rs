//! Branches by a word as rules of their own. Where every word is a symbol, one rule with a branch for each function word is
//! the shortest at first, but its holes cannot tell what each of these words takes, so that there is no precedence.

use super::grammar::{Grammar, Rule, Symbol};
use super::program::{Atom, IntExpr, Key, Program, Test};
use super::value::{Leaf, Value};

/// A rule for each branch: the word in place of the hole that the branches go by; `None` if they do not go by words.
pub(crate) fn branches(grammar: &Grammar, rule: &Rule) -> Option<Vec<(Vec<Symbol>, Program)>> {
    let Program::Case(Test::Key(Key::Whole(leaf)), branches) = &rule.program else { return None };
    if leaf.component.is_some() {
        return None;
    }
    let is_hole = |&at: &usize| !matches!(rule.pattern[at], Symbol::Word(_));
    let at = (0..rule.pattern.len()).filter(is_hole).nth(leaf.hole as usize)?;
    if rule.pattern[at] != Symbol::Hole || rule.pattern.len() < 2 {
        return None;
    }
    let one = |(key, branch): (&Value, &Program)| {
        let mut pattern = rule.pattern.clone();
        pattern[at] = Symbol::Word(word_of(grammar, key)?);
        let mut program = branch.clone();
        let is_free = without_hole(&mut program, leaf.hole) && !program.holes().is_empty();
        is_free.then_some((pattern, program))
    };
    branches.iter().map(one).collect()
}

/// The only word that has a value.
fn word_of(grammar: &Grammar, value: &Value) -> Option<u32> {
    let mut words = (0..grammar.lexicon.len()).filter(|&word| grammar.lexicon[word].contains(value));
    let word = words.next()?;
    (words.next().is_none() && grammar.lexicon[word].len() == 1).then_some(word as u32)
}

/// Moves the holes behind one that is taken out; false if the program reads that one.
fn without_hole(program: &mut Program, hole: u8) -> bool {
    let mut is_free = true;
    each_leaf(program, &mut |leaf| {
        is_free &= leaf.hole != hole;
        if leaf.hole > hole {
            leaf.hole -= 1;
        }
    });
    is_free
}

fn each_leaf(program: &mut Program, visit: &mut dyn FnMut(&mut Leaf)) {
    match program {
        Program::Concat(atoms) => atoms.iter_mut().for_each(|atom| of_atom(atom, visit)),
        Program::Int(expr) => of_expr(expr, visit),
        Program::Record(parts) => parts.iter_mut().for_each(|part| each_leaf(part, visit)),
        Program::Case(test, branches) => {
            match test {
                Test::Key(key) => of_key(key, visit),
                Test::Compare(a, b) => [a, b].into_iter().for_each(|expr| of_expr(expr, visit)),
                Test::Parity(expr) => of_expr(expr, visit),
            }
            branches.values_mut().for_each(|branch| each_leaf(branch, visit));
        }
    }
}

fn of_atom(atom: &mut Atom, visit: &mut dyn FnMut(&mut Leaf)) {
    match atom {
        Atom::Constant(_) | Atom::Start(_) => {}
        Atom::Apply(_, leaf) | Atom::Map(_, leaf, _) | Atom::FirstInt(leaf) | Atom::LastInt(leaf) => {
            visit(leaf);
        }
        Atom::Pair(_, a, b) => [a, b].into_iter().for_each(visit),
        Atom::Substitute(a, b, c) => [a, b, c].into_iter().for_each(visit),
        Atom::Lookup(key, _) => of_key(key, visit),
    }
}

fn of_expr(expr: &mut IntExpr, visit: &mut dyn FnMut(&mut Leaf)) {
    match expr {
        IntExpr::Constant(_) => {}
        IntExpr::Apply(_, leaf) | IntExpr::CountOf(_, leaf) => visit(leaf),
        IntExpr::Count(a, b) | IntExpr::Index(a, b) => [a, b].into_iter().for_each(visit),
        IntExpr::Binary(_, a, b) => {
            of_expr(a, visit);
            of_expr(b, visit);
        }
        IntExpr::Lookup(key, _) => of_key(key, visit),
    }
}

fn of_key(key: &mut Key, visit: &mut dyn FnMut(&mut Leaf)) {
    match key {
        Key::Whole(leaf)
        | Key::First(leaf)
        | Key::Last(leaf)
        | Key::LastKnown(leaf)
        | Key::FirstKnown(leaf) => visit(leaf),
        Key::Both(a, b) => [a, b].into_iter().for_each(visit),
    }
}
