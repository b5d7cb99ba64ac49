use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use wug_data::{Dataset, Error, Result, write_file};
use wug_learn::{Answer, Answering, Progress};
use wug_report::embedding_map;
use wug_run::{Existing, Options, Prepared, RunRecord, RunSpec, Scored, SeedScores, SeedSummary};

use crate::args::Run;
use crate::output::{BOLD, DIM, Done, GREEN, RED, json, out, table};
use crate::progress::RunProgress;
use crate::scores::{show_errors, write_scores};
use crate::signals::{INTERRUPTED, stop_with_checkpoint};
use wug_data::truncate;

pub(crate) fn run(args: &Run) -> Done {
    let spec = spec(args)?;
    if let Some(seeds) = args.seeds {
        return run_seeds(args, spec, seeds);
    }
    let prepared = Prepared::new(spec)?;
    check_ids(&prepared, &args.explain)?;
    let (begun, progress) = (Instant::now(), RunProgress::new(args.quiet, String::new()));
    let training = |done| progress.training(done);
    let answering = |answering: Answering<'_>| progress.answering(answering);
    let options = options(args, args.resume.clone().or_else(|| args.out.clone()), &training, &answering);
    if options.folder.is_some() && prepared.keeps_checkpoints() {
        stop_with_checkpoint();
    }
    let run = prepared.execute(&options)?;
    progress.finish(run.training.as_ref(), begun.elapsed(), options.folder.as_deref());
    if let Some(path) = &args.embedding_map {
        let title = format!("{} of {} on symbols (t-SNE)", prepared.spec.learner, prepared.spec.dataset);
        let svg = embedding_map(&title, &run.symbol_vectors).unwrap_or_default();
        write_file(path, |out| out.write_all(svg.as_bytes()))?;
    }
    if args.json {
        return json(&run.scores);
    }
    let (mut out, dataset) = (out(), &prepared.dataset);
    for (scored, answers) in run.scored.iter().zip(&run.answers) {
        explain(&mut out, dataset, scored, answers, &args.explain, args.explain_first)?;
    }
    write_scores(&run.scores, &*prepared.address.benchmark, &mut out)?;
    for (scored, answers) in run.scored.iter().zip(&run.answers) {
        let abstained = answers.iter().filter(|answer| answer.text.is_none()).count();
        // Scores say more of answers that have states.
        if abstained > 0 && !answers.iter().any(|answer| answer.notes.contains_key("state")) {
            writeln!(out, "{DIM}no answer to {abstained} of {}, counted as wrong{DIM:#}", answers.len())?;
        }
        show_unsure(&mut out, scored, answers)?;
        let texts: Vec<&str> =
            answers.iter().map(|answer| answer.text.as_deref().unwrap_or_default()).collect();
        show_errors(&mut out, dataset, scored, &texts, args.errors)?;
    }
    out.flush()?;
    Ok(())
}

/// How it is to be executed.
fn options<'a>(
    args: &Run,
    folder: Option<PathBuf>,
    progress: &'a (dyn Fn(Progress) + Sync),
    answering: &'a (dyn Fn(Answering<'_>) + Sync),
) -> Options<'a> {
    Options {
        folder,
        existing: match (&args.resume, args.force) {
            (Some(_), _) => Existing::Resume,
            (None, true) => Existing::Replace,
            (None, false) => Existing::Refuse,
        },
        trained: args.trained.clone(),
        init: args.init_checkpoint.clone(),
        symbol_vectors: args.embedding_map.is_some(),
        time_limit: args.time_limit,
        interrupted: &INTERRUPTED,
        progress,
        answering,
    }
}

/// The same run with several seeds of the learner, in folders `seed-N` below `--out`.
fn run_seeds(args: &Run, mut spec: RunSpec, seeds: usize) -> Done {
    let mut runs = Vec::new();
    for seed in (args.learner_seed..).take(seeds) {
        spec.learner_seed = seed;
        let prepared = Prepared::new(spec.clone())?;
        let (begun, progress) = (Instant::now(), RunProgress::new(args.quiet, format!("seed {seed} ")));
        let training = |done| progress.training(done);
        let answering = |answering: Answering<'_>| progress.answering(answering);
        let folder = args.out.as_ref().map(|out| out.join(format!("seed-{seed}")));
        if folder.is_some() && prepared.keeps_checkpoints() {
            stop_with_checkpoint();
        }
        let options = options(args, folder, &training, &answering);
        let run = prepared.execute(&options)?;
        progress.finish(run.training.as_ref(), begun.elapsed(), options.folder.as_deref());
        runs.push(run.scores);
    }
    let scores = SeedScores::new(runs);
    if args.json {
        return json(&scores);
    }
    let mut out = out();
    let name = &scores.runs[0];
    writeln!(out, "{BOLD}{} {}{BOLD:#}  {DIM}{seeds} seeds{DIM:#}", name.dataset, spec.learner)?;
    let percent = |share: f64| format!("{:.2}", 100.0 * share);
    let row = |part: &SeedSummary| {
        let each: Vec<String> = part.accuracies.iter().map(|&accuracy| percent(accuracy)).collect();
        let interval = format!("{} to {}", percent(part.interval.0), percent(part.interval.1));
        vec![part.part.clone(), percent(part.mean), percent(part.std), interval, each.join(" ")]
    };
    let header = ["part", "mean", "std", "95% interval", "each seed"];
    write!(out, "{}", table(&header, &[1, 2], scores.parts.iter().map(row).collect()))?;
    writeln!(out, "{DIM}percent; the interval is that of the mean over seeds (Student's t){DIM:#}")?;
    out.flush()?;
    Ok(())
}

