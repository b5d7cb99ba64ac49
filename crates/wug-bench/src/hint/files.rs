//! The official file format, read and written: lists of objects with the expression, its heads and its values.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use wug_data::truncate;

use rayon::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use wug_data::{Dataset, Error, RawPart, Result, Selection};

use super::expression::{Expression, parse};
use super::grammar::Symbol;
use super::pictures::strips;

/// Rows that are written or checked together.
const BLOCK: usize = 1 << 13;
/// The most rows of a part that are read.
const MAX_ROWS: usize = 100_000_000;

/// The name of the file of a part.
pub fn file_name(few_shot: Option<Symbol>, part: &str) -> String {
    match few_shot {
        Some(symbol) => format!("fewshot_{}_{part}.json", symbol.character()),
        None => format!("expr_{part}.json"),
    }
}

/// Writes a part as the release does, an object a line.
pub fn write(dataset: &Dataset, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (i, positions) in selection.positions.chunks(BLOCK).enumerate() {
        let objects: Vec<String> =
            positions.par_iter().map(|&position| object(dataset, selection, position)).collect();
        for (j, object) in objects.iter().enumerate() {
            out.write_all(if i + j == 0 { b"\n" } else { b",\n" })?;
            out.write_all(object.as_bytes())?;
        }
    }
    out.write_all(b"\n]\n")
}

fn object(dataset: &Dataset, selection: &Selection<'_>, position: u32) -> String {
    let (part, row) = (selection.part, selection.part.rows[position as usize]);
    let text = dataset.table.inputs.get(row).to_string();
    let mut expression = Expression::default();
    let prefix = parse(&text).expect("the table holds expressions");
    expression.set(&prefix).expect("an expression of the table has a value");
    let mut object = format!("{{\"id\": \"{}\"", part.id(position as usize));
    if let Some(strips) = strips(dataset) {
        let paths = strips.paths(&part.name, position);
        let _ = write!(object, ", \"img_paths\": {paths:?}");
    }
    let _ = write!(
        object,
        ", \"expr\": \"{text}\", \"head\": {:?}, \"res\": {}, \"res_all\": {:?}",
        expression.heads, expression.result, expression.values
    );
    if part.name != "train"
        && let Ok(subset) = dataset.table.facts.column("subset")
    {
        let _ = write!(object, ", \"eval\": \"{}\"", subset.value(row));
    }
    object.push('}');
    object
}

