use super::*;
use crate::{Attribution, published};
use wug_run::Scores;

const TEXT: &str = r#"
    title = "A table"
    paper = "P"
    numbers = "nacs"
    source = "Table 4"
    scale = { smoke = { runs = 1, limit = 9, set = { steps = 3 } }, cpu = { runs = 2 }, paper = { runs = 3 } }
    protocol = { nacs = { steps = 100, hidden = 256 } }
    [[column]]
    name = "simple"
    dataset = "scan/simple"
    [[column]]
    name = "length"
    dataset = "scan/length"
    by = "action-length"
    set = { validate = 7 }
    [[row]]
    name = "gru"
    run = { learner = "gru", protocol = "nacs", set = { hidden = 8 } }
    theirs = "gru"
    runs = { cpu = 5 }
    [[row]]
    name = "Lake and Baroni"
    theirs = "lnb-best"
"#;

fn read(scale: Scale) -> Experiment {
    Experiment::read("x", TEXT, scale).unwrap()
}

#[test]
fn settings_come_from_protocol_row_scale_and_column() {
    let experiment = read(Scale::Smoke);
    let specs = experiment.specs().unwrap();
    assert_eq!(specs.len(), 2);
    let mut expected = RunSpec::new("scan/length#test", "gru").unwrap();
    expected.set(&["hidden=8", "steps=3", "validate=7"].map(str::to_owned)).unwrap();
    expected.by = vec!["action-length".to_owned()];
    expected.limit = Some(9);
    assert_eq!(specs[1], expected);
    let count = |scale: Scale| (read(scale).specs().unwrap().len() as u64, read(scale).run_count().unwrap());
    assert_eq!(count(Scale::Paper), (6, 6));
    assert_eq!(count(Scale::Cpu), (10, 10), "the row says how often it is run");
    let seeds: Vec<u64> = read(Scale::Paper).specs().unwrap().iter().map(|spec| spec.learner_seed).collect();
    assert_eq!(seeds, [0, 0, 1, 1, 2, 2], "first runs first");
}

#[test]
fn a_misspelt_learner_or_setting_is_an_error_that_names_the_row() {
    let wrong = |from: &str, to: &str| {
        let experiment = Experiment::read("x", &TEXT.replace(from, to), Scale::Cpu).unwrap();
        experiment.specs().unwrap_err().to_string()
    };
    let said = wrong("learner = \"gru\"", "learner = \"gruu\"");
    assert!(said.starts_with("experiment x: row gru: no learner `gruu`; did you mean gru?"), "{said}");
    let said = wrong("hidden = 8", "hiden = 8");
    assert!(said.contains("row gru: gru has no setting `hiden`; did you mean hidden?"), "{said}");
}

#[test]
fn numbers_are_found_by_what_they_are_numbers_of() {
    let experiment = read(Scale::Cpu);
    let printed = |row: usize| -> Vec<&str> {
        experiment.rows[row].theirs.iter().map(|theirs| theirs.as_ref().unwrap().printed.as_str()).collect()
    };
    assert_eq!(printed(0), ["100.0 ± 0.0", "14.4 ± 0.8"]);
    assert_eq!(printed(1), ["99.8", "20.8"]);
}

#[test]
fn a_run_number_picks_a_draw() {
    let text = TEXT.replace("scan/length", "scan/addprim-jump-num-4-rep-{run}");
    let specs = Experiment::read("x", &text, Scale::Paper).unwrap().specs().unwrap();
    let datasets: Vec<&str> = specs.iter().skip(1).step_by(2).map(|spec| spec.dataset.as_str()).collect();
    assert_eq!(datasets, [1, 2, 3].map(|rep| format!("scan/addprim-jump-num-4-rep-{rep}")));
}

#[test]
fn a_grid_is_a_row_for_each_combination() {
    let text = TEXT.replace("runs = { cpu = 5 }", "grid = { layers = [1, 2], dropout = [0.0, 0.5, 0.9] }");
    let experiment = Experiment::read("x", &text, Scale::Smoke).unwrap();
    assert_eq!(experiment.rows.len(), 7);
    assert_eq!(experiment.rows[1].name, "gru dropout=0 layers=2");
}

#[test]
fn a_wrong_file_says_what_is_wrong() {
    let wrong = |from: &str, to: &str| {
        Experiment::read("x", &TEXT.replace(from, to), Scale::Cpu).unwrap_err().to_string()
    };
    assert!(wrong("title", "titel").contains("unknown field `titel`"), "{}", wrong("title", "titel"));
    assert_eq!(
        wrong("theirs = \"gru\"", "theirs = \"gru-2\""),
        "experiment x: row gru: nacs has no number of gru-2 in Table 4"
    );
    assert_eq!(
        wrong("protocol = \"nacs\"", "protocol = \"none\""),
        "experiment x: row gru: no protocol `none`"
    );
    assert!(wrong("hidden = 8", "hidden = [8]").contains("`hidden` is neither"));
    assert!(wrong("runs = { cpu = 5 }", "runs = { cpu = 3000000 }").contains("more than 100000 runs"));
    let many: Vec<String> = (0..200).map(|i| i.to_string()).collect();
    let grid = format!("grid = {{ a = [{0}], b = [{0}] }}", many.join(", "));
    assert!(wrong("runs = { cpu = 5 }", &grid).contains("more than 10000 rows"));
}

