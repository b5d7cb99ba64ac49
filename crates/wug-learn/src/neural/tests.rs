use std::path::PathBuf;

use wug_bench::{Address, Judge, Source, Verdict};
use wug_data::{Dataset, Error, Example, InputKind, Selection, Sequences, Table};

use super::checkpoint::{FILE, edited};
use super::metrics::METRICS;
use crate::{Answer, Input, Lessons, Model, Oracle, Settings, StopReason, Task, learner};

const SMALL: &[&str] =
    &["hidden=12", "batch=20", "teacher=0.5", "dropout=0.2", "checkpoint=100", "schedule=constant"];

fn dataset(name: &str) -> Dataset {
    let address: Address = name.parse().unwrap();
    address.benchmark.make(&address.dataset, &Source::Seed(0)).unwrap()
}

fn learn(
    dataset: &Dataset,
    name: &str,
    settings: &[&str],
    folder: Option<PathBuf>,
    resume: bool,
) -> Result<Box<dyn Model>, Error> {
    let learner = learner(name).unwrap();
    let given: Vec<String> = SMALL.iter().chain(settings).map(|text| (*text).to_owned()).collect();
    let mut task = Task::new(dataset, Settings::read(learner.about(), &given)?, 7);
    (task.folder, task.resume) = (folder, resume);
    learner.learn(&task)
}

fn answers(model: &dyn Model, dataset: &Dataset, selection: &Selection<'_>) -> Vec<Answer> {
    model.answers(&crate::questions(dataset, selection, InputKind::Tokens, None)).unwrap()
}

fn error(result: Result<Box<dyn Model>, Error>) -> String {
    result.err().expect("an error").to_string()
}

/// The lines of metrics without their times.
fn curve(folder: &tempfile::TempDir) -> Vec<serde_json::Value> {
    let metrics = std::fs::read_to_string(folder.path().join(METRICS)).unwrap();
    let line = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line.as_object_mut().unwrap().remove("time").is_some());
        line
    };
    metrics.lines().map(line).collect()
}

