//! The learner on the official files of SCAN and COGS, where they are at hand.

use std::fs;
use std::path::Path;

use wug_induce::{Settings, learn};
use wug_official::Official;

/// Pairs of a SCAN file or a TSV file.
fn read(file: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let pair = |line: &str| {
        let line = line.strip_prefix("IN: ").unwrap_or(line);
        let (source, rest) = line.split_once(" OUT: ").or_else(|| line.split_once('\t'))?;
        Some((source.trim().to_owned(), rest.split('\t').next()?.trim().to_owned()))
    };
    text.lines().filter_map(pair).collect()
}

fn all_right(name: &str, train: &Path, test: &Path, step: usize) {
    let model = learn(read(train), &Settings::default());
    for (source, target) in read(test).iter().step_by(step) {
        let prediction = model.predict(source);
        assert_eq!(prediction.text, *target, "{name}: {source}\n{}", model.derivation(&prediction));
    }
}

#[test]
fn scan_and_cogs_as_released() {
    let mut official = Official::new("the learner induced");
    if let Some(scan) = official.folder("scan", 2) {
        for split in ["add_prim_split/tasks_{}_addprim_jump.txt", "length_split/tasks_{}_length.txt"] {
            let part = |name: &str| scan.join(split.replace("{}", name));
            all_right(split, &part("train"), &part("test"), 1);
            official.compared(1);
        }
    }
    if let Some(cogs) = official.folder("cogs", 1) {
        all_right("cogs gen", &cogs.join("data/train.tsv"), &cogs.join("data/gen.tsv"), 7);
        official.compared(1);
    }
}
