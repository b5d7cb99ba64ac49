//! What each hole takes, from derivations of the training rows.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::chart::{Bounds, FORBIDDEN, links, parse, place_mut};
use super::effort::Effort;
use super::grammar::{Child, Grammar, Place, Symbol, WORD};
use super::random::Random;
use super::read::Row;

/// The rule and hole that is filled; `None` for the whole source.
type Parent = Option<(u32, u8)>;
type Link = (Parent, Child);

/// The readings of a row: the links of its cheapest right derivation, those of wrong ones that are cheap, and whether the
/// cheapest one is right.
struct Reading {
    right: Option<Vec<Link>>,
    rivals: usize,
    wrong: Vec<Vec<Link>>,
    first: bool,
}

fn read(grammar: &Grammar, row: &Row, effort: &Effort<'_>) -> Reading {
    if effort.is_stopped() {
        return Reading { right: None, rivals: 0, wrong: Vec::new(), first: false };
    }
    let chart = parse(grammar, &row.source, Bounds::TRAIN);
    effort.charge(chart.steps);
    let all = chart.whole(grammar);
    let links_of = |at| {
        let mut all: Vec<Link> = Vec::new();
        links(grammar, &chart, at, &mut |parent, child| all.push((parent, child)));
        all
    };
    let is_right = |at| chart.item(at, false).value == row.target;
    let right: Vec<_> = all.iter().filter(|(_, at)| is_right(*at)).collect();
    Reading {
        right: right.first().map(|(_, at)| links_of(*at)),
        rivals: right.len(),
        wrong: all.iter().take(4).filter(|(_, at)| !is_right(*at)).map(|(_, at)| links_of(*at)).collect(),
        first: all.first().is_some_and(|(_, at)| is_right(*at)),
    }
}

/// The rows that links are estimated from: the shortest, and a sample of the others.
fn sample(rows: &[Row], size: usize, seed: u64) -> Vec<&Row> {
    let mut numbers: Vec<usize> = (0..rows.len().min(size / 3)).collect();
    let rest = rows.len() - numbers.len();
    let drawn = Random::new(seed).sample(rest, size - size / 3);
    let first = numbers.len();
    numbers.extend(drawn.into_iter().map(|i| first + i));
    numbers.into_iter().map(|i| &rows[i]).filter(|row| row.source.len() <= 40).collect()
}

/// Counts links in the cheapest derivations that give the right target.
pub(crate) fn relink(grammar: &mut Grammar, rows: &[Row], size: usize, times: usize, effort: &Effort<'_>) {
    let rows = sample(rows, size, 11);
    for time in 0..times {
        if effort.is_stopped() {
            return;
        }
        let readings: Vec<Reading> = rows.par_iter().map(|row| read(grammar, row, effort)).collect();
        // Counts of half the rows are worse than those there were.
        if effort.is_stopped() && grammar.top.total > 0.0 {
            return;
        }
        count(grammar, &readings, time > 0);
    }
}

/// Counts anew from some rows, on top of what is known.
pub(crate) fn recount(grammar: &mut Grammar, rows: &[Row], effort: &Effort<'_>) {
    let readings: Vec<Reading> = rows.par_iter().map(|row| read(grammar, row, effort)).collect();
    for reading in &readings {
        for &(parent, child) in reading.right.iter().flatten() {
            see(grammar, parent, child, 1.0);
        }
    }
}

fn see(grammar: &mut Grammar, parent: Option<(u32, u8)>, child: Child, weight: f64) {
    let id = child.rule.map(|rule| grammar.rules[rule as usize].id);
    let place = place_mut(grammar, parent);
    place.total += weight;
    *place.children.entry(child.kind).or_default() += weight;
    if let Some(id) = id {
        *place.variants.entry(id).or_default() += weight;
    }
    if let Some(word) = child.word {
        place.words_total += weight;
        *place.words.entry(word).or_default() += weight;
    }
}

