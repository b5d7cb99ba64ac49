//! One clear message, the right exit code, and nothing left behind.

mod common;

use std::fs;
use std::path::Path;

use common::{fails, ok, text};

#[test]
fn names_that_do_not_exist() {
    let message = fails(2, &["show", "scan/lenght"]);
    assert!(message.contains("no dataset `scan/lenght`; did you mean scan/length"), "{message}");
    let message = fails(2, &["show", "length"]);
    assert!(message.contains("did you mean nacs/length, scan/length"), "{message}");
    let message = fails(2, &["show", "scan"]);
    assert!(message.contains("`scan` is a benchmark; name one of its datasets"), "{message}");
    let message = fails(2, &["show", &"x".repeat(100_000)]);
    assert!(message.len() < 300, "{message}");
    let message = fails(2, &["show", "scan/length#tset"]);
    assert!(
        message.contains("scan/length has no part `tset`; there are: train, test, val-random"),
        "{message}"
    );
    let message = fails(2, &["show", "scan/mcd-1"]);
    assert!(message.contains("read the released files with --data DIR"), "{message}");
    let message = fails(2, &["show", "scan/length", "--seed", "official"]);
    assert!(message.contains("cannot be repeated from a seed: read it with --data DIR"), "{message}");
    let message = fails(2, &["show", "scan/length", "--seed", "one"]);
    assert!(message.contains("expected a whole number or `official`"), "{message}");
    let message = fails(1, &["show", "scan/length", "--data", "no/such/folder"]);
    assert!(message.contains("no/such/folder: is not a folder"), "{message}");
    let message = fails(2, &["score", "scan/length", "--predictions", "Cargo.toml", "--metric", "bleu"]);
    assert!(message.contains("scan has no metric `bleu`"), "{message}");
}

fn score_fails(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    let message = fails(1, &["score", "scan/addprim-turn-left", "--predictions", text(&path)]);
    assert!(message.starts_with("error: ") && message.lines().count() == 1, "{message}");
    assert!(message.contains(name), "{message}");
    message
}

#[test]
fn predictions_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let message = score_fails(folder, "empty.txt", b"");
    assert!(
        message.contains("empty.txt:1: ends after 0 predictions; there are 1208 examples of test"),
        "{message}"
    );
    let message = score_fails(folder, "few.txt", &b"I_JUMP\n".repeat(1207));
    assert!(message.contains("few.txt:1208: ends after 1207 predictions"), "{message}");
    let message = score_fails(folder, "many.txt", &b"I_JUMP\n".repeat(1210));
    assert!(
        message.contains("many.txt:1209: a prediction too many: there are 1208 examples of test"),
        "{message}"
    );
    let message = score_fails(folder, "latin.txt", b"I_JUMP\nI_J\xdcMP\n");
    assert!(message.contains("latin.txt:2: not UTF-8 (byte 4 of the line)"), "{message}");

    let row = |id: usize| format!("{{\"id\": \"test_{id:08}\", \"prediction\": \"I_JUMP\"}}\n");
    let all: String = (0..1208).map(row).collect();
    let message = score_fails(folder, "twice.jsonl", format!("{all}{}", row(3)).as_bytes());
    assert!(
        message
            .contains("twice.jsonl:1209: a second prediction for `test_00000003` (the first is on line 4)"),
        "{message}"
    );
    let message = score_fails(folder, "unknown.jsonl", format!("{all}{}", row(1208)).as_bytes());
    assert!(message.contains("unknown.jsonl:1209: `test_00001208` is not an id of test"), "{message}");
    let message = score_fails(folder, "missing.jsonl", all.replacen(&row(7), "", 1).as_bytes());
    assert!(message.contains("has no prediction for `test_00000007`"), "{message}");
    let message = score_fails(folder, "shape.jsonl", b"{\"id\": \"test_00000000\"}\n");
    assert!(message.contains("shape.jsonl:1: expected {\"id\": ..., \"prediction\": ...}"), "{message}");
    let message = score_fails(folder, "deep.jsonl", "[".repeat(1_000_000).as_bytes());
    assert!(message.contains("deep.jsonl:1:"), "{message}");
    let message = score_fails(folder, "columns.tsv", b"test_00000000 I_JUMP\n");
    assert!(message.contains("columns.tsv:1: expected `id TAB prediction`"), "{message}");

    let message = score_fails(folder, "long.txt", &vec![b'x'; 100 << 20]);
    assert!(message.contains("long.txt:1: the line is longer than 64 MiB"), "{message}");
    let message = fails(1, &["score", "scan/length", "--predictions", text(folder)]);
    assert!(message.contains("is a folder, not a file"), "{message}");
    let message = fails(1, &["score", "scan/length", "--predictions", "no/such/file"]);
    assert!(message.contains("no/such/file: No such file"), "{message}");
}

