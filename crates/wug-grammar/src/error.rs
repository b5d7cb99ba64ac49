use thiserror::Error;

/// Why a grammar, an interpretation or a request on them was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// The text of a grammar or an interpretation has a mistake on this line (from 1).
    #[error("line {line}: {what}")]
    Text {
        /// Line of the text, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// No sort of the grammar has this name.
    #[error("no sort `{0}` in the grammar")]
    UnknownSort(String),
    /// The rules cannot be used together.
    #[error("{0}")]
    Grammar(String),
    /// The sort has infinitely many trees; a bound on size or depth makes them finite.
    #[error("sort `{0}` has infinitely many trees: ask for those of a size or depth")]
    Infinite(String),
    /// More trees than can be held in memory.
    #[error("{0} trees are too many to hold at once: unrank or sample them")]
    TooMany(String),
}
