//! What training shows of what the test asks for.

use std::collections::BTreeMap;

use wug_data::{Dataset, Fact};

use crate::Statistic;

/// The usual distributions, and behind them the coverage.
pub(super) fn statistics(dataset: &Dataset) -> Vec<Statistic> {
    let mut all = crate::statistics::usual(dataset);
    all.extend(coverage(dataset));
    all
}

/// What a command is made of.
type Units<'a> = &'a dyn Fn(u32) -> Vec<String>;

/// For words, commands without a conjunction (alone or as conjuncts) and constructions: how many kinds the test part has,
/// how many of them train has too, and how often. The SCAN paper gives the second for 1% and 2% of the commands.
fn coverage(dataset: &Dataset) -> Option<Statistic> {
    let (train, test) = (dataset.part("train")?, dataset.part("test")?);
    let fact = |name: &str| dataset.table.facts.column(name).ok();
    let (first, second, construction) = (fact("first")?, fact("second")?, fact("construction")?);
    let label = |fact: &Fact, row: u32| fact.value(row).to_string();
    let words =
        |row: u32| -> Vec<String> { dataset.table.inputs.get(row).words().map(str::to_owned).collect() };
    let conjuncts = |row: u32| -> Vec<String> {
        [first, second].iter().map(|fact| label(fact, row)).filter(|phrase| phrase != "none").collect()
    };
    let constructions = |row: u32| vec![label(construction, row)];
    let kinds: [(&str, Units<'_>); 3] =
        [("words", &words), ("without conjunction", &conjuncts), ("constructions", &constructions)];
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for (name, units) in kinds {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        test.rows.iter().flat_map(|&row| units(row)).for_each(|unit| _ = seen.insert(unit, 0));
        for unit in train.rows.iter().flat_map(|&row| units(row)) {
            if let Some(times) = seen.get_mut(&unit) {
                *times += 1;
            }
        }
        let known = seen.values().filter(|times| **times > 0).count();
        let times: usize = seen.values().sum();
        rows.push((name.to_owned(), vec![seen.len() as f64, known as f64]));
        let mean = times as f64 / seen.len().max(1) as f64;
        notes.push(format!("{name}: train has each {mean:.1} times on average"));
    }
    Some(Statistic {
        name: "coverage".to_owned(),
        title: "what of the test part train has too".to_owned(),
        columns: vec!["in test".to_owned(), "seen in train".to_owned()],
        rows,
        shares: false,
        notes,
    })
}

#[cfg(test)]
mod tests {
    use wug_official::Official;

    use super::*;
    use crate::scan::Scan;
    use crate::{Benchmark, Source};

    fn of(dataset: &str, source: &Source) -> Statistic {
        coverage(&Scan.make(dataset, source).unwrap()).unwrap()
    }

    fn numbers(statistic: &Statistic, name: &str) -> Vec<f64> {
        statistic.rows.iter().find(|(row, _)| row == name).unwrap().1.clone()
    }

    #[test]
    fn splits_show_what_they_say() {
        let length = of("length", &Source::Seed(0));
        assert_eq!(numbers(&length, "words"), [13.0, 13.0]);
        let jump = of("addprim-jump", &Source::Seed(0));
        // 21 commands without conjunction have `jump`, and train only has the bare one.
        assert_eq!(numbers(&jump, "without conjunction"), [102.0, 82.0]);
        assert_eq!(numbers(&of("simple", &Source::Seed(0)), "without conjunction"), [102.0, 102.0]);
    }

    /// In the paper's words: with 2% every command without a conjunction that the test has is in train, 8 times on
    /// average; with 1% all but one, 4 times.
    #[test]
    fn the_release_covers_what_the_paper_says() {
        let mut official = Official::new("SCAN coverage");
        let Some(folder) = official.folder("scan", 2) else { return };
        for (dataset, known, mean) in [("simple-p1", 101.0, "4."), ("simple-p2", 102.0, "8.")] {
            let coverage = of(dataset, &Source::Folder(folder.clone(), 0));
            assert_eq!(numbers(&coverage, "without conjunction"), [102.0, known], "{dataset}");
            let note = coverage.notes.iter().find(|note| note.starts_with("without conjunction")).unwrap();
            assert!(note.contains(&format!("each {mean}")), "{note}");
            official.compared(1);
        }
    }
}
