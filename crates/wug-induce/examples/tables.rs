//! The tables of docs/results/induced.md, from the official releases:
//! `WUG_OFFICIAL=DIR cargo run --release -p wug-induce --example tables [scan|nacs|cogs|recogs|draws|hint|fewshot|noise|ablation|curves]`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;
use wug_bench::{Address, Source};
use wug_data::{Dataset, Streams};
use wug_induce::{Model, Settings, Without, learn};
use wug_official::Official;

type Pair = (String, String);

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let wants = |table: &str| asked.is_empty() || asked.iter().any(|name| name == table);
    let mut official = Official::new("tables of the learner induced");
    if let Some(scan) = official.folder("scan", 1) {
        if wants("scan") {
            scan_table(&scan, false);
        }
        if wants("nacs") {
            scan_table(&scan, true);
        }
        if wants("curves") {
            let (train, test) = (read(&simple(&scan, "train")), read(&simple(&scan, "test")));
            curve("scan/simple", &train, &test, &[50, 100, 200, 500, 1000, 16_728]);
        }
        if wants("noise") {
            noise("scan/simple", &read(&simple(&scan, "train")), &read(&simple(&scan, "test")));
        }
        if wants("ablation") {
            for split in
                ["mcd_split_from_PR2/tasks_train_mcd1", "simple_split/size_variations/tasks_train_simple_p1"]
            {
                let train = scan.join(format!("{split}.txt"));
                ablation(split, &read(&train), &read(&test_of(&train)), &PARTS, false);
            }
        }
    }
    if let Some(cogs) = official.folder("cogs", 1) {
        let part = |name: &str| read(&cogs.join(format!("data/{name}.tsv")));
        let (train, test, gen_part) = (part("train"), part("test"), part("gen"));
        if wants("cogs") {
            row("cogs test", &train, &test, &Settings::default(), false);
            row("cogs gen", &train, &gen_part, &Settings::default(), false);
        }
        if wants("curves") {
            curve("cogs gen", &train, &gen_part, &[500, 1000, 2000, 5000, 24_155]);
        }
        if wants("noise") {
            noise("cogs gen", &train, &gen_part);
        }
        if wants("ablation") {
            ablation("cogs gen", &train, &gen_part, &PARTS, false);
        }
    }
    if wants("ablation") {
        let part = |dataset: &str, part: &str| made(dataset, &Source::Seed(0), part);
        for (dataset, test, without) in
            [("recogs/positional", "gen", Without::Glued), ("hint/fewshot-x", "test", Without::Spelling)]
        {
            ablation(dataset, &part(dataset, "train"), &part(dataset, test), &[without], true);
        }
    }
    if wants("draws") {
        draws();
    }
    if let Some(recogs) = official.folder("recogs", 1)
        && wants("recogs")
    {
        let part = |name: &str| read(&recogs.join(format!("recogs_positional_index/{name}.tsv")));
        row("recogs positional test", &part("train"), &part("test"), &Settings::default(), true);
    }
    if wants("hint") || wants("noise") {
        let (train, test) =
            (made("hint/symbol", &Source::Official, "train"), made("hint/symbol", &Source::Official, "test"));
        if wants("hint") {
            row("hint symbol", &train, &test, &Settings::default(), false);
        }
        if wants("noise") {
            noise("hint symbol", &train, &test);
        }
    }
    if wants("fewshot") {
        for symbol in ["x", "y", "a", "b", "c", "d"] {
            let part = |part: &str| made(&format!("hint/fewshot-{symbol}"), &Source::Seed(0), part);
            row(
                &format!("hint few-shot {symbol}"),
                &part("train"),
                &part("test"),
                &Settings::default(),
                false,
            );
        }
    }
}

/// The pairs of a part that wug makes.
fn made(dataset: &str, source: &Source, part: &str) -> Vec<Pair> {
    let address: Address = dataset.parse().unwrap_or_else(|error| panic!("{error}"));
    let dataset = address.benchmark.make(&address.dataset, source).unwrap_or_else(|error| panic!("{error}"));
    pairs(&dataset, part)
}

fn pairs(dataset: &Dataset, part: &str) -> Vec<Pair> {
    let rows = dataset.part(part).map_or(&[][..], |part| &part.rows);
    let pair = |&row: &u32| {
        let example = dataset.table.example(row);
        let words: Vec<&str> = example.input.words().collect();
        (words.join(" "), example.target.to_string())
    };
    rows.iter().map(pair).collect()
}

fn simple(scan: &Path, part: &str) -> PathBuf {
    scan.join(format!("simple_split/tasks_{part}_simple.txt"))
}

fn test_of(train: &Path) -> PathBuf {
    PathBuf::from(train.to_string_lossy().replace("train", "test"))
}

