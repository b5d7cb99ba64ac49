//! Runs the binary as a user would.
#![allow(dead_code, reason = "each test file uses a part of this")]

pub(crate) mod browser;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest, Sha256};

/// The binary with these arguments.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wug"));
    command.args(args);
    command
}

/// Runs the binary.
pub(crate) fn wug(args: &[&str]) -> Output {
    command(args).output().expect("the binary starts")
}

/// Runs the binary, which must succeed, and returns what it printed.
pub(crate) fn ok(args: &[&str]) -> String {
    let output = wug(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "wug {}: {stderr}", args.join(" "));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// Runs the binary, which must fail with this code and one message, and returns the message.
pub(crate) fn fails(code: i32, args: &[&str]) -> String {
    let output = wug(args);
    let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert_eq!(output.status.code(), Some(code), "wug {}: {stderr}", args.join(" "));
    assert!(output.stdout.is_empty(), "nothing goes to standard output");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

/// A line of metrics without its time, which a process that was killed in between may not have written.
pub(crate) fn without_time(line: &str) -> String {
    let mut line: serde_json::Value = serde_json::from_str(line).expect("a line of metrics");
    line.as_object_mut().expect("an object").remove("time");
    line.to_string()
}

/// A path as text.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

/// The numbers of a score, as `(n, correct)` of each part.
pub(crate) fn tally(json: &str) -> Vec<(String, u64, u64)> {
    let report: serde_json::Value = serde_json::from_str(json).expect("one JSON document");
    let parts = report["parts"].as_array().expect("parts");
    let number = |part: &serde_json::Value, key: &str| part[key].as_u64().expect("a number");
    parts
        .iter()
        .map(|part| {
            (part["part"].as_str().expect("a name").to_owned(), number(part, "n"), number(part, "correct"))
        })
        .collect()
}

/// Every file below a folder, with its path in it.
pub(crate) fn files(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push((
                    path.strip_prefix(folder).expect("below").to_string_lossy().replace('\\', "/"),
                    path,
                ));
            }
        }
    }
    found.sort();
    found
}

/// The SHA-256 of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

/// The SHA-256 of the sorted lines of a file, each ended by a line feed.
pub(crate) fn sorted_sha256(path: &Path) -> String {
    let content = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    sha256(&lines.concat())
}

/// One line of the table of official hashes.
pub(crate) struct OfficialFile {
    pub(crate) release: String,
    pub(crate) path: String,
    pub(crate) lines: usize,
    pub(crate) sorted_sha256: String,
}

/// The table of official hashes of SCAN and NACS.
pub(crate) fn official_files(release: &str) -> Vec<OfficialFile> {
    include_str!("../../../../testdata/scan-nacs.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>())
        .filter(|fields| fields[0] == release)
        .map(|mut fields| OfficialFile {
            sorted_sha256: fields.remove(4),
            lines: fields[2].parse().expect("a number"),
            path: fields.remove(1),
            release: fields.remove(0),
        })
        .collect()
}

/// How many files are below a folder that may change or not exist.
pub(crate) fn files_or_none(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.flatten().map(|entry| if entry.path().is_dir() { files_or_none(&entry.path()) } else { 1 }).sum()
}
