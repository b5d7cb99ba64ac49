//! Variables with names drawn at random, so that they say nothing about places.

use std::borrow::Cow;
use std::collections::HashMap;

use wug_data::Stream;

use super::super::lf::{Form, Term};

/// The numerals that a model of the release has in its vocabulary.
pub const POOL: [u32; 57] = {
    let mut pool = [0; 57];
    let mut i = 0;
    while i < 55 {
        pool[i] = i as u32;
        i += 1;
    }
    pool[55] = 56;
    pool[56] = 59;
    pool
};

/// Gives every variable of the forms a name of its own, drawn from [`POOL`] without replacement. A variable of one form
/// is another than that of the next, whatever their names. Where the pool does not suffice it goes on from 60.
pub fn rename(forms: &mut [Form<'_>], stream: &mut Stream) {
    let mut known: HashMap<(usize, String), usize> = HashMap::new();
    for (i, form) in forms.iter().enumerate() {
        for term in form.conjuncts.iter().flat_map(|conjunct| &conjunct.arguments) {
            if let Term::Variable(name) = term {
                let next = known.len();
                known.entry((i, name.to_string())).or_insert(next);
            }
        }
    }
    let mut pool = POOL.to_vec();
    pool.extend((60..).take(known.len().saturating_sub(POOL.len())));
    let names = stream.sample(&pool, known.len());
    for (i, form) in forms.iter_mut().enumerate() {
        for term in form.conjuncts.iter_mut().flat_map(|conjunct| &mut conjunct.arguments) {
            if let Term::Variable(name) = term
                && let Some(&number) = known.get(&(i, name.to_string()))
            {
                *name = Cow::Owned(names[number].to_string());
            }
        }
    }
}

/// Names the variables 0, 1, 2, ... in the order in which they occur: two forms that differ only in the names of their
/// variables become the same.
pub fn canonical(form: &mut Form<'_>) {
    let mut known: HashMap<String, usize> = HashMap::new();
    for term in form.conjuncts.iter_mut().flat_map(|conjunct| &mut conjunct.arguments) {
        if let Term::Variable(name) = term {
            let next = known.len();
            let number = *known.entry(name.to_string()).or_insert(next);
            *name = Cow::Owned(number.to_string());
        }
    }
}
