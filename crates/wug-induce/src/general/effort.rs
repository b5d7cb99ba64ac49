//! What bounds a search: steps, counted the same on every machine; and a deadline or a request to stop, which end it with
//! the best so far.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::{Progress, Stopped};

/// Steps that are left, and when to stop.
pub(crate) struct Effort<'a> {
    steps: AtomicU64,
    budget: u64,
    /// Steps at which the present part of the search ends.
    part: AtomicU64,
    until: Option<Instant>,
    stopped: AtomicBool,
    /// Whether to say what is found.
    pub verbose: bool,
    watch: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl<'a> Effort<'a> {
    pub(crate) fn new(
        budget: u64,
        until: Option<Instant>,
        verbose: bool,
        watch: Option<&'a (dyn Fn(Progress) + Sync)>,
    ) -> Self {
        Self {
            steps: AtomicU64::new(0),
            budget,
            part: AtomicU64::new(budget),
            until,
            stopped: AtomicBool::new(false),
            verbose,
            watch,
        }
    }

    /// Tells how far the search is, if anybody listens; what takes work to know is asked for only then.
    pub(crate) fn tell(&self, progress: impl FnOnce() -> Progress) {
        if let Some(watch) = self.watch {
            watch(Progress { steps: self.steps().min(self.budget), of: self.budget, ..progress() });
        }
    }

    /// What ended the search, if it was not done.
    pub(crate) fn stopped(&self, is_cut: bool) -> Option<Stopped> {
        if self.was_stopped() { Some(Stopped::Time) } else { is_cut.then_some(Stopped::Steps) }
    }

    /// Counts steps.
    pub(crate) fn charge(&self, steps: usize) {
        self.steps.fetch_add(steps as u64, Ordering::Relaxed);
    }

    /// Whether the search is to end. Asked between steps that run one after another, so that the answer does not depend on
    /// the number of threads.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_stopped() || self.steps() >= self.part.load(Ordering::Relaxed)
    }

    /// Whether the deadline is over; steps that run in parallel ask this.
    pub(crate) fn is_stopped(&self) -> bool {
        if !self.was_stopped() && self.until.is_some_and(|until| Instant::now() >= until) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.was_stopped()
    }

    /// Whether the deadline ended it.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Begins a part of the search, which may take a share of the budget; false if there is nothing left.
    pub(crate) fn begin(&self, share: f64) -> bool {
        let end = self.steps().saturating_add((self.budget as f64 * share) as u64).min(self.budget);
        self.part.store(end, Ordering::Relaxed);
        self.steps() < end && !self.is_stopped()
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }
}
