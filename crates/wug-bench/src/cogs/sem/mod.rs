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

use std::cell::{Cell, RefCell};

use super::lf::{Form, Notation, ParseError, Read, read};
pub use explain::{Explanation, explain, sketch};
use search::Scratch;
use structure::{Structure, Symbols};

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
    let mut symbols = Symbols::default();
    let gold = Structure::of(gold, &mut symbols);
    let prediction = Structure::of(prediction, &mut symbols);
    search::search(&gold, &prediction, &mut Scratch::default(), work)
}

/// [`compare`] for forms as they are written: quicker, because the forms are never made and what memory it takes is used
/// again. Fails at the first of prediction and gold that is no logical form.
pub fn compare_texts(gold: &str, prediction: &str, notation: Notation) -> Result<Match, NoForm> {
    thread_local! {
        static WORKSPACE: RefCell<Workspace> = RefCell::default();
    }
    WORKSPACE.with_borrow_mut(|Workspace { symbols, gold: of_gold, prediction: of_prediction, scratch }| {
        symbols.clear();
        fill(of_prediction, prediction, notation, symbols).map_err(NoForm::Prediction)?;
        fill(of_gold, gold, notation, symbols).map_err(NoForm::Gold)?;
        Ok(search::search(of_gold, of_prediction, scratch, &Cell::new(MOST_WORK)))
    })
}

/// What a comparison works with.
#[derive(Default)]
struct Workspace {
    symbols: Symbols,
    gold: Structure,
    prediction: Structure,
    scratch: Scratch,
}

/// Reads a form as a structure.
fn fill(
    structure: &mut Structure,
    text: &str,
    notation: Notation,
    symbols: &mut Symbols,
) -> Result<(), ParseError> {
    structure.clear();
    read(text, notation, &mut |what| match what {
        Read::Lambda(_) => structure.lambdas += 1,
        Read::Conjunct { definite, words, arguments, .. } => {
            structure.add(definite, words.iter().copied(), arguments, symbols);
        }
        Read::Semicolon => {}
    })?;
    structure.finish();
    Ok(())
}

/// Which of two texts is no logical form, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoForm {
    /// The gold one.
    Gold(ParseError),
    /// The prediction.
    Prediction(ParseError),
}

#[cfg(test)]
mod tests;
