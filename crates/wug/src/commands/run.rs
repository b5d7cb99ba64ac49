use std::fs;
use std::io::{self, Write};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use wug_bench::Address;
use wug_data::{Dataset, Error, Fact, FileEntry, Folder, Manifest, PartSize, Result, Selection};
use wug_learn::{Answer, Learner, Progress, Settings, Task, learner, questions};
use wug_report::Scored;

use crate::args::Run;
use crate::neighbours;
use crate::output::{DIM, Done, GREEN, RED, json, out, shorten};
use crate::scores::{Report, show_errors};

pub(crate) fn run(args: &Run) -> Done {
    work(args, true)
}

/// The same without a word on standard output: what came out is in the folder.
pub(crate) fn quietly(args: &Run) -> Done {
    work(args, false)
}

fn work(args: &Run, shows: bool) -> Done {
    let address: Address = args.dataset.parse()?;
    let learner = learner(&args.learner)?;
    let device = args.device.iter().map(|device| format!("device={device}"));
    let given: Vec<String> = args.settings.iter().cloned().chain(device).collect();
    let settings = Settings::read(learner.about(), &given)?;
    check_benchmark(learner, &address)?;
    let metric = args.metric.as_deref().unwrap_or(address.benchmark.metrics()[0].name);
    let judge = address.benchmark.judge(metric)?;
    // Models are chosen by the benchmark's own metric, whatever the answers are judged by in the end.
    let own = address.benchmark.judge(address.benchmark.metrics()[0].name)?;
    let dataset =
        address.benchmark.make_with(&address.dataset, &args.data.source()?, &args.data.settings()?)?;
    let facts: Vec<&Fact> =
        args.by.iter().map(|fact| dataset.table.facts.column(fact)).collect::<Result<_>>()?;
    let selections = selections(args, &address, &dataset)?;
    let asked = neighbours::find(&dataset, learner, &args.neighbours)?;

    let mut task = Task::new(&dataset, settings, args.learner_seed);
    if args.trained.is_some() && learner.keeps().is_empty() {
        let name = learner.about().name;
        return Err(Error::usage(format!("{name} keeps no checkpoints: it has to learn again")).into());
    }
    task.trained.clone_from(&args.trained);
    task.judge = Some(own.as_ref());
    start_folder(args, learner, &address, &mut task, &selections)?;
    let bar = progress(args.quiet);
    let tell = |progress: Progress| tell(&bar, progress);
    task.progress = &tell;
    let model = learner.learn(&task)?;
    bar.finish_and_clear();
    let answers: Vec<Vec<Answer>> =
        selections.iter().map(|selection| model.answers(&questions(&dataset, selection))).collect();
    let texts: Vec<Vec<&str>> = answers
        .iter()
        .map(|answers| answers.iter().map(|answer| answer.text.as_deref().unwrap_or_default()).collect())
        .collect();
    let scored: Vec<Scored<'_>> = selections
        .iter()
        .zip(&texts)
        .map(|(selection, texts)| wug_report::score(&dataset, selection, texts, judge.as_ref()))
        .collect();
    let mut report = Report::new(address.benchmark, &dataset, metric, &scored, &facts, args.importance)?;
    report.learner = Some(learner.about().name);
    report.learned = model.size();
    if !asked.is_empty() {
        report.neighbours = neighbours::nearest(&dataset, model.as_ref(), &asked)?;
    }

    if let Some(place) = args.resume.as_ref().or(args.out.as_ref()) {
        let folder = Folder::create(place)?;
        let mut files = vec![
            folder.file("run.json", |out| write_description(args, &task, &selections, out))?,
            folder.file("scores.json", |out| document(&report, out))?,
            folder.file("predictions.jsonl", |out| write_predictions(&selections, &answers, out))?,
        ];
        for (name, text) in model.files() {
            files.push(folder.file(name, |out| out.write_all(text.as_bytes()))?);
        }
        for name in learner.keeps() {
            let path = place.join(name);
            let bytes = fs::read(&path).map_err(Error::io(&path))?;
            files.push(folder.file(name, |out| out.write_all(&bytes))?);
        }
        folder.finish(&manifest(args, &address, &task, &selections, true, files)?)?;
    }
    if !shows {
        return Ok(());
    }
    if args.json {
        return json(&report);
    }
    let mut out = out();
    for (scored, answers) in scored.iter().zip(&answers) {
        explain(&mut out, &dataset, scored, answers, args.explain)?;
    }
    report.write(address.benchmark, &mut out)?;
    for ((scored, answers), texts) in scored.iter().zip(&answers).zip(&texts) {
        let abstained = answers.iter().filter(|answer| answer.text.is_none()).count();
        if abstained > 0 {
            writeln!(out, "{DIM}no answer to {abstained} of {}, counted as wrong{DIM:#}", answers.len())?;
        }
        show_unsure(&mut out, scored, answers)?;
        show_errors(&mut out, &dataset, scored, texts, args.errors)?;
    }
    out.flush()?;
    Ok(())
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

fn check_benchmark(learner: &dyn Learner, address: &Address) -> Result<()> {
    let about = learner.about();
    if about.benchmarks.is_empty() || about.benchmarks.contains(&address.benchmark.about().name) {
        return Ok(());
    }
    Err(Error::usage(format!("{} is for {}, not for {address}", about.name, about.benchmarks.join(" and "))))
}

/// The parts that were asked for, or the benchmark's own, or the only one there is.
fn selections<'a>(args: &Run, address: &Address, dataset: &'a Dataset) -> Result<Vec<Selection<'a>>> {
    let default = address.benchmark.default_part(&address.dataset);
    let parts = match &address.part {
        Some(parts) => parts,
        None if dataset.part(default).is_some() => default,
        None => &dataset.parts[0].name,
    };
    parts.split(',').map(|part| Ok(dataset.select(part)?.limited(args.limit))).collect()
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

