use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
fn read(path: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| {
            let (a, b) = line.strip_prefix("IN: ").unwrap().split_once(" OUT: ").unwrap();
            (a.trim().to_owned(), b.trim().to_owned())
        })
        .collect()
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let all: BTreeMap<String, String> = read("/tmp/ind_data/scan/tasks.txt").into_iter().collect();
    let train = read(&args[0]);
    let test: BTreeSet<String> = read(&args[1]).into_iter().map(|(_, b)| b).collect();
    let start = Instant::now();
    let model = wug_induce::learn(train.iter().map(|(a, b)| (a, b)), &wug_induce::Settings::default());
    let fit = start.elapsed();
    let start = Instant::now();
    let (mut right, mut shown) = (0, 0);
    for target in &test {
        let p = model.invert(target);
        if all.get(&p.text) == Some(target) {
            right += 1;
        } else if shown < 3 {
            shown += 1;
            println!("   {target} -> {} {:?} {}", p.text, p.abstained, p.bits);
        }
    }
    println!("{right}/{} fit {fit:.2?} test {:.2?}", test.len(), start.elapsed());
}
