//! Tables of the papers, ours beside theirs.

mod common;

use std::fs;

use common::{fails, files, ok, text};
use wug_report::EXPERIMENTS;

#[test]
fn a_table_is_run_once_and_printed_beside_the_papers() {
    let folder = tempfile::tempdir().unwrap();
    let out = text(folder.path());
    let run =
        |more: &[&str]| ok(&[&["reproduce", "mns/table-1", "--scale", "smoke", "--out", out], more].concat());
    let table = run(&[]);
    assert!(table.contains("SMOKE TEST"), "{table}");
    assert!(
        table.lines().any(|line| line.contains("bayes (reads symbols)  ") && line.contains("ours")),
        "{table}"
    );
    assert!(table.lines().any(|line| line.contains("theirs") && line.contains("62.98")), "{table}");

    let time = |(_, path): &(String, std::path::PathBuf)| fs::metadata(path).unwrap().modified().unwrap();
    let runs = || -> Vec<_> {
        files(folder.path()).into_iter().filter(|(name, _)| name.ends_with("scores.json")).collect()
    };
    let before: Vec<_> = runs().iter().map(time).collect();
    assert_eq!(before.len(), 11, "a folder for each run");
    // Whoever takes a run away gets that one run again.
    fs::remove_dir_all(runs()[0].1.parent().unwrap()).unwrap();
    assert_eq!(run(&[]), table, "the same numbers");
    let after: Vec<_> = runs().iter().map(time).collect();
    assert_eq!(after[1..], before[1..], "what was done is not run again");

    let markdown = run(&["--format", "markdown"]);
    assert!(markdown.contains("| search-pure (reads symbols) | ours | 1 |"), "{markdown}");
    assert_eq!(fs::read_to_string(folder.path().join("mns-table-1.md")).unwrap(), markdown);
    assert!(run(&["--format", "latex"]).contains("\\toprule"));
    assert_eq!(run(&["--format", "csv"]).lines().count(), 1 + 12 * 7);
    let json: serde_json::Value = serde_json::from_str(&run(&["--json"])).unwrap();
    assert_eq!((&json["scale"], &json["is_result"]), (&"smoke".into(), &false.into()));
    assert_eq!(json["rows"][0]["columns"][0]["theirs"], 52.15);
    assert!(json["rows"][0]["columns"][0]["mean"].as_f64().unwrap() > 30.0);
}

/// Training is long: a figure that asks other facts of the same network takes the checkpoint of the first.
#[test]
fn experiments_in_one_folder_share_their_training() {
    let folder = tempfile::tempdir().unwrap();
    let out = text(folder.path());
    let metrics = || -> Vec<Vec<u8>> {
        let files = files(folder.path()).into_iter().filter(|(name, _)| name.ends_with("metrics.jsonl"));
        files.map(|(_, path)| fs::read(path).unwrap()).collect()
    };
    ok(&["reproduce", "scan/figure-4-actions", "--scale", "smoke", "--out", out]);
    let first = metrics();
    assert_eq!(first.len(), 1);
    ok(&["reproduce", "scan/figure-4-commands", "--scale", "smoke", "--out", out]);
    // With the times of the updates: a training of its own would have others.
    assert_eq!(metrics(), [first.clone(), first].concat());
}

#[test]
fn only_the_rows_and_columns_that_are_named_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let columns = ["circle", "circle-to-20", "circle-to-50"]
        .map(|name| format!("[[column]]\nname = \"{name}\"\ndataset = \"mns/{name}\"\n"));
    let rows = ["always-one", "chance"]
        .map(|name| format!("[[row]]\nname = \"{name}\"\nrun = {{ learner = \"{name}\" }}\n"));
    let head = "title = \"Mine\"\npaper = \"ours\"\nsource = \"1\"\n\
                [scale]\nsmoke = { limit = 10 }\ncpu = {}\npaper = {}\n";
    fs::write(&file, [head, &columns.concat(), &rows.concat()].concat()).unwrap();
    let out = folder.path().join("out");
    let all = ["reproduce", text(&file), "--scale", "smoke", "--out", text(&out)];
    let run = |more: &[&str]| {
        let table = ok(&[&all[..], more].concat());
        (table, files(&out).iter().filter(|(name, _)| name.ends_with("scores.json")).count())
    };
    let said = fails(2, &[&all[..], &["--row", "change"]].concat());
    assert!(said.contains("there is no row `change`; there are\n  always-one\n  chance"), "{said}");
    let (table, runs) = run(&["--row", "chance", "--column", "circle", "--column", "circle-to-20"]);
    assert_eq!(runs, 2, "{table}");
    assert!(table.contains("always-one"), "the whole table: {table}");
    assert_eq!(run(&["--column", "circle-to-50"]).1, 4);
    assert_eq!(run(&[]).1, 6);
}

