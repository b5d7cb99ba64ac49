//! Predictions in every form that people have them, and against the draw they were made for.

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{command, fails, ok, tally, text};

const DATASET: &str = "scan/addprim-turn-left";

/// Ids, inputs and targets of the default part.
fn examples(folder: &Path, dataset: &str, part: &str, more: &[&str]) -> Vec<(String, String, String)> {
    let out = folder.join(format!("data-{}", more.join("-").replace('/', "_")));
    ok(&[&["generate", dataset, "--out", text(&out)][..], more].concat());
    let lines = fs::read_to_string(out.join(format!("{part}.jsonl"))).unwrap();
    let field = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|row: serde_json::Value| (field(&row, "id"), field(&row, "input"), field(&row, "target")))
        .collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

/// Scores what is piped in.
fn piped(path: &str, content: &[u8]) -> String {
    let mut child = command(&["score", DATASET, "--predictions", path, "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(content).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_form_gets_full_marks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let all = examples(folder, DATASET, "test", &[]);
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let plain: String = all.iter().map(|(_, _, target)| format!("{target}\n")).collect();
    let jsonl: String = all
        .iter()
        .map(|(id, _, target)| serde_json::json!({"id": id, "prediction": target}).to_string() + "\n")
        .collect();
    let strings: String = all.iter().map(|(_, _, target)| quoted(target) + "\n").collect();
    let list = serde_json::to_string(&all.iter().map(|(_, _, target)| target).collect::<Vec<_>>()).unwrap();
    let pretty: Vec<serde_json::Value> = all
        .iter()
        .rev()
        .map(|(id, _, target)| serde_json::json!({"id": id, "prediction": target.split(' ').collect::<Vec<_>>()}))
        .collect();
    let pretty = serde_json::to_string_pretty(&pretty).unwrap();
    let tsv: String = all.iter().map(|(id, _, target)| format!("{id}\t{target}\n")).collect();
    let csv = std::iter::once("prediction,input,id\r\n".to_owned())
        .chain(all.iter().map(|(id, input, target)| format!("\"{target}\",\"{input}\",{id}\r\n")));
    let csv: String = csv.collect();
    let mark = |text: &str| format!("\u{feff}{text}");
    let cases: [(&str, Vec<u8>, &str); 14] = [
        ("plain.txt", plain.clone().into(), "one a line"),
        ("mark.txt", mark(&plain).into(), "one a line"),
        ("windows.txt", plain.replace('\n', "\r\n").into(), "one a line"),
        ("strings.txt", strings.into(), "JSON lines"),
        ("lines.jsonl", jsonl.clone().into(), "JSON lines"),
        ("mark.jsonl", mark(&jsonl).into(), "JSON lines"),
        ("no_extension", jsonl.clone().into(), "JSON lines"),
        ("list.json", list.clone().into(), "a JSON list"),
        ("list.out", list.into(), "a JSON list"),
        ("pretty.json", pretty.into(), "a JSON list"),
        ("rows.tsv", tsv.clone().into(), "TSV"),
        ("rows.txt", tsv.into(), "TSV"),
        ("rows.csv", mark(&csv).into(), "CSV"),
        ("lines.jsonl.gz", gzip(jsonl.as_bytes()), "JSON lines"),
    ];
    for (name, content, format) in &cases {
        let path = write(folder, name, content);
        let scored = ok(&["score", DATASET, "--predictions", text(&path), "--json"]);
        assert_eq!(tally(&scored), [("test".to_owned(), 1208, 1208)], "{name}");
        assert!(scored.contains(&format!("\"format\": \"{format}\"")), "{name}: {scored}");
    }
    for content in [plain.as_bytes(), jsonl.as_bytes(), &gzip(plain.as_bytes())] {
        for path in ["-", "/dev/stdin"] {
            assert_eq!(tally(&piped(path, content)), [("test".to_owned(), 1208, 1208)], "{path}");
        }
    }
    let path = write(folder, "out.txt", plain);
    let shown = ok(&["score", DATASET, "--predictions", text(&path)]);
    assert!(shown.contains("1,208 predictions, one a line"), "{shown}");
}

#[test]
fn what_is_no_prediction_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let refused = |name: &str, content: &[u8]| {
        fails(1, &["score", DATASET, "--predictions", text(&write(folder, name, content))])
    };
    let message = refused("null.jsonl", b"{\"id\": \"test_00000000\", \"prediction\": null}\n");
    assert!(message.contains("null.jsonl:1: the prediction is null: write \"\" where"), "{message}");
    let message = refused("list.json", b"[\"I_JUMP\", null]");
    assert!(message.contains("list.json: element 2: the prediction is null"), "{message}");
    let message = refused("mixed.txt", b"\"I_JUMP\"\nI_WALK\n");
    assert!(message.contains("mixed.txt:2: not JSON") && message.contains("--format lines"), "{message}");
    let message = refused("utf16.txt", b"\xff\xfeI\0_\0");
    assert!(message.contains("is UTF-16 text: save it as UTF-8"), "{message}");
    let message = refused("packed.zst", b"\x28\xb5\x2f\xfd....");
    assert!(message.contains("is compressed with zstd"), "{message}");
    let message = refused("broken.gz", b"\x1f\x8b\x08\x00garbage");
    assert!(message.contains("broken.gz"), "{message}");
    let message = refused("id.jsonl", b"{\"id\": \"gen_00000000\", \"prediction\": \"\"}\n");
    assert!(
        message.contains(
            "id.jsonl:1: `gen_00000000` is not an id of scan/addprim-turn-left; its parts are: train, test"
        ),
        "{message}"
    );
    let message = refused("key.jsonl", b"{\"id\": \"test_00000000\", \"output\": \"\"}\n");
    assert!(message.contains("no `prediction`, only `id`, `output`"), "{message}");
}

/// `yes x | wug score`: an endless input ends at the first line that is one too many.
#[test]
#[cfg(unix)]
fn an_endless_input_is_not_read_to_its_end() {
    use std::process::Command;
    let mut yes = Command::new("yes").arg("x").stdout(Stdio::piped()).spawn().unwrap();
    let output = command(&["score", DATASET, "--predictions", "-"])
        .stdin(yes.stdout.take().unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    yes.wait().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains(
            "standard input:1209: a prediction too many: there are 1208 examples of test (#train has 21890"
        ),
        "{message}"
    );
}

#[test]
fn a_part_with_as_many_examples_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "val.txt", "x\n".repeat(1552));
    let message = fails(1, &["score", "scan/length", "--predictions", text(&path)]);
    assert!(message.contains("(val-length has as many: score scan/length#val-length)"), "{message}");
}