/// Tables that the program has show every number of theirs, and nothing twice.
#[test]
fn every_number_of_a_table_is_shown() {
    for (name, source, own) in [
        ("mns/table-1", "Table 1", 49),
        ("nacs/table-1", "Table 1", 40),
        ("nacs/table-4", "Table 4", 36),
        ("nacs/table-5", "Table 5", 36),
        ("nacs/table-6", "Table 6", 63),
        ("nacs/table-7", "Table 7", 63),
        ("nacs/table-8", "Table 8", 12),
        ("nacs/table-9", "Table 9", 12),
        ("nacs/table-10", "Table 10", 12),
        ("nacs/table-2", "Table 2", 48),
        ("nacs/table-3", "Table 3", 4),
        ("cogs/table-1", "Table 1", 0),
        ("recogs/table-4", "Table 4", 32),
        ("recogs/table-6", "Table 6", 40),
        ("recogs/figure-5", "Section 5, Figure 5", 4),
        ("hint/table-2", "Table 2", 42),
        ("hint/table-3", "Table 3", 54),
    ] {
        // The numbers of others on COGS are in the ReCOGS paper.
        let paper = match name.split('/').next().unwrap() {
            "cogs" => "recogs",
            paper => paper,
        };
        let experiment = Experiment::named(name, Scale::Paper).unwrap();
        let shown: usize = experiment.rows.iter().map(|row| row.theirs.iter().flatten().count()).sum();
        let of = |number: &&crate::Number| number.paper == paper && number.source == source;
        let numbers: Vec<&crate::Number> = published().iter().filter(of).collect();
        assert_eq!(shown, numbers.len(), "{name}");
        assert_eq!(numbers.iter().filter(|number| number.origin == Attribution::Own).count(), own, "{name}");
    }
    let scan = ["experiment-1", "experiment-2", "experiment-3", "experiment-4"];
    let shown = |name: &str| {
        let experiment = Experiment::named(&format!("scan/{name}"), Scale::Paper).unwrap();
        experiment.rows.iter().map(|row| row.theirs.iter().flatten().count()).sum::<usize>()
    };
    assert_eq!(scan.map(shown), [4, 6, 4, 3]);
    assert_eq!(["figure-3", "figure-5", "training-accuracy"].map(shown), [4, 5, 4]);
}

#[test]
fn tables_are_printed_for_papers() {
    let experiment = read(Scale::Smoke);
    let ours = vec![
        vec![Measured::Runs(vec![98.0, 99.0]), Measured::NoExamples],
        vec![Measured::NotRun, Measured::NotRun],
    ];
    let outcome = Outcome { experiment, ours, points: Vec::new() };
    assert_eq!(
        markdown(&outcome),
        "A table (P, Table 4; scale smoke)\n\n\
         **SMOKE TEST: this shows that the experiment runs; its numbers are no results**\n\n\
         | learner | whose | runs | simple | length |\n| --- | --- | ---: | ---: | ---: |\n\
         | gru | ours | 2 | 98.5 ± 0.5 | no examples |\n|  | theirs | 3 | 100.0 ± 0.0 | 14.4 ± 0.8 |\n\
         | Lake and Baroni | theirs |  | 99.8 | 20.8 |\n"
    );
    let csv = experiment_csv(&outcome);
    assert_eq!(csv.lines().nth(1), Some("smoke,gru,simple,98.5,0.5,2,100,0,3,100.0 ± 0.0"));
    assert!(latex(&outcome).contains("gru & ours & 2 & 98.5 $\\pm$ 0.5 & no examples \\\\\n"));
}

