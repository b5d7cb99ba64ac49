//! `wug export`, and the logs of harnesses as predictions.

mod common;

use std::fs;
use std::path::Path;

use common::{ok, text};
use serde_json::{Value, json};

fn export(harness: &str, datasets: &[&str], out: &Path) {
    let args = [&["export", harness], datasets, &["--out", text(out), "--limit", "20"]].concat();
    ok(&args);
}

fn rows(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_harness_gets_its_files() {
    let folder = tempfile::tempdir().unwrap();
    for (harness, files) in [
        ("lm-eval", &["utils.py", "wug_scan_simple.yaml", "wug_nacs_length.jsonl", "wug.json"][..]),
        ("inspect", &["task.py", "wug_scan_simple.jsonl", "wug_nacs_length.jsonl"]),
        ("verifiers", &["wug_scan_simple/pyproject.toml", "wug_nacs_length/wug_nacs_length/taskset.py"]),
    ] {
        let out = folder.path().join(harness);
        export(harness, &["scan/simple", "nacs/length"], &out);
        for file in files {
            assert!(out.join(file).is_file(), "{harness} {file}");
        }
    }
    let rows = rows(&folder.path().join("inspect/wug_scan_simple.jsonl"));
    assert_eq!(rows.len(), 20);
    assert_eq!(rows[0]["id"], "test_00000000");
    assert_eq!(rows[0]["prompt"], format!("Command: {}", rows[0]["input"].as_str().unwrap()));
    assert!(
        fs::read_to_string(folder.path().join("inspect/task.py")).unwrap().contains("def wug_nacs_length()")
    );
    export("inspect", &["hint/symbol#test-SL"], &folder.path().join("subset"));
    assert!(folder.path().join("subset/wug_hint_symbol_test_sl.jsonl").is_file());
}

#[test]
fn logs_are_predictions() {
    let folder = tempfile::tempdir().unwrap();
    export("inspect", &["scan/simple"], folder.path());
    let rows = rows(&folder.path().join("wug_scan_simple.jsonl"));
    // Every second reply is right, behind some thoughts.
    let reply = |(i, row): (usize, &Value)| match i % 2 {
        0 => format!("Let me see.\n**Answer:** {}", row["target"].as_str().unwrap()),
        _ => "Answer: I do not know".to_owned(),
    };
    let replies: Vec<String> = rows.iter().enumerate().map(reply).collect();
    let lm_eval = rows.iter().zip(&replies).map(|(row, reply)| {
        json!({"doc_id": 0, "doc": row, "resps": [[reply]], "filtered_resps": [reply], "correct": 1.0})
            .to_string()
    });
    let samples = folder.path().join("samples_wug_scan_simple_2026.jsonl");
    fs::write(&samples, lm_eval.collect::<Vec<_>>().join("\n")).unwrap();
    let inspect: Vec<Value> = rows
        .iter()
        .zip(&replies)
        .map(|(row, reply)| {
            let message = json!({"role": "assistant", "content": [{"type": "text", "text": reply}]});
            json!({"id": row["id"], "metadata": row, "output": {"choices": [{"message": message}]}})
        })
        .collect();
    let log = folder.path().join("log.json");
    let document = json!({"version": 2, "status": "success", "samples": inspect});
    fs::write(&log, serde_json::to_string_pretty(&document).unwrap()).unwrap();
    for (path, format) in [(samples, "samples of lm-eval"), (log, "a log of Inspect")] {
        let scores = ok(&["score", "scan/simple", "--predictions", text(&path), "--limit", "20", "--json"]);
        let scores: Value = serde_json::from_str(&scores).unwrap();
        assert_eq!(scores["parts"][0]["correct"], 10, "{format}");
        assert_eq!(scores["predictions"]["format"], format);
    }
}
