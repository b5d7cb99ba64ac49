//! Times what `benches/compare/scan.py` times in Python: the rows of all 209 SCAN files, and the verdicts on all NACS
//! predictions. Prints medians of five in seconds, as JSON.

use std::time::Instant;

use rayon::prelude::*;
use wug_bench::scan::splits::{self, Split};
use wug_bench::{Address, Availability, BENCHMARKS, Benchmark, Source};

fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[2]
}

fn main() {
    let start = Instant::now();
    let scan: &dyn Benchmark = &*BENCHMARKS[0];
    let all = scan.make("all", &Source::Seed(0)).expect("no file is read");
    let enumerate = start.elapsed().as_secs_f64();

    let splits: Vec<Split> = splits::splits()
        .into_iter()
        .filter(|split| {
            split.origin() != Availability::Imported
                && scan.release().is_some_and(|release| release.is_released(&split.name(), "train"))
        })
        .collect();
    let mut rows = 0;
    let split = median(|| {
        let parts: Vec<usize> = splits
            .par_iter()
            .flat_map_iter(|split| scan.make(&split.name(), &Source::Seed(0)).expect("no file is read").parts)
            .filter(|part| matches!(part.name.as_str(), "train" | "test" | "all"))
            .map(|part| part.rows.len())
            .collect();
        assert_eq!(parts.len(), 209);
        rows = parts.iter().sum();
    });

    let address: Address = "nacs/all".parse().expect("a dataset");
    let nacs = address.benchmark.make("all", &Source::Seed(0)).expect("no file is read");
    let judge = address.benchmark.judge("meaning").expect("a metric");
    let predictions: Vec<String> =
        (0..all.table.inputs.len() as u32).map(|row| all.table.inputs.get(row).to_string()).collect();
    let score = median(|| {
        let right = (0..nacs.table.inputs.len() as u32)
            .into_par_iter()
            .filter(|&row| judge.judge(&nacs.table.example(row), &predictions[row as usize]).correct)
            .count();
        assert_eq!(right, 20_910);
    });
    println!("{{\"enumerate\": {enumerate}, \"split\": {split}, \"rows\": {rows}, \"score\": {score}}}");
}
