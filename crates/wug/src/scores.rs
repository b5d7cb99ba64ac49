//! The score table that `score` and `run` share.

use std::io::Write;

use serde::Serialize;

use wug_bench::Benchmark;
use wug_data::{Dataset, Fact};
use wug_report::{Groups, Scored, Tally};

use crate::output::{BOLD, DIM, GREEN, RED, bar, shorten, table, thousands};

#[derive(Serialize)]
pub(crate) struct Report<'a> {
    schema: u32,
    dataset: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) learner: Option<&'a str>,
    metric: &'a str,
    parts: Vec<PartReport<'a>>,
}

#[derive(Serialize)]
struct PartReport<'a> {
    part: &'a str,
    #[serde(flatten)]
    tally: Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Groups<'a>>,
}

impl<'a> Report<'a> {
    /// Totals of every part, by a fact if one is given.
    pub(crate) fn new(
        dataset: &'a Dataset,
        metric: &'a str,
        scored: &'a [Scored<'a>],
        fact: Option<&'a Fact>,
    ) -> Self {
        let part = |scored: &'a Scored<'a>| PartReport {
            part: &scored.selection().name,
            tally: scored.total(),
            by: fact.map(|fact| scored.by(fact)),
        };
        Self {
            schema: 1,
            dataset: &dataset.name,
            learner: None,
            metric,
            parts: scored.iter().map(part).collect(),
        }
    }

    /// The table for a person.
    pub(crate) fn write(&self, benchmark: &dyn Benchmark, out: &mut impl Write) -> std::io::Result<()> {
        let learner = self.learner.map_or_else(String::new, |learner| format!(" {learner}"));
        writeln!(
            out,
            "{BOLD}{}{learner}{BOLD:#}  {DIM}{}{DIM:#}",
            self.dataset,
            describe(benchmark, self.metric)
        )?;
        let rows = self.parts.iter().map(|part| row(part.part.to_owned(), &part.tally)).collect();
        write!(out, "{}", table(&["part", "n", "correct", "accuracy", "95% interval"], &[1, 2, 3], rows))?;
        for part in &self.parts {
            if part.tally.undecided > 0 {
                writeln!(
                    out,
                    "{} of {} were not decided within the bound on work",
                    part.tally.undecided, part.part
                )?;
            }
            if let Some(groups) = &part.by {
                writeln!(out, "\n{BOLD}{} by {}{BOLD:#}", part.part, groups.fact)?;
                let rows = groups.groups.iter().map(|group| {
                    let mut row = row(shorten(&group.value.to_string(), 50), &group.tally);
                    row.truncate(4);
                    row.push(bar(group.tally.accuracy().unwrap_or_default(), 20));
                    row
                });
                write!(
                    out,
                    "{}",
                    table(&[groups.fact, "n", "correct", "accuracy", ""], &[1, 2, 3], rows.collect())
                )?;
            }
        }
        Ok(())
    }
}

fn describe(benchmark: &dyn Benchmark, metric: &str) -> String {
    let about =
        benchmark.metrics().iter().find(|known| known.name == metric).map_or("", |metric| metric.about);
    format!("{metric}: {about}")
}

fn row(name: String, tally: &Tally) -> Vec<String> {
    let (low, high) = tally.interval();
    vec![
        name,
        thousands(tally.n),
        thousands(tally.correct),
        tally.accuracy().map_or_else(|| "-".to_owned(), |accuracy| format!("{:.2}%", accuracy * 100.0)),
        format!("{:.2} to {:.2}", low * 100.0, high * 100.0),
    ]
}

pub(crate) fn write_verdicts(scored: &[Scored<'_>], out: &mut dyn Write) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: String,
        correct: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    }
    for scored in scored {
        for ((id, _), verdict) in scored.selection().examples().zip(scored.verdicts()) {
            let reason = (!verdict.correct).then_some(verdict.reason.as_str());
            serde_json::to_writer(&mut *out, &Line { id, correct: verdict.correct, reason })?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Lists the first wrong predictions; says how many it listed.
pub(crate) fn show_errors(
    out: &mut impl Write,
    dataset: &Dataset,
    scored: &Scored<'_>,
    texts: &[&str],
    most: usize,
) -> std::io::Result<usize> {
    const LINE: usize = 400;
    let wrong = scored.selection().examples().zip(scored.verdicts()).zip(texts);
    let mut listed = 0;
    for (((id, row), verdict), text) in wrong.filter(|((_, verdict), _)| !verdict.correct).take(most) {
        let example = dataset.table.example(row);
        writeln!(out, "\n{DIM}{id}{DIM:#}  {}", verdict.reason)?;
        writeln!(out, "  input      {}", shorten(&example.input.to_string(), LINE))?;
        writeln!(out, "  target     {GREEN}{}{GREEN:#}", shorten(&example.target.to_string(), LINE))?;
        writeln!(out, "  prediction {RED}{}{RED:#}", shorten(text, LINE))?;
        listed += 1;
    }
    Ok(listed)
}