#[test]
fn scores_of_a_run_are_read() {
    let tally = |n: usize, correct: usize| {
        format!(r#""n":{n},"correct":{correct},"accuracy":null,"interval":[0.0,1.0],"undecided":0"#)
    };
    let one = format!(r#"{{"fact":"action_length","groups":[{{"value":24,{}}}]}}"#, tally(2, 1));
    let two = format!(r#"{{"fact":"subset","groups":[{{"value":"SL",{}}}]}}"#, tally(2, 0));
    let read = |by: String| -> Scores {
        let text = format!(
            r#"{{"schema":1,"dataset":"hint/symbol","metric":"exact","parts":[{{"part":"test",{},"score":12.5,"by":{by},
            "slices":[{{"slice":"SL",{},"importance":{{"n":2,"fit":1.0,"null_fit":0.5,
            "shares":[{{"fact":"depth","share":0.25,"loss":0.1,"null_loss":0.0}}]}}}}]}}]}}"#,
            tally(4, 1),
            tally(2, 0)
        );
        serde_json::from_str(&text).unwrap()
    };
    let experiment = read_columns();
    let value = |scores: &Scores, row: usize, column: usize| {
        outcome::value(scores, &experiment.rows[row], &experiment.columns[column])
    };
    let both = read(format!("[{one},{two}]"));
    assert_eq!(
        [0, 1, 2, 3].map(|column| value(&both, 0, column)),
        [Some(12.5), Some(50.0), None, Some(12.5)]
    );
    assert_eq!(value(&both, 1, 3), Some(0.0), "the row says which");
    assert_eq!(value(&both, 1, 4), Some(25.0));
    assert_eq!(value(&both, 0, 5), None, "another part");
    let alone = read(one);
    assert_eq!([value(&alone, 0, 1), value(&alone, 1, 3)], [Some(50.0), None]);
    let spec = &experiment.specs().unwrap()[0];
    assert_eq!(
        (&spec.parts[..], &spec.by[..]),
        (&["test", "val"].map(str::to_owned)[..], &["action-length", "subset"].map(str::to_owned)[..])
    );
    assert!(spec.importance);
}

fn read_columns() -> Experiment {
    let text = r#"
        title = "Columns"
        paper = "P"
        source = "Figure 1"
        dataset = "hint/symbol"
        scale = { smoke = {}, cpu = {}, paper = {} }
        column = [
            { name = "all" },
            { name = "24", by = "action-length", value = 24 },
            { name = "9", by = "action-length", value = 9 },
            { name = "subset", by = "subset" },
            { name = "depth", by = "subset", importance = "depth" },
            { name = "val", part = "val" },
            { name = "not here", part = "train", scales = ["paper"] },
        ]
        row = [
            { name = "a", run = { learner = "gru" } },
            { name = "b", run = { learner = "gru" }, value = "SL" },
        ]
    "#;
    Experiment::read("x", text, Scale::Cpu).unwrap()
}

#[test]
fn rows_that_fine_tune_bring_what_they_begin_from_and_a_mean_has_its_number() {
    let table = Experiment::named("hint/table-4", Scale::Cpu).unwrap();
    let specs = table.specs().unwrap();
    let (tuned, trained): (Vec<_>, Vec<_>) = specs.iter().partition(|spec| spec.init.is_some());
    assert_eq!((tuned.len(), trained.len() as u64), (24, table.run_count().unwrap() - 24));
    for spec in &tuned {
        let init = spec.init.as_ref().unwrap();
        let place = specs.iter().position(|other| other.key().unwrap() == init.key().unwrap());
        assert!(place < specs.iter().position(|other| other == *spec), "{spec} begins from {init}");
        // What is not given is as it was in training.
        assert_eq!(spec.settings.get("hidden"), init.settings.get("hidden"));
        assert_eq!((&spec.settings["mix"], &spec.settings["steps"]), (&0.5.into(), &1000.into()));
    }
    // Table 2 trains the same models, so one folder serves both.
    let others = Experiment::named("hint/table-2", Scale::Cpu).unwrap().specs().unwrap();
    let shared = |spec: &&&RunSpec| others.iter().any(|other| other.key().unwrap() == spec.key().unwrap());
    assert_eq!(trained.iter().filter(shared).count(), 2);

    let overall = table.rows.iter().position(|row| row.name == "overall, lstm-attn").unwrap();
    let printed = |cell: &Option<PublishedCell>| cell.as_ref().unwrap().printed.clone();
    assert_eq!(printed(table.rows[overall].theirs.last().unwrap()), "31.6");
    let empty = tempfile::tempdir().unwrap();
    let outcome = Outcome::collect(table, empty.path(), &BTreeMap::new()).unwrap();
    assert!(outcome.ours[overall].iter().all(|cell| cell.printed() == "not run"));
}

#[test]
fn a_row_that_averages_has_the_mean_of_each_run() {
    let ours = [vec![Measured::Runs(vec![10.0, 20.0])], vec![Measured::Runs(vec![30.0, 50.0, 7.0])]];
    assert_eq!(outcome::average(&ours, &[0, 1], 0), Measured::Runs(vec![20.0, 35.0]));
    let open = [vec![Measured::Runs(vec![10.0])], vec![Measured::Failed("no".to_owned())]];
    assert_eq!(outcome::average(&open, &[0, 1], 0), Measured::Runs(Vec::new()));
}
