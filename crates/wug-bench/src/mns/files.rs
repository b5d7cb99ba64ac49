//! Files: the release's `.npz` with a problem each, folders that wug wrote, and problems from elsewhere as JSON lines.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rayon::prelude::*;

use wug_data::{
    Dataset, Error, Manifest, Part, Picture, RawPart, Result, Selection, Table, read_fact, read_jsonl,
};

use super::derivations::{Derivation, derivations};
use super::drawing::{PANEL, Reader, draw};
use super::grammar::{Condition, Interpretation, Kind, Layout, Shape};
use super::npz::{self, Array, Values};
use super::problem::{LARGEST, MOST_PANELS, Problem};
use super::sample::Sampler;
use super::splits::{Design, PARTS, Row, Rows, number, part_of};
use crate::{NativeFile, read_written_by_wug};

/// What a folder has.
pub(crate) struct Imported {
    pub(crate) table: Table,
    pub(crate) parts: Vec<Part>,
    /// The file of each row, where each has its own.
    pub(crate) pictures: Vec<PathBuf>,
}

/// The parts that a folder has: what wug wrote, `.npz` files of the release, or `train.jsonl`, `val.jsonl`,
/// `test.jsonl` from elsewhere.
pub(crate) fn import(folder: &Path, design: &Design) -> Result<Imported> {
    if !folder.is_dir() {
        return Err(Error::file(folder, "is not a folder"));
    }
    let sampler = Sampler::new(design.parameters.clone())?;
    let ours = Manifest::read(folder)?.is_some();
    let mut rows = Rows::default();
    let mut parts = Vec::new();
    for (part, _) in PARTS {
        let raw = if ours {
            read_written_by_wug(folder, &format!("mns/{}", design.name), part)?
        } else {
            let file = folder.join(format!("{part}.jsonl"));
            if file.exists() { Some(read_jsonl(&file)?) } else { None }
        };
        let Some(raw) = raw else { continue };
        let first = rows.rows.len() as u32;
        let rules = if ours { Some(read_fact(&raw.path, "rule")?) } else { None };
        rows.rows.extend(read_rows(&raw, &sampler, rules.as_deref())?);
        parts.push(Part::new(part, (first..rows.rows.len() as u32).collect()));
    }
    if parts.is_empty() {
        return import_npz(folder, design, &sampler);
    }
    Ok(Imported { table: rows.table(), parts, pictures: Vec::new() })
}

/// The problems of a file. What wug wrote has rules, which must be what the grammar makes; what comes from elsewhere
/// need not.
pub(crate) fn read_rows(raw: &RawPart, sampler: &Sampler, rules: Option<&[String]>) -> Result<Vec<Row>> {
    let read = |(i, line): (usize, &wug_data::RawRow)| {
        let problem: Problem = line.input.parse().map_err(|what: String| raw.fail(line, what))?;
        let answer = match line.target.trim().parse() {
            Ok(answer) if (1..=LARGEST).contains(&answer) => answer,
            _ => return Err(raw.fail(line, format!("the target is no number from 1 to {LARGEST}"))),
        };
        let rule = rules.and_then(|rules| rules.get(i)).filter(|rule| !rule.is_empty());
        let row =
            with_rule(problem, answer, sampler, |it| rule.is_some_and(|rule| it.rule().to_string() == *rule));
        match (rule, row.rule) {
            (Some(_), None) => Err(raw.fail(line, format!("no calculation of the grammar gives {answer}"))),
            (Some(said), Some(found)) if found.to_string() != *said => {
                Err(raw.fail(line, format!("the calculation `{said}` does not give {answer}")))
            }
            _ => Ok(row),
        }
    };
    raw.rows.par_iter().enumerate().map(read).collect()
}

/// A problem and its answer with the most probable rule that leads to it, of those that fit what a file says if any do.
fn with_rule(problem: Problem, answer: u16, sampler: &Sampler, fits: impl Fn(&Derivation) -> bool) -> Row {
    let derivation = derivations(&problem, sampler)
        .into_iter()
        .filter(|derivation| derivation.answer == answer)
        .max_by(|one, other| fits(one).cmp(&fits(other)).then(one.weight.total_cmp(&other.weight)));
    let interpretation = derivation.as_ref().map(|derivation| derivation.interpretation);
    let rule = derivation.map(|derivation| derivation.rule());
    Row { problem, answer, interpretation, rule }
}

