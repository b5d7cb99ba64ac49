//! The score table that `score` and `run` share.

use std::collections::BTreeMap;
use std::io::Write;

use serde::{Serialize, Serializer};

use wug_bench::{Benchmark, Draw};
use wug_data::{Dataset, Error, Fact, Result};
use wug_report::{Groups, Importance, Scored, Tally};

use crate::neighbours::Neighbours;
use crate::output::{BOLD, DIM, GREEN, RED, bar, shorten, table, thousands};

#[derive(Serialize)]
pub(crate) struct Report<'a> {
    schema: u32,
    dataset: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) learner: Option<&'a str>,
    /// How large a trained model is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) learned: Option<wug_learn::Size>,
    metric: &'a str,
    /// What was scored against what.
    #[serde(flatten)]
    pub(crate) basis: Option<Basis<'a>>,
    parts: Vec<PartReport<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) explained: Vec<Explained>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) neighbours: Vec<Neighbours>,
}

/// Which predictions were scored, and against which draw.
#[derive(Serialize)]
pub(crate) struct Basis<'a> {
    pub(crate) draw: Draw,
    /// The hash of each part.
    pub(crate) hashes: BTreeMap<&'a str, String>,
    pub(crate) predictions: Read,
    /// What they seem to be made for instead, where they score badly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

/// What a file of predictions holds.
#[derive(Serialize)]
pub(crate) struct Read {
    pub(crate) n: usize,
    pub(crate) format: String,
}

impl Basis<'_> {
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Read { n, format } = &self.predictions;
        let short =
            |(part, hash): (&&str, &String)| format!("{part} {}", shorten(hash, 19).trim_end_matches('.'));
        let hashes: Vec<String> = self.hashes.iter().map(short).collect();
        writeln!(out, "  {DIM}{} predictions, {format}{DIM:#}", thousands(*n))?;
        writeln!(out, "  {DIM}draw: {} ({}){DIM:#}", self.draw, hashes.join(", "))?;
        if let Some(hint) = &self.hint {
            writeln!(out, "  {RED}hint:{RED:#} {hint}")?;
        }
        Ok(())
    }
}

/// Why one prediction is wrong.
#[derive(Serialize)]
pub(crate) struct Explained {
    pub(crate) id: String,
    pub(crate) input: String,
    pub(crate) target: String,
    pub(crate) prediction: String,
    pub(crate) reasons: Vec<String>,
}

#[derive(Serialize)]
struct PartReport<'a> {
    part: &'a str,
    #[serde(flatten)]
    tally: Tally,
    /// The score of the part as a whole, where the metric has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// One table by itself, several as a list.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "one_or_list")]
    by: Vec<Groups<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slices: Vec<SliceReport>,
}

/// A slice that the benchmark's paper reports.
#[derive(Serialize)]
struct SliceReport {
    slice: &'static str,
    #[serde(flatten)]
    tally: Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    importance: Option<Importance>,
}

