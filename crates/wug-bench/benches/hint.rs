//! How fast HINT is made, beside plain Python.
//!
//!     cargo bench -p wug-bench --bench hint
//!
//! Prints medians of five for the released dataset and a fresh one of the same size (both with all facts), expressions
//! per second against benches/compare/hint.py in the same run, and strips of handwriting per minute.

use std::process::Command;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use wug_bench::hint::Hint;
use wug_bench::{Benchmark, DataSettings, Source};

const ROUNDS: usize = 5;
const STRIPS: u32 = 20_000;

fn main() {
    let ours = [("official", Source::Official), ("fresh", Source::Seed(0))].map(|(name, source)| {
        let (time, rows) = median(|| {
            let dataset = Hint.make("symbol", &source).expect("hint/symbol can be made");
            dataset.parts.iter().map(|part| part.rows.len()).sum()
        });
        println!("hint/symbol {name}: {rows} rows in {:.2} s (median of {ROUNDS})", time.as_secs_f64());
        time.as_secs_f64() / rows as f64
    });
    match python() {
        Some(theirs) => {
            for (name, ours) in ["official", "fresh"].iter().zip(ours) {
                println!(
                    "{name}: {:.2} us a row, plain Python {:.1} us: {:.0} times as fast",
                    ours * 1e6,
                    theirs * 1e6,
                    theirs / ours
                );
            }
        }
        None => println!("benches/compare/hint.py: skipped, no python3"),
    }
    let mut settings = DataSettings::default();
    settings.set("height", "32");
    let dataset = Hint.make_with("image", &Source::Seed(0), &settings).expect("hint/image can be made");
    let pictures = dataset.pictures.as_ref().expect("hint/image has pictures");
    let (time, bytes) = median(|| {
        // Every 49th of train, so that all lengths count as they do there.
        let draw = |i: u32| pictures.picture("train", i * 49).png().map_or(0, |png| png.len());
        (0..STRIPS).into_par_iter().map(draw).sum()
    });
    let per_minute = f64::from(STRIPS) / time.as_secs_f64() * 60.0;
    println!(
        "hint/image: {per_minute:.0} strips of 32 px a minute as PNG, {} bytes each",
        bytes / STRIPS as usize
    );
}

fn median(run: impl Fn() -> usize) -> (Duration, usize) {
    let mut times: Vec<(Duration, usize)> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let result = run();
            (start.elapsed(), result)
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

/// Seconds that plain Python takes for a row.
fn python() -> Option<f64> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/compare/hint.py");
    let output = Command::new("python3").arg(script).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim().strip_suffix(" us a row")?.rsplit(' ').next()?.parse::<f64>().ok().map(|us| us * 1e-6)
}