#[test]
fn a_resumed_run_ends_as_a_straight_one() {
    let dataset = dataset("scan/simple");
    for name in ["gru", "lstm-attn"] {
        let (straight, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |folder: &tempfile::TempDir| Some(folder.path().to_owned());
        learn(&dataset, name, &["steps=300", "order=bucketed"], at(&straight), false).unwrap();
        learn(&dataset, name, &["steps=200", "order=bucketed"], at(&broken), false).unwrap();
        learn(&dataset, name, &["steps=300", "order=bucketed"], at(&broken), true).unwrap();
        let read = |folder: &tempfile::TempDir| std::fs::read(folder.path().join(FILE)).unwrap();
        assert!(read(&straight) == read(&broken), "{name}: the checkpoint differs");
        assert_eq!(curve(&straight), curve(&broken), "{name}");
        assert_eq!(curve(&straight).len(), 3);
    }
}

#[test]
fn a_setting_that_came_after_the_checkpoint_had_its_default() {
    let dataset = dataset("scan/simple");
    let folder = tempfile::tempdir().unwrap();
    let at = || Some(folder.path().to_owned());
    learn(&dataset, "rnn", &["steps=100"], at(), false).unwrap();
    let path = folder.path().join(FILE);
    let whole = std::fs::read(&path).unwrap();
    let without = |metadata: &str| metadata.replace(r#""smoothing":0.0,"#, "");
    std::fs::write(&path, edited(&whole, without)).unwrap();
    let other = error(learn(&dataset, "rnn", &["steps=100", "smoothing=0.1"], at(), true));
    assert!(other.ends_with("its smoothing is 0.0, not 0.1"), "{other}");
    learn(&dataset, "rnn", &["steps=200"], at(), true).unwrap();
}

#[test]
fn a_checkpoint_that_does_not_fit_is_refused_with_the_reason() {
    let dataset = dataset("scan/simple");
    let folder = tempfile::tempdir().unwrap();
    let at = || Some(folder.path().to_owned());
    learn(&dataset, "rnn", &["steps=100"], at(), false).unwrap();
    let other = error(learn(&dataset, "rnn", &["steps=100", "rate=0.5"], at(), true));
    assert!(other.ends_with("belongs to another run: its rate is 0.004, not 0.5"), "{other}");
    let other = error(learn(&dataset, "gru", &["steps=100"], at(), true));
    assert!(other.contains("its learner is \"rnn\", not \"gru\""), "{other}");

    let path = folder.path().join(FILE);
    let whole = std::fs::read(&path).unwrap();
    for length in [0, 5, 8, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let cut = error(learn(&dataset, "rnn", &["steps=100"], at(), true));
        assert!(cut.contains("is not a checkpoint of wug"), "{length} bytes: {cut}");
    }
    std::fs::write(&path, [&2u64.to_le_bytes()[..], b"{}"].concat()).unwrap();
    let foreign = error(learn(&dataset, "rnn", &["steps=100"], at(), true));
    assert!(foreign.contains("it was written by something else"), "{foreign}");
}

#[test]
fn a_loss_that_is_no_number_stops_training() {
    let dataset = dataset("scan/simple");
    // Each update makes every parameter 999 times as large.
    let settings = ["steps=200", "optimiser=sgd", "rate=1000", "clip=0", "weight-decay=1"];
    let lost = error(learn(&dataset, "rnn", &settings, None, false));
    assert!(lost.contains("the loss is no longer a number"), "{lost}");

    // What was kept before stays: here each update makes every parameter 1.2 times as large.
    let folder = tempfile::tempdir().unwrap();
    let settings = ["steps=2000", "optimiser=sgd", "rate=2.2", "clip=0", "weight-decay=1"];
    let lost = error(learn(&dataset, "rnn", &settings, Some(folder.path().to_owned()), false));
    assert!(lost.contains("keeps the last checkpoint"), "{lost}");
    let metrics = std::fs::read_to_string(folder.path().join(METRICS)).unwrap();
    assert!(metrics.lines().count() >= 2 && folder.path().join(FILE).exists());
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let dataset = dataset("scan/simple");
    let refused = |settings: &[&str]| error(learn(&dataset, "gru", settings, None, false));
    let unknown = refused(&["hiden=5"]);
    assert!(
        unknown.starts_with("gru has no setting `hiden`; did you mean hidden? (there are: protocol,"),
        "{unknown}"
    );
    assert!(
        refused(&["protocol=cogs"])
            .contains("expected hint, hint-image, hint-few-shot, scan, nacs, recogs or none for protocol")
    );
    assert!(refused(&["isa=sse9"]).contains("expected auto, avx512, avx2 or portable for isa"));
    assert!(refused(&["patience=5"]).contains("patience needs validate"));
}

#[test]
fn validation_is_apart_from_training() {
    let dataset = dataset("scan/simple");
    let learner = learner("gru").unwrap();
    let task = Task::new(&dataset, Settings::read(learner.about(), &[]).unwrap(), 0);
    let text = |input: &Input<'_>| input.tokens().unwrap().to_string();
    let inputs = |lessons: Lessons<'_>| lessons.iter().map(|lesson| text(&lesson.input)).collect::<Vec<_>>();
    let (apart, validation) = (inputs(task.train_apart().unwrap()), task.validation().unwrap());
    let validation: Vec<String> =
        validation.questions().iter().map(|question| text(&question.input)).collect();
    assert_eq!(apart.len() + validation.len(), inputs(task.train().unwrap()).len());
    assert!(!validation.is_empty() && validation.iter().all(|input| !apart.contains(input)));
}

/// To whom every answer is right, or none.
struct Always(bool);

impl Judge for Always {
    fn judge(&self, _: &Example<'_>, _: &str) -> Verdict {
        if self.0 { Verdict::right() } else { Verdict::wrong("never") }
    }
}

#[test]
fn training_stops_where_the_judge_of_validation_finds_nothing_wrong() {
    let dataset = dataset("scan/simple");
    let learner = learner("gru").unwrap();
    let given = ["hidden=4", "batch=4", "steps=6", "validate=2", "longest=5", "rate=1e-9"].map(str::to_owned);
    let last = |right: bool, seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let judge = Always(right);
        let mut task = Task::new(&dataset, Settings::read(learner.about(), &given).unwrap(), seed);
        task.folder = Some(folder.path().to_owned());
        task.judge = Some(&judge);
        learner.learn(&task).unwrap();
        let metrics = std::fs::read_to_string(folder.path().join(METRICS)).unwrap();
        let line: serde_json::Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
        (line["step"].as_u64().unwrap(), line["best"]["accuracy"].as_f64().unwrap())
    };
    // No answer is never right, so this takes a network that happens to begin by ending every answer.
    let ends_all = (0..60).find(|&seed| last(true, seed).1 == 1.0).expect("a network that ends every answer");
    assert_eq!(last(true, ends_all), (2, 1.0));
    assert_eq!(last(false, ends_all), (6, 0.0));
}

#[test]
fn every_learner_learns_in_every_style() {
    let dataset = dataset("nacs/simple");
    let selection = dataset.select("test").unwrap().limited(Some(40));
    for cell in ["rnn", "gru", "lstm"] {
        for kind in ["", "-attn", "-attn-nodep"] {
            for style in ["scan", "nacs", "hint", "recogs"] {
                if style == "recogs" && kind == "-attn-nodep" {
                    let refused =
                        error(learn(&dataset, &format!("{cell}{kind}"), &["style=recogs"], None, false));
                    assert!(refused.contains("the decoder needs additive attention"), "{refused}");
                    continue;
                }
                let settings = ["steps=3", "style=STYLE", "embedding=5", "longest=9"];
                let settings: Vec<String> =
                    settings.iter().map(|text| text.replace("STYLE", style)).collect();
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                let model = learn(&dataset, &format!("{cell}{kind}"), &settings, None, false).unwrap();
                let answers = answers(model.as_ref(), &dataset, &selection);
                assert_eq!(answers.len(), 40);
                let words = answers
                    .iter()
                    .filter_map(|answer| answer.text.as_deref())
                    .map(|text| text.split(' ').count());
                assert!(words.max().unwrap_or_default() <= 9);
            }
        }
    }
}

#[test]
fn training_with_validation_keeps_the_best_and_stops() {
    let dataset = dataset("nacs/simple");
    let folder = tempfile::tempdir().unwrap();
    // A rate of 0 never becomes better than at the first validation.
    let settings = ["steps=5000", "rate=0", "validate=100", "patience=2", "longest=3"];
    let model = learn(&dataset, "gru", &settings, Some(folder.path().to_owned()), false).unwrap();
    let metrics = std::fs::read_to_string(folder.path().join(METRICS)).unwrap();
    let lines: Vec<serde_json::Value> =
        metrics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = &lines[2];
    assert_eq!((&last["step"], &last["best"]["step"]), (&300.into(), &100.into()));
    assert!(lines.iter().all(|line| line["validation"].is_f64() && line["time"].is_f64()), "{metrics}");
    let training = model.training().unwrap();
    assert_eq!((training.updates, training.of, training.stopped), (300, 5000, StopReason::Patience));
    assert_eq!(training.best.unwrap().update, 100);
}

#[test]
fn a_device_that_is_not_there_is_refused_with_what_to_do() {
    let dataset = dataset("scan/simple");
    let refused = |device: &str| error(learn(&dataset, "gru", &[device], None, false));
    assert!(refused("device=abacus").contains("expected cpu, flex, vulkan, metal, cuda or rocm for device"));
    for device in crate::Device::ALL.iter().filter(|device| !device.is_compiled()) {
        let why = refused(&format!("device={device}"));
        assert!(why.ends_with(&format!("build it with --features {device}")), "{why}");
    }
}

/// On another device a run ends near where it does on the CPU, and one that was begun here goes on there.
#[cfg(any(feature = "flex", feature = "vulkan", feature = "metal", feature = "cuda", feature = "rocm"))]
#[test]
fn every_device_trains_as_the_cpu_does() {
    let dataset = dataset("scan/simple");
    let selection = dataset.select("test").unwrap().limited(Some(40));
    let usable = |device: &&crate::Device| match device.check() {
        Ok(()) => true,
        Err(why) => {
            println!("skipped: {why}");
            false
        }
    };
    let models: [(&str, &[&str]); 3] = [
        ("gru-attn", &["layers=2", "hidden=12", "teacher=0.5"]),
        ("lstm-attn", &["style=recogs", "hidden=12", "teacher=0.5"]),
        ("transformer-rel", &["width=16", "heads=2", "feed-forward=32"]),
    ];
    for (name, more) in models {
        // Trains up to a number of updates on a device, goes on on the next, and answers there.
        let run = |parts: &[(u64, &str)]| {
            let folder = tempfile::tempdir().unwrap();
            let mut said = Vec::new();
            for (i, (steps, device)) in parts.iter().enumerate() {
                let (steps, device) = (format!("steps={steps}"), format!("device={device}"));
                let settings =
                    ["batch=20", "dropout=0.2", "schedule=constant", "longest=60", &steps, &device];
                let given: Vec<String> = settings.iter().chain(more).map(|&text| text.to_owned()).collect();
                let learner = learner(name).unwrap();
                let mut task = Task::new(&dataset, Settings::read(learner.about(), &given).unwrap(), 7);
                (task.folder, task.resume) = (Some(folder.path().to_owned()), i > 0);
                said = answers(learner.learn(&task).unwrap().as_ref(), &dataset, &selection);
            }
            let metrics = std::fs::read_to_string(folder.path().join(METRICS)).unwrap();
            let loss = |line: &str| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["loss"].as_f64().unwrap()
            };
            (metrics.lines().map(loss).collect::<Vec<f64>>(), said)
        };
        let cpu = run(&[(100, "cpu"), (200, "cpu")]).0;
        let said = run(&[(100, "cpu")]).1;
        for device in crate::Device::ALL[1..].iter().filter(usable).map(|device| device.name()) {
            let apart = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs();
            let there = run(&[(100, device)]).0;
            let moved = run(&[(100, "cpu"), (200, device)]).0;
            println!("{name} on {device}: losses {there:?} and {moved:?}, on the CPU {cpu:?}");
            assert!(apart(there[0], cpu[0]) < 1e-3);
            // A decoder that is fed its own words goes another way once rounding has tipped one of them.
            assert!(apart(moved[1], cpu[1]) < 0.05);
            let answers = run(&[(100, "cpu"), (100, device)]).1;
            let same = answers.iter().zip(&said).filter(|(a, b)| a.text == b.text).count();
            assert!(same >= 39, "{name} on {device}: {same} of 40 answers are the same");
        }
    }
}

