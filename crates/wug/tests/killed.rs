//! Whoever kills or interrupts a command and gives it again, or resumes its run, gets the same files: nothing is lost,
//! nothing stuck, nothing left behind.
#![cfg(unix)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use common::{command, files, files_or_none, ok, text};
use wug_data::{Stream, Streams};

/// Commands that write in each way: many datasets, pictures, a file for each row, columns, verdicts, a run, a table.
const COMMANDS: [&[&str]; 8] = [
    &["generate", "mt", "--format", "jsonl", "--out", "OUT"],
    &["generate", "hint/fewshot-x-image", "--format", "jsonl", "--limit", "400", "--out", "OUT"],
    &["generate", "hint/fewshot-y-image", "--format", "native", "--limit", "200", "--out", "OUT"],
    &["generate", "mns/circle-to-20", "--format", "native", "--limit", "300", "--out", "OUT"],
    &["generate", "mns/circle-to-20", "--format", "parquet", "--limit", "300", "--out", "OUT"],
    &["score", "scan/length", "--predictions", "PREDICTIONS", "--verdicts", "OUT/verdicts.jsonl"],
    &[
        "run",
        "scan/simple",
        "--learner",
        "gru",
        "--limit",
        "50",
        "--out",
        "OUT",
        "--quiet",
        "--set",
        "hidden=8",
        "--set",
        "batch=8",
        "--set",
        "steps=400",
        "--set",
        "checkpoint=20",
    ],
    &["reproduce", "EXPERIMENT", "--scale", "smoke", "--out", "OUT", "--quiet"],
];

/// Two runs of networks that are trained alike and one that is not.
const EXPERIMENT: &str = r#"
title = "Mine"
paper = "ours"
source = "1"
[scale]
smoke = { limit = 20 }
cpu = {}
paper = {}
[[column]]
name = "simple"
dataset = "scan/simple"
part = "test"
[[column]]
name = "train"
dataset = "scan/simple"
part = "train"
[[row]]
name = "gru"
run = { learner = "gru", set = { hidden = "8", batch = "8", steps = "200", checkpoint = "20" } }
[[row]]
name = "rnn"
run = { learner = "rnn", set = { hidden = "8", batch = "8", steps = "200", checkpoint = "20" } }
"#;

/// What is in a folder, less what depends on the time that it took.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let holds_runs = files(folder).iter().any(|(name, _)| name.ends_with("run.json"));
    let bytes = |(name, path): (String, std::path::PathBuf)| {
        let file = path.file_name().unwrap().to_str().unwrap();
        let bytes = fs::read(&path).unwrap();
        let bytes = match file {
            "wug.json" | "run.json" | "events.out.tfevents.wug" if holds_runs => Vec::new(),
            "metrics.jsonl" => {
                let text = String::from_utf8(bytes).unwrap();
                text.lines().map(common::without_time).collect::<String>().into_bytes()
            }
            _ => bytes,
        };
        (name, bytes)
    };
    files(folder).into_iter().map(bytes).collect()
}

/// A command in a folder of its own, and what it writes when nobody disturbs it.
struct Work {
    args: Vec<String>,
    out: std::path::PathBuf,
    expected: BTreeMap<String, Vec<u8>>,
    time: Duration,
    _folder: tempfile::TempDir,
}

impl Work {
    fn new(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let predictions = folder.path().join("predictions.txt");
        fs::write(&predictions, "I_JUMP\n".repeat(3920)).unwrap();
        let experiment = folder.path().join("mine.toml");
        fs::write(&experiment, EXPERIMENT).unwrap();
        let place = |arg: &&str| match *arg {
            "PREDICTIONS" => text(&predictions).to_owned(),
            "EXPERIMENT" => text(&experiment).to_owned(),
            arg => arg.replace("OUT", text(&out)),
        };
        let args: Vec<String> = args.iter().map(place).collect();
        let mut work = Self { args, out, expected: BTreeMap::new(), time: Duration::ZERO, _folder: folder };
        work.clear();
        let start = Instant::now();
        work.run();
        (work.time, work.expected) = (start.elapsed(), content(&work.out));
        work
    }

    /// Takes the output away; verdicts go into a folder that is there.
    fn clear(&self) {
        let _ = fs::remove_dir_all(&self.out);
        if self.args[0] == "score" {
            fs::create_dir(&self.out).unwrap();
        }
    }