/// Writes which images a part has, by symbol.
pub fn write_listing(dataset: &Dataset, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<()> {
    let listing = strips(dataset).map(|strips| strips.listing(selection)).unwrap_or_default();
    let lines: Vec<String> = listing.iter().map(|(folder, names)| format!("{folder:?}: {names:?}")).collect();
    writeln!(out, "{{\n{}\n}}", lines.join(",\n"))
}

/// A row of a file, checked against itself: the expression is one, and its values and heads are right.
#[derive(Debug, Clone)]
pub struct Checked {
    /// In prefix form.
    pub prefix: Vec<u8>,
    /// What the file says about its subset.
    pub subset: Option<String>,
    /// The images of its tokens, where the file names them.
    pub images: Vec<String>,
}

/// The rows of a part, and where each came from.
#[derive(Debug)]
pub struct CheckedPart {
    /// The file.
    pub path: PathBuf,
    /// How a row is called in an error: `row` of a list, line of a JSONL file.
    pub counted: &'static str,
    /// In order.
    pub rows: Vec<Checked>,
}

impl CheckedPart {
    /// An error about one row.
    pub fn fail(&self, row: usize, what: impl std::fmt::Display) -> Error {
        Error::file(&self.path, format!("{} {}: {what}", self.counted, row + 1))
    }
}

#[derive(Deserialize)]
struct Object {
    expr: String,
    res: i64,
    #[serde(default)]
    head: Option<Vec<i32>>,
    #[serde(default)]
    res_all: Option<Vec<i64>>,
    #[serde(default)]
    eval: Option<String>,
    #[serde(default)]
    img_paths: Vec<String>,
}

/// Sets `expression` to what a row says, and returns its prefix form.
fn check_text(expression: &mut Expression, text: &str) -> Result<Vec<u8>, String> {
    let shown = || truncate(text, 80);
    let prefix = parse(text).map_err(|what| format!("`{}` is not an expression: {what}", shown()))?;
    if expression.set(&prefix).is_none() {
        return Err(format!("`{}` has no value: it divides by 0 or is too large", shown()));
    }
    if !expression.characters().eq(text.bytes()) {
        return Err(format!("`{}` is written `{}`", shown(), expression.text()));
    }
    Ok(prefix)
}

fn wrong_value(text: &str, result: u64, said: &str) -> String {
    format!("`{}` is {result}, not {}", truncate(text, 80), truncate(said, 40))
}

fn check(expression: &mut Expression, object: Object) -> Result<Checked, String> {
    let prefix = check_text(expression, &object.expr)?;
    if u64::try_from(object.res) != Ok(expression.result) {
        return Err(wrong_value(&object.expr, expression.result, &object.res.to_string()));
    }
    let wrong = |field: &str| Err(format!("`{field}` of `{}` is not what follows from it", object.expr));
    if object.head.is_some_and(|head| head != expression.heads) {
        return wrong("head");
    }
    if object.res_all.is_some_and(|values| values != expression.values) {
        return wrong("res_all");
    }
    if !object.img_paths.is_empty() && object.img_paths.len() != expression.tokens.len() {
        return wrong("img_paths");
    }
    Ok(Checked { prefix, subset: object.eval, images: object.img_paths })
}

/// Checks rows of a JSONL or Parquet file, with what it says about their subsets.
pub fn check_raw(raw: RawPart, subsets: &[String]) -> Result<CheckedPart> {
    let checked = |expression: &mut Expression, (i, row): (usize, &wug_data::RawRow)| {
        let prefix = check_text(expression, &row.input).map_err(|what| raw.fail(row, what))?;
        if expression.result.to_string() != row.target {
            return Err(raw.fail(row, wrong_value(&row.input, expression.result, &row.target)));
        }
        Ok(Checked { prefix, subset: subsets.get(i).cloned(), images: Vec::new() })
    };
    let rows =
        raw.rows.par_iter().enumerate().map_init(Expression::default, checked).collect::<Result<_>>()?;
    Ok(CheckedPart { path: raw.path, counted: "line", rows })
}

/// Reads a list of objects.
pub fn read(path: &Path) -> Result<CheckedPart> {
    let rows = if let Some(rows) = read_at_once(path) {
        rows
    } else {
        // What is wrong, and where, says the reader that goes through the file step by step.
        let mut rows = Vec::new();
        read_json(path, List { rows: &mut rows })?;
        rows
    };
    Ok(CheckedPart { path: path.to_owned(), counted: "row", rows })
}

/// The rows of a file that fits into memory, read on all cores; `None` if anything is wrong with it.
fn read_at_once(path: &Path) -> Option<Vec<Checked>> {
    const LARGEST: u64 = 4 << 30;
    if std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len() > LARGEST {
        return None;
    }
    let text = std::fs::read(path).ok()?;
    let objects = objects(&text, 1 << 20)?;
    let read = |expression: &mut Expression, range: &Range<usize>| {
        check(expression, serde_json::from_slice(&text[range.clone()]).ok()?).ok()
    };
    if objects.len() > MAX_ROWS {
        return None;
    }
    objects.par_iter().map_init(Expression::default, read).collect()
}

/// Where the objects of a list lie; `None` if it is no list of objects.
///
/// The text is cut, about every `piece` bytes, where one object seems to end and the next to begin. A cut inside a string
/// or an object shows: the piece before it then ends where no object does, and the list counts as none.
fn objects(text: &[u8], piece: usize) -> Option<Vec<Range<usize>>> {
    let inside = text.trim_ascii().strip_prefix(b"[")?.strip_suffix(b"]")?;
    let offset = inside.as_ptr().addr() - text.as_ptr().addr();
    let mut cuts = vec![0];
    while let Some(cut) = next_cut(inside, cuts[cuts.len() - 1] + piece) {
        cuts.push(cut);
    }
    cuts.push(inside.len());
    let last = cuts.len() - 2;
    let pieces: Vec<Vec<Range<usize>>> = (0..=last)
        .into_par_iter()
        .map(|i| objects_of_piece(&inside[cuts[i]..cuts[i + 1]], offset + cuts[i], i == last))
        .collect::<Option<_>>()?;
    Some(pieces.concat())
}

/// The first place from `from` on that seems to lie behind the comma between two objects.
fn next_cut(text: &[u8], from: usize) -> Option<usize> {
    let comma = from + text.get(from..)?.windows(2).position(|pair| pair == b"},")? + 1;
    text[comma + 1..].trim_ascii_start().starts_with(b"{").then_some(comma + 1)
}

/// The objects of a piece of a list, which ends with a comma unless it is the last.
fn objects_of_piece(piece: &[u8], offset: usize, is_last: bool) -> Option<Vec<Range<usize>>> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    // Between objects stands one comma, and behind the last none.
    let mut expects = true;
    for (i, &byte) in piece.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' if depth > 0 => in_string = !in_string,
            _ if in_string => {}
            b'{' if depth > 0 || expects => {
                if depth == 0 {
                    (start, expects) = (i, false);
                }
                depth += 1;
            }
            b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    found.push(offset + start..offset + i + 1);
                }
            }
            b',' if depth == 0 && !expects => expects = true,
            _ if depth > 0 || byte.is_ascii_whitespace() => {}
            _ => return None,
        }
    }
    let ends_well = if is_last { !expects || found.is_empty() } else { expects };
    (depth == 0 && ends_well).then_some(found)
}

