//! Logical forms as sets of atoms over numbered variables.

use std::collections::HashMap;

use super::super::lf::{Conjunct, Form, Term};

/// Two forms whose predicates and constants have the same numbers.
pub(super) struct Pair {
    pub(super) gold: Structure,
    pub(super) prediction: Structure,
}

/// The predications of a form.
pub(super) struct Structure {
    /// How many variables `LAMBDA` binds; they are the first ones.
    pub(super) lambdas: usize,
    /// Sorted, each once.
    pub(super) atoms: Vec<Atom>,
    /// For each atom a conjunct that says it.
    pub(super) conjuncts: Vec<u32>,
    /// For each variable the atoms and places where it occurs.
    pub(super) occurrences: Vec<Vec<(u32, u32)>>,
}

/// A predication.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Atom {
    /// The words of the predicate, and whether it is marked with `*`.
    pub(super) symbol: u32,
    pub(super) arguments: Vec<Argument>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Argument {
    Variable(u32),
    Constant(u32),
}

/// Numbers for predicates and constants.
#[derive(Default)]
struct Symbols<'t> {
    predicates: HashMap<(bool, Vec<&'t str>), u32>,
    constants: HashMap<&'t str, u32>,
}

impl Pair {
    pub(super) fn new(gold: &Form<'_>, prediction: &Form<'_>) -> Self {
        let mut symbols = Symbols::default();
        Self {
            gold: Structure::new(gold, &mut symbols),
            prediction: Structure::new(prediction, &mut symbols),
        }
    }
}

impl Structure {
    fn new<'t>(form: &'t Form<'_>, symbols: &mut Symbols<'t>) -> Self {
        let lambdas = form.lambdas.len();
        // Where a name is bound twice, the inner one counts.
        let bound: HashMap<&str, u32> =
            form.lambdas.iter().zip(0..).map(|(name, index)| (name.as_ref(), index)).collect();
        let mut free: HashMap<&str, u32> = HashMap::new();
        let mut atoms: Vec<(Atom, u32)> = Vec::with_capacity(form.conjuncts.len());
        for (conjunct, i) in form.conjuncts.iter().zip(0..) {
            let arguments = conjunct.arguments.iter().map(|term| match term {
                Term::Bound(name) => Argument::Variable(bound.get(name.as_ref()).copied().unwrap_or(0)),
                Term::Variable(name) => {
                    let next = (lambdas + free.len()) as u32;
                    Argument::Variable(*free.entry(name.as_ref()).or_insert(next))
                }
                Term::Constant(name) => {
                    let next = symbols.constants.len() as u32;
                    Argument::Constant(*symbols.constants.entry(name.as_ref()).or_insert(next))
                }
            });
            let arguments = arguments.collect();
            atoms.push((Atom { symbol: symbols.predicate(conjunct), arguments }, i));
        }
        atoms.sort_unstable();
        atoms.dedup_by(|a, b| a.0 == b.0);

        let mut occurrences = vec![Vec::new(); lambdas + free.len()];
        for ((atom, _), i) in atoms.iter().zip(0..) {
            for (argument, place) in atom.arguments.iter().zip(0..) {
                if let Argument::Variable(variable) = argument {
                    occurrences[*variable as usize].push((i, place));
                }
            }
        }
        let (atoms, conjuncts) = atoms.into_iter().unzip();
        Self { lambdas, atoms, conjuncts, occurrences }
    }

    pub(super) fn variables(&self) -> usize {
        self.occurrences.len()
    }

    /// The predicates of all atoms, in order.
    pub(super) fn symbols(&self) -> impl Iterator<Item = (u32, usize)> {
        self.atoms.iter().map(|atom| (atom.symbol, atom.arguments.len()))
    }

    /// The colours that variables start with: those that `LAMBDA` binds are told apart by their place.
    pub(super) fn first_colours(&self) -> Vec<u64> {
        (0..self.variables()).map(|i| if i < self.lambdas { mix(i as u64 + 1) } else { 0 }).collect()
    }

    /// What is said of a variable, given the colours of all: the same number for the same set.
    pub(super) fn recolour(&self, variable: u32, colours: &[u64]) -> u64 {
        let mut sum = 0u64;
        for &(atom, place) in &self.occurrences[variable as usize] {
            let atom = &self.atoms[atom as usize];
            let mut hash = mix(u64::from(atom.symbol) << 32 | u64::from(place));
            for argument in &atom.arguments {
                hash = mix(hash
                    ^ match *argument {
                        Argument::Variable(other) => colours[other as usize],
                        Argument::Constant(constant) => mix(!u64::from(constant)),
                    });
            }
            sum = sum.wrapping_add(hash);
        }
        mix(colours[variable as usize] ^ sum.rotate_left(17))
    }
}

impl<'t> Symbols<'t> {
    fn predicate(&mut self, conjunct: &'t Conjunct<'_>) -> u32 {
        let next = self.predicates.len() as u32;
        *self.predicates.entry((conjunct.definite, conjunct.predicate().collect())).or_insert(next)
    }
}

/// Scatters the bits of a number (the finaliser of splitmix64). Colours are only hints: a mapping is checked in the end.
pub(super) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
