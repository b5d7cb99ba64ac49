//! Targets that are sets of predications: `give . agent ( x _ 1 , x _ 0 )`. Their arguments refer to words of the
//! source; a part is seen from outside through one word, its head.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Algebra;
use crate::pool::{SLOT_BITS, WORD_BITS};
use crate::symbols::Sym;

/// A piece of a predication. In terms the numbers are slots, in values they are positions of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Part {
    /// A target token.
    Token(u32),
    /// The symbol of a word.
    Name(u16),
    /// A reference to a word.
    Ref(u16),
    /// Between the label and the arguments, between arguments, and at the end.
    Open,
    /// See [`Part::Open`].
    Comma,
    /// See [`Part::Open`].
    Close,
}

/// A predication: label, then arguments.
pub(crate) type Atom = Vec<Part>;

/// The label of the atom that says of a word that its own atom is missing.
pub(crate) const BARE: u32 = u32::MAX;

/// A set of predications with its head; roots have none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Predication {
    /// In order, without repetition.
    pub atoms: Vec<Atom>,
    /// The word through which the set is seen from outside.
    pub head: Option<u16>,
}

/// Sets of predications.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Predications {
    /// Spellings of the target tokens.
    pub symbols: Vec<String>,
}

/// Bits of an atom, apart from what it says; of a rule that says nothing and so hides what it covers.
const ATOM_BITS: f64 = 4.0;
const EMPTY_BITS: f64 = 100.0;

/// The word a piece refers to.
pub(crate) fn referent(part: Part) -> Option<u16> {
    match part {
        Part::Name(at) | Part::Ref(at) => Some(at),
        _ => None,
    }
}

fn map_referents(atom: &Atom, to: impl Fn(u16) -> u16) -> Atom {
    let map = |part: &Part| match *part {
        Part::Name(at) => Part::Name(to(at)),
        Part::Ref(at) => Part::Ref(to(at)),
        other => other,
    };
    atom.iter().map(map).collect()
}

/// How many slots a term needs; as many as there can be if it names a token that is not there.
pub(crate) fn slots_used(term: &Predication, is_token: impl Fn(u32) -> bool) -> usize {
    let parts = term.atoms.iter().flatten().map(|&part| match part {
        Part::Token(token) if token != BARE && !is_token(token) => usize::MAX,
        part => referent(part).map_or(0, |slot| slot as usize + 1),
    });
    parts.chain(term.head.map(|head| head as usize + 1)).max().unwrap_or(0)
}

/// The atoms over the slots `from..to` alone, and the slots among them that other atoms, or the head, refer to.
fn split(term: &Predication, from: usize, to: usize) -> (Vec<&Atom>, BTreeSet<u16>) {
    let is_in = |at: u16| (from..to).contains(&(at as usize));
    let mut inside = Vec::new();
    let mut seen = BTreeSet::new();
    for atom in &term.atoms {
        let referents = || atom.iter().filter_map(|&part| referent(part));
        let within = referents().filter(|&at| is_in(at)).count();
        if within > 0 && within == referents().count() {
            inside.push(atom);
        } else if within > 0 {
            seen.extend(referents().filter(|&at| is_in(at)));
        }
    }
    seen.extend(term.head.filter(|&head| is_in(head)));
    (inside, seen)
}

impl Algebra for Predications {
    type Term = Predication;
    type Value = Predication;

    fn parts(&self, term: &Predication, from: usize, to: usize) -> Vec<Predication> {
        let (inside, seen) = split(term, from, to);
        let heads: Vec<u16> = match seen.len() {
            0 => (from as u16..to as u16).collect(),
            1 => seen.into_iter().collect(),
            _ => return Vec::new(),
        };
        let atoms: Vec<Atom> =
            inside.into_iter().map(|atom| map_referents(atom, |at| at - from as u16)).collect();
        heads
            .into_iter()
            .map(|head| Predication { atoms: atoms.clone(), head: Some(head - from as u16) })
            .collect()
    }

