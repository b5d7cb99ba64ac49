//! `cargo +nightly fuzz run judges`: any text as a prediction gets a verdict from every metric.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wug_bench::{BENCHMARKS, Source};

fuzz_target!(|prediction: &str| {
    for benchmark in BENCHMARKS {
        let family = &benchmark.families()[0];
        let Ok(dataset) = benchmark.make(&family.names[0], &Source::Seed(0)) else { continue };
        for metric in benchmark.metrics() {
            let judge = benchmark.judge(metric.name).expect("a listed metric");
            let _ = judge.judge(&dataset.table.example(0), prediction);
        }
    }
});
