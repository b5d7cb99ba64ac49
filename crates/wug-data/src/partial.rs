//! Work in progress on disk: written beside its target, renamed when complete, removed otherwise.
//!
//! A process that is killed leaves its work behind. While it lives it holds a lock on it, which the system gives up when
//! the process ends in whatever way: so the next one can tell what is stale, and removes it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use crate::{Error, Result};

/// What is unfinished at this moment, for [`remove_partial_output`].
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether the process is about to end on a signal.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Held while finished files move to their places, which nothing may interrupt.
static MOVING: Mutex<()> = Mutex::new(());

/// The file in an unfinished folder that its writer holds a lock on.
const LOCK: &str = ".lock";

/// Removes everything that is written halfway, and keeps other threads from writing more. For whoever ends the process
/// on a signal.
pub fn remove_partial_output() {
    INTERRUPTED.store(true, Ordering::SeqCst);
    let _moving = MOVING.lock().unwrap_or_else(PoisonError::into_inner);
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for path in unfinished {
        // A thread may be in the middle of creating a file: what it adds is removed the next time round.
        for _ in 0..100 {
            remove(&path);
            if !path.exists() {
                break;
            }
            sleep(Duration::from_millis(10));
        }
        if let Some(folder) = path.parent().filter(|_| is_folder_partial(&path)) {
            let _ = fs::remove_dir(folder); // only if empty
        }
    }
}

/// Whether [`remove_partial_output`] has been called: errors from here on are its consequences.
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Keeps the process from ending on a signal for as long as the guard lives; an error if it is about to end.
pub(crate) fn uninterrupted() -> io::Result<MutexGuard<'static, ()>> {
    let moving = MOVING.lock().unwrap_or_else(PoisonError::into_inner);
    check_interrupted().map(|()| moving)
}

/// An error where the process is about to end on a signal.
pub(crate) fn check_interrupted() -> io::Result<()> {
    if is_interrupted() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

fn remove(path: &Path) {
    // Nothing better can be done if this fails: the error that led here is the one to report.
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

fn is_folder_partial(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".wug.partial-"))
}

/// A file or folder that disappears again unless it is kept.
#[derive(Debug)]
pub(crate) struct Partial {
    path: PathBuf,
    /// Held until the work is finished or given up.
    lock: Option<File>,
}

impl Partial {
    /// A name beside `target` that no other process uses, noted as unfinished.
    fn beside(target: &Path) -> Self {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = target.with_file_name(format!(".{name}.partial-{}", std::process::id()));
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Self { path, lock: None }
    }

    /// A new folder beside `target`.
    pub(crate) fn folder(target: &Path) -> io::Result<Self> {
        let mut partial = Self::beside(target);
        fs::create_dir_all(&partial.path)?;
        partial.lock = Some(locked(&partial.path.join(LOCK))?);
        Ok(partial)
    }

    /// A new file beside `target`.
    fn file(target: &Path) -> io::Result<Self> {
        let mut partial = Self::beside(target);
        partial.lock = Some(locked(&partial.path)?);
        Ok(partial)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A new file with a lock on it, where the file system has locks.
fn locked(path: &Path) -> io::Result<File> {
    let file = File::create(path)?;
    match file.lock() {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.path);
        remove(&self.path);
    }
}

/// What processes left unfinished beside `target`.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    /// Of processes that are no more.
    pub(crate) stale: Vec<PathBuf>,
    /// Of processes that still write.
    pub(crate) alive: Vec<PathBuf>,
}

impl Leftovers {
    /// Looks for unfinished work with the name of `target`.
    pub(crate) fn beside(target: &Path) -> Self {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let prefix = format!(".{name}.partial-");
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
        let mut found = Self::default();
        for entry in entries {
            let name = entry.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix(&prefix));
            if process.is_some_and(|id| id.bytes().all(|digit| digit.is_ascii_digit())) {
                let path = entry.path();
                if is_stale(&path) { &mut found.stale } else { &mut found.alive }.push(path);
            }
        }
        found
    }
}

/// Removes what a process that is no more left in a folder whose files are complete.
pub fn remove_stale_output(folder: &Path) {
    remove_all(&Leftovers::beside(&folder.join("wug")).stale);
}

/// Removes files and folders.
pub(crate) fn remove_all(paths: &[PathBuf]) {
    for path in paths {
        remove(path);
    }
}

/// Whether nobody holds the lock. Without a lock file the writer was killed before it had one.
fn is_stale(path: &Path) -> bool {
    let lock = if path.is_dir() { path.join(LOCK) } else { path.to_owned() };
    match File::open(lock) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
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
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    if path.exists() && !path.is_file() {
        // A device or a pipe cannot be replaced; it is written as it is.
        if path.is_dir() {
            return Err(Error::file(path, "is a folder, not a file"));
        }
        let mut out = BufWriter::new(File::options().write(true).open(path).map_err(Error::io(path))?);
        return write(&mut out).and_then(|()| out.flush()).map_err(Error::io(path));
    }
    remove_all(&Leftovers::beside(path).stale);
    let partial = Partial::file(path).map_err(Error::io(path))?;
    let mut out = BufWriter::new(File::options().write(true).open(partial.path()).map_err(Error::io(path))?);
    write(&mut out).and_then(|()| out.flush()).map_err(Error::io(path))?;
    uninterrupted().and_then(|_moving| fs::rename(partial.path(), path)).map_err(Error::io(path))
}
