//! How far long work is: a bar in a terminal, a line every half minute elsewhere.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use wug_learn::{Answering, StopReason, Training};

use crate::output::DIM;
use wug_data::{format_duration, thousands};

/// How often a line is written where there is no terminal.
pub(crate) const LOG_EVERY: Duration = Duration::from_secs(30);

/// Counts rows, and shows the count on standard error.
pub(crate) struct Progress {
    bar: ProgressBar,
    rows: Arc<Rows>,
    log: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

#[derive(Default)]
struct Rows {
    done: AtomicUsize,
    expected: AtomicUsize,
}

impl Rows {
    fn line(&self, time: Duration) -> String {
        let (done, expected) = (self.done.load(Ordering::Relaxed), self.expected.load(Ordering::Relaxed));
        format!("{} of {} rows after {} s", thousands(done), thousands(expected), time.as_secs())
    }
}

impl Progress {
    /// Starts to count; with `quiet` nothing is shown.
    pub(crate) fn start(quiet: bool, log_every: Duration) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target =
            if quiet || !is_terminal { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} rows, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let rows = Arc::new(Rows::default());
        let log = (!quiet && !is_terminal).then(|| {
            let (end, ended) = mpsc::channel();
            let rows = Arc::clone(&rows);
            let start = Instant::now();
            let log = move || {
                while ended.recv_timeout(log_every) == Err(RecvTimeoutError::Timeout) {
                    // Whoever does not listen does not stop the work.
                    let _ = writeln!(std::io::stderr(), "{}", rows.line(start.elapsed()));
                }
            };
            (end, std::thread::spawn(log))
        });
        if log.is_none() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self { bar, rows, log }
    }

    /// So many rows more will come.
    pub(crate) fn expect(&self, rows: usize) {
        self.rows.expected.fetch_add(rows, Ordering::Relaxed);
        self.bar.inc_length(rows as u64);
    }

    /// So many rows more are done.
    pub(crate) fn add(&self, rows: usize) {
        self.rows.done.fetch_add(rows, Ordering::Relaxed);
        self.bar.inc(rows as u64);
    }

    /// Takes the bar away.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
        if let Some((end, log)) = self.log {
            drop(end);
            let _ = log.join();
        }
    }
}

/// Shows in a terminal that work goes on which cannot say how far it is.
pub(crate) fn spinner(what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
    let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
    spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// How far a run is: a bar in a terminal, a line every half minute elsewhere.
pub(crate) struct RunProgress {
    bar: ProgressBar,
    prefix: String,
    log: Option<Mutex<Log>>,
    notes: bool,
}

/// When a line is due, and how long the rest may take.
struct Log {
    begun: Instant,
    /// What had been done before.
    first: Option<u64>,
    last: Instant,
}

impl RunProgress {
    /// Nothing is shown before the learner says how far it is, and with `quiet` nothing at all.
    pub(crate) fn new(quiet: bool, prefix: String) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{prefix}{bar:30} {human_pos}/{human_len} {msg} {eta} left");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(None, target).with_style(style).with_prefix(prefix.clone());
        let now = Instant::now();
        let log = (!quiet && !is_terminal).then(|| Mutex::new(Log { begun: now, first: None, last: now }));
        Self { bar, prefix, log, notes: !quiet && is_terminal }
    }

    /// How far training is.
    pub(crate) fn training(&self, progress: wug_learn::Progress) {
        if let Some(wug_learn::SearchProgress { round, rules, bits }) = progress.search {
            let (bits, share) = (thousands(bits as usize), 100.0 * progress.accuracy);
            let message =
                format!("round {round}, {rules} rules, {bits} bits, {share:.0}% of training explained");
            self.show("steps", progress.done, progress.of, message);
            return;
        }
        let best =
            progress.best.map_or(String::new(), |best| format!(" best validation {:.1}%", 100.0 * best));
        let images = if progress.images > 0.0 {
            format!(" {:.0} images/s, {:.0}% rendering", progress.images, 100.0 * progress.rendering)
        } else {
            String::new()
        };
        let (loss, accuracy) = (progress.loss, 100.0 * progress.accuracy);
        let message = format!("loss {loss:.4} training accuracy {accuracy:.1}%{best}{images}");
        self.show("updates", progress.done, progress.of, message);
    }

    /// How far a model is that takes long to answer.
    pub(crate) fn answering(&self, answering: Answering<'_>) {
        match answering {
            Answering::Note(text) if self.notes => {
                self.bar.suspend(|| anstream::eprintln!("{DIM}{text}{DIM:#}"));
            }
            Answering::Note(_) => {}
            Answering::Progress { done, of, message } => {
                self.show("answers", done as u64, of as u64, message.to_owned());
            }
        }
    }

    fn show(&self, unit: &str, done: u64, of: u64, message: String) {
        if let Some(log) = &self.log {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(line) = log.line(unit, done, of, &message, Instant::now()) {
                // Whoever does not listen does not stop the work.
                let _ = writeln!(std::io::stderr(), "{}{line}", self.prefix);
            }
        }
        self.bar.set_length(of);
        self.bar.set_message(message);
        self.bar.set_position(done);
    }

    /// Takes the bar away, and says how training went.
    pub(crate) fn finish(&self, training: Option<&Training>, time: Duration, folder: Option<&Path>) {
        self.bar.finish_and_clear();
        let Some(training) = training.filter(|_| self.notes || self.log.is_some()) else { return };
        let kept = folder.map_or(String::new(), |folder| format!("; kept in {}", folder.display()));
        let summary = format!("{}{}{kept}", self.prefix, summary(training, time));
        anstream::eprintln!("{DIM}{summary}{DIM:#}");
    }
}

