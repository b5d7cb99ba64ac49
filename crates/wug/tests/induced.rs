//! The learner `induced` behind the command line, on a user's own pairs.

mod common;

use std::fs;

use common::{fails, ok, text};

const TRAIN: &str = "jump\tJUMP\nwalk\tWALK\nlook\tLOOK\nwalk twice\tWALK WALK\nlook twice\tLOOK LOOK\n\
                     walk and look\tWALK LOOK\nlook twice and walk\tLOOK LOOK WALK\njump and look\tJUMP LOOK\n\
                     walk and look twice\tWALK LOOK LOOK\n";

#[test]
fn own_pairs_are_learned_and_scored() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("train.tsv"), TRAIN).unwrap();
    let test = "{\"input\":\"jump twice and walk twice\",\"target\":\"JUMP JUMP WALK WALK\"}\n";
    fs::write(data.join("test.jsonl"), test).unwrap();
    let out = folder.path().join("run");
    let run = ["run", "pairs", "--data", text(&data), "--learner", "induced", "--set", "budget=60s"];
    let report = ok(&[&run[..], &["--json", "--out", text(&out)]].concat());
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["dataset"], "pairs/own");
    assert_eq!(
        (report["parts"][0]["n"].as_u64(), report["parts"][0]["correct"].as_u64()),
        (Some(1), Some(1))
    );
    let grammar = fs::read_to_string(out.join("grammar.txt")).unwrap();
    assert!(grammar.contains("$1 twice => $1 $1"), "{grammar}");
    assert!(out.join("grammar.json").exists());
    for explain in [["--explain-first", "1"], ["--explain", "test_00000000"]] {
        let shown = ok(&[&run[..], &explain].concat());
        assert!(shown.contains("JUMP JUMP WALK WALK"), "{shown}");
        // The rules that the derivation names are there to read.
        assert!(shown.contains(": $1 twice => $1 $1\n") && shown.contains(" and $2 => $1 $2\n"), "{shown}");
    }
    let error = fails(2, &[&run[..], &["--explain", "test_00000007"]].concat());
    assert!(error.contains("`test_00000007` is not the id of an example that is answered"), "{error}");
}

/// Pairs that no short grammar explains.
fn unexplained(rows: usize) -> String {
    let word = |i: usize| format!("w{}", (i * i * 31 + i * 7) % 97);
    let text = |from: usize, length: usize| (from..from + length).map(word).collect::<Vec<_>>().join(" ");
    (0..rows).map(|i| format!("{}\t{}\n", text(i * 13, 2 + i % 9), text(i * 29 + 5, 1 + i % 7))).collect()
}

#[test]
fn a_search_that_was_stopped_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("train.tsv"), unexplained(400)).unwrap();
    fs::write(folder.path().join("test.tsv"), unexplained(5)).unwrap();
    let run = ["run", "pairs", "--data", text(folder.path()), "--learner", "induced", "--set", "budget=5s"];
    let stopped = |more: &[&str]| {
        let report = ok(&[&run[..], more, &["--json"]].concat());
        serde_json::from_str::<serde_json::Value>(&report).unwrap()["stopped"].clone()
    };
    assert_eq!(stopped(&["--set", "steps=1000"]), "steps");
    assert_eq!(stopped(&["--time-limit", "1s"]), "time");
    let shown = ok(&[&run[..], &["--time-limit", "1s"]].concat());
    assert!(shown.contains("the time was over before learning was done"), "{shown}");
}

#[test]
fn what_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = fails(2, &["run", "pairs", "--learner", "induced"]);
    assert!(error.contains("--data DIR"), "{error}");
    fs::write(folder.path().join("train.tsv"), TRAIN).unwrap();
    let run = ["run", "pairs", "--data", text(folder.path()), "--learner", "induced"];
    let error = fails(1, &run);
    assert!(error.contains("has none of test.tsv, test.jsonl and test.parquet"), "{error}");
    fs::write(folder.path().join("test.tsv"), "no tab here\n").unwrap();
    let error = fails(1, &run);
    assert!(error.contains("test.tsv:1") && error.contains("one tab"), "{error}");
    let error = fails(2, &["run", "toy/random-1", "--learner", "induced", "--set", "budget=soon"]);
    assert!(error.contains("such as 90, 90s, 5m or 2h"), "{error}");
}
