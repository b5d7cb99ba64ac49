//! Reading problems: folders that wug wrote, and problems from elsewhere as JSON lines.

use std::path::Path;

use rayon::prelude::*;

use wug_data::{Error, Manifest, Part, RawPart, Result, Table, read_jsonl};

use super::derivations::derivations;
use super::problem::{LARGEST, Problem};
use super::sample::Sampler;
use super::splits::{Design, PARTS, Row, Rows};
use crate::read_written_by_wug;

/// The parts that a folder has: what wug wrote, or `train.jsonl`, `val.jsonl`, `test.jsonl` from elsewhere.
pub(crate) fn import(folder: &Path, design: &Design) -> Result<(Table, Vec<Part>)> {
    if !folder.is_dir() {
        return Err(Error::file(folder, "is not a folder"));
    }
    let sampler = Sampler::new(design.parameters.clone())?;
    let ours = Manifest::read(folder)?.is_some();
    let mut rows = Rows::default();
    let mut parts = Vec::new();
    for (part, _) in PARTS {
        let raw = if ours {
            read_written_by_wug(folder, &format!("mns/{}", design.name), part)?
        } else {
            let file = folder.join(format!("{part}.jsonl"));
            if file.exists() { Some(read_jsonl(&file)?) } else { None }
        };
        let Some(raw) = raw else { continue };
        let first = rows.rows.len() as u32;
        rows.rows.extend(read_rows(&raw, &sampler, ours)?);
        parts.push(Part::new(part, (first..rows.rows.len() as u32).collect()));
    }
    if parts.is_empty() {
        return Err(Error::file(folder, "has none of train.jsonl, val.jsonl and test.jsonl"));
    }
    Ok((rows.table(), parts))
}

/// The problems of a file. What wug wrote must be what the grammar makes; what comes from elsewhere need not.
pub(crate) fn read_rows(raw: &RawPart, sampler: &Sampler, ours: bool) -> Result<Vec<Row>> {
    let read = |line: &wug_data::RawRow| {
        let problem: Problem = line.input.parse().map_err(|what: String| raw.fail(line, what))?;
        let answer = match line.target.trim().parse() {
            Ok(answer) if (1..=LARGEST).contains(&answer) => answer,
            _ => return Err(raw.fail(line, format!("the target is no number from 1 to {LARGEST}"))),
        };
        let interpretation = derivations(&problem, sampler)
            .into_iter()
            .filter(|derivation| derivation.answer == answer)
            .max_by(|one, other| one.weight.total_cmp(&other.weight))
            .map(|derivation| derivation.interpretation);
        if ours && interpretation.is_none() {
            return Err(raw.fail(line, format!("no calculation of the grammar gives {answer}")));
        }
        Ok(Row { problem, answer, interpretation })
    };
    raw.rows.par_iter().map(read).collect()
}
