//! The official files, read and written: a line is sentence, logical form and type, separated by tabs.

use std::io::{self, Write};
use std::path::Path;

use wug_data::{Dataset, Error, FactValue, Lines, Result, Selection};

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Row {
    /// The sentence.
    pub sentence: String,
    /// Its logical form.
    pub form: String,
    /// What it is an example of: `in_distribution`, `cp_recursion`, ...
    pub kind: String,
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let mut lines = Lines::open(path)?;
    let mut rows = Vec::new();
    while let Some((line, text)) = lines.next()? {
        let mut columns = text.split('\t');
        match (columns.next(), columns.next(), columns.next(), columns.next()) {
            (Some(sentence), Some(form), Some(kind), None) => {
                rows.push(Row { sentence: sentence.to_owned(), form: form.to_owned(), kind: kind.to_owned() })
            }
            _ => {
                let what = "expected sentence, logical form and type, separated by tabs";
                return Err(Error::line(path, line, what));
            }
        }
    }
    Ok(rows)
}

/// Writes rows as a file has them.
pub fn write(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    for row in rows {
        writeln!(out, "{}\t{}\t{}", row.sentence, row.form, row.kind)?;
    }
    Ok(())
}

/// Writes the examples of a selection, whose type is a fact.
pub fn write_selection(dataset: &Dataset, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<()> {
    let kinds = dataset.table.facts.column("type").map_err(io::Error::other)?;
    let mut line = Vec::new();
    for &position in &selection.positions {
        let row = selection.part.rows[position as usize];
        line.clear();
        dataset.table.inputs.get(row).write(&mut line)?;
        line.push(b'\t');
        dataset.table.targets.get(row).write(&mut line)?;
        line.push(b'\t');
        if let FactValue::Label(kind) = kinds.value(row) {
            line.extend_from_slice(kind.as_bytes());
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}
