//! Asks all questions of a run: the one loop that decides what is sent when.

mod run;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use wug_data::{Error, Result};

use crate::prompt::{Prompt, Question, Turn};
use crate::request::{Request, body};
use crate::{Key, RequestSettings, Usage};

/// One question, asked once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name in the journal, such as `test_00000007`.
    pub id: String,
    /// Which of several samples of the question it is, from 0.
    pub sample: u32,
    /// What is asked.
    pub question: Question,
}

/// The questions of a run. They are made when they are sent, so that the pictures of a large dataset need not be in
/// memory together.
pub trait Items {
    /// How many.
    fn count(&self) -> usize;

    /// The i-th; the same whenever it is asked for.
    fn item(&self, i: usize) -> Item;
}

impl Items for Vec<Item> {
    fn count(&self) -> usize {
        self.len()
    }

    fn item(&self, i: usize) -> Item {
        self[i].clone()
    }
}

/// How to ask.
pub struct Job<'a> {
    /// What is sent and how answers are read.
    pub prompt: &'a Prompt,
    /// The server, sampling, patience and limits.
    pub settings: &'a RequestSettings,
    /// The API key.
    pub key: Key,
    /// Where the journal is kept; an existing folder. What it already holds is not sent again.
    pub folder: &'a Path,
    /// Where replies are shared between runs; made if need be.
    pub cache: Option<&'a Path>,
    /// Stops the run when set: requests in flight get two seconds.
    pub cancel: &'a AtomicBool,
    /// Told now and then how far it is.
    pub progress: &'a dyn Fn(&Totals),
}

/// The outcome of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// There is an answer; whether it is right is not for here.
    Answered(String),
    /// The model or a filter refused; with its words.
    Refused(String),
    /// The reply ended at the maximum number of tokens.
    CutOff,
    /// No rule of the prompt finds an answer in the reply.
    Unparsable,
    /// No reply: not asked, or given up after retries; with the reason. Never to be scored as wrong in silence.
    Unanswered(String),
}

impl State {
    /// Its name in records: `answered`, `refused`, `cut-off`, `unparsable`, `unanswered`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Answered(_) => "answered",
            Self::Refused(_) => "refused",
            Self::CutOff => "cut-off",
            Self::Unparsable => "unparsable",
            Self::Unanswered(_) => "unanswered",
        }
    }
}

/// An item's state and what stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its outcome.
    pub state: State,
    /// The end of the last reply, for people; the journal has all of it.
    pub excerpt: String,
    /// Tokens of all its replies, whenever they were asked for.
    pub usage: Usage,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Every item was asked.
    Done,
    /// The next request could have exceeded the limit on cost.
    CostLimit,
    /// The next request could have exceeded the limit on tokens.
    TokenLimit,
    /// The server asks to wait longer than is worth holding the run for.
    Wait(Duration),
    /// The caller asked for it.
    Cancelled,
    /// The server will answer no request; with the reason.
    Fatal(String),
}

impl Stop {
    /// Whether all items were asked.
    pub fn is_done(&self) -> bool {
        *self == Self::Done
    }

    /// Whether it stopped at a limit, from which a later call goes on (exit code 3).
    pub fn at_limit(&self) -> bool {
        matches!(self, Self::CostLimit | Self::TokenLimit | Self::Wait(_))
    }
}

/// How far a run is and what it used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Items of the run.
    pub items: usize,
    /// Items that are finished.
    pub done: usize,
    /// Of these, without a reply.
    pub unanswered: usize,
    /// Requests sent in this call, retries included.
    pub requests: u64,
    /// Of these, retries.
    pub retries: u64,
    /// Replies found in the journal.
    pub from_journal: u64,
    /// Replies found in the cache.
    pub from_cache: u64,
    /// Requests in flight.
    pub in_flight: usize,
    /// Maximum number of requests in flight, as the server allows.
    pub limit: usize,
    /// Damaged lines of the journal, whose requests were sent again.
    pub damaged: u64,
    /// Tokens of the whole run, earlier calls included; cached replies count nothing.
    pub usage: Usage,
    /// Tokens that requests without a usable reply may have used.
    pub lost: Usage,
    /// Cost of the whole run, without and with the lost requests.
    pub cost: f64,
    /// Cost with all that lost requests may have used; the limit counts this.
    pub max_cost: f64,
}

