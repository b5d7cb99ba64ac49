use std::fs;
use std::path::{Path, PathBuf};

use wug_data::{Error, Result};

/// The largest file of strokes or of a picture that is read.
const MAX_BYTES: u64 = 16 << 20;
/// How deep folders are searched.
const MAX_DEPTH: usize = 8;

/// The whole of a file that is not too large.
pub(crate) fn read_limited(path: &Path) -> Result<Vec<u8>> {
    let length = fs::metadata(path).map_err(Error::io(path))?.len();
    if length > MAX_BYTES {
        return Err(Error::file(path, format!("is larger than {} MiB", MAX_BYTES >> 20)));
    }
    fs::read(path).map_err(Error::io(path))
}

/// All files below a folder with one of these extensions, sorted.
pub(crate) fn files_below(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).map_err(Error::io(&folder))? {
            let path = entry.map_err(Error::io(&folder))?.path();
            let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            if path.is_dir() {
                if depth < MAX_DEPTH {
                    open.push((path, depth + 1));
                }
            } else if extensions.contains(&extension.as_str()) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
