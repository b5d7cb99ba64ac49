//! Scoring as a user does it.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{ok, tally, text};

/// Input and target of each example of a part.
fn examples(folder: &Path, dataset: &str, part: &str) -> Vec<(String, String, String)> {
    let out = folder.join(dataset.replace('/', "-"));
    ok(&["generate", dataset, "--out", text(&out)]);
    let rows = fs::read_to_string(out.join(format!("{part}.jsonl"))).unwrap();
    rows.lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| row[name].as_str().unwrap().to_owned();
            (field("id"), field("input"), field("target"))
        })
        .collect()
}

fn write(folder: &Path, name: &str, lines: impl IntoIterator<Item = String>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, lines.into_iter().map(|line| line + "\n").collect::<String>()).unwrap();
    path
}

#[test]
fn gold_predictions_are_right_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let examples = examples(folder.path(), "scan/addprim-turn-left", "test");
    let gold = write(folder.path(), "gold.txt", examples.iter().map(|(_, _, target)| target.clone()));
    let wrong =
        write(folder.path(), "wrong.txt", examples.iter().map(|(_, _, target)| format!("{target} I_JUMP")));
    let score = |file: &PathBuf, part: &str| {
        let dataset = format!("scan/addprim-turn-left{part}");
        tally(&ok(&["score", &dataset, "--predictions", text(file), "--json"]))
    };
    assert_eq!(score(&gold, "#test"), [("test".to_owned(), 1208, 1208)]);
    assert_eq!(score(&gold, ""), [("test".to_owned(), 1208, 1208)]);
    assert_eq!(score(&wrong, ""), [("test".to_owned(), 1208, 0)]);
}

/// Most action sequences of NACS have several commands: each of them is right, and no other text is.
#[test]
fn nacs_takes_every_command_with_the_right_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let all = examples(folder.path(), "nacs/all", "all");
    let mut commands: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, actions, command) in &all {
        commands.entry(actions).or_default().push(command);
    }
    assert_eq!(commands.len(), 9228);
    let test = examples(folder.path(), "nacs/length", "test");
    let mut others = 0;
    let other = write(
        folder.path(),
        "other.txt",
        test.iter().map(|(_, actions, command)| {
            let same = &commands[actions.as_str()];
            let other = same.iter().find(|other| *other != command).unwrap_or(&command.as_str()).to_string();
            others += usize::from(other != *command);
            other
        }),
    );
    assert!(others > 3500, "nearly every sequence has another command: {others}");
    let score = |file: &PathBuf, metric: &str| {
        let args = ["score", "nacs/length#test", "--predictions", text(file), "--json", "--metric", metric];
        tally(&ok(&args))[0].2
    };
    assert_eq!(score(&other, "meaning"), 3920);
    assert_eq!(score(&other, "exact"), 3920 - others as u64);

    let broken = ["", "turn", "jump jump", "I_JUMP", "jump twice twice", "and", "walk and jump and run"];
    let ill_formed = (0..test.len()).map(|i| broken[i % broken.len()].to_owned());
    let ill_formed = write(folder.path(), "ill-formed.txt", ill_formed);
    assert_eq!(score(&ill_formed, "meaning"), 0);
}

/// The official metric takes ill-formed text for right where the gold command has `dab`.
#[test]
fn ill_formed_predictions_are_wrong_on_dab_too() {
    let folder = tempfile::tempdir().unwrap();
    let dab = examples(folder.path(), "nacs/addprim-jump", "val-dab");
    assert!(dab.iter().all(|(_, actions, command)| actions.contains("I_DAB") && command.contains("dab")));
    let gold = write(folder.path(), "gold.txt", dab.iter().map(|(_, _, command)| command.clone()));
    let nonsense = write(folder.path(), "nonsense.txt", dab.iter().map(|_| "no such command".to_owned()));
    let jump =
        write(folder.path(), "jump.txt", dab.iter().map(|(_, _, command)| command.replace("dab", "jump")));
    let score = |file: &PathBuf| {
        tally(&ok(&["score", "nacs/addprim-jump#val-dab", "--predictions", text(file), "--json"]))[0].2
    };
    assert_eq!((score(&gold), score(&nonsense), score(&jump)), (7706, 0, 0));
}

