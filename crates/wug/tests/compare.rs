//! `wug compare`: paired differences of runs and files.

mod common;

use std::fs;
use std::path::Path;

use common::{fails, ok, text};
use serde_json::Value;

/// Predictions for the test part of scan/length, of which some are wrong.
fn predictions(path: &Path, is_right: impl Fn(usize) -> bool) {
    let shown = ok(&["show", "scan/length#test", "-n", "3920", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let lines = shown["examples"].as_array().unwrap().iter().enumerate().map(|(i, example)| {
        let target = example["target"].as_str().unwrap();
        if is_right(i) { format!("{target}\n") } else { "I_RUN\n".to_owned() }
    });
    fs::write(path, lines.collect::<String>()).unwrap();
}

#[test]
fn files_are_compared_example_by_example() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.txt"), folder.path().join("b.txt"));
    predictions(&a, |i| i % 4 == 0);
    predictions(&b, |i| i % 4 == 0 && i >= 400 || i % 4 == 1 && i < 2000);
    let args = ["compare", text(&a), text(&b), "--dataset", "scan/length#test", "--by", "action-length"];
    let json: Value = serde_json::from_str(&ok(&[&args[..], &["--json"]].concat())).unwrap();
    let pair = &json["parts"][0]["pairs"][0];
    assert_eq!((&pair["gained"], &pair["lost"]), (&500.into(), &100.into()));
    assert_eq!((&pair["both"], &pair["neither"]), (&880.into(), &(3920 - 1480).into()));
    // scipy.stats.binomtest(100, 600).pvalue
    let p = pair["mcnemar"].as_f64().unwrap();
    assert!(p > 0.0 && p < 1e-60, "{p}");
    let (low, high) = (pair["interval"][0].as_f64().unwrap(), pair["interval"][1].as_f64().unwrap());
    // The normal approximation: 400/3920 plus and minus 1.96 standard errors of 0.00599.
    assert!((low - 0.0903).abs() < 1e-3 && (high - 0.1138).abs() < 1e-3, "{low} {high}");
    let groups = pair["by"][0]["groups"].as_array().unwrap();
    let n: u64 = groups.iter().map(|group| group["n"].as_u64().unwrap()).sum();
    let gained: u64 = groups.iter().map(|group| group["gained"].as_u64().unwrap()).sum();
    assert_eq!((n, gained), (3920, 500));
    assert_eq!(pair["flips"].as_array().unwrap().len(), 600);
    let shown = ok(&[&args[..], &["--flips", "1"]].concat());
    assert!(shown.contains("+10.20") && shown.contains("test_00000000  lost"), "{shown}");
}

#[test]
fn seeds_are_a_source_of_variance() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    for (out, steps) in [(&a, "60"), (&b, "120")] {
        let set = format!("steps={steps}");
        ok(&[
            "run",
            "scan/simple#test",
            "--learner",
            "lstm",
            "--set",
            &set,
            "--set",
            "hidden=16",
            "--seeds",
            "3",
            "--limit",
            "100",
            "--out",
            text(out),
            "--quiet",
        ]);
    }
    let json: Value = serde_json::from_str(&ok(&["compare", text(&a), text(&b), "--json"])).unwrap();
    let part = &json["parts"][0];
    assert_eq!(part["systems"][1]["accuracies"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&part["pairs"][0]["method"], &part["pairs"][0]["mcnemar"]),
        (&"seed-bootstrap".into(), &Value::Null)
    );
    // Single runs are compared without seeds.
    let (a, b) = (a.join("seed-0"), b.join("seed-0"));
    let json: Value = serde_json::from_str(&ok(&["compare", text(&a), text(&b), "--json"])).unwrap();
    assert_eq!(json["parts"][0]["pairs"][0]["method"], "paired-bootstrap");
    let same: Value = serde_json::from_str(&ok(&["compare", text(&a), text(&a), "--json"])).unwrap();
    assert_eq!(same["parts"][0]["pairs"][0]["difference"], 0.0);
}

#[test]
fn what_was_not_asked_the_same_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, dataset, seed) in
        [("a", "scan/simple#test", "0"), ("b", "scan/length#test", "0"), ("c", "scan/simple#test", "1")]
    {
        ok(&[
            "run",
            dataset,
            "--learner",
            "chance",
            "--seed",
            seed,
            "--limit",
            "9",
            "--out",
            text(&at(name)),
            "--quiet",
        ]);
    }
    let compare = |a: &str, b: &str| fails(2, &["compare", text(&at(a)), text(&at(b))]);
    assert!(compare("a", "b").contains("their datasets are scan/simple and scan/length"));
    assert!(compare("a", "c").contains("their draws of test are sha256:"));
    assert!(fails(2, &["compare", text(&at("a"))]).contains("at least two"));
    assert!(fails(2, &["compare", text(&at("a")), text(&at("none"))]).contains("not a run folder"));
    assert!(
        fails(2, &["compare", text(&at("a")), text(&at("a")), "--by", "colour"]).contains("no fact `colour`")
    );
    fs::create_dir(at("empty")).unwrap();
    assert!(
        fails(1, &["compare", text(&at("a")), text(&at("empty"))]).contains("there is no run in this folder")
    );
}
