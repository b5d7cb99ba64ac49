//! Errors of wug as Python's.

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use wug_data::Error;

/// The Python exception for an error: `ValueError` for a wrong request or a malformed file, `OSError` where the system
/// refused, `RuntimeError` where the work failed. The message is wug's.
pub(crate) fn exception(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Usage(_) | Error::Line { .. } | Error::File { .. } => PyValueError::new_err(message),
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(message)
        }
        Error::Io { .. } => PyOSError::new_err(message),
        Error::Failed(_) | Error::Unfinished(_) => PyRuntimeError::new_err(message),
    }
}
