//! Language models, from the command line: against a server that follows a script.

mod common;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::{command, fails, files, ok, text};
use serde_json::{Value, json};
use tempfile::tempdir;

type Script = dyn Fn(&str, &Value) -> (u16, Value) + Send + Sync;

struct Server {
    url: String,
    requests: Arc<AtomicUsize>,
    keys: Arc<Mutex<Vec<String>>>,
}

/// A server that answers what the script says of the last message (or the prompt) and the whole request.
fn serve(script: impl Fn(&str, &Value) -> (u16, Value) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server {
        url: format!("endpoint=http://{}", listener.local_addr().unwrap()),
        requests: Arc::default(),
        keys: Arc::default(),
    };
    let (requests, keys) = (Arc::clone(&server.requests), Arc::clone(&server.keys));
    let script: Arc<Script> = Arc::new(script);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (script, requests, keys) = (Arc::clone(&script), Arc::clone(&requests), Arc::clone(&keys));
            std::thread::spawn(move || connection(stream, &*script, &requests, &keys));
        }
    });
    server
}

fn connection(
    mut stream: TcpStream,
    script: &Script,
    requests: &AtomicUsize,
    keys: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().unwrap_or(0);
                }
                Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                    keys.lock().unwrap().push(value.to_owned());
                }
                _ => (),
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body: Value = serde_json::from_slice(&body)?;
        let message = body["messages"].as_array().and_then(|messages| messages.last());
        let asked = message.map_or(&body["prompt"], |message| &message["content"]);
        let asked = asked.as_str().map_or_else(|| asked.to_string(), str::to_owned);
        requests.fetch_add(1, Ordering::SeqCst);
        let (status, reply) = script(&asked, &body);
        let reply = reply.to_string();
        write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{reply}", reply.len())?;
    }
}

