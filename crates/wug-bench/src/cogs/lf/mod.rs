//! Logical forms: conjunctions of predications over variables.
//!
//! COGS, ReCOGS and the variable-free notation say the same in different ways. [`Form::parse`] reads any of them into
//! one representation and [`Form::print`] writes it; text that a release has comes back byte for byte.
//!
//! ```
//! use wug_bench::cogs::lf::{Form, Notation};
//!
//! let text = "* girl ( x _ 1 ) ; sleep . agent ( x _ 2 , x _ 1 )";
//! let form = Form::parse(text, Notation::Cogs)?;
//! assert!(form.conjuncts[0].definite);
//! assert_eq!(form.conjuncts[1].head.as_deref(), Some("sleep"));
//! assert_eq!(form.print(Notation::Cogs), text);
//! assert_eq!(form.print(Notation::VariableFree), "sleep ( agent = * girl )");
//!
//! let error = Form::parse("girl ( x _ 1", Notation::Cogs).unwrap_err();
//! assert_eq!(error.to_string(), "column 13: expected `,` or `)`, found the end");
//! # Ok::<(), wug_bench::cogs::lf::ParseError>(())
//! ```

mod parse;
mod print;
mod tokens;
mod tree;

use std::borrow::Cow;
use std::fmt;

/// A word of a logical form, of the text it was read from or made.
pub type Name<'t> = Cow<'t, str>;

/// How a logical form is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notation {
    /// `* girl ( x _ 1 ) ; see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , Emma )`: variables are marked, names
    /// are constants.
    Cogs,
    /// COGS without some of its tokens: numerals are variables, other arguments are constants.
    Reduced(Removal),
    /// `* girl ( 1 ) ; Emma ( 3 ) ; see ( 2 ) AND agent ( 2 , 1 ) AND theme ( 2 , 3 )`: every argument is a variable.
    Recogs,
    /// `see ( agent = * girl , theme = Emma )`: variables are places in a tree.
    VariableFree,
}

/// Tokens that are left out of COGS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Removal {
    /// `x` and `_`.
    X,
    /// `x`, `_` and parentheses.
    XParen,
    /// `x`, `_`, parentheses and commas.
    XParenComma,
}

impl Removal {
    /// The tokens that are left out.
    pub fn tokens(self) -> &'static [&'static str] {
        match self {
            Self::X => &["x", "_"],
            Self::XParen => &["x", "_", "(", ")"],
            Self::XParenComma => &["x", "_", "(", ")", ","],
        }
    }
}

impl Notation {
    /// Whether arguments stand in parentheses.
    fn has_parentheses(self) -> bool {
        !matches!(self, Self::Reduced(Removal::XParen | Removal::XParenComma))
    }

    /// Whether arguments are separated by commas.
    fn has_commas(self) -> bool {
        !matches!(self, Self::Reduced(Removal::XParenComma))
    }
}

/// A logical form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Form<'t> {
    /// The variables bound by `LAMBDA`, outermost first.
    pub lambdas: Vec<Name<'t>>,
    /// Whether a `;` without anything before it opens the form: a slip of the released concatenations, kept so that
    /// they come back as they were.
    pub opens_with_semicolon: bool,
    /// What holds, in the order in which it is written.
    pub conjuncts: Vec<Conjunct<'t>>,
}

/// One predication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conjunct<'t> {
    /// What joins it to the one before; of no account for the first.
    pub join: Join,
    /// Whether it is marked with `*`: a definite noun.
    pub definite: bool,
    /// The noun or verb: `girl`; in COGS also the first word of `see . agent` and `cake . nmod . on`.
    pub head: Option<Name<'t>>,
    /// What relates two arguments: `agent`, or `nmod` and `on`.
    pub relation: Vec<Name<'t>>,
    /// One or two arguments; none for a bare word such as the primitive `Emma`.
    pub arguments: Vec<Term<'t>>,
}

/// What stands between two conjuncts. Both mean conjunction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// ` ; `
    Semicolon,
    /// ` AND `
    And,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Term<'t> {
    /// A variable; its name is text of any length, never a number.
    Variable(Name<'t>),
    /// A variable that a `LAMBDA` binds.
    Bound(Name<'t>),
    /// A constant: a name in COGS.
    Constant(Name<'t>),
}

impl Term<'_> {
    /// The name, whatever it names.
    pub fn name(&self) -> &str {
        match self {
            Self::Variable(name) | Self::Bound(name) | Self::Constant(name) => name,
        }
    }

    /// The variable with a number.
    pub fn numbered(number: usize) -> Self {
        Self::Variable(Cow::Owned(number.to_string()))
    }
}

impl<'t> Conjunct<'t> {
    /// `head ( argument )`, joined by `AND`.
    pub fn one_place(head: impl Into<Name<'t>>, argument: Term<'t>) -> Self {
        Self {
            join: Join::And,
            definite: false,
            head: Some(head.into()),
            relation: Vec::new(),
            arguments: vec![argument],
        }
    }

    /// `head . relation ( first , second )`, joined by `AND`.
    pub fn two_place(
        head: Option<Name<'t>>,
        relation: Vec<Name<'t>>,
        first: Term<'t>,
        second: Term<'t>,
    ) -> Self {
        Self { join: Join::And, definite: false, head, relation, arguments: vec![first, second] }
    }

    /// The words of the predicate: head, then relation.
    pub fn predicate(&self) -> impl Iterator<Item = &str> + Clone {
        self.head.iter().chain(&self.relation).map(AsRef::as_ref)
    }

    /// Whether it is a prepositional modifier: `cake . nmod . on` or `nmod . on`.
    pub fn is_nmod(&self) -> bool {
        self.relation.first().is_some_and(|word| word == "nmod")
    }
}

/// Where a text stops being a logical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Character of the text, from 1; one past the end where something is missing.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.what)
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests;
