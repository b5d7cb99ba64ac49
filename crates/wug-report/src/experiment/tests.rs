use super::*;
use crate::{Origin, published};

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
    let cells = experiment.cells();
    assert_eq!(cells.len(), 2);
    assert_eq!(
        cells[1].arguments().join(" "),
        "run scan/length#test --learner gru --set hidden=8 --set steps=3 --set validate=7 --learner-seed 0 \
         --by action-length --limit 9"
    );
    assert_eq!(read(Scale::Paper).cells().len(), 6);
    assert_eq!(read(Scale::Cpu).cells().len(), 10, "the row says how often it is run");
    let seeds: Vec<u64> = read(Scale::Paper).cells().iter().map(|cell| cell.seed).collect();
    assert_eq!(seeds, [0, 0, 1, 1, 2, 2], "first runs first");
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
    let cells = Experiment::read("x", &text, Scale::Paper).unwrap().cells();
    let datasets: Vec<&str> = cells.iter().skip(1).step_by(2).map(|cell| cell.dataset.as_str()).collect();
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
        assert_eq!(numbers.iter().filter(|number| number.origin == Origin::Own).count(), own, "{name}");
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
    let ours = vec![vec![Ours::Runs(vec![98.0, 99.0]), Ours::NoLearner], vec![Ours::NotRun, Ours::NotRun]];
    let outcome = Outcome { experiment, ours, points: Vec::new() };
    assert_eq!(
        markdown(&outcome),
        "A table (P, Table 4; scale smoke)\n\n\
         **SMOKE TEST: this shows that the experiment runs; its numbers are no results**\n\n\
         | learner | whose | runs | simple | length |\n| --- | --- | ---: | ---: | ---: |\n\
         | gru | ours | 2 | 98.5 ± 0.5 | no learner |\n|  | theirs | 3 | 100.0 ± 0.0 | 14.4 ± 0.8 |\n\
         | Lake and Baroni | theirs |  | 99.8 | 20.8 |\n"
    );
    let csv = experiment_csv(&outcome);
    assert_eq!(csv.lines().nth(1), Some("smoke,gru,simple,98.5,0.5,2,100,0,3,100.0 ± 0.0"));
    assert!(latex(&outcome).contains("gru & ours & 2 & 98.5 $\\pm$ 0.5 & no learner \\\\\n"));
}

#[test]
fn scores_of_a_run_are_read() {
    let one = r#"{"fact":"action_length","groups":[{"value":24,"n":2,"correct":1}]}"#;
    let two = r#"{"fact":"subset","groups":[{"value":"SL","n":2,"correct":0}]}"#;
    let read = |by: String| -> Scores {
        let text = format!(
            r#"{{"parts":[{{"part":"test","n":4,"correct":1,"score":12.5,"by":{by},"slices":[{{"slice":"SL",
            "importance":{{"shares":[{{"fact":"depth","share":0.25}}]}}}}]}}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let experiment = read_columns();
    let value = |scores: &Scores, row: usize, column: usize| {
        scores.value(&experiment.rows[row], &experiment.columns[column])
    };
    let both = read(format!("[{one},{two}]"));
    assert_eq!(
        [0, 1, 2, 3].map(|column| value(&both, 0, column)),
        [Some(12.5), Some(50.0), None, Some(12.5)]
    );
    assert_eq!(value(&both, 1, 3), Some(0.0), "the row says which");
    assert_eq!(value(&both, 1, 4), Some(25.0));
    assert_eq!(value(&both, 0, 5), None, "another part");
    let alone = read(one.to_owned());
    assert_eq!([value(&alone, 0, 1), value(&alone, 1, 3)], [Some(50.0), None]);
    assert_eq!(
        experiment.cells()[0].arguments().join(" "),
        "run hint/symbol#test,val --learner gru --learner-seed 0 --by action-length --by subset --importance"
    );
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
