//! Numbers, times and excerpts as people read and write them.

use std::time::Duration;

/// `16728` as `16,728`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// At most `most` characters of a text, with dots where it was cut.
///
/// ```
/// assert_eq!(wug_data::truncate("compositional", 4), "comp...");
/// assert_eq!(wug_data::truncate("jump", 4), "jump");
/// ```
pub fn truncate(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A time as people say it: `45 s`, `3 min 12 s`, `2 h 5 min`.
pub fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Reads a time in whole seconds, or with units: `90`, `90s`, `5m`, `2h`, `1h30m`.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(wug_data::parse_duration("1h30m"), Some(Duration::from_secs(5400)));
/// assert_eq!(wug_data::parse_duration("90"), Some(Duration::from_secs(90)));
/// assert_eq!(wug_data::parse_duration("1.5h"), None);
/// ```
pub fn parse_duration(text: &str) -> Option<Duration> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(text) {
        return text.parse().ok().map(Duration::from_secs);
    }
    let mut seconds = 0_u64;
    let mut rest = text;
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit()) {
        let factor = match rest.as_bytes()[end] {
            b'h' => 3600,
            b'm' => 60,
            b's' => 1,
            _ => return None,
        };
        let part = rest[..end].parse::<u64>().ok()?.checked_mul(factor)?;
        seconds = seconds.checked_add(part)?;
        rest = &rest[end + 1..];
    }
    (rest.is_empty() && !text.is_empty()).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_units() {
        let seconds = |text: &str| parse_duration(text).map(|time| time.as_secs());
        for (text, expected) in
            [("0", 0), ("90", 90), ("90s", 90), ("5m", 300), ("2h", 7200), ("1h30m5s", 5405)]
        {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in ["", "s", "-1s", "1.5s", "1 s", "1h30", "9999999999999999h", "1é", "é"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_times_and_excerpts_are_written_for_people() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [45, 192, 7500].map(|s| format_duration(Duration::from_secs(s))),
            ["45 s", "3 min 12 s", "2 h 5 min"]
        );
        assert_eq!(truncate("ééé", 2), "éé...");
    }
}
