//! When a request is sent again, and after how long.

use std::time::{Duration, SystemTime};

/// The longest wait that a server may ask for.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(120);

/// What a server says about trying again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    /// `x-should-retry`.
    pub(crate) should: Option<bool>,
    /// `retry-after-ms` or `retry-after`.
    pub(crate) after: Option<Duration>,
}

impl Advice {
    /// Reads the headers; `now` is for a wait that is given as a date, and the server's own clock is preferred.
    pub(crate) fn read<'a>(header: impl Fn(&str) -> Option<&'a str>, now: SystemTime) -> Self {
        let should = match header("x-should-retry") {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        };
        let seconds = |text: &str, scale: f64| {
            let value = text.trim().parse::<f64>().ok()?;
            // Some services send 0 or -1 for "unknown".
            (value.is_finite() && value > 0.0).then(|| Duration::from_secs_f64((value * scale).min(1e9)))
        };
        let date = |text: &str| {
            let until = httpdate::parse_http_date(text.trim()).ok()?;
            let now = header("date").and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
            Some(until.duration_since(now).unwrap_or(Duration::ZERO))
        };
        let after = header("retry-after-ms")
            .and_then(|text| seconds(text, 1e-3))
            .or_else(|| header("retry-after").and_then(|text| seconds(text, 1.0).or_else(|| date(text))));
        Self { should, after }
    }
}

/// The wait before attempt `attempt` (1 is the first retry) where the server names none: doubles up to 16 times `base`,
/// less up to a quarter, so that requests that failed together do not come back together. `spread` is any number that
/// differs between requests.
pub(crate) fn backoff(base: Duration, attempt: u32, spread: u64) -> Duration {
    let doubled = base.saturating_mul(1 << attempt.saturating_sub(1).min(4));
    // A multiplicative hash of the two, as a fraction of 1.
    let hash = spread.wrapping_add(attempt.into()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    doubled.mul_f64(1.0 - 0.25 * (hash as f64 / (1u64 << 53) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(headers: &[(&str, &'static str)]) -> Advice {
        let find = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        Advice::read(find, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777))
    }

    #[test]
    fn every_form_of_retry_after_is_read() {
        let after = |headers: &[(&str, &'static str)]| advice(headers).after;
        assert_eq!(after(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
        assert_eq!(after(&[("retry-after", "0.5")]), Some(Duration::from_millis(500)));
        assert_eq!(
            after(&[("retry-after", "9"), ("retry-after-ms", "250")]),
            Some(Duration::from_millis(250))
        );
        let date = "Sun, 06 Nov 1994 08:49:40 GMT";
        assert_eq!(after(&[("retry-after", date)]), Some(Duration::from_secs(3)));
        let earlier = ("date", "Sun, 06 Nov 1994 08:49:30 GMT");
        assert_eq!(
            after(&[("retry-after", date), earlier]),
            Some(Duration::from_secs(10)),
            "the server's clock"
        );
        assert_eq!(after(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(Duration::ZERO));
        for odd in ["-1", "0", "soon", "", "1e400", "nan"] {
            assert_eq!(after(&[("retry-after", odd)]), None, "{odd}");
        }
        assert_eq!(advice(&[("x-should-retry", "false")]).should, Some(false));
    }

    #[test]
    fn waits_double_within_their_bounds() {
        let base = Duration::from_millis(500);
        for spread in 0..100 {
            for (attempt, most) in [(1, 500), (2, 1000), (3, 2000), (5, 8000), (60, 8000)] {
                let wait = backoff(base, attempt, spread).as_millis();
                assert!(wait <= most && wait >= most * 3 / 4, "{attempt}: {wait}");
            }
        }
        assert_ne!(backoff(base, 1, 1), backoff(base, 1, 2));
    }
}
