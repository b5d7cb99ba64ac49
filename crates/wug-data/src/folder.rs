use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::partial::{Leftovers, Partial, check_interrupted, remove_all, uninterrupted};
use crate::{Error, Picture, Result};

/// Name of the manifest in every folder that wug writes.
pub const MANIFEST: &str = "wug.json";

/// What a folder holds and how it came to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this format.
    pub schema: u32,
    /// Version of wug that wrote it.
    pub wug: String,
    /// `scan/length`, or `scan` for all of its datasets.
    pub dataset: String,
    /// `native`, `jsonl` or `parquet`.
    pub format: String,
    /// The seed of the draw, or `official`; absent where the data were imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<serde_json::Value>,
    /// What was asked for besides, as `key=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// Sizes of the parts.
    pub parts: Vec<PartSize>,
    /// Licence of the data.
    pub licence: String,
    /// Every file but this one.
    pub files: Vec<FileEntry>,
}

/// How many rows a part has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSize {
    /// Name of the part.
    pub part: String,
    /// Number of rows.
    pub rows: usize,
}

/// A file of a folder, or a folder of pictures inside it, which may be a million: they are listed as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path in the folder, with `/`; a folder of pictures ends with it.
    pub path: String,
    /// Size, of all pictures together.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal; of pictures, one behind the other in the order of their examples.
    pub sha256: String,
    /// How many pictures; absent for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pictures: Option<u64>,
}

impl Manifest {
    /// Reads the manifest of a folder; `None` if it has none.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let manifest: Self = serde_json::from_slice(&text)
            .map_err(|error| Error::line(&path, error.line(), format!("not a manifest of wug: {error}")))?;
        Ok(Some(manifest))
    }
}

/// A folder being written: complete at the end, or as it was.
///
/// Files go into a hidden folder inside the target and move to their places in [`Folder::finish`]; until then, and
/// whenever something fails, the target keeps what it had. What a killed process left is found by the next
/// [`Folder::create`] and removed.
#[derive(Debug)]
pub struct Folder {
    target: PathBuf,
    partial: Partial,
    created: Vec<PathBuf>,
    replaces: BTreeSet<String>,
    /// What killed processes left that had begun to move files.
    stale: Vec<PathBuf>,
}

/// The list of files that a new folder replaces, kept while they are being replaced.
const REPLACED: &str = ".replaced.json";

impl Folder {
    /// Starts to write `target`, which must be new, empty, or written by wug before; that is replaced.
    pub fn create(target: &Path) -> Result<Self> {
        let mut replaces = BTreeSet::new();
        if target.exists() {
            let entries = fs::read_dir(target).map_err(Error::io(target))?;
            let leftovers = Leftovers::beside(&target.join("wug"));
            if !leftovers.alive.is_empty() {
                return Err(Error::file(target, "is being written by another wug: wait until it is done"));
            }
            let manifest = Manifest::read(target)?;
            let mut is_ours = manifest.is_some();
            replaces.extend(manifest.into_iter().flat_map(|manifest| manifest.files).map(|file| file.path));
            // Only who had come to the end had begun to move files to their places, and its manifest lists them. It is
            // needed until this folder is finished; what others left is not.
            let (unmoved, moved): (Vec<PathBuf>, Vec<PathBuf>) = leftovers
                .stale
                .iter()
                .cloned()
                .partition(|stale| !matches!(Manifest::read(stale), Ok(Some(_))));
            for stale in &moved {
                let files = Manifest::read(stale)?.into_iter().flat_map(|manifest| manifest.files);
                replaces.extend(files.map(|file| file.path).chain(replaced(stale)));
            }
            is_ours |= !moved.is_empty();
            let others = entries.flatten().filter(|entry| !leftovers.stale.contains(&entry.path())).count();
            if !is_ours && others > 0 {
                let what = format!("is not empty and has no {MANIFEST}: choose another folder");
                return Err(Error::file(target, what));
            }
            remove_all(&unmoved);
            return Self::begin(target, Vec::new(), replaces, moved);
        }
        let missing = target.ancestors().filter(|path| !path.as_os_str().is_empty() && !path.exists());
        Self::begin(target, missing.map(Path::to_owned).collect(), replaces, Vec::new())
    }

    fn begin(
        target: &Path,
        created: Vec<PathBuf>,
        replaces: BTreeSet<String>,
        stale: Vec<PathBuf>,
    ) -> Result<Self> {
        let partial = Partial::folder(&target.join("wug")).map_err(Error::io(target))?;
        let folder = Self { target: target.to_owned(), partial, created, replaces, stale };
        let list = serde_json::to_vec(&folder.replaces).expect("a list of names is plain data");
        fs::write(folder.partial.path().join(REPLACED), list).map_err(Error::io(target))?;
        Ok(folder)
    }

    /// Writes one file. May be called from several threads.
    pub fn file<E: Into<io::Error>>(
        &self,
        path: &str,
        write: impl FnOnce(&mut FileWriter) -> std::result::Result<(), E>,
    ) -> Result<FileEntry> {
        let shown = self.target.join(path);
        let partial = self.partial.path().join(path);
        let run = || -> io::Result<FileEntry> {
            check_interrupted()?;
            if let Some(parent) = partial.parent() {
                fs::create_dir_all(parent)?;
            }
            let file = Summed { file: File::create(&partial)?, hash: Sha256::new(), bytes: 0 };
            let mut out = BufWriter::with_capacity(1 << 18, file);
            write(&mut out).map_err(Into::into)?;
            let Summed { hash, bytes, .. } = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            let sha256 = hexadecimal(&hash.finalize());
            Ok(FileEntry { path: path.to_owned(), bytes, sha256, pictures: None })
        };
        run().map_err(Error::io(&shown))
    }

