use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;
use serde::Deserialize;

use crate::{Dataset, Error, Fact, Lines, RawPart, RawRow, Result, Selection, Values, Vocab};

/// Where the picture of an example lies, seen from the folder of its JSONL file.
pub fn picture_path(selection: &Selection<'_>, id: &str) -> String {
    format!("images/{}/{id}.png", selection.name)
}

/// Examples that are put into text together: so few that the memory for it is used again and again.
const BLOCK: usize = 1 << 8;

/// Writes examples as JSON, one a line: `id`, `input`, `target`, `image` (the path of the picture, where there are
/// pictures), `facts`. The text is made on all cores, a few blocks ahead of what is written.
pub fn write_jsonl(
    dataset: &Dataset,
    selection: &Selection<'_>,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    write_lines(&Line::new(dataset, selection, Image::Path), selection, out, &|_| ())
}

/// The same, telling how many rows are done on the way.
pub fn write_jsonl_counted(
    dataset: &Dataset,
    selection: &Selection<'_>,
    out: &mut (impl Write + Send),
    done: &(dyn Fn(usize) + Sync),
) -> io::Result<()> {
    write_lines(&Line::new(dataset, selection, Image::Path), selection, out, done)
}

/// Writes the list that goes into a folder of pictures, by which Hugging Face's `imagefolder` finds the example of each:
/// the same lines with `file_name` in place of `image`.
pub fn write_image_list(
    dataset: &Dataset,
    selection: &Selection<'_>,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    write_lines(&Line::new(dataset, selection, Image::Name), selection, out, &|_| ())
}

fn write_lines(
    line: &Line<'_>,
    selection: &Selection<'_>,
    out: &mut (impl Write + Send),
    done: &(dyn Fn(usize) + Sync),
) -> io::Result<()> {
    let text = |positions: &[u32]| {
        let mut text = Vec::with_capacity(BLOCK * 256);
        for &position in positions {
            line.push(position, &mut text);
        }
        done(positions.len());
        text
    };
    let mut made: Vec<Vec<u8>> = Vec::new();
    for positions in selection.positions.chunks(16 * BLOCK * rayon::current_num_threads()) {
        let (next, written) = rayon::join(
            || positions.par_chunks(BLOCK).map(text).collect(),
            || made.iter().try_for_each(|text| out.write_all(text)),
        );
        written?;
        made = next;
    }
    made.iter().try_for_each(|text| out.write_all(text))
}

/// How a line names the picture of its example.
#[derive(Clone, Copy)]
enum Image {
    /// `image`: the path from the folder of the JSONL file.
    Path,
    /// `file_name`: the name in the folder of pictures.
    Name,
}

/// What the lines of a part are made of.
struct Line<'a> {
    image: Image,
    dataset: &'a Dataset,
    selection: &'a Selection<'a>,
    inputs: Escaped,
    targets: Escaped,
    /// The name of each fact and, if it has labels, those.
    facts: Vec<(String, Option<Escaped>)>,
}

impl<'a> Line<'a> {
    fn new(dataset: &'a Dataset, selection: &'a Selection<'a>, image: Image) -> Self {
        let table = &dataset.table;
        let fact = |(i, fact): (usize, &Fact)| {
            let labels = match fact.values() {
                Values::Numbers(_) => None,
                Values::Labels { names, .. } => Some(Escaped::new(names, "")),
            };
            (format!("{}\"{}\":", if i == 0 { "" } else { "," }, fact.name()), labels)
        };
        Self {
            image,
            dataset,
            selection,
            inputs: Escaped::new(table.inputs.vocab(), table.inputs.separator()),
            targets: Escaped::new(table.targets.vocab(), table.targets.separator()),
            facts: table.facts.columns().iter().enumerate().map(fact).collect(),
        }
    }

