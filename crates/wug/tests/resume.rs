//! A training run that is killed again and again, and resumed each time, ends as one that was left alone.

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

const FILES: [&str; 3] = ["checkpoint.safetensors", "metrics.jsonl", "predictions.jsonl"];

/// A file of a run, without the times that metrics have.
fn read(folder: &Path, file: &str) -> String {
    let bytes = std::fs::read(folder.join(file)).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match file {
        "metrics.jsonl" => text.lines().map(common::without_time).collect(),
        _ => text,
    }
}

fn wug(folder: &Path, option: &str, steps: u32) -> Child {
    let steps = format!("steps={steps}");
    let settings = ["hidden=24", "batch=8", &steps, "checkpoint=100", "teacher=0.5", "dropout=0.1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
    command
        .args(["run", "scan/simple", "--learner", "gru-attn", "--limit", "100", "--json", option])
        .arg(folder);
    for setting in settings {
        command.args(["--set", setting]);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// An uninterrupted run beside one that is killed several times, after some milliseconds each.
fn compare(steps: u32, kills: u32, mut wait: impl FnMut() -> u64) {
    let (straight, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(wug(straight.path(), "--out", steps).wait().unwrap().success());

    let mut child = wug(broken.path(), "--out", steps);
    // The first kill comes when there is a folder to resume.
    while !broken.path().join("wug.json").exists() {
        sleep(Duration::from_millis(5));
    }
    for kill in 0..kills {
        sleep(Duration::from_millis(wait()));
        assert!(child.try_wait().unwrap().is_none(), "it was over before kill {kill}");
        child.kill().unwrap();
        child.wait().unwrap();
        child = wug(broken.path(), "--resume", steps);
    }
    assert!(child.wait().unwrap().success());
    for file in FILES {
        assert!(
            read(straight.path(), file) == read(broken.path(), file),
            "{file} differs after {kills} kills"
        );
    }
}

#[test]
fn killed_and_resumed_is_the_same_to_the_bit() {
    let mut waits = [150, 250].into_iter();
    compare(1000, 2, || waits.next().unwrap());
}

#[test]
fn what_was_trained_answers_another_part() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(wug(first.path(), "--out", 100).wait().unwrap().success());
    let run = |folder: &Path, settings: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
        command.args(["run", "scan/simple#train", "--learner", "gru-attn", "--limit", "10", "--quiet"]);
        command.arg("--trained").arg(folder).arg("--force").arg("--out").arg(second.path());
        for setting in settings {
            command.args(["--set", setting]);
        }
        command.output().unwrap()
    };
    let same = ["hidden=24", "batch=8", "steps=100", "teacher=0.5", "dropout=0.1", "oracle-length=true"];
    let done = run(first.path(), &same);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(
        read(first.path(), "metrics.jsonl"),
        read(second.path(), "metrics.jsonl"),
        "nothing was trained"
    );
    assert_eq!(read(second.path(), "predictions.jsonl").lines().count(), 10);

    let failed = |folder: &Path, settings: &[&str], message: &str| {
        let output = run(folder, settings);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(message), "{error}");
    };
    let near = |input: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
        command.args(["run", "scan/simple", "--learner", "gru-attn", "--limit", "1", "--json"]);
        command.args(["--neighbours", input, "--neighbours", "jump  twice", "--trained"]).arg(first.path());
        for setting in same {
            command.args(["--set", setting]);
        }
        command.output().unwrap()
    };
    let report: serde_json::Value = serde_json::from_slice(&near("run").stdout).unwrap();
    for (near, input) in report["neighbours"].as_array().unwrap().iter().zip(["run", "jump twice"]) {
        assert_eq!(near["input"], input);
        let nearest = near["nearest"].as_array().unwrap();
        let cosines: Vec<f64> = nearest.iter().map(|near| near["cosine"].as_f64().unwrap()).collect();
        assert!(cosines.len() == 5 && cosines.is_sorted_by(|a, b| a >= b) && cosines[0] <= 1.0 + 1e-9);
        assert!(nearest.iter().all(|near| near["input"] != input), "{near}");
    }
    let unknown = near("fly");
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("is not among the inputs"));

    failed(first.path(), &["hidden=24", "batch=9"], "belongs to another run");
    failed(Path::new("nowhere"), &same, "there is no checkpoint");
}

/// Run by `scripts/nightly`.
#[test]
#[ignore = "takes a minute; scripts/nightly runs it"]
fn killed_twenty_times_is_the_same_to_the_bit() {
    let mut waited = Vec::new();
    compare(12_000, 20, || {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        waited.push(u64::from(now.subsec_nanos()) / 1000 % 600);
        *waited.last().unwrap()
    });
    println!("killed after {waited:?} milliseconds");
}