#[test]
fn settings_out_of_their_range() {
    for (setting, what) in [
        ("value=1", "`value=1`: expected a whole number from 13 to 9223372036854775807 for value"),
        ("value=50", "train-value=100: expected 12 to 49, below value"),
        ("operators=4096", "`operators=4096`: expected a whole number from 0 to 200 for operators"),
        ("train-operators=21", "train-operators=21: expected 0 to 20, that of operators"),
        ("train=0", "`train=0`: expected a whole number from 1 to "),
        ("train=-1", "`train=-1`: expected a whole number from 1 to "),
        ("height=4", "`height=4`: expected a whole number from 8 to 1024 for height"),
        ("scale=big", "`scale=big`: expected a number from 0 to 0.9 for scale"),
        ("value", "expected KEY=VALUE"),
    ] {
        let message = fails(2, &["show", "hint/image", "--with", setting]);
        assert!(message.contains(what), "{setting}: {message}");
    }
    // More to test than to train is no reason to fall over.
    ok(&["show", "hint/symbol", "--with", "train=20", "--with", "test=40"]);
}

#[test]
fn pictures_are_png_or_svg() {
    let folder = tempfile::tempdir().unwrap();
    let message = fails(2, &["show", "mns/circle-to-20", "--out", text(&folder.path().join("x.jpg"))]);
    assert!(message.contains("x.jpg: expected a name that ends with .png or .svg"), "{message}");
    for name in ["x.png", "x.svg"] {
        let path = folder.path().join(name);
        let output = common::wug(&["show", "mns/circle-to-20", "-n", "2", "--out", text(&path)]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(&format!("wrote {}", path.display())) && path.exists(), "{message}");
    }
    let svg = fs::read_to_string(folder.path().join("x.svg")).unwrap();
    assert_eq!(svg.matches("stroke=\"#888\"").count(), 2, "a frame around each problem");
}

/// A long line that is within the limit is a wrong prediction like any other.
#[test]
fn a_prediction_of_ten_megabytes_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("predictions.txt");
    let gold = folder.path().join("gold.txt");
    fs::write(&gold, "IN: jump OUT: I_JUMP\n").unwrap();
    for dataset in ["scan/simple", "nacs/simple"] {
        for prediction in ["jump ".repeat(2 << 20), "x".repeat(10 << 20)] {
            fs::write(&file, prediction).unwrap();
            let args = [
                "score",
                dataset,
                "--gold",
                text(&gold),
                "--predictions",
                text(&file),
                "--json",
                "--errors",
                "1",
            ];
            assert_eq!(common::tally(&ok(&args))[0].2, 0);
        }
    }
}

#[test]
fn folders_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let generate = |out: &Path| fails(1, &["generate", "scan/length", "--out", text(out)]);

    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    let message = generate(&file.join("below"));
    assert!(message.contains("Not a directory"), "{message}");
    generate(&file);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");

    let full = folder.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("notes.txt"), "mine").unwrap();
    let message = generate(&full);
    assert!(message.contains("is not empty and has no wug.json: choose another folder"), "{message}");
    assert_eq!(common::files(&full).len(), 1);

    // What wug wrote before is replaced, what others put there stays.
    let out = folder.path().join("out/deep/er");
    ok(&["generate", "scan/length", "--out", text(&out)]);
    fs::write(out.join("notes.txt"), "mine").unwrap();
    ok(&["generate", "scan/all", "--format", "parquet", "--out", text(&out)]);
    let names: Vec<String> = common::files(&out).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["README.md", "all.parquet", "notes.txt", "wug.json"]);

    // A manifest is no licence to remove files elsewhere.
    let precious = folder.path().join("precious");
    fs::write(&precious, "mine").unwrap();
    let manifest = fs::read_to_string(out.join("wug.json")).unwrap();
    fs::write(out.join("wug.json"), manifest.replace("all.parquet", "../../../precious")).unwrap();
    ok(&["generate", "scan/all", "--out", text(&out)]);
    assert!(precious.exists());
}

/// A disk that fills up leaves the folder as it was.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk() {
    use std::process::Command;
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small");
    fs::create_dir(&small).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&small).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: cannot mount a small disk here");
        return;
    }
    let out = small.join("new/folder");
    let message = fails(1, &["generate", "scan/length", "--out", text(&out)]);
    let left = common::files(&small);
    let unmounted = Command::new("umount").arg(&small).status();
    assert!(message.contains("No space left on device"), "{message}");
    assert!(left.is_empty() && !out.exists(), "{left:?}");
    assert!(unmounted.is_ok_and(|status| status.success()));
    // Verdicts go to a file or nowhere.
    let predictions = folder.path().join("p.txt");
    let gold = folder.path().join("g.txt");
    fs::write(&gold, "IN: jump OUT: I_JUMP\n").unwrap();
    fs::write(&predictions, "I_JUMP\n").unwrap();
    let args = ["score", "scan/simple", "--gold", text(&gold), "--predictions", text(&predictions)];
    let message = fails(1, &[&args[..], &["--verdicts", "/dev/full"]].concat());
    assert!(message.contains("/dev/full: No space left"), "{message}");
}

/// Whoever interrupts a run finds the folder as it was.
#[test]
#[cfg(unix)]
fn an_interrupted_run_leaves_nothing() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut child = common::command(&["generate", "scan", "--out", text(&out)])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while common::files_or_none(&out) == 0 && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(common::files_or_none(&out) > 0, "the run has begun to write");
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(common::files_or_none(&out), 0);
    // And the same command, given again, does its work.
    ok(&["generate", "scan/all", "--out", text(&out)]);
}
