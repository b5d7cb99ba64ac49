use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use crate::{Error, Result, text};

/// The longest line that is read; a longer one is an error, not a way to fill the memory.
pub const MAX_LINE: usize = 64 << 20;

/// Reads a text file line by line, checking that it is UTF-8. Gzip is expanded and a byte-order mark skipped.
///
/// ```
/// # let file = std::env::temp_dir().join(format!("wug-lines-{}", std::process::id()));
/// # std::fs::write(&file, "\u{feff}jump\nwalk twice\n")?;
/// let mut lines = wug_data::Lines::open(&file)?;
/// assert_eq!(lines.next()?, Some((1, "jump")));
/// while let Some((number, line)) = lines.next()? {
///     println!("{number}: {line}");
/// }
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Lines {
    path: PathBuf,
    file: Box<dyn BufRead>,
    line: Vec<u8>,
    number: usize,
}

impl Lines {
    /// Opens a file; `-` is standard input.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::over(&text::shown(path), text::open(path)?))
    }

    /// The lines of a reader; `path` names it in errors.
    pub(crate) fn over(path: &Path, file: Box<dyn BufRead>) -> Self {
        Self { path: path.to_owned(), file, line: Vec::new(), number: 0 }
    }

    /// The next line with its number (from 1), without its end (`\n` or `\r\n`).
    #[expect(clippy::should_implement_trait, reason = "the line borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<(usize, &str)>> {
        self.line.clear();
        let limit = MAX_LINE as u64 + 2;
        let read =
            (&mut self.file).take(limit).read_until(b'\n', &mut self.line).map_err(Error::io(&self.path))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        }
        if self.line.len() > MAX_LINE {
            let what = format!("the line is longer than {} MiB", MAX_LINE >> 20);
            return Err(Error::line(&self.path, self.number, what));
        }
        match std::str::from_utf8(&self.line) {
            Ok(line) => Ok(Some((self.number, line))),
            Err(error) => {
                let what = format!("not UTF-8 (byte {} of the line)", error.valid_up_to() + 1);
                Err(Error::line(&self.path, self.number, what))
            }
        }
    }
}
