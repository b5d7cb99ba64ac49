use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{Error, Lines, Result, Selection};

/// One prediction of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// Line of the file, from 1.
    pub line: usize,
    /// Which example it is for, where the file says so.
    pub id: Option<String>,
    /// What was predicted.
    pub text: String,
}

/// What a model answered, as read from a file.
#[derive(Debug, Clone)]
pub struct Predictions {
    path: PathBuf,
    rows: Vec<Prediction>,
}

impl Predictions {
    /// Reads a file: `.jsonl` has an object with `id` and `prediction` on each line, `.tsv` has the two separated by a
    /// tab, and any other file has one prediction a line in the order of the part.
    pub fn read(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let parse = match extension.to_ascii_lowercase().as_str() {
            "jsonl" => parse_json,
            "tsv" => parse_tsv,
            _ => parse_plain,
        };
        let mut rows = Vec::new();
        let mut lines = Lines::open(path)?;
        while let Some((line, text)) = lines.next()? {
            let (id, text) = parse(text).map_err(|what| Error::line(path, line, what))?;
            rows.push(Prediction { line, id, text });
        }
        if extension.eq_ignore_ascii_case("tsv")
            && rows.first().is_some_and(|row| row.id.as_deref() == Some("id") && row.text == "prediction")
        {
            rows.remove(0);
        }
        Ok(Self { path: path.to_owned(), rows })
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
        let ids = self.rows.iter().filter(|row| row.id.is_some()).count();
        if ids == 0 { self.align_in_order(selections) } else { self.align_by_id(selections) }
    }

    fn align_in_order(&self, selections: &[Selection<'_>]) -> Result<Vec<Vec<&str>>> {
        let wanted: usize = selections.iter().map(|selection| selection.positions.len()).sum();
        let names: Vec<&str> = selections.iter().map(|selection| selection.name.as_str()).collect();
        let of = format!("{wanted} examples of {}", names.join(" and "));
        if self.rows.len() < wanted {
            let line = self.rows.len() + 1;
            let what = format!("ends after {} predictions; there are {of}", self.rows.len());
            return Err(Error::line(&self.path, line, what));
        }
        if let Some(extra) = self.rows.get(wanted) {
            let what = format!("a prediction too many: {} for {of}", self.rows.len());
            return Err(Error::line(&self.path, extra.line, what));
        }
        let mut texts = self.rows.iter().map(|row| row.text.as_str());
        Ok(selections
            .iter()
            .map(|selection| texts.by_ref().take(selection.positions.len()).collect())
            .collect())
    }

    fn align_by_id(&self, selections: &[Selection<'_>]) -> Result<Vec<Vec<&str>>> {
        let mut known: HashMap<&str, &Prediction> = HashMap::with_capacity(self.rows.len());
        for row in &self.rows {
            let Some(id) = row.id.as_deref() else {
                return Err(Error::line(&self.path, row.line, "no `id`, though other lines have one"));
            };
            if let Some(first) = known.insert(id, row) {
                let what = format!("a second prediction for `{id}` (the first is on line {})", first.line);
                return Err(Error::line(&self.path, row.line, what));
            }
        }
        let mut aligned = Vec::new();
        for selection in selections {
            let mut texts = Vec::with_capacity(selection.positions.len());
            for (id, _) in selection.examples() {
                let Some(row) = known.remove(id.as_str()) else {
                    let what = format!("has no prediction for `{id}`");
                    return Err(Error::file(&self.path, what));
                };
                texts.push(row.text.as_str());
            }
            aligned.push(texts);
        }
        if let Some(unknown) = known.values().min_by_key(|row| row.line) {
            let id = unknown.id.as_deref().unwrap_or_default();
            let names: Vec<&str> = selections.iter().map(|selection| selection.name.as_str()).collect();
            let what = format!("`{id}` is not an id of {}", names.join(" or "));
            return Err(Error::line(&self.path, unknown.line, what));
        }
        Ok(aligned)
    }
}

type Parsed = std::result::Result<(Option<String>, String), String>;

#[expect(clippy::unnecessary_wraps, reason = "one of three functions of this form")]
fn parse_plain(line: &str) -> Parsed {
    Ok((None, line.to_owned()))
}

fn parse_tsv(line: &str) -> Parsed {
    let (id, text) = line.split_once('\t').ok_or("expected `id TAB prediction`")?;
    Ok((Some(id.to_owned()), text.to_owned()))
}

fn parse_json(line: &str) -> Parsed {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Answer {
        Text(String),
        Number(i64),
        Tokens(Vec<String>),
    }
    #[derive(Deserialize)]
    struct Row {
        #[serde(default)]
        id: Option<String>,
        prediction: Answer,
    }
    let row: Row = serde_json::from_str(line)
        .map_err(|error| format!("expected {{\"id\": ..., \"prediction\": ...}}: {error}"))?;
    let text = match row.prediction {
        Answer::Text(text) => text,
        Answer::Number(number) => number.to_string(),
        Answer::Tokens(tokens) => tokens.join(" "),
    };
    Ok((row.id, text))
}
