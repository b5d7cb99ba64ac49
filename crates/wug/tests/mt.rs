//! Translation: pairs come back from files, and BLEU is printed beside exact match.

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::{fails, ok, tally, text};

#[test]
fn files_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for dataset in ["mt/en-fr", "mt/fr-en-daxy"] {
        let name = dataset.replace('/', "-");
        let [rows, there, back] = ["rows", "there", "back"].map(|kind| at(&format!("{name}-{kind}")));
        ok(&["generate", dataset, "--out", text(&rows), "--quiet"]);
        ok(&["generate", dataset, "--format", "native", "--out", text(&there), "--quiet"]);
        let from = ["generate", dataset, "--data", text(&rows), "--format", "native", "--quiet"];
        ok(&[&from[..], &["--out", text(&back)]].concat());
        for (file, path) in common::files(&there) {
            let lines = |path: &std::path::Path| fs::read_to_string(path).unwrap();
            let (there, back) = (lines(&path), lines(&back.join(&file)));
            // Train of a dataset with the invented word is shuffled anew.
            let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
            assert!(file == "wug.json" || sorted(&there) == sorted(&back), "{dataset} {file}");
        }
        let shown = ok(&["show", dataset, "--data", text(&there), "-n", "1", "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["parts"][1]["rows"], 1180);
    }
}

#[test]
fn bleu_stands_beside_exact_match() {
    let folder = tempfile::tempdir().unwrap();
    let gold = folder.path().join("gold");
    ok(&["generate", "mt/en-fr#test", "--format", "native", "--out", text(&gold), "--quiet"]);
    let right = fs::read_to_string(gold.join("test.trg")).unwrap();
    let file = folder.path().join("predictions.txt");
    let score = |predictions: &str, more: &[&str]| {
        fs::write(&file, predictions).unwrap();
        let arguments = ["score", "mt/en-fr", "--predictions", text(&file), "--json"];
        let printed = ok(&[&arguments, more].concat());
        let json: serde_json::Value = serde_json::from_str(&printed).unwrap();
        (tally(&printed)[0].2, json["parts"][0]["score"].as_f64())
    };
    let (exact, bleu) = score(&right, &[]);
    assert!(exact == 1180 && (bleu.unwrap() - 100.0).abs() < 1e-6);
    let (exact, bleu) = score(&right.replace(" .", ""), &["--metric", "bleu"]);
    assert!(exact == 0 && (50.0..99.0).contains(&bleu.unwrap()), "{bleu:?}");
    assert_eq!(score(&right, &["--metric", "exact"]), (1180, None));
    assert!(
        fails(2, &["score", "mt/en-fr", "--predictions", text(&file), "--metric", "ter"])
            .contains("bleu, exact")
    );
}
