//! TSV, JSONL and Parquet, read; TSV, written.

use std::io::{self, Write};
use std::path::Path;

use wug_data::{Dataset, Error, Lines, RawPart, RawRow, Result, Selection, read_jsonl, read_parquet};

/// The rows of a part in a folder; `None` if it has no file for them.
pub(crate) fn find(folder: &Path, part: &str) -> Result<Option<RawPart>> {
    if !folder.is_dir() {
        return Err(Error::file(folder, "is no folder"));
    }
    let names = ["tsv", "jsonl", "parquet"].map(|extension| format!("{part}.{extension}"));
    let found: Vec<&String> = names.iter().filter(|name| folder.join(name).exists()).collect();
    match found.as_slice() {
        [] => Ok(None),
        [one] => read(&folder.join(one)).map(Some),
        [one, other, ..] => Err(Error::file(folder, format!("has both {one} and {other}: which one?"))),
    }
}

/// The rows of a file: JSONL or Parquet by its extension, else TSV.
pub(crate) fn read(file: &Path) -> Result<RawPart> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => return read_jsonl(file),
        Some("parquet") => return read_parquet(file),
        _ => {}
    }
    let mut lines = Lines::open(file)?;
    let mut rows = Vec::new();
    while let Some((line, text)) = lines.next()? {
        let mut columns = text.split('\t');
        let (Some(input), Some(target), None) = (columns.next(), columns.next(), columns.next()) else {
            return Err(Error::line(file, line, "expected input and target with one tab between them"));
        };
        rows.push(RawRow { line, input: input.to_owned(), target: target.to_owned() });
    }
    Ok(RawPart { path: file.to_owned(), rows })
}

/// Writes `input TAB target`, a row a line.
pub(crate) fn write_tsv(dataset: &Dataset, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (_, row) in selection.examples() {
        let example = dataset.table.example(row);
        writeln!(out, "{}\t{}", example.input, example.target)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("wug-pairs-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn both_formats_say_the_same() {
        let files = [
            ("train.tsv", "walk\tWALK\nwalk twice\tWALK WALK\r\n"),
            ("test.jsonl", "{\"input\":\"walk\",\"target\":\"WALK\"}\n"),
        ];
        let folder = folder("both", &files);
        let train = find(&folder, "train").unwrap().unwrap();
        assert_eq!(train.rows[1].target, "WALK WALK");
        assert_eq!(find(&folder, "test").unwrap().unwrap().rows[0].input, "walk");
        assert!(find(&folder, "gen").unwrap().is_none());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_bad_line_is_named() {
        let folder = folder("bad", &[("train.tsv", "walk\tWALK\nwalk twice\n"), ("test.tsv", "a\tb\tc\n")]);
        for (part, line) in [("train", "train.tsv:2"), ("test", "test.tsv:1")] {
            let error = find(&folder, part).unwrap_err().to_string();
            assert!(error.contains(line) && error.contains("one tab"), "{error}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
