//! How many requests may be in flight: as many as the server bears, and no more than help.
//!
//! Doubling while throughput grows, as TCP starts. When more requests in flight no longer raise throughput, they only wait
//! in the server's queue: then the limit goes back to where it was, and doubling is tried again later. When the server
//! says that it is busy (429, 503, a time-out), half as many, and from then on one eighth more at a time.

use std::time::{Duration, Instant};

const START: usize = 16;
/// More requests in flight must bring at least this share of the gain that a server without limits would have.
const LEAST_GAIN: f64 = 0.2;
/// Windows for which a limit is kept after more did not help.
const HOLD: u32 = 10;
/// Shorter windows measure noise.
const SHORTEST_WINDOW: Duration = Duration::from_millis(20);

/// The limit on requests in flight. All time comes from the caller.
#[derive(Debug, Clone)]
pub(crate) struct Limiter {
    most: usize,
    limit: usize,
    doubling: bool,
    hold: u32,
    /// The limit before the last increase, and the replies per second that it gave.
    before: Option<(usize, f64)>,
    window: Instant,
    replies: usize,
    /// Requests sent before the last decrease say nothing new about it.
    decreased: Instant,
    paused_until: Option<Instant>,
}

impl Limiter {
    pub(crate) fn new(most: usize, now: Instant) -> Self {
        Self {
            most,
            limit: most.min(START),
            doubling: true,
            hold: 0,
            before: None,
            window: now,
            replies: 0,
            decreased: now,
            paused_until: None,
        }
    }

    /// How many requests may be in flight.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Until when nothing is sent, because the server said so.
    pub(crate) fn paused_until(&self, now: Instant) -> Option<Instant> {
        self.paused_until.filter(|until| *until > now)
    }

    /// There was nothing to send: what comes back now says nothing about the limit.
    pub(crate) fn starved(&mut self, now: Instant) {
        self.restart_window(now);
    }

    /// A reply came.
    pub(crate) fn replied(&mut self, now: Instant) {
        self.replies += 1;
        let elapsed = now.duration_since(self.window);
        if self.replies < 2 * self.limit || elapsed < SHORTEST_WINDOW {
            return;
        }
        let rate = self.replies as f64 / elapsed.as_secs_f64();
        self.restart_window(now);
        if self.hold > 0 {
            self.hold -= 1;
            return;
        }
        if let Some((limit, before)) = self.before.take() {
            let gain = rate / before - 1.0;
            if gain < LEAST_GAIN * (self.limit as f64 / limit as f64 - 1.0) {
                self.limit = limit;
                self.hold = HOLD;
                return;
            }
        }
        if self.limit == self.most {
            return;
        }
        if self.doubling {
            self.before = Some((self.limit, rate));
            self.limit = (2 * self.limit).min(self.most);
        } else {
            self.limit = (self.limit + (self.limit / 8).max(1)).min(self.most);
        }
    }

    /// The server was too busy for a request that was sent at `sent`.
    pub(crate) fn busy(&mut self, now: Instant, sent: Instant, after: Option<Duration>) {
        if let Some(after) = after {
            let until = now + after;
            self.paused_until = Some(self.paused_until.map_or(until, |known| known.max(until)));
        }
        if sent >= self.decreased {
            self.limit = (self.limit / 2).max(1);
            self.doubling = false;
            self.before = None;
            self.decreased = now;
            self.restart_window(now);
        }
    }

    fn restart_window(&mut self, now: Instant) {
        (self.window, self.replies) = (now, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replies come at the rate of a server with `slots` slots and this latency.
    fn simulate(limiter: &mut Limiter, now: &mut Instant, slots: usize, rounds: usize) {
        for _ in 0..rounds {
            let in_flight = limiter.limit();
            let rate = in_flight.min(slots) as f64 / 0.1;
            for _ in 0..in_flight {
                *now += Duration::from_secs_f64(1.0 / rate);
                limiter.replied(*now);
            }
        }
    }

    #[test]
    fn a_fast_server_gets_all_requests_soon() {
        let mut now = Instant::now();
        let mut limiter = Limiter::new(64, now);
        simulate(&mut limiter, &mut now, 1000, 9);
        assert_eq!(limiter.limit(), 64);
    }

    #[test]
    fn a_full_server_gets_no_more_than_help() {
        let mut now = Instant::now();
        let mut limiter = Limiter::new(512, now);
        simulate(&mut limiter, &mut now, 16, 300);
        assert!((8..=36).contains(&limiter.limit()), "{}", limiter.limit());
    }

    #[test]
    fn a_busy_server_halves_the_limit_once_a_round() {
        let start = Instant::now();
        let mut now = start;
        let mut limiter = Limiter::new(64, now);
        simulate(&mut limiter, &mut now, 1000, 9);
        for _ in 0..64 {
            limiter.busy(now + Duration::from_millis(1), now, None);
        }
        assert_eq!(limiter.limit(), 32);
        now += Duration::from_millis(2);
        simulate(&mut limiter, &mut now, 1000, 60);
        assert_eq!(limiter.limit(), 64, "recovers");
        for _ in 0..20 {
            now += Duration::from_secs(1);
            limiter.busy(now, now, None);
        }
        assert_eq!(limiter.limit(), 1);
    }

    #[test]
    fn retry_after_pauses_all() {
        let now = Instant::now();
        let mut limiter = Limiter::new(4, now);
        limiter.busy(now, now, Some(Duration::from_secs(2)));
        limiter.busy(now, now, Some(Duration::from_secs(1)));
        assert_eq!(limiter.paused_until(now), Some(now + Duration::from_secs(2)));
        assert_eq!(limiter.paused_until(now + Duration::from_secs(3)), None);
    }
}
