use std::time::Instant;

use crate::{Settings, Without};

/// What bounds the search: time, and parts of the learner that are switched off to see what they are worth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    until: Option<Instant>,
    searched_until: Option<Instant>,
    without: Option<Without>,
}

impl Plan {
    /// Starts the clock; a time longer than a clock can hold is no bound.
    pub(crate) fn new(settings: &Settings) -> Self {
        let start = Instant::now();
        Self {
            until: start.checked_add(settings.budget),
            searched_until: start.checked_add(settings.budget / 2),
            without: settings.without,
        }
    }

    /// The plan of the search for rules: it leaves half of the time to what the grammar needs besides rules.
    pub(crate) fn of_search(self) -> Self {
        Self { until: self.searched_until, ..self }
    }

    /// Whether the time is over. The search asks between steps and ends with the best it has.
    pub(crate) fn is_spent(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// When the time is over, if ever.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.until
    }

    /// Whether a part of the learner is in use.
    pub(crate) fn has(&self, part: Without) -> bool {
        self.without != Some(part)
    }
}
