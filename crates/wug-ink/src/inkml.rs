//! InkML as CROHME uses it: traces, groups of traces, and the symbol that each group is.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use roxmltree::{Document, Node};

use wug_data::{Error, Result, Streams};

use crate::files::{files_below, read_limited};
use crate::library::{BySymbol, Named, check_all_present, divide};
use crate::{Ink, Point, SYMBOLS};

/// The most points of a symbol: a hostile file must not fill the memory.
const MAX_POINTS: usize = 100_000;

/// A symbol of a file.
struct Written {
    symbol: usize,
    ink: Ink,
}

/// A file that was read.
struct InkFile {
    /// Who wrote it, or the file's name where it does not say.
    writer: String,
    name: String,
    written: Vec<Written>,
}

/// Reads all InkML files below a folder and divides their symbols by writer.
pub(crate) fn read(folder: &Path, symbols: &[usize], seed: u64) -> Result<BySymbol<Ink>> {
    let paths = files_below(folder, &["inkml"])?;
    if paths.is_empty() {
        return Err(Error::file(folder, "has no .inkml file"));
    }
    let files: Vec<InkFile> = paths.par_iter().map(|path| read_file(path)).collect::<Result<_>>()?;
    let mut writers: BTreeMap<&str, Vec<&InkFile>> = BTreeMap::new();
    for file in &files {
        writers.entry(&file.writer).or_default().push(file);
    }
    let mut writers: Vec<Vec<&InkFile>> = writers.into_values().collect();
    Streams::new("ink/inkml", "writers", seed).item(0).shuffle(&mut writers);
    let mut glyphs: BySymbol<Ink> = SYMBOLS.chars().map(|_| Default::default()).collect();
    for (part, writers) in divide(writers).into_iter().enumerate() {
        for file in writers.into_iter().flatten() {
            for (i, Written { symbol, ink }) in file.written.iter().enumerate() {
                let named: Named<Ink> = (format!("{}-{i}.png", file.name), ink.clone());
                glyphs[*symbol][part].push(named);
            }
        }
    }
    check_all_present(&glyphs, symbols, folder)?;
    Ok(glyphs)
}

