//! Every reader gets files that were damaged at random: it may refuse them, but not panic, hang or run out of memory.
//! The damage is seeded, so that what fails once fails again. About a minute in all.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wug_bench::pair_files::{read_in_out, read_parallel};
use wug_bench::scan::files::write_in_out;
use wug_bench::{Address, Source, read_written_by_wug};
use wug_data::{
    Dataset, MANIFEST, Manifest, Predictions, Stream, Streams, read_jsonl, read_parquet, write_jsonl,
    write_parquet,
};

/// Damages a file in one to four places: bits, lengths, repetitions, other bytes that mean something to a reader.
fn damaged(valid: &[u8], stream: &mut Stream) -> Vec<u8> {
    const TELLING: [&[u8]; 12] = [
        b"\n",
        b"\r\n",
        b"\t",
        b"\"",
        b"{",
        b"}",
        b"\\u",
        b"\xff\xfe",
        b"\0",
        b" OUT: ",
        b"9999999999",
        b"PAR1",
    ];
    let mut bytes = valid.to_vec();
    for _ in 0..=stream.below(4) {
        let at = stream.below(bytes.len() as u64 + 1) as usize;
        let end = (at + stream.below(256) as usize).min(bytes.len());
        match stream.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << stream.below(8),
            1 => bytes.truncate(at),
            2 => drop(bytes.splice(at..at, stream.choose(&TELLING).iter().copied())),
            3 => drop(bytes.drain(at..end)),
            4 => bytes.extend_from_within(at..end),
            _ => bytes.extend((0..stream.below(32)).map(|_| stream.below(256) as u8)),
        }
    }
    bytes
}

/// Reads `rounds` damaged versions of a file; some must be refused, or the damage is none.
fn survives(name: &'static str, rounds: u64, valid: &[u8], path: &Path, read: impl Fn(&Path) -> bool) {
    fs::write(path, valid).unwrap();
    assert!(read(path), "{name}: the file is valid before it is damaged");
    let streams = Streams::new("hostile", name, 0);
    let mut refused = 0;
    for round in 0..rounds {
        fs::write(path, damaged(valid, &mut streams.item(round))).unwrap();
        let start = Instant::now();
        refused += u64::from(!read(path));
        // No measurement: a reader that hangs should fail, not stop the run.
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{name}: round {round} took {:?}",
            start.elapsed()
        );
    }
    assert!(refused > rounds / 20, "{name}: {refused} of {rounds} refused");
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

fn dataset(name: &str) -> Dataset {
    let address: Address = name.parse().unwrap();
    address.benchmark.make(&address.dataset, &Source::Seed(0)).unwrap()
}

#[test]
fn predictions() {
    let (_keep, folder) = folder();
    let json: String = (0..40)
        .map(|i| format!("{{\"id\":\"test_{i:08}\",\"prediction\":\"I_JUMP I_W\\u0041LK\"}}\n"))
        .collect();
    let tsv: String = (0..40).map(|i| format!("test_{i:08}\tI_JUMP I_WALK\n")).collect();
    let dataset = dataset("scan/length");
    let selections = [dataset.select("test").unwrap().limited(Some(40))];
    let read = |path: &Path| Predictions::read(path).is_ok_and(|read| read.align(&selections).is_ok());
    survives("jsonl", 20_000, json.as_bytes(), &folder.join("p.jsonl"), read);
    survives("tsv", 20_000, tsv.as_bytes(), &folder.join("p.tsv"), read);
    survives("plain", 20_000, "I_JUMP I_WALK\n".repeat(40).as_bytes(), &folder.join("p.txt"), read);
}

