//! Making, writing and judging SCAN and NACS.
//!
//! `cargo bench -p wug-bench`

use divan::Bencher;
use wug_bench::{Address, Source};
use wug_data::write_jsonl;

fn main() {
    divan::main();
}

const DATASETS: [&str; 4] = ["scan/simple", "scan/length", "scan/addprim-jump", "scan/fewshot-1024-rep-1"];

#[divan::bench(args = DATASETS)]
fn make(bencher: Bencher, name: &str) {
    let address: Address = name.parse().unwrap();
    bencher.bench_local(|| address.benchmark.make(&address.dataset, &Source::Seed(0)).unwrap().parts.len());
}

#[divan::bench(args = ["native", "jsonl"])]
fn write_train_part(bencher: Bencher, format: &str) {
    let address: Address = "scan/length".parse().unwrap();
    let dataset = address.benchmark.make(&address.dataset, &Source::Seed(0)).unwrap();
    let selection = dataset.select("train").unwrap();
    bencher.bench_local(|| {
        let mut out = Vec::with_capacity(16 << 20);
        match format {
            "native" => {
                (address.benchmark.release().unwrap().native_files(&dataset, &selection)[0].write)(&mut out)
                    .unwrap();
            }
            _ => write_jsonl(&dataset, &selection, &mut out).unwrap(),
        }
        out.len()
    });
}

#[divan::bench(args = ["scan/length", "nacs/length"])]
fn judge_test_part(bencher: Bencher, name: &str) {
    let address: Address = name.parse().unwrap();
    let dataset = address.benchmark.make(&address.dataset, &Source::Seed(0)).unwrap();
    let judge = address.benchmark.judge(address.benchmark.metrics()[0].name).unwrap();
    let part = dataset.part("test").unwrap();
    let targets: Vec<String> =
        part.rows.iter().map(|&row| dataset.table.targets.get(row).to_string()).collect();
    bencher.bench_local(|| {
        let right = part.rows.iter().zip(&targets);
        right.filter(|(row, target)| judge.judge(&dataset.table.example(**row), target).correct).count()
    });
}
