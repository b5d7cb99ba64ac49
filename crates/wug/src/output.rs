//! What a person sees.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use wug_data::Error;

/// Why a command did not finish.
pub(crate) enum Failure {
    /// Something went wrong.
    Error(Error),
    /// Whoever read the output has seen enough.
    ClosedPipe,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// An error while writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Error(Error::Io { path: "standard output".into(), source: error }),
        }
    }
}

pub(crate) type Done = std::result::Result<(), Failure>;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
pub(crate) const RED: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));

/// Standard output, with colours where it is a terminal that has them.
pub(crate) fn out() -> impl Write {
    io::BufWriter::new(anstream::stdout().lock())
}

/// Prints one JSON document.
pub(crate) fn json(document: &impl Serialize) -> Done {
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Rows in aligned columns under a header; `right` names the columns of numbers.
pub(crate) fn table(header: &[&str], right: &[usize], rows: Vec<Vec<String>>) -> String {
    let header = header.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            let (before, after) =
                if right.contains(&column) { (padding.as_str(), "") } else { ("", padding.as_str()) };
            line.push_str("  ");
            line.push_str(before);
            line.push_str(cell);
            line.push_str(after);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A share as a bar of at most `width` cells, in eighths.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}
