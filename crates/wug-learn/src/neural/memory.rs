//! Refuses a network that there is no memory for, before any of it is taken.

use wug_data::{Error, Result};

/// Fails if training needs more bytes than are free; `smaller` says what would need less.
pub(super) fn check(needed: u64, smaller: &str) -> Result<()> {
    match free_bytes().filter(|&free| needed > free) {
        None => Ok(()),
        Some(free) => Err(Error::failed(format!(
            "training this model needs about {}, and {} are free: make {smaller} smaller",
            gigabytes(needed),
            gigabytes(free)
        ))),
    }
}

/// How much memory is free, where the system says so.
fn free_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
