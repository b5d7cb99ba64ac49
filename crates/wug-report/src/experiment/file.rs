//! The format of `experiments/*/*.toml`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Value;
use wug_bench::Source;
use wug_data::{Error, Result};
use wug_run::Symbols;

use super::{Column, Evaluation, Experiment, Figure, Fit, PublishedCell, Row, Run, Scale, wrong};
use crate::{Decoding, Number, compared, published};

/// The most rows that a grid may stand for.
const MAX_ROWS: usize = 10_000;

/// The most runs that the rows of a table may have.
const MAX_RUNS: u64 = 100_000;

type Set = BTreeMap<String, Value>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    /// The paper's name, for people.
    paper: String,
    /// The file of `published/` that has its numbers.
    numbers: Option<String>,
    /// Where in the paper; numbers are taken from sources that begin with this.
    source: String,
    note: Option<String>,
    dataset: Option<String>,
    part: Option<String>,
    metric: Option<String>,
    /// The fact whose values are the columns.
    by: Option<String>,
    /// Its values; `mean` is all of them.
    columns: Option<Vec<String>>,
    /// Columns one by one.
    #[serde(default)]
    column: Vec<ColumnOfFile>,
    /// A setting whose values are the columns.
    vary: Option<BTreeMap<String, Vec<Value>>>,
    /// Settings by name, for rows that follow it.
    #[serde(default)]
    protocol: BTreeMap<String, Set>,
    /// What every run is asked beside what the columns show: experiments that ask the same share their runs.
    #[serde(default)]
    asks: Evaluation,
    fit: Option<Fit>,
    figure: Option<Figure>,
    axis: Option<String>,
    scale: Scales,
    row: Vec<RowOfFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnOfFile {
    name: String,
    dataset: Option<String>,
    part: Option<String>,
    metric: Option<String>,
    by: Option<String>,
    value: Option<Value>,
    /// The fact whose importance it shows.
    importance: Option<String>,
    #[serde(default)]
    set: Set,
    /// The scales that have this column; all if absent.
    scales: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scales {
    smoke: ScaleOfFile,
    cpu: ScaleOfFile,
    paper: ScaleOfFile,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct ScaleOfFile {
    /// The maximum number of examples of a part.
    limit: Option<usize>,
    /// How often each row is run.
    runs: Option<u64>,
    /// Seed of the data.
    seed: Option<Value>,
    /// Settings of the data.
    #[serde(default)]
    with: Set,
    /// Settings of rows that follow a protocol.
    #[serde(default)]
    set: Set,
    /// Settings of rows that follow the protocol of this name.
    #[serde(default)]
    protocol: BTreeMap<String, Set>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowOfFile {
    name: String,
    run: Option<RunOfFile>,
    /// The dataset, instead of the columns'.
    dataset: Option<String>,
    /// The value of the columns' fact that counts in this row.
    value: Option<Value>,
    /// The paper's numbers, a column each.
    published: Option<Vec<f64>>,
    /// The learner whose numbers in `published/` these are.
    theirs: Option<String>,
    note: Option<String>,
    /// The rows whose mean it is.
    #[serde(default)]
    average: Vec<String>,
    /// How often it is run, by scale.
    #[serde(default)]
    runs: BTreeMap<String, u64>,
    /// Settings that are all tried: the row stands for a row of each combination.
    #[serde(default)]
    grid: BTreeMap<String, Vec<Value>>,
    /// The scales that have this row; all if absent.
    scales: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunOfFile {
    learner: String,
    reads: Option<Symbols>,
    protocol: Option<String>,
    #[serde(default)]
    set: Set,
    /// The run of the same learner that it fine-tunes.
    init: Option<InitOfFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InitOfFile {
    dataset: String,
    protocol: Option<String>,
    #[serde(default)]
    set: Set,
}

pub(super) fn read(name: &str, text: &str, scale: Scale) -> Result<Experiment> {
    let file: File = toml::from_str(text).map_err(|error| wrong(name, error))?;
    let columns = columns(name, &file, scale)?;
    let chosen = match scale {
        Scale::Smoke => &file.scale.smoke,
        Scale::Cpu => &file.scale.cpu,
        Scale::Paper => &file.scale.paper,
    };
    let mut rows = Vec::new();
    for row in &file.row {
        if is_at(scale, row.scales.as_ref()) {
            rows.extend(expand(name, &file, row, chosen, scale, &columns)?);
        }
        if rows.len() > MAX_ROWS {
            return Err(wrong(name, format!("more than {MAX_ROWS} rows")));
        }
    }
    if rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.runs)) > MAX_RUNS {
        return Err(wrong(name, format!("more than {MAX_RUNS} runs: give fewer rows or a smaller `runs`")));
    }
    Ok(Experiment {
        name: name.to_owned(),
        title: file.title,
        paper: file.paper,
        source: file.source,
        note: file.note,
        scale,
        figure: file.figure,
        axis: file.axis,
        columns,
        rows,
        fit: file.fit,
        evaluation: file.asks,
        data: source(name, chosen.seed.as_ref())?,
        with: typed_set(name, &chosen.with)?,
        limit: chosen.limit,
    })
}

/// The draw that a seed names.
fn source(name: &str, seed: Option<&Value>) -> Result<Source> {
    let Some(seed) = seed else { return Ok(Source::Seed(0)) };
    match typed(name, "seed", seed)?.as_str() {
        "official" => Ok(Source::Official),
        number => number
            .parse()
            .map(Source::Seed)
            .map_err(|_| wrong(name, format!("seed `{number}`: expected a whole number or `official`"))),
    }
}

/// Whether something is there at a scale.
fn is_at(scale: Scale, scales: Option<&Vec<String>>) -> bool {
    scales.is_none_or(|scales| scales.iter().any(|known| known == scale.name()))
}

/// A value as `--set` takes it.
fn typed(name: &str, key: &str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(flag) => Ok(flag.to_string()),
        _ => Err(wrong(name, format!("`{key}` is neither a number, a word, nor true or false"))),
    }
}

fn typed_set(name: &str, set: &Set) -> Result<BTreeMap<String, String>> {
    set.iter().map(|(key, value)| Ok((key.clone(), typed(name, key, value)?))).collect()
}

fn columns(name: &str, file: &File, scale: Scale) -> Result<Vec<Column>> {
    let dataset = |own: &Option<String>| {
        let given = own.clone().or_else(|| file.dataset.clone());
        // Rows that all have their own need no other.
        let needless =
            !file.row.is_empty() && file.row.iter().all(|row| row.dataset.is_some() || row.run.is_none());
        given.or(needless.then(String::new)).ok_or_else(|| wrong(name, "a column has no dataset"))
    };
    let part = |own: &Option<String>| own.clone().or_else(|| file.part.clone()).unwrap_or("test".to_owned());
    let plain = |heading: String| -> Result<Column> {
        Ok(Column {
            name: heading,
            dataset: dataset(&None)?,
            part: part(&None),
            metric: file.metric.clone(),
            by: None,
            importance: None,
            set: BTreeMap::new(),
            vary: None,
        })
    };
    let mut columns = Vec::new();
    for value in file.columns.iter().flatten() {
        let Some(fact) = &file.by else {
            return Err(wrong(name, "`columns` are values of `by`, which is absent"));
        };
        let counted = (value != "mean").then(|| value.clone());
        columns.push(Column { by: Some((fact.clone(), counted)), ..plain(value.clone())? });
    }
    for own in file.column.iter().filter(|own| is_at(scale, own.scales.as_ref())) {
        let value = own.value.as_ref().map(|value| typed(name, "value", value)).transpose()?;
        let by = own.by.clone().or_else(|| file.by.clone());
        if value.is_some() && by.is_none() {
            return Err(wrong(
                name,
                format!("column {}: `value` is a value of `by`, which is absent", own.name),
            ));
        }
        columns.push(Column {
            name: own.name.clone(),
            dataset: dataset(&own.dataset)?,
            part: part(&own.part),
            metric: own.metric.clone().or_else(|| file.metric.clone()),
            by: by.map(|fact| (fact, value)),
            importance: own.importance.clone(),
            set: typed_set(name, &own.set)?,
            vary: None,
        });
    }
    for (key, values) in file.vary.iter().flatten() {
        for value in values {
            let value = typed(name, key, value)?;
            columns.push(Column { vary: Some((key.clone(), value.clone())), ..plain(value)? });
        }
    }
    if columns.is_empty() {
        return Err(wrong(name, "it has no columns: give columns with by, [[column]], or vary"));
    }
    Ok(columns)
}

/// The row, or the rows of its grid.
fn expand(
    name: &str,
    file: &File,
    row: &RowOfFile,
    chosen: &ScaleOfFile,
    scale: Scale,
    columns: &[Column],
) -> Result<Vec<Row>> {
    let theirs = theirs(name, file, row, columns)?;
    let value = row.value.as_ref().map(|value| typed(name, "value", value)).transpose()?;
    let runs = row.runs.get(scale.name()).copied().or(chosen.runs).unwrap_or(1);
    let Some(run) = &row.run else {
        let note = row.note.clone();
        return Ok(vec![Row {
            name: row.name.clone(),
            run: None,
            dataset: row.dataset.clone(),
            average: row.average.clone(),
            value,
            runs: 0,
            theirs,
            note,
        }]);
    };
    let settings = |protocol: Option<&String>, own: &Set| settings(name, file, chosen, row, protocol, own);
    let set = settings(run.protocol.as_ref(), &run.set)?;
    let init = match &run.init {
        Some(init) => Some((init.dataset.clone(), settings(init.protocol.as_ref(), &init.set)?)),
        None => None,
    };
    let mut rows = vec![Row {
        name: row.name.clone(),
        run: Some(Run {
            learner: run.learner.clone(),
            reads: run.reads,
            set,
            init,
            follows: run.protocol.is_some(),
        }),
        dataset: row.dataset.clone(),
        average: Vec::new(),
        value,
        runs,
        theirs,
        note: row.note.clone(),
    }];
    for (key, values) in &row.grid {
        if rows.len().saturating_mul(values.len()) > MAX_ROWS {
            return Err(wrong(name, format!("the grid of {} has more than {MAX_ROWS} rows", row.name)));
        }
        let mut wider = Vec::new();
        for row in &rows {
            for value in values {
                let value = typed(name, key, value)?;
                let mut row = Row { name: format!("{} {key}={value}", row.name), ..row.clone() };
                if let Some(run) = &mut row.run {
                    run.set.insert(key.clone(), value);
                }
                wider.push(row);
            }
        }
        rows = wider;
    }
    Ok(rows)
}

/// The settings of a run: those of its protocol, its own, and those of the scale.
fn settings(
    name: &str,
    file: &File,
    chosen: &ScaleOfFile,
    row: &RowOfFile,
    protocol: Option<&String>,
    own: &Set,
) -> Result<BTreeMap<String, String>> {
    let mut set = BTreeMap::new();
    if let Some(protocol) = protocol {
        let known = file.protocol.get(protocol);
        let known =
            known.ok_or_else(|| wrong(name, format!("row {}: no protocol `{protocol}`", row.name)))?;
        set.extend(typed_set(name, known)?);
    }
    set.extend(typed_set(name, own)?);
    if let Some(protocol) = protocol {
        set.extend(typed_set(name, &chosen.set)?);
        set.extend(chosen.protocol.get(protocol).map_or(Ok(BTreeMap::new()), |set| typed_set(name, set))?);
    }
    Ok(set)
}

/// The paper's numbers for a row.
fn theirs(
    name: &str,
    file: &File,
    row: &RowOfFile,
    columns: &[Column],
) -> Result<Vec<Option<PublishedCell>>> {
    if let Some(numbers) = &row.published {
        if numbers.len() != columns.len() {
            let (given, wanted) = (numbers.len(), columns.len());
            return Err(wrong(name, format!("row {}: {given} numbers for {wanted} columns", row.name)));
        }
        let one =
            |&value: &f64| PublishedCell { value, printed: format!("{value:.2}"), runs: None, spread: None };
        // The paper may print only some of a row: the others are `nan`.
        return Ok(numbers.iter().map(|value| (!value.is_nan()).then(|| one(value))).collect());
    }
    let Some(learner) = &row.theirs else { return Ok(vec![None; columns.len()]) };
    let Some(paper) = &file.numbers else {
        return Err(wrong(name, "`theirs` needs `numbers`, the name of a paper in published/"));
    };
    let runs = row.run.as_ref().map(|run| run.learner.as_str());
    let fits = |number: &&Number| {
        number.paper == paper
            && number.learner == *learner
            && (runs.is_none() || number.architecture.is_none() || number.architecture.as_deref() == runs)
            && is_same_source(&number.source, &file.source)
    };
    let numbers: Vec<&Number> = published().iter().filter(fits).collect();
    let averaged = |other: &&RowOfFile| row.average.contains(&other.name);
    let averaged: BTreeSet<&str> =
        file.row.iter().filter(averaged).filter_map(|other| other.dataset.as_deref()).collect();
    let found: Vec<Option<PublishedCell>> =
        columns.iter().map(|column| number_of(&numbers, row, column, &averaged)).collect();
    if found.iter().all(Option::is_none) {
        let what = format!("row {}: {paper} has no number of {learner} in {}", row.name, file.source);
        return Err(Error::usage(format!("experiment {name}: {what}")));
    }
    Ok(found)
}

/// Whether one is the other or a part of it: `Experiment 1` and `Experiment 1, Figure 3`.
fn is_same_source(one: &str, other: &str) -> bool {
    let within = |whole: &str, part: &str| part.strip_prefix(whole).is_some_and(|rest| rest.starts_with(','));
    one == other || within(one, other) || within(other, one)
}

/// The number that a column shows, found by what it is a number of.
/// What a row averages, `averaged`, the paper has as one number, too.
fn number_of(
    numbers: &[&Number],
    row: &RowOfFile,
    column: &Column,
    averaged: &BTreeSet<&str>,
) -> Option<PublishedCell> {
    let oracle = |set: &Set| set.get("oracle-length").is_some_and(|flag| flag.as_bool() == Some(true));
    let is_oracle = row.run.as_ref().is_some_and(|run| oracle(&run.set))
        || column.set.get("oracle-length").is_some_and(|flag| flag == "true");
    let mut part = column.part.clone();
    let mut filter =
        column.by.as_ref().and_then(|(fact, value)| Some((fact.replace('-', "_"), value.clone()?)));
    if let Some((_, subset)) = filter.take_if(|(fact, _)| fact == "subset") {
        // Subsets have names as parts have.
        part = format!("{part}-{subset}");
    }
    let dataset = averaged.first().map(|&dataset| dataset.to_owned());
    let dataset = dataset.or_else(|| row.dataset.clone()).unwrap_or_else(|| column.dataset.clone());
    let dataset = dataset.replace("{run}", "1");
    let is_bleu = column.metric.as_deref() == Some("bleu");
    let fits = |number: &&&Number| {
        let what = compared(number);
        let places: BTreeSet<&str> = what.places.iter().map(|place| place.dataset.as_str()).collect();
        (averaged.is_empty() || places == *averaged)
            && (what.decoding == Decoding::OracleLength) == is_oracle
            && (number.metric == "bleu") == is_bleu
            && what.places.iter().any(|place| {
                let same = place.filter.as_ref().map(|filter| (filter.fact.to_owned(), filter.value.clone()));
                place.dataset == dataset && place.part == part && same == filter
            })
    };
    numbers.iter().find(fits).map(|number| PublishedCell::from(*number))
}
