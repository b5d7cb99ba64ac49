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

/// Reads the column of pictures as bytes too, because decoding them needs another package.
const READ_IMAGES: &str = r#"
import sys
from datasets import load_dataset, Image
data = load_dataset(sys.argv[1])
for split in data:
    rows = data[split]
    print(split, rows.num_rows, type(rows.features["image"]).__name__)
    row = rows.cast_column("image", Image(decode=False))[0]
    png = row["image"]["bytes"]
    width, height = (int.from_bytes(png[at:at + 4], "big") for at in (16, 20))
    assert png[:4] == b"\x89PNG" and height == 45 and width == 45 * len(row["input"]), (width, height, row["input"])
"#;

/// A Python that has the module, or a word about what is missing.
fn python() -> Option<String> {
    let python = std::env::var("WUG_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_datasets = Command::new(&python).args(["-c", "import datasets"]).output();
    if has_datasets.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("skipped: {python} has no module `datasets` (pip install datasets, or set WUG_PYTHON)");
    None
}

#[test]
fn hugging_face_datasets_knows_the_pictures() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let parquet = folder.path().join("parquet");
    let limit = ["--limit", "20", "--format", "parquet", "--out", text(&parquet)];
    ok(&[&["generate", "hint/fewshot-x-image"][..], &limit].concat());
    let output = Command::new(&python)
        .args(["-c", READ_IMAGES, text(&parquet)])
        .env("HF_HUB_OFFLINE", "1")
        .env("HF_HOME", folder.path().join("cache"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout), @r"
    train 20 Image
    val 20 Image
    test 20 Image
    ");
}

#[test]
fn hugging_face_datasets_loads_the_folders() {
    let Some(python) = python() else { return };
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

/// Datasets of a benchmark are configurations, not one heap; pictures beside JSON lines are images.
#[test]
fn hugging_face_datasets_keeps_datasets_apart() {
    const READ_CONFIG: &str = r#"
import sys
from datasets import get_dataset_config_names, load_dataset
print(len(get_dataset_config_names(sys.argv[1])))
try:
    load_dataset(sys.argv[1])
    print("merged")
except ValueError:
    print("needs a name")
data = load_dataset(sys.argv[1], "length")
print({split: data[split].num_rows for split in ("train", "test")})
data = load_dataset(sys.argv[2])
print({split: (data[split].num_rows, type(data[split].features["image"]).__name__) for split in data})
"#;
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (scan, mns) = (folder.path().join("scan"), folder.path().join("mns"));
    ok(&["generate", "scan", "--format", "parquet", "--limit", "9", "--out", text(&scan)]);
    ok(&["generate", "mns/circle-to-20", "--limit", "7", "--out", text(&mns)]);
    let output = Command::new(&python)
        .args(["-c", READ_CONFIG, text(&scan), text(&mns)])
        .env("HF_HUB_OFFLINE", "1")
        .env("HF_HOME", folder.path().join("cache"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout), @r"
    112
    needs a name
    {'train': 9, 'test': 9}
    {'train': (7, 'Image'), 'val': (7, 'Image'), 'test': (7, 'Image')}
    ");
}
