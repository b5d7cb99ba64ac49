//! Judges pairs of ReCOGS logical forms by Semantic Exact Match and prints how many match and the seconds it took.
//!
//! `cargo run --release -p wug-bench --example sem -- PAIRS.tsv [ROUNDS]`, where a line is target TAB prediction. Used
//! by `benches/compare/sem.py`.

use std::process::ExitCode;
use std::time::Instant;

use wug_bench::cogs::lf::Notation;
use wug_bench::cogs::score::sem_text;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let text = match args.next().map(std::fs::read_to_string) {
        Some(Ok(text)) => text,
        Some(Err(error)) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
        None => {
            eprintln!("usage: sem PAIRS.tsv [ROUNDS]");
            return ExitCode::from(2);
        }
    };
    let rounds: usize = args.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let pairs: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    let start = Instant::now();
    let mut right = 0;
    for _ in 0..rounds {
        right =
            pairs.iter().filter(|(target, said)| sem_text(target, said, Notation::Recogs).correct).count();
    }
    println!("{right} {}", start.elapsed().as_secs_f64() / rounds.max(1) as f64);
    ExitCode::SUCCESS
}