/// A Transformer that stops when its time is up, after one update, goes on to the same end.
#[test]
fn stopped_by_time_is_the_same_to_the_bit() {
    let (straight, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = |folder: &Path, options: &[&str], more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
        command.args(["run", "scan/simple", "--learner", "transformer-rel-uni", "--limit", "20"]);
        for setting in ["width=16", "heads=2", "feed-forward=16", "batch=4", "steps=130", "validate=60"] {
            command.args(["--set", setting]);
        }
        command.args(more).args(options).arg(folder).output().unwrap()
    };
    let folder = |at: &tempfile::TempDir| at.path().join("run");
    let done = run(&folder(&straight), &["--json", "--out"], &[]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for (option, update) in [("--out", 1), ("--resume", 2), ("--resume", 3)] {
        let stopped = run(&folder(&broken), &["--time-limit", "0s", option], &[]);
        let said = String::from_utf8(stopped.stderr).unwrap();
        assert_eq!(stopped.status.code(), Some(3), "{said}");
        assert!(stopped.stdout.is_empty());
        let place = folder(&broken);
        let wanted = format!(
            "stopped: the time is up after update {update} of 130; resume with --resume {}",
            place.display()
        );
        assert_eq!(said.trim(), wanted);
    }
    let done = run(&folder(&broken), &["--json", "--time-limit", "1h", "--resume"], &[]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for file in FILES.into_iter().chain(["scores.json"]) {
        assert!(read(&folder(&straight), file) == read(&folder(&broken), file), "{file} differs");
    }

    // Another vocabulary, or other settings, are another run.
    let other = run(&folder(&broken), &["--seed", "7", "--resume"], &[]);
    let said = String::from_utf8(other.stderr).unwrap();
    assert_eq!(other.status.code(), Some(1), "{said}");
    assert!(
        said.contains("belongs to another run: it was trained on other examples or other words"),
        "{said}"
    );
    let other = run(&folder(&broken), &["--resume"], &["--set", "decoder-layers=1"]);
    let said = String::from_utf8(other.stderr).unwrap();
    assert!(said.contains("belongs to another run: its decoder-layers is 0, not 1"), "{said}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
    command.args(["run", "scan/simple", "--learner", "gru", "--time-limit", "5m"]);
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(said.contains("--time-limit needs --out"), "{said}");
}

/// A disk that fills up takes nothing of what was kept, and training goes on when there is room.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_keeps_the_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("small");
    std::fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&disk).output()
    };
    if !mount("size=4m").is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: cannot mount a small disk here");
        return;
    }
    let run = |option: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
        command.args(["run", "scan/simple", "--learner", "gru", "--limit", "5", "--set", "batch=1"]);
        command.args(["--set", "steps=200", "--set", "checkpoint=100", option]).arg(disk.join("run"));
        command.output().unwrap()
    };
    let full = run("--out");
    let kept = std::fs::read(disk.join("run/checkpoint.safetensors"));
    let left: Vec<_> =
        std::fs::read_dir(disk.join("run")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    let roomy = mount("remount,size=32m").is_ok_and(|output| output.status.success());
    let resumed = run("--resume");
    let unmounted = Command::new("umount").arg(&disk).status();
    let message = String::from_utf8_lossy(&full.stderr);
    assert_eq!(full.status.code(), Some(1), "{message}");
    assert!(message.contains("checkpoint.safetensors: No space left on device"), "{message}");
    assert!(kept.is_ok_and(|bytes| bytes.len() > 2_000_000));
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("partial")), "{left:?}");
    assert!(roomy && resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert!(unmounted.is_ok_and(|status| status.success()));
}

/// Ctrl-C and SIGTERM leave a checkpoint of the last update, and say how to go on.
#[cfg(unix)]
#[test]
fn interrupted_is_the_same_to_the_bit() {
    let (straight, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let start = |folder: &Path, option: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
        command.args(["run", "scan/simple", "--learner", "gru", "--limit", "20", "--quiet"]);
        for setting in ["hidden=32", "batch=16", "steps=1500", "checkpoint=100000"] {
            command.args(["--set", setting]);
        }
        command.arg(option).arg(folder.join("run"));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    assert!(start(straight.path(), "--out").wait().unwrap().success());
    for (option, signal, code) in [("--out", "-INT", 130), ("--resume", "-TERM", 143)] {
        let child = start(broken.path(), option);
        // Metrics come before the first checkpoint would.
        let begun = std::time::Instant::now();
        while !broken.path().join("run/run.json").exists() && begun.elapsed().as_secs() < 30 {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(200));
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains("interrupted after update") && said.contains("resume with --resume"), "{said}");
        assert!(broken.path().join("run/checkpoint.safetensors").exists());
    }
    assert!(start(broken.path(), "--resume").wait().unwrap().success());
    for file in FILES.into_iter().chain(["scores.json"]) {
        let read = |at: &tempfile::TempDir| read(&at.path().join("run"), file);
        assert!(read(&straight) == read(&broken), "{file} differs");
    }
}
