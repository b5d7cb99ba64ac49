//! The training loop: batches, updates, validation, early stopping, checkpoints.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use wug_data::{Error, Result, Streams};
use wug_nn::{Buffer, Engine, Layout, Lesson, Optimiser, Query, Step};

use super::Built;
use super::checkpoint::{Best, Checkpoint, Owner, Totals};
use super::examples::{BatchSources, Examples, Sources};
use super::feed::{Batch, Feed};
use super::fine_tune::Initial;
use super::metrics::{Metrics, Point};
use super::plan::Plan;
use super::preprocess::Preprocess;
use super::vocabulary::Vocabulary;
use crate::{BestValidation, EXECUTION_SETTINGS, Progress, StopReason, Task, Training};

/// Updates between two lines of metrics.
const REPORT: u64 = 100;

/// Time between two writings of the metrics where there is no checkpoint.
const WATCHED: Duration = Duration::from_secs(5);

/// Time between two tellings of progress, where updates take long.
const TOLD: Duration = Duration::from_secs(1);

/// Trains a model: the whole loop, from the first parameters to the last.
///
/// Every random choice of an update comes from the stream of its number, so an update depends on the parameters before it
/// and on nothing else, and training can go on from any checkpoint.
pub(super) fn train(
    learner: &str,
    task: &Task<'_>,
    plan: &Plan,
    examples: &Examples<'_>,
    vocabulary: &Vocabulary,
    (built, initial): (Built, Option<&Initial>),
) -> Result<(Engine<f32>, Buffer<f32>, Training)> {
    let layout = built.network.layout().clone();
    let streams = |what: &str| Streams::new(&format!("{learner}/{what}"), task.dataset(), task.seed);
    let mut first = streams("parameters").item(0);
    let mut now = Checkpoint {
        step: 0,
        values: layout.draw(|| first.unit()),
        optimiser: Optimiser::new(plan.rule, layout.len()),
        best: None,
        metrics: Metrics::default(),
        since: Totals::default(),
    };
    let defaults = task.settings.defaults().clone();
    let owner = Owner {
        identity: identity(learner, task, &examples.fingerprint(vocabulary)),
        defaults,
        config: built.config,
    };
    if let (Some(folder), true) = (&task.folder, task.resume) {
        if let Some(kept) = Checkpoint::read(folder, &owner, &layout, plan.rule)? {
            now = kept;
        } else {
            now.begin_from(initial, (learner, task.folder.as_deref()), &owner, &layout)?;
        }
    } else if let Some(folder) = &task.trained {
        let none = || Error::usage(format!("{}: there is no checkpoint", folder.display()));
        now = Checkpoint::read(folder, &owner, &layout, plan.rule)?.ok_or_else(none)?;
    } else {
        now.begin_from(initial, (learner, task.folder.as_deref()), &owner, &layout)?;
    }

    let mut engine = Engine::on(plan.device, built.network, plan.isa).map_err(Error::usage)?;
    let mut feed = Feed::new(plan, examples, streams("order"), streams("update"));
    let (mut written, mut told) = (Instant::now(), Instant::now());
    let mut seen = Seen::begin();
    let mut ahead = None;
    while now.step < plan.steps && !is_over(plan, now.best.as_ref()) {
        let number = now.step / plan.steps_of_round;
        let Batch { examples: batch, sources, forced, mut stream } =
            ahead.take().unwrap_or_else(|| feed.batch(now.step));
        let lesson = |(row, &i): (usize, &usize)| {
            let forced = forced.unwrap_or_else(|| stream.coin(plan.teacher));
            Lesson { source: sources.get(row), target: examples.target(i), forced }
        };
        let lessons: Vec<Lesson<'_>> = batch.iter().enumerate().map(lesson).collect();
        let words_in_batch: usize = lessons.iter().map(|lesson| lesson.target.len()).sum();
        let share = if plan.per_word { words_in_batch } else { lessons.len() };
        let step =
            Step { factor: 1.0 / share as f64, key: Some(stream.below(u64::MAX)), smoothing: plan.smoothing };

        let (rate, next) = (plan.schedule.at(now.step), now.step + 1);
        let mut learn = || {
            let (outcome, gradients) = engine.learn(&now.values, &lessons, step);
            let norm =
                now.optimiser.step(plan.isa, &mut now.values, gradients, rate, plan.clip, plan.weight_decay);
            engine.update_running(&mut now.values);
            (outcome, norm)
        };
        // Images of the next batch are rendered where a thread would wait for others.
        let (outcome, norm);
        if examples.preprocess().is_some() && next < plan.steps {
            let render = || feed.batch(next);
            let next_batch;
            ((outcome, norm), next_batch) = rayon::join(learn, render);
            ahead = Some(next_batch);
        } else {
            (outcome, norm) = learn();
        }
        seen.add(&sources);
        if !outcome.loss.is_finite() || !norm.is_finite() {
            return Err(lost(now.step, task));
        }
        now.step += 1;
        now.since.add(outcome.loss, outcome.words, outcome.right, lessons.len());

        let ends = now.step == plan.steps;
        let mut validation = None;
        if plan.validate > 0 && (now.step.is_multiple_of(plan.validate) || ends) {
            validation = validate(&mut engine, task, plan, (examples.preprocess(), vocabulary), &mut now)?;
        }
        let ends = ends || is_over(plan, now.best.as_ref());
        let reports = now.step.is_multiple_of(REPORT) || validation.is_some() || ends;
        if reports || told.elapsed() >= TOLD {
            let (loss, accuracy) = now.since.means();
            let best = now.best.as_ref().map(|best| best.accuracy);
            let (images, rendering) = (seen.images_per_second(), seen.rendering());
            let (done, of) = (now.step, plan.steps);
            (task.progress)(Progress { done, of, loss, accuracy, best, images, rendering, search: None });
            told = Instant::now();
        }
        if reports {
            let ((loss, accuracy), best) = (now.since.means(), now.best.as_ref());
            let point = Point { step: now.step, epoch: number, loss, accuracy, rate, validation, best };
            now.metrics.push(&point);
            now.since = Totals::default();
        }
        let Some(folder) = &task.folder else { continue };
        let is_late = !ends && task.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let is_stopped = is_late || (!ends && task.interrupted.load(Ordering::Relaxed));
        if is_stopped || now.step.is_multiple_of(plan.checkpoint) {
            now.write(folder, &owner, &layout)?;
            written = Instant::now();
        } else if now.step.is_multiple_of(REPORT) && written.elapsed() >= WATCHED {
            now.metrics.write(folder)?;
            written = Instant::now();
        }
        if is_stopped {
            return Err(stopped(if is_late { "the time is up" } else { "interrupted" }, &now, plan, folder));
        }
    }
    if let Some(folder) = &task.folder {
        now.write(folder, &owner, &layout)?;
    }
    let training = summary(plan, &now, seen.rendering());
    let values = now.best.filter(|_| plan.keep_best).map_or(now.values, |best| best.values);
    Ok((engine, values, training))
}

