use std::path::{Path, PathBuf};

use thiserror::Error;

/// What went wrong, where, and (in the text) what would be right.
#[derive(Debug, Error)]
pub enum Error {
    /// The request itself is wrong: an unknown name, options that do not go together.
    #[error("{0}")]
    Usage(String),
    /// The work itself failed.
    #[error("{0}")]
    Failed(String),
    /// The work was left on purpose, and can go on where it was left.
    #[error("{0}")]
    Unfinished(String),
    /// A line of a file is wrong.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// A file or folder as a whole is wrong.
    #[error("{}: {what}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Reading or writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What can go wrong here, as a result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A wrong request.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::Usage(what.into())
    }

    /// Work that failed.
    pub fn failed(what: impl Into<String>) -> Self {
        Self::Failed(what.into())
    }

    /// Work that was left on purpose.
    pub fn unfinished(what: impl Into<String>) -> Self {
        Self::Unfinished(what.into())
    }

    /// A wrong line of a file.
    pub fn line(path: &Path, line: usize, what: impl Into<String>) -> Self {
        Self::Line { path: path.to_owned(), line, what: what.into() }
    }

    /// A wrong file or folder.
    pub fn file(path: &Path, what: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), what: what.into() }
    }

    /// For `map_err`: an input/output error at this path.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<'_> {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// Whether the work was left on purpose.
    pub fn is_unfinished(&self) -> bool {
        matches!(self, Self::Unfinished(_))
    }

    /// Whether the user asked for something that does not exist, rather than something that failed.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Usage(_))
    }
}
