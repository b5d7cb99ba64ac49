use std::path::Path;

use wug_data::{Error, Manifest, RawPart, Result, read_jsonl, read_parquet};

/// The rows of a part in a folder that wug wrote as JSONL or Parquet; `None` if it is no such folder or lacks the part.
pub fn read_written_by_wug(folder: &Path, dataset: &str, part: &str) -> Result<Option<RawPart>> {
    let Some(manifest) = Manifest::read(folder)? else { return Ok(None) };
    if manifest.dataset != dataset && !dataset.starts_with(&format!("{}/", manifest.dataset)) {
        return Err(Error::file(folder, format!("holds {}, not {dataset}", manifest.dataset)));
    }
    let read = match manifest.format.as_str() {
        "jsonl" => read_jsonl,
        "parquet" => read_parquet,
        _ => return Ok(None),
    };
    let file = format!("{part}.{}", manifest.format);
    let inside = dataset.strip_prefix(&format!("{}/", manifest.dataset)).unwrap_or_default();
    let path = folder.join(inside).join(file);
    if path.exists() { read(&path).map(Some) } else { Ok(None) }
}
