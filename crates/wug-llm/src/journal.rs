//! The replies of a run, on disk before they count.
//!
//! `replies.jsonl` has a line for each reply: the CRC-32 of the rest as eight hexadecimal digits, a space, and JSON. Lines
//! are only ever appended. A line that was cut by a crash, or damaged since, is ignored, and its request is sent again.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use wug_data::{Error, Result};

use crate::Usage;
use crate::reply::Reply;
use crate::request::RequestKey;

/// The file's name in a run's folder.
pub const JOURNAL: &str = "replies.jsonl";

/// Longer lines were not written here: a reply has at most `max_reply` bytes, and JSON escapes at most sixfold.
const MAX_LINE: u64 = 256 << 20;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Digest of the request, in hexadecimal.
    pub(crate) key: String,
    /// The item that asked, for people.
    pub(crate) item: String,
    pub(crate) sample: u32,
    pub(crate) step: usize,
    #[serde(flatten)]
    pub(crate) result: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// What came back.
    Reply(Reply),
    /// What came from the cache and cost nothing.
    Cached(Reply),
    /// A request whose reply was lost on the way; the server may have charged this much.
    Lost(Usage),
}

impl Record {
    fn line(&self) -> Result<String, serde_json::Error> {
        let json = serde_json::to_string(self)?;
        Ok(format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())))
    }

    /// Reads a line without its newline; `None` if it is damaged.
    fn parse(line: &[u8]) -> Option<Self> {
        let (checksum, json) = (line.get(..8)?, line.get(9..)?);
        let checksum = u32::from_str_radix(std::str::from_utf8(checksum).ok()?, 16).ok()?;
        if line[8] != b' ' || crc32fast::hash(json) != checksum {
            return None;
        }
        serde_json::from_slice(json).ok()
    }
}

/// What a journal held when it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Tokens of its replies, other than cached ones.
    pub(crate) usage: Usage,
    /// Tokens of lost replies.
    pub(crate) lost: Usage,
    /// Lines that were damaged.
    pub(crate) damaged: u64,
}

/// An open journal.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// Where the reply to a request is: offset and length of its line.
    places: HashMap<RequestKey, (u64, usize)>,
    end: u64,
    written: u64,
    syncing: Arc<Syncing>,
}

/// What the thread that syncs shares with the one that writes.
struct Syncing {
    state: Mutex<SyncState>,
    changed: Condvar,
}

struct SyncState {
    written: u64,
    closed: bool,
}

impl Journal {
    /// Opens or creates the journal in a folder. `synced` is told, from another thread, how many of the lines written
    /// since are safe on disk, and of an error.
    pub(crate) fn open(
        folder: &Path,
        synced: impl Fn(io::Result<u64>) + Send + 'static,
    ) -> Result<(Self, Found)> {
        let path = folder.join(JOURNAL);
        let created = !path.exists();
        let mut file =
            File::options().read(true).append(true).create(true).open(&path).map_err(Error::io(&path))?;
        let (places, found, mut end, whole) = scan(&file).map_err(Error::io(&path))?;
        if !whole {
            // What a crash cut off becomes a damaged line of its own.
            file.write_all(b"\n").map_err(Error::io(&path))?;
            end += 1;
        }
        if created {
            sync_folder(folder).map_err(Error::io(folder))?;
        }
        let syncing = Arc::new(Syncing {
            state: Mutex::new(SyncState { written: 0, closed: false }),
            changed: Condvar::new(),
        });
        let (shared, handle) = (Arc::clone(&syncing), file.try_clone().map_err(Error::io(&path))?);
        std::thread::spawn(move || sync_loop(&shared, &handle, &synced));
        Ok((Self { path, file, places, end, written: 0, syncing }, found))
    }

    /// The reply to a request, if it is here.
    pub(crate) fn get(&mut self, key: RequestKey) -> Result<Option<Reply>> {
        let Some(&(at, length)) = self.places.get(&key) else { return Ok(None) };
        let mut line = vec![0; length];
        let read = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(&mut line));
        read.map_err(Error::io(&self.path))?;
        Ok(Record::parse(&line).filter(|record| RequestKey::from_hex(&record.key) == Some(key)).and_then(
            |record| match record.result {
                Outcome::Reply(reply) | Outcome::Cached(reply) => Some(reply),
                Outcome::Lost(_) => None,
            },
        ))
    }

    /// Appends a record, and returns its number: it is safe when `synced` has been told of that many.
    pub(crate) fn append(&mut self, key: RequestKey, record: &Record) -> Result<u64> {
        let line = record.line().map_err(|error| Error::file(&self.path, error.to_string()))?;
        self.file.write_all(line.as_bytes()).map_err(Error::io(&self.path))?;
        if !matches!(record.result, Outcome::Lost(_)) {
            self.places.insert(key, (self.end, line.len() - 1));
        }
        self.end += line.len() as u64;
        self.written += 1;
        self.syncing.state.lock().unwrap_or_else(PoisonError::into_inner).written = self.written;
        self.syncing.changed.notify_one();
        Ok(self.written)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.syncing.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.syncing.changed.notify_one();
    }
}