/// The derivation of a row that its rule names.
pub(crate) fn derivation(dataset: &Dataset, row: u32) -> Option<(Problem, Derivation)> {
    let design = Design::named(dataset.name.trim_start_matches("mns/"))?;
    let sampler = Sampler::new(design.parameters).ok()?;
    named_derivation(dataset, row, &sampler)
}

fn named_derivation(dataset: &Dataset, row: u32, sampler: &Sampler) -> Option<(Problem, Derivation)> {
    let example = dataset.table.example(row);
    let problem = Problem::read(example.input.words()).ok()?;
    let answer: u16 = example.target.words().next()?.parse().ok()?;
    let rule = dataset.table.facts.column("rule").ok()?.value(row).to_string();
    let fits = |it: &Derivation| it.answer == answer && it.rule().to_string() == rule;
    let derivation = derivations(&problem, sampler).into_iter().find(fits)?;
    Some((problem, derivation))
}

/// A file for every problem, with the names of the release.
pub(crate) fn native<'a>(
    dataset: &'a Dataset,
    selection: &'a Selection<'a>,
    design: &Design,
) -> Result<Vec<NativeFile<'a>>> {
    let sampler = std::sync::Arc::new(Sampler::new(design.parameters.clone())?);
    let conditions = design.conditions.len();
    let file = |&position: &u32| {
        let row = selection.part.rows[position as usize];
        let fact = |name: &str| {
            dataset
                .table
                .facts
                .column(name)
                .map_or_else(|_| String::new(), |fact| fact.value(row).to_string())
        };
        let interpretation = if fact("interpretation") == "analytic" { "analytical" } else { "holistic" };
        let path = format!(
            "prob_{}_{}_problem_{}_{}_{interpretation}_{}.npz",
            number(&selection.part.name, position as usize, conditions),
            fact("type"),
            fact("shape"),
            fact("layout"),
            fact("parts"),
        );
        let sampler = std::sync::Arc::clone(&sampler);
        NativeFile { path, write: Box::new(move |out| npz::write(&arrays(dataset, row, &sampler), out)) }
    };
    Ok(selection.positions.iter().map(file).collect())
}

/// What the release's generator stores of a problem.
fn arrays(dataset: &Dataset, row: u32, sampler: &Sampler) -> Vec<(&'static str, Array)> {
    const LISTS: [&str; MOST_PANELS] = [
        "int_list_1",
        "int_list_2",
        "int_list_3",
        "int_list_4",
        "int_list_5",
        "int_list_6",
        "int_list_7",
        "int_list_8",
    ];
    let example = dataset.table.example(row);
    let problem = Problem::read(example.input.words()).expect("the table has problems only");
    let target: i64 = example.target.to_string().parse().unwrap_or_default();
    let found = named_derivation(dataset, row, sampler);

    let mut arrays = vec![
        ("image", image(&problem)),
        ("target", Array { shape: Vec::new(), values: Values::Whole(vec![target]) }),
        (
            "center",
            Array::whole(problem.panels.iter().filter_map(|panel| panel.centre.map(i64::from)).collect()),
        ),
    ];
    for (name, panel) in LISTS.into_iter().zip(&problem.panels) {
        let list = if panel.numbers.contains(&0) {
            let text = |&number: &u16| if number == 0 { "mark".to_owned() } else { number.to_string() };
            Array::texts(panel.numbers.iter().map(text).collect())
        } else {
            Array::whole(panel.numbers.iter().map(|&number| number.into()).collect())
        };
        arrays.push((name, list));
    }
    arrays.push(("prob_type", Array::text(&format!("{}_problem", problem.layout.kind().name()))));
    let operators =
        found.iter().flat_map(|(_, it)| it.expression.operators().iter().map(|it| it.sign().to_string()));
    arrays.push(("math_operators", Array::texts(operators.collect())));
    let conditions = [problem.shape.name(), problem.layout.name()].map(str::to_owned);
    arrays.push(("geometrial_conditions", Array::texts(conditions.to_vec())));
    if let Some((_, it)) = &found {
        let name = if it.interpretation == Interpretation::Holistic { "holistic" } else { "analytical" };
        let conditions = vec![name.to_owned(), it.interpretation.parts().to_string()];
        arrays.push(("mathematical_conditions", Array::texts(conditions)));
    }
    arrays
}