fn count(grammar: &mut Grammar, readings: &[Reading], settled: bool) {
    if readings.iter().all(|reading| reading.right.is_none()) {
        return;
    }
    for places in &mut grammar.places {
        for place in places {
            *place = Place::default();
        }
    }
    (grammar.top, grammar.list) = (Place::default(), Place::default());
    let mut refuted: BTreeMap<Link, f64> = BTreeMap::new();
    for reading in readings {
        let weight = if settled || reading.rivals == 1 { 1.0 } else { 0.2 };
        for &(parent, child) in reading.right.iter().flatten() {
            see(grammar, parent, child, weight);
        }
        if reading.right.is_some() {
            let links: BTreeSet<Link> = reading.wrong.iter().flatten().copied().collect();
            for link in links {
                *refuted.entry(link).or_default() += 1.0;
            }
        }
    }
    for ((parent, Child { kind: child, word, .. }), times) in refuted {
        let place = place_mut(grammar, parent);
        let extra = 2.0 + (1.0 + times).log2();
        if !place.children.contains_key(&child) {
            place.extra.insert(child, extra);
        }
        if let Some(word) = word
            && !place.words.contains_key(&word)
        {
            place.extra_words.insert(word, extra);
        }
    }
    let uses = use_of_rules(grammar);
    for rule in 0..grammar.rules.len() {
        let same: Vec<usize> = (0..grammar.rules.len())
            .filter(|&other| grammar.rules[other].frame == grammar.rules[rule].frame)
            .collect();
        let total: f64 = same.iter().map(|&other| uses[other] + 0.5).sum();
        grammar.variant_bits[rule] = -((uses[rule] + 0.5) / total).log2();
    }
}

/// How often each rule was used: what its first hole took, or, of rules without holes, what took their frame.
pub(crate) fn use_of_rules(grammar: &Grammar) -> Vec<f64> {
    let frame_use = |frame: u32| -> f64 {
        let places = grammar.places.iter().flatten().chain([&grammar.top, &grammar.list]);
        places.filter_map(|place| place.children.get(&frame)).sum()
    };
    let each = |(rule, places): (&super::grammar::Rule, &Vec<Place>)| match rule.pattern[..] {
        [Symbol::Run] => frame_use(rule.frame),
        _ if rule.pattern.contains(&Symbol::List) => frame_use(rule.frame),
        _ => places.first().map_or_else(|| frame_use(rule.frame), |place| place.total),
    };
    grammar.rules.iter().zip(&grammar.places).map(each).collect()
}

/// Moves the costs of links where a row is derivable but its cheapest derivation is wrong.
fn discriminate(grammar: &mut Grammar, rows: &[Row], size: usize, epochs: usize, effort: &Effort<'_>) {
    let rows = sample(rows, size, 13);
    for _ in 0..epochs {
        let mut wrong = 0;
        // A few rows at a time are read in parallel; what they teach is added in their order.
        for chunk in rows.chunks(32) {
            if effort.is_stopped() {
                return;
            }
            let readings: Vec<Reading> = chunk.par_iter().map(|row| read(grammar, row, effort)).collect();
            for reading in readings.iter().filter(|reading| !reading.first) {
                let (Some(right), Some(chosen)) = (&reading.right, reading.wrong.first()) else { continue };
                wrong += 1;
                let mut moves: BTreeMap<Link, f64> = BTreeMap::new();
                for (links, by) in [(right, -0.5), (chosen, 0.5)] {
                    for link in links {
                        *moves.entry(*link).or_default() += by;
                    }
                }
                for ((parent, Child { kind: child, word, .. }), by) in
                    moves.into_iter().filter(|(_, by)| *by != 0.0)
                {
                    let place = place_mut(grammar, parent);
                    *place.extra.entry(child).or_default() += by;
                    if let Some(word) = word {
                        *place.extra_words.entry(word).or_default() += by;
                    }
                }
            }
        }
        if wrong == 0 {
            return;
        }
    }
}

/// Decides which links stay and what unseen ones cost. Needless links are taken away first, or mistakes are learned from
/// first, which shows bracketings that counts cannot tell apart; what explains more rows is kept.
pub(crate) fn settle(grammar: &mut Grammar, rows: &[Row], effort: &Effort<'_>) {
    let settled = |mistakes_first: bool| {
        let mut grammar = grammar.clone();
        if mistakes_first {
            discriminate(&mut grammar, rows, 600, 6, effort);
        }
        sparsify(&mut grammar, rows, effort);
        coerce(&mut grammar);
        discriminate(&mut grammar, rows, 600, 6, effort);
        grammar
    };
    let checked = sample(rows, SPARSE_SAMPLE, 19);
    let right = |grammar: &Grammar| {
        let first = |row: &&Row| read(grammar, row, effort).first;
        checked.par_iter().filter(|row| first(row)).count()
    };
    let counted = settled(false);
    let best = right(&counted);
    if best == checked.len() || effort.is_spent() {
        *grammar = counted;
        return;
    }
    let learned = settled(true);
    *grammar = if right(&learned) > best { learned } else { counted };
}

/// Rows that decide whether a link stays.
const SPARSE_SAMPLE: usize = 500;
/// Bits that a link costs which no row needs.
const NEEDLESS: f64 = 20.0;
/// The share of a hole's children above which a link is no accident.
const RARE: f64 = 0.3;
/// Links that are tried.
const MOST_LINKS: usize = 60;

