//! The general search: synchronous grammar induction as bootstrapped programming by example.
//!
//! A rule is a pattern of words and holes with a program over the values of the holes. Values of spans are known from
//! whole rows, words and earlier rules; a pattern gives a table from values of holes to values of rows; a program is
//! synthesised from the table; what it explains becomes derivable, and longer rows become tables for the next round. The
//! shortest conditional description wins: bits of rules and lexicon, and of each row that does not come out right.

mod abduction;
mod chart;
mod effort;
mod functions;
mod grammar;
mod hypotheses;
mod integers;
mod links;
mod mentions;
mod model;
mod order;
mod pairs;
mod phrases;
mod program;
mod random;
mod read;
mod search;
mod strings;
mod synthesis;
mod units;
mod value;

pub(crate) use model::{GeneralModel, propose};

/// Bits of a target that is remembered: of an integer by its size, of other targets by their tokens.
pub(crate) fn target_bits(target: &str, token: f64) -> f64 {
    let mut words = target.split_whitespace();
    match (words.next().and_then(|word| word.parse().ok()), words.count()) {
        (Some(value), 0) => integers::row_bits(value),
        (_, more) => 4.0 + token * (more + 1) as f64,
    }
}
