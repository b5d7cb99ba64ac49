//! How much of the possible throughput the client reaches: 64 requests in flight to a server that takes 20 ms for each.
//!
//!     cargo bench -p wug-llm                                 # client on any core
//!     taskset -c 0 cargo bench -p wug-llm                    # client on one core; the server takes the others
//!
//! Possible are 64 / 20 ms = 3,200 replies a second, less what the machine is busy with otherwise: so the same requests are
//! also sent by 64 threads that do nothing but write and read a socket. Medians of five runs of 16,000 requests each, in
//! turn, the client's slow start included.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use wug_llm::{Item, Items, Job, Key, Prompt, Question, RequestSettings, Stop, ask};

const LATENCY: Duration = Duration::from_millis(20);
const CONCURRENCY: usize = 64;
const REQUESTS: usize = 16_000;
const RUNS: usize = 5;

struct Numbers(usize);

impl Items for Numbers {
    fn count(&self) -> usize {
        REQUESTS
    }

    fn item(&self, i: usize) -> Item {
        let question = Question { input: Some(format!("item {i} of run {}", self.0)), ..Question::default() };
        Item { id: format!("test_{i:08}"), sample: 0, question }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().any(|argument| argument == "--serve") {
        return serve();
    }
    let program = std::env::current_exe()?;
    // The server must not share the client's core, if the client has been given one.
    let mut server = match Command::new("taskset").arg("-V").stdout(Stdio::null()).status() {
        Ok(_) => {
            let mut command = Command::new("taskset");
            command.args(["-c", "1-4095"]).arg(program);
            command
        }
        Err(_) => Command::new(program),
    };
    let mut server = server.arg("--serve").stdout(Stdio::piped()).spawn()?;
    let mut url = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut url)?;
    let (mut rates, mut bare) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        bare.push(bare_sockets(url.trim())?);
        rates.push(measure(url.trim(), run)?);
    }
    server.kill()?;
    server.wait()?;
    let (rate, bare) = (median(rates), median(bare));
    let possible = CONCURRENCY as f64 / LATENCY.as_secs_f64();
    println!("{rate:.0} replies a second: {:.1}% of the possible {possible:.0}", 100.0 * rate / possible);
    println!("bare sockets have {bare:.0}: {:.1}% of that", 100.0 * rate / bare);
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The rate of threads that write a request and read its reply, and nothing else.
fn bare_sockets(url: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let address = url.trim_start_matches("http://");
    let body = "x".repeat(120);
    let request =
        format!("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let work = || -> std::io::Result<()> {
            let mut stream = TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            let mut reply = vec![0; reply().len()];
            for _ in 0..REQUESTS / CONCURRENCY {
                stream.write_all(request.as_bytes())?;
                stream.read_exact(&mut reply)?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..CONCURRENCY).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(std::io::Error::other("panic"))))
    })?;
    Ok(REQUESTS as f64 / begun.elapsed().as_secs_f64())
}

fn measure(url: &str, run: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let mut settings = RequestSettings::new(url, "bench");
    settings.concurrency = CONCURRENCY;
    let prompt = Prompt::parse("bench", "about = ''\n[[step]]\nuser = '{input}'\nmax-tokens = 20")?;
    let folder = tempfile::tempdir()?;
    let job = Job {
        prompt: &prompt,
        settings: &settings,
        key: Key::none(),
        folder: folder.path(),
        cache: None,
        cancel: &AtomicBool::new(false),
        progress: &|_| (),
    };
    let begun = Instant::now();
    let report = ask(&job, &Numbers(run))?;
    assert_eq!((report.stop, report.totals.unanswered), (Stop::Done, 0));
    Ok(REQUESTS as f64 / begun.elapsed().as_secs_f64())
}

/// Answers every request after the latency, until killed.
fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("http://{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let stream = stream?;
        std::thread::spawn(move || connection(stream));
    }
    Ok(())
}

fn reply() -> String {
    const BODY: &str =
        r#"{"choices":[{"index":0,"message":{"content":"Answer: I_JUMP"},"finish_reason":"stop"}]}"#;
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len())
}

fn connection(mut stream: TcpStream) -> Option<()> {
    let reply = reply();
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let begun = Instant::now();
        reader.read_exact(&mut vec![0; length]).ok()?;
        std::thread::sleep(LATENCY.saturating_sub(begun.elapsed()));
        stream.write_all(reply.as_bytes()).ok()?;
    }
}
