//! Why a prediction is wrong: what it lacks and what it adds, under the best mapping of its variables that is found.

use std::collections::HashSet;
use std::fmt::Write as _;
use wug_data::truncate;

use super::super::lf::{Conjunct, Form, Notation, Term};
use super::structure::{Argument, Atom, Structure, Symbols};

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
/// The number of refinement rounds after which pairs are exchanged, too.
const THOROUGH: usize = 6;

fn explanation<'t>(gold: &Form<'t>, prediction: &Form<'t>, notation: Notation, rounds: usize) -> Explanation {
    let mut symbols = Symbols::default();
    let g = Structure::of(gold, &mut symbols);
    let p = Structure::of(prediction, &mut symbols);
    let mut mapping = paired(&g, &p, rounds);
    if rounds >= THOROUGH && p.variables() <= MOST_EXCHANGED && g.variables() <= MOST_EXCHANGED {
        exchange(&g, &p, &mut mapping);
    }

    let mut covered = vec![false; g.atoms().len()];
    let mut extra = Vec::new();
    for atom in p.atoms() {
        match said(&g, &p, atom, &mapping) {
            Some(place) => covered[place] = true,
            None => extra.push(atom.conjunct),
        }
    }
    let uncovered = g.atoms().iter().zip(covered).filter(|(_, covered)| !covered);
    let mut missing: Vec<u32> = uncovered.map(|(atom, _)| atom.conjunct).collect();
    missing.sort_unstable();
    extra.sort_unstable();
    let text = |form: &Form<'_>, conjunct: u32| text_of(&form.conjuncts[conjunct as usize], notation);
    let (names_g, names_p) = (names(gold, &g), names(prediction, &p));
    let pairs = mapping
        .iter()
        .enumerate()
        .filter_map(|(i, to)| Some((names_p[i].to_owned(), names_g[(*to)? as usize].to_owned())));
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
    format!("`{}`", truncate(text, 80))
}

/// A conjunct as text, without what joins it to the one before.
fn text_of(conjunct: &Conjunct<'_>, notation: Notation) -> String {
    // A predication of a tree has numbers for nodes; they are best shown as ReCOGS would.
    conjunct.print(if notation == Notation::VariableFree { Notation::Recogs } else { notation })
}

/// The name of each variable.
fn names<'f>(form: &'f Form<'_>, structure: &Structure) -> Vec<&'f str> {
    let mut names = vec![""; structure.variables()];
    for (i, name) in form.lambdas.iter().enumerate() {
        names[i] = name;
    }
    for atom in structure.atoms() {
        let terms = &form.conjuncts[atom.conjunct as usize].arguments;
        for (argument, term) in structure.arguments(atom).iter().zip(terms) {
            if let (Some(variable), Term::Variable(name)) = (argument.variable(), term) {
                names[variable as usize] = name;
            }
        }
    }
    names
}

/// A gold variable for each predicted one, where one is left.
type Mapping = Vec<Option<u32>>;

/// Where the gold structure says what an atom of the prediction says, once its variables are mapped.
fn said(gold: &Structure, prediction: &Structure, atom: &Atom, mapping: &[Option<u32>]) -> Option<usize> {
    let map = |argument: &Argument| match argument.variable() {
        Some(variable) => mapping[variable as usize].map(|image| argument.mapped(|_| image)),
        None => Some(*argument),
    };
    match prediction.arguments(atom) {
        [one] => gold.find(atom.predicate(), &[map(one)?]),
        [one, other] => gold.find(atom.predicate(), &[map(one)?, map(other)?]),
        more => gold.find(atom.predicate(), &more.iter().map(map).collect::<Option<Vec<_>>>()?),
    }
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
    let mut free: Vec<(u64, u32)> = Vec::new();
    for round in (0..=rounds).rev() {
        free.clear();
        let colours = of_gold[round].iter().zip(0..).zip(&taken).filter(|(_, taken)| !**taken);
        free.extend(colours.map(|((&colour, variable), _)| (colour, variable)));
        free.sort_unstable();
        // The variables of a colour are given in order; the first place of a colour counts how many have been.
        let mut given = vec![0; free.len()];
        for (variable, to) in mapping.iter_mut().enumerate().filter(|(_, to)| to.is_none()) {
            let colour = of_prediction[round][variable];
            let first = free.partition_point(|&(other, _)| other < colour);
            let Some(&next) = given.get(first) else { continue };
            if let Some(&(other, chosen)) = free.get(first + next)
                && other == colour
            {
                given[first] += 1;
                *to = Some(chosen);
                taken[chosen as usize] = true;
            }
        }
    }
    mapping
}

/// Exchanges the images of two variables, or takes one that is free, while that helps.
fn exchange(gold: &Structure, prediction: &Structure, mapping: &mut Mapping) {
    let score = |mapping: &Mapping, touched: [usize; 2]| {
        let places = touched.iter().flat_map(|&variable| prediction.places(variable as u32));
        let mut atoms: Vec<u32> = places.map(|&(atom, _)| atom).collect();
        atoms.sort_unstable();
        atoms.dedup();
        let right =
            |&atom: &u32| said(gold, prediction, &prediction.atoms()[atom as usize], mapping).is_some();
        atoms.into_iter().filter(right).count()
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