#[test]
fn wrong_names_are_found_first_and_failures_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let experiment = "
        title = 'Mine'
        paper = 'P'
        source = 'Table 1'
        dataset = 'mns/circle'
        vary = { steps = [10, 20] }
        figure = 'lines'
        scale = { smoke = { limit = 28 }, cpu = { limit = 28 }, paper = {} }
        row = [
            { name = 'a', run = { learner = 'search-pure', reads = 'symbols' }, published = [1, 2] },
            { name = 'b', run = { learner = 'oracle-of-delphi' } },
        ]";
    fs::write(&file, experiment).unwrap();
    let out = folder.path().join("out");
    let run = |more: &[&str]| [&["reproduce", text(&file), "--out", text(&out)], more].concat().join(" ");
    let arguments = run(&[]);
    let arguments: Vec<&str> = arguments.split(' ').collect();
    // A misspelt name is found before anything is run.
    let said = fails(2, &arguments);
    assert!(said.contains("row b: no learner `oracle-of-delphi`"), "{said}");
    assert!(!out.exists());
    fs::write(&file, experiment.replace("steps", "stairs").replace("oracle-of-delphi", "gru")).unwrap();
    assert!(fails(2, &arguments).contains("search-pure has no setting `stairs`"));

    // A run that fails leaves the others, and the table says which.
    fs::write(&file, experiment.replace("oracle-of-delphi", "search-context")).unwrap();
    let output = common::wug(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let (table, said) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(table.contains("failed") && said.contains("search-context reads tokens"), "{table}{said}");
    assert!(!table.contains("SMOKE"), "{table}");
    assert!(fs::read_to_string(out.join("mine.svg")).unwrap().contains("a, published"));

    let said = fails(2, &["reproduce", "mns/table-9"]);
    assert!(said.contains("there are: mns/figure-6, mns/figure-7, mns/table-1"), "{said}");
    assert!(fails(2, &["reproduce", "mns/table-1", "--scale", "large"]).contains("smoke, cpu or paper"));
    fs::write(&file, "title = 3").unwrap();
    assert!(fails(2, &arguments).contains("experiment mine: "));
}

#[test]
fn a_table_whose_time_is_up_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let out = text(folder.path());
        common::wug(&[&["reproduce", "hint/scan-length", "--scale", "smoke", "--out", out], more].concat())
    };
    let stopped = run(&["--time-limit", "0s"]);
    let said = String::from_utf8(stopped.stderr).unwrap();
    assert_eq!(stopped.status.code(), Some(3), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("3 runs, about "), "a plan comes first: {said}");
    assert_eq!(lines[1], "stopped: the time is up, runs that are not done: 3; the same command goes on");
    assert!(String::from_utf8(stopped.stdout).unwrap().contains("not run"));
    let done = run(&["--time-limit", "1h"]);
    assert!(done.status.success() && !String::from_utf8(done.stdout).unwrap().contains("not run"));
    let said = String::from_utf8(done.stderr).unwrap();
    for (i, line) in said.lines().skip(1).enumerate() {
        // Row, time left, and what is run.
        assert!(line.starts_with(&format!("[{}/3, about ", i + 1)) && line.contains(" left] "), "{said}");
        assert!(
            line.contains(": transformer") || line.contains(": lstm") || line.contains(": gru"),
            "{said}"
        );
    }
    assert_eq!(said.lines().count(), 4, "{said}");
    let said = fails(2, &["reproduce", "hint/scan-length", "--time-limit", "soon"]);
    assert!(said.contains("such as 2h, 90m, 1h30m or 45"), "{said}");
}

/// Every learner that exists runs, and every other is named: no cell is left out.
#[test]
fn experiments_of_networks_run_at_smoke() {
    for (experiment, columns) in [
        ("scan/experiment-2", 4),
        ("scan/experiment-4", 3),
        ("nacs/table-9", 2),
        ("cogs/table-1", 6),
        ("recogs/figure-5", 8),
        ("hint/figure-3-data", 5),
        ("hint/figure-a6", 5),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let printed =
            ok(&["reproduce", experiment, "--scale", "smoke", "--out", text(folder.path()), "--json"]);
        let json: serde_json::Value = serde_json::from_str(&printed).unwrap();
        for row in json["rows"].as_array().unwrap() {
            if row["learner"].is_null() {
                continue;
            }
            let cells = row["columns"].as_array().unwrap();
            assert_eq!(cells.len(), columns, "{experiment}");
            for cell in cells {
                let fits = cell["mean"].is_number() || cell["ours"] == "no_examples";
                assert!(
                    fits && cell["theirs_printed"].is_string() | cell["theirs"].is_null(),
                    "{experiment}: {row}"
                );
            }
        }
    }
}

#[test]
fn experiments_are_listed() {
    let listed = ok(&["list", "experiments"]);
    assert!(EXPERIMENTS.iter().all(|(name, _)| listed.contains(name)), "{listed}");
    let json: serde_json::Value = serde_json::from_str(&ok(&["list", "experiments", "--json"])).unwrap();
    assert_eq!(json["experiments"].as_array().unwrap().len(), EXPERIMENTS.len());
}
