use std::path::Path;

use wug_data::{Error, Manifest, RawPart, Result, read_jsonl, read_parquet};

/// Whether a folder that wug wrote as `manifest` says has a dataset; the path inside it where the dataset lies.
fn place(manifest: &Manifest, folder: &Path, dataset: &str) -> Result<String> {
    match dataset.strip_prefix(&manifest.dataset) {
        Some("") => Ok(String::new()),
        Some(inside) if inside.starts_with('/') => Ok(inside[1..].to_owned()),
        _ => Err(Error::file(folder, format!("holds {}, not {dataset}", manifest.dataset))),
    }
}

/// The rows of a part in a folder that wug wrote as JSONL or Parquet; `None` if it is no such folder or lacks the part.
pub fn read_written_by_wug(folder: &Path, dataset: &str, part: &str) -> Result<Option<RawPart>> {
    let Some(manifest) = Manifest::read(folder)? else { return Ok(None) };
    let inside = place(&manifest, folder, dataset)?;
    let read = match manifest.format.as_str() {
        "jsonl" => read_jsonl,
        "parquet" => read_parquet,
        _ => return Ok(None),
    };
    let path = folder.join(inside).join(format!("{part}.{}", manifest.format));
    if path.exists() { read(&path).map(Some) } else { Ok(None) }
}

/// The parts of a dataset in a folder that wug wrote, with the numbers of their rows; `None` if wug did not write it.
pub(crate) fn written_parts(folder: &Path, dataset: &str) -> Result<Option<Vec<(String, usize)>>> {
    let Some(manifest) = Manifest::read(folder)? else { return Ok(None) };
    let inside = place(&manifest, folder, dataset)?;
    let prefix = if inside.is_empty() { inside } else { format!("{inside}#") };
    let parts = manifest.parts.into_iter();
    Ok(Some(
        parts.filter_map(|size| Some((size.part.strip_prefix(&prefix)?.to_owned(), size.rows))).collect(),
    ))
}