#[test]
fn datasets_written_by_wug() {
    let (_keep, folder) = folder();
    let dataset = dataset("scan/length");
    let selection = dataset.select("test").unwrap().limited(Some(20));
    let (mut jsonl, mut parquet) = (Vec::new(), Vec::new());
    write_jsonl(&dataset, &selection, &mut jsonl).unwrap();
    write_parquet(&dataset, &selection, &mut parquet).unwrap();
    survives("data jsonl", 20_000, &jsonl, &folder.join("test.jsonl"), |path| read_jsonl(path).is_ok());
    survives("data parquet", 20_000, &parquet, &folder.join("test.parquet"), |path| {
        read_parquet(path).is_ok()
    });

    let manifest = br#"{"schema":1,"wug":"0.1.0","dataset":"scan/length","format":"jsonl","seed":0,
        "parts":[{"part":"test","rows":20}],"licence":"","files":[{"path":"test.jsonl","bytes":1,"sha256":"00"}]}"#;
    fs::write(folder.join("test.jsonl"), jsonl).unwrap();
    survives("manifest", 20_000, manifest, &folder.join(MANIFEST), |_| {
        Manifest::read(&folder).is_ok() && read_written_by_wug(&folder, "scan/length", "test").is_ok()
    });
}

#[test]
fn official_files() {
    let (_keep, folder) = folder();
    let dataset = dataset("scan/length");
    let selection = dataset.select("test").unwrap().limited(Some(20));
    let mut lines = Vec::new();
    write_in_out(&dataset, &selection, &mut lines).unwrap();
    survives("in out", 20_000, &lines, &folder.join("tasks.txt"), |path| read_in_out(path).is_ok());

    let commands = "jump twice\nwalk and run left\n".repeat(10);
    fs::write(folder.join("x.trg"), "I_JUMP I_JUMP\nI_WALK I_TURN_LEFT I_RUN\n".repeat(10)).unwrap();
    let read = |_: &Path| read_parallel(&folder.join("x")).is_ok();
    survives("parallel", 20_000, commands.as_bytes(), &folder.join("x.src"), read);
}

/// A whole split with one damaged file is refused, or its damage is none.
#[test]
fn imported_splits() {
    let (_keep, folder) = folder();
    let address: Address = "scan/addprim-turn-left".parse().unwrap();
    let dataset = dataset("scan/addprim-turn-left");
    for part in ["train", "test"] {
        let selection = dataset.select(part).unwrap();
        let file = address.benchmark.release().unwrap().native_files(&dataset, &selection).remove(0);
        let mut bytes = Vec::new();
        (file.write)(&mut bytes).unwrap();
        fs::write(folder.join(file.name()), bytes).unwrap();
    }
    let test = folder.join("tasks_test_addprim_turn_left.txt");
    let valid = fs::read(&test).unwrap();
    survives("split", 150, &valid, &test, |_| {
        address.benchmark.make(&address.dataset, &Source::Folder(folder.clone(), 0)).is_ok()
    });
}

/// Any text as a prediction gets a verdict.
#[test]
fn judges() {
    const WORDS: [&str; 15] = [
        "jump", "walk", "turn", "left", "right", "around", "opposite", "twice", "and", "after", "dab",
        "I_JUMP", "", "\0", "ü",
    ];
    let streams = Streams::new("hostile", "judges", 0);
    for name in ["scan/addprim-jump", "nacs/addprim-jump"] {
        let address: Address = name.parse().unwrap();
        let dataset = dataset(name);
        for metric in address.benchmark.metrics() {
            let judge = address.benchmark.judge(metric.name).unwrap();
            let mut right = 0;
            for round in 0..50_000 {
                let mut stream = streams.item(round);
                let length = stream.below(12);
                let prediction: Vec<&str> = (0..length).map(|_| *stream.choose(&WORDS)).collect();
                let row = stream.below(dataset.table.inputs.len() as u64) as u32;
                let example = dataset.table.example(row);
                right += u64::from(judge.judge(&example, &prediction.join(" ")).correct);
                assert!(judge.judge(&example, &example.target.to_string()).correct);
            }
            assert!(right < 100, "random words are hardly ever right: {right} by {}", metric.name);
        }
    }
}