/// Images that were read, and the time it took to render them.
struct Seen {
    begun: Instant,
    images: usize,
    /// Of all threads together.
    rendering: Duration,
}

impl Seen {
    fn begin() -> Self {
        Self { begun: Instant::now(), images: 0, rendering: Duration::ZERO }
    }

    fn add(&mut self, sources: &BatchSources<'_>) {
        self.images += sources.images();
        self.rendering += sources.rendering();
    }

    fn images_per_second(&self) -> f64 {
        self.images as f64 / self.begun.elapsed().as_secs_f64()
    }

    /// The share of the time of all threads that rendering took.
    fn rendering(&self) -> f64 {
        let threads = rayon::current_num_threads() as f64;
        self.rendering.as_secs_f64() / (self.begun.elapsed().as_secs_f64() * threads)
    }
}

impl Checkpoint {
    /// Begins from a trained model where there is one. What it begins with is kept: who resumes need not have the model.
    fn begin_from(
        &mut self,
        initial: Option<&Initial>,
        (learner, folder): (&str, Option<&Path>),
        owner: &Owner,
        layout: &Layout,
    ) -> Result<()> {
        let Some(initial) = initial else { return Ok(()) };
        let drawn = std::mem::take(&mut self.values);
        self.values = initial.values(learner, &owner.config, layout, drawn)?;
        folder.map_or(Ok(()), |folder| self.write(folder, owner, layout))
    }
}

/// Whether validation has not become better for too long, or cannot: the first of equally good models is kept.
fn is_over(plan: &Plan, best: Option<&Best>) -> bool {
    best.is_some_and(|best| {
        (plan.patience > 0 && best.stale >= plan.patience) || (plan.keep_best && best.accuracy == 1.0)
    })
}

