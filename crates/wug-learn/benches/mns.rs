//! `cargo bench -p wug-learn --bench mns`: problems of mns/circle, one of each of the 28 conditions a round.

use wug_bench::mns::derivations::derivations;
use wug_bench::mns::drawing::{Reader, draw};
use wug_bench::mns::problem::Problem;
use wug_bench::mns::sample::Sampler;
use wug_bench::mns::splits::Design;
use wug_data::Streams;

fn main() {
    divan::main();
}

const ROUND: u64 = 28;

fn problems() -> (Sampler, Vec<Problem>) {
    let design = Design::named("circle").expect("the dataset has a design");
    let sampler = Sampler::new(design.parameters.clone()).expect("its parameters are right");
    let streams = Streams::new("bench", "mns", 0);
    // As many rounds as cover rare problems: some have hundreds of derivations.
    let problems = (0..20 * ROUND).map(|i| design.draw(&sampler, &streams, i).problem).collect();
    (sampler, problems)
}

#[divan::bench(items_count = 20 * ROUND)]
fn sample(bencher: divan::Bencher) {
    let design = Design::named("circle").expect("the dataset has a design");
    let sampler = Sampler::new(design.parameters.clone()).expect("its parameters are right");
    let streams = Streams::new("bench", "mns", 0);
    bencher.bench(|| (0..20 * ROUND).map(|i| design.draw(&sampler, &streams, i)).collect::<Vec<_>>());
}

#[divan::bench(items_count = 20 * ROUND)]
fn solve(bencher: divan::Bencher) {
    let (sampler, problems) = problems();
    bencher.bench(|| problems.iter().map(|problem| derivations(problem, &sampler).len()).sum::<usize>());
}

#[divan::bench(items_count = 20 * ROUND)]
fn draw_pictures(bencher: divan::Bencher) {
    let (_, problems) = problems();
    bencher.bench(|| problems.iter().map(|problem| draw(problem).pixels.len()).sum::<usize>());
}

#[divan::bench(items_count = 20 * ROUND)]
fn read_pictures(bencher: divan::Bencher) {
    let (_, problems) = problems();
    let reader = Reader::new(99);
    let pictures: Vec<_> = problems.iter().map(draw).collect();
    bencher.bench(|| pictures.iter().filter(|picture| reader.read(picture).is_ok()).count());
}
