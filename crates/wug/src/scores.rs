//! The score table that `score` and `run` share.

use std::io::{self, Write};

use serde::Serialize;

use wug_bench::Benchmark;
use wug_data::Dataset;
use wug_learn::EarlyStop;
use wug_run::{Importance, Neighbour, Neighbours, PartScores, PredictionsRead, Scored, Scores, Tally};

use crate::output::{BOLD, DIM, GREEN, RED, bar, table};
use wug_data::{thousands, truncate};

/// The table for a person.
pub(crate) fn write_scores(
    scores: &Scores,
    benchmark: &dyn Benchmark,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let mut learner = scores.learner.as_ref().map_or_else(String::new, |learner| format!(" {learner}"));
    if scores.reads.is_some() {
        learner.push_str(" (reads symbols)");
    }
    writeln!(
        out,
        "{BOLD}{}{learner}{BOLD:#}  {DIM}{}{DIM:#}",
        scores.dataset,
        describe(benchmark, &scores.metric)
    )?;
    write_basis(scores, out)?;
    match scores.stopped {
        Some(EarlyStop::Time) => writeln!(
            out,
            "{DIM}the time was over before learning was done: answers are by the best until then, and may differ elsewhere{DIM:#}"
        )?,
        Some(EarlyStop::Steps) => writeln!(
            out,
            "{DIM}the steps were spent before learning was done: answers are by the best until then{DIM:#}"
        )?,
        None => {}
    }
    let rows = scores
        .parts
        .iter()
        .flat_map(|part| {
            let slices = part.slices.iter();
            let slices = slices.map(|slice| row(format!("  {}", slice.slice), &slice.tally));
            std::iter::once(row(part.part.clone(), &part.tally)).chain(slices)
        })
        .collect();
    write!(out, "{}", table(&["part", "n", "correct", "accuracy", "95% interval"], &[1, 2, 3], rows))?;
    for part in &scores.parts {
        if let Some(score) = part.score {
            writeln!(out, "  {} of {}: {BOLD}{score:.2}{BOLD:#}", scores.metric, part.part)?;
        }
        if part.tally.undecided > 0 {
            writeln!(
                out,
                "{} of {} were not decided within the bound on work",
                part.tally.undecided, part.part
            )?;
        }
        show_states(out, part)?;
        show_importance(out, part)?;
        for groups in &part.by {
            writeln!(out, "\n{BOLD}{} by {}{BOLD:#}", part.part, groups.fact)?;
            let rows = groups.groups.iter().map(|group| {
                let mut row = row(truncate(&group.value.to_string(), 50), &group.tally);
                row.truncate(4);
                row.push(bar(group.tally.accuracy().unwrap_or_default(), 20));
                row
            });
            write!(
                out,
                "{}",
                table(&[&groups.fact, "n", "correct", "accuracy", ""], &[1, 2, 3], rows.collect())
            )?;
        }
    }
    for neighbours in &scores.neighbours {
        write_neighbours(neighbours, out)?;
    }
    for explained in &scores.explained {
        writeln!(out, "\n{BOLD}{}{BOLD:#}", explained.id)?;
        writeln!(out, "  input      {}", explained.input)?;
        writeln!(out, "  target     {GREEN}{}{GREEN:#}", explained.target)?;
        writeln!(out, "  prediction {RED}{}{RED:#}", explained.prediction)?;
        if explained.reasons.is_empty() {
            writeln!(out, "  right by {}", scores.metric)?;
        }
        for reason in &explained.reasons {
            writeln!(out, "  {reason}")?;
        }
    }
    Ok(())
}

/// What was scored against what.
fn write_basis(scores: &Scores, out: &mut impl Write) -> std::io::Result<()> {
    if let Some(PredictionsRead { n, format }) = &scores.predictions {
        writeln!(out, "  {DIM}{} predictions, {format}{DIM:#}", thousands(*n))?;
    }
    if let Some(draw) = &scores.draw {
        let short =
            |(part, hash): (&String, &String)| format!("{part} {}", truncate(hash, 19).trim_end_matches('.'));
        let hashes: Vec<String> = scores.hashes.iter().map(short).collect();
        writeln!(out, "  {DIM}draw: {draw} ({}){DIM:#}", hashes.join(", "))?;
    }
    if let Some(hint) = &scores.hint {
        writeln!(out, "  {RED}hint:{RED:#} {hint}")?;
    }
    Ok(())
}

/// The training inputs nearest to an input.
fn write_neighbours(neighbours: &Neighbours, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "\n{BOLD}nearest to {}{BOLD:#}  {DIM}training inputs by the decoder's last state{DIM:#}",
        neighbours.input
    )?;
    let row = |near: &Neighbour| vec![truncate(&near.input, 60), format!("{:.2}", near.cosine)];
    write!(out, "{}", table(&["input", "cosine"], &[1], neighbours.nearest.iter().map(row).collect()))
}

/// How answers ended that came over a network, with both bounds of the accuracy, and scores of several samples.
fn show_states(out: &mut impl Write, part: &PartScores) -> io::Result<()> {
    if let Some(states) = &part.states {
        let counts = states.counts.iter().map(|(state, count)| format!("{state} {}", thousands(*count)));
        writeln!(out, "{DIM}{}: {}{DIM:#}", part.part, counts.collect::<Vec<_>>().join(" · "))?;
        if states.unanswered() > 0 {
            let least = 100.0 * part.tally.accuracy().unwrap_or_default();
            writeln!(
                out,
                "{} of {} unanswered: accuracy is {BOLD}{least:.1}%{BOLD:#} if all of these are wrong, \
                 {BOLD}{:.1}%{BOLD:#} if all are right",
                thousands(states.unanswered()),
                thousands(part.tally.n),
                100.0 * states.accuracy_at_most
            )?;
        }
    }
    if let Some(samples) = &part.samples {
        writeln!(
            out,
            "{DIM}the accuracy above is of the majority vote of {} samples{DIM:#}",
            samples.samples
        )?;
        for pass in &samples.pass {
            let (low, high) = pass.interval;
            writeln!(
                out,
                "  pass@{}: {BOLD}{:.1}%{BOLD:#} ({:.1} to {:.1})",
                pass.k,
                100.0 * pass.mean,
                100.0 * low,
                100.0 * high
            )?;
        }
    }
    Ok(())
}

fn show_importance(out: &mut impl Write, part: &PartScores) -> std::io::Result<()> {
    let found: Vec<(&str, &Importance)> = part
        .slices
        .iter()
        .filter_map(|slice| slice.importance.as_ref().map(|importance| (slice.slice.as_str(), importance)))
        .collect();
    let Some((_, first)) = found.first() else { return Ok(()) };
    writeln!(out, "\n{BOLD}{}: what decides whether an answer is right{BOLD:#}", part.part)?;
    let mut header = vec!["subset", "n", "fit"];
    header.extend(first.shares.iter().map(|share| share.fact.as_str()));
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
        writeln!(out, "  input      {}", truncate(&example.input.to_string(), LINE))?;
        writeln!(out, "  target     {GREEN}{}{GREEN:#}", truncate(&example.target.to_string(), LINE))?;
        writeln!(out, "  prediction {RED}{}{RED:#}", truncate(text, LINE))?;
        listed += 1;
    }
    Ok(listed)
}
