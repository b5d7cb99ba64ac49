//! What it costs, in bits, to let a child fill a slot.

use std::collections::{BTreeMap, BTreeSet};

use crate::grammar::{Grammar, Place, TOP, fits};
use crate::symbols::{Child, Sym, log2};

/// The cost of a link that training refutes.
const REFUTED: f64 = 200.0;
/// The cost of a link for which nothing speaks.
const UNRELATED: f64 = 80.0;
/// The least cost of a link that was never seen, and what is added the less alike the slots are.
const COERCION: (f64, f64) = (4.0, 60.0);
/// What is added when a rule is nested in one of its own level that it was never nested in.
const STRATUM: f64 = 40.0;

/// What is added when a source is read as several sentences: it is, only if it cannot be one.
const SEVERAL: f32 = 200.0;

/// Costs of all links.
#[derive(Debug, Clone)]
pub(crate) struct Costs {
    /// By rule and slot: first the words, then the rules, then the word that was never seen.
    places: Vec<Vec<Vec<Cost>>>,
    top: Vec<Cost>,
    words: usize,
}

/// A cost, and whether the link was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub bits: f32,
    pub seen: bool,
}

const NEVER: Cost = Cost { bits: f32::INFINITY, seen: false };

impl Costs {
    pub(crate) fn new<T>(grammar: &Grammar<T>) -> Self {
        let similarity = Similarity::new(grammar);
        let levels = Levels::new(grammar);
        let words = grammar.classes.len();
        let children = |root: bool| {
            let words = (0..words as u32).map(Child::Word);
            let rules = (0..grammar.rules.len() as u32)
                .map(move |rule| (grammar.rules[rule as usize].root == root).then_some(Child::Rule(rule)));
            words.map(Some).chain(rules)
        };
        let mut places = Vec::new();
        for (id, rule) in grammar.rules.iter().enumerate() {
            let mut slots = Vec::new();
            for sym in &rule.source {
                let Sym::Slot(class) = *sym else { continue };
                let place = (id as u32, slots.len() as u8);
                let cost = |child: Child| {
                    if !grammar.class(child).is_some_and(|of| fits(of, class)) {
                        return NEVER;
                    }
                    link_cost(grammar, &similarity, &levels, place, child)
                };
                let mut costs: Vec<Cost> = children(false).map(|child| child.map_or(NEVER, cost)).collect();
                costs.push(unknown_cost(grammar, place));
                slots.push(costs);
            }
            places.push(slots);
        }
        let top = (0..grammar.rules.len() as u32)
            .map(|id| {
                let rule = &grammar.rules[id as usize];
                if !rule.root {
                    return NEVER;
                }
                let mut cost = link_cost(grammar, &similarity, &levels, (TOP, 0), Child::Rule(id));
                cost.bits += if rule.class > 0 { SEVERAL } else { 0.0 };
                cost
            })
            .collect();
        Self { places, top, words }
    }

    /// The cost of a child in a slot.
    pub(crate) fn get(&self, (parent, slot): Place, child: Child) -> Cost {
        let index = match child {
            Child::Word(word) if (word as usize) < self.words => word as usize,
            Child::Word(_) => self.places[parent as usize][slot as usize].len() - 1,
            Child::Rule(rule) => self.words + rule as usize,
        };
        self.places[parent as usize][slot as usize][index]
    }

    /// The cheapest of some children, each with its own bits, for a slot: the bits then, and which it is. Links that were
    /// never seen are taken only if `coerce` says so.
    pub(crate) fn cheapest(
        &self,
        place: Place,
        children: impl Iterator<Item = (Child, f32)>,
        coerce: bool,
    ) -> Option<(f32, u32)> {
        let mut best: Option<(f32, u32)> = None;
        for (i, (child, bits)) in children.enumerate() {
            let cost = self.get(place, child);
            let bits = bits + cost.bits;
            let usable = (cost.seen || coerce) && bits < f32::INFINITY;
            if usable && best.is_none_or(|(least, _)| bits < least) {
                best = Some((bits, i as u32));
            }
        }
        best
    }

    /// How many slots a rule has.
    pub(crate) fn slots(&self, rule: u32) -> usize {
        self.places[rule as usize].len()
    }

    /// The cost of a root rule.
    pub(crate) fn top(&self, rule: u32) -> Cost {
        self.top[rule as usize]
    }
}

fn link_cost<T>(
    grammar: &Grammar<T>,
    similarity: &Similarity,
    levels: &Levels,
    place: Place,
    child: Child,
) -> Cost {
    let count = grammar.link(place, child);
    if count > 0.0 {
        let total: f64 = grammar.links[&place].values().sum();
        return Cost { bits: (log2(total) - log2(count)) as f32, seen: true };
    }
    if grammar.refuted.contains(&(place.0, place.1, child)) {
        return Cost { bits: REFUTED as f32, seen: false };
    }
    let alike = similarity.of(place, child);
    let mut bits = if alike > 0.0 { COERCION.0 + COERCION.1 * (1.0 - alike) } else { UNRELATED };
    if let Child::Rule(rule) = child
        && place.0 != TOP
        && levels.clashes(place.0, rule)
    {
        bits += STRATUM;
    }
    Cost { bits: bits as f32, seen: false }
}