    fn cut(&self, term: &Predication, from: usize, to: usize, part: &Predication) -> Option<Predication> {
        let (inside, seen) = split(term, from, to);
        let head = part.head? + from as u16;
        if seen.iter().any(|&slot| slot != head) || inside.len() != part.atoms.len() {
            return None;
        }
        let same = part.atoms.iter().all(|atom| {
            let here = map_referents(atom, |at| at + from as u16);
            inside.iter().any(|inside| **inside == here)
        });
        if !same {
            return None;
        }
        let gone = (to - from - 1) as u16;
        let rename = |at: u16| match at {
            at if (at as usize) >= to => at - gone,
            at if at == head => from as u16,
            at => at,
        };
        let outside = term.atoms.iter().filter(|atom| !inside.contains(atom));
        let mut atoms: Vec<Atom> = outside.map(|atom| map_referents(atom, rename)).collect();
        atoms.sort();
        Some(Predication { atoms, head: term.head.map(rename) })
    }

    fn bits(&self, term: &Predication) -> f64 {
        let part_bits = |part: &Part| match part {
            Part::Token(_) => WORD_BITS,
            Part::Name(_) | Part::Ref(_) => SLOT_BITS,
            Part::Open | Part::Comma | Part::Close => 0.0,
        };
        let written: f64 =
            term.atoms.iter().map(|atom| ATOM_BITS + atom.iter().map(part_bits).sum::<f64>()).sum();
        let empty = term.atoms.is_empty() && term.head.is_some();
        written + if empty { EMPTY_BITS } else { 0.0 }
    }

    fn class(&self, source: &[Sym], term: &Predication) -> u16 {
        let mut slots =
            source.iter().filter_map(|sym| if let Sym::Slot(class) = sym { Some(*class) } else { None });
        slots.nth(term.head.unwrap_or(0) as usize).unwrap_or(0)
    }

    fn beside(&self) -> Option<Predication> {
        Some(Predication { atoms: Vec::new(), head: None })
    }

    fn slot(&self, slot: usize) -> Predication {
        Predication { atoms: Vec::new(), head: Some(slot as u16) }
    }

    fn word(&self, _: u32, position: usize) -> Predication {
        self.slot(position)
    }

    fn apply(&self, term: &Predication, children: &[&Predication]) -> Option<Predication> {
        let heads: Option<Vec<u16>> = children.iter().map(|child| child.head).collect();
        let heads = heads?;
        let own = term.atoms.iter().map(|atom| map_referents(atom, |at| heads[at as usize]));
        let mut atoms: Vec<Atom> =
            children.iter().flat_map(|child| child.atoms.iter().cloned()).chain(own).collect();
        atoms.sort();
        atoms.dedup();
        Some(Predication { atoms, head: term.head.map(|head| heads[head as usize]) })
    }

    fn is_part(&self, value: &Predication, gold: &Predication) -> bool {
        value.atoms.iter().all(|atom| gold.atoms.binary_search(atom).is_ok())
    }

    fn is_whole(&self, value: &Predication, gold: &Predication) -> bool {
        value.atoms == gold.atoms
    }

    fn show(&self, term: &Predication) -> String {
        let part = |part: &Part| match *part {
            Part::Token(BARE) => "BARE".to_owned(),
            Part::Token(token) => self.symbols[token as usize].clone(),
            Part::Name(slot) => format!("${}", slot + 1),
            Part::Ref(slot) => format!("@{}", slot + 1),
            Part::Open => "(".to_owned(),
            Part::Comma => ",".to_owned(),
            Part::Close => ")".to_owned(),
        };
        let atoms: Vec<String> =
            term.atoms.iter().map(|atom| atom.iter().map(part).collect::<Vec<_>>().join(" ")).collect();
        let head = term.head.map_or(String::new(), |head| format!(" head ${}", head + 1));
        format!("{{ {} }}{head}", atoms.join(" ; "))
    }

    fn show_value(&self, value: &Predication, words: &[String]) -> String {
        let word = |at: u16| words.get(at as usize).map_or("?", String::as_str);
        let part = |part: &Part| match *part {
            Part::Token(BARE) => "BARE",
            Part::Token(token) => self.symbols[token as usize].as_str(),
            Part::Name(at) | Part::Ref(at) => word(at),
            Part::Open => "(",
            Part::Comma => ",",
            Part::Close => ")",
        };
        let atoms: Vec<String> =
            value.atoms.iter().map(|atom| atom.iter().map(part).collect::<Vec<_>>().join(" ")).collect();
        let head = value.head.map_or(String::new(), |head| format!(" head {}", word(head)));
        format!("{{ {} }}{head}", atoms.join(" ; "))
    }
}