/// Prepares the folder of a run that will keep checkpoints in it: it must be known as ours before it is complete.
fn start_folder(
    args: &Run,
    learner: &dyn Learner,
    address: &Address,
    task: &mut Task<'_>,
    selections: &[Selection<'_>],
) -> Result<()> {
    if let Some(limit) = args.time_limit {
        if learner.keeps().is_empty() {
            let name = learner.about().name;
            return Err(Error::usage(format!("{name} keeps no checkpoints: leave out --time-limit")));
        }
        if args.out.is_none() && args.resume.is_none() {
            return Err(Error::usage("--time-limit needs --out, the folder to go on from"));
        }
        task.deadline = Instant::now().checked_add(limit);
    }
    if let Some(place) = &args.resume {
        let manifest = Manifest::read(place)?;
        if manifest.is_none_or(|manifest| manifest.format != "run") {
            return Err(Error::usage(format!("{}: there is no run to resume", place.display())));
        }
        if learner.keeps().is_empty() {
            let name = learner.about().name;
            return Err(Error::usage(format!("{name} keeps no checkpoints: run it again with --out")));
        }
        (task.folder, task.resume) = (Some(place.clone()), true);
    } else if let (Some(place), false) = (&args.out, learner.keeps().is_empty()) {
        let folder = Folder::create(place)?;
        let file = folder.file("run.json", |out| write_description(args, task, selections, out))?;
        folder.finish(&manifest(args, address, task, selections, false, vec![file])?)?;
        task.folder = Some(place.clone());
    }
    Ok(())
}

/// The bar of a learner that says how far it is; nothing is drawn before it does.
fn progress(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let style =
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {eta} left").expect("a valid template");
    ProgressBar::with_draw_target(None, target).with_style(style)
}

fn tell(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.of);
    bar.set_message(format!("loss {:.4} accuracy {:.1}%", progress.loss, 100.0 * progress.accuracy));
    bar.set_position(progress.done);
}

/// Writes one JSON document.
fn document(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// Writes what is run.
fn write_description(
    args: &Run,
    task: &Task<'_>,
    selections: &[Selection<'_>],
    out: &mut impl Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Description<'a> {
        schema: u32,
        wug: &'static str,
        dataset: &'a str,
        part: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        seed: Option<serde_json::Value>,
        learner: &'a str,
        learner_seed: u64,
        settings: &'a std::collections::BTreeMap<&'static str, serde_json::Value>,
    }
    let names: Vec<&str> = selections.iter().map(|selection| selection.name.as_str()).collect();
    let description = Description {
        schema: 1,
        wug: env!("CARGO_PKG_VERSION"),
        dataset: task.dataset(),
        part: &names.join(","),
        seed: args.data.recorded_seed(),
        learner: &args.learner,
        learner_seed: args.learner_seed,
        settings: task.settings.values(),
    };
    document(&description, out)
}

fn manifest(
    args: &Run,
    address: &Address,
    task: &Task<'_>,
    selections: &[Selection<'_>],
    is_done: bool,
    files: Vec<FileEntry>,
) -> Result<Manifest> {
    let size = |selection: &Selection<'_>| PartSize {
        part: selection.name.clone(),
        rows: if is_done { selection.positions.len() } else { 0 },
    };
    Ok(Manifest {
        schema: 1,
        wug: env!("CARGO_PKG_VERSION").to_owned(),
        dataset: task.dataset().to_owned(),
        format: "run".to_owned(),
        seed: args.data.recorded_seed(),
        settings: args.data.settings()?.typed(),
        parts: selections.iter().map(size).collect(),
        licence: address.benchmark.about().licence.to_owned(),
        files,
    })
}

/// A line for every answer, in a form that `wug score` reads.
fn write_predictions(
    selections: &[Selection<'_>],
    answers: &[Vec<Answer>],
    out: &mut impl Write,
) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: String,
        prediction: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        abstains: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        probability: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        explanation: Option<&'a str>,
        #[serde(flatten)]
        notes: &'a serde_json::Map<String, serde_json::Value>,
    }
    let ids = selections.iter().flat_map(|selection| selection.examples().map(|(id, _)| id));
    for (id, answer) in ids.zip(answers.iter().flatten()) {
        let line = Line {
            id,
            prediction: answer.text.as_deref().unwrap_or_default(),
            abstains: answer.text.is_none(),
            probability: answer.probability,
            explanation: answer.explanation.as_deref(),
            notes: &answer.notes,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
