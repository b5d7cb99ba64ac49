//! The variables of COGS are places in the sentence: when words move, variables follow.

use std::borrow::Cow;

use super::super::lf::{Conjunct, Form, Join, Term};

/// The place that a variable of COGS names.
pub fn place(term: &Term<'_>) -> Option<usize> {
    match term {
        Term::Variable(name) => name.parse().ok(),
        Term::Bound(_) | Term::Constant(_) => None,
    }
}

/// Gives every variable the place that `moved` says; fails with a variable that is no place of the sentence.
pub fn renumber(form: &mut Form<'_>, moved: impl Fn(usize) -> Option<usize>) -> Result<(), String> {
    for term in form.conjuncts.iter_mut().flat_map(|conjunct| &mut conjunct.arguments) {
        if let Term::Variable(name) = term {
            let new = name.parse().ok().and_then(&moved);
            let new = new.ok_or_else(|| format!("variable {name} is no place in the sentence"))?;
            *name = Cow::Owned(new.to_string());
        }
    }
    Ok(())
}

/// Puts conjuncts into the order of COGS: definites by number, then the rest by the number of the first argument and
/// the place of the second, where a name counts with its own place among `words`.
pub fn sort(form: &mut Form<'_>, words: &[&str]) {
    let place_of = |term: &Term<'_>| {
        place(term).or_else(|| words.iter().position(|word| *word == term.name())).unwrap_or(usize::MAX)
    };
    form.conjuncts.sort_by_key(|conjunct| {
        let first = conjunct.arguments.first().map_or(0, place_of);
        let second = conjunct.arguments.get(1).map_or(0, |second| place_of(second).saturating_add(1));
        (!conjunct.definite, first, second)
    });
    let definites = form.conjuncts.iter().filter(|conjunct| conjunct.definite).count();
    rejoin(&mut form.conjuncts, definites);
}

/// Puts `;` behind each of the first `apart` conjuncts, and `AND` between the others.
pub fn rejoin(conjuncts: &mut [Conjunct<'_>], apart: usize) {
    for (i, conjunct) in conjuncts.iter_mut().enumerate() {
        conjunct.join = if (1..=apart).contains(&i) { Join::Semicolon } else { Join::And };
    }
}

/// A word with a capital at its beginning.
pub fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A word as it stands inside a sentence: articles lose the capital that opens a sentence.
pub fn inside(word: &str) -> &str {
    match word {
        "The" => "the",
        "A" => "a",
        word => word,
    }
}
