//! llama.cpp's server with a tiny model of random weights, and a proxy that makes it say what it should.
//!
//! The server is set up once in a virtual environment under the target folder. Without Python, or where packages cannot
//! be installed, tests say so and end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

/// The key that the server asks for.
pub(crate) const KEY: &str = "sk-llama-31c5d2";

/// A running server; it ends when this is dropped.
pub(crate) struct Llama {
    pub(crate) url: String,
    process: Child,
}

impl Drop for Llama {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A virtual environment with llama.cpp's server, made once; `Err` says why there is none.
pub(crate) fn python() -> Result<PathBuf, String> {
    static PYTHON: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (environment, complete) = (target.join("llama-venv"), target.join("llama-venv/complete"));
        let python = environment.join("bin/python");
        let run = |command: &mut Command| {
            let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(()) } else { Err(error) }
        };
        if !complete.exists() {
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
            let packages = ["xllamacpp", "gguf", "numpy"];
            run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
            std::fs::write(&complete, "").map_err(|error| error.to_string())?;
        }
        Ok(python)
    });
    PYTHON.clone()
}

/// Starts the server, or says why not.
pub(crate) fn llama(folder: &Path) -> Option<Llama> {
    let started = python().and_then(|python| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wug-llm/tests/llama_cpp.py");
        let mut command = Command::new(python);
        command.arg(script).arg(folder).arg(KEY).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(|error| error.to_string())?;
        let mut lines = BufReader::new(process.stdout.take().ok_or("no output")?).lines();
        let url = lines.find_map(|line| Some(line.ok()?.strip_prefix("LISTENING ")?.to_owned()));
        // The pipe stays open, or the server would end at its next line.
        std::thread::spawn(move || lines.for_each(drop));
        match url {
            Some(url) => Ok(Llama { url, process }),
            None => Err("the server did not start".to_owned()),
        }
    });
    match started {
        Ok(llama) => Some(llama),
        Err(why) => {
            eprintln!("skipped: no llama.cpp server ({})", why.lines().last().unwrap_or_default());
            None
        }
    }
}

/// What the proxy makes the model say: given the request, a text, or `None` to leave it alone.
pub(crate) type Dictate = dyn Fn(&Value) -> Option<String> + Send + Sync;

/// A proxy that inserts a grammar into each request, so that the model can say one thing only.
pub(crate) fn proxy(server: &str, dictate: Arc<Dictate>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = server.trim_start_matches("http://").to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (server, dictate) = (server.clone(), Arc::clone(&dictate));
            std::thread::spawn(move || forward(stream, &server, &*dictate));
        }
    });
    url
}

fn forward(mut client: TcpStream, server: &str, dictate: &Dictate) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        match line.to_ascii_lowercase().strip_prefix("content-length:") {
            Some(value) => length = value.trim().parse().unwrap_or(0),
            None if line.to_ascii_lowercase().starts_with("connection:") => (),
            None => head.push_str(&line),
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut body: Value = serde_json::from_slice(&body)?;
    if let Some(text) = dictate(&body) {
        body["grammar"] = json!(format!("root ::= {}", json!(text)));
    }
    let body = body.to_string();
    let mut upstream = TcpStream::connect(server)?;
    write!(upstream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())?;
    std::io::copy(&mut upstream, &mut client)?;
    client.shutdown(std::net::Shutdown::Both)
}