/// Group commit: each sync covers all lines written while the last one took place.
fn sync_loop(shared: &Syncing, file: &File, synced: &dyn Fn(io::Result<u64>)) {
    let mut safe = 0;
    loop {
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.written == safe && !state.closed {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let written = state.written;
        if written == safe {
            return;
        }
        drop(state);
        let result = file.sync_data();
        let failed = result.is_err();
        synced(result.map(|()| written));
        if failed {
            return;
        }
        safe = written;
    }
}

type Places = HashMap<RequestKey, (u64, usize)>;

/// Reads all lines: places, what was found, the end, and whether the last line is complete.
fn scan(file: &File) -> io::Result<(Places, Found, u64, bool)> {
    let mut reader = BufReader::with_capacity(1 << 20, file);
    reader.seek(SeekFrom::Start(0))?;
    let (mut places, mut found, mut end, mut whole) = (HashMap::new(), Found::default(), 0u64, true);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok((places, found, end, whole));
        }
        whole = line.last() == Some(&b'\n');
        let content = line.strip_suffix(b"\n").unwrap_or(&line);
        let record = Record::parse(content);
        let key = record.as_ref().and_then(|record| RequestKey::from_hex(&record.key));
        match record.map(|record| record.result) {
            Some(Outcome::Reply(reply)) => {
                found.usage.add(&reply.usage);
                places.extend(key.map(|key| (key, (end, content.len()))));
            }
            Some(Outcome::Cached(_)) => places.extend(key.map(|key| (key, (end, content.len())))),
            Some(Outcome::Lost(usage)) => found.lost.add(&usage),
            None if content.is_empty() => (),
            None => found.damaged += 1,
        }
        end += length;
    }
}

/// Makes the new name of a file safe, where folders can be synced.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn record(n: u8) -> (RequestKey, Record) {
        let key = RequestKey([n; 16]);
        let reply = Reply {
            text: Some(format!("answer {n}\nwith lines")),
            usage: Usage { prompt: 10, completion: 1, ..Usage::default() },
            ..Reply::default()
        };
        let result = Outcome::Reply(reply);
        (key, Record { key: key.hex(), item: format!("test_{n:08}"), sample: 0, step: 0, result })
    }

    fn write(folder: &Path, numbers: impl Iterator<Item = u8>) {
        let (mut journal, _) = Journal::open(folder, |_| ()).unwrap();
        for n in numbers {
            let (key, record) = record(n);
            journal.append(key, &record).unwrap();
        }
    }

    fn texts(folder: &Path, numbers: impl Iterator<Item = u8>) -> (Vec<bool>, Found) {
        let (mut journal, found) = Journal::open(folder, |_| ()).unwrap();
        let has = |n| match journal.get(RequestKey([n; 16])).unwrap() {
            Some(reply) => {
                assert_eq!(reply.text, Some(format!("answer {n}\nwith lines")));
                true
            }
            None => false,
        };
        (numbers.map(has).collect(), found)
    }

    #[test]
    fn what_is_written_is_found_and_synced() {
        let folder = tempfile::tempdir().unwrap();
        let (sender, synced) = mpsc::channel();
        let (mut journal, found) =
            Journal::open(folder.path(), move |result| sender.send(result.unwrap()).unwrap()).unwrap();
        assert_eq!(found, Found::default());
        for n in 0..20 {
            let (key, record) = record(n);
            assert_eq!(journal.append(key, &record).unwrap(), u64::from(n) + 1);
        }
        while synced.recv().unwrap() < 20 {}
        drop(journal);
        let (found, totals) = texts(folder.path(), 0..21);
        assert_eq!(found.iter().filter(|found| **found).count(), 20);
        assert_eq!(totals.usage, Usage { prompt: 200, completion: 20, ..Usage::default() });
    }

    #[test]
    fn a_journal_cut_anywhere_loses_only_its_last_line() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 0..3);
        let path = folder.path().join(JOURNAL);
        let bytes = fs::read(&path).unwrap();
        let line = bytes.len() / 3;
        for cut in 0..=bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            write(folder.path(), 9..10);
            let (found, _) = texts(folder.path(), [0, 1, 2, 9].into_iter());
            // A line is complete without its newline.
            let has = |n: usize| cut + 1 >= n * line;
            let expected = [has(1), has(2), has(3), true];
            assert_eq!(found, expected, "cut at {cut} of {}", bytes.len());
        }
    }

    #[test]
    fn a_damaged_byte_loses_only_its_line() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 0..3);
        let path = folder.path().join(JOURNAL);
        let bytes = fs::read(&path).unwrap();
        let line = bytes.len() / 3;
        for at in (0..bytes.len()).filter(|at| at % line != line - 1) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            let (found, _) = texts(folder.path(), 0..3);
            for (n, found) in found.into_iter().enumerate() {
                // The case of a hexadecimal digit carries no meaning.
                assert!(found || n == at / line, "byte {at}, record {n}");
                assert!(!found || n != at / line, "byte {at}, record {n}");
            }
        }
    }
}