/// How training went.
fn summary(plan: &Plan, now: &Checkpoint, rendering: f64) -> Training {
    let stopped = match &now.best {
        Some(best) if plan.keep_best && best.accuracy == 1.0 => StopReason::Perfect,
        Some(best) if plan.patience > 0 && best.stale >= plan.patience => StopReason::Patience,
        _ => StopReason::Steps,
    };
    let best = now.best.as_ref().map(|best| BestValidation { update: best.step, accuracy: best.accuracy });
    let rendering = Some(rendering).filter(|&share| share > 0.0);
    Training { updates: now.step, of: plan.steps, best, stopped, rendering }
}

/// Answers the validation part, and keeps the parameters if they are the best. Returns the accuracy, if there is such a part.
fn validate(
    engine: &mut Engine<f32>,
    task: &Task<'_>,
    plan: &Plan,
    (preprocess, vocabulary): (Option<Preprocess>, &Vocabulary),
    now: &mut Checkpoint,
) -> Result<Option<f64>> {
    let Some(validation) = task.validation() else { return Ok(None) };
    let questions = validation.questions();
    let sources = Sources::of(&questions, preprocess, vocabulary)?;
    let mut answers = Vec::with_capacity(questions.len());
    for (piece, sources) in sources.pieces() {
        let query = |i: usize| Query { source: sources.get(i), length: None };
        let queries: Vec<Query<'_>> = (0..piece.len()).map(query).collect();
        answers.extend(engine.answer(&now.values, &queries, plan.longest));
    }
    let is_right = |(i, answer): (usize, &Option<Vec<u32>>)| {
        answer.as_ref().is_some_and(|ids| validation.is_correct(i, &vocabulary.decode(ids)))
    };
    let right = answers.par_iter().enumerate().filter(|&answer| is_right(answer));
    let accuracy = right.count() as f64 / answers.len().max(1) as f64;
    match &mut now.best {
        Some(best) if accuracy <= best.accuracy => best.stale += 1,
        best => *best = Some(Best { accuracy, step: now.step, stale: 0, values: now.values.clone() }),
    }
    Ok(Some(accuracy))
}

/// The error of a loss that is no number.
fn lost(step: u64, task: &Task<'_>) -> Error {
    let kept = match &task.folder {
        Some(folder) => format!("; {} keeps the last checkpoint", folder.display()),
        None => String::new(),
    };
    Error::failed(format!(
        "the loss is no longer a number after update {step}: try a smaller rate, or clip gradients{kept}"
    ))
}

/// The error of a run that was stopped with a checkpoint.
fn stopped(why: &str, now: &Checkpoint, plan: &Plan, folder: &Path) -> Error {
    let (step, of, folder) = (now.step, plan.steps, folder.display());
    Error::unfinished(format!("{why} after update {step} of {of}; resume with --resume {folder}"))
}

/// What a checkpoint must agree with: everything that training depends on.
fn identity(learner: &str, task: &Task<'_>, examples: &str) -> serde_json::Value {
    // What answers are told does not matter, the examples say which share they are, and how long training goes on is free
    // to change where nothing before depends on it.
    let depends_on_steps =
        task.settings.word("schedule") == "linear" || task.settings.number("warmup-share") > 0.0;
    let mut free = [EXECUTION_SETTINGS, &["oracle-length", "share"]].concat();
    if !depends_on_steps {
        free.extend(["steps", "epochs"]);
    }
    let settings: serde_json::Map<String, serde_json::Value> = task
        .settings
        .values()
        .iter()
        .filter(|(name, _)| !free.contains(name))
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    serde_json::json!({
        "learner": learner,
        "dataset": task.dataset(),
        "examples": examples,
        "learner-seed": task.seed,
        "settings": settings,
    })
}

impl Totals {
    fn add(&mut self, loss: f64, words: usize, right: usize, examples: usize) {
        self.loss += loss;
        self.words += words as u64;
        self.right += right as u64;
        self.examples += examples as u64;
    }

    /// Loss of a word, and the share of examples that were right.
    fn means(&self) -> (f64, f64) {
        (self.loss / self.words.max(1) as f64, self.right as f64 / self.examples.max(1) as f64)
    }
}