#[test]
fn the_draw_is_printed_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let all = examples(folder, "scan/simple", "test", &["--seed", "3"]);
    let with_draw = |name: &str, draw: serde_json::Value| {
        let line = |(id, _, target): &(String, String, String)| {
            serde_json::json!({"id": id, "prediction": target, "draw": draw}).to_string() + "\n"
        };
        write(folder, name, all.iter().map(line).collect::<String>())
    };
    let score = |path: &Path, seed: &str| {
        ["score", "scan/simple", "--seed", seed, "--json", "--predictions", text(path)].map(str::to_owned)
    };
    let run = |args: [String; 7]| ok(&args.each_ref().map(String::as_str));

    let path = with_draw("seed.jsonl", 3.into());
    let scored: serde_json::Value = serde_json::from_str(&run(score(&path, "3"))).unwrap();
    assert_eq!(scored["draw"]["seed"], 3);
    let hash = scored["hashes"]["test"].as_str().unwrap().to_owned();
    assert!(hash.starts_with("sha256:") && hash.len() == 39, "{hash}");
    let message = fails(1, &score(&path, "0").each_ref().map(String::as_str));
    assert!(
        message.contains("seed.jsonl:1: is of seed 3, but scored against seed 0: give --seed 3"),
        "{message}"
    );
    let message = fails(1, &["score", "scan/simple", "--predictions", text(&path)]);
    assert!(message.contains("is of seed 3"), "{message}");

    // The same rows have the same hash, however they are stored.
    let data = folder.join("parquet");
    ok(&["generate", "scan/simple", "--seed", "3", "--format", "parquet", "--out", text(&data)]);
    let path = with_draw("hash.jsonl", hash.clone().into());
    let from_folder = ["score", "scan/simple", "--data", text(&data), "--predictions", text(&path)];
    let shown = ok(&from_folder);
    assert!(shown.contains(&format!("{} (seed 3) (test {})", text(&data), &hash[..19])), "{shown}");
    let message = fails(1, &score(&path, "0").each_ref().map(String::as_str));
    assert!(message.contains(&format!("is of the draw {hash}, but test of seed 0 is sha256:")), "{message}");

    // So have inputs that go with the predictions.
    let line = |(id, input, target): &(String, String, String)| {
        serde_json::json!({"id": id, "prediction": target, "input": input}).to_string() + "\n"
    };
    let path = write(folder, "inputs.jsonl", all.iter().map(line).collect::<String>());
    assert_eq!(tally(&run(score(&path, "3")))[0].2, 4182);
    let message = fails(1, &score(&path, "0").each_ref().map(String::as_str));
    assert!(message.contains("inputs.jsonl:1: its input is `"), "{message}");
}

