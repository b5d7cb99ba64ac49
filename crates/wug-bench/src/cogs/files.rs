//! The official files, read and written: a line is sentence, logical form and type, separated by tabs.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wug_data::truncate;

use rayon::prelude::*;
use wug_data::{Dataset, Error, FactValue, Lines, Result, Selection, read_fact};

use super::convert::recogs::{NmodOrder, rewrite};
use super::convert::{Draws, Variant, convert, rename};
use super::lf::{Form, Notation, Removal};
use super::meaning::meaning_of;
use super::splits::PARTS;
use super::types;
use crate::read_written_by_wug;

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
        let (Some(sentence), Some(form), Some(kind), None) =
            (columns.next(), columns.next(), columns.next(), columns.next())
        else {
            let what = "expected sentence, logical form and type, separated by tabs";
            return Err(Error::line(path, line, what));
        };
        rows.push(Row { sentence: sentence.to_owned(), form: form.to_owned(), kind: kind.to_owned() });
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

/// Where the repositories of COGS and ReCOGS have a part.
pub fn native_path(variant: Variant, part: &str) -> String {
    let folder = match variant {
        Variant::Main => "data",
        Variant::Remove(removal) => {
            let tokens = match removal {
                Removal::X => "x_",
                Removal::XParen => "x_()",
                Removal::XParenComma => "x_(,)",
            };
            return format!("cogs_token_removal/{part}_remove_{tokens}.tsv");
        }
        Variant::Concat(rows) => return format!("cogs_concat/{part}_k_{rows}.tsv"),
        Variant::Preposing => "cogs_preposing",
        Variant::PreposingFiller => "cogs_preposing+sprinkles",
        Variant::Participial { easy: false } => "cogs_participle_verb",
        Variant::Participial { easy: true } => "cogs_participle_verb_easy",
        Variant::VariableFree => "variable_free",
        Variant::RecogsV1 => "recogs_v1",
        Variant::RecogsV2 => "recogs_v2",
        Variant::RecogsPositional => "recogs_positional_index",
    };
    format!("{folder}/{part}.tsv")
}

/// The parts that a folder has: the official release, or one that wug wrote. Every row is checked.
pub fn import(folder: &Path, name: &str, variant: Variant) -> Result<Vec<(String, Vec<Row>)>> {
    if !folder.is_dir() {
        return Err(Error::file(folder, "is not a folder"));
    }
    let mut parts = Vec::new();
    let mut known: HashMap<String, (PathBuf, usize)> = HashMap::new();
    for part in PARTS {
        let Some((path, rows)) = read_part(folder, name, variant, part)? else { continue };
        let checked: std::result::Result<(), (usize, String)> = rows
            .par_iter()
            .enumerate()
            .try_for_each(|(i, row)| check(row, variant, part).map_err(|what| (i, what)));
        checked.map_err(|(i, what)| Error::line(&path, i + 1, what))?;
        if variant == Variant::Main {
            for (i, row) in rows.iter().enumerate() {
                if let Some((other, line)) = known.insert(row.sentence.clone(), (path.clone(), i + 1)) {
                    let what = format!("the sentence of {}:{line} again", other.display());
                    return Err(Error::line(&path, i + 1, what));
                }
            }
        }
        parts.push((part.to_owned(), rows));
    }
    if parts.is_empty() {
        let path = native_path(variant, "train");
        return Err(Error::file(folder, format!("has neither {path} nor another part of {name}")));
    }
    Ok(parts)
}

fn read_part(folder: &Path, name: &str, variant: Variant, part: &str) -> Result<Option<(PathBuf, Vec<Row>)>> {
    if let Some(raw) = read_written_by_wug(folder, name, part)? {
        let kinds = read_fact(&raw.path, "type")?;
        let rows = raw.rows.into_iter().zip(kinds);
        let rows = rows.map(|(row, kind)| Row { sentence: row.input, form: row.target, kind }).collect();
        return Ok(Some((raw.path, rows)));
    }
    let path = native_path(variant, part);
    let bare = path.rsplit('/').next().unwrap_or(&path).to_owned();
    // The repository of ReCOGS has COGS in a folder of its own.
    let copy = if variant == Variant::Main { format!("cogs/{part}.tsv") } else { bare.clone() };
    let inside = format!("{}/{part}.tsv", name.rsplit('/').next().unwrap_or(name));
    for path in [path, copy, bare, inside, format!("{part}.tsv")] {
        let path = folder.join(path);
        if path.is_file() {
            return Ok(Some((path.clone(), read(&path)?)));
        }
    }
    Ok(None)
}

/// Checks that a row says what its sentence means, and belongs to its part.
fn check(row: &Row, variant: Variant, part: &str) -> std::result::Result<(), String> {
    let group = types::group(&row.kind);
    let is_generalization = matches!(group, "lexical" | "structural");
    if is_generalization != (part == "gen") {
        return Err(format!("a row of type `{}` does not belong to {part}", shortened(&row.kind)));
    }
    // ReCOGS appends to the type of a row that it strews `um` into.
    if group == "augmented" || row.kind.ends_with("+sprinkle") {
        if variant == Variant::Main {
            return Err(format!("`{}` is no type of row", shortened(&row.kind)));
        }
        // Its sentence is not one of the grammar, but its logical form is one.
        let form = Form::parse(&row.form, variant.notation());
        return form.map(|_| ()).map_err(|error| format!("the logical form, {error}"));
    }
    let expected = expected(&row.sentence, variant)?;
    let said = match variant {
        // The names of variables are arbitrary.
        Variant::RecogsV1 | Variant::RecogsV2 => {
            let mut form = Form::parse(&row.form, Notation::Recogs)
                .map_err(|error| format!("the logical form, {error}"))?;
            rename::canonical(&mut form);
            form.print(Notation::Recogs)
        }
        _ => row.form.clone(),
    };
    if said == expected {
        Ok(())
    } else {
        let (sentence, said) = (shortened(&row.sentence), shortened(&said));
        Err(format!("`{sentence}` means `{expected}`, not `{said}`"))
    }
}

/// The logical form of a sentence in the notation of a variant.
fn expected(sentence: &str, variant: Variant) -> std::result::Result<String, String> {
    let form = meaning_of(sentence).map_err(|error| format!("not a sentence of COGS: {error}"))?;
    let (order, canonical) = match variant {
        Variant::RecogsV1 => (NmodOrder::First, true),
        Variant::RecogsV2 => (NmodOrder::AsWords, true),
        Variant::RecogsPositional => (NmodOrder::AsWords, false),
        _ => {
            // Nothing is altered or added outside of train, so this rewrites the form and no more.
            let row = Row {
                sentence: sentence.to_owned(),
                form: form.print(Notation::Cogs),
                kind: "in_distribution".to_owned(),
            };
            let rows = convert(variant, "gen", vec![row], Draws::Seed(0)).map_err(|error| error.what)?;
            return Ok(rows.into_iter().next().map(|row| row.form).unwrap_or_default());
        }
    };
    let mut form = rewrite(form, sentence, order)?;
    if canonical {
        rename::canonical(&mut form);
    }
    Ok(form.print(Notation::Recogs))
}

/// At most 120 characters of what somebody wrote.
fn shortened(text: &str) -> String {
    truncate(text, 120)
}
