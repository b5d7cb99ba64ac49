//! Work in progress on disk: written beside its target, renamed when complete, removed otherwise.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::{Error, Result};

/// What is unfinished at this moment, for [`remove_partial_output`].
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes everything that is written halfway. For whoever ends the process on a signal.
pub fn remove_partial_output() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for path in unfinished.iter() {
        remove(path);
    }
}

fn remove(path: &Path) {
    // Nothing better can be done if this fails: the error that led here is the one to report.
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// A file or folder that disappears again unless it is kept.
#[derive(Debug)]
pub(crate) struct Partial {
    path: PathBuf,
}

impl Partial {
    /// A name beside `target` that no other process uses, noted as unfinished.
    pub(crate) fn beside(target: &Path) -> Self {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = target.with_file_name(format!(".{name}.partial-{}", std::process::id()));
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        unfinished.push(path.clone());
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        unfinished.retain(|path| *path != self.path);
        remove(&self.path);
    }
}

/// Writes a file completely or not at all.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("wug-atomic-{}", std::process::id()));
/// wug_data::write_file(&path, |out| out.write_all(b"all of it\n"))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "all of it\n");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    if path.exists() && !path.is_file() {
        // A device or a pipe cannot be replaced; it is written as it is.
        if path.is_dir() {
            return Err(Error::file(path, "is a folder, not a file"));
        }
        let mut out = BufWriter::new(File::options().write(true).open(path).map_err(Error::io(path))?);
        return write(&mut out).and_then(|()| out.flush()).map_err(Error::io(path));
    }
    let partial = Partial::beside(path);
    let mut out = BufWriter::new(File::create(partial.path()).map_err(Error::io(path))?);
    write(&mut out).and_then(|()| out.flush()).map_err(Error::io(path))?;
    fs::rename(partial.path(), path).map_err(Error::io(path))
}
