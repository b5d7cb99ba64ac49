//! The types of the grammar: which children each slot takes, found from derivations of training rows.

use std::collections::{BTreeMap, BTreeSet};

use crate::forest::{Case, Forest, LinkId, LinkNames, forest};
use crate::grammar::{Grammar, Place, TOP, fits};
use crate::plan::Plan;
use crate::symbols::{Child, Sym};
use crate::{Algebra, Without};

/// A training row as words and value.
#[derive(Debug, Clone)]
pub(crate) struct Row<V> {
    pub source: Vec<u32>,
    /// Where each word stood before words without meaning were left out.
    pub positions: Vec<u16>,
    pub gold: V,
    /// How many training rows are like it.
    pub n: f64,
    /// Whether it is several sentences, one behind the other.
    pub several: bool,
}

impl<V> Row<V> {
    /// A row with all its words.
    pub(crate) fn new(source: &[u32], gold: V) -> Self {
        let positions = (0..source.len() as u16).collect();
        Self { source: source.to_vec(), positions, gold, n: 1.0, several: false }
    }
}

const ROUNDS: usize = 20;
/// Cases that are asked even when no time is left: without links a grammar is nothing.
const LEAST_CASES: usize = 256;

/// Estimates the links from all derivations of the cases that give their targets (expectation maximisation), then
/// takes away every link that no case needs.
pub(crate) fn estimate<A: Algebra>(
    algebra: &A,
    grammar: &mut Grammar<A::Term>,
    cases: &[Case<A::Value>],
    plan: &Plan,
) {
    let estimator = Estimator::new(algebra, grammar, cases, plan);
    grammar.links = estimator.links(&vec![false; estimator.names.names.len()], plan);
}

/// All derivations of the cases that give their targets.
pub(crate) struct Estimator {
    forests: Vec<Forest>,
    names: LinkNames,
}

impl Estimator {
    pub(crate) fn new<A: Algebra>(
        algebra: &A,
        grammar: &Grammar<A::Term>,
        cases: &[Case<A::Value>],
        plan: &Plan,
    ) -> Self {
        let mut names = LinkNames::default();
        let in_time = |i: usize| i < LEAST_CASES || !i.is_multiple_of(64) || !plan.is_spent();
        let asked = cases.iter().enumerate().take_while(|(i, _)| in_time(*i));
        let forests = asked.filter_map(|(_, case)| forest(algebra, grammar, case, &mut names)).collect();
        Self { forests, names }
    }

    /// The links that are needed when some are not to be used.
    fn links(&self, unused: &[bool], plan: &Plan) -> Links {
        let Self { forests, names } = self;
        let mut gone = unused.to_vec();
        let mut weights = expectations(forests, names, &gone, None);
        for _ in 0..ROUNDS {
            weights = expectations(forests, names, &gone, Some(&weights));
        }
        if plan.has(Without::Sparsify) {
            sparsify(forests, &weights, names, &mut gone);
        }
        for _ in 0..3 {
            weights = expectations(forests, names, &gone, Some(&weights));
        }
        let mut links = Links::new();
        for (link, &(parent, slot, child)) in names.names.iter().enumerate() {
            if !gone[link] && weights[link] > 0.0 {
                links.entry((parent, slot)).or_default().insert(child, weights[link]);
            }
        }
        links
    }

    /// Estimates the links, and then again without one that stands in wrong derivations of rows, as long as more rows
    /// come out right for it and every case keeps a right derivation. `wrong` says which links the derivations of the
    /// rows that come out wrong use.
    pub(crate) fn correct<T: Clone>(
        &self,
        grammar: &mut Grammar<T>,
        plan: &Plan,
        wrong: impl Fn(&Grammar<T>) -> Vec<Vec<Link>>,
    ) {
        let mut unused = vec![false; self.names.names.len()];
        grammar.links = self.links(&unused, plan);
        let mut mistakes = wrong(grammar);
        let mut tried = BTreeSet::new();
        while !mistakes.is_empty() && !plan.is_spent() && tried.len() < CORRECTIONS {
            let mut blamed: BTreeMap<Link, usize> = BTreeMap::new();
            for link in mistakes.iter().flat_map(|links| links.iter().collect::<BTreeSet<_>>()) {
                *blamed.entry(*link).or_default() += 1;
            }
            // Links between rules are few and say much; a word in a slot is hardly ever wrong.
            let worst = blamed
                .into_iter()
                .filter(|(link, _)| matches!(link.2, Child::Rule(_)) && !tried.contains(link))
                .max_by_key(|&(link, n)| (n, std::cmp::Reverse(link)));
            let Some((link, _)) = worst else { return };
            tried.insert(link);
            let Some(id) = self.names.names.iter().position(|name| *name == link) else { continue };
            let is_gone = |group: u32| {
                self.names.groups[group as usize].iter().any(|&(l, _)| l as usize == id || unused[l as usize])
            };
            if !self.forests.iter().all(|forest| forest.has_derivation(is_gone)) {
                continue;
            }
            unused[id] = true;
            let links = self.links(&unused, plan);
            let before = std::mem::replace(&mut grammar.links, links);
            let fewer = wrong(grammar);
            if fewer.len() < mistakes.len() {
                mistakes = fewer;
                tried.clear();
                tried
                    .extend(self.names.names.iter().zip(&unused).filter(|(_, gone)| **gone).map(|(l, _)| *l));
            } else {
                grammar.links = before;
                unused[id] = false;
            }
        }
    }
}

