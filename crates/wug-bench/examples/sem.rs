//! Judges pairs of ReCOGS logical forms by Semantic Exact Match and prints how many match, and the seconds that this
//! took: on one core, on all cores, and on one core with a reason for each that is wrong.
//!
//! `cargo run --release -p wug-bench --example sem -- PAIRS.tsv [ROUNDS]`, where a line is target TAB prediction. Used
//! by `benches/compare/sem.py`.

use std::process::ExitCode;
use std::time::Instant;

use rayon::prelude::*;
use wug_bench::cogs::lf::Notation;
use wug_bench::cogs::score::sem_text;
use wug_bench::cogs::sem::{Match, compare_texts};

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
    let time = |judge: &dyn Fn() -> usize| {
        let start = Instant::now();
        let right = (0..rounds).map(|_| judge()).last().unwrap_or(0);
        (right, start.elapsed().as_secs_f64() / rounds.max(1) as f64)
    };
    let is_right =
        |(target, said): &&(&str, &str)| compare_texts(target, said, Notation::Recogs) == Ok(Match::Equal);
    let (right, one_core) = time(&|| pairs.iter().filter(is_right).count());
    let (together, all_cores) = time(&|| pairs.par_iter().filter(is_right).count());
    let explained = |(target, said): &&(&str, &str)| sem_text(target, said, Notation::Recogs).correct;
    let (again, with_reasons) = time(&|| pairs.iter().filter(explained).count());
    assert!(right == again && right == together, "neither reasons nor cores change a verdict");
    println!("{right} {one_core} {all_cores} {with_reasons}");
    ExitCode::SUCCESS
}