/// A new word may stand where many different words were seen.
fn unknown_cost<T>(grammar: &Grammar<T>, place: Place) -> Cost {
    let words = grammar
        .links
        .get(&place)
        .map_or(0, |children| children.keys().filter(|child| matches!(child, Child::Word(_))).count());
    Cost { bits: (30.0 - 2.0 * log2(1.0 + words as f64)) as f32, seen: false }
}

/// How alike slots are, by the children they share. Words speak for words and rules for rules.
struct Similarity {
    takes: BTreeMap<Place, [BTreeSet<Child>; 2]>,
    seen_in: BTreeMap<Child, Vec<Place>>,
}

fn kind(child: Child) -> usize {
    usize::from(matches!(child, Child::Rule(_)))
}

impl Similarity {
    fn new<T>(grammar: &Grammar<T>) -> Self {
        let mut takes: BTreeMap<Place, [BTreeSet<Child>; 2]> = BTreeMap::new();
        let mut seen_in: BTreeMap<Child, Vec<Place>> = BTreeMap::new();
        for (&place, children) in &grammar.links {
            for &child in children.keys() {
                takes.entry(place).or_default()[kind(child)].insert(child);
                seen_in.entry(child).or_default().push(place);
            }
        }
        Self { takes, seen_in }
    }

    /// The best likeness of a slot with one where the child was seen.
    fn of(&self, place: Place, child: Child) -> f64 {
        let Some(here) = self.takes.get(&place) else { return 0.0 };
        let elsewhere = self.seen_in.get(&child).map_or(&[][..], Vec::as_slice);
        elsewhere
            .iter()
            .map(|other| {
                let (there, here) = (&self.takes[other][kind(child)], &here[kind(child)]);
                let both = there.intersection(here).count() as f64;
                // The child itself says nothing about whether it belongs here.
                let others = (there.len() - 1).max(1) as f64;
                let either = there.len() as f64 - 1.0 + here.len() as f64 - both;
                if both > 0.0 { 0.7 * both / either.max(1.0) + 0.3 * both / others } else { 0.0 }
            })
            .fold(0.0, f64::max)
    }
}

/// Rules by how deep they nest.
struct Levels {
    level: Vec<usize>,
    cycle: Vec<usize>,
    siblings: BTreeSet<(u32, u32)>,
}

impl Levels {
    fn new<T>(grammar: &Grammar<T>) -> Self {
        let size = grammar.rules.len();
        let mut below = vec![vec![false; size]; size];
        let mut siblings = BTreeSet::new();
        for (&(parent, _), children) in &grammar.links {
            let rules: Vec<u32> = children
                .keys()
                .filter_map(|child| if let Child::Rule(rule) = child { Some(*rule) } else { None })
                .collect();
            for &a in &rules {
                if parent != TOP {
                    below[parent as usize][a as usize] = true;
                }
                siblings.extend(rules.iter().map(|&b| (a, b)));
            }
        }
        let mut reach = below.clone();
        for middle in 0..size {
            for from in 0..size {
                if reach[from][middle] {
                    let onward = reach[middle].clone();
                    reach[from].iter_mut().zip(onward).for_each(|(reach, onward)| *reach |= onward);
                }
            }
        }
        let together = |a: usize, b: usize| a == b || (reach[a][b] && reach[b][a]);
        let cycle: Vec<usize> = (0..size).map(|a| (0..size).find(|&b| together(a, b)).unwrap_or(a)).collect();
        let mut level = vec![0usize; size];
        // As many times as rules nest: a grammar that was cut short has thousands of rules.
        for _ in 0..size {
            let before = level.clone();
            for a in 0..size {
                let own = (0..size).filter(|&b| together(a, b)).flat_map(|b| {
                    let below = &below[b];
                    (0..size).filter(move |&c| below[c])
                });
                let deepest = own.filter(|&c| !together(a, c)).map(|c| level[c] + 1).max();
                level[a] = deepest.unwrap_or(0);
            }
            if level == before {
                break;
            }
        }
        Self { level, cycle, siblings }
    }

    /// Whether a rule would be nested in one of its own level, of which it is otherwise a sibling.
    fn clashes(&self, parent: u32, child: u32) -> bool {
        self.level[child as usize] >= self.level[parent as usize]
            && (self.cycle[child as usize] != self.cycle[parent as usize] || child == parent)
            && self.siblings.contains(&(parent, child))
    }
}
