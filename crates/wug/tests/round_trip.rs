//! What wug writes, it reads: every dataset in every format, written again from `--data`, is the same bytes.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{files, ok, text, wug};

const FORMATS: [&str; 3] = ["native", "jsonl", "parquet"];

/// The files of a folder, less what says how they were made.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let made = |name: &String| name == "wug.json" || name.ends_with("README.md");
    let files = files(folder).into_iter().filter(|(name, _)| !made(name));
    files.map(|(name, path)| (name, fs::read(path).unwrap())).collect()
}

/// Writes a dataset, or all of a benchmark, reads it, writes it again, and compares.
fn round_trip(dataset: &str, format: &str, more: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let generate = |out: &Path, source: &[&str]| {
        let args = ["generate", dataset, "--format", format, "--out", text(out)];
        ok(&[&args[..], source].concat())
    };
    generate(&first, more);
    generate(&second, &["--data", text(&first)]);
    let (first, second) = (content(&first), content(&second));
    assert!(!first.is_empty(), "{dataset} as {format} has no files");
    let names = |content: &BTreeMap<String, Vec<u8>>| content.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&first), names(&second), "{dataset} as {format}");
    for (name, bytes) in &first {
        if bytes != &second[name] {
            let lines = |bytes: &[u8]| -> Vec<String> {
                bytes
                    .split(|&b| b == b'\n')
                    .map(|line| String::from_utf8_lossy(line).chars().take(400).collect())
                    .collect()
            };
            let (one, other) = (lines(bytes), lines(&second[name]));
            let different = one.iter().zip(&other).position(|(one, other)| one != other);
            panic!(
                "{dataset} as {format}: {name} differs: {:?}",
                different.map(|at| (at + 1, &one[at], &other[at]))
            );
        }
    }
}

/// What makes a dataset small enough for a test.
fn small(benchmark: &str) -> &'static [&'static str] {
    match benchmark {
        "hint" => &["--with", "train=30", "--with", "val=8", "--with", "test=12", "--seed", "4"],
        "mns" => &["--limit", "60", "--seed", "4"],
        _ => &["--seed", "4"],
    }
}

/// One dataset of each family that can be drawn.
fn representatives() -> Vec<String> {
    let listing: serde_json::Value = serde_json::from_str(&ok(&["list", "--json"])).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    let all = listing["datasets"].as_array().unwrap().iter();
    let drawn =
        all.filter(|dataset| dataset["rows"] != "import").map(|dataset| dataset["dataset"].as_str().unwrap());
    let family = |name: &str| {
        name.split(['-', '_']).map(|word| word.trim_end_matches(char::is_numeric)).collect::<String>()
    };
    drawn.filter(|name| seen.insert(family(name))).map(str::to_owned).collect()
}

/// Every family, in one format in turn; the nightly test has all of both.
#[test]
fn every_family_comes_back() {
    let names = representatives();
    assert!(names.len() > 40, "{names:?}");
    // What is left out differs from another one by a symbol, or by its size.
    let is_kept = |name: &&String| {
        let few_shot = name.contains("fewshot-") && !name.contains("fewshot-x");
        !few_shot && !["mns/circle", "mns/shapes"].contains(&name.as_str())
    };
    for (i, name) in names.iter().filter(is_kept).enumerate() {
        let benchmark = name.split('/').next().unwrap();
        round_trip(name, FORMATS[i % 3], small(benchmark));
    }
}

#[test]
fn a_whole_benchmark_comes_back() {
    round_trip("mt", "native", &["--limit", "300"]);
    round_trip("recogs", "jsonl", &["--limit", "300"]);
}

#[test]
fn an_excerpt_comes_back() {
    for name in [
        "scan/length",
        "scan/simple-p4",
        "nacs/addprim-jump",
        "cogs/main",
        "hint/symbol",
        "mt/fr-en",
        "toy/random-3",
    ] {
        for format in FORMATS {
            let more: &[&str] = if name.starts_with("hint") {
                &["--limit", "70", "--with", "train=500"]
            } else {
                &["--limit", "70"]
            };
            round_trip(name, format, more);
        }
        round_trip(&format!("{name}#test"), "jsonl", &["--limit", "40"]);
    }
}

#[test]
fn a_users_own_pairs_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("train.tsv"), "walk\tWALK\nwalk twice\tWALK WALK\n").unwrap();
    fs::write(own.join("test.tsv"), "run twice\tRUN RUN\n").unwrap();
    for format in FORMATS {
        round_trip("pairs", format, &["--data", text(&own)]);
    }
    let output = wug(&["generate", "pairs", "--out", text(&folder.path().join("none"))]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("pairs are your own: give --data DIR"), "{message}");
}

/// All of them: a few minutes.
#[test]
#[ignore = "takes minutes; scripts/nightly runs it"]
fn every_dataset_comes_back_in_every_format() {
    let listing: serde_json::Value = serde_json::from_str(&ok(&["list", "--json"])).unwrap();
    for dataset in
        listing["datasets"].as_array().unwrap().iter().filter(|dataset| dataset["rows"] != "import")
    {
        let name = dataset["dataset"].as_str().unwrap();
        for format in FORMATS {
            round_trip(name, format, small(name.split('/').next().unwrap()));
        }
    }
}
