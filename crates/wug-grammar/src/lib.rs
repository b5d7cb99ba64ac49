//! Trees, and grammars of trees.
//!
//! A [`Grammar`] says which derivation trees exist; an interpretation says what each tree means. Words are one
//! interpretation, meanings are others, and all of them are read off the same tree, bottom-up, by an [`Algebra`].
//!
//! ```
//! use wug_grammar::{Arena, Grammar, Space, Strings};
//!
//! let (grammar, words) = Grammar::parse(
//!     "once:  S -> V
//!      twice: S -> V twice
//!      V -> jump | walk",
//! )?;
//! let actions = Strings::parse(&grammar, "once: $1\ntwice: $1 $1\njump: JUMP\nwalk: WALK")?;
//!
//! let space = Space::all(&grammar, grammar.sort("S")?)?;
//! assert_eq!(space.count().to_string(), "4");
//!
//! let mut arena = Arena::new();
//! let tree = space.unrank(&mut arena, &3u32.into()).unwrap();
//! assert_eq!(words.text(&arena, tree), "walk twice");
//! assert_eq!(actions.text(&arena, tree), "WALK WALK");
//! # Ok::<(), wug_grammar::Error>(())
//! ```
//!
//! | you want | you call |
//! |---|---|
//! | write a grammar down | [`Grammar::parse`] |
//! | write an interpretation down | [`Strings::parse`], or implement [`Algebra`] |
//! | all trees, those of a size or depth, those of a sentence | [`Space::all`], [`Space::of_size`], [`Space::of_depth`], [`Parser::parse`] |
//! | how many, the i-th, which one is this, each of them, a random one | [`Space::count`], [`Space::unrank`], [`Space::rank`], [`Space::enumerate`], [`Space::sample`], [`Space::sample_weighted`] |
//! | a random tree of an infinite language | [`Grammar::sample`] |

mod algebra;
mod error;
mod grammar;
mod parse;
mod space;
mod strings;
mod tree;
mod vocab;

pub use algebra::Algebra;
pub use error::Error;
pub use grammar::{Grammar, Rule, RuleId, Sort};
pub use parse::Parser;
pub use space::Space;
pub use strings::{Piece, Span, StringBuffer, Strings};
pub use tree::{Arena, NodeId};
pub use vocab::Vocab;

/// What can go wrong here, as a result.
pub type Result<T> = std::result::Result<T, Error>;
