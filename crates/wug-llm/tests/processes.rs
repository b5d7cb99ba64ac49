//! What only shows from outside a process: kills, memory, secrets.
#![cfg(unix)]

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{Server, chat, echo, respond, serve};
use wug_data::Streams;

/// The example `numbers`, which cargo builds with the tests, beside them.
fn numbers() -> Command {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples/numbers");
    assert!(program.exists(), "{} is missing; build it with cargo build --examples", program.display());
    Command::new(program)
}

fn run(server: &Server, count: usize, concurrency: usize, folder: &Path) -> Command {
    let mut command = numbers();
    command.args([&server.url, &count.to_string(), &concurrency.to_string()]).arg(folder);
    command
}

fn output(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Kills a run again and again, and compares what it ends with to a run in peace.
fn survive(kills: usize, count: usize, concurrency: usize) {
    // So slow that most kills come before the end.
    let script = |got: &common::Got, stream: &mut std::net::TcpStream| {
        std::thread::sleep(Duration::from_millis(20));
        echo(got, stream);
    };
    let (server, peaceful) = (serve(script), serve(script));
    let folder = tempfile::tempdir().unwrap();
    let mut stream = Streams::new("wug-llm", "kills", 0).item(0);
    let mut landed = 0;
    for _ in 0..kills {
        let mut child =
            run(&server, count, concurrency, folder.path()).stdout(Stdio::null()).spawn().unwrap();
        // From before the first request to well within the run.
        std::thread::sleep(Duration::from_micros(stream.below(60_000)));
        landed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Requests of killed processes may still be at the server.
    std::thread::sleep(Duration::from_millis(100));
    let resumed = output(run(&server, count, concurrency, folder.path()));
    let other = tempfile::tempdir().unwrap();
    assert_eq!(resumed, output(run(&peaceful, count, concurrency, other.path())));
    assert!(resumed.ends_with(&format!("done {count} of {count}\n")));

    let seen = server.seen.lock().unwrap();
    assert_eq!(seen.len(), count, "no item is lost");
    let repeated: usize = seen.values().map(|times| times - 1).sum();
    assert!(repeated <= kills * concurrency, "{repeated} asked again after {kills} kills");
    eprintln!(
        "{kills} kills ({landed} while running): {repeated} of {count} asked again, at most {} may be",
        kills * concurrency
    );
    assert!(2 * landed > kills, "{landed} of {kills} kills came before the end");
}

#[test]
fn a_killed_run_loses_only_what_is_in_flight() {
    survive(8, 400, 8);
}

#[test]
#[ignore = "a minute: scripts/nightly runs it"]
fn a_hundred_kills_lose_only_what_is_in_flight() {
    survive(100, 2_000, 8);
}

#[test]
fn replies_of_any_size_fit_in_bounded_memory() {
    // 10 MB with a length, and without end: neither is an answer. 6 MB is one that is no answer either.
    let server = serve(|got, stream| {
        let number: usize = got.text().trim_start_matches("item ").parse().unwrap_or(0);
        match number % 4 {
            0 => respond(stream, 200, &[], &chat(&"x".repeat(10_000_000))),
            1 => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").ok();
                let block = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
                while stream.write_all(block.as_bytes()).is_ok() {}
            }
            2 => respond(stream, 200, &[], &chat(&"y ".repeat(3_000_000))),
            _ => echo(got, stream),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("/bin/sh");
    let line = r#""$0" "$@"; echo "status $?""#;
    let inner = run(&server, 64, 16, folder.path());
    // Sixteen replies of 10 MB with their copies would not fit. (Without the variable, glibc reserves 64 MB a thread.)
    command
        .args(["-c", &format!("ulimit -v 262144; {line}")])
        .arg(inner.get_program())
        .args(inner.get_args());
    command.env("MALLOC_ARENA_MAX", "1");
    let output = output(command);
    assert!(output.contains("status 0"), "{output}");
    let count = |what: &str| output.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!((count("answered"), count("unparsable"), count("unanswered")), (16, 16, 32), "{output}");
    assert!(output.contains("longer than 8388608 bytes"));
}

#[test]
fn the_key_is_nowhere_but_in_the_header() {
    const KEY: &str = "sk-test-4f8a77b19c3e";
    // A server that sends the key back wherever it can.
    let server = serve(|got, stream| {
        let sent = got.headers.get("authorization").cloned().unwrap_or_default();
        assert_eq!(sent, format!("Bearer {KEY}"));
        match got.text().as_str() {
            "item 0" => respond(stream, 400, &[], &format!(r#"{{"error":{{"message":"bad key {sent}"}}}}"#)),
            "item 1" => respond(stream, 200, &[], &format!("{{{sent}")),
            "item 2" => respond(stream, 200, &[], &format!(r#"{{"error":"{sent}"}}"#)),
            _ => respond(stream, 200, &[], &chat(&format!("<think>{sent}</think>Answer: {sent}"))),
        }
    });
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = run(&server, 6, 2, folder.path());
    command.arg(cache.path()).env("WUG_LLM_EXAMPLE_KEY", KEY).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let listed = Command::new("ps").args(["-o", "args=", "-p", &child.id().to_string()]).output().unwrap();
    let output = child.wait_with_output().unwrap();
    let mut texts = vec![listed.stdout, output.stdout.clone(), output.stderr];
    for path in files(folder.path()).into_iter().chain(files(cache.path())) {
        texts.push(std::fs::read(&path).unwrap());
    }
    assert!(texts.len() >= 3 + 1 + 3, "journal and cache were searched");
    for text in texts {
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains(KEY), "{text}");
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("[key]"), "the server did send it");
    assert_eq!(server.requests.load(Ordering::SeqCst), 1 + 7 + 7 + 3);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
