//! docs/results/README.md says of every experiment, row and published number whether there is a result of ours, or why not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use wug_report::{Attribution, EXPERIMENTS, Experiment, Scale, published};

const REASONS: [&str; 5] = ["time", "service", "weights", "people", "cited"];

fn results() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/results")
}

fn page(name: &str) -> String {
    fs::read_to_string(results().join(name)).unwrap_or_else(|error| panic!("docs/results/{name}: {error}"))
}

/// The rows of the table under a heading of the README, a text for each cell.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = page("README.md");
    let section = text.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no {heading}"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    lines.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The texts between pairs of backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_experiment_has_results_or_a_reason() {
    let mut listed = BTreeMap::new();
    for row in table("Experiments") {
        let [name, page, missing, reason] = row.try_into().expect("four cells");
        assert!(
            listed.insert(name.trim_matches('`').to_owned(), (page, missing, reason)).is_none(),
            "{name} twice"
        );
    }
    for (name, _) in EXPERIMENTS {
        let (link, missing, reason) =
            listed.remove(*name).unwrap_or_else(|| panic!("docs/results/README.md does not list {name}"));
        let experiment = Experiment::named(name, Scale::Cpu).unwrap();
        let known: BTreeSet<&str> = experiment.rows.iter().map(|row| row.name.as_str()).collect();
        let without: BTreeSet<&str> =
            if missing == "all" { known.clone() } else { quoted(&missing).into_iter().collect() };
        for row in &without {
            assert!(known.contains(row), "{name} has no row `{row}`; there are {known:?}");
        }
        assert_eq!(
            without.is_empty(),
            !REASONS.iter().any(|known| reason.contains(known)),
            "{name}: a reason where rows are without results, and only there"
        );
        if without.len() == known.len() {
            continue;
        }
        let file = link.split(['(', ')']).nth(1).unwrap_or_else(|| panic!("{name}: no page"));
        let text = page(file);
        assert!(text.contains(*name), "docs/results/{file} does not name {name}");
        for row in experiment.rows.iter().filter(|row| !without.contains(row.name.as_str())) {
            if let Some(run) = &row.run {
                let learner = format!("`{}", run.learner);
                assert!(text.contains(&learner), "docs/results/{file} has no {} of {name}", run.learner);
            } else {
                assert!(!row.average.is_empty(), "{name}: `{}` is not run and has no reason", row.name);
            }
        }
    }
    assert!(listed.is_empty(), "no such experiments: {:?}", listed.keys());
}

#[test]
fn every_published_number_is_in_an_experiment_or_listed() {
    let mut shown: BTreeSet<(String, String)> = BTreeSet::new();
    for (name, _) in EXPERIMENTS {
        let experiment = Experiment::named(name, Scale::Paper).unwrap();
        // The numbers of others on COGS are in the ReCOGS paper.
        let paper = name.split('/').next().unwrap().replace("cogs", "recogs").replace("rerecogs", "recogs");
        let cells = experiment.rows.iter().flat_map(|row| row.theirs.iter().flatten());
        shown.extend(cells.map(|cell| (paper.clone(), cell.printed.clone())));
    }
    let listed: BTreeSet<(String, String)> =
        table("Numbers in a paper's text").into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    for number in published().iter().filter(|number| number.origin == Attribution::Own) {
        let place = (number.paper.to_owned(), number.source.clone());
        let is_shown = shown.contains(&(number.paper.to_owned(), number.printed()));
        assert!(
            is_shown || listed.contains(&place),
            "{} {}: {} of {} on {} is in no experiment and not listed",
            number.paper,
            number.source,
            number.printed(),
            number.learner,
            number.dataset
        );
    }
    for place in &listed {
        let known = published().iter().any(|number| (number.paper, &number.source) == (&place.0, &place.1));
        assert!(known, "no published number is from {place:?}");
    }
}