    /// Writes a folder of pictures as PNG files, on all cores; only a few are in memory at a time. `path` ends with `/`.
    pub fn pictures(
        &self,
        path: &str,
        count: usize,
        name: impl Fn(usize) -> String + Sync,
        draw: impl Fn(usize) -> Picture + Sync,
    ) -> Result<FileEntry> {
        const AT_ONCE: usize = 512;
        let shown = self.target.join(path);
        let partial = self.partial.path().join(path);
        let write = |i: usize| -> io::Result<Vec<u8>> {
            check_interrupted()?;
            let file = draw(i).png()?;
            fs::write(partial.join(name(i)), &file)?;
            Ok(file)
        };
        let run = || -> io::Result<FileEntry> {
            fs::create_dir_all(&partial)?;
            let (mut hash, mut bytes) = (Sha256::new(), 0);
            for first in (0..count).step_by(AT_ONCE) {
                let files: Vec<Vec<u8>> = (first..count.min(first + AT_ONCE))
                    .into_par_iter()
                    .map(write)
                    .collect::<io::Result<_>>()?;
                for file in files {
                    hash.update(&file);
                    bytes += file.len() as u64;
                }
            }
            let sha256 = hexadecimal(&hash.finalize());
            Ok(FileEntry { path: path.to_owned(), bytes, sha256, pictures: Some(count as u64) })
        };
        run().map_err(Error::io(&shown))
    }

    /// Puts the files into their places, the manifest last, and removes what the folder had before.
    pub fn finish(mut self, manifest: &Manifest) -> Result<()> {
        let mut text = serde_json::to_string_pretty(manifest).expect("a manifest is plain data");
        text.push('\n');
        self.file(MANIFEST, |out| out.write_all(text.as_bytes()))?;
        // Who is interrupted from here on ends when all files are in their places.
        let _moving = uninterrupted().map_err(Error::io(&self.target))?;
        // A copy stays behind until all is done: who is killed on the way leaves a list of what may lie in the target.
        let copy = self.partial.path().join("manifest");
        fs::copy(self.partial.path().join(MANIFEST), &copy).map_err(Error::io(&self.target))?;

        let pictures: Vec<&str> =
            manifest.files.iter().map(|file| file.path.as_str()).filter(|path| path.ends_with('/')).collect();
        let mut moved: Vec<PathBuf> = Vec::new();
        for path in manifest.files.iter().map(|file| file.path.as_str()).chain([MANIFEST]) {
            if pictures.iter().any(|folder| path.len() > folder.len() && path.starts_with(folder)) {
                continue; // it moves with the folder of pictures
            }
            let from = if path == MANIFEST { copy.clone() } else { self.partial.path().join(path) };
            let place = self.target.join(path);
            if path.ends_with('/') && self.replaces.contains(path) {
                let inside =
                    self.replaces.iter().filter(|old| old.len() > path.len() && old.starts_with(path));
                for old in inside.filter(|old| is_inside(old)) {
                    let _ = fs::remove_file(self.target.join(old));
                }
                remove_pictures(&place);
            }
            let parent = place.parent().map_or(Ok(()), fs::create_dir_all);
            if let Err(error) = parent.and_then(|()| fs::rename(from, &place)) {
                for place in &moved {
                    let _ = if place.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) };
                }
                return Err(Error::io(&place)(error));
            }
            moved.push(place);
        }
        let kept: HashSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
        for old in self.replaces.iter().filter(|old| is_inside(old) && !kept.contains(old.as_str())) {
            let place = self.target.join(old);
            if old.ends_with('/') {
                remove_pictures(&place);
            } else {
                let _ = fs::remove_file(&place); // it may have been removed by hand
            }
            remove_empty_parents(&place, &self.target);
        }
        remove_all(&self.stale);
        self.created.clear();
        Ok(())
    }
}

/// The list that [`Folder::create`] kept in a folder that was never finished.
fn replaced(stale: &Path) -> Vec<String> {
    let list = fs::read(stale.join(REPLACED)).unwrap_or_default();
    serde_json::from_slice(&list).unwrap_or_default()
}

/// Removes the folders above a file that was removed, as long as they are empty and inside the target.
fn remove_empty_parents(place: &Path, target: &Path) {
    for folder in place.ancestors().skip(1).take_while(|folder| *folder != target) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.created.is_empty() {
            let _ = fs::remove_dir_all(self.partial.path());
            for folder in &self.created {
                let _ = fs::remove_dir(folder); // only if empty: innermost first
            }
        }
    }
}

/// Removes the pictures of a folder, and the folder if nothing else is in it.
fn remove_pictures(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "png") {
            let _ = fs::remove_file(path);
        }
    }
    let _ = fs::remove_dir(folder);
}

/// Bytes as hexadecimal digits.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether a path of a manifest stays in its folder. A manifest is a file like any other: it may be hostile.
fn is_inside(path: &str) -> bool {
    Path::new(path).components().all(|component| matches!(component, Component::Normal(_)))
}

/// A file of a [`Folder`] being written.
pub type FileWriter = BufWriter<Summed>;

/// A file, and the checksum of what went into it.
#[derive(Debug)]
pub struct Summed {
    file: File,
    hash: Sha256,
    bytes: u64,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
