//! What a model answered, as read from a file.

mod format;
mod parse;

use crate::truncate;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::{Dataset, Error, Result, Selection, text};
pub use format::PredictionFormat;

/// One prediction of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prediction {
    /// Line of the file, from 1 (element, of a JSON list).
    pub line: usize,
    /// Which example it is for, where the file says so.
    pub id: Option<String>,
    /// What was predicted.
    pub text: String,
    /// The draw that the example is of, where the file says so: a seed, `official`, or `sha256:...` of its part.
    pub draw: Option<String>,
    /// The input that was answered, where the file says so.
    pub input: Option<String>,
    /// How it was derived, where the file says so.
    pub explanation: Option<String>,
}

/// What a model answered, as read from a file.
#[derive(Debug, Clone)]
pub struct Predictions {
    path: PathBuf,
    format: PredictionFormat,
    rows: Vec<Prediction>,
}

impl Predictions {
    /// Reads a file, whatever its format and however many predictions it has.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_while(path, None, |_, _| Ok(()))
    }

    /// Reads the predictions for a dataset: `wanted` of them if they have no ids. Reading stops at the first that is one
    /// too many or has an unknown id, so that an endless input is no way to fill the memory. The format is detected where
    /// none is given; the path `-` is standard input.
    pub fn read_for(
        path: &Path,
        format: Option<PredictionFormat>,
        dataset: &Dataset,
        wanted: &[Selection<'_>],
    ) -> Result<Self> {
        let number: usize = wanted.iter().map(|selection| selection.positions.len()).sum();
        let all: usize = dataset.parts.iter().map(|part| part.rows.len()).sum();
        Self::read_while(path, format, |read, row| match &row.id {
            None if read < number => Ok(()),
            None => {
                Err(format!("a prediction too many: there are {}{}", of(wanted), longer(dataset, number)))
            }
            Some(id) => check_id(id, dataset).and_then(|()| {
                let again = || format!("a prediction too many: {} has {all} examples", dataset.name);
                if read < all { Ok(()) } else { Err(again()) }
            }),
        })
    }

    fn read_while(
        path: &Path,
        format: Option<PredictionFormat>,
        mut admit: impl FnMut(usize, &Prediction) -> std::result::Result<(), String>,
    ) -> Result<Self> {
        let shown = text::shown(path);
        let (detected, reader) = format::detect(path, text::open(path)?)?;
        let format = format.unwrap_or(detected);
        let mut rows: Vec<Prediction> = Vec::new();
        parse::rows(&shown, format, reader, &mut |row| {
            admit(rows.len(), &row)?;
            rows.push(row);
            Ok(())
        })?;
        Ok(Self { path: shown, format, rows })
    }

    /// Predictions that are in memory; `name` stands for the file in messages.
    pub fn given(name: &str, format: PredictionFormat, rows: Vec<Prediction>) -> Self {
        Self { path: name.into(), format, rows }
    }

    /// The same predictions with other texts, such as the answers in replies.
    #[must_use]
    pub fn map_texts(mut self, text: impl Fn(&str) -> String) -> Self {
        for row in &mut self.rows {
            row.text = text(&row.text);
        }
        self
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How the file holds them.
    pub fn format(&self) -> PredictionFormat {
        self.format
    }

    /// All predictions, in the order of the file.
    pub fn rows(&self) -> &[Prediction] {
        &self.rows
    }

    /// An error about one prediction.
    pub fn fail(&self, row: &Prediction, what: impl Into<String>) -> Error {
        match self.format.counted() {
            "line" => Error::line(&self.path, row.line, what),
            counted => Error::file(&self.path, format!("{counted} {}: {}", row.line, what.into())),
        }
    }

    /// Names of the parts that the ids belong to (`test_00000003` is of `test`); empty if there are no ids.
    pub fn parts(&self) -> Vec<&str> {
        let mut parts: Vec<&str> = Vec::new();
        for id in self.rows.iter().filter_map(|row| row.id.as_deref()) {
            let part = id.rsplit_once('_').map_or(id, |(part, _)| part);
            if parts.last() != Some(&part) && !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts
    }

    /// The predictions for each selection, in its order. Every example must have exactly one, and every prediction an
    /// example.
    pub fn align(&self, selections: &[Selection<'_>]) -> Result<Vec<Vec<&str>>> {
        let aligned = self.align_rows(selections)?.into_iter();
        Ok(aligned.map(|rows| rows.into_iter().map(|row| row.text.as_str()).collect()).collect())
    }

    /// The same as whole rows.
    pub fn align_rows(&self, selections: &[Selection<'_>]) -> Result<Vec<Vec<&Prediction>>> {
        let ids = self.rows.iter().filter(|row| row.id.is_some()).count();
        if ids == 0 { self.align_in_order(selections) } else { self.align_by_id(selections) }
    }

    fn align_in_order(&self, selections: &[Selection<'_>]) -> Result<Vec<Vec<&Prediction>>> {
        let wanted: usize = selections.iter().map(|selection| selection.positions.len()).sum();
        if self.rows.len() < wanted {
            let what = format!("ends after {} predictions; there are {}", self.rows.len(), of(selections));
            let row =
                Prediction { line: self.rows.last().map_or(0, |row| row.line) + 1, ..Prediction::default() };
            return Err(self.fail(&row, what));
        }
        if let Some(extra) = self.rows.get(wanted) {
            return Err(self.fail(extra, format!("a prediction too many: there are {}", of(selections))));
        }
        let mut rows = self.rows.iter();
        Ok(selections
            .iter()
            .map(|selection| rows.by_ref().take(selection.positions.len()).collect())
            .collect())
    }

    fn align_by_id(&self, selections: &[Selection<'_>]) -> Result<Vec<Vec<&Prediction>>> {
        let mut known: HashMap<&str, &Prediction> = HashMap::with_capacity(self.rows.len());
        for row in &self.rows {
            let Some(id) = row.id.as_deref() else {
                return Err(self.fail(row, "no `id`, though other lines have one"));
            };
            if let Some(first) = known.insert(id, row) {
                let counted = self.format.counted();
                let what =
                    format!("a second prediction for `{id}` (the first is on {counted} {})", first.line);
                return Err(self.fail(row, what));
            }
        }
        let mut aligned = Vec::new();
        for selection in selections {
            let mut rows = Vec::with_capacity(selection.positions.len());
            for (id, _) in selection.examples() {
                let Some(row) = known.remove(id.as_str()) else {
                    let what = format!("has no prediction for `{id}`");
                    return Err(Error::file(&self.path, what));
                };
                rows.push(row);
            }
            aligned.push(rows);
        }
        if let Some(unknown) = known.values().min_by_key(|row| row.line) {
            let id = unknown.id.as_deref().unwrap_or_default();
            let names: Vec<&str> = selections.iter().map(|selection| selection.name.as_str()).collect();
            return Err(self.fail(unknown, format!("`{id}` is not an id of {}", names.join(" or "))));
        }
        Ok(aligned)
    }
}

/// How many examples are asked for.
fn of(selections: &[Selection<'_>]) -> String {
    let number: usize = selections.iter().map(|selection| selection.positions.len()).sum();
    let names: Vec<&str> = selections.iter().map(|selection| selection.name.as_str()).collect();
    format!("{number} examples of {}", names.join(" and "))
}

/// The parts that are longer than the one that was meant.
fn longer(dataset: &Dataset, number: usize) -> String {
    let parts = dataset.parts.iter().filter(|part| part.rows.len() > number);
    let parts: Vec<String> = parts.map(|part| format!("#{} has {}", part.name, part.rows.len())).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn check_id(id: &str, dataset: &Dataset) -> std::result::Result<(), String> {
    let shown = truncate(id, 60);
    let named = id.rsplit_once('_').and_then(|(part, position)| Some((dataset.part(part)?, position)));
    let Some((part, position)) = named else {
        let known: Vec<&str> = dataset.parts.iter().map(|part| part.name.as_str()).collect();
        return Err(format!(
            "`{shown}` is not an id of {}; its parts are: {}",
            dataset.name,
            known.join(", ")
        ));
    };
    match position.parse::<usize>() {
        Ok(position) if position < part.rows.len() && part.id(position) == id => Ok(()),
        _ => Err(format!("`{shown}` is not an id of {}: it has {} examples", part.name, part.rows.len())),
    }
}