#[test]
fn a_protocol_stands_for_its_settings_and_yields_to_others() {
    let about = learner("gru-attn").unwrap().about();
    let read = |given: &[&str]| {
        let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        Settings::read(about, &given).unwrap()
    };
    let settings = read(&["hidden=32", "protocol=nacs"]);
    assert_eq!((settings.word("protocol"), settings.word("style")), ("nacs", "nacs"));
    assert_eq!((settings.whole("hidden"), settings.whole("embedding")), (32, 64));
    assert_eq!(settings.number("weight-decay"), 1e-8);
    // Every protocol of every learner is made of settings that there are.
    for about in crate::LEARNERS.iter().map(|learner| learner.about()) {
        for setting in about.settings {
            if let crate::SettingKind::Preset(presets) = setting.default {
                for preset in presets() {
                    Settings::read(about, &[format!("{}={}", setting.name, preset.name)]).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_decoder_that_is_told_the_length_says_so_many_words() {
    let dataset = dataset("scan/simple");
    let selection = dataset.select("test").unwrap().limited(Some(60));
    let model = learn(&dataset, "lstm", &["steps=5", "oracle-length=true"], None, false).unwrap();
    let questions = crate::questions(&dataset, &selection, InputKind::Tokens, Some(Oracle::TargetLength));
    for (question, answer) in questions.iter().zip(model.answers(&questions).unwrap()) {
        assert_eq!(Some(answer.text.unwrap().split(' ').count()), question.target_length);
    }
}

#[test]
fn one_thread_trains_the_same_network() {
    let dataset = dataset("scan/simple");
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let at = |i: usize| Some(folders[i].path().to_owned());
    learn(&dataset, "gru", &["steps=100"], at(0), false).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| learn(&dataset, "gru", &["steps=100"], at(1), false)).unwrap();
    let read = |i: usize| std::fs::read(folders[i].path().join(FILE)).unwrap();
    assert!(read(0) == read(1));
}

/// The tensors of a checkpoint: what a run that was stopped between two lines of metrics must agree in.
fn tensors(folder: &tempfile::TempDir) -> Vec<(String, Vec<u8>)> {
    let bytes = std::fs::read(folder.path().join(FILE)).unwrap();
    let all = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut tensors: Vec<(String, Vec<u8>)> =
        all.tensors().into_iter().map(|(name, view)| (name, view.data().to_vec())).collect();
    tensors.sort();
    tensors
}

/// A dataset whose every input is the last token of the vocabulary less the one it was: as many, but others.
fn permuted(dataset: &Dataset) -> Dataset {
    let table = &dataset.table;
    let last = table.inputs.vocab().len() as u32 - 1;
    let mut inputs = Sequences::new(table.inputs.vocab().clone(), "");
    for row in 0..table.inputs.len() as u32 {
        inputs.push(table.inputs.get(row).ids().iter().map(|id| last - id));
    }
    let table = Table { inputs, targets: table.targets.clone(), facts: table.facts.clone() };
    Dataset { table: std::sync::Arc::new(table), ..dataset.clone() }
}

/// Training on images, and what is answered, do not depend on the symbols behind them.
#[test]
fn a_network_that_sees_never_sees_the_symbols() {
    let address: Address = "hint/image".parse().unwrap();
    let mut sizes = wug_bench::DataSettings::default();
    for (part, rows) in [("train", "60"), ("val", "20"), ("test", "20")] {
        sizes.set(part, rows);
    }
    let dataset = address.benchmark.make_with(&address.dataset, &Source::Seed(0), &sizes).unwrap();
    let other = permuted(&dataset);
    assert!(dataset.table.inputs.get(3).to_string() != other.table.inputs.get(3).to_string());
    let cases: [(&str, &[&str]); 2] = [
        (
            "lstm-attn",
            &["hidden=6", "embedding=5", "style=hint", "layers=2", "decoder-layers=1", "teacher=0.5"],
        ),
        ("transformer-rel-uni", &["width=16", "heads=2", "feed-forward=20", "encoder-layers=2"]),
    ];
    for (name, more) in cases {
        let run = |dataset: &Dataset, parts: &[u64]| {
            let folder = tempfile::tempdir().unwrap();
            let mut answers = Vec::new();
            for (i, steps) in parts.iter().enumerate() {
                let steps = format!("steps={steps}");
                let settings = ["batch=5", "reverse=true", "schedule=constant", "longest=4", &steps];
                let given: Vec<String> = settings.iter().chain(more).map(|&text| text.to_owned()).collect();
                let learner = learner(name).unwrap();
                let mut task = Task::new(dataset, Settings::read(learner.about(), &given).unwrap(), 7);
                (task.folder, task.resume) = (Some(folder.path().to_owned()), i > 0);
                let model = learner.learn(&task).unwrap();
                let selection = dataset.select("test").unwrap().limited(Some(30));
                let questions = crate::questions(dataset, &selection, InputKind::Images, None);
                answers = model.answers(&questions).unwrap();
            }
            (tensors(&folder), answers)
        };
        let (kept, answers) = run(&dataset, &[4]);
        assert!((kept.clone(), answers.clone()) == run(&other, &[4]), "{name}: other symbols");
        assert!((kept, answers) == run(&dataset, &[3, 4]), "{name}: resumed");
    }
}

/// Small networks of the MNS paper.
const TINY: &[&str] = &["side=32", "checkpoint=10", "schedule=constant"];

fn see(
    dataset: &Dataset,
    name: &str,
    settings: &[&str],
    folder: Option<PathBuf>,
    resume: bool,
) -> Box<dyn Model> {
    let learner = learner(name).unwrap();
    let given: Vec<String> = TINY.iter().chain(settings).map(|text| (*text).to_owned()).collect();
    let mut task = Task::new(dataset, Settings::read(learner.about(), &given).unwrap(), 7);
    (task.folder, task.resume) = (folder, resume);
    learner.learn(&task).unwrap()
}

#[test]
fn a_network_that_sees_resumes_to_the_same_bits_with_any_threads() {
    let dataset = dataset("mns/circle");
    for name in ["cnn", "cnn-lstm", "relation-network", "resnet18"] {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let run = |steps, i: usize, resume| {
            let settings = ["width=4", "hidden=8", "batch=8", steps];
            see(&dataset, name, &settings, Some(folders[i].path().to_owned()), resume)
        };
        let model = run("steps=8", 0, false);
        run("steps=5", 1, false);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| run("steps=8", 1, true));
        assert!(tensors(&folders[0]) == tensors(&folders[1]), "{name}");

        let selection = dataset.select("test").unwrap().limited(Some(70));
        let answers =
            model.answers(&crate::questions(&dataset, &selection, InputKind::Images, None)).unwrap();
        assert_eq!(answers.len(), 70);
        for answer in answers {
            let number: u32 = answer.text.unwrap().parse().unwrap();
            assert!((1..100).contains(&number), "{name}: {number}");
        }
    }
}

#[test]
fn a_network_that_sees_learns_its_training_examples() {
    let dataset = dataset("mns/circle");
    let folder = tempfile::tempdir().unwrap();
    // 17 of 168,000 problems, all in every update.
    let settings = ["share=0.0001", "batch=17", "steps=800", "dropout=0", "width=8", "hidden=32"];
    see(&dataset, "cnn", &settings, Some(folder.path().to_owned()), false);
    let metrics = std::fs::read_to_string(folder.path().join(METRICS)).unwrap();
    let last: serde_json::Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
    assert!(last["accuracy"].as_f64().unwrap() > 0.9, "{metrics}");
}