    /// Adds the line of the example at a position of the part.
    fn push(&self, position: u32, out: &mut Vec<u8>) {
        let part = self.selection.part;
        let example = self.dataset.table.example(part.rows[position as usize]);
        out.extend(br#"{"id":""#);
        out.extend(part.name.as_bytes());
        out.push(b'_');
        push_number(position.into(), 8, out);
        out.extend(br#"","input":""#);
        self.inputs.push(example.input.ids(), out);
        out.extend(br#"","target":""#);
        self.targets.push(example.target.ids(), out);
        out.extend(b"\",");
        if self.dataset.pictures.is_some() {
            let id = part.id(position as usize);
            let named = match self.image {
                Image::Path => format!("\"image\":\"{}", picture_path(self.selection, &id)),
                Image::Name => format!("\"file_name\":\"{id}.png"),
            };
            out.extend(named.as_bytes());
            out.extend(b"\",");
        }
        out.extend(br#""facts":{"#);
        for (fact, (name, labels)) in self.dataset.table.facts.columns().iter().zip(&self.facts) {
            out.extend(name.as_bytes());
            match (fact.values(), labels) {
                (Values::Labels { rows, .. }, Some(labels)) => {
                    out.push(b'"');
                    out.extend(labels.word(rows[example.row as usize]));
                    out.push(b'"');
                }
                (Values::Numbers(numbers), _) => push_number(numbers[example.row as usize], 1, out),
                (Values::Labels { .. }, None) => unreachable!("labels are made for every fact that has them"),
            }
        }
        out.extend(b"}}\n");
    }
}

/// Writes a number padded with zeros, a few times as fast as the standard library does.
fn push_number(number: i64, least: usize, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    let mut left = number.unsigned_abs();
    while left > 0 {
        first -= 1;
        digits[first] += (left % 10) as u8;
        left /= 10;
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend(&digits[first.min(digits.len() - least)..]);
}

/// Words as they stand inside a JSON string, the separator before each.
struct Escaped {
    text: Vec<u8>,
    ends: Vec<usize>,
    separator: usize,
}

impl Escaped {
    fn new(vocab: &Vocab, separator: &str) -> Self {
        let mut before = Vec::new();
        escape(separator, &mut before);
        let mut escaped = Self { text: Vec::new(), ends: vec![0], separator: before.len() };
        for word in vocab.words() {
            escaped.text.extend(&before);
            escape(word, &mut escaped.text);
            escaped.ends.push(escaped.text.len());
        }
        escaped
    }

    fn word(&self, id: u32) -> &[u8] {
        let id = id as usize;
        &self.text[self.ends[id]..self.ends[id + 1]]
    }

    fn push(&self, ids: &[u32], out: &mut Vec<u8>) {
        if let Some((&first, rest)) = ids.split_first() {
            out.extend(&self.word(first)[self.separator..]);
            for &id in rest {
                out.extend(self.word(id));
            }
        }
    }
}

/// Writes text as the inside of a JSON string.
fn escape(text: &str, out: &mut Vec<u8>) {
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            0..0x20 => out.extend(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
}

/// Reads what [`write_jsonl`] wrote; facts are not read, they follow from the example.
pub fn read_jsonl(path: &Path) -> Result<RawPart> {
    #[derive(Deserialize)]
    struct Row {
        input: String,
        target: String,
    }
    let rows = parse_lines(path, |line, text| {
        let Row { input, target } = serde_json::from_str(text)
            .map_err(|error| format!("expected `input` and `target` as JSON: {error}"))?;
        Ok(RawRow { line, input, target })
    })?;
    Ok(RawPart { path: path.to_owned(), rows })
}

/// Reads every line, on all cores; the first that is wrong is the error.
fn parse_lines<T: Send>(
    path: &Path,
    parse: impl Fn(usize, &str) -> std::result::Result<T, String> + Sync,
) -> Result<Vec<T>> {
    /// Bytes that are parsed together.
    const ENOUGH: usize = 4 << 20;
    let mut lines = Lines::open(path)?;
    let mut rows = Vec::new();
    loop {
        let (mut texts, mut bytes) = (Vec::new(), 0);
        let mut unread = Ok(());
        while bytes < ENOUGH {
            match lines.next() {
                Ok(Some((line, text))) => {
                    bytes += text.len() + 1;
                    texts.push((line, text.to_owned()));
                }
                Ok(None) => break,
                Err(error) => {
                    unread = Err(error);
                    break;
                }
            }
        }
        let is_last = bytes < ENOUGH;
        let parsed: Result<Vec<T>> = texts
            .par_iter()
            .map(|(line, text)| parse(*line, text).map_err(|what| Error::line(path, *line, what)))
            .collect();
        rows.extend(parsed?);
        unread?;
        if is_last {
            return Ok(rows);
        }
    }
}

/// The values of one fact in what [`write_jsonl`] wrote, as text: for benchmarks whose facts say more than follows from
/// the example.
pub(crate) fn read_jsonl_fact(path: &Path, fact: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Row {
        #[serde(default)]
        facts: serde_json::Map<String, serde_json::Value>,
    }
    parse_lines(path, |_, text| {
        let row: Row =
            serde_json::from_str(text).map_err(|error| format!("expected `facts` as JSON: {error}"))?;
        match row.facts.get(fact) {
            Some(serde_json::Value::String(value)) => Ok(value.clone()),
            Some(value) => Ok(value.to_string()),
            None => Err(format!("has no fact `{fact}`")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_standard_library_does() {
        for number in [0, 7, 10, -1, -120, 99_999_999, 100_000_000, i64::MAX, i64::MIN] {
            let mut text = Vec::new();
            push_number(number, 1, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), number.to_string());
        }
        let mut text = Vec::new();
        push_number(123, 8, &mut text);
        push_number(1_234_567_890, 8, &mut text);
        assert_eq!(text, b"000001231234567890");
    }

    #[test]
    fn words_are_escaped_as_json_asks() {
        let words = ["plain", "a \"quote\"", "back\\slash", "tab\tand\nline", "\u{1f}", "é 日"];
        let vocab: Vocab = words.into_iter().collect();
        let mut text = vec![b'"'];
        Escaped::new(&vocab, "").push(&[0, 1, 2, 3, 4, 5], &mut text);
        text.push(b'"');
        assert_eq!(serde_json::from_slice::<String>(&text).unwrap(), words.concat());
        let mut text = Vec::new();
        Escaped::new(&vocab, " ").push(&[0, 5, 0], &mut text);
        assert_eq!(text, "plain é 日 plain".as_bytes());
    }
}
