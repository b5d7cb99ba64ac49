//! How far long work is: a bar in a terminal, a line every half minute elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::thousands;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_rows() {
        let progress = Progress::start(true, LOG_EVERY);
        progress.expect(280_000);
        progress.add(4_096);
        assert_eq!(progress.rows.line(Duration::from_secs(31)), "4,096 of 280,000 rows after 31 s");
        progress.finish();
    }
}