/// A chat reply.
fn say(text: &str) -> (u16, Value) {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
    (
        200,
        json!({"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}], "usage": usage}),
    )
}

/// Inputs and targets of the first examples of a part.
fn examples(dataset: &str, n: usize) -> HashMap<String, String> {
    let shown: Value = serde_json::from_str(&ok(&["show", dataset, "-n", &n.to_string(), "--json"])).unwrap();
    let pair = |example: &Value| {
        (example["input"].as_str().unwrap().to_owned(), example["target"].as_str().unwrap().to_owned())
    };
    shown["examples"].as_array().unwrap().iter().map(pair).collect()
}

/// Answers right, whatever words stand before the input.
fn knows(answers: HashMap<String, String>) -> impl Fn(&str, &Value) -> (u16, Value) + Send + Sync {
    move |asked, _| {
        let input = asked.rsplit(": ").next().unwrap_or_default();
        say(&format!("Let me see.\n\nAnswer: {}", answers.get(input).map_or("?", String::as_str)))
    }
}

fn part(json: &str) -> Value {
    serde_json::from_str::<Value>(json).unwrap()["parts"][0].clone()
}

const MODEL: [&str; 4] = ["--learner", "llm", "--set", "model=scripted"];

fn run<'a>(dataset: &'a str, server: &'a Server, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", dataset][..], &MODEL, &["--set", &server.url], more].concat()
}

#[test]
fn a_server_that_knows_is_right_on_every_benchmark() {
    for (dataset, more) in [
        ("scan/length#test", &[][..]),
        ("cogs/main#gen", &["--set", "prompt=few-shot"]),
        ("recogs/positional#gen", &["--set", "prompt=chain-of-thought"]),
        ("nacs/simple#test", &[]),
        ("hint/symbol#test", &["--set", "prompt=few-shot"]),
    ] {
        let server = serve(knows(examples(dataset, 20)));
        let options = [&["--limit", "20", "--json"][..], more].concat();
        let part = part(&ok(&run(dataset, &server, &options)));
        assert_eq!((part["n"].as_u64(), part["correct"].as_u64()), (Some(20), Some(20)), "{dataset}: {part}");
        assert_eq!(part["states"]["counts"], json!({"answered": 20}));
    }
}

#[test]
fn images_are_sent_as_images_and_never_as_symbols() {
    for dataset in ["hint/image#test", "mns/circle#test"] {
        let targets: Vec<String> = {
            let shown: Value = serde_json::from_str(&ok(&["show", dataset, "-n", "3", "--json"])).unwrap();
            let examples = shown["examples"].as_array().unwrap();
            examples.iter().map(|example| example["target"].as_str().unwrap().to_owned()).collect()
        };
        let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
        let log = Arc::clone(&seen);
        let server = serve(move |_, body| {
            log.lock().unwrap().push(body["messages"][1]["content"].clone());
            say(&format!("Answer: {}", targets[0]))
        });
        let part = part(&ok(&run(dataset, &server, &["--limit", "3", "--json"])));
        assert!(part["correct"].as_u64() >= Some(1), "{part}");
        for content in seen.lock().unwrap().iter() {
            let parts = content.as_array().unwrap();
            assert!(parts.iter().all(|part| part["type"] == "image_url"), "{content}");
            let url = parts[0]["image_url"]["url"].as_str().unwrap();
            assert!(url.starts_with("data:image/png;base64,iVBOR"), "{url}");
        }
    }
}

#[test]
fn unanswered_items_are_not_scored_as_wrong_in_silence() {
    let answers = examples("scan/length#test", 10);
    let hard: Vec<String> = answers.keys().take(4).cloned().collect();
    let server = serve(move |asked, body| {
        let is = |i: usize| asked.ends_with(&format!(": {}", hard[i]));
        let choice = |message: Value, finish: &str| {
            (200, json!({"choices": [{"message": message, "finish_reason": finish}]}))
        };
        if is(0) {
            (400, json!({"error": {"message": "I break on this one"}}))
        } else if is(1) {
            choice(json!({"content": null, "refusal": "No."}), "stop")
        } else if is(2) {
            choice(json!({"content": "Answer: I_"}), "length")
        } else if is(3) {
            choice(json!({"content": "<think>hm</think>"}), "stop")
        } else {
            knows(answers.clone())(asked, body)
        }
    });
    let folder = tempdir().unwrap();
    let out = text(folder.path());
    let printed = ok(&run("scan/length#test", &server, &["--limit", "10", "--out", out]));
    assert!(
        printed.contains("1 of 10 unanswered: accuracy is 60.0% if all of these are wrong, 70.0%"),
        "{printed}"
    );
    assert!(
        printed.contains("answered 6 · cut-off 1 · refused 1 · unanswered 1 · unparsable 1"),
        "{printed}"
    );
    let predictions = fs::read_to_string(folder.path().join("predictions.jsonl")).unwrap();
    for state in ["refused", "cut-off", "unparsable", "unanswered"] {
        assert!(predictions.contains(&format!(r#""state":"{state}""#)), "{predictions}");
    }
    assert!(predictions.contains("I break on this one"));
    // Unanswered items are asked again, and no others.
    let before = server.requests.load(Ordering::SeqCst);
    ok(&["run", "--resume", out]);
    assert_eq!(server.requests.load(Ordering::SeqCst), before + 1);
}

#[test]
fn a_run_stops_at_its_cost_and_goes_on_with_more() {
    let server = serve(knows(examples("scan/length#test", 30)));
    let folder = tempdir().unwrap();
    let out = folder.path().join("run");
    let prices = ["--set", "price-in=1000", "--set", "price-out=1000", "--set", "reply-tokens=20"];
    let options = [&["--limit", "30", "--out", text(&out), "--set", "max-cost=2"][..], &prices].concat();
    let message = fails(3, &run("scan/length#test", &server, &options));
    assert!(message.contains("max-cost") && message.contains("--resume"), "{message}");
    let asked = server.requests.load(Ordering::SeqCst);
    assert!((2..20).contains(&asked), "{asked}");
    let message = fails(2, &["run", "--resume", text(&out), "--set", "model=other"]);
    assert!(message.contains("`model` decides about the result"), "{message}");
    let part = part(&ok(&["run", "--resume", text(&out), "--set", "max-cost=1000", "--json"]));
    assert_eq!((part["n"].as_u64(), part["correct"].as_u64()), (Some(30), Some(30)));
    assert_eq!(server.requests.load(Ordering::SeqCst), 30, "nothing is asked twice");
}

#[test]
fn several_samples_give_a_vote_and_pass_at_k() {
    // Right in three of five samples, told apart by their seeds.
    let answers = examples("scan/length#test", 4);
    let server = serve(move |asked, body| {
        if body["seed"].as_u64().unwrap() % 5 < 3 {
            knows(answers.clone())(asked, body)
        } else {
            say("Answer: I_RUN")
        }
    });
    let set =
        ["--set", "samples=5", "--set", "temperature=1", "--set", "send-seed=true", "--limit", "4", "--json"];
    let part = part(&ok(&run("scan/length#test", &server, &set)));
    assert_eq!((part["correct"].as_u64(), &part["samples"]["samples"]), (Some(4), &json!(5)), "{part}");
    let pass = part["samples"]["pass"].as_array().unwrap();
    let means: Vec<(u64, f64)> =
        pass.iter().map(|pass| (pass["k"].as_u64().unwrap(), pass["mean"].as_f64().unwrap())).collect();
    assert_eq!(means.iter().map(|(k, _)| *k).collect::<Vec<_>>(), [1, 2, 4, 5]);
    assert!((means[0].1 - 0.6).abs() < 1e-9 && (means[1].1 - 0.9).abs() < 1e-9 && means[3].1 == 1.0);
    let message = fails(2, &run("scan/length#test", &server, &["--set", "samples=5", "--limit", "4"]));
    assert!(message.contains("temperature"), "{message}");
}

#[test]
fn show_prints_exactly_what_is_sent() {
    for (dataset, style) in [
        ("scan/length#test", "zero-shot"),
        ("cogs/main#gen", "few-shot"),
        ("hint/symbol#test", "gpt3-zero-shot"),
        ("hint/image#test", "few-shot"),
    ] {
        let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
        let log = Arc::clone(&seen);
        let server = serve(move |_, body| {
            log.lock().unwrap().push(body.clone());
            say("Answer: 1")
        });
        let style_set = format!("prompt={style}");
        ok(&run(dataset, &server, &["--limit", "1", "--set", &style_set]));
        let shown: Value =
            serde_json::from_str(&ok(&["show", dataset, "-n", "1", "--prompt", style, "--json"])).unwrap();
        let mut body = shown["examples"][0]["requests"][0]["body"].clone();
        body["model"] = "scripted".into();
        assert_eq!(seen.lock().unwrap().as_slice(), [body], "{dataset} {style}");
    }
    let printed = ok(&["show", "hint/image#test", "-n", "1", "--prompt", "zero-shot"]);
    assert!(
        printed.contains("POST http://localhost:8080/v1/chat/completions") && printed.len() < 4_000,
        "{printed}"
    );
    let message = fails(2, &["show", "hint/image#test", "--prompt", "gpt3-zero-shot"]);
    assert!(message.contains("no prompt `gpt3-zero-shot`"), "{message}");
}

#[test]
fn mistakes_are_explained() {
    let message = fails(2, &["run", "scan/length", "--learner", "llm"]);
    assert!(message.contains("set model=NAME"), "{message}");
    let message = fails(
        1,
        &[
            "run",
            "scan/length",
            "--learner",
            "llm",
            "--set",
            "model=m",
            "--set",
            "endpoint=http://127.0.0.1:1",
        ],
    );
    assert!(message.contains("is the server running?"), "{message}");
    let server = serve(|_, _| (401, json!({"error": {"message": "Incorrect API key"}})));
    let folder = tempdir().unwrap();
    let out = folder.path().join("run");
    let message = fails(1, &run("scan/length", &server, &["--out", text(&out), "--limit", "5"]));
    assert!(message.contains("401") && message.contains("Incorrect API key"), "{message}");
    assert!(!out.exists(), "the same command, corrected, finds no run in its way");
}

#[test]
fn the_key_is_sent_and_kept_nowhere() {
    const KEY: &str = "sk-wug-7712ab90fe";
    let server = serve(|_, _| say(&format!("Answer: I_JUMP {KEY}")));
    let folder = tempdir().unwrap();
    let (out, cache) = (folder.path().join("run"), folder.path().join("cache"));
    let cache_set = format!("cache={}", text(&cache));
    let args = ["--limit", "5", "--out", text(&out), "--set", &cache_set, "--set", "key-from=WUG_TEST_KEY"];
    let output = command(&run("scan/length", &server, &args)).env("WUG_TEST_KEY", KEY).output().unwrap();
    assert!(output.status.success());
    let sent = server.keys.lock().unwrap().clone();
    assert!(sent.len() == 5 && sent.iter().all(|key| *key == format!("Bearer {KEY}")), "{sent:?}");
    let mut found = vec![output.stdout, output.stderr];
    let kept = files(folder.path());
    assert!(kept.iter().any(|(name, _)| name.ends_with("replies.jsonl")) && kept.len() >= 9, "{kept:?}");
    found.extend(kept.iter().map(|(_, path)| fs::read(path).unwrap()));
    for bytes in found {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(KEY), "{text}");
    }
}
