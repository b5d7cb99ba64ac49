//! Reading a dataset that somebody else drew: the release, or a folder that wug wrote. Every row is checked against
//! itself and against the rule of its part.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;

use wug_data::{Error, Part, Result, read_fact};

use super::expression::Expression;
use super::files::{self, Checked, CheckedPart};
use super::splits::{Design, SUBSETS};
use crate::import::written_parts;
use crate::read_written_by_wug;

/// Expressions, the subset of each, the parts, and the images that the files name for each row of a part.
pub struct Imported {
    /// Distinct expressions in prefix form.
    pub prefixes: Vec<Vec<u8>>,
    /// For each its place in [`SUBSETS`].
    pub subsets: Vec<u8>,
    /// Train, val and test.
    pub parts: Vec<Part>,
    /// By part and row; empty where the files name none.
    pub images: Vec<Vec<Vec<String>>>,
}

/// Reads train, val and test of a dataset (`symbol`, `image`, `fewshot-x`, ...).
pub fn import(folder: &Path, dataset: &str, design: &Design) -> Result<Imported> {
    if !folder.is_dir() {
        return Err(Error::file(folder, "is not a folder"));
    }
    // What wug wrote may be an excerpt: a part alone, or the first rows of each.
    let written = written_parts(folder, &format!("hint/{dataset}"))?;
    let mut names = vec!["train", "val", "test"];
    if let Some(written) = &written {
        names.retain(|part| written.iter().any(|(name, _)| name == part));
    }
    if names.is_empty() {
        return Err(Error::file(folder, "has none of the parts train, val and test"));
    }
    let mut parts: Vec<CheckedPart> =
        names.iter().map(|part| read_part(folder, dataset, design, part)).collect::<Result<_>>()?;

    let mut imported =
        Imported { prefixes: Vec::new(), subsets: Vec::new(), parts: Vec::new(), images: Vec::new() };
    // Where each distinct expression stands first: part and row.
    let mut firsts: Vec<(usize, usize)> = Vec::new();
    let mut known: HashMap<&[u8], u32> =
        HashMap::with_capacity(parts.iter().map(|part| part.rows.len()).sum());
    for (p, (name, part)) in names.iter().zip(&parts).enumerate() {
        let subset =
            |expression: &mut Expression, row: &Checked| subset_of(design, expression, &row.prefix, name);
        let subsets: Vec<Result<u8, String>> =
            part.rows.par_iter().map_init(Expression::default, subset).collect();
        let mut rows = Vec::with_capacity(part.rows.len());
        for ((i, row), subset) in part.rows.iter().enumerate().zip(subsets) {
            let next = firsts.len() as u32;
            let row_of_table = *known.entry(&row.prefix).or_insert(next);
            if row_of_table == next {
                let mut subset = subset.map_err(|what| part.fail(i, what))?;
                if written.is_some() && SUBSETS[subset as usize] == "SS" && row.subset.as_deref() == Some("I")
                {
                    subset = 0; // a row of train that the excerpt does not have
                }
                firsts.push((p, i));
                imported.subsets.push(subset);
            }
            let subset = SUBSETS[imported.subsets[row_of_table as usize] as usize];
            if *name != "train" && row.subset.as_ref().is_some_and(|said| said != subset) {
                let said = row.subset.as_deref().unwrap_or_default();
                return Err(part.fail(i, format!("belongs to subset {subset}, not {said}")));
            }
            rows.push(row_of_table);
        }
        imported.parts.push(Part::new(*name, rows));
    }
    drop(known);
    imported.prefixes =
        firsts.into_iter().map(|(part, row)| std::mem::take(&mut parts[part].rows[row].prefix)).collect();
    let images = |part: CheckedPart| part.rows.into_iter().map(|row| row.images).collect();
    imported.images = parts.into_iter().map(images).collect();
    Ok(imported)
}

/// Where an expression belongs that no earlier part has: train is read first, so what val and test share with it is
/// known already.
fn subset_of(design: &Design, expression: &mut Expression, prefix: &[u8], part: &str) -> Result<u8, String> {
    expression.set(prefix).expect("an expression was checked when it was read");
    let (operators, largest) = (expression.operators(), expression.largest);
    let text = || expression.text();
    if operators > design.operators {
        return Err(format!("`{}` has {operators} operators, more than {}", text(), design.operators));
    }
    if largest > design.value {
        return Err(format!("`{}` has a part worth {largest}, more than {}", text(), design.value));
    }
    if let Some(symbol) = design.symbol.filter(|symbol| !prefix.contains(&symbol.0)) {
        return Err(format!("`{}` is without `{}`", text(), symbol.character()));
    }
    let (long, large) = (operators > design.train_operators, largest > design.train_value);
    match (part, long, large) {
        ("train", false, false) => Ok(0),
        ("train", true, _) => Err(format!(
            "`{}` has {operators} operators; train has at most {}",
            text(),
            design.train_operators
        )),
        ("train", _, true) => {
            Err(format!("`{}` has a part worth {largest}; train has at most {}", text(), design.train_value))
        }
        _ => Ok(design.subset_unseen(prefix)),
    }
}

fn read_part(folder: &Path, dataset: &str, design: &Design, part: &str) -> Result<CheckedPart> {
    if let Some(raw) = read_written_by_wug(folder, &format!("hint/{dataset}"), part)? {
        // Rows that somebody added need not say their subset: it follows from them.
        let subsets = read_fact(&raw.path, "subset").unwrap_or_default();
        return files::check_raw(raw, &subsets);
    }
    let name = files::file_name(design.symbol, part);
    // All datasets together have a folder for those in symbols and one for those in images.
    let inside = if dataset.ends_with("image") { "image" } else { "symbol" };
    if let Some(path) =
        [folder.join(&name), folder.join(inside).join(&name)].iter().find(|path| path.is_file())
    {
        return files::read(path);
    }
    let together = folder.join("fewshot_dataset.json");
    match design.symbol {
        Some(symbol) if together.is_file() => files::read_few_shot(&together, symbol, part),
        _ => {
            Err(Error::file(folder, format!("has neither {name} nor {part}.jsonl or {part}.parquet by wug")))
        }
    }
}