/// Makes links dear without which as many rows come out right: of two bracketings that explain the rows, one goes.
fn sparsify(grammar: &mut Grammar, rows: &[Row], effort: &Effort<'_>) {
    let rows = sample(rows, SPARSE_SAMPLE, 17);
    let mut links: Vec<(f64, Parent, u32)> = Vec::new();
    for (rule, places) in grammar.places.iter().enumerate() {
        for (hole, place) in places.iter().enumerate() {
            let rare = |n: f64| n <= RARE * place.total;
            let children = place.children.iter().filter(|(child, n)| **child < WORD && rare(**n));
            links.extend(children.map(|(&child, &n)| (n, Some((rule as u32, hole as u8)), child)));
        }
    }
    if links.is_empty() {
        return;
    }
    links.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let right = |grammar: &Grammar| {
        let first = |row: &&Row| read(grammar, row, effort).first;
        rows.par_iter().filter(|row| first(row)).count()
    };
    let mut best = right(grammar);
    if best == rows.len() && !is_ambiguous(grammar, &rows, effort) {
        return;
    }
    // Rows that come out right by accident are no reason to keep a link.
    let slack = rows.len() / 250;
    let mut needless = Vec::new();
    for (_, parent, child) in links.into_iter().take(MOST_LINKS) {
        if effort.is_spent() {
            break;
        }
        let before = place_mut(grammar, parent).extra.insert(child, FORBIDDEN);
        let now = right(grammar);
        if now + slack >= best {
            best = best.max(now);
            needless.push((parent, child));
        } else {
            let extra = &mut place_mut(grammar, parent).extra;
            match before {
                Some(before) => extra.insert(child, before),
                None => extra.remove(&child),
            };
        }
    }
    for (parent, child) in needless {
        let place = place_mut(grammar, parent);
        place.extra.insert(child, NEEDLESS);
        place.children.remove(&child);
    }
}

/// Whether some row has several readings.
fn is_ambiguous(grammar: &Grammar, rows: &[&Row], effort: &Effort<'_>) -> bool {
    rows.par_iter().any(|row| {
        let reading = read(grammar, row, effort);
        reading.rivals + reading.wrong.len() > 1
    })
}

/// Bits of a child that was never seen in a hole: fewer where it was seen in a hole that takes the same children, more where
/// a rule would come to stand within itself for the first time.
fn coerce(grammar: &mut Grammar) {
    let frames = grammar.frames.len();
    // Which frame was seen within which, at any depth.
    let mut within = vec![vec![false; frames]; frames];
    for (rule, places) in grammar.rules.iter().zip(&grammar.places) {
        for child in places.iter().flat_map(|place| place.children.keys()).filter(|child| **child < WORD) {
            within[rule.frame as usize][*child as usize] = true;
        }
    }
    for middle in 0..frames {
        for outer in 0..frames {
            if within[outer][middle] {
                let nested = within[middle].clone();
                for (inner, nested) in within[outer].iter_mut().zip(nested) {
                    *inner |= nested;
                }
            }
        }
    }
    let all: Vec<BTreeSet<u32>> = grammar
        .places
        .iter()
        .flatten()
        .chain([&grammar.top])
        .filter(|place| place.total > 0.0)
        .map(|place| place.children.keys().copied().collect())
        .collect();
    let likeness = |place: &Place, child: u32| {
        let here: BTreeSet<u32> = place.children.keys().copied().collect();
        let like = |other: &&BTreeSet<u32>| {
            let shared = here.intersection(other).count() as f64;
            0.7 * shared / here.union(other).count().max(1) as f64 + 0.3 * shared / other.len().max(1) as f64
        };
        all.iter().filter(|other| other.contains(&child)).map(|other| like(&other)).fold(0.0, f64::max)
    };
    let mut extra: Vec<(usize, usize, u32, f64)> = Vec::new();
    for (rule, places) in grammar.places.iter().enumerate() {
        let frame = grammar.rules[rule].frame as usize;
        for (hole, place) in places.iter().enumerate().filter(|(_, place)| place.total > 0.0) {
            for child in (0..frames as u32).filter(|child| !place.children.contains_key(child)) {
                let inner = child as usize;
                let new_cycle = (inner == frame || within[inner][frame]) && !within[frame][inner];
                let bits = 8.0 * (1.0 - likeness(place, child)) + if new_cycle { 8.0 } else { 0.0 };
                extra.push((rule, hole, child, bits));
            }
        }
    }
    for (rule, hole, child, bits) in extra {
        *grammar.places[rule][hole].extra.entry(child).or_default() += bits;
    }
}
