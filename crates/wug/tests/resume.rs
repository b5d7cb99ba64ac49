//! A training run that is killed again and again, and resumed each time, ends as one that was left alone.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const FILES: [&str; 3] = ["checkpoint.safetensors", "metrics.jsonl", "predictions.jsonl"];

fn wug(folder: &Path, option: &str) -> Child {
    let settings = ["hidden=24", "batch=8", "steps=1500", "checkpoint=100", "teacher=0.5", "dropout=0.1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
    command
        .args(["run", "scan/simple", "--learner", "gru-attn", "--limit", "100", "--json", option])
        .arg(folder);
    for setting in settings {
        command.args(["--set", setting]);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn killed_and_resumed_is_the_same_to_the_bit() {
    let (straight, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(wug(straight.path(), "--out").wait().unwrap().success());

    let mut killed = 0;
    let mut child = wug(broken.path(), "--out");
    // The first kill comes when there is a folder to resume.
    while !broken.path().join("wug.json").exists() {
        sleep(Duration::from_millis(5));
    }
    for round in 0..20u64 {
        sleep(Duration::from_millis(40 + round * 97 % 260));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        child = wug(broken.path(), "--resume");
    }
    assert!(child.wait().unwrap().success());
    assert!(killed >= 2, "killed {killed} times only");
    for file in FILES {
        let read = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
        assert!(read(straight.path()) == read(broken.path()), "{file} differs after {killed} kills");
    }
}