/// What is to be run: what the options say or, with `--resume` alone, what the folder says.
fn spec(args: &Run) -> Result<RunSpec> {
    let (Some(dataset), Some(learner)) = (&args.dataset, &args.learner) else {
        let none = || Error::usage("name a dataset and a --learner, or a run to --resume");
        let folder = args.resume.as_ref().ok_or_else(none)?;
        let record = RunRecord::read(folder)?;
        let none = || Error::usage(format!("{}: there is no run to resume", folder.display()));
        let mut spec = record.ok_or_else(none)?.spec;
        spec.set_execution(&args.settings)?;
        return Ok(spec);
    };
    let mut spec = RunSpec::new(dataset, learner)?;
    if let Some(folder) = &args.init_checkpoint {
        let none = || Error::usage(format!("{}: there is no run to fine-tune", folder.display()));
        spec.fine_tune(RunRecord::read(folder)?.ok_or_else(none)?.spec)?;
    }
    let device = args.device.iter().map(|device| format!("device={device}"));
    let given: Vec<String> = args.settings.iter().cloned().chain(device).collect();
    spec.set(&given)?;
    if let Some(metric) = &args.metric {
        spec.judge_by(metric)?;
    }
    spec.source = args.data.source()?;
    spec.with = args.data.settings()?.to_map();
    spec.limit = args.limit;
    spec.reads = args.reads.map(Into::into);
    spec.learner_seed = args.learner_seed;
    spec.by.clone_from(&args.by);
    spec.importance = args.importance;
    spec.neighbours.clone_from(&args.neighbours);
    Ok(spec)
}

/// How right the answers were that the learner was sure of, and the others, if it said which.
fn show_unsure(out: &mut impl Write, scored: &Scored<'_>, answers: &[Answer]) -> io::Result<()> {
    let is_unsure = |answer: &Answer| answer.notes.get("unsure").is_some_and(|unsure| unsure == true);
    if !answers.iter().any(is_unsure) {
        return Ok(());
    }
    let share = |unsure: bool| {
        let judged = scored.verdicts().iter().zip(answers);
        let of = judged.filter(|(_, answer)| answer.text.is_some() && is_unsure(answer) == unsure);
        of.fold((0, 0), |(right, all), (verdict, _)| (right + usize::from(verdict.correct), all + 1))
    };
    let ((right, all), (unsure_right, unsure_all)) = (share(false), share(true));
    writeln!(out, "{DIM}sure: {right} of {all} right; unsure: {unsure_right} of {unsure_all} right{DIM:#}")?;
    writeln!(
        out,
        "{DIM}unsure: the derivation has a word that training never showed, or one where training never had it{DIM:#}"
    )
}

/// Refuses the id of an example that will not be answered, before any work is done.
fn check_ids(prepared: &Prepared, ids: &[String]) -> Result<()> {
    let known: HashSet<String> = match ids {
        [] => return Ok(()),
        _ => prepared.selections()?.iter().flat_map(|part| part.examples().map(|(id, _)| id)).collect(),
    };
    match ids.iter().find(|&id| !known.contains(id)) {
        Some(id) => {
            Err(Error::usage(format!("--explain: `{id}` is not the id of an example that is answered")))
        }
        None => Ok(()),
    }
}

/// Shows the first answers and those with the given ids, and how they came about.
fn explain(
    out: &mut impl Write,
    dataset: &Dataset,
    scored: &Scored<'_>,
    answers: &[Answer],
    ids: &[String],
    first: usize,
) -> io::Result<()> {
    const LINE: usize = 600;
    let all = scored.selection().examples().zip(scored.verdicts()).zip(answers).enumerate();
    let asked = all.filter(|(i, (((id, _), _), _))| *i < first || ids.contains(id));
    for (_, (((id, row), verdict), answer)) in asked {
        let example = dataset.table.example(row);
        writeln!(out, "{DIM}{id}{DIM:#}  {}", truncate(&example.input.to_string(), LINE))?;
        let text = truncate(answer.text.as_deref().unwrap_or("no answer"), LINE);
        if verdict.correct {
            writeln!(out, "  {GREEN}{text}{GREEN:#}")?;
        } else {
            let target = truncate(&example.target.to_string(), LINE);
            writeln!(out, "  {RED}{text}{RED:#}, not {target}")?;
        }
        for line in answer.explanation.iter().flat_map(|explanation| explanation.lines()) {
            writeln!(out, "  {}", truncate(line, LINE))?;
        }
        let probability = answer.probability.map(|probability| format!("probability {probability:.4}"));
        let note = |(name, value): (&String, &serde_json::Value)| match value.as_str() {
            Some(text) => format!("{} {text}", name.replace('_', " ")),
            None => format!("{} {value}", name.replace('_', " ")),
        };
        let notes: Vec<String> = probability.into_iter().chain(answer.notes.iter().map(note)).collect();
        if !notes.is_empty() {
            writeln!(out, "  {DIM}{}{DIM:#}", notes.join(" · "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
