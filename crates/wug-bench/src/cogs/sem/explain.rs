//! Why a prediction is wrong: what it lacks and what it adds, under the best mapping of its variables that is found.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::super::lf::{Conjunct, Form, Notation, Term};
use super::structure::{Argument, Atom, Pair, Structure};

/// How a prediction differs from the gold form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Predications of the gold form that the prediction lacks, with the variables of the gold form.
    pub missing: Vec<String>,
    /// Predications of the prediction that the gold form lacks, with the variables of the prediction.
    pub extra: Vec<String>,
    /// Variables of the prediction and of the gold form that were taken to be the same.
    pub mapping: Vec<(String, String)>,
    /// Whether the two bind different numbers of variables by `LAMBDA`.
    pub lambdas_differ: bool,
}

/// Compares under the best mapping that a search finds: variables are paired by what is said of them, then pairs are
/// exchanged as long as that brings more predications into line.
pub fn explain(gold: &Form<'_>, prediction: &Form<'_>, notation: Notation) -> Explanation {
    explanation(gold, prediction, notation, THOROUGH)
}

/// The same in less time, without exchanges: for a reason beside every wrong prediction.
pub fn sketch(gold: &Form<'_>, prediction: &Form<'_>, notation: Notation) -> Explanation {
    explanation(gold, prediction, notation, 2)
}

/// Larger forms are compared without exchanges.
const MOST_EXCHANGED: usize = 100;
/// From so many rounds of telling variables apart on, pairs are exchanged too.
const THOROUGH: usize = 6;

fn explanation(gold: &Form<'_>, prediction: &Form<'_>, notation: Notation, rounds: usize) -> Explanation {
    let Pair { gold: g, prediction: p } = Pair::new(gold, prediction);
    let said: HashSet<&Atom> = g.atoms.iter().collect();
    let mut mapping = paired(&g, &p, rounds);
    if rounds >= THOROUGH && p.variables() <= MOST_EXCHANGED && g.variables() <= MOST_EXCHANGED {
        exchange(&g, &p, &said, &mut mapping);
    }

    let mut covered: HashSet<Atom> = HashSet::new();
    let mut extra = Vec::new();
    for (atom, &conjunct) in p.atoms.iter().zip(&p.conjuncts) {
        match mapped(atom, &mapping).filter(|atom| said.contains(atom)) {
            Some(atom) => {
                covered.insert(atom);
            }
            None => extra.push(conjunct),
        }
    }
    let mut missing: Vec<u32> = g
        .atoms
        .iter()
        .zip(&g.conjuncts)
        .filter(|(atom, _)| !covered.contains(*atom))
        .map(|(_, &c)| c)
        .collect();
    missing.sort_unstable();
    extra.sort_unstable();
    let text = |form: &Form<'_>, conjunct: u32| text_of(&form.conjuncts[conjunct as usize], notation);
    let (names_g, names_p) = (names(gold, &g), names(prediction, &p));
    let pairs = mapping
        .iter()
        .enumerate()
        .filter_map(|(i, to)| Some((names_p[i].clone(), names_g[(*to)? as usize].clone())));
    Explanation {
        missing: missing.into_iter().map(|conjunct| text(gold, conjunct)).collect(),
        extra: extra.into_iter().map(|conjunct| text(prediction, conjunct)).collect(),
        mapping: pairs.collect(),
        lambdas_differ: g.lambdas != p.lambdas,
    }
}

impl Explanation {
    /// One line, with at most `most` predications of each kind.
    pub fn summary(&self, most: usize) -> String {
        let mut text = String::new();
        if self.lambdas_differ {
            text.push_str("another number of LAMBDAs");
        }
        for (what, list) in [("missing", &self.missing), ("extra", &self.extra)] {
            if list.is_empty() {
                continue;
            }
            let shown: Vec<String> = list.iter().take(most).map(|one| shortened(one)).collect();
            let separator = if text.is_empty() { "" } else { "; " };
            let _ = write!(text, "{separator}{what} {}", shown.join(", "));
            if list.len() > most {
                let _ = write!(text, " and {} more", list.len() - most);
            }
        }
        if text.is_empty() {
            text.push_str("the variables are related in another way");
        }
        text
    }
}

fn shortened(text: &str) -> String {
    let short: String = text.chars().take(80).collect();
    if short.len() < text.len() { format!("`{short}...`") } else { format!("`{text}`") }
}