/// The panels one after the other.
fn image(problem: &Problem) -> Array {
    let picture = draw(problem);
    let panels = problem.panels.len();
    let mut pixels = Vec::with_capacity(picture.pixels.len());
    for panel in 0..panels {
        for row in picture.pixels.chunks(panels * PANEL) {
            pixels.extend(&row[panel * PANEL..][..PANEL]);
        }
    }
    Array { shape: vec![panels, PANEL, PANEL], values: Values::Bytes(pixels) }
}

/// All `.npz` files of a folder; the number in its name says to which part a file belongs. They are ordered by that
/// number, and files of one number by their condition, in the order in which the conditions take turns: so problems come
/// back in the order in which they were written.
fn import_npz(folder: &Path, design: &Design, sampler: &Sampler) -> Result<Imported> {
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "npz"));
    if files.is_empty() {
        return Err(Error::file(folder, "has neither train.jsonl, val.jsonl, test.jsonl nor .npz files"));
    }
    let order: HashMap<String, usize> =
        design.conditions.iter().enumerate().map(|(i, condition)| (condition_name(*condition), i)).collect();
    let place = |path: &PathBuf| {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let condition = name.split_once("prob_").and_then(|(_, name)| name.split_once('_')?.1.into());
        condition.and_then(|name: &str| order.get(name)).copied().unwrap_or(usize::MAX)
    };
    files.sort_by_cached_key(|path| (file_number(path), place(path), path.clone()));
    let read: Vec<Row> = files.par_iter().map(|path| read_npz(path, sampler)).collect::<Result<_>>()?;
    let mut parts: Vec<Part> = PARTS.iter().map(|(part, _)| Part::new(*part, Vec::new())).collect();
    for (row, path) in files.iter().enumerate() {
        let name = file_number(path).map_or("test", part_of);
        let part = parts.iter_mut().find(|part| part.name == name).expect("every number has a part");
        part.rows.push(row as u32);
    }
    parts.retain(|part| !part.rows.is_empty());
    Ok(Imported { table: Rows { rows: read }.table(), parts, pictures: files })
}

/// The condition as the names of files have it: `combination_problem_circle_include_analytical_2`.
fn condition_name(condition: Condition) -> String {
    let (layout, interpretation) = (condition.layout, condition.interpretation);
    let how = if interpretation == Interpretation::Holistic { "holistic" } else { "analytical" };
    let (kind, shape, parts) = (layout.kind().name(), condition.shape.name(), interpretation.parts());
    format!("{kind}_problem_{shape}_{}_{how}_{parts}", layout.name())
}

/// 1003 for `prob_1003_combination_problem_circle_include_analytical_2.npz`.
fn file_number(path: &Path) -> Option<usize> {
    let stem = path.file_stem()?.to_str()?;
    stem.split_once("prob_")?.1.split('_').next()?.parse().ok()
}

/// The arrays of a file by name.
struct Arrays<'a> {
    path: &'a Path,
    arrays: Vec<(String, Array)>,
}

impl<'a> Arrays<'a> {
    fn read(path: &'a Path) -> Result<Self> {
        let size = fs::metadata(path).map_err(Error::io(path))?.len();
        if size > 64 << 20 {
            return Err(Error::file(path, format!("has {size} bytes: no problem is that large")));
        }
        let file = fs::read(path).map_err(Error::io(path))?;
        let arrays = npz::read(&file).map_err(|what| Error::file(path, what))?;
        Ok(Self { path, arrays })
    }

    fn get(&self, name: &str) -> Option<&Array> {
        self.arrays.iter().find(|(known, _)| known == name).map(|(_, array)| array)
    }

    fn fail(&self, what: impl Into<String>) -> Error {
        Error::file(self.path, what)
    }

    fn target(&self) -> Result<u16> {
        let Some(target) = self.get("target") else {
            let known: Vec<&str> = self.arrays.iter().map(|(name, _)| name.as_str()).take(20).collect();
            return Err(self.fail(format!("has no array `target`; it has: {}", known.join(", "))));
        };
        let number = match &target.values {
            Values::Whole(numbers) if numbers.len() == 1 => Some(numbers[0]),
            Values::Bytes(bytes) if bytes.len() == 1 => Some(bytes[0].into()),
            _ => None,
        };
        let number = number.and_then(|number| u16::try_from(number).ok());
        number
            .filter(|number| (1..=LARGEST).contains(number))
            .ok_or_else(|| self.fail(format!("`target` is no single whole number from 1 to {LARGEST}")))
    }

