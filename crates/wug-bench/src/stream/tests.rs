use std::collections::{BTreeMap, HashSet};

use super::*;
use crate::BENCHMARKS;

fn stream(name: &str, seed: u64) -> ItemStream {
    ItemStream::new(&name.parse().unwrap(), seed, &DataSettings::default(), Vec::new()).unwrap()
}

fn inputs(table: &Table) -> Vec<String> {
    (0..table.inputs.len() as u32).map(|row| table.inputs.get(row).to_string()).collect()
}

fn pairs(table: &Table) -> Vec<(String, String)> {
    let pair = |row| (table.inputs.get(row).to_string(), table.targets.get(row).to_string());
    (0..table.inputs.len() as u32).map(pair).collect()
}

/// One dataset of each benchmark that has streams, with its splits.
const STREAMS: [(&str, &[&str]); 9] = [
    ("scan/simple", &["train", "test"]),
    ("nacs/simple", &["train", "test"]),
    ("cogs/main", &["train", "test", "gen"]),
    ("recogs/v2", &["train", "test", "gen"]),
    ("hint/symbol", &["train", "test"]),
    ("hint/fewshot-d", &["train", "test"]),
    ("mns/circle", &["train", "test"]),
    ("mt/en-fr-daxy", &["train", "test"]),
    ("toy/random-3", &["train", "test"]),
];

#[test]
fn an_item_is_the_same_whoever_asks() {
    for (name, splits) in STREAMS {
        for split in splits {
            let stream = stream(&format!("{name}#{split}"), 3);
            let some = pairs(&stream.items(40, 30).unwrap());
            for (place, pair) in some.iter().enumerate().step_by(7) {
                assert_eq!(&pairs(&stream.items(40 + place as u64, 1).unwrap())[0], pair, "{name} {split}");
            }
        }
    }
}

#[test]
fn splits_share_no_item_whatever_the_seeds() {
    for (name, splits) in STREAMS {
        let mut owner: BTreeMap<(String, String), &str> = BTreeMap::new();
        for split in splits {
            for seed in 0..3 {
                let items = stream(&format!("{name}#{split}"), seed).items(0, 2_000).unwrap();
                for pair in pairs(&items) {
                    let first = owner.entry(pair.clone()).or_insert(split);
                    assert_eq!(first, split, "{name}: {pair:?}");
                }
            }
        }
    }
}

#[test]
fn the_rule_of_a_split_decides_where_there_is_one() {
    for split in ["train", "test"] {
        let items = stream(&format!("scan/length#{split}"), 0).items(0, 500).unwrap();
        for row in 0..500 {
            assert_eq!(items.targets.get(row).ids().len() <= 22, split == "train");
        }
    }
    let train = stream("hint/symbol#train", 0).items(0, 2_000).unwrap();
    let (operators, largest) =
        (train.facts.column("operators").unwrap(), train.facts.column("largest-value"));
    let largest = largest.unwrap();
    for row in 0..2_000 {
        assert!(
            operators.value(row) <= FactValue::Number(10) && largest.value(row) <= FactValue::Number(100)
        );
    }
    let subsets = stream("hint/symbol#test", 0).items(0, 2_000).unwrap();
    let subset = subsets.facts.column("subset").unwrap();
    let known: HashSet<String> = (0..2_000).map(|row| subset.value(row).to_string()).collect();
    assert_eq!(known, ["SS", "LS", "SL", "LL"].map(str::to_owned).into());
}

#[test]
fn targets_are_right() {
    for (name, splits) in STREAMS {
        let address: Address = name.parse().unwrap();
        for split in splits {
            let items = stream(&format!("{name}#{split}"), 1).items(0, 200).unwrap();
            let judge = address.benchmark.judge(address.benchmark.metrics()[0].name).unwrap();
            for row in 0..200 {
                let example = items.example(row);
                let verdict = judge.judge(&example, &example.target.to_string());
                assert!(verdict.correct, "{name} {split}: {} {}", example.input, verdict.reason);
            }
        }
    }
}

#[test]
fn a_picture_is_the_same_whoever_asks() {
    for (name, is_drawn) in [("hint/image", true), ("mns/circle", true), ("hint/symbol", false)] {
        let stream = stream(name, 2);
        let items = stream.items(5, 3).unwrap();
        let last = stream.picture(7, &items.example(2));
        assert_eq!(last, stream.picture(7, &stream.items(7, 1).unwrap().example(0)), "{name}");
        assert_eq!(last.is_some(), is_drawn);
        assert!(!is_drawn || stream.picture(5, &items.example(0)) != last);
    }
}

