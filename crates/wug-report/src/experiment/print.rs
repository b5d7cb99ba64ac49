//! Tables for papers and spreadsheets.

use crate::chart::write_csv;
use std::fmt::Write;

use super::Outcome;

/// Lines of a table: a row of ours and a row of theirs, where there is one.
pub(crate) fn lines(outcome: &Outcome) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for (i, row) in outcome.experiment.rows.iter().enumerate() {
        let is_ours = row.run.is_some() || !row.average.is_empty();
        if is_ours {
            let mut line = vec![row.heading(), "ours".to_owned(), outcome.runs(i)];
            line.extend(outcome.ours[i].iter().map(super::Measured::printed));
            lines.push(line);
        }
        if row.theirs.iter().any(Option::is_some) || !is_ours {
            let name = if is_ours { String::new() } else { row.name.clone() };
            let mut line = vec![name, "theirs".to_owned(), outcome.their_runs(i)];
            let printed = |theirs: &Option<super::PublishedCell>| {
                theirs.as_ref().map_or(String::new(), |theirs| theirs.printed.clone())
            };
            line.extend(row.theirs.iter().map(printed));
            lines.push(line);
        }
    }
    lines
}

/// The heading of the lines.
pub(crate) fn header(outcome: &Outcome) -> Vec<String> {
    let first = ["learner", "whose", "runs"].map(str::to_owned);
    first.into_iter().chain(outcome.experiment.columns.iter().map(|column| column.name.clone())).collect()
}

impl Outcome {
    /// The heading and the lines of the table, for whoever lays it out.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        (header(self), lines(self))
    }
}

/// Where the table is from.
fn caption(outcome: &Outcome) -> String {
    let experiment = &outcome.experiment;
    format!(
        "{} ({}, {}; scale {})",
        experiment.title,
        experiment.paper,
        experiment.source,
        experiment.scale.name()
    )
}

/// As Markdown.
pub fn markdown(outcome: &Outcome) -> String {
    let escaped = |text: &String| text.replace('|', "\\|");
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(escaped).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let (header, lines) = outcome.table();
    let mut text = format!("{}\n\n", caption(outcome));
    if let Some(warning) = outcome.warning() {
        let _ = writeln!(text, "**{warning}**\n");
    }
    text.push_str(&line(&header));
    let rules: Vec<String> =
        (0..header.len()).map(|i| if i < 2 { "---" } else { "---:" }.to_owned()).collect();
    text.push_str(&line(&rules));
    for cells in &lines {
        text.push_str(&line(cells));
    }
    for said in outcome.fitted() {
        let _ = writeln!(text, "\n{said}");
    }
    text
}

/// As CSV, a line for each row and column.
pub fn csv(outcome: &Outcome) -> String {
    const HEADER: &str =
        "scale,row,column,ours,ours_std,ours_runs,theirs,theirs_std,theirs_runs,theirs_printed";
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value}"));
    let mut lines = vec![HEADER.split(',').map(str::to_owned).collect()];
    let experiment = &outcome.experiment;
    for (row, ours) in experiment.rows.iter().zip(&outcome.ours) {
        for ((column, ours), theirs) in experiment.columns.iter().zip(ours).zip(&row.theirs) {
            let theirs = theirs.as_ref();
            lines.push(vec![
                experiment.scale.name().to_owned(),
                row.heading(),
                column.name.clone(),
                number(ours.mean()),
                number(ours.spread()),
                ours.runs().to_string(),
                number(theirs.map(|theirs| theirs.value)),
                number(theirs.and_then(|theirs| theirs.spread)),
                theirs.and_then(|theirs| theirs.runs).map_or(String::new(), |runs| runs.to_string()),
                theirs.map_or(String::new(), |theirs| theirs.printed.clone()),
            ]);
        }
    }
    write_csv(lines.into_iter())
}

/// As LaTeX, with booktabs.
pub fn latex(outcome: &Outcome) -> String {
    let escaped = |text: &String| {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
                '±' => out.push_str("$\\pm$"),
                '\\' => out.push_str("\\textbackslash{}"),
                '~' => out.push_str("\\textasciitilde{}"),
                '^' => out.push_str("\\textasciicircum{}"),
                c => out.push(c),
            }
        }
        out
    };
    let line =
        |cells: &[String]| format!("{} \\\\\n", cells.iter().map(escaped).collect::<Vec<_>>().join(" & "));
    let (header, lines) = outcome.table();
    let mut text = String::from("% needs \\usepackage{booktabs}\n");
    if let Some(warning) = outcome.warning() {
        let _ = writeln!(text, "% {warning}");
    }
    let _ = writeln!(text, "\\begin{{tabular}}{{ll{}}}\n\\toprule", "r".repeat(header.len() - 2));
    text.push_str(&line(&header));
    text.push_str("\\midrule\n");
    for cells in &lines {
        text.push_str(&line(cells));
    }
    let _ = writeln!(text, "\\bottomrule\n\\end{{tabular}}\n% {}", caption(outcome));
    text
}
