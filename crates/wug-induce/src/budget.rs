use std::time::{Duration, Instant};

/// A bound on time. The search asks it between steps and ends with the best it has.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    until: Option<Instant>,
}

impl Budget {
    /// So much time from now; for ever if it is more than a clock can hold.
    pub fn new(time: Duration) -> Self {
        Self { until: Instant::now().checked_add(time) }
    }

    /// Whether the time is over.
    pub fn is_spent(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}