impl<'a> Report<'a> {
    /// Totals of every part and its slices, by the facts that are given, with the importance of facts if asked for.
    pub(crate) fn new(
        benchmark: &dyn Benchmark,
        dataset: &'a Dataset,
        metric: &'a str,
        scored: &'a [Scored<'a>],
        facts: &[&'a Fact],
        importance: bool,
    ) -> Result<Self> {
        let part = |scored: &'a Scored<'a>| {
            Ok(PartReport {
                part: &scored.selection().name,
                tally: scored.total(),
                score: scored.together(),
                by: facts.iter().map(|fact| scored.by(fact)).collect(),
                slices: slices(benchmark, dataset, scored, importance)?,
            })
        };
        let parts = scored.iter().map(part).collect::<Result<_>>()?;
        Ok(Self {
            schema: 1,
            dataset: &dataset.name,
            learner: None,
            learned: None,
            metric,
            basis: None,
            parts,
            explained: Vec::new(),
            neighbours: Vec::new(),
        })
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
        if let Some(basis) = &self.basis {
            basis.write(out)?;
        }
        let rows = self
            .parts
            .iter()
            .flat_map(|part| {
                let slices = part.slices.iter();
                let slices = slices.map(|slice| row(format!("  {}", slice.slice), &slice.tally));
                std::iter::once(row(part.part.to_owned(), &part.tally)).chain(slices)
            })
            .collect();
        write!(out, "{}", table(&["part", "n", "correct", "accuracy", "95% interval"], &[1, 2, 3], rows))?;
        for part in &self.parts {
            if let Some(score) = part.score {
                writeln!(out, "  {} of {}: {BOLD}{score:.2}{BOLD:#}", self.metric, part.part)?;
            }
            if part.tally.undecided > 0 {
                writeln!(
                    out,
                    "{} of {} were not decided within the bound on work",
                    part.tally.undecided, part.part
                )?;
            }
            show_importance(out, part)?;
            for groups in &part.by {
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
        for neighbours in &self.neighbours {
            neighbours.write(out)?;
        }
        for explained in &self.explained {
            writeln!(out, "\n{BOLD}{}{BOLD:#}", explained.id)?;
            writeln!(out, "  input      {}", explained.input)?;
            writeln!(out, "  target     {GREEN}{}{GREEN:#}", explained.target)?;
            writeln!(out, "  prediction {RED}{}{RED:#}", explained.prediction)?;
            if explained.reasons.is_empty() {
                writeln!(out, "  right by {}", self.metric)?;
            }
            for reason in &explained.reasons {
                writeln!(out, "  {reason}")?;
            }
        }
        Ok(())
    }
}

fn one_or_list<S: Serializer>(groups: &[Groups<'_>], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    match groups {
        [one] => one.serialize(serializer),
        several => several.serialize(serializer),
    }
}

/// The slices of a part that it has examples of; none if it is one of them itself.
fn slices(
    benchmark: &dyn Benchmark,
    dataset: &Dataset,
    scored: &Scored<'_>,
    importance: bool,
) -> Result<Vec<SliceReport>> {
    if importance && benchmark.features().is_empty() {
        return Err(Error::usage(format!("{} has no facts for --importance", benchmark.about().name)));
    }
    let mut reports = Vec::new();
    for slice in benchmark.slices() {
        let Ok(fact) = dataset.table.facts.column(slice.fact) else { continue };
        let keeps = |row| (slice.keeps)(fact.value(row));
        let tally = scored.of(keeps);
        if tally.n == 0 || tally.n == scored.total().n {
            continue;
        }
        // The paper looks at each of its subsets, not at slices across them.
        let importance = if importance && slice.fact == "subset" {
            Some(wug_report::importance(dataset, scored, benchmark.features(), keeps, 0)?)
        } else {
            None
        };
        reports.push(SliceReport { slice: slice.name, tally, importance });
    }
    if importance && reports.is_empty() {
        let importance = wug_report::importance(dataset, scored, benchmark.features(), |_| true, 0)?;
        reports.push(SliceReport { slice: "all", tally: scored.total(), importance: Some(importance) });
    }
    Ok(reports)
}

fn show_importance(out: &mut impl Write, part: &PartReport<'_>) -> std::io::Result<()> {
    let found: Vec<(&str, &Importance)> = part
        .slices
        .iter()
        .filter_map(|slice| slice.importance.as_ref().map(|importance| (slice.slice, importance)))
        .collect();
    let Some((_, first)) = found.first() else { return Ok(()) };
    writeln!(out, "\n{BOLD}{}: what decides whether an answer is right{BOLD:#}", part.part)?;
    let mut header = vec!["subset", "n", "fit"];
    header.extend(first.shares.iter().map(|share| share.fact));
    // Below each, what comes out for verdicts that were shuffled.
    let rows = found.iter().flat_map(|(slice, importance)| {
        let fit = |fit: f64| format!("{:.2}%", fit * 100.0);
        let mut row = vec![(*slice).to_owned(), thousands(importance.n), fit(importance.fit)];
        row.extend(importance.shares.iter().map(|share| format!("{:.3}", share.share)));
        let total: f64 = importance.shares.iter().map(|share| share.loss).sum();
        let null = |loss: f64| if total == 0.0 { 0.0 } else { loss / total };
        let mut baseline = vec!["  by chance".to_owned(), String::new(), fit(importance.null_fit)];
        baseline.extend(importance.shares.iter().map(|share| format!("{:.3}", null(share.null_loss))));
        [row, baseline]
    });
    let right: Vec<usize> = (1..header.len()).collect();
    write!(out, "{}", table(&header, &right, rows.collect()))
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
