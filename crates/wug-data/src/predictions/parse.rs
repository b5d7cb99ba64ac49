//! The rows of a file, in each format.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use super::{Prediction, PredictionFormat};
use crate::{Error, Lines, MAX_LINE, Result};

/// Takes a row, or says why it is one too many.
pub(super) type Take<'a> = dyn FnMut(Prediction) -> std::result::Result<(), String> + 'a;

/// Reads all rows of a source.
pub(super) fn rows(
    path: &Path,
    format: PredictionFormat,
    reader: Box<dyn BufRead>,
    take: &mut Take<'_>,
) -> Result<()> {
    match format {
        PredictionFormat::Lines => lines(path, reader, take, |line, text| {
            Ok(Some(Prediction { line, text: text.to_owned(), ..Prediction::default() }))
        }),
        PredictionFormat::JsonLines => lines(path, reader, take, |line, text| {
            if text.trim().is_empty() {
                return Ok(None);
            }
            let value = serde_json::from_str(text)
                .map_err(|error| format!("not JSON: {error} (--format lines takes every line as it is)"))?;
            row(line, value).map(Some)
        }),
        PredictionFormat::Json => list(path, reader, take),
        PredictionFormat::Tsv => {
            let mut header = None;
            lines(path, reader, take, move |line, text| {
                let fields: Vec<&str> = text.split('\t').collect();
                if line == 1 {
                    header = Header::of(&fields);
                    if header.is_some() {
                        return Ok(None);
                    }
                }
                if let Some(header) = &header {
                    header.row(line, &fields).map(Some)
                } else {
                    // A prediction may have tabs of its own.
                    let (id, rest) = text.split_once('\t').ok_or("expected `id TAB prediction`")?;
                    Header::plain(2).row(line, &[id, rest]).map(Some)
                }
            })
        }
        PredictionFormat::Csv => csv(path, reader, take),
        PredictionFormat::LmEval => lines(path, reader, take, |line, text| {
            if text.trim().is_empty() {
                return Ok(None);
            }
            let sample = serde_json::from_str(text);
            sample
                .map_err(|error| format!("not a sample of lm-eval: {error}"))
                .and_then(|sample| lm_eval(line, sample))
                .map(Some)
        }),
        PredictionFormat::Inspect => inspect(path, reader, take),
    }
}

fn lines(
    path: &Path,
    reader: Box<dyn BufRead>,
    take: &mut Take<'_>,
    mut parse: impl FnMut(usize, &str) -> std::result::Result<Option<Prediction>, String>,
) -> Result<()> {
    let mut lines = Lines::over(path, reader);
    while let Some((line, text)) = lines.next()? {
        let done = parse(line, text).and_then(|row| row.map_or(Ok(()), &mut *take));
        done.map_err(|what| Error::line(path, line, what))?;
    }
    Ok(())
}

/// A row of JSON: an object with `prediction`, or the prediction alone.
fn row(line: usize, value: Value) -> std::result::Result<Prediction, String> {
    let Value::Object(mut object) = value else {
        return Ok(Prediction { line, text: text(value)?, ..Prediction::default() });
    };
    let Some(prediction) = object.remove("prediction") else {
        let known: Vec<String> = object.keys().take(8).map(|key| format!("`{key}`")).collect();
        return Err(format!(
            "expected {{\"id\": ..., \"prediction\": ...}}: no `prediction`, only {}",
            if known.is_empty() { "an empty object".to_owned() } else { known.join(", ") }
        ));
    };
    let mut word = |key: &str| match object.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) if key == "draw" => Ok(Some(number.to_string())),
        // Data that goes with a prediction may have any form; only text can be compared.
        Some(_) if key == "input" || key == "explanation" => Ok(None),
        Some(other) => Err(format!("`{key}` is {}, not text", kind(&other))),
    };
    Ok(Prediction {
        line,
        id: word("id")?,
        draw: word("draw")?,
        input: word("input")?,
        explanation: word("explanation")?,
        text: text(prediction)?,
    })
}

