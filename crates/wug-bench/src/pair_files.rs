//! Files of pairs that several benchmarks share: `IN: ... OUT: ...` lines, and parallel `.src` and `.trg` files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wug_data::{
    Dataset, Error, Facts, Lines, Part, RawPart, RawRow, Result, Selection, Sequences, Table, Vocab,
};

/// Pairs of a native file, whichever of the two layouts it has.
pub(crate) fn read_pairs(file: &Path) -> Result<RawPart> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("src" | "trg") => read_parallel(&file.with_extension("")),
        _ => read_in_out(file),
    }
}

/// A dataset with the one part `test`, of pairs as they are, without facts.
pub(crate) fn as_given(name: String, raw: RawPart) -> Dataset {
    let mut table = Table {
        inputs: Sequences::new(Vocab::default(), " "),
        targets: Sequences::new(Vocab::default(), " "),
        facts: Facts::default(),
    };
    for row in &raw.rows {
        table.inputs.push_words(row.input.split_whitespace());
        table.targets.push_words(row.target.split_whitespace());
    }
    let rows = (0..raw.rows.len() as u32).collect();
    Dataset { name, table: Arc::new(table), parts: vec![Part::new("test", rows)], pictures: None }
}

/// Writes a line for each row of a selection, in large blocks.
pub(crate) fn write_lines(
    selection: &Selection<'_>,
    out: &mut dyn Write,
    line: impl Fn(u32, &mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    const BLOCK: usize = 1 << 16;
    let mut block = Vec::with_capacity(BLOCK + 1024);
    for &position in &selection.positions {
        line(selection.part.rows[position as usize], &mut block)?;
        block.push(b'\n');
        if block.len() >= BLOCK {
            out.write_all(&block)?;
            block.clear();
        }
    }
    out.write_all(&block)
}

/// Reads lines `IN: command OUT: actions`.
pub fn read_in_out(path: &Path) -> Result<RawPart> {
    let mut lines = Lines::open(path)?;
    let mut rows = Vec::new();
    while let Some((line, text)) = lines.next()? {
        let pair = text.strip_prefix("IN: ").and_then(|text| text.split_once(" OUT: "));
        let (input, target) =
            pair.ok_or_else(|| Error::line(path, line, "expected `IN: command OUT: actions`"))?;
        rows.push(RawRow { line, input: input.to_owned(), target: target.trim_end().to_owned() });
    }
    Ok(RawPart { path: path.to_owned(), rows })
}

/// Reads parallel files: commands in `.src`, actions in `.trg`.
pub fn read_parallel(stem: &Path) -> Result<RawPart> {
    let (source, target) = (with_suffix(stem, ".src"), with_suffix(stem, ".trg"));
    let (mut commands, mut actions) = (Lines::open(&source)?, Lines::open(&target)?);
    let mut rows = Vec::new();
    loop {
        match (commands.next()?, actions.next()?) {
            (None, None) => break,
            (Some((line, command)), Some((_, actions))) => rows.push(RawRow {
                line,
                input: command.trim_end().to_owned(),
                target: actions.trim_end().to_owned(),
            }),
            (Some((line, _)), None) => {
                return Err(Error::line(&source, line, format!("{} has no such line", target.display())));
            }
            (None, Some((line, _))) => {
                return Err(Error::line(&target, line, format!("{} has no such line", source.display())));
            }
        }
    }
    Ok(RawPart { path: source, rows })
}

pub(crate) fn with_suffix(stem: &Path, suffix: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}
