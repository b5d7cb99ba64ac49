use std::path::PathBuf;

use wug_bench::{Address, Source};
use wug_data::{Dataset, Error};

use super::checkpoint::{FILE, METRICS};
use crate::{Model, Settings, Task, learner, questions};

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

fn error(result: Result<Box<dyn Model>, Error>) -> String {
    result.err().expect("an error").to_string()
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
        for file in [FILE, METRICS] {
            let read = |folder: &tempfile::TempDir| std::fs::read(folder.path().join(file)).unwrap();
            assert!(read(&straight) == read(&broken), "{name}: {file} differs");
        }
        assert_eq!(std::fs::read_to_string(straight.path().join(METRICS)).unwrap().lines().count(), 3);
    }
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
    assert!(refused(&["protocol=cogs"]).contains("expected scan, nacs for protocol"));
    assert!(refused(&["isa=sse9"]).contains("expected auto, avx512, avx2, portable for isa"));
    assert!(refused(&["patience=5"]).contains("patience needs validate"));
}

#[test]
fn validation_is_apart_from_training() {
    let dataset = dataset("scan/simple");
    let learner = learner("gru").unwrap();
    let task = Task::new(&dataset, Settings::read(learner.about(), &[]).unwrap(), 0);
    let rows =
        |lessons: crate::Lessons<'_>| lessons.examples().map(|example| example.row).collect::<Vec<_>>();
    let (apart, validation) = (rows(task.train_apart().unwrap()), rows(task.validation().unwrap()));
    assert_eq!(apart.len() + validation.len(), rows(task.train().unwrap()).len());
    assert!(!validation.is_empty() && validation.iter().all(|row| !apart.contains(row)));
}

#[test]
fn every_learner_learns_in_both_styles() {
    let dataset = dataset("nacs/simple");
    let selection = dataset.select("test").unwrap().limited(Some(40));
    for cell in ["rnn", "gru", "lstm"] {
        for kind in ["", "-attn", "-attn-nodep"] {
            for style in ["scan", "nacs"] {
                let settings = ["steps=3", "style=STYLE", "embedding=5", "longest=9"];
                let settings: Vec<String> =
                    settings.iter().map(|text| text.replace("STYLE", style)).collect();
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                let model = learn(&dataset, &format!("{cell}{kind}"), &settings, None, false).unwrap();
                let answers = model.answers(&questions(&dataset, &selection));
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
    learn(&dataset, "gru", &settings, Some(folder.path().to_owned()), false).unwrap();
    let metrics = std::fs::read_to_string(folder.path().join(METRICS)).unwrap();
    let last: serde_json::Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
    assert_eq!((&last["step"], &last["best"]["step"]), (&300.into(), &100.into()));
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
            if let crate::Default::Preset(presets) = setting.default {
                for preset in presets {
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
    let questions = questions(&dataset, &selection);
    for (question, answer) in questions.iter().zip(model.answers(&questions)) {
        assert_eq!(answer.text.unwrap().split(' ').count(), question.oracle_length());
    }
}