/// A sample of lm-eval, of a task that wug exported.
fn lm_eval(line: usize, sample: Value) -> std::result::Result<Prediction, String> {
    let word = |pointer: &str| sample.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let reply = word("/filtered_resps/0").or_else(|| word("/resps/0/0"));
    let id = word("/doc/id").ok_or("a sample without `doc.id`: expected a task that `wug export` wrote")?;
    let text = reply.ok_or("a sample without a reply in `resps`")?;
    Ok(Prediction { line, id: Some(id), input: word("/doc/input"), text, ..Prediction::default() })
}

/// The largest log that is read.
const MAX_LOG: u64 = 4 << 30;

/// A log of Inspect, of a task that wug exported; of each sample only what is needed is kept.
fn inspect(path: &Path, reader: Box<dyn BufRead>, take: &mut Take<'_>) -> Result<()> {
    #[derive(Deserialize)]
    struct Log {
        samples: Vec<Sample>,
    }
    #[derive(Deserialize)]
    struct Sample {
        id: Value,
        #[serde(default)]
        metadata: Metadata,
        output: Output,
    }
    #[derive(Default, Deserialize)]
    struct Metadata {
        input: Option<String>,
    }
    #[derive(Deserialize)]
    struct Output {
        #[serde(default)]
        choices: Vec<Choice>,
    }
    #[derive(Deserialize)]
    struct Choice {
        message: Message,
    }
    #[derive(Deserialize)]
    struct Message {
        content: Value,
    }
    let wrong = |error: serde_json::Error| {
        let what = format!("not a log of Inspect (`inspect log dump` writes one): {error}");
        Error::line(path, error.line(), what)
    };
    let log: Log = serde_json::from_reader(reader.take(MAX_LOG)).map_err(wrong)?;
    for (line, sample) in (1..).zip(log.samples) {
        let id = match sample.id {
            Value::String(id) => id,
            other => other.to_string(),
        };
        // A sample that failed has no reply, which is no answer.
        let content = sample.output.choices.into_iter().next().map(|choice| choice.message.content);
        let text = content.map_or_else(String::new, |content| spoken(&content));
        let row =
            Prediction { line, id: Some(id), input: sample.metadata.input, text, ..Prediction::default() };
        take(row).map_err(|what| Error::file(path, format!("element {line}: {what}")))?;
    }
    Ok(())
}

/// The text of a message: one text, or the texts of its parts.
fn spoken(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// A prediction as text: tokens are separated by spaces.
fn text(value: Value) -> std::result::Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Array(tokens) => {
            let token = |token: Value| match token {
                Value::String(token) => Ok(token),
                Value::Number(token) => Ok(token.to_string()),
                other => Err(format!("a token is {}, not text", kind(&other))),
            };
            let tokens: Vec<String> = tokens.into_iter().map(token).collect::<std::result::Result<_, _>>()?;
            Ok(tokens.join(" "))
        }
        Value::Null => Err("the prediction is null: write \"\" where the model gave no answer".to_owned()),
        other => Err(format!("the prediction is {}, not text, a number or a list of tokens", kind(&other))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Reads a JSON list, an element at a time.
fn list(path: &Path, reader: Box<dyn BufRead>, take: &mut Take<'_>) -> Result<()> {
    /// Marks an error about what an element says, rather than how it is written.
    const ELEMENT: &str = "element ";

    struct List<'a, 't> {
        take: &'a mut Take<'t>,
        budget: Rc<Cell<usize>>,
    }

    impl<'de> DeserializeSeed<'de> for List<'_, '_> {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
            deserializer.deserialize_seq(self)
        }
    }

    impl<'de> Visitor<'de> for List<'_, '_> {
        type Value = ();

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of predictions")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
            let mut number = 0;
            while let Some(value) = list.next_element::<Value>()? {
                number += 1;
                self.budget.set(MAX_LINE);
                let done = row(number, value).and_then(&mut *self.take);
                done.map_err(|what| serde::de::Error::custom(format!("{ELEMENT}{number}: {what}")))?;
            }
            Ok(())
        }
    }

    let (reader, budget) = Budgeted::new(reader);
    let mut reader = serde_json::Deserializer::from_reader(BufReader::new(reader));
    let done = List { take, budget }.deserialize(&mut reader).and_then(|()| reader.end());
    done.map_err(|error| {
        // What an element says is told without the parser's place, which is behind it.
        let what = error.to_string();
        match what.strip_prefix(ELEMENT).and_then(|what| what.rsplit_once(" at line ")) {
            Some((what, _)) => Error::file(path, format!("{ELEMENT}{what}")),
            None => Error::line(path, error.line(), format!("expected a JSON list of predictions: {what}")),
        }
    })
}

