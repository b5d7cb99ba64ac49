//! Against a server that we did not write: llama.cpp's, with a tiny model of random weights. It babbles; where a proxy
//! inserts a grammar (GBNF) into the request, it says the right answer, and every item must come out right.

mod common;

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use common::llama::{KEY, llama, proxy, python};
use serde_json::Value;
use wug_llm::{Item, Job, Key, Prompt, Question, Report, RequestSettings, State, Stop, ask, builtin_prompts};

/// A PNG of 2 x 2 pixels, grey.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0xd, 0xa, 0x1a, 0xa, 0, 0, 0, 0xd, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 2, 0, 0, 0,
    2, 8, 0, 0, 0, 0, 0x57, 0xdd, 0x52, 0xf8, 0, 0, 0, 0xe, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68,
    0x38, 0xc1, 0x20, 0xd7, 0, 0, 6, 0x62, 1, 0xe7, 0x67, 0xd5, 0xd1, 0x53, 0, 0, 0, 0, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];

fn asked(url: &str, prompt: &Prompt, items: &Vec<Item>, adjust: impl Fn(&mut RequestSettings)) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = RequestSettings::new(url, "random");
    adjust(&mut settings);
    let job = Job {
        prompt,
        settings: &settings,
        key: Key::from_env("WUG_LLAMA_KEY").unwrap(),
        folder: folder.path(),
        cache: None,
        cancel: &AtomicBool::new(false),
        progress: &|_| (),
    };
    ask(&job, items).unwrap()
}

fn item(i: usize, input: Option<&str>, images: usize) -> Item {
    let question = Question {
        input: input.map(str::to_owned),
        images: vec![PNG.to_vec(); images],
        ..Question::default()
    };
    Item { id: format!("test_{i:08}"), sample: 0, question }
}

/// Environment variables can only be set for a child without unsafe code, so the test runs itself again with the key.
fn with_key(test: &str) -> bool {
    if std::env::var_os("WUG_LLAMA_KEY").is_some() {
        return true;
    }
    // Made here, where only one thread can make it, and not by all children at once.
    python().ok();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("WUG_LLAMA_KEY", KEY)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    eprintln!("{}", text.lines().filter(|line| line.starts_with("skipped")).collect::<String>());
    assert!(output.status.success(), "{text}");
    false
}

#[test]
fn a_real_server_babbles_and_every_state_is_honest() {
    if !with_key("a_real_server_babbles_and_every_state_is_honest") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(llama) = llama(folder.path()) else { return };
    let prompt = builtin_prompts::find("scan", "zero-shot").unwrap();
    let items: Vec<Item> = (0..12).map(|i| item(i, Some(&format!("walk {i}")), 0)).collect();
    let report = asked(&llama.url, &prompt, &items, |settings| settings.reply_tokens = Some(24));
    assert_eq!((&report.stop, report.totals.unanswered), (&Stop::Done, 0));
    assert!(report.totals.usage.prompt > 100 * 12 && report.totals.usage.completion >= 12);
    assert!(
        report.outcomes.iter().any(|outcome| outcome.state == State::CutOff),
        "24 tokens are soon used up"
    );

    let prompt = builtin_prompts::find("hint-image", "zero-shot").unwrap();
    let report = asked(&llama.url, &prompt, &vec![item(0, None, 1)], |_| ());
    assert_eq!((&report.stop, report.totals.unanswered), (&Stop::Done, 0), "it reads pictures");

    let long = "walk ".repeat(20_000);
    let prompt = builtin_prompts::find("scan", "zero-shot").unwrap();
    let report = asked(&llama.url, &prompt, &vec![item(0, Some(&long), 0)], |_| ());
    assert!(
        matches!(&report.outcomes[0].state, State::Unanswered(why) if why.starts_with("HTTP 400")),
        "{:?}",
        report.outcomes[0]
    );
    assert_eq!(report.totals.requests, 1, "too long once is too long for ever");
}

#[test]
fn where_a_grammar_forces_the_right_answer_all_are_right() {
    if !with_key("where_a_grammar_forces_the_right_answer_all_are_right") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(llama) = llama(folder.path()) else { return };
    let cases = [
        (
            "scan",
            "zero-shot",
            vec![("jump twice", "I_JUMP I_JUMP"), ("turn left", "I_TURN_LEFT"), ("look", "I_LOOK")],
        ),
        (
            "cogs",
            "chain-of-thought",
            vec![("The girl slept .", "* girl ( x _ 1 ) ; sleep . agent ( x _ 2 , x _ 1 )")],
        ),
        ("hint", "zero-shot", vec![("3*4", "12"), ("7/2", "4"), ("3-5", "0")]),
        ("hint", "gpt3-zero-shot-cot", vec![("3*4", "12"), ("9*9*9", "729")]),
    ];
    for (benchmark, style, pairs) in cases {
        let prompt = builtin_prompts::find(benchmark, style).unwrap();
        let items: Vec<Item> =
            pairs.iter().enumerate().map(|(i, (input, _))| item(i, Some(input), 0)).collect();
        let answers: Vec<(String, String)> =
            pairs.iter().map(|(input, answer)| ((*input).to_owned(), (*answer).to_owned())).collect();
        let chat = prompt.steps() == 1;
        let url = proxy(
            &llama.url,
            Arc::new(move |body: &Value| {
                let text = if chat { &body["messages"][1]["content"] } else { &body["prompt"] };
                let asks = |(input, _): &&(String, String)| {
                    let text = text.as_str().unwrap_or_default();
                    text.ends_with(input.as_str()) || text.contains(&format!("is {input}?"))
                };
                let (_, answer) = answers.iter().find(asks)?;
                Some(if chat { format!("So it is.\n\nAnswer: {answer}") } else { format!(" {answer}.") })
            }),
        );
        let report = asked(&url, &prompt, &items, |_| ());
        assert_eq!(report.stop, Stop::Done);
        for ((input, answer), outcome) in pairs.iter().zip(&report.outcomes) {
            assert_eq!(outcome.state, State::Answered((*answer).to_owned()), "{benchmark} {style}: {input}");
        }
    }
}

#[test]
fn pictures_reach_the_model() {
    if !with_key("pictures_reach_the_model") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(llama) = llama(folder.path()) else { return };
    let pictures: Arc<Mutex<Vec<usize>>> = Arc::default();
    let seen = Arc::clone(&pictures);
    let url = proxy(
        &llama.url,
        Arc::new(move |body: &Value| {
            let parts = body["messages"][1]["content"].as_array().cloned().unwrap_or_default();
            seen.lock().unwrap().push(parts.iter().filter(|part| part["type"] == "image_url").count());
            Some("Answer: 7".to_owned())
        }),
    );
    for (benchmark, images) in [("hint-image", 1), ("mns", 3)] {
        let prompt = builtin_prompts::find(benchmark, "zero-shot").unwrap();
        let report = asked(&url, &prompt, &vec![item(0, None, images)], |_| ());
        assert_eq!(report.outcomes[0].state, State::Answered("7".to_owned()), "{benchmark}");
    }
    assert_eq!(*pictures.lock().unwrap(), [1, 3]);
}

#[test]
fn a_wrong_key_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some(llama) = llama(folder.path()) else { return };
    let prompt = builtin_prompts::find("scan", "zero-shot").unwrap();
    let report = common::ask_with(
        &prompt,
        &RequestSettings::new(&llama.url, "random"),
        &common::Numbered(20),
        folder.path(),
        None,
    );
    assert!(matches!(&report.stop, Stop::Fatal(why) if why.contains("401")), "{:?}", report.stop);
}