/// Predictions that were made for something else say so by what they fit.
#[test]
fn a_bad_score_comes_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let targets = |examples: &[(String, String, String)]| -> String {
        examples.iter().map(|(_, _, target)| format!("{target}\n")).collect()
    };
    let hint = |args: &[&str]| {
        let scored = ok(&[&["score", "--json"], args].concat());
        let scored: serde_json::Value = serde_json::from_str(&scored).unwrap();
        scored["hint"].as_str().map(str::to_owned)
    };
    let third =
        write(folder, "third.txt", targets(&examples(folder, "scan/simple", "test", &["--seed", "3"])));
    let found = hint(&["scan/simple", "--predictions", text(&third)]).unwrap();
    assert!(found.starts_with("they fit the draw of seed 3 (100% of a sample): give --seed 3"), "{found}");
    assert_eq!(hint(&["scan/simple", "--seed", "3", "--predictions", text(&third)]), None);

    // In the order of the table, as in no draw.
    let mut sorted = examples(folder, "scan/length", "test", &[]);
    sorted.sort_by(|one, other| one.1.cmp(&other.1));
    let sorted = write(folder, "sorted.txt", targets(&sorted));
    let found = hint(&["scan/length", "--predictions", text(&sorted)]).unwrap();
    assert!(found.contains("are targets of other examples of test: are they in another order"), "{found}");

    // A model that mixes up left and right gives targets of other examples, but of the same lengths.
    let mixed = targets(&examples(folder, "scan/length", "test", &["--seed", "0"]));
    let mixed = mixed.replace("LEFT", "RIGH_").replace("RIGHT", "LEFT").replace("RIGH_", "RIGHT");
    let mixed = write(folder, "mixed.txt", mixed);
    assert_eq!(hint(&["scan/length", "--predictions", text(&mixed)]), None);
}

#[test]
fn facts_parts_and_explanations_may_be_several() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = folder.join("data");
    ok(&["generate", "scan/length", "--out", text(&data), "--limit", "40"]);
    let mut lines = String::new();
    for part in ["val-length", "test"] {
        for (i, line) in fs::read_to_string(data.join(format!("{part}.jsonl"))).unwrap().lines().enumerate() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let answer = if i < 3 { "I_JUMP" } else { row["target"].as_str().unwrap() };
            lines += &(serde_json::json!({"id": row["id"], "prediction": answer}).to_string() + "\n");
        }
    }
    let path = write(folder, "both.jsonl", lines);
    let args =
        ["score", "scan/length#val-length,test", "--limit", "40", "--predictions", text(&path), "--json"];
    let more = [
        "--by",
        "command-length",
        "--by",
        "action-length",
        "--explain",
        "test_00000001",
        "--explain-first",
        "2",
    ];
    let scored: serde_json::Value = serde_json::from_str(&ok(&[&args[..], &more].concat())).unwrap();
    let parts = scored["parts"].as_array().unwrap();
    assert_eq!(parts.iter().map(|part| part["correct"].as_u64().unwrap()).collect::<Vec<_>>(), [37, 37]);
    assert_eq!(parts[0]["by"].as_array().unwrap().len(), 2);
    let explained: Vec<&str> =
        scored["explained"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(explained, ["test_00000001", "val-length_00000000", "val-length_00000001"]);
}