/// How many links are tried in turn without success.
const CORRECTIONS: usize = 24;

/// Expected number of uses of each link, given how often each was used before (at first: all alike).
fn expectations(forests: &[Forest], names: &LinkNames, gone: &[bool], before: Option<&[f64]>) -> Vec<f64> {
    let mut totals: BTreeMap<(u32, u8), f64> = BTreeMap::new();
    if let Some(before) = before {
        for (&(parent, slot, _), n) in names.names.iter().zip(before) {
            *totals.entry((parent, slot)).or_default() += n;
        }
    }
    let link_chance: Vec<f64> = names
        .names
        .iter()
        .enumerate()
        .map(|(link, &(parent, slot, _))| match before {
            _ if gone[link] => 0.0,
            None => 1.0,
            Some(before) => before[link] / totals[&(parent, slot)].max(1e-300),
        })
        .collect();
    let chance: Vec<f64> = names
        .groups
        .iter()
        .map(|group| {
            let usable = group.iter().all(|&(link, _)| !gone[link as usize]);
            let mean = || group.iter().map(|&(link, share)| share * link_chance[link as usize]).sum();
            if usable { mean() } else { 0.0 }
        })
        .collect();
    let mut uses = vec![0.0; chance.len()];
    for forest in forests {
        expect(forest, &chance, &mut uses);
    }
    let mut expected = vec![0.0; names.names.len()];
    for (group, n) in names.groups.iter().zip(&uses) {
        for &(link, share) in group {
            expected[link as usize] += share * n;
        }
    }
    expected
}

/// Inside and outside sums over one forest.
fn expect(forest: &Forest, chance: &[f64], expected: &mut [f64]) {
    let mut inside = vec![0.0; forest.nodes.len()];
    let weight = |links: &[u32], children: &[u32], inside: &[f64]| -> f64 {
        links.iter().map(|&link| chance[link as usize]).product::<f64>()
            * children.iter().map(|&child| inside[child as usize]).product::<f64>()
    };
    for (i, alternatives) in forest.nodes.iter().enumerate() {
        inside[i] = if alternatives.is_empty() {
            1.0
        } else {
            alternatives.iter().map(|a| weight(&a.links, &a.children, &inside)).sum()
        };
    }
    let total: f64 =
        forest.tops.iter().map(|&(top, link)| inside[top as usize] * chance[link as usize]).sum();
    if total <= 0.0 {
        return;
    }
    let mut outside = vec![0.0; forest.nodes.len()];
    for &(top, link) in &forest.tops {
        outside[top as usize] += chance[link as usize];
        expected[link as usize] += forest.n * inside[top as usize] * chance[link as usize] / total;
    }
    for i in (0..forest.nodes.len()).rev() {
        for alternative in &forest.nodes[i] {
            let all = outside[i] * weight(&alternative.links, &alternative.children, &inside);
            if all <= 0.0 {
                continue;
            }
            for (&link, &child) in alternative.links.iter().zip(&alternative.children) {
                expected[link as usize] += forest.n * all / total;
                outside[child as usize] += all / inside[child as usize];
            }
        }
    }
}

/// Takes away links, the least used first, as long as every case keeps a derivation. Among several bracketings that
/// fit, one remains: the most regular.
fn sparsify(forests: &[Forest], weights: &[f64], names: &LinkNames, gone: &mut [bool]) {
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); gone.len()];
    for (i, forest) in forests.iter().enumerate() {
        let inner = forest.nodes.iter().flatten().flat_map(|alternative| alternative.links.iter().copied());
        let groups: BTreeSet<u32> = inner.chain(forest.tops.iter().map(|&(_, link)| link)).collect();
        let links: BTreeSet<LinkId> = groups
            .iter()
            .flat_map(|&group| names.groups[group as usize].iter().map(|&(link, _)| link))
            .collect();
        for &link in &links {
            users[link as usize].push(i as u32);
        }
    }
    let mut containing: Vec<Vec<u32>> = vec![Vec::new(); gone.len()];
    for (group, links) in names.groups.iter().enumerate() {
        for &(link, _) in links {
            containing[link as usize].push(group as u32);
        }
    }
    let mut order: Vec<usize> = (0..gone.len()).collect();
    order.sort_by(|&a, &b| weights[a].total_cmp(&weights[b]).then(names.names[a].cmp(&names.names[b])));
    let mut group_gone = vec![0u32; names.groups.len()];
    for link in order {
        containing[link].iter().for_each(|&group| group_gone[group as usize] += 1);
        let lost: f64 = users[link]
            .iter()
            .map(|&row| &forests[row as usize])
            .filter(|forest| !forest.has_derivation(|group| group_gone[group as usize] > 0))
            .map(|forest| forest.n)
            .sum();
        gone[link] = lost == 0.0;
        if !gone[link] {
            containing[link].iter().for_each(|&group| group_gone[group as usize] -= 1);
        }
    }
}

