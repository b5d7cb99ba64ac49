//! Folders that wug wrote: JSONL, Parquet, or `train.tsv` and `test.tsv` with an input, a tab and a target a line.

use std::path::Path;
use std::sync::Arc;
use wug_data::truncate;

use wug_data::{Dataset, Error, Facts, Part, RawPart, RawRow, Result, Sequences, Table, Vocab};
use wug_grammar::{Arena, Parser};

use super::language::Language;
use super::{MAX_NODES, is_easy};
use crate::pairs::files::find;
use crate::read_written_by_wug;

/// More readings of a sentence than this are not compared with its target.
const MAX_READINGS: u32 = 1000;

/// The parts of a language that a folder has, every row checked.
pub(super) fn import(folder: &Path, dataset: &str, language: &Language) -> Result<Dataset> {
    let name = format!("toy/{dataset}");
    let mut table = Table {
        inputs: Sequences::new(Vocab::default(), " "),
        targets: Sequences::new(Vocab::default(), " "),
        facts: Facts::default(),
    };
    let mut parts = Vec::new();
    for part in ["train", "test"] {
        let Some(raw) = read_part(folder, &name, dataset, part)? else { continue };
        let first = table.inputs.len() as u32;
        for row in &raw.rows {
            check(language, row, part).map_err(|what| raw.fail(row, what))?;
            table.inputs.push_words(row.input.split_whitespace());
            table.targets.push_words(row.target.split_whitespace());
        }
        parts.push(Part::new(part, (first..table.inputs.len() as u32).collect()));
    }
    if parts.is_empty() {
        return Err(Error::file(folder, format!("has neither train.tsv nor another part of {name}")));
    }
    Ok(Dataset { name, table: Arc::new(table), parts, pictures: None })
}

fn read_part(folder: &Path, name: &str, dataset: &str, part: &str) -> Result<Option<RawPart>> {
    if let Some(raw) = read_written_by_wug(folder, name, part)? {
        return Ok(Some(raw));
    }
    let inside = folder.join(dataset);
    find(if inside.is_dir() { &inside } else { folder }, part)
}

/// Checks that a row says what its sentence means and belongs to its part.
fn check(language: &Language, row: &RawRow, part: &str) -> std::result::Result<(), String> {
    let text = row.input.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = truncate(&text, 60);
    // Some languages say a phrase twice, which the parser does not undo.
    let Ok(parser) = Parser::new(&language.grammar, &language.words) else { return Ok(()) };
    let sort = language.grammar.sort("S").map_err(|error| error.to_string())?;
    let words = parser.words(&text).map_err(|word| format!("`{word}` is no word of the language"))?;
    if words.len() > MAX_NODES {
        return Err(format!("`{shown}` has more words than any sentence of the language"));
    }
    let trees = parser.parse(sort, &words);
    if trees.is_empty() {
        return Err(format!("`{shown}` is no sentence of the language"));
    }
    let mut arena = Arena::new();
    let mut readings = (0..MAX_READINGS).map_while(|index| trees.unrank(&mut arena, &index.into()));
    let first: Vec<_> = readings.by_ref().collect();
    let means = |tree: &&_| {
        language.symbols.text(&arena, **tree).split_whitespace().eq(row.target.split_whitespace())
    };
    let Some(&tree) = first.iter().find(means) else {
        let meaning = language.symbols.text(&arena, first[0]);
        return Err(format!("`{shown}` means `{meaning}`, not `{}`", row.target));
    };
    if is_easy(language, &arena, tree, &text) != (part == "train") {
        return Err(format!("`{shown}` does not belong to {part}"));
    }
    Ok(())
}
