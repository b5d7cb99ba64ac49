//! From templates and rows to a grammar: search, links, refutation, and the choice between what the starts found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::chart::{Parse, Tree, parse};
use crate::costs::Costs;
use crate::forest::{Case, Leaf};
use crate::grammar::{Grammar, Rule};
use crate::links::{Link, Row, estimate, refute};
use crate::plan::Plan;
use crate::pool::{Pool, Template};
use crate::search::{replay, search};
use crate::symbols::{Child, Counts, Sum, Sym, slot_count};
use crate::{Algebra, Without};

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
    /// Words that change nothing wherever they stand; they are left out of every source.
    pub erased: BTreeSet<u32>,
    /// How many sentences stand behind each other in rows that have several.
    pub beside: BTreeSet<usize>,
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

impl<A: Algebra> Material<A> {
    /// Collects rows and their templates, and leaves out words without meaning. A row whose template is `None` only
    /// helps to estimate links.
    pub(crate) fn new(classes: Vec<Option<u16>>, rows: Vec<Reading<A>>, plan: &Plan) -> Self {
        let templates = collect(rows.iter().filter_map(|(_, template)| template.as_ref()));
        let exceptions = if plan.has(Without::Exceptions) { exceptions(&templates) } else { BTreeSet::new() };
        let rows: Vec<_> = rows
            .into_iter()
            .filter(|(_, template)| {
                let is_exception = |(source, term, _): &Delexicalised<A::Term>| {
                    exceptions.contains(&(source.clone(), term.clone()))
                };
                !template.as_ref().is_some_and(is_exception)
            })
            .collect();
        let templates: Templates<A::Term> =
            templates.into_iter().filter(|(key, _)| !exceptions.contains(key)).collect();
        let erased = if plan.has(Without::Erase) { meaningless(&templates) } else { BTreeSet::new() };
        let keep = |sym: &Sym| !matches!(sym, Sym::Word(word) if erased.contains(word));
        let templates = if erased.is_empty() {
            templates
        } else {
            let shorter: Vec<Delexicalised<A::Term>> = rows
                .iter()
                .filter_map(|(_, template)| template.clone())
                .map(|(source, term, words)| (source.into_iter().filter(keep).collect(), term, words))
                .collect();
            collect(shorter.iter())
        };
        let mut material = Self {
            templates: templates.into_values().collect(),
            rows: Vec::with_capacity(rows.len()),
            left_out: Vec::new(),
            classes,
            erased,
            beside: BTreeSet::new(),
        };
        for (i, (mut row, template)) in rows.into_iter().enumerate() {
            if template.is_none() {
                material.left_out.push(i);
            }
            let kept =
                row.source.iter().zip(&row.positions).filter(|(word, _)| !material.erased.contains(word));
            (row.source, row.positions) = kept.map(|(word, position)| (*word, *position)).unzip();
            material.rows.push(row);
        }
        material
    }
}

/// A row, and what is left of it without its content words.
pub(crate) type Reading<A> = (Row<<A as Algebra>::Value>, Option<Delexicalised<<A as Algebra>::Term>>);

/// A row without its content words: pattern, term, and the word of each slot.
pub(crate) type Delexicalised<T> = (Vec<Sym>, T, Vec<u32>);

type Templates<T> = BTreeMap<(Vec<Sym>, T), Template<T>>;

/// Rows that are alike but for their content words, together.
fn collect<'a, T: Clone + Ord + 'a>(rows: impl Iterator<Item = &'a Delexicalised<T>>) -> Templates<T> {
    let mut sums: BTreeMap<(Vec<Sym>, T), (f64, Vec<Sum>)> = BTreeMap::new();
    for (pattern, term, words) in rows {
        let key = (pattern.clone(), term.clone());
        let (n, slots) = sums.entry(key).or_insert_with(|| (0.0, vec![Sum::default(); words.len()]));
        *n += 1.0;
        for (slot, &word) in slots.iter_mut().zip(words) {
            slot.add(&Counts::one(Child::Word(word), 1.0));
        }
    }
    sums.into_iter()
        .map(|((source, term), (n, slots))| {
            let slots = slots.iter().map(|slot| Arc::new(slot.counts())).collect();
            ((source.clone(), term.clone()), Template { source, term, slots, n })
        })
        .collect()
}

/// Noise in the training pairs: templates that contradict a far commoner one with the same source and, where nearly
/// every row has others like it, those of a single row.
fn exceptions<T: Clone + Ord>(templates: &Templates<T>) -> BTreeSet<(Vec<Sym>, T)> {
    let mut commonest: BTreeMap<&[Sym], f64> = BTreeMap::new();
    for ((source, _), template) in templates {
        let most = commonest.entry(source).or_default();
        *most = most.max(template.n);
    }
    let all: f64 = templates.values().map(|template| template.n).sum();
    let single = templates.values().filter(|template| template.n == 1.0).count() as f64;
    let drop_single = single <= 0.05 * all;
    templates
        .iter()
        .filter(|((source, _), template)| {
            20.0 * template.n <= commonest[source.as_slice()] || (drop_single && template.n == 1.0)
        })
        .map(|(key, _)| key.clone())
        .collect()
}

