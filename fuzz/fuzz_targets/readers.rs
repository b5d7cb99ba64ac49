//! `cargo +nightly fuzz run readers`: any file is read or refused. The first byte picks the reader.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use wug_bench::scan::files::{read_in_out, read_parallel};
use wug_data::{MANIFEST, Manifest, Predictions, read_jsonl, read_parquet};

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

fuzz_target!(|bytes: &[u8]| {
    let Some((reader, content)) = bytes.split_first() else { return };
    let names = ["p.jsonl", "p.tsv", "p.txt", "data.jsonl", "data.parquet", "tasks.txt", "x.src", MANIFEST];
    let name = names[*reader as usize % names.len()];
    let path = FOLDER.path().join(name);
    std::fs::write(&path, content).expect("the folder is writable");
    match name {
        "data.jsonl" => drop(read_jsonl(&path)),
        "data.parquet" => drop(read_parquet(&path)),
        "tasks.txt" => drop(read_in_out(&path)),
        "x.src" => {
            std::fs::write(FOLDER.path().join("x.trg"), "I_JUMP\n").expect("the folder is writable");
            drop(read_parallel(&FOLDER.path().join("x")));
        }
        MANIFEST => drop(Manifest::read(FOLDER.path())),
        _ => drop(Predictions::read(&path)),
    }
});
