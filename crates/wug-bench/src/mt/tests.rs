use std::collections::BTreeSet;

use wug_official::Official;

use super::grammar::CONSTRUCTIONS;
use super::*;

fn make(dataset: &str, seed: u64) -> Dataset {
    Mt.make(dataset, &Source::Seed(seed)).unwrap()
}

fn pairs(dataset: &Dataset, part: &str) -> Vec<(String, String)> {
    let text = |row: u32| {
        let example = dataset.table.example(row);
        (example.input.to_string(), example.target.to_string())
    };
    dataset.part(part).unwrap().rows.iter().map(|&row| text(row)).collect()
}

#[test]
fn parts_have_the_sizes_of_the_paper() {
    let sizes = |dataset: &str| {
        let made = make(dataset, 0);
        ["train", "test", "daxy", "tired"].map(|part| made.part(part).unwrap().rows.len())
    };
    assert_eq!(sizes("en-fr"), [10_000, 1_180, 8, 8]);
    assert_eq!(sizes("fr-en-daxy"), [11_000, 1_180, 8, 8]);
}

#[test]
fn train_shows_what_the_eight_sentences_need() {
    for seed in 0..3 {
        let dataset = make("en-fr", seed);
        let (train, test) = (pairs(&dataset, "train"), pairs(&dataset, "test"));
        let distinct: BTreeSet<_> = train.iter().chain(&test).collect();
        assert_eq!(distinct.len(), 11_180, "every pair once");
        let facts = &dataset.table.facts;
        let (predicate, construction) =
            (facts.column("predicate").unwrap(), facts.column("construction").unwrap());
        let rows = &dataset.part("train").unwrap().rows;
        let predicates: BTreeSet<_> = rows.iter().map(|&row| predicate.value(row)).collect();
        assert!(predicates.len() >= 300, "{}", predicates.len());
        for (english, french) in CONSTRUCTIONS {
            let wanted = format!("{english} X .");
            let with: BTreeSet<_> = rows
                .iter()
                .filter(|&&row| construction.value(row).to_string() == wanted)
                .filter(|&&row| dataset.table.targets.get(row).to_string().starts_with(french))
                .map(|&row| predicate.value(row))
                .collect();
            assert!(with.len() >= 22, "{english}: {}", with.len());
        }
        let tired = rows.iter().filter(|&&row| predicate.value(row).to_string() == "tired").count();
        assert!(tired >= 80, "{tired}");
        for part in ["daxy", "tired"] {
            for (english, french) in pairs(&dataset, part) {
                assert!(train.iter().chain(&test).all(|(e, f)| *e != english && *f != french), "{english}");
            }
        }
    }
}

#[test]
fn the_invented_word_is_taught_1_000_times() {
    let dataset = make("en-fr-daxy", 0);
    let train = pairs(&dataset, "train");
    let with: BTreeSet<_> = train.iter().filter(|(english, _)| english.contains("daxy")).collect();
    assert_eq!(train.iter().filter(|(english, _)| english.contains("daxy")).count(), 1_000);
    assert_eq!(Vec::from_iter(with), [&("i am daxy .".to_owned(), "je suis daxiste .".to_owned())]);
    let validation = pairs(&dataset, "val-random").len();
    assert!((900..1300).contains(&validation), "{validation}");
    assert_eq!(validation + pairs(&dataset, "train-wo-random").len(), 11_000);
}

#[test]
fn both_directions_have_the_same_pairs() {
    let (there, back) = (make("en-fr", 5), make("fr-en", 5));
    let turned: Vec<_> = pairs(&back, "test").into_iter().map(|(f, e)| (e, f)).collect();
    assert_eq!(pairs(&there, "test"), turned);
    assert_ne!(pairs(&make("en-fr", 6), "test"), turned, "another seed, other pairs");
}

/// The release has 9,999 and 1,191 pairs where the papers say 10,000 and 1,180; its test file begins with the eight
/// sentences with `daxy`.
#[test]
fn reads_and_writes_the_release() {
    let mut official = Official::new("mt");
    let Some(folder) = official.folder("nacs", 10) else { return };
    for (name, train) in [("en-fr", 9_999), ("en-fr-daxy", 10_999)] {
        let dataset = Mt.make(name, &Source::Folder(folder.clone(), 0)).unwrap();
        let size = |part: &str| dataset.part(part).unwrap().rows.len();
        assert_eq!((size("train"), size("test")), (train, 1_191));
        // Copies of one sentence are shuffled into train, so not all parts have the same lines in order.
        for part in ["test", "daxy", "tired", "val-random", "train-wo-random"] {
            let selection = dataset.select(part).unwrap();
            for file in Mt.native_files(&dataset, &selection) {
                let mut written = Vec::new();
                (file.write)(&mut written).unwrap();
                let released = std::fs::read(folder.join(&file.path)).unwrap();
                assert!(written == released, "{}", file.path);
            }
            official.compared(1);
        }
    }
}