    fn run(&self) {
        ok(&self.args.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Starts the command and sends it a signal at some moment of its work.
    fn disturbed(&self, signal: &str, stream: &mut Stream) -> ExitStatus {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let mut child = command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let share = stream.below(1100) as u32;
        std::thread::sleep(self.time * share / 1000);
        let id = child.id().to_string();
        // It may have ended before.
        let _ = Command::new("kill").args([signal, &id]).stderr(Stdio::null()).status();
        child.wait().unwrap()
    }

    /// The same command again, or `--resume` where a run was left, gives what it gives undisturbed.
    fn check(&self, after: &str) {
        if self.args[0] == "run" && self.out.join("wug.json").exists() {
            ok(&["run", "--resume", text(&self.out), "--quiet"]);
        } else {
            self.run();
        }
        let found = content(&self.out);
        let names = |content: &BTreeMap<String, Vec<u8>>| content.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&self.expected), "{:?} after {after}", self.args);
        assert!(found == self.expected, "{:?} after {after}: other bytes", self.args);
    }
}

/// Disturbs every command a number of times, in turn into a new folder and over what stands there.
fn survives(kills: u64, interrupts: u64) {
    let work: Vec<Work> = COMMANDS.iter().map(|args| Work::new(args)).collect();
    let streams = Streams::new("killed", "moments", 0);
    for round in 0..kills {
        let (work, mut stream) = (&work[round as usize % work.len()], streams.item(round));
        match stream.below(3) {
            // What is done would be refused, or not run again.
            _ if ["run", "reproduce"].contains(&work.args[0].as_str()) => work.clear(),
            0 => work.clear(),
            1 if work.args[0] == "generate" => {
                work.clear();
                ok(&["generate", "scan/all", "--out", text(&work.out)]);
            }
            _ => {}
        }
        // Sometimes twice, before anybody has cleaned up.
        for _ in 0..=stream.below(2) {
            work.disturbed("-KILL", &mut stream);
        }
        work.check(&format!("kill {round}"));
    }
    for round in 0..interrupts {
        let (work, mut stream) = (&work[round as usize % work.len()], streams.item(1 << 32 | round));
        work.clear();
        let status = work.disturbed("-INT", &mut stream);
        match status.code() {
            // None: so early that nobody listened yet.
            Some(0) | None => {}
            Some(130) => {
                let left = files_or_none(&work.out);
                let keeps = ["run", "reproduce"].contains(&work.args[0].as_str());
                let is_clean = left == 0 || left == work.expected.len();
                assert!(is_clean || keeps, "{:?}: {left} files left", work.args);
            }
            other => panic!("{:?} interrupted: {other:?}", work.args),
        }
        work.check(&format!("interrupt {round}"));
    }
}

#[test]
fn a_few_kills_and_interrupts() {
    survives(8, 8);
}

#[test]
#[ignore = "takes minutes; scripts/nightly runs it"]
fn two_hundred_kills_and_fifty_interrupts() {
    survives(200, 50);
}

/// What a killed process left is told from what another process is writing.
#[test]
fn stale_folders_are_removed_and_living_ones_respected() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let stale = out.join(".wug.partial-4194999");
    fs::create_dir_all(&stale).unwrap();
    fs::write(stale.join("train.jsonl"), "half a li").unwrap();
    ok(&["generate", "scan/all", "--out", text(&out)]);
    assert!(!stale.exists());

    // A process that moved some of its files before it was killed.
    let moved = folder.path().join("moved");
    let stale = moved.join(".wug.partial-4194998");
    fs::create_dir_all(&stale).unwrap();
    let manifest = fs::read_to_string(out.join("wug.json")).unwrap();
    fs::write(stale.join("wug.json"), &manifest).unwrap();
    fs::write(moved.join("all.jsonl"), "moved").unwrap();
    ok(&["generate", "scan/length", "--format", "parquet", "--out", text(&moved)]);
    assert!(!stale.exists() && !moved.join("all.jsonl").exists());

    // Somebody who writes holds a lock.
    let alive = out.join(".wug.partial-4194997");
    fs::create_dir_all(&alive).unwrap();
    let lock = fs::File::create(alive.join(".lock")).unwrap();
    lock.lock().unwrap();
    let message = common::fails(1, &["generate", "scan/all", "--out", text(&out)]);
    assert!(message.contains("is being written by another wug"), "{message}");
    drop(lock);
    ok(&["generate", "scan/all", "--out", text(&out)]);
    assert!(!alive.exists());
}
