//! A server that follows a script, and what tests of asking share.
#![allow(dead_code)] // Each test file uses some of it.

pub(crate) mod llama;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use wug_llm::{Item, Items, Job, Key, Prompt, Question, Report, RequestSettings, Totals, ask};

/// A request as the server got it.
pub(crate) struct Got {
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
    /// How often this very body has come before.
    pub(crate) before: usize,
}

impl Got {
    /// The last message, or the prompt of a completion.
    pub(crate) fn text(&self) -> String {
        let message = self.body["messages"].as_array().and_then(|messages| messages.last());
        let text = message.map_or(&self.body["prompt"], |message| &message["content"]);
        text.as_str().unwrap_or_default().to_owned()
    }
}

type Script = dyn Fn(&Got, &mut TcpStream) + Send + Sync;

/// A server on a free port, which lives as long as the test.
pub(crate) struct Server {
    pub(crate) url: String,
    /// How often each body came.
    pub(crate) seen: Arc<Mutex<HashMap<String, usize>>>,
    pub(crate) requests: Arc<AtomicUsize>,
    pub(crate) most_at_once: Arc<AtomicUsize>,
}

/// Starts a server that answers each request by the script; a script that writes nothing cuts the connection.
pub(crate) fn serve(script: impl Fn(&Got, &mut TcpStream) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server {
        url: format!("http://{}", listener.local_addr().unwrap()),
        seen: Arc::default(),
        requests: Arc::default(),
        most_at_once: Arc::default(),
    };
    let script: Arc<Script> = Arc::new(script);
    let (seen, requests, most) = (server.seen.clone(), server.requests.clone(), server.most_at_once.clone());
    let at_once = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let (script, seen, requests) = (Arc::clone(&script), Arc::clone(&seen), Arc::clone(&requests));
            let (most, at_once) = (Arc::clone(&most), Arc::clone(&at_once));
            std::thread::spawn(move || {
                connection(stream, &|got, stream| {
                    let now = at_once.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    requests.fetch_add(1, Ordering::SeqCst);
                    let mut got = got;
                    let key = format!("{} {}", got.path, got.body);
                    got.before = {
                        let mut seen = seen.lock().unwrap();
                        let count = seen.entry(key).or_insert(0);
                        *count += 1;
                        *count - 1
                    };
                    script(&got, stream);
                    at_once.fetch_sub(1, Ordering::SeqCst);
                });
            });
        }
    });
    server
}

fn connection(stream: TcpStream, answer: &dyn Fn(Got, &mut TcpStream)) {
    stream.set_nodelay(true).ok();
    let Ok(mut out) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = HashMap::new();
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            match line.trim_end().split_once(':') {
                Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.trim().to_owned()),
                None => break,
            };
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let body = serde_json::from_slice(&body).unwrap_or_default();
        answer(Got { path, headers, body, before: 0 }, &mut out);
    }
}

/// Writes a response with these headers.
pub(crate) fn respond(stream: &mut TcpStream, status: u16, headers: &[(&str, &str)], body: &str) {
    let mut text = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    text.push_str("\r\n");
    text.push_str(body);
    stream.write_all(text.as_bytes()).ok();
}

/// Ends the connection.
pub(crate) fn cut(stream: &mut TcpStream) {
    stream.shutdown(std::net::Shutdown::Both).ok();
}

/// The body of a chat reply.
pub(crate) fn chat(content: &str) -> String {
    json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    })
    .to_string()
}

/// Answers right: with the question in capitals.
pub(crate) fn echo(got: &Got, stream: &mut TcpStream) {
    respond(stream, 200, &[], &chat(&format!("Answer: {}", got.text().to_uppercase())));
}

/// A prompt that sends the input as it is.
pub(crate) fn plain_prompt() -> Prompt {
    Prompt::parse("plain", "about = ''\n[[step]]\nuser = '{input}'\nmax-tokens = 20").unwrap()
}

/// Settings that lose no time between retries.
pub(crate) fn quick(url: &str) -> RequestSettings {
    let mut settings = RequestSettings::new(url, "scripted");
    settings.backoff = Duration::from_millis(2);
    settings.timeout = Duration::from_secs(20);
    settings
}

/// `n` questions, "item 0" and so on.
pub(crate) struct Numbered(pub(crate) usize);

impl Items for Numbered {
    fn count(&self) -> usize {
        self.0
    }

    fn item(&self, i: usize) -> Item {
        text_item(i, &format!("item {i}"))
    }
}

pub(crate) fn text_item(i: usize, input: &str) -> Item {
    let question = Question { input: Some(input.to_owned()), ..Question::default() };
    Item { id: format!("test_{i:08}"), sample: 0, question }
}

/// Asks with a plain prompt and no cache.
pub(crate) fn ask_plain(settings: &RequestSettings, items: &dyn Items, folder: &Path) -> Report {
    ask_with(&plain_prompt(), settings, items, folder, None)
}

pub(crate) fn ask_with(
    prompt: &Prompt,
    settings: &RequestSettings,
    items: &dyn Items,
    folder: &Path,
    cache: Option<&Path>,
) -> Report {
    let (cancel, progress) = (AtomicBool::new(false), |_: &Totals| ());
    let key = Key::none();
    let job = Job { prompt, settings, key, folder, cache, cancel: &cancel, progress: &progress };
    ask(&job, items).unwrap()
}
