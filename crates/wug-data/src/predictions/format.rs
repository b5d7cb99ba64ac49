//! How a file holds predictions, told by its name and by how it begins.

use std::fmt;
use std::io::{BufRead, Cursor, Read};
use std::path::Path;
use std::str::FromStr;

use crate::{Error, MAX_LINE, Result};

/// How a file holds predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionFormat {
    /// One prediction a line, as it is.
    Lines,
    /// A JSON object, string, number or list of tokens a line.
    JsonLines,
    /// One list of what JSON lines have.
    Json,
    /// Columns separated by tabs.
    Tsv,
    /// Columns separated by commas.
    Csv,
    /// The samples that lm-eval logs, a line each.
    LmEval,
    /// Inspect's log as one JSON document.
    Inspect,
}

impl PredictionFormat {
    const NAMES: [(&'static str, Self); 7] = [
        ("lines", Self::Lines),
        ("jsonl", Self::JsonLines),
        ("json", Self::Json),
        ("tsv", Self::Tsv),
        ("csv", Self::Csv),
        ("lm-eval", Self::LmEval),
        ("inspect", Self::Inspect),
    ];

    /// Whether rows hold whole replies of a language model, out of which answers are still to be read.
    pub fn has_replies(self) -> bool {
        matches!(self, Self::LmEval | Self::Inspect)
    }

    /// What its rows are called in messages.
    pub(super) fn counted(self) -> &'static str {
        match self {
            Self::Json | Self::Inspect => "element",
            _ => "line",
        }
    }
}

impl fmt::Display for PredictionFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lines => "one a line",
            Self::JsonLines => "JSON lines",
            Self::Json => "a JSON list",
            Self::Tsv => "TSV",
            Self::Csv => "CSV",
            Self::LmEval => "samples of lm-eval",
            Self::Inspect => "a log of Inspect",
        })
    }
}

impl FromStr for PredictionFormat {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::NAMES.iter().find(|(name, _)| *name == text).map(|(_, format)| *format);
        found.ok_or_else(|| format!("expected {}", Self::NAMES.map(|(name, _)| name).join(", ")))
    }
}

/// The format of a source, and a reader that begins at its beginning again.
pub(super) fn detect(
    path: &Path,
    mut reader: Box<dyn BufRead>,
) -> Result<(PredictionFormat, Box<dyn BufRead>)> {
    let (mut start, mut first) = (Vec::new(), String::new());
    // Blank lines say nothing, but a file of them is not read to its end.
    for _ in 0..16 {
        first = line(path, &mut reader, &mut start)?;
        if !first.is_empty() {
            break;
        }
    }
    let format = match by_extension(path) {
        Some(PredictionFormat::JsonLines) if is_lm_eval(&first) => PredictionFormat::LmEval,
        // A list of predictions is a list; a log is an object.
        Some(PredictionFormat::Json) if first.starts_with('{') => PredictionFormat::Inspect,
        Some(format) => format,
        // A list on a line is a list of tokens if the next line is one too, and else all predictions.
        None if first.starts_with('[') => {
            let second = line(path, &mut reader, &mut start)?;
            match (is_json(&first), is_json(&second)) {
                (true, true) => PredictionFormat::JsonLines,
                (true, false) if second.is_empty() => PredictionFormat::Json,
                (false, _) if first == "[" || second.starts_with(['"', '{']) => PredictionFormat::Json,
                _ => PredictionFormat::Lines,
            }
        }
        None => by_line(&first),
    };
    Ok((format, Box::new(Cursor::new(start).chain(reader))))
}

/// The next line without white space around it; what was read is added to `start`. Lines that are too long or are no
/// UTF-8 tell nothing here: whoever reads them again says so.
fn line(path: &Path, reader: &mut Box<dyn BufRead>, start: &mut Vec<u8>) -> Result<String> {
    let from = start.len();
    reader.take(MAX_LINE as u64).read_until(b'\n', start).map_err(Error::io(path))?;
    Ok(std::str::from_utf8(&start[from..]).unwrap_or_default().trim().to_owned())
}