fn read_file(path: &Path) -> Result<InkFile> {
    let text = String::from_utf8(read_limited(path)?).map_err(|error| {
        Error::file(path, format!("not UTF-8 (byte {})", error.utf8_error().valid_up_to() + 1))
    })?;
    let document = Document::parse(&text)
        .map_err(|error| Error::line(path, error.pos().row as usize, format!("not XML: {error}")))?;
    let line = |node: Node<'_, '_>| document.text_pos_at(node.range().start).row as usize;
    let fail = |node: Node<'_, '_>, what: String| Error::line(path, line(node), what);

    let mut traces: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
    for node in document.descendants().filter(|node| node.has_tag_name_ignoring_namespace("trace")) {
        let id = node.attribute("id").or_else(|| node.attribute(XML_ID));
        let id = id.ok_or_else(|| fail(node, "a trace without `id`".to_owned()))?;
        let points = points(node.text().unwrap_or_default()).map_err(|what| fail(node, what))?;
        traces.insert(id, points);
    }
    let mut written = Vec::new();
    for group in document.descendants().filter(|node| node.has_tag_name_ignoring_namespace("traceGroup")) {
        let views: Vec<Node<'_, '_>> =
            group.children().filter(|node| node.has_tag_name_ignoring_namespace("traceView")).collect();
        // The outer group has the truth of the whole expression and no traces of its own.
        let Some(symbol) = truth(group).and_then(symbol_of).filter(|_| !views.is_empty()) else { continue };
        let mut ink = Ink::default();
        for view in views {
            let name = view.attribute("traceDataRef").unwrap_or_default().trim_start_matches('#');
            let trace = traces.get(name).ok_or_else(|| fail(view, format!("no trace is called `{name}`")))?;
            ink.strokes.push(trace.clone());
        }
        if ink.strokes.iter().map(Vec::len).sum::<usize>() > MAX_POINTS {
            return Err(fail(group, format!("a symbol with more than {MAX_POINTS} points")));
        }
        written.push(Written { symbol, ink });
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let writer = document.root_element().children().find_map(|node| annotation(node, "writer"));
    let writer = writer.map_or_else(|| name.clone(), str::to_owned);
    Ok(InkFile { writer, name, written })
}

const XML_ID: (&str, &str) = ("http://www.w3.org/XML/1998/namespace", "id");

trait IgnoringNamespace {
    fn has_tag_name_ignoring_namespace(&self, name: &str) -> bool;
}

impl IgnoringNamespace for Node<'_, '_> {
    fn has_tag_name_ignoring_namespace(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

fn annotation<'a>(node: Node<'a, '_>, kind: &str) -> Option<&'a str> {
    let is_it = node.has_tag_name_ignoring_namespace("annotation") && node.attribute("type") == Some(kind);
    is_it.then(|| node.text().unwrap_or_default().trim())
}

fn truth<'a>(group: Node<'a, '_>) -> Option<&'a str> {
    group.children().find_map(|node| annotation(node, "truth"))
}

/// The place in [`SYMBOLS`] of a label of CROHME.
fn symbol_of(label: &str) -> Option<usize> {
    let character = match label {
        "\\times" | "\u{d7}" => "*",
        "\\div" | "\u{f7}" | "/" => "/",
        "\\(" => "(",
        "\\)" => ")",
        other => other,
    };
    (character.len() == 1).then(|| SYMBOLS.find(character)).flatten()
}

/// `x y, x y, ...`; what stands behind the first two numbers of a point (time, pressure) is left out.
fn points(text: &str) -> Result<Vec<Point>, String> {
    let mut points = Vec::new();
    for point in text.split(',').map(str::trim).filter(|point| !point.is_empty()) {
        let mut numbers = point.split_whitespace().map(str::parse::<f32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(x)), Some(Ok(y))) if x.abs() < 1e9 && y.abs() < 1e9 => points.push([x, y]),
            _ => {
                let shown: String = point.chars().take(40).collect();
                return Err(format!("`{shown}` is not a point `x y`"));
            }
        }
        if points.len() > MAX_POINTS {
            return Err(format!("a trace with more than {MAX_POINTS} points"));
        }
    }
    if points.is_empty() { Err("a trace without points".to_owned()) } else { Ok(points) }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::{GlyphSource, Glyphs};

    fn file(writer: &str, label: &str) -> String {
        format!(
            r#"<ink xmlns="http://www.w3.org/2003/InkML">
<annotation type="writer">{writer}</annotation>
<trace id="0">10 20, 30 40, 50 60</trace>
<trace id="1">50 20 5, 30 40 6, 10 60 7</trace>
<traceGroup xml:id="2"><annotation type="truth">Segmentation</annotation>
<traceGroup xml:id="3"><annotation type="truth">{label}</annotation>
<traceView traceDataRef="0"/><traceView traceDataRef="1"/></traceGroup></traceGroup></ink>"#
        )
    }

    fn folder(files: &[(&str, String)]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let path = folder.path().to_owned();
        (folder, path)
    }

    #[test]
    fn symbols_are_read_and_divided_by_writer() {
        let files: Vec<(String, String)> =
            (0..40).map(|i| (format!("f{i:02}.inkml"), file(&format!("w{}", i / 2), "\\times"))).collect();
        let files: Vec<(&str, String)> =
            files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        let (_keep, folder) = folder(&files);
        let glyphs = Glyphs::open(&GlyphSource::InkMl(folder), &[12], 0, None).unwrap();
        let counts = [0, 1, 2].map(|part| glyphs.count(part, 12));
        assert_eq!(counts, [30, 2, 8], "20 writers with two symbols each");
        let ink: usize = glyphs.crop(0, 12, 0, 45).pixels.iter().map(|&pixel| usize::from(pixel == 0)).sum();
        assert_eq!(ink, 89, "two diagonals of 45 pixels that share one");
    }

    #[test]
    fn broken_files_are_named() {
        for (text, wanted) in [
            ("<ink><trace id=\"0\">1 2</trace>".to_owned(), "not XML"),
            (file("w", "8").replace("30 40,", "30,"), "is not a point"),
            (file("w", "8").replace("traceDataRef=\"1\"", "traceDataRef=\"9\""), "no trace is called `9`"),
            (file("w", "8").replace("10 20, 30 40, 50 60", " "), "a trace without points"),
        ] {
            let (_keep, folder) = folder(&[("a.inkml", text)]);
            let error = Glyphs::open(&GlyphSource::InkMl(folder), &[8], 0, None).unwrap_err().to_string();
            assert!(error.contains("a.inkml:") && error.contains(wanted), "{error}");
        }
        let (_keep, empty) = folder(&[]);
        let error = Glyphs::open(&GlyphSource::InkMl(empty), &[8], 0, None).unwrap_err().to_string();
        assert!(error.contains("has no .inkml file"), "{error}");
        let (_keep, one) = folder(&[("a.inkml", file("w", "8"))]);
        let error = Glyphs::open(&GlyphSource::InkMl(one), &[8], 0, None).unwrap_err().to_string();
        assert!(error.contains("has 1 images of `8`, which leaves none for"), "{error}");
    }
}
