//! What a learner may see, and whose folder a run may write.

mod common;

use common::{fails, ok, text};
use wug_bench::{Address, BENCHMARKS, Source};
use wug_data::InputKind;
use wug_learn::{LEARNERS, Reads, input_kind};

/// Every image dataset, as small as its settings allow.
fn image_datasets() -> Vec<(String, wug_data::Dataset)> {
    let mut found = Vec::new();
    for benchmark in BENCHMARKS.iter().filter(|benchmark| ["hint", "mns"].contains(&benchmark.about().name)) {
        for name in benchmark.families().into_iter().flat_map(|family| family.names) {
            let mut settings = wug_bench::DataSettings::default();
            if benchmark.about().name == "hint" {
                let few = if name.starts_with("fewshot") { "20" } else { "100" };
                for (key, value) in [("train", few), ("val", "20"), ("test", "20")] {
                    settings.set(key, value);
                }
            } else if !name.contains("panels") {
                // The others have the same pictures and many more rows.
                continue;
            }
            let address: Address = format!("{}/{name}", benchmark.about().name).parse().unwrap();
            let made = address.benchmark.make_with(&address.dataset, &Source::Seed(0), &settings);
            found.push((address.to_string(), made.unwrap()));
        }
    }
    found.retain(|(_, dataset)| dataset.input_kind() == InputKind::Images);
    found
}