/// Function words that change nothing: without them most of their rows are like other rows, with the same target and
/// often with the same words, and hardly any is like a row with another target.
fn meaningless<T: Clone + Ord>(templates: &Templates<T>) -> BTreeSet<u32> {
    let words: BTreeSet<u32> = templates
        .keys()
        .flat_map(|(source, _)| source)
        .filter_map(|sym| if let Sym::Word(word) = sym { Some(*word) } else { None })
        .collect();
    let mut targets: BTreeMap<&[Sym], Vec<&T>> = BTreeMap::new();
    for (source, term) in templates.keys() {
        targets.entry(source).or_default().push(term);
    }
    words
        .into_iter()
        .filter(|&word| {
            let (mut all, mut same, mut clash, mut shared) = (0.0, 0.0, 0.0, 0.0);
            for ((source, term), template) in
                templates.iter().filter(|((s, _), _)| s.contains(&Sym::Word(word)))
            {
                let without: Vec<Sym> =
                    source.iter().filter(|sym| **sym != Sym::Word(word)).copied().collect();
                all += template.n;
                let known = targets.get(without.as_slice());
                if known.is_some_and(|terms| terms.contains(&term)) {
                    same += template.n;
                    let other = &templates[&(without, term.clone())];
                    let slots = template.slots.len().max(1) as f64;
                    for (here, there) in template.slots.iter().zip(&other.slots) {
                        let both: f64 =
                            here.iter().filter(|(child, _)| there.get(*child) > 0.0).map(|(_, n)| n).sum();
                        shared += both / slots;
                    }
                } else if let Some(terms) = known {
                    // As often as both are seen: a row or two that were cut wrongly contradict little.
                    let others: f64 =
                        terms.iter().map(|term| templates[&(without.clone(), (*term).clone())].n).sum();
                    clash += template.n.min(others);
                }
            }
            same >= 0.5 * all && clash <= 0.02 * all && shared >= 0.3 * same
        })
        .collect()
}

/// What was found.
pub(crate) struct Induced<T> {
    pub grammar: Grammar<T>,
    /// Bits of the grammar and of the rows that it gets wrong.
    pub bits: f64,
    /// The share of the rows that were checked which it gets wrong.
    pub wrong: f64,
}

/// Finds the grammar.
pub(crate) fn induce<A: Algebra>(algebra: &A, material: &mut Material<A>, plan: &Plan) -> Induced<A::Term> {
    material.templates.sort_by(|a, b| {
        let key = |t: &Template<A::Term>| (t.source.len(), algebra.bits(&t.term) as u64);
        key(a).cmp(&key(b)).then_with(|| (&a.source, &a.term).cmp(&(&b.source, &b.term)))
    });
    let found = search(algebra, &material.templates, &plan.of_search());
    let cases = cases(algebra, material);
    let mut best: Option<Induced<A::Term>> = None;
    for found in found.iter().take(COMPARED) {
        let pool = replay(algebra, &material.templates, &mut found.steps.clone());
        let mut grammar = to_grammar(algebra, &pool, material);
        estimate(algebra, &mut grammar, &cases, plan);
        if plan.has(Without::Refute) {
            refute(algebra, &mut grammar, spread(&material.rows, REFUTING_ROWS));
        }
        let errors = errors(algebra, &grammar, spread(&material.rows, CHECKED_ROWS));
        let wrong = errors as f64 / spread(&material.rows, CHECKED_ROWS).count().max(1) as f64;
        let bits = found.bits + ERROR_BITS * errors as f64;
        if best.as_ref().is_none_or(|best| bits < best.bits) {
            best = Some(Induced { grammar, bits, wrong });
        }
        if errors == 0 || plan.is_spent() {
            break;
        }
    }
    let nothing = || {
        let (rules, classes) = (Vec::new(), material.classes.clone());
        let grammar = Grammar { rules, classes, links: BTreeMap::new(), refuted: BTreeSet::new() };
        Induced { grammar, bits: 0.0, wrong: 0.0 }
    };
    best.unwrap_or_else(nothing)
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
                let (value, words) = (algebra.slot(slots - 1), template.slots[slots - 1].as_ref().clone());
                Leaf::Content { value, class, words }
            }
        });
        let leaves: Vec<Leaf<A::Value>> = leaves.collect();
        let values: Vec<A::Value> = (0..template.slots.len()).map(|slot| algebra.slot(slot)).collect();
        if let Some(gold) = algebra.apply(&template.term, &values.iter().collect::<Vec<_>>()) {
            cases.push(Case { leaves, gold, n: template.n, several: false });
        }
    }
    let step = material.left_out.len().div_ceil(LINK_ROWS).max(1);
    for &row in material.left_out.iter().step_by(step) {
        let Row { source, positions, gold, n, several } = &material.rows[row];
        let leaves = source.iter().zip(positions).map(|(&word, &position)| {
            match material.classes.get(word as usize).copied().flatten() {
                Some(class) => Leaf::Content {
                    value: algebra.word(word, position as usize),
                    class,
                    words: Counts::one(Child::Word(word), 1.0),
                },
                None => Leaf::Function(word),
            }
        });
        cases.push(Case { leaves: leaves.collect(), gold: gold.clone(), n: *n, several: *several });
    }
    cases
}