/// Reads one part of one symbol of the release's `fewshot_dataset.json`: objects by symbol and part.
pub fn read_few_shot(path: &Path, symbol: Symbol, part: &str) -> Result<CheckedPart> {
    let mut rows = Vec::new();
    let keys = [symbol.character().to_string(), part.to_owned()];
    read_json(path, Keyed { keys: &keys, rows: &mut rows })?;
    if rows.is_empty() {
        return Err(Error::file(path, format!("has no `{}` of `{}`", keys[1], keys[0])));
    }
    Ok(CheckedPart { path: path.to_owned(), counted: "row", rows })
}

fn read_json<'de, S: DeserializeSeed<'de, Value = ()>>(path: &Path, seed: S) -> Result<()> {
    let file = File::open(path).map_err(Error::io(path))?;
    if file.metadata().map_err(Error::io(path))?.is_dir() {
        return Err(Error::file(path, "is a folder, not a file"));
    }
    let mut reader = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 18, file));
    let done = seed.deserialize(&mut reader).and_then(|()| reader.end());
    done.map_err(|error| {
        // What a row says is told without the parser's place, which is behind it.
        let what = error.to_string();
        match what.strip_prefix(ROW).and_then(|what| what.rsplit_once(" at line ")) {
            Some((what, _)) => Error::file(path, format!("row {what}")),
            None => Error::line(path, error.line(), format!("expected a list of expressions: {what}")),
        }
    })
}

/// Marks an error about what a row says, rather than how it is written.
const ROW: &str = "wrong row ";

/// Reads objects one by one: a whole file of them would not fit into memory.
struct List<'a> {
    rows: &'a mut Vec<Checked>,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of objects with `expr` and `res`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut expression = Expression::default();
        while let Some(object) = list.next_element::<Object>()? {
            let number = self.rows.len() + 1;
            let fail = |what| serde::de::Error::custom(format!("{ROW}{number}: {what}"));
            if number > MAX_ROWS {
                return Err(fail(format!("more than {MAX_ROWS} rows")));
            }
            self.rows.push(check(&mut expression, object).map_err(fail)?);
        }
        Ok(())
    }
}

/// Reads the list behind some keys and skips everything else.
struct Keyed<'a> {
    keys: &'a [String],
    rows: &'a mut Vec<Checked>,
}

impl<'de> DeserializeSeed<'de> for Keyed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.keys {
            [] => List { rows: self.rows }.deserialize(deserializer),
            _ => deserializer.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Keyed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an object with `{}`", self.keys[0])
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == self.keys[0] {
                map.next_value_seed(Keyed { keys: &self.keys[1..], rows: self.rows })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str, piece: usize) -> Option<Vec<&str>> {
        Some(objects(text.as_bytes(), piece)?.into_iter().map(|range| &text[range]).collect())
    }

    #[test]
    fn a_list_that_looks_cut_inside_a_string_is_left_to_the_other_reader() {
        let text = r#"[{"a": "},{"}, {"b": {"c": 1}}]"#;
        assert_eq!(found(text, 100), Some(vec![r#"{"a": "},{"}"#, r#"{"b": {"c": 1}}"#]));
        assert_eq!(found(text, 1), None);
        assert_eq!(found("[]", 1), Some(Vec::new()));
        for bad in ["", "[", "{}", "[{},]", "[,{}]", "[{} {}]", "[{}", "[1]", "[{}}]"] {
            assert_eq!(found(bad, 100), None, "{bad}");
        }
    }

    proptest! {
        /// Whatever the size of the pieces, the objects are those that serde finds.
        #[test]
        fn objects_are_those_of_the_list(values in prop::collection::vec(".{0,6}", 0..20), piece in 1usize..60) {
            let objects: Vec<String> = values
                .iter()
                .map(|value| serde_json::json!({ "expr": value, "of": { "head": [1, 2] } }).to_string())
                .collect();
            let text = format!("[{}]", objects.join(", "));
            let expected: Vec<&str> = objects.iter().map(String::as_str).collect();
            prop_assert_eq!(found(&text, text.len()), Some(expected.clone()));
            // Pieces may fail, but never find anything else.
            if let Some(objects) = found(&text, piece) {
                prop_assert_eq!(objects, expected);
            }
        }
    }
}