/// Marks links that training shows to be wrong: a row has a derivation with this one unseen link, and its value is
/// not the target.
pub(crate) fn refute<'a, A: Algebra>(
    algebra: &A,
    grammar: &mut Grammar<A::Term>,
    rows: impl Iterator<Item = &'a Row<A::Value>>,
) where
    A::Value: 'a,
{
    for row in rows {
        let refuter = Refuter { algebra, grammar, row };
        if let Some(refuted) = refuter.run() {
            grammar.refuted.extend(refuted);
        }
    }
}

/// A slot of a rule, and what fills it.
pub(crate) type Link = (u32, u8, Child);

type Links = BTreeMap<Place, BTreeMap<Child, f64>>;

struct Refuter<'a, A: Algebra> {
    algebra: &'a A,
    grammar: &'a Grammar<A::Term>,
    row: &'a Row<A::Value>,
}

/// A way to read a stretch of the source, with at most one unseen link.
type Reading<V> = (Child, V, Option<Link>);

/// The most readings of a row that are followed.
const MAX_READINGS: usize = 3000;

impl<A: Algebra> Refuter<'_, A> {
    /// The refuted links of a row; `None` if the row is too long, or if seen links alone do not explain it.
    fn run(&self) -> Option<BTreeSet<Link>> {
        let length = self.row.source.len();
        let mut cells: BTreeMap<(usize, usize), Vec<Reading<A::Value>>> = BTreeMap::new();
        let mut total = 0;
        for size in 1..=length {
            for start in 0..=length - size {
                let mut readings: BTreeSet<Reading<A::Value>> = BTreeSet::new();
                let word = Child::Word(self.row.source[start]);
                if size == 1 && self.grammar.class(word).is_some() {
                    readings.insert((
                        word,
                        self.algebra.word(self.row.source[start], self.row.positions[start] as usize),
                        None,
                    ));
                }
                for id in 0..self.grammar.rules.len() as u32 {
                    if !self.grammar.rules[id as usize].root {
                        self.read(id, start, start + size, &cells, &mut readings);
                    }
                }
                total += readings.len();
                if total > MAX_READINGS {
                    return None;
                }
                if !readings.is_empty() {
                    cells.insert((start, start + size), readings.into_iter().collect());
                }
            }
        }
        let mut whole: BTreeSet<Reading<A::Value>> = BTreeSet::new();
        for id in (0..self.grammar.rules.len() as u32).filter(|&id| self.grammar.rules[id as usize].root) {
            self.read(id, 0, length, &cells, &mut whole);
        }
        let mut refuted = BTreeSet::new();
        let mut explained = false;
        for (child, value, unseen) in whole {
            let top_seen = self.grammar.link((TOP, 0), child) > 0.0;
            let right = self.algebra.is_whole(&value, &self.row.gold);
            match unseen {
                None if top_seen => explained |= right,
                Some(link) if top_seen && !right => {
                    refuted.insert(link);
                }
                _ => {}
            }
        }
        explained.then_some(refuted)
    }

    fn read(
        &self,
        id: u32,
        start: usize,
        end: usize,
        cells: &BTreeMap<(usize, usize), Vec<Reading<A::Value>>>,
        found: &mut BTreeSet<Reading<A::Value>>,
    ) {
        let mut open = vec![(0usize, start, Vec::<&A::Value>::new(), None::<Link>)];
        let rule = &self.grammar.rules[id as usize];
        while let Some((dot, at, values, unseen)) = open.pop() {
            if found.len() > MAX_READINGS {
                return;
            }
            if dot == rule.source.len() {
                if at == end
                    && let Some(value) = self.algebra.apply(&rule.term, &values)
                {
                    found.insert((Child::Rule(id), value, unseen));
                }
                continue;
            }
            if at + rule.source.len() - dot > end {
                continue;
            }
            match rule.source[dot] {
                Sym::Word(word) => {
                    if self.row.source[at] == word {
                        open.push((dot + 1, at + 1, values, unseen));
                    }
                }
                Sym::Slot(class) => {
                    let place = (id, values.len() as u8);
                    for ((_, to), readings) in cells.range((at, at + 1)..=(at, end)) {
                        for (child, value, inner) in readings {
                            if !self.grammar.class(*child).is_some_and(|of| fits(of, class)) {
                                continue;
                            }
                            let link = (place.0, place.1, *child);
                            let here = (self.grammar.link(place, *child) <= 0.0).then_some(link);
                            let ((None, None, unseen) | (None, unseen, None) | (unseen, None, None)) =
                                (unseen, *inner, here)
                            else {
                                continue;
                            };
                            let mut values = values.clone();
                            values.push(value);
                            open.push((dot + 1, *to, values, unseen));
                        }
                    }
                }
            }
        }
    }
}