fn by_extension(path: &Path) -> Option<PredictionFormat> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    Some(match name.rsplit_once('.')?.1 {
        "jsonl" | "ndjson" => PredictionFormat::JsonLines,
        "json" => PredictionFormat::Json,
        "tsv" => PredictionFormat::Tsv,
        "csv" => PredictionFormat::Csv,
        _ => return None,
    })
}

fn by_line(first: &str) -> PredictionFormat {
    let column = |separator: char| {
        let head = first.split(separator).next().unwrap_or_default();
        first.contains(separator) && (head == "id" || is_id(head))
    };
    if first.starts_with(['{', '"']) && is_json(first) {
        PredictionFormat::JsonLines
    } else if column('\t') {
        PredictionFormat::Tsv
    } else if column(',') {
        PredictionFormat::Csv
    } else {
        PredictionFormat::Lines
    }
}

/// Whether a line is a sample that lm-eval logged.
fn is_lm_eval(line: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Sample {
        #[serde(rename = "doc")]
        _doc: serde::de::IgnoredAny,
        #[serde(rename = "resps")]
        _replies: serde::de::IgnoredAny,
    }
    serde_json::from_str::<Sample>(line).is_ok()
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Whether a text has the form of an id: `test_00000003`.
fn is_id(text: &str) -> bool {
    let number = text.rsplit_once('_').map(|(_, number)| number);
    number.is_some_and(|number| number.len() >= 8 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_tell_the_format() {
        let told =
            |text: &str| detect(Path::new("-"), Box::new(Cursor::new(text.as_bytes().to_vec()))).unwrap().0;
        for (text, format) in [
            ("I_JUMP\nI_WALK\n", PredictionFormat::Lines),
            ("", PredictionFormat::Lines),
            ("\n\n{\"prediction\": \"I_JUMP\"}\n", PredictionFormat::JsonLines),
            ("\"I_JUMP\"\n\"I_WALK\"\n", PredictionFormat::JsonLines),
            ("\"so\" he said\n", PredictionFormat::Lines),
            ("{ no json }\n", PredictionFormat::Lines),
            ("[\"I_JUMP\"]\n[\"I_WALK\"]\n", PredictionFormat::JsonLines),
            ("[\"I_JUMP\", \"I_WALK\"]", PredictionFormat::Json),
            ("[\n  \"I_JUMP\"\n]", PredictionFormat::Json),
            ("[sic] no list\nI_JUMP\n", PredictionFormat::Lines),
            ("test_00000000\tI_JUMP\n", PredictionFormat::Tsv),
            ("id,prediction\n", PredictionFormat::Csv),
            ("42\n", PredictionFormat::Lines),
            ("a, b\n", PredictionFormat::Lines),
        ] {
            assert_eq!(told(text), format, "{text:?}");
        }
    }

    #[test]
    fn logs_of_harnesses_are_told_by_what_they_hold() {
        let told = |path: &str, text: &str| {
            detect(Path::new(path), Box::new(Cursor::new(text.as_bytes().to_vec()))).unwrap().0
        };
        let sample = r#"{"doc_id": 0, "doc": {"id": "test_00000000"}, "resps": [["a"]]}"#;
        assert_eq!(told("samples.jsonl", sample), PredictionFormat::LmEval);
        assert_eq!(told("log.json", "{\n  \"version\": 2"), PredictionFormat::Inspect);
        assert_eq!(told("log.json", "[\"a\"]"), PredictionFormat::Json);
    }

    #[test]
    fn the_extension_is_that_before_gz() {
        assert_eq!(by_extension(Path::new("a.JSONL.gz")), Some(PredictionFormat::JsonLines));
        assert_eq!(by_extension(Path::new("a.txt")), None);
    }
}
