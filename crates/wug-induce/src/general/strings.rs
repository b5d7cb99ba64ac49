//! Synthesis of string programs: a best-first search for a concatenation of atoms that gives every target of a sample.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::effort::Effort;
use super::functions::{Pairwise, StrFunction};
use super::program::{Atom, Input, Key, Program, Table};
use super::synthesis::{Example, Language};
use super::value::{Leaf, Token, Value, leaves, token_int};

/// Programs that are wanted of a sample, and how much dearer (in eighths of a bit) a second way to a state may be: it may
/// hold on more rows.
const WANTED: usize = 3;
const DEARER: u32 = 48;

/// An atom with what it gives in each example of the sample.
struct Candidate {
    bits: u32,
    atom: Atom,
    texts: Vec<Vec<Token>>,
}

/// A state: how far each target has been written, and the atoms so far as a list from the last one.
struct Node {
    at: Vec<u16>,
    last: Option<(usize, Atom)>,
}

/// Costs are in eighths of a bit, so that they are ordered exactly.
fn eighths(bits: f64) -> u32 {
    (bits * 8.0).round() as u32
}

/// Programs that give every target of the sample, the shortest first.
pub(crate) fn synthesize(
    examples: &[Example<'_>],
    targets: &[&[Token]],
    language: &Language,
    lookups: bool,
    effort: &Effort<'_>,
) -> Vec<Program> {
    let (all, mut work) = candidates(examples, targets, language);
    let leaf_count = leaves(examples[0].values).len();
    let goal: Vec<u16> = targets.iter().map(|target| target.len() as u16).collect();
    let mut nodes = vec![Node { at: vec![0; targets.len()], last: None }];
    let mut heap = BinaryHeap::from([(std::cmp::Reverse((0u32, 0usize)))]);
    let mut best: HashMap<Vec<u16>, u32> = HashMap::new();
    let mut found: Vec<Program> = Vec::new();
    let mut pops = 0;
    while let Some(std::cmp::Reverse((cost, number))) = heap.pop() {
        pops += 1;
        if pops > language.pops {
            break;
        }
        if nodes[number].at == goal {
            found.push(program(&nodes, number));
            if found.len() >= WANTED {
                break;
            }
            continue;
        }
        let at = nodes[number].at.clone();
        work += all.len() + examples.len() * leaf_count;
        for (bits, atom, next) in steps(&at, &all, examples, targets, language, lookups) {
            let total = cost + bits;
            let known = best.entry(next.clone()).or_insert(u32::MAX);
            if total >= known.saturating_add(DEARER) {
                continue;
            }
            *known = total.min(*known);
            heap.push(std::cmp::Reverse((total, nodes.len())));
            nodes.push(Node { at: next, last: Some((number, atom)) });
        }
    }
    // An atom that is tried is as much work as two steps of a chart.
    effort.charge(2 * work);
    found
}

fn program(nodes: &[Node], mut number: usize) -> Program {
    let mut atoms = Vec::new();
    while let Some((before, atom)) = &nodes[number].last {
        atoms.push(atom.clone());
        number = *before;
    }
    atoms.reverse();
    Program::Concat(atoms)
}

/// The atoms that do not depend on the place in the target, without those that give nothing new.
fn candidates(
    examples: &[Example<'_>],
    targets: &[&[Token]],
    language: &Language,
) -> (Vec<Candidate>, usize) {
    let first = examples[0].values;
    let all = leaves(first);
    let mut atoms: Vec<Atom> = Vec::new();
    for &leaf in &all {
        match leaf.of(first) {
            Some(Value::Str(_)) => {
                atoms.extend(StrFunction::ALL.iter().map(|&function| Atom::Apply(function, leaf)));
            }
            Some(Value::Int(_)) => atoms.push(Atom::Apply(StrFunction::Identity, leaf)),
            _ => {}
        }
        for &other in all.iter().filter(|&&other| other != leaf) {
            atoms.extend(Pairwise::ALL.iter().map(|&function| Atom::Pair(function, leaf, other)));
            for &third in all.iter().filter(|&&third| third != leaf && third != other) {
                atoms.push(Atom::Substitute(leaf, other, third));
            }
        }
    }
    let work = atoms.len();
    let mut seen: std::collections::HashSet<Vec<Vec<Token>>> = std::collections::HashSet::new();
    let mut found = Vec::new();
    for atom in atoms {
        let text = |example: &Example<'_>| {
            let mut out = Vec::new();
            atom.append(&example.input(language), &mut out).map(|()| out)
        };
        let Some(texts) = examples.iter().map(text).collect::<Option<Vec<_>>>() else { continue };
        let fits = texts.iter().zip(targets).all(|(text, target)| text.len() <= target.len());
        if !fits || texts.iter().all(Vec::is_empty) || !seen.insert(texts.clone()) {
            continue;
        }
        found.push(Candidate { bits: eighths(atom.bits(language.token_bits)), atom, texts });
    }
    (found, work)
}

type Step = (u32, Atom, Vec<u16>);

/// The atoms that can stand next, with where they lead.
fn steps(
    at: &[u16],
    candidates: &[Candidate],
    examples: &[Example<'_>],
    targets: &[&[Token]],
    language: &Language,
    lookups: bool,
) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    let one_more = || at.iter().map(|&at| at + 1).collect::<Vec<u16>>();
    let next: Option<Vec<Token>> =
        at.iter().zip(targets).map(|(&at, target)| target.get(at as usize).copied()).collect();
    if let Some(next) = &next {
        let same = next.iter().all(|token| *token == next[0]);
        let is_position = language.positions && token_int(next[0]).is_some();
        if is_position {
            for atom in anchors(examples, next, language) {
                all.push((eighths(atom.bits(language.token_bits)), atom, one_more()));
            }
        } else if same {
            let atom = Atom::Constant(next[0]);
            all.push((eighths(atom.bits(language.token_bits)), atom, one_more()));
        } else if lookups && next.iter().all(|&token| !language.positions || token_int(token).is_none()) {
            for atom in tables(examples, next) {
                // In a sample, an entry is only a guess at a table.
                let Atom::Lookup(key, table) = &atom else { continue };
                let many = if matches!(key, Key::Both(..)) { 40 } else { 0 };
                all.push((eighths(8.0 + 3.0 * table.len() as f64) + many, atom, one_more()));
            }
        }
    }
    for candidate in candidates {
        let moved = candidate.texts.iter().zip(at).zip(targets).map(|((text, &at), target)| {
            let from = at as usize;
            target[from..].starts_with(text).then(|| at + text.len() as u16)
        });
        if let Some(next) = moved.collect::<Option<Vec<u16>>>()
            && next != at
        {
            all.push((candidate.bits, candidate.atom.clone(), next));
        }
    }
    if lookups && examples.len() >= 2 {
        all.extend(maps(at, examples, targets, language));
    }
    all
}

/// Atoms that give the positions that stand next.
fn anchors(examples: &[Example<'_>], next: &[Token], language: &Language) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = (0..examples[0].starts.len() as u8).map(Atom::Start).collect();
    for leaf in leaves(examples[0].values) {
        atoms.extend([Atom::FirstInt(leaf), Atom::LastInt(leaf)]);
    }
    let gives = |atom: &Atom| {
        examples.iter().zip(next).all(|(example, token)| {
            let mut out = Vec::new();
            atom.append(&example.input(language), &mut out).is_some() && out[..] == [*token]
        })
    };
    atoms.retain(gives);
    atoms
}

/// Lookups that give the tokens that stand next.
fn tables(examples: &[Example<'_>], next: &[Token]) -> Vec<Atom> {
    let all = leaves(examples[0].values);
    let mut keys: Vec<Key> = Vec::new();
    for (i, &leaf) in all.iter().enumerate() {
        keys.push(Key::Whole(leaf));
        if examples
            .iter()
            .any(|example| leaf.of(example.values).and_then(Value::as_str).is_some_and(|text| text.len() > 1))
        {
            keys.extend([Key::First(leaf), Key::Last(leaf), Key::LastKnown(leaf), Key::FirstKnown(leaf)]);
        }
        if examples.len() >= 3 {
            keys.extend(all[i + 1..].iter().map(|&other| Key::Both(leaf, other)));
        }
    }
    let demands: Vec<(&[Value], Token, f64)> =
        examples.iter().zip(next).map(|(example, &token)| (example.values, token, 1.0)).collect();
    keys.into_iter()
        .filter_map(|key| {
            let table = fill_table(key, &demands, 1.0);
            let gives = |(values, token, _): &(&[Value], Token, f64)| {
                key.of(values, |key| table.contains_key(key)).and_then(|key| table.get(&key)) == Some(token)
            };
            (table.len() >= 2 && demands.iter().all(gives)).then_some(Atom::Lookup(key, table))
        })
        .collect()
}

/// The table of a key: the most frequent token of each key. Where the key is the last (first) token that the table has,
/// tokens that do not tell the result are taken out until all that are left do.
pub(crate) fn fill_table(key: Key, demands: &[(&[Value], Token, f64)], purity: f64) -> Table {
    let scans = matches!(key, Key::LastKnown(_) | Key::FirstKnown(_));
    let mut vague: std::collections::HashSet<Value> = std::collections::HashSet::new();
    loop {
        let mut votes: BTreeMap<Value, BTreeMap<Token, f64>> = BTreeMap::new();
        for (values, token, weight) in demands {
            if let Some(key) = key.of(values, |key| !vague.contains(key)) {
                *votes.entry(key).or_default().entry(*token).or_default() += weight;
            }
        }
        let most = |votes: &BTreeMap<Token, f64>| {
            let best = votes.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
            best.map_or((0, 0.0), |(&token, &n)| (token, n))
        };
        if scans {
            let before = vague.len();
            for (key, votes) in &votes {
                if most(votes).1 < purity * votes.values().sum::<f64>() {
                    vague.insert(key.clone());
                }
            }
            if vague.len() > before {
                continue;
            }
        }
        return votes.into_iter().map(|(key, votes)| (key, most(&votes).0)).collect();
    }
}

/// Maps of each token of a leaf that write what stands next.
fn maps(at: &[u16], examples: &[Example<'_>], targets: &[&[Token]], language: &Language) -> Vec<Step> {
    let mut all = Vec::new();
    for leaf in leaves(examples[0].values) {
        for function in [StrFunction::Identity, StrFunction::Reverse] {
            let mut table: BTreeMap<Token, Token> = BTreeMap::new();
            let mut next = Vec::with_capacity(at.len());
            let mut long = false;
            for ((example, &at), target) in examples.iter().zip(at).zip(targets) {
                let Some(text) = leaf.of(example.values).and_then(Value::as_str) else { break };
                let mut from = Vec::new();
                function.append(text, &mut from);
                long |= text.len() > 1;
                let Some(to) = target.get(at as usize..at as usize + from.len()) else { break };
                let agrees = from.iter().zip(to).all(|(&a, &b)| {
                    *table.entry(a).or_insert(b) == b && !(language.positions && token_int(b).is_some())
                });
                if !agrees || from.is_empty() {
                    break;
                }
                next.push(at + from.len() as u16);
            }
            if next.len() == at.len() && long && table.iter().any(|(a, b)| a != b) {
                let bits = eighths(6.0 + 3.0 * table.len() as f64 + function.bits());
                all.push((bits, Atom::Map(function, leaf, table), next));
            }
        }
    }
    all
}

/// Fills the tables of a program from all entries that agree with the rest of it. Entries have a weight each.
pub(crate) fn refit(atoms: &mut [Atom], entries: &[(Example<'_>, &[Token], f64)], language: &Language) {
    if !atoms.iter().any(|atom| matches!(atom, Atom::Lookup(..) | Atom::Map(..))) {
        return;
    }
    let mut demands: Vec<Vec<(&[Value], Token, f64)>> = vec![Vec::new(); atoms.len()];
    let mut mapped: Vec<BTreeMap<Token, BTreeMap<Token, f64>>> = vec![BTreeMap::new(); atoms.len()];
    for (example, target, weight) in entries {
        let Some(asked) = align(atoms, &example.input(language), target) else { continue };
        for (atom, from, token) in asked {
            match from {
                None => demands[atom].push((example.values, token, *weight)),
                Some(from) => {
                    *mapped[atom].entry(from).or_default().entry(token).or_default() += weight;
                }
            }
        }
    }
    for (i, atom) in atoms.iter_mut().enumerate() {
        match atom {
            Atom::Lookup(key, table) => *table = fill_table(*key, &demands[i], 0.85),
            Atom::Map(_, _, table) => {
                for (from, votes) in &mapped[i] {
                    let best = votes.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
                    table.extend(best.map(|(&to, _)| (*from, to)));
                }
            }
            _ => {}
        }
    }
}

/// What each table of a program must give so that it writes the target: atom, mapped token if it is a map, token.
fn align(atoms: &[Atom], input: &Input<'_>, target: &[Token]) -> Option<Vec<(usize, Option<Token>, Token)>> {
    let (mut asked, mut at) = (Vec::new(), 0);
    for (i, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Lookup(..) => {
                asked.push((i, None, *target.get(at)?));
                at += 1;
            }
            Atom::Map(function, leaf, _) => {
                let mut from = Vec::new();
                function.append(leaf.of(input.values)?.as_str()?, &mut from);
                for token in from {
                    asked.push((i, Some(token), *target.get(at)?));
                    at += 1;
                }
            }
            _ => {
                let mut text = Vec::new();
                atom.append(input, &mut text)?;
                if !target[at..].starts_with(&text) {
                    return None;
                }
                at += text.len();
            }
        }
    }
    (at == target.len()).then_some(asked)
}

/// The leaves of a sample that are strings in every example.
pub(crate) fn string_leaves(examples: &[Example<'_>]) -> Vec<Leaf> {
    let mut all = leaves(examples[0].values);
    all.retain(|leaf| examples.iter().all(|example| matches!(leaf.of(example.values), Some(Value::Str(_)))));
    all
}
