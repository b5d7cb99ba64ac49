//! How many of the first 50 random languages are learned: `cargo run --release -p wug-induce --example toy`.

use wug_bench::{Address, Source};
use wug_induce::{Settings, learn};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let only: Option<u64> = std::env::args().nth(1).and_then(|number| number.parse().ok());
    let mut solved = 0;
    for number in 1..=50 {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let address: Address = format!("toy/random-{number}").parse()?;
        let dataset = address.benchmark.make(&address.dataset, &Source::Seed(0))?;
        let rows = |part: &str| -> Vec<(String, String)> {
            let rows = dataset.part(part).map_or(&[][..], |part| &part.rows);
            let pair = |&row: &u32| {
                let example = dataset.table.example(row);
                (example.input.to_string(), example.target.to_string())
            };
            rows.iter().map(pair).collect()
        };
        let model = learn(rows("train"), &Settings::default());
        let test = rows("test");
        let wrong: Vec<&(String, String)> =
            test.iter().filter(|(source, target)| model.predict(source).text != *target).collect();
        solved += usize::from(wrong.is_empty());
        println!("random-{number}: {} of {}", test.len() - wrong.len(), test.len());
        if only.is_some() {
            println!("{}", model.text());
            for (source, target) in wrong.iter().take(5) {
                let prediction = model.predict(source);
                println!("{source}\n  {target}\n  {}\n  {}", prediction.text, model.derivation(&prediction));
            }
        }
    }
    println!("{solved} solved");
    Ok(())
}
