//! Semantic Exact Match: do two logical forms say the same?
//!
//! A form is a set of predications: order and literal repeats do not count, `;` and `AND` are both conjunction, `*`
//! does count. Two forms match if some one-to-one mapping of the variables of one onto the variables of the other turns
//! the one set into the other. Variables bound by `LAMBDA` map to those bound at the same place.
//!
//! Whether such a mapping exists is a question of isomorphism. Colour refinement tells variables apart by what is said
//! of them, of those they are related to, and so on; what it cannot tell apart is tried out, part by independent part,
//! with a bound on the work. [`official`] repeats the verdicts of the code that was published with the metric, which
//! differ.
//!
//! ```
//! use wug_bench::cogs::lf::{Form, Notation};
//! use wug_bench::cogs::sem::{Match, compare};
//!
//! let form = |text| Form::parse(text, Notation::Recogs).unwrap();
//! let gold = form("girl ( 1 ) ; sleep ( 2 ) AND agent ( 2 , 1 )");
//! assert_eq!(compare(&gold, &form("sleep ( 7 ) AND agent ( 7 , 9 ) ; girl ( 9 )")), Match::Equal);
//! assert_eq!(compare(&gold, &form("girl ( 1 ) ; sleep ( 2 ) AND theme ( 2 , 1 )")), Match::Different);
//! ```

mod explain;
pub mod official;
mod search;
mod structure;

use std::cell::Cell;

use super::lf::Form;
pub use explain::{Explanation, explain, sketch};
use structure::Pair;

/// Whether two forms say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// They do.
    Equal,
    /// They do not.
    Different,
    /// The bound on work was reached before this was clear.
    Undecided,
}

/// The most work that one comparison may take, in arguments of predications looked at. Forms of the releases compared
/// with themselves need less than a hundredth of it.
pub const MOST_WORK: u64 = 1_000_000;

/// Whether two forms say the same. Symmetric.
pub fn compare(gold: &Form<'_>, prediction: &Form<'_>) -> Match {
    compare_within(gold, prediction, &Cell::new(MOST_WORK))
}

/// [`compare`] with another bound on work, from which what was used is taken.
pub fn compare_within(gold: &Form<'_>, prediction: &Form<'_>, work: &Cell<u64>) -> Match {
    let Pair { gold, prediction } = Pair::new(gold, prediction);
    if gold.lambdas != prediction.lambdas
        || gold.variables() != prediction.variables()
        || gold.atoms.len() != prediction.atoms.len()
        || !gold.symbols().eq(prediction.symbols())
    {
        return Match::Different;
    }
    search::search(&gold, &prediction, work)
}

#[cfg(test)]
mod tests;