/// Pairs of a SCAN file or a TSV file.
fn read(file: &Path) -> Vec<Pair> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let pair = |line: &str| {
        let line = line.strip_prefix("IN: ").unwrap_or(line);
        let (source, rest) = line.split_once(" OUT: ").or_else(|| line.split_once('\t'))?;
        let target = rest.split('\t').next().unwrap_or_default();
        Some((source.trim().to_owned(), target.trim().to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

fn scan_table(scan: &Path, backwards: bool) {
    let mut files: Vec<PathBuf> = [
        "simple_split",
        "simple_split/size_variations",
        "length_split",
        "add_prim_split",
        "template_split",
        "filler_split",
        "mcd_split_from_PR2",
    ]
    .iter()
    .flat_map(|folder| fs::read_dir(scan.join(folder)).into_iter().flatten().flatten())
    .map(|entry| entry.path())
    .filter(|path| path.to_string_lossy().contains("tasks_train"))
    .collect();
    files.sort();
    let all: BTreeSet<Pair> = read(&scan.join("tasks.txt")).into_iter().collect();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().replace("tasks_train_", "");
        let (train, test) = (read(&file), read(&test_of(&file)));
        if backwards {
            let turned: Vec<Pair> = train.into_iter().map(|(command, actions)| (actions, command)).collect();
            let questions: BTreeSet<&String> = test.iter().map(|(_, actions)| actions).collect();
            let start = Instant::now();
            let model = learn(turned, &Settings::default());
            let right = questions
                .par_iter()
                .filter(|actions| all.contains(&(model.predict(actions).text, (**actions).clone())))
                .count();
            println!("nacs {name}: {right} of {} in {:.2?}", questions.len(), start.elapsed());
        } else {
            row(&format!("scan {name}"), &train, &test, &Settings::default(), false);
        }
    }
}

fn row(name: &str, train: &[Pair], test: &[Pair], settings: &Settings, as_sets: bool) {
    let start = Instant::now();
    let model = learn(train.iter().map(|(source, target)| (source, target)), settings);
    let fit = start.elapsed();
    let (right, unsure) = score(&model, test, as_sets);
    println!(
        "{name}: {right} of {} = {:.2}, {unsure} unsure, {} training rows, fit {fit:.2?}, all {:.2?}",
        test.len(),
        100.0 * right as f64 / test.len() as f64,
        train.len(),
        start.elapsed()
    );
}

fn score(model: &Model, test: &[Pair], as_sets: bool) -> (usize, usize) {
    let atoms = |text: &str| -> BTreeSet<String> {
        text.replace(" AND ", " ; ").split(" ; ").map(str::to_owned).collect()
    };
    let judged: Vec<(bool, bool)> = test
        .par_iter()
        .map(|(source, target)| {
            let prediction = model.predict(source);
            let same = prediction.text == *target || (as_sets && atoms(&prediction.text) == atoms(target));
            (same, prediction.coerced || prediction.abstained.is_some())
        })
        .collect();
    (judged.iter().filter(|(right, _)| *right).count(), judged.iter().filter(|(_, unsure)| *unsure).count())
}

/// The first rows of the training file.
fn curve(name: &str, train: &[Pair], test: &[Pair], sizes: &[usize]) {
    for &size in sizes {
        let part = &train[..size.min(train.len())];
        row(&format!("{name} from {size}"), part, test, &Settings::default(), false);
    }
}

/// One target in a hundred altered: replaced by another row's, or by one other token in it.
fn noise(name: &str, train: &[Pair], test: &[Pair]) {
    for (kind, whole) in [("another row's target", true), ("one token", false)] {
        let streams = Streams::new("noise", name, 1);
        let altered: Vec<Pair> = train
            .iter()
            .enumerate()
            .map(|(i, (source, target))| {
                let mut stream = streams.item(i as u64);
                if stream.below(100) > 0 {
                    return (source.clone(), target.clone());
                }
                let other = &train[stream.below(train.len() as u64) as usize].1;
                if whole {
                    return (source.clone(), other.clone());
                }
                let others: Vec<&str> = other.split(' ').collect();
                let mut tokens: Vec<&str> = target.split(' ').collect();
                let at = stream.below(tokens.len() as u64) as usize;
                tokens[at] = others[stream.below(others.len() as u64) as usize];
                (source.clone(), tokens.join(" "))
            })
            .collect();
        row(&format!("{name}, 1% altered ({kind})"), &altered, test, &Settings::default(), false);
    }
}

/// The parts whose worth shows on COGS and SCAN.
const PARTS: [Without; 8] = [
    Without::Penalty,
    Without::Sparsify,
    Without::Refute,
    Without::Prune,
    Without::Starts,
    Without::Kinds,
    Without::Erase,
    Without::Exceptions,
];

fn ablation(name: &str, train: &[Pair], test: &[Pair], parts: &[Without], as_sets: bool) {
    for without in [None].into_iter().chain(parts.iter().copied().map(Some)) {
        let label = without.map_or("everything".to_owned(), |part| format!("without {part:?}"));
        row(&format!("{name}, {label}"), train, test, &Settings { without, ..Settings::default() }, as_sets);
    }
}

/// Rows that wug draws, with several seeds: whether what is found depends on the draw.
fn draws() {
    for name in ["cogs/main", "recogs/positional", "recogs/v2"] {
        let address: Address = name.parse().unwrap_or_else(|error| panic!("{error}"));
        let metric = address.benchmark.metrics()[0].name;
        let judge = address.benchmark.judge(metric).unwrap_or_else(|error| panic!("{error}"));
        for seed in 0..5 {
            let source = Source::Seed(seed);
            let dataset =
                address.benchmark.make(&address.dataset, &source).unwrap_or_else(|error| panic!("{error}"));
            let start = Instant::now();
            let model = learn(pairs(&dataset, "train"), &Settings::default());
            let fit = start.elapsed();
            let rows = dataset.part("gen").map_or(&[][..], |part| &part.rows);
            let is_right = |&&row: &&u32| {
                let example = dataset.table.example(row);
                judge.judge(&example, &model.predict(&example.input.to_string()).text).correct
            };
            let right = rows.par_iter().filter(is_right).count();
            println!(
                "{name} seed {seed}: {right} of {} = {:.2} by {metric}, fit {fit:.2?}, all {:.2?}",
                rows.len(),
                100.0 * right as f64 / rows.len() as f64,
                start.elapsed()
            );
        }
    }
}
