//! From templates and rows to a grammar: search, links, refutation, and the choice between what the starts found.

use std::collections::{BTreeMap, BTreeSet};

use crate::Algebra;
use crate::budget::Budget;
use crate::chart::{Parse, Tree, parse};
use crate::costs::Costs;
use crate::forest::{Case, Leaf};
use crate::grammar::{Grammar, Rule};
use crate::links::{Row, estimate, refute};
use crate::pool::{Pool, Template};
use crate::search::{replay, search};
use crate::symbols::{Child, Counts, Sym};

/// What an algebra makes of the training pairs.
pub(crate) struct Material<A: Algebra> {
    /// Rows without their content words, equal ones together.
    pub templates: Vec<Template<A::Term>>,
    /// All rows that the lexicon explains, the shortest first.
    pub rows: Vec<Row<A::Value>>,
    /// Rows among them that are in no template.
    pub left_out: Vec<usize>,
    /// The class of each content word.
    pub classes: Vec<Option<u16>>,
}

/// Rows outside the templates that links are estimated from; rows that are asked to refute links; rows on which the
/// grammars of several starts are compared.
const LINK_ROWS: usize = 1500;
const REFUTING_ROWS: usize = 800;
const CHECKED_ROWS: usize = 600;
/// How many starts are compared.
const COMPARED: usize = 3;
/// What a training row costs that a grammar gets wrong.
const ERROR_BITS: f64 = 40.0;

/// Finds the grammar.
pub(crate) fn induce<A: Algebra>(algebra: &A, material: &mut Material<A>, budget: &Budget) -> Grammar<A::Term> {
    material.templates.sort_by(|a, b| {
        let key = |t: &Template<A::Term>| (t.source.len(), algebra.bits(&t.term) as u64);
        key(a).cmp(&key(b)).then_with(|| (&a.source, &a.term).cmp(&(&b.source, &b.term)))
    });
    let found = search(algebra, &material.templates, budget);
    let cases = cases(algebra, material);
    let mut best: Option<(f64, Grammar<A::Term>)> = None;
    for found in found.iter().take(COMPARED) {
        let pool = replay(algebra, &material.templates, &found.steps);
        let mut grammar = to_grammar(algebra, &pool, &material.classes);
        estimate(algebra, &mut grammar, &cases);
        refute(algebra, &mut grammar, spread(&material.rows, REFUTING_ROWS));
        let errors = errors(algebra, &grammar, spread(&material.rows, CHECKED_ROWS));
        let bits = found.bits + ERROR_BITS * errors as f64;
        if best.as_ref().is_none_or(|(least, _)| bits < *least) {
            best = Some((bits, grammar));
        }
        if errors == 0 || budget.is_spent() {
            break;
        }
    }
    best.map(|(_, grammar)| grammar).unwrap_or_else(|| Grammar {
        rules: Vec::new(),
        classes: material.classes.clone(),
        links: BTreeMap::new(),
        refuted: BTreeSet::new(),
    })
}

/// The shortest rows and some of all lengths: half and half.
fn spread<V>(rows: &[Row<V>], most: usize) -> impl Iterator<Item = &Row<V>> {
    let short = most.min(rows.len()) / 2;
    let step = (rows.len() - short).div_ceil((most - most / 2).max(1)).max(1);
    rows[..short].iter().chain(rows[short..].iter().step_by(step))
}

/// What links are estimated from: the templates, and rows that are in none.
fn cases<A: Algebra>(algebra: &A, material: &Material<A>) -> Vec<Case<A::Value>> {
    let mut cases: Vec<Case<A::Value>> = Vec::new();
    for template in &material.templates {
        let mut slots = 0;
        let leaves = template.source.iter().map(|sym| match *sym {
            Sym::Word(word) => Leaf::Function(word),
            Sym::Slot(class) => {
                slots += 1;
                let (value, words) = (algebra.slot(slots - 1), template.slots[slots - 1].clone());
                Leaf::Content { value, class, words }
            }
        });
        let leaves: Vec<Leaf<A::Value>> = leaves.collect();
        let values: Vec<A::Value> = (0..template.slots.len()).map(|slot| algebra.slot(slot)).collect();
        if let Some(gold) = algebra.apply(&template.term, &values.iter().collect::<Vec<_>>()) {
            cases.push(Case { leaves, gold, n: template.n });
        }
    }
    let step = material.left_out.len().div_ceil(LINK_ROWS).max(1);
    for &row in material.left_out.iter().step_by(step) {
        let Row { source, gold, n } = &material.rows[row];
        let leaves = source.iter().enumerate().map(|(position, &word)| {
            match material.classes.get(word as usize).copied().flatten() {
                Some(class) => Leaf::Content {
                    value: algebra.word(word, position),
                    class,
                    words: Counts::one(Child::Word(word), 1.0),
                },
                None => Leaf::Function(word),
            }
        });
        cases.push(Case { leaves: leaves.collect(), gold: gold.clone(), n: *n });
    }
    cases
}

fn to_grammar<A: Algebra>(
    algebra: &A,
    pool: &Pool<A::Term>,
    classes: &[Option<u16>],
) -> Grammar<A::Term> {
    let mut rules = Vec::new();
    for (root, entry) in pool.rules.iter().flatten().map(|rule| (false, rule)).chain(pool.entries().filter(|e| e.0))
    {
        let Template { source, term, .. } = entry.template.clone();
        let class = if root { 0 } else { algebra.class(&source, &term) };
        rules.push(Rule { source, term, class, root });
    }
    Grammar { rules, classes: classes.to_vec(), links: BTreeMap::new(), refuted: BTreeSet::new() }
}

/// How many rows a grammar gets wrong.
fn errors<'a, A: Algebra>(
    algebra: &A,
    grammar: &Grammar<A::Term>,
    rows: impl Iterator<Item = &'a Row<A::Value>>,
) -> usize
where
    A::Value: 'a,
{
    let costs = Costs::new(grammar);
    rows.filter(|row| {
        let tree = best_tree(grammar, &costs, &row.source).ok().map(|(tree, _)| tree);
        let value = tree.and_then(|tree| evaluate(algebra, grammar, &tree, &row.source));
        value.is_none_or(|value| !algebra.is_whole(&value, &row.gold))
    })
    .count()
}

/// The cheapest derivation: from seen links if there is one, else from any.
pub(crate) fn best_tree<T>(grammar: &Grammar<T>, costs: &Costs, source: &[u32]) -> Result<(Tree, f64), &'static str> {
    for coerce in [false, true] {
        match parse(grammar, costs, source, coerce) {
            Parse::Tree { tree, bits } => return Ok((tree, bits)),
            Parse::TooLong => return Err("the source is too long to be parsed within bounds"),
            Parse::Nothing => {}
        }
    }
    Err("no rule of the grammar covers the source")
}

/// The value of a derivation.
pub(crate) fn evaluate<A: Algebra>(
    algebra: &A,
    grammar: &Grammar<A::Term>,
    tree: &Tree,
    source: &[u32],
) -> Option<A::Value> {
    match tree.child {
        Child::Word(word) => {
            debug_assert_eq!(source[tree.span.0], word);
            Some(algebra.word(word, tree.span.0))
        }
        Child::Rule(rule) => {
            let children: Option<Vec<A::Value>> =
                tree.children.iter().map(|child| evaluate(algebra, grammar, child, source)).collect();
            algebra.apply(&grammar.rules[rule as usize].term, &children?.iter().collect::<Vec<_>>())
        }
    }
}
