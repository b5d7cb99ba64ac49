//! Language models, from the command line: against a server that follows a script, and against llama.cpp's.

mod common;
#[path = "../../wug-llm/tests/common/llama.rs"]
mod llama;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{command, fails, files, ok, text};
use serde_json::{Value, json};
use tempfile::tempdir;
use wug_data::Streams;

type Script = dyn Fn(&str, &Value) -> (u16, Value) + Send + Sync;

struct Server {
    url: String,
    requests: Arc<AtomicUsize>,
    /// How often each question came.
    asked: Arc<Mutex<HashMap<String, usize>>>,
    keys: Arc<Mutex<Vec<String>>>,
}

/// A server that answers what the script says of the last message (or the prompt) and the whole request.
fn serve(script: impl Fn(&str, &Value) -> (u16, Value) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server {
        url: format!("endpoint=http://{}", listener.local_addr().unwrap()),
        requests: Arc::default(),
        asked: Arc::default(),
        keys: Arc::default(),
    };
    let (requests, keys) = (Arc::clone(&server.requests), Arc::clone(&server.keys));
    let counts = Arc::clone(&server.asked);
    let script: Arc<Script> = Arc::new(move |asked: &str, body: &Value| {
        *counts.lock().unwrap().entry(asked.to_owned()).or_default() += 1;
        script(asked, body)
    });
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

/// Kills a run again and again, resumes it each time, and compares what it ends with to a run in peace.
fn survives_kills(kills: usize, items: usize) {
    const CONCURRENCY: usize = 8;
    let answers = examples("scan/simple#test", items);
    let script = |answers: HashMap<String, String>| {
        let knows = knows(answers);
        move |asked: &str, body: &Value| {
            std::thread::sleep(Duration::from_millis(20));
            // It does not know everything.
            if asked.len().is_multiple_of(3) { say("Answer: I_JUMP") } else { knows(asked, body) }
        }
    };
    let (server, peaceful) = (serve(script(answers.clone())), serve(script(answers)));
    let folder = tempdir().unwrap();
    let (broken, straight) = (folder.path().join("broken"), folder.path().join("straight"));
    let items_text = items.to_string();
    let settings = ["--limit", &items_text, "--set", "concurrency=8", "--quiet", "--out"];
    let start = |out: &Path, server: &Server| {
        let args = [&settings[..], &[text(out)]].concat();
        command(&run("scan/simple#test", server, &args)).stdout(Stdio::null()).spawn().unwrap()
    };
    assert!(start(&straight, &peaceful).wait().unwrap().success());

    let mut stream = Streams::new("wug", "kills", 0).item(0);
    let mut child = start(&broken, &server);
    let begun = |requests: usize| {
        while server.requests.load(Ordering::SeqCst) <= requests {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    for kill in 0..kills {
        // From the first request of this process to well within its work.
        begun(server.requests.load(Ordering::SeqCst));
        std::thread::sleep(Duration::from_millis(stream.below(40)));
        assert!(child.try_wait().unwrap().is_none(), "it was over before kill {kill}");
        child.kill().unwrap();
        child.wait().unwrap();
        // Requests of the killed process may still be at the server.
        std::thread::sleep(Duration::from_millis(30));
        child =
            command(&["run", "--resume", text(&broken), "--quiet"]).stdout(Stdio::null()).spawn().unwrap();
    }
    assert!(child.wait().unwrap().success());
    for file in ["scores.json", "predictions.jsonl"] {
        let read = |out: &Path| fs::read_to_string(out.join(file)).unwrap();
        assert_eq!(read(&straight), read(&broken), "{file} differs after {kills} kills");
    }
    let asked = server.asked.lock().unwrap();
    assert_eq!(asked.len(), items, "no item is lost");
    let repeated: usize = asked.values().map(|times| times - 1).sum();
    eprintln!("{kills} kills: {repeated} of {items} asked again, at most {} may be", kills * CONCURRENCY);
    assert!(repeated <= kills * CONCURRENCY, "{repeated} asked again after {kills} kills");
}

#[test]
fn a_killed_run_is_resumed_without_loss() {
    survives_kills(3, 200);
}

#[test]
#[ignore = "takes minutes; scripts/nightly runs it"]
fn a_hundred_kills_lose_nothing() {
    survives_kills(100, 2000);
}

#[test]
fn rows_of_a_table_can_be_models() {
    let server = serve(knows(examples("scan/simple#test", 10)));
    let folder = tempdir().unwrap();
    let (file, out) = (folder.path().join("models.toml"), folder.path().join("out"));
    let endpoint = server.url.trim_start_matches("endpoint=");
    let head = "title = \"Models\"\npaper = \"ours\"\nsource = \"1\"\n\
                [scale]\nsmoke = { limit = 10 }\ncpu = {}\npaper = {}\n\
                [[column]]\nname = \"simple\"\ndataset = \"scan/simple\"\npart = \"test\"\n";
    let row = |name: &str, prompt: &str| {
        format!(
            "[[row]]\nname = \"{name}\"\nrun = {{ learner = \"llm\", set = {{ model = \"{name}\", \
             endpoint = \"{endpoint}\", prompt = \"{prompt}\" }} }}\n"
        )
    };
    let rows = row("small", "zero-shot") + &row("large", "few-shot");
    fs::write(&file, format!("{head}{rows}")).unwrap();
    let args = ["reproduce", text(&file), "--scale", "smoke", "--out", text(&out), "--json"];
    let table: Value = serde_json::from_str(&ok(&args)).unwrap();
    for row in table["rows"].as_array().unwrap() {
        assert_eq!(row["columns"][0]["mean"], 100.0, "{row}");
    }
    assert_eq!(server.requests.load(Ordering::SeqCst), 20);
    ok(&args);
    assert_eq!(server.requests.load(Ordering::SeqCst), 20, "what is done is not asked again");
}

/// A server that we did not write, on every benchmark, from the command line.
#[test]
fn llama_cpp_is_right_where_a_grammar_forces_it() {
    let folder = tempdir().unwrap();
    let Some(server) = llama::llama(folder.path()) else { return };
    for dataset in
        ["scan/length#test", "cogs/main#gen", "hint/symbol#test", "hint/image#test", "mns/circle#test"]
    {
        let shown: Value = serde_json::from_str(&ok(&["show", dataset, "-n", "6", "--json"])).unwrap();
        let examples = shown["examples"].as_array().unwrap();
        let targets: Vec<String> =
            examples.iter().map(|example| example["target"].as_str().unwrap().to_owned()).collect();
        // One request at a time, so that the n-th is for the n-th example, pictures or not.
        let (next, pictures) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let seen = Arc::clone(&pictures);
        let url = llama::proxy(
            &server.url,
            Arc::new(move |body: &Value| {
                let parts = body["messages"][1]["content"].as_array().map_or(0, Vec::len);
                seen.fetch_add(parts, Ordering::SeqCst);
                let target = targets.get(next.fetch_add(1, Ordering::SeqCst))?;
                Some(format!("So it is.\n\nAnswer: {target}"))
            }),
        );
        let endpoint = format!("endpoint={url}");
        let run = |more: &[&str]| {
            let args = [&["run", dataset][..], &["--learner", "llm", "--set", "model=random"], more].concat();
            let mut command = command(&args);
            command.env("OPENAI_API_KEY", llama::KEY).args([
                "--set",
                "concurrency=1",
                "--limit",
                "6",
                "--json",
            ]);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{dataset}: {}", String::from_utf8_lossy(&output.stderr));
            part(&String::from_utf8(output.stdout).unwrap())
        };
        let forced = run(&["--set", &endpoint]);
        assert_eq!(
            (forced["n"].as_u64(), forced["correct"].as_u64()),
            (Some(6), Some(6)),
            "{dataset}: {forced}"
        );
        let images = if dataset.starts_with("hint/image") || dataset.starts_with("mns") { 6 } else { 0 };
        assert_eq!(pictures.load(Ordering::SeqCst), images, "{dataset}");
    }
}

/// HTTPS with a certificate of one's own: refused with what to do, and trusted where `SSL_CERT_FILE` names it.
#[test]
#[cfg(unix)]
fn https_trusts_whom_it_is_told_to() {
    const SERVER: &str = r#"
import http.server, json, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"choices": [{"index": 0, "message": {"content": "Answer: I_JUMP"}, "finish_reason": "stop"}]})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
"#;
    struct Kill(std::process::Child);
    impl Drop for Kill {
        fn drop(&mut self) {
            self.0.kill().ok();
            self.0.wait().ok();
        }
    }
    let folder = tempdir().unwrap();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem"])
        .args(["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .current_dir(folder.path())
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        eprintln!("skipped: there is no openssl to make a certificate with");
        return;
    }
    let started = Command::new("python3")
        .args(["-c", SERVER])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut server) = started.map(Kill) else {
        eprintln!("skipped: there is no Python to serve with");
        return;
    };
    let mut port = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let endpoint = format!("endpoint=https://127.0.0.1:{}", port.trim());
    let args = [
        "run",
        "scan/simple#test",
        "--learner",
        "llm",
        "--set",
        "model=m",
        "--set",
        &endpoint,
        "--limit",
        "3",
    ];
    let refused = command(&args).env_remove("SSL_CERT_FILE").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("invalid peer certificate") && said.contains("SSL_CERT_FILE"), "{said}");
    let trusted =
        command(&args).arg("--json").env("SSL_CERT_FILE", folder.path().join("cert.pem")).output().unwrap();
    let said = String::from_utf8_lossy(&trusted.stderr);
    assert!(trusted.status.success(), "{said}");
    let part = part(&String::from_utf8(trusted.stdout).unwrap());
    assert_eq!(part["states"]["counts"], json!({"answered": 3}), "{part}");
}
