//! What Python reads of the files that wug writes. Needs `pip install datasets`; says so where it is missing.

mod common;

use std::process::Command;

use common::{ok, text};

const READ: &str = r#"
import sys
from datasets import load_dataset
for folder in sys.argv[1:]:
    data = load_dataset(folder)
    for split in data:
        row = data[split][0]
        print(split, data[split].num_rows, sorted(row), type(row["facts"]["action_length"]).__name__)
"#;

#[test]
fn hugging_face_datasets_loads_the_folders() {
    let python = std::env::var("WUG_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_datasets = Command::new(&python).args(["-c", "import datasets"]).output();
    if !has_datasets.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {python} has no module `datasets` (pip install datasets, or set WUG_PYTHON)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (jsonl, parquet) = (folder.path().join("jsonl"), folder.path().join("parquet"));
    ok(&["generate", "scan/addprim-turn-left", "--out", text(&jsonl)]);
    ok(&["generate", "nacs/all", "--format", "parquet", "--out", text(&parquet)]);
    let output = Command::new(&python)
        .args(["-c", READ, text(&jsonl), text(&parquet)])
        .env("HF_HUB_OFFLINE", "1")
        .env("HF_HOME", folder.path().join("cache"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout), @r"
    train 21890 ['facts', 'id', 'input', 'target'] int
    test 1208 ['facts', 'id', 'input', 'target'] int
    val_random 2115 ['facts', 'id', 'input', 'target'] int
    train_wo_random 19775 ['facts', 'id', 'input', 'target'] int
    everything 20910 ['facts', 'id', 'input', 'target'] int
    ");
}
