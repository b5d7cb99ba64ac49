//! Classes of symbols in predications, from the roles that they play.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::meaning::{Reader, names};
use crate::script::Script;

/// Where a symbol occurs: in which kind of relation (label, number of arguments), at which place of its label or, if so
/// said, of its arguments.
type Role = (Vec<Option<u32>>, usize, usize, bool);

/// The classes of symbols: symbols that occur in the same roles belong together. A class with one symbol, and symbols
/// without any role, are no content.
pub(crate) fn classes(reader: &Reader<'_>, script: &Script) -> (BTreeMap<u32, u16>, BTreeSet<u32>) {
    let owned = &script.owned;
    let owns = |word: &u32| script.owns[*word as usize];
    let mut roles: BTreeMap<Role, BTreeMap<u32, f64>> = BTreeMap::new();
    for ((source, target, n), written) in reader.pairs.rows.iter().zip(&reader.written) {
        let here: BTreeSet<u32> = source.iter().filter_map(owns).collect();
        let there: BTreeSet<u32> = target.iter().filter(|token| owned.contains(token)).copied().collect();
        if here.symmetric_difference(&there).count() > 1 {
            continue; // not about the same things: noise
        }
        let names = match written {
            Some(written) if !script.positional => match names(script, reader, source, written) {
                Some(names) => Some(names),
                None => continue,
            },
            _ => None,
        };
        for atom in written.iter().flatten() {
            let label: Vec<Option<u32>> =
                atom.label.iter().map(|token| (!owned.contains(token)).then_some(*token)).collect();
            let arguments = atom.arguments.as_deref().unwrap_or_default();
            let arity = arguments.len();
            let is_own = arity == 1
                && (reader.reference(&arguments[0]).is_some()
                    || atom.label.last().is_some_and(|last| arguments[0] == [*last]))
                && atom.label.last().is_some_and(|token| owned.contains(token));
            if is_own {
                continue;
            }
            for (i, token) in atom.label.iter().enumerate().filter(|(_, token)| owned.contains(token)) {
                *roles.entry((label.clone(), arity, i, false)).or_default().entry(*token).or_default() += n;
            }
            for (i, argument) in arguments.iter().enumerate() {
                let symbol = match (reader.reference(argument), argument.as_slice()) {
                    (Some(n), _) => {
                        let named = |names: &HashMap<u32, u16>| names.get(&n).copied();
                        let at = names.as_ref().map_or(Some(n as u16), named);
                        at.and_then(|at| source.get(at as usize)).and_then(owns)
                    }
                    (None, &[token]) => Some(token).filter(|token| owned.contains(token)),
                    _ => None,
                };
                if let Some(symbol) = symbol {
                    *roles.entry((label.clone(), arity, i, true)).or_default().entry(symbol).or_default() +=
                        n;
                }
            }
        }
    }
    cluster(&roles)
}

/// The representative of a set of joined roles.
fn find(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

/// Joins roles that share a good part of their symbols; a symbol belongs where it occurs most. Returns the classes, and
/// the symbols that are alone.
fn cluster(roles: &BTreeMap<Role, BTreeMap<u32, f64>>) -> (BTreeMap<u32, u16>, BTreeSet<u32>) {
    let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
    for (symbol, n) in roles.values().flatten() {
        *totals.entry(*symbol).or_default() += n;
    }
    // Stray occurrences, as noise makes them, are left aside: those that are few both of the symbol's and the role's.
    let solid: Vec<BTreeMap<u32, f64>> = roles
        .values()
        .map(|symbols| {
            let all: f64 = symbols.values().sum();
            let few = |symbol: &u32, n: f64| n < 0.05 * totals[symbol] && n < 0.01 * all;
            symbols.iter().filter(|(symbol, n)| !few(symbol, **n)).map(|(symbol, n)| (*symbol, *n)).collect()
        })
        .collect();
    let rare = totals.values().sum::<f64>() / 50_000.0;
    let mut parent: Vec<usize> = (0..solid.len()).collect();
    for a in 0..solid.len() {
        for b in 0..solid.len() {
            let all: f64 = solid[a].values().sum();
            let shared: f64 = solid[a].iter().filter(|(s, _)| solid[b].contains_key(s)).map(|(_, n)| n).sum();
            if a != b && all > rare && shared > 0.05 * all {
                let (x, y) = (find(&mut parent, a), find(&mut parent, b));
                parent[x.max(y)] = x.min(y);
            }
        }
    }
    let mut weight: BTreeMap<u32, BTreeMap<usize, f64>> = BTreeMap::new();
    for (i, symbols) in roles.values().enumerate() {
        let root = find(&mut parent, i);
        for (symbol, n) in symbols {
            *weight.entry(*symbol).or_default().entry(root).or_default() += n;
        }
    }
    let home: BTreeMap<u32, usize> = weight
        .into_iter()
        .filter_map(|(symbol, roots)| {
            let best = roots.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
            Some((symbol, best.0))
        })
        .collect();
    let mut members: BTreeMap<usize, usize> = BTreeMap::new();
    for root in home.values() {
        *members.entry(*root).or_default() += 1;
    }
    let numbered: BTreeMap<usize, u16> = members
        .iter()
        .filter(|(_, count)| **count > 1)
        .enumerate()
        .map(|(i, (root, _))| (*root, i as u16))
        .collect();
    let alone =
        home.iter().filter(|(_, root)| !numbered.contains_key(root)).map(|(symbol, _)| *symbol).collect();
    (home.into_iter().filter_map(|(symbol, root)| Some((symbol, *numbered.get(&root)?))).collect(), alone)
}