    /// The panels side by side.
    fn picture(&self) -> Result<Picture> {
        let Some(image) = self.get("image") else { return Err(self.fail("has no array `image`")) };
        let Values::Bytes(bytes) = &image.values else {
            return Err(self.fail("`image` must be of type uint8"));
        };
        let &[panels, PANEL, PANEL] = image.shape.as_slice() else {
            return Err(
                self.fail(format!("`image` has the shape {:?}, not (3, {PANEL}, {PANEL})", image.shape))
            );
        };
        if !(2..=MOST_PANELS).contains(&panels) {
            return Err(self.fail(format!("`image` has {panels} panels, not 2 to {MOST_PANELS}")));
        }
        let mut pixels = Vec::with_capacity(bytes.len());
        for y in 0..PANEL {
            for panel in bytes.chunks(PANEL * PANEL) {
                pixels.extend(&panel[y * PANEL..][..PANEL]);
            }
        }
        Ok(Picture { width: (panels * PANEL) as u32, height: PANEL as u32, pixels })
    }

    /// The values of an array as texts.
    fn texts(&self, name: &str) -> Option<Vec<String>> {
        match &self.get(name)?.values {
            Values::Texts(texts) => Some(texts.clone()),
            Values::Whole(numbers) => Some(numbers.iter().map(ToString::to_string).collect()),
            Values::Bytes(_) => None,
        }
    }

    /// The problem as the named fields have it; `None` if they are not all there.
    fn fields(&self) -> Option<std::result::Result<Problem, String>> {
        let texts = |name: &str| self.texts(name);
        let kind = texts("prob_type")?.first()?.replace("permutation", "composition");
        let kind = kind.replace("segmentation", "partition").replace("_problem", "");
        let [shape, layout] = <[String; 2]>::try_from(texts("geometrial_conditions")?).ok()?;
        let kind = Kind::ALL.into_iter().find(|known| known.name() == kind)?;
        let (layout, shape) = (Layout::named(kind, &layout)?, Shape::named(&shape)?);
        let centres = texts("center").unwrap_or_default();
        let mut text = format!("{} {} {} :", kind.name(), layout.name(), shape.name());
        for i in 0..MOST_PANELS {
            let Some(list) = texts(&format!("int_list_{}", i + 1)) else { break };
            let numbers: Vec<String> = list.iter().map(|word| word.replace("mark", "?")).collect();
            let bar = if i == 0 { "" } else { " |" };
            let centre = centres.get(i).map_or_else(String::new, |constant| format!(" = {constant}"));
            let _ = write!(text, "{bar} {}{centre}", numbers.join(" "));
        }
        Some(text.parse())
    }
}

/// The problem of a file: from its named fields, or from its picture where it has no more.
pub(crate) fn read_npz(path: &Path, sampler: &Sampler) -> Result<Row> {
    static READER: LazyLock<Reader> = LazyLock::new(|| Reader::new(99));
    let arrays = Arrays::read(path)?;
    let answer = arrays.target()?;
    let picture = arrays.picture()?;
    let problem = match arrays.fields() {
        Some(problem) => problem,
        None => READER.read(&picture),
    };
    let problem = problem.map_err(|what| arrays.fail(what))?;
    let (operators, conditions) = (arrays.texts("math_operators"), arrays.texts("mathematical_conditions"));
    Ok(with_rule(problem, answer, sampler, |it| {
        let signs = it.expression.operators().iter().map(|operator| operator.sign().to_string());
        let how = if it.interpretation == Interpretation::Holistic { "holistic" } else { "analytical" };
        conditions
            .as_ref()
            .is_some_and(|said| *said == [how.to_owned(), it.interpretation.parts().to_string()])
            && operators.as_ref().is_some_and(|said| signs.eq(said.iter().cloned()))
    }))
}

/// The picture of a file that has been read before.
pub(crate) fn picture(path: &Path) -> Result<Picture> {
    Arrays::read(path)?.picture()
}
