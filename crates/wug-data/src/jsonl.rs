use std::io::{self, Write};
use std::path::Path;

use serde::Deserialize;

use crate::{Dataset, Error, FactValue, Lines, RawPart, RawRow, Result, Selection};

/// Where the picture of an example lies, seen from the folder of its JSONL file.
pub fn picture_path(selection: &Selection<'_>, id: &str) -> String {
    format!("images/{}/{id}.png", selection.name)
}

/// Writes examples as JSON, one a line: `id`, `input`, `target`, `image` (the path of the picture, where there are
/// pictures), `facts`.
pub fn write_jsonl(dataset: &Dataset, selection: &Selection<'_>, out: &mut impl Write) -> io::Result<()> {
    let table = &dataset.table;
    // A line at a time: pushing words to a vector is much cheaper than writing each to a file.
    let mut line = Vec::new();
    for (id, row) in selection.examples() {
        line.clear();
        let example = table.example(row);
        write!(line, r#"{{"id":"{id}","input":""#)?;
        example.input.write(&mut Escaped(&mut line))?;
        line.extend(br#"","target":""#);
        example.target.write(&mut Escaped(&mut line))?;
        line.extend(b"\",");
        if dataset.pictures.is_some() {
            write!(line, r#""image":"{}","#, picture_path(selection, &id))?;
        }
        line.extend(br#""facts":{"#);
        for (i, fact) in table.facts.columns().iter().enumerate() {
            line.extend(if i == 0 { br#"""#.as_slice() } else { br#",""# });
            line.extend(fact.name().as_bytes());
            line.extend(br#"":"#);
            match fact.value(row) {
                FactValue::Number(number) => write!(line, "{number}")?,
                range @ FactValue::Range(..) => write!(line, "\"{range}\"")?,
                FactValue::Label(label) => {
                    line.push(b'"');
                    Escaped(&mut line).write_all(label.as_bytes())?;
                    line.push(b'"');
                }
            }
        }
        line.extend(b"}}\n");
        out.write_all(&line)?;
    }
    Ok(())
}

/// Writes text as the inside of a JSON string.
struct Escaped<'a, W>(&'a mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let mut plain = 0;
        for (i, &byte) in text.iter().enumerate() {
            if byte < 0x20 || byte == b'"' || byte == b'\\' {
                self.0.write_all(&text[plain..i])?;
                match byte {
                    b'"' | b'\\' => self.0.write_all(&[b'\\', byte])?,
                    control => write!(self.0, "\\u{control:04x}")?,
                }
                plain = i + 1;
            }
        }
        self.0.write_all(&text[plain..])?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Reads what [`write_jsonl`] wrote; facts are not read, they follow from the example.
pub fn read_jsonl(path: &Path) -> Result<RawPart> {
    #[derive(Deserialize)]
    struct Row {
        input: String,
        target: String,
    }
    let mut lines = Lines::open(path)?;
    let mut rows = Vec::new();
    while let Some((line, text)) = lines.next()? {
        let Row { input, target } = serde_json::from_str(text).map_err(|error| {
            Error::line(path, line, format!("expected `input` and `target` as JSON: {error}"))
        })?;
        rows.push(RawRow { line, input, target });
    }
    Ok(RawPart { path: path.to_owned(), rows })
}

/// The values of one fact in what [`write_jsonl`] wrote, as text: for benchmarks whose facts say more than follows from
/// the example.
pub(crate) fn read_jsonl_fact(path: &Path, fact: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Row {
        #[serde(default)]
        facts: serde_json::Map<String, serde_json::Value>,
    }
    let mut lines = Lines::open(path)?;
    let mut values = Vec::new();
    while let Some((line, text)) = lines.next()? {
        let row: Row = serde_json::from_str(text)
            .map_err(|error| Error::line(path, line, format!("expected `facts` as JSON: {error}")))?;
        values.push(match row.facts.get(fact) {
            Some(serde_json::Value::String(value)) => value.clone(),
            Some(value) => value.to_string(),
            None => return Err(Error::line(path, line, format!("has no fact `{fact}`"))),
        });
    }
    Ok(values)
}
