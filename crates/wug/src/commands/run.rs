use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use wug_data::{Dataset, Error, Result};
use wug_learn::{Answer, Answering, Progress};
use wug_run::{Existing, Options, Prepared, RunRecord, RunSpec, Scored, SeedScores, SeedSummary};

use crate::args::Run;
use crate::output::{BOLD, DIM, Done, GREEN, RED, json, out, shorten, table};
use crate::scores::{show_errors, write_scores};
use crate::signals::{INTERRUPTED, stop_with_checkpoint};

pub(crate) fn run(args: &Run) -> Done {
    let spec = spec(args)?;
    if let Some(seeds) = args.seeds {
        return run_seeds(args, spec, seeds);
    }
    let prepared = Prepared::new(spec)?;
    let bar = progress(args.quiet);
    let tell = |progress| tell(&bar, progress);
    let answering = |answering: Answering<'_>| tell_answering(&bar, args.quiet, answering);
    let options = options(args, args.resume.clone().or_else(|| args.out.clone()), &tell, &answering);
    if options.folder.is_some() && prepared.keeps_checkpoints() {
        stop_with_checkpoint();
    }
    let run = prepared.execute(&options)?;
    bar.finish_and_clear();
    if args.json {
        return json(&run.scores);
    }
    let (mut out, dataset) = (out(), &prepared.dataset);
    for (scored, answers) in run.scored.iter().zip(&run.answers) {
        explain(&mut out, dataset, scored, answers, args.explain)?;
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
        let bar = progress(args.quiet);
        bar.set_prefix(format!("seed {seed} "));
        let tell = |progress| tell(&bar, progress);
        let answering = |answering: Answering<'_>| tell_answering(&bar, args.quiet, answering);
        let folder = args.out.as_ref().map(|out| out.join(format!("seed-{seed}")));
        if folder.is_some() && prepared.keeps_checkpoints() {
            stop_with_checkpoint();
        }
        runs.push(prepared.execute(&options(args, folder, &tell, &answering))?.scores);
        bar.finish_and_clear();
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
    writeln!(out, "{DIM}sure: {right} of {all} right; unsure: {unsure_right} of {unsure_all} right{DIM:#}")
}

/// Shows the first answers and how they came about.
fn explain(
    out: &mut impl Write,
    dataset: &Dataset,
    scored: &Scored<'_>,
    answers: &[Answer],
    most: usize,
) -> io::Result<()> {
    const LINE: usize = 600;
    for (((id, row), verdict), answer) in
        scored.selection().examples().zip(scored.verdicts()).zip(answers).take(most)
    {
        let example = dataset.table.example(row);
        writeln!(out, "{DIM}{id}{DIM:#}  {}", shorten(&example.input.to_string(), LINE))?;
        let text = shorten(answer.text.as_deref().unwrap_or("no answer"), LINE);
        if verdict.correct {
            writeln!(out, "  {GREEN}{text}{GREEN:#}")?;
        } else {
            let target = shorten(&example.target.to_string(), LINE);
            writeln!(out, "  {RED}{text}{RED:#}, not {target}")?;
        }
        if let Some(explanation) = &answer.explanation {
            writeln!(out, "  {}", shorten(explanation, LINE))?;
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

/// The bar of a learner that says how far it is; nothing is drawn before it does.
fn progress(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let style = ProgressStyle::with_template("{prefix}{bar:30} {pos}/{len} {msg} {eta} left")
        .expect("a valid template");
    ProgressBar::with_draw_target(None, target).with_style(style)
}

fn tell(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.of);
    let Progress { loss, accuracy, images, .. } = progress;
    let seen = if images > 0.0 { format!(" {images:.0} images/s") } else { String::new() };
    bar.set_message(format!("loss {loss:.4} training accuracy {:.1}%{seen}", 100.0 * accuracy));
    bar.set_position(progress.done);
}

/// Progress of a model that takes long to answer; notes go to standard error.
fn tell_answering(bar: &ProgressBar, quiet: bool, answering: Answering<'_>) {
    match answering {
        Answering::Note(_) if quiet || !io::stderr().is_terminal() => {}
        Answering::Note(text) => bar.suspend(|| anstream::eprintln!("{DIM}{text}{DIM:#}")),
        Answering::Progress { done, of, message } => {
            bar.set_length(of as u64);
            bar.set_message(message.to_owned());
            bar.set_position(done as u64);
        }
    }
}