#[test]
fn a_finite_language_says_its_size() {
    let (train, test) = (stream("scan/length#train", 0), stream("scan/length#test", 0));
    assert_eq!((train.size(), test.size()), (Some(16_990), Some(3_920)));
    let drawn: HashSet<String> = inputs(&test.items(0, 60_000).unwrap()).into_iter().collect();
    assert_eq!(drawn.len(), 3_920, "all are drawn in the end");
    let halves = ["train", "test"].map(|split| stream(&format!("nacs/simple#{split}"), 0).size().unwrap());
    assert_eq!(halves.iter().sum::<u64>(), 20_910);
    assert!(stream("hint/symbol", 0).size().is_none());
}

#[test]
fn limits_are_difficulty() {
    let limits = ["operators=3-4", "depth=3"].map(|limit| limit.parse().unwrap()).to_vec();
    let address = "hint/symbol#train".parse().unwrap();
    let items =
        ItemStream::new(&address, 0, &DataSettings::default(), limits).unwrap().items(0, 100).unwrap();
    let of = |fact| items.facts.column(fact).unwrap();
    for row in 0..100 {
        let FactValue::Number(operators) = of("operators").value(row) else { panic!("a number") };
        assert!((3..=4).contains(&operators));
        assert_eq!(of("depth").value(row), FactValue::Number(3));
    }
    let fails = |limit: &str, what: &str| {
        let limits = vec![limit.parse().unwrap()];
        let stream = ItemStream::new(&address, 0, &DataSettings::default(), limits);
        let error = stream.and_then(|stream| stream.items(0, 1)).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    fails("deepness=3", "no fact `deepness`");
    fails("depth=deep", "expected a number");
    fails("depth=77", "no item with depth=77");
}

#[test]
fn what_is_read_from_files_has_no_stream() {
    for name in ["scan/mcd-1", "slog/main", "cogs/preposing"] {
        let Ok(address) = name.parse::<Address>() else { continue };
        let error =
            ItemStream::new(&address, 0, &DataSettings::default(), Vec::new()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("has no stream"), "{error}");
    }
    let error = ItemStream::new(&"scan/length#dev".parse().unwrap(), 0, &DataSettings::default(), Vec::new());
    assert!(error.map(|_| ()).unwrap_err().to_string().contains("there are: train, test"));
    assert!(BENCHMARKS.len() >= STREAMS.len());
}

/// Ten million items: no leak between the splits, and seeds that meet as often as two stretches of one seed do.
#[test]
#[ignore = "takes minutes: scripts/nightly"]
fn ten_million_items_do_not_leak() {
    const NUMBER: u64 = 10_000_000;
    let draw = |split: &str, seed: u64, from: u64| {
        let stream = stream(&format!("hint/symbol#{split}"), seed);
        let mut seen: Vec<u64> = Vec::with_capacity(NUMBER as usize);
        for from in (from..from + NUMBER).step_by(100_000) {
            let inputs = inputs(&stream.items(from, 100_000).unwrap());
            seen.extend(inputs.iter().map(|input| super::place(input).to_bits()));
        }
        seen.sort_unstable();
        seen.dedup();
        seen
    };
    let shared =
        |one: &[u64], other: &[u64]| one.iter().filter(|input| other.binary_search(input).is_ok()).count();
    let (first, second) = (draw("train", 0, 0), draw("train", 0, NUMBER));
    let (other, test) = (draw("train", 1, 0), draw("test", 0, 0));
    let leaks = shared(&first, &test) + shared(&second, &test) + shared(&other, &test);
    let (within, across) = (shared(&first, &second) as f64, shared(&first, &other) as f64);
    eprintln!(
        "of {NUMBER} items each: {} different inputs in train, {} in test; shared by seeds 0 and 1: {across}; \
         by two stretches of seed 0: {within}; by train and test: {leaks}",
        first.len(),
        test.len()
    );
    assert_eq!(leaks, 0, "items of train in test");
    // Both are counts of independent events: they differ by a few standard deviations at most.
    assert!((within - across).abs() < 6.0 * (within + across).sqrt(), "{within} {across}");
}