impl Log {
    fn line(&mut self, unit: &str, done: u64, of: u64, message: &str, now: Instant) -> Option<String> {
        let first = *self.first.get_or_insert(done);
        if now.duration_since(self.last) < LOG_EVERY {
            return None;
        }
        self.last = now;
        let time = now.duration_since(self.begun);
        let left = match done.saturating_sub(first) {
            0 => String::new(),
            since => {
                let left = time.as_secs_f64() / since as f64 * of.saturating_sub(done) as f64;
                let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
                format!(", {} left", format_duration(left))
            }
        };
        let (done, of, time) = (thousands(done as usize), thousands(of as usize), format_duration(time));
        Some(format!("{done} of {of} {unit} after {time}{left}: {message}"))
    }
}

/// How training went, in a sentence.
fn summary(training: &Training, time: Duration) -> String {
    let (updates, of) = (thousands(training.updates as usize), thousands(training.of as usize));
    let stopped = match training.stopped {
        StopReason::Steps => String::new(),
        StopReason::Patience => format!(" of {of}: validation stopped improving"),
        StopReason::Perfect => format!(" of {of}: all of validation was right"),
    };
    let best = training.best.map_or(String::new(), |best| {
        format!(
            "; best validation {:.2}% after update {}",
            100.0 * best.accuracy,
            thousands(best.update as usize)
        )
    });
    format!("{updates} updates{stopped}{best}; {} in all", format_duration(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wug_learn::BestValidation;

    #[test]
    fn a_line_is_due_every_half_minute() {
        let begun = Instant::now();
        let mut log = Log { begun, first: None, last: begun };
        let mut line = |done, seconds| {
            log.line("updates", done, 20_000, "loss 0.5", begun + Duration::from_secs(seconds))
        };
        assert_eq!(line(1_000, 1), None);
        assert_eq!(line(3_000, 31).unwrap(), "3,000 of 20,000 updates after 31 s, 4 min 24 s left: loss 0.5");
        assert_eq!(line(3_100, 32), None);
    }

    #[test]
    fn a_summary_says_why_training_stopped() {
        let best = Some(BestValidation { update: 4000, accuracy: 0.882 });
        let training =
            Training { updates: 5000, of: 20_000, best, stopped: StopReason::Patience, rendering: None };
        assert_eq!(
            summary(&training, Duration::from_secs(192)),
            "5,000 updates of 20,000: validation stopped improving; best validation 88.20% after update 4,000; \
             3 min 12 s in all"
        );
    }

    #[test]
    fn a_line_counts_rows() {
        let progress = Progress::start(true, LOG_EVERY);
        progress.expect(280_000);
        progress.add(4_096);
        assert_eq!(progress.rows.line(Duration::from_secs(31)), "4,096 of 280,000 rows after 31 s");
        progress.finish();
    }
}