/// What came out of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The outcome of each item.
    pub outcomes: Vec<Outcome>,
    /// Why the run ended.
    pub stop: Stop,
    /// What it used.
    pub totals: Totals,
}

/// Asks all items. An error is about this machine (the journal cannot be written); what a server does is in the report.
///
/// Requests are told apart by URL, body and sample number: two items that ask the same share a reply.
pub fn ask(job: &Job<'_>, items: &dyn Items) -> Result<Report> {
    job.settings.check()?;
    run::Run::new(job, items)?.run()
}

/// What a run may cost at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostEstimate {
    /// Requests.
    pub requests: u64,
    /// Tokens, if every reply is as long as it may be. Prompt tokens are estimated from characters, rather too high.
    pub usage: Usage,
    /// Their price.
    pub cost: f64,
}

/// Estimates what asking all items would cost at most, without journal and cache. Of many items some are measured.
pub fn estimate(prompt: &Prompt, settings: &RequestSettings, items: &dyn Items) -> Result<CostEstimate> {
    const MEASURED: usize = 200;
    let base = settings.base_url()?;
    let step = items.count().div_ceil(MEASURED).max(1);
    let (mut measured, mut usage) = (0u64, Usage::default());
    for i in (0..items.count()).step_by(step) {
        let item = items.item(i);
        measured += 1;
        let mut turns: Vec<Turn> = Vec::new();
        for _ in 0..prompt.steps() {
            let rendered = prompt.render(&item.question, &turns).map_err(Error::usage)?;
            let request = Request::new(&base, settings, &rendered, item.sample);
            let earlier_reply = turns.last().map_or(0, |_| request.reply_tokens);
            usage.add(&Usage {
                prompt: request.prompt_tokens + earlier_reply,
                completion: request.reply_tokens,
                ..Usage::default()
            });
            turns.push(Turn { sent: rendered.messages, reply: String::new() });
        }
    }
    let all = |of_measured: u64| {
        (of_measured as f64 * items.count() as f64 / measured.max(1) as f64).round() as u64
    };
    let usage = Usage { prompt: all(usage.prompt), completion: all(usage.completion), ..Usage::default() };
    let requests = (items.count() * prompt.steps()) as u64;
    Ok(CostEstimate { requests, usage, cost: settings.prices.cost(&usage) })
}

/// The requests that an item leads to, as JSON, exactly as they are sent. In later steps `{reply}` stands for the reply
/// of the step before.
///
/// ```
/// use wug_llm::{Item, Question, RequestSettings, builtin_prompts, preview};
///
/// let prompt = builtin_prompts::find("hint", "gpt3-zero-shot")?;
/// let question = Question { input: Some("3*(4-2)".to_owned()), ..Question::default() };
/// let item = Item { id: "test_00000000".to_owned(), sample: 0, question };
/// let requests = preview(&prompt, &RequestSettings::new("http://localhost:8080", "m"), &item)?;
/// assert_eq!(requests[0].0, "http://localhost:8080/v1/completions");
/// assert_eq!(requests[0].1["prompt"], "Q: What is 3*(4-2)?\nA: The answer is");
/// # Ok::<(), wug_data::Error>(())
/// ```
pub fn preview(prompt: &Prompt, settings: &RequestSettings, item: &Item) -> Result<Vec<(String, Value)>> {
    let base = settings.base_url()?;
    let mut turns: Vec<Turn> = Vec::new();
    let mut requests = Vec::new();
    for _ in 0..prompt.steps() {
        let rendered = prompt.render(&item.question, &turns).map_err(Error::usage)?;
        let url = format!("{base}/{}", rendered.api.path());
        requests.push((url, body(settings, &rendered, item.sample)));
        turns.push(Turn { sent: rendered.messages, reply: "{reply}".to_owned() });
    }
    Ok(requests)
}
