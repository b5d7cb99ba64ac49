//! Text files as they come: with a byte-order mark, compressed, or through a pipe.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::{Error, Result};

/// Opens a file, or standard input by the name `-`, as text: gzip is expanded and a byte-order mark skipped.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return decoded(path, BufReader::new(io::stdin()));
    }
    let file = File::open(path).map_err(Error::io(path))?;
    if file.metadata().map_err(Error::io(path))?.is_dir() {
        return Err(Error::file(path, "is a folder, not a file"));
    }
    decoded(path, BufReader::with_capacity(1 << 16, file))
}

/// The name of a source in messages.
pub(crate) fn shown(path: &Path) -> PathBuf {
    if path == Path::new("-") { "standard input".into() } else { path.to_owned() }
}

fn decoded(path: &Path, reader: impl BufRead + 'static) -> Result<Box<dyn BufRead>> {
    let (start, reader) = begin(reader).map_err(Error::io(path))?;
    let other = |what: &str| Err(Error::file(&shown(path), what));
    match start.as_slice() {
        [0x1f, 0x8b, ..] => {
            let expanded = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(reader));
            let (start, reader) = begin(expanded).map_err(Error::io(path))?;
            Ok(without_mark(&start, reader))
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => other("is UTF-16 text: save it as UTF-8"),
        [0x28, 0xb5, 0x2f, 0xfd] => other("is compressed with zstd: expand it first, or use gzip"),
        [0xfd, b'7', b'z', b'X'] => other("is compressed with xz: expand it first, or use gzip"),
        [b'P', b'K', 3, 4] => other("is a ZIP archive: expand it first, or use gzip"),
        b"PAR1" => other("is a Parquet file, not text"),
        start => Ok(without_mark(start, reader)),
    }
}

/// The first four bytes (fewer at the end of the input), and a reader that gives them again.
fn begin<R: BufRead>(mut reader: R) -> io::Result<(Vec<u8>, impl BufRead)> {
    let mut start = Vec::new();
    reader.by_ref().take(4).read_to_end(&mut start)?;
    Ok((start.clone(), Cursor::new(start).chain(reader)))
}

fn without_mark(start: &[u8], mut reader: impl BufRead + 'static) -> Box<dyn BufRead> {
    if start.starts_with("\u{feff}".as_bytes()) {
        // They are the first of the bytes that were read ahead, and stand together there.
        reader.consume("\u{feff}".len());
    }
    Box::new(reader)
}
