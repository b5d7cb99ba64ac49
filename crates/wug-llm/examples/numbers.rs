//! Asks a server for many words in capitals, and prints what came out: a helper of the tests that kill it, and the
//! smallest program that asks. It prints `done N of M` and exits with 0, or with 3 at a limit.
//!
//!     cargo run -p wug-llm --example numbers -- URL COUNT CONCURRENCY FOLDER [CACHE]

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use wug_llm::{Item, Items, Job, Key, Prompt, Question, RequestSettings, ask};

struct Numbers(usize);

impl Items for Numbers {
    fn count(&self) -> usize {
        self.0
    }

    fn item(&self, i: usize) -> Item {
        let question = Question { input: Some(format!("item {i}")), ..Question::default() };
        Item { id: format!("test_{i:08}"), sample: 0, question }
    }
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, count, concurrency, folder, cache @ ..] = &arguments[..] else {
        return Err("usage: numbers URL COUNT CONCURRENCY FOLDER [CACHE]".into());
    };
    let mut settings = RequestSettings::new(url, "scripted");
    settings.concurrency = concurrency.parse()?;
    settings.backoff = Duration::from_millis(5);
    settings.timeout = Duration::from_secs(20);
    let prompt = Prompt::parse("numbers", "about = ''\n[[step]]\nuser = '{input}'\nmax-tokens = 20")?;
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    let cache = cache.first().map(PathBuf::from);
    let job = Job {
        prompt: &prompt,
        settings: &settings,
        key: Key::from_env("WUG_LLM_EXAMPLE_KEY")?,
        folder: &folder,
        cache: cache.as_deref(),
        cancel: &AtomicBool::new(false),
        progress: &|_| (),
    };
    let report = ask(&job, &Numbers(count.parse()?))?;
    for outcome in &report.outcomes {
        println!("{} {:?}", outcome.state.name(), outcome.state);
    }
    println!("stop {:?}", report.stop);
    println!("done {} of {}", report.totals.done, report.totals.items);
    Ok(ExitCode::from(if report.stop.at_limit() { 3 } else { 0 }))
}