#[test]
fn predictions_come_by_id_or_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let test = examples(folder.path(), "scan/length", "test");
    let val = examples(folder.path(), "scan/length", "val-length");
    let json = |(id, _, target): &(String, String, String)| {
        serde_json::json!({"id": id, "prediction": target, "ignored": 1}).to_string()
    };
    // Any order, several parts in one file.
    let both = write(folder.path(), "both.jsonl", val.iter().chain(test.iter().rev()).map(json));
    let tallies = tally(&ok(&["score", "scan/length", "--predictions", text(&both), "--json"]));
    assert_eq!(tallies, [("val-length".to_owned(), 1552, 1552), ("test".to_owned(), 3920, 3920)]);

    let tsv = std::iter::once("id\tprediction".to_owned())
        .chain(test.iter().map(|(id, _, target)| format!("{id}\t{target}")));
    let tsv = write(folder.path(), "test.tsv", tsv);
    assert_eq!(tally(&ok(&["score", "scan/length", "--predictions", text(&tsv), "--json"]))[0].2, 3920);

    let tokens = test.iter().map(|(id, _, target)| {
        let tokens: Vec<&str> = target.split(' ').collect();
        serde_json::json!({"id": id, "prediction": tokens}).to_string()
    });
    let tokens = write(folder.path(), "tokens.jsonl", tokens);
    assert_eq!(
        tally(&ok(&["score", "scan/length#test", "--predictions", text(&tokens), "--json"]))[0].2,
        3920
    );

    let ten = write(folder.path(), "ten.txt", test[..10].iter().map(|(_, _, target)| target.clone()));
    let limited = ["score", "scan/length", "--predictions", text(&ten), "--limit", "10", "--json"];
    assert_eq!(tally(&ok(&limited)), [("test".to_owned(), 10, 10)]);
}

/// Official test files and folders of them are scored against as they are.
#[test]
fn gold_files_replace_the_generated_part() {
    let folder = tempfile::tempdir().unwrap();
    let gold = folder.path().join("gold");
    ok(&["generate", "scan/simple#test", "--format", "native", "--seed", "9", "--out", text(&gold)]);
    let file = gold.join("tasks_test_simple.txt");
    let predictions = fs::read_to_string(&file).unwrap();
    let actions = predictions.lines().map(|line| line.split_once(" OUT: ").unwrap().1.to_owned());
    let actions = write(folder.path(), "actions.txt", actions);
    let commands = predictions.lines().map(|line| line[4..].split_once(" OUT: ").unwrap().0.to_owned());
    let commands = write(folder.path(), "commands.txt", commands);
    let score = |dataset: &str, predictions: &PathBuf| {
        tally(&ok(&["score", dataset, "--predictions", text(predictions), "--gold", text(&file), "--json"]))
            [0]
        .2
    };
    assert_eq!(score("scan/simple", &actions), 4182);
    assert_eq!(score("nacs/simple", &commands), 4182);
}

#[test]
fn verdicts_keep_the_order_and_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let lines = ["I_JUMP I_JUMP", "", "I_WALK", "I_JUMP I_JUMP I_JUMP"].map(str::to_owned);
    let predictions = write(folder.path(), "predictions.txt", lines);
    let gold = folder.path().join("gold.txt");
    fs::write(&gold, "IN: jump twice OUT: I_JUMP I_JUMP\n".repeat(4)).unwrap();
    let verdicts = folder.path().join("verdicts.jsonl");
    let args = ["score", "scan/simple", "--gold", text(&gold), "--predictions", text(&predictions)];
    ok(&[&args[..], &["--verdicts", text(&verdicts)]].concat());
    insta::assert_snapshot!(fs::read_to_string(&verdicts).unwrap(), @r#"
    {"id":"test_00000000","correct":true}
    {"id":"test_00000001","correct":false,"reason":"empty prediction"}
    {"id":"test_00000002","correct":false,"reason":"token 1 is I_WALK, not I_JUMP"}
    {"id":"test_00000003","correct":false,"reason":"1 token too many"}
    "#);
}

#[test]
fn a_person_sees_accuracy_bars_and_errors() {
    let folder = tempfile::tempdir().unwrap();
    let test = examples(folder.path(), "scan/length", "test");
    let cut = test.iter().map(|(_, _, target)| target.split(' ').take(32).collect::<Vec<_>>().join(" "));
    let cut = write(folder.path(), "cut.txt", cut);
    let args =
        ["score", "scan/length", "--predictions", text(&cut), "--by", "action-length", "--errors", "1"];
    insta::assert_snapshot!(ok(&args));
}