fn to_grammar<A: Algebra>(algebra: &A, pool: &Pool<A::Term>, material: &Material<A>) -> Grammar<A::Term> {
    let mut rules = Vec::new();
    for (root, entry) in
        pool.rules.iter().flatten().map(|rule| (false, rule)).chain(pool.entries().filter(|e| e.0))
    {
        let Template { source, term, .. } = entry.template.clone();
        let class = if root { 0 } else { algebra.class(&source, &term) };
        rules.push(Rule { source, term, class, root });
    }
    if let Some(beside) = algebra.beside() {
        rules.extend(several(&rules, &beside, &material.beside));
    }
    Grammar { rules, classes: material.classes.clone(), links: BTreeMap::new(), refuted: BTreeSet::new() }
}

/// Roots for sentences that stand behind each other. The last may end as one that stands alone does, with a word that
/// the others lack.
fn several<T: Clone + PartialEq>(rules: &[Rule<T>], beside: &T, numbers: &BTreeSet<usize>) -> Vec<Rule<T>> {
    let is_sentence = |rule: &&Rule<T>| rule.root && slot_count(&rule.source) == 1 && rule.term == *beside;
    let sentences: Vec<&[Sym]> =
        rules.iter().filter(is_sentence).map(|rule| rule.source.as_slice()).collect();
    let stands_alone = |sym: &&Sym| sentences.contains(&std::slice::from_ref(*sym));
    let mut roots = Vec::new();
    for last in &sentences {
        let Some(&first) = last.iter().find(stands_alone) else { continue };
        for &number in numbers {
            let source = [vec![first; number - 1], last.to_vec()].concat();
            roots.push(Rule { source, term: beside.clone(), class: number as u16 - 1, root: true });
        }
    }
    roots
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
        let value = tree.and_then(|tree| evaluate(algebra, grammar, &tree, &row.positions));
        value.is_none_or(|value| !algebra.is_whole(&value, &row.gold))
    })
    .count()
}

/// The links of the derivations of rows that come out wrong.
pub(crate) fn wrong_derivations<'a, A: Algebra>(
    algebra: &A,
    grammar: &Grammar<A::Term>,
    rows: impl Iterator<Item = &'a Row<A::Value>>,
) -> Vec<Vec<Link>>
where
    A::Value: 'a,
{
    let costs = Costs::new(grammar);
    rows.filter_map(|row| {
        let (tree, _) = best_tree(grammar, &costs, &row.source).ok()?;
        let value = evaluate(algebra, grammar, &tree, &row.positions);
        let is_right = value.is_some_and(|value| algebra.is_whole(&value, &row.gold));
        (!is_right).then(|| tree.links())
    })
    .collect()
}

/// The cheapest derivation: from seen links if there is one, else from any.
pub(crate) fn best_tree<T>(
    grammar: &Grammar<T>,
    costs: &Costs,
    source: &[u32],
) -> Result<(Tree, f64), &'static str> {
    for coerce in [false, true] {
        match parse(grammar, costs, source, coerce) {
            Parse::Tree { tree, bits } => return Ok((tree, bits)),
            Parse::TooLong => return Err("the source is too long to be parsed within bounds"),
            Parse::Nothing => {}
        }
    }
    Err("no rule of the grammar covers the source")
}

/// The value of a derivation; `positions` says where each word stood before words without meaning were left out.
pub(crate) fn evaluate<A: Algebra>(
    algebra: &A,
    grammar: &Grammar<A::Term>,
    tree: &Tree,
    positions: &[u16],
) -> Option<A::Value> {
    match tree.child {
        Child::Word(word) => Some(algebra.word(word, positions[tree.span.0] as usize)),
        Child::Rule(rule) => {
            let children: Option<Vec<A::Value>> =
                tree.children.iter().map(|child| evaluate(algebra, grammar, child, positions)).collect();
            algebra.apply(&grammar.rules[rule as usize].term, &children?.iter().collect::<Vec<_>>())
        }
    }
}