/// A conjunct as text, without what joins it to the one before.
fn text_of(conjunct: &Conjunct<'_>, notation: Notation) -> String {
    let form = Form { conjuncts: vec![conjunct.clone()], ..Form::default() };
    // A predication of a tree has numbers for nodes; they are best shown as ReCOGS would.
    form.print(if notation == Notation::VariableFree { Notation::Recogs } else { notation })
}

/// The name of each variable.
fn names(form: &Form<'_>, structure: &Structure) -> Vec<String> {
    let mut names = vec![String::new(); structure.variables()];
    for (i, name) in form.lambdas.iter().enumerate() {
        names[i] = name.to_string();
    }
    for (atom, &conjunct) in structure.atoms.iter().zip(&structure.conjuncts) {
        for (argument, term) in atom.arguments.iter().zip(&form.conjuncts[conjunct as usize].arguments) {
            if let (Argument::Variable(variable), Term::Variable(name)) = (argument, term) {
                names[*variable as usize] = name.to_string();
            }
        }
    }
    names
}

/// A gold variable for each predicted one, where one is left.
type Mapping = Vec<Option<u32>>;

/// The atom with its variables mapped, if they all are.
fn mapped(atom: &Atom, mapping: &[Option<u32>]) -> Option<Atom> {
    let arguments = atom.arguments.iter().map(|argument| match *argument {
        Argument::Variable(variable) => mapping[variable as usize].map(Argument::Variable),
        constant @ Argument::Constant(_) => Some(constant),
    });
    Some(Atom { symbol: atom.symbol, arguments: arguments.collect::<Option<_>>()? })
}

/// Pairs variables whose colours agree after many rounds of refinement, then after fewer; what is left, in order.
fn paired(gold: &Structure, prediction: &Structure, rounds: usize) -> Mapping {
    let history = |structure: &Structure| {
        let mut colours = vec![structure.first_colours()];
        for _ in 0..rounds {
            let last = &colours[colours.len() - 1];
            let next = (0..last.len() as u32).map(|variable| structure.recolour(variable, last)).collect();
            colours.push(next);
        }
        colours
    };
    let (of_gold, of_prediction) = (history(gold), history(prediction));
    let mut mapping: Mapping = vec![None; prediction.variables()];
    let mut taken = vec![false; gold.variables()];
    for round in (0..=rounds).rev() {
        let mut free: HashMap<u64, Vec<u32>> = HashMap::new();
        for variable in (0..gold.variables()).rev().filter(|&variable| !taken[variable]) {
            free.entry(of_gold[round][variable]).or_default().push(variable as u32);
        }
        for (variable, to) in mapping.iter_mut().enumerate().filter(|(_, to)| to.is_none()) {
            if let Some(chosen) = free.get_mut(&of_prediction[round][variable]).and_then(Vec::pop) {
                *to = Some(chosen);
                taken[chosen as usize] = true;
            }
        }
    }
    mapping
}

/// Exchanges the images of two variables, or takes one that is free, while that helps.
fn exchange(gold: &Structure, prediction: &Structure, said: &HashSet<&Atom>, mapping: &mut Mapping) {
    let score = |mapping: &Mapping, touched: [usize; 2]| {
        let atoms =
            touched.iter().flat_map(|&variable| &prediction.occurrences[variable]).map(|&(atom, _)| atom);
        let atoms: HashSet<u32> = atoms.collect();
        let right = |atom: &&u32| {
            mapped(&prediction.atoms[**atom as usize], mapping).is_some_and(|atom| said.contains(&atom))
        };
        atoms.iter().filter(right).count()
    };
    // Each exchange brings at least one more predication into line, so this ends.
    loop {
        let mut improved = false;
        for i in 0..mapping.len() {
            let used: HashSet<u32> = mapping.iter().filter_map(|to| *to).collect();
            for free in (0..gold.variables() as u32).filter(|variable| !used.contains(variable)) {
                let (before, old) = (score(mapping, [i, i]), mapping[i]);
                mapping[i] = Some(free);
                if score(mapping, [i, i]) > before {
                    improved = true;
                    break;
                }
                mapping[i] = old;
            }
            for j in i + 1..mapping.len() {
                let before = score(mapping, [i, j]);
                mapping.swap(i, j);
                if score(mapping, [i, j]) > before {
                    improved = true;
                } else {
                    mapping.swap(i, j);
                }
            }
        }
        if !improved {
            return;
        }
    }
}