/// Reads columns separated by commas.
fn csv(path: &Path, reader: Box<dyn BufRead>, take: &mut Take<'_>) -> Result<()> {
    let (reader, budget) = Budgeted::new(reader);
    let mut rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(reader);
    let mut record = csv::StringRecord::new();
    let mut header = None;
    loop {
        budget.set(MAX_LINE);
        let line = rows.position().line() as usize;
        let fail = |what: String| Error::line(path, line, what);
        if !rows.read_record(&mut record).map_err(|error| fail(format!("not CSV: {error}")))? {
            return Ok(());
        }
        let fields: Vec<&str> = record.iter().collect();
        let columns = match &header {
            Some(header) => header,
            None => match Header::of(&fields) {
                Some(found) => {
                    header = Some(found);
                    continue;
                }
                None => header.insert(Header::plain(fields.len())),
            },
        };
        columns.row(line, &fields).and_then(&mut *take).map_err(fail)?;
    }
}

/// Which columns hold what.
struct Header {
    prediction: usize,
    id: Option<usize>,
    draw: Option<usize>,
    input: Option<usize>,
    columns: usize,
}

impl Header {
    /// The columns that the first row names, if it does.
    fn of(fields: &[&str]) -> Option<Self> {
        let place = |name: &str| fields.iter().position(|field| *field == name);
        Some(Self {
            prediction: place("prediction")?,
            id: place("id"),
            draw: place("draw"),
            input: place("input"),
            columns: fields.len(),
        })
    }

    /// Columns without names: id and prediction, or the prediction alone.
    fn plain(columns: usize) -> Self {
        let id = (columns > 1).then_some(0);
        Self { prediction: usize::from(columns > 1), id, draw: None, input: None, columns: columns.min(2) }
    }

    fn row(&self, line: usize, fields: &[&str]) -> std::result::Result<Prediction, String> {
        if fields.len() != self.columns {
            let named = if self.columns == 2 { " (id and prediction)" } else { "" };
            return Err(format!("expected {}{named} columns, not {}", self.columns, fields.len()));
        }
        let field = |place: Option<usize>| place.map(|place| fields[place].to_owned());
        Ok(Prediction {
            line,
            id: field(self.id),
            text: fields[self.prediction].to_owned(),
            draw: field(self.draw).filter(|draw| !draw.is_empty()),
            input: field(self.input),
            explanation: None,
        })
    }
}

/// A reader that gives a limited number of bytes before its budget is renewed: rows may be many, but none endless.
struct Budgeted {
    reader: Box<dyn BufRead>,
    left: Rc<Cell<usize>>,
}

impl Budgeted {
    fn new(reader: Box<dyn BufRead>) -> (Self, Rc<Cell<usize>>) {
        let left = Rc::new(Cell::new(MAX_LINE));
        (Self { reader, left: Rc::clone(&left) }, left)
    }
}

impl Read for Budgeted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        let left = self.left.get().checked_sub(read);
        self.left.set(left.ok_or_else(|| {
            io::Error::other(format!("one prediction has more than {} MiB", MAX_LINE >> 20))
        })?);
        Ok(read)
    }
}