#[test]
fn no_token_learner_reads_an_image_dataset_unless_told_to() {
    let datasets = image_datasets();
    assert!(datasets.len() >= 12, "hint/image, hint/fewshot-*-image, mns");
    let mut refused = 0;
    for (name, dataset) in &datasets {
        let benchmark = name.split('/').next().unwrap();
        for about in LEARNERS.iter().map(|learner| learner.about()).filter(|about| about.is_for(benchmark)) {
            let kind = input_kind(about, dataset, false);
            match about.reads {
                Reads::Nothing | Reads::Images | Reads::Any => assert_eq!(kind.unwrap(), InputKind::Images),
                Reads::Tokens => {
                    let error = kind.unwrap_err();
                    assert!(error.is_usage());
                    let said = error.to_string();
                    assert!(said.contains("these learners fit: always-one, chance"), "{said}");
                    assert!(said.contains("--reads symbols"), "{said}");
                    assert_eq!(input_kind(about, dataset, true).unwrap(), InputKind::Tokens);
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 12, "{refused}");
}

#[test]
fn symbols_are_read_on_request_and_every_table_says_so() {
    let small = ["--with", "train=100", "--with", "val=20", "--with", "test=20", "--limit", "5"];
    let run = [&["run", "hint/image", "--learner", "gru"], &small[..]].concat();
    let message = fails(2, &["run", "hint/image", "--learner", "induced"]);
    assert!(message.contains("induced reads tokens, and the inputs of hint/image are images"), "{message}");
    let short = ["--set", "steps=1", "--set", "hidden=4", "--set", "longest=3", "--reads", "symbols"];
    let run = [run, short.to_vec()].concat();
    assert!(ok(&run).contains("hint/image gru (reads symbols)"));
    let scores: serde_json::Value = serde_json::from_str(&ok(&[run, vec!["--json"]].concat())).unwrap();
    assert_eq!(scores["reads"], "symbols");
    let message = fails(2, &["run", "scan/length", "--learner", "gru", "--reads", "symbols"]);
    assert!(message.contains("the inputs of scan/length are tokens already"), "{message}");
}

fn borrowed(line: &[String]) -> Vec<&str> {
    line.iter().map(String::as_str).collect()
}

#[test]
fn a_folder_belongs_to_one_run_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let (out, data) = (folder.path().join("run"), folder.path().join("data"));
    let tiny = ["--set", "steps=20", "--set", "hidden=4", "--set", "batch=2", "--limit", "3", "--quiet"];
    let run = |more: &[&str]| -> Vec<String> {
        let all = [&["run", "scan/simple", "--learner", "gru"], &tiny[..], more].concat();
        all.into_iter().map(str::to_owned).collect()
    };
    let done = |line: Vec<String>| ok(&borrowed(&line));
    let refused = |line: Vec<String>| fails(2, &borrowed(&line));

    // While another process holds it, nobody else gets it.
    std::fs::create_dir(&out).unwrap();
    let held = std::fs::File::open(&out).unwrap();
    held.lock().unwrap();
    let message = refused(run(&["--out", text(&out)]));
    assert!(message.contains("another process is running in it"), "{message}");
    held.unlock().unwrap();

    let first = done(run(&["--out", text(&out)]));
    let message = refused(run(&["--learner-seed", "1", "--out", text(&out)]));
    assert!(message.contains("holds the finished run of gru on scan/simple#test, seed 0"), "{message}");
    assert_eq!(ok(&["run", "--resume", text(&out)]), first, "--resume alone suffices");
    done(run(&["--learner-seed", "1", "--force", "--out", text(&out)]));

    // A folder of data is not replaced by a run, nor is a run by data.
    ok(&["generate", "scan/simple#test", "--limit", "3", "--out", text(&data)]);
    let message = fails(1, &["run", "scan/simple", "--learner", "chance", "--force", "--out", text(&data)]);
    assert!(message.contains("holds data of scan/simple, not a run"), "{message}");
    let message = fails(1, &["generate", "scan/simple", "--out", text(&out)]);
    assert!(message.contains("holds a run"), "{message}");

    // A run of an older version is recognised.
    std::fs::write(out.join("run.json"), r#"{"schema":1,"wug":"0.1.0","dataset":"scan/simple"}"#).unwrap();
    for option in ["--out", "--resume"] {
        let message = fails(1, &borrowed(&run(&[option, text(&out)])));
        assert!(message.contains("holds a run of another version of wug"), "{message}");
    }
    done(run(&["--force", "--out", text(&out)]));

    // What was refused before anything was learned leaves no folder behind.
    let new = folder.path().join("new");
    refused(run(&["--set", "patience=3", "--out", text(&new)]));
    assert!(!new.exists());
}

#[test]
fn one_flipped_bit_of_a_checkpoint_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let out = text(folder.path());
    let tiny = ["--set", "steps=5", "--set", "hidden=4", "--set", "batch=2", "--limit", "3", "--quiet"];
    ok(&[&["run", "scan/simple", "--learner", "rnn", "--out", out], &tiny[..]].concat());
    let path = folder.path().join("checkpoint.safetensors");
    let whole = std::fs::read(&path).unwrap();
    for at in [0, 9, 200, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        std::fs::write(&path, damaged).unwrap();
        let message = fails(1, &["run", "--resume", out]);
        assert!(
            message.contains("checkpoint.safetensors: is not a checkpoint of wug"),
            "byte {at}: {message}"
        );
    }
}

#[test]
fn several_seeds_have_a_mean_and_an_interval() {
    let run = ["run", "mns/circle-panels-2", "--learner", "chance", "--limit", "200", "--seeds", "4"];
    assert!(ok(&run).contains("4 seeds"));
    let json: serde_json::Value = serde_json::from_str(&ok(&[&run[..], &["--json"]].concat())).unwrap();
    let part = &json["parts"][0];
    assert_eq!(json["runs"].as_array().unwrap().len(), 4);
    let mean =
        part["accuracies"].as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).sum::<f64>() / 4.0;
    assert!((part["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!(fails(2, &["run", "scan/simple", "--learner", "chance", "--seeds", "0"]).contains("from 1"));
    assert!(fails(2, &["reproduce", "mns/table-1", "--jobs", "0"]).contains("from 1"));
    assert!(fails(2, &["run", "scan/simple", "--learner", "gru", "--set", "share=0"]).contains("share"));
    let threads =
        |n: &str| ok(&["run", "mns/circle", "--learner", "chance", "--limit", "50", "--threads", n]);
    assert_eq!(threads("1"), threads("3"));
}

#[test]
fn a_learner_is_listed_in_one_line_and_its_settings_by_name() {
    let all = ok(&["list", "learners"]);
    assert!(all.lines().count() < LEARNERS.len() + 6, "{all}");
    let one = ok(&["list", "learners", "lstm"]);
    assert!(
        one.contains("hint, hint-image, hint-few-shot, scan, nacs, recogs or none")
            && one.contains("a whole number from 1"),
        "{one}"
    );
    assert!(fails(2, &["list", "learners", "lstn"]).contains("did you mean lstm?"));
}
