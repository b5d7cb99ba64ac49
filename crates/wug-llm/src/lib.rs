//! Language models behind OpenAI-compatible endpoints: any server, nothing lost, nothing executed.
//!
//! [`ask`] sends [`Item`]s to a server by a [`Prompt`] and returns an [`Outcome`] for each. Every reply is on disk before
//! it counts: killed at any moment and started again on the same folder, it sends only what is missing. It sends as many
//! requests at once as the server bears, retries what is worth it, obeys `Retry-After`, and stops before it would exceed
//! a limit on cost or tokens. An item that got no reply is [unanswered](State::Unanswered), which is not wrong.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use wug_llm::{Item, Job, Key, Question, RequestSettings, State, ask, builtin_prompts};
//!
//! let item = |id: &str, input: &str| Item {
//!     id: id.to_owned(),
//!     sample: 0,
//!     question: Question { input: Some(input.to_owned()), ..Question::default() },
//! };
//! let items = vec![item("test_00000000", "jump twice"), item("test_00000001", "walk left")];
//! let job = Job {
//!     prompt: &builtin_prompts::find("scan", "zero-shot")?,
//!     settings: &RequestSettings::new("http://localhost:8080", "my-model"),
//!     key: Key::from_env("OPENAI_API_KEY")?,
//!     folder: "runs/scan".as_ref(),
//!     cache: None,
//!     cancel: &AtomicBool::new(false),
//!     progress: &|totals| eprintln!("{} of {}", totals.done, totals.items),
//! };
//! let report = ask(&job, &items)?;
//! for outcome in &report.outcomes {
//!     if let State::Answered(answer) = &outcome.state {
//!         println!("{answer}");
//!     }
//! }
//! # Ok::<(), wug_data::Error>(())
//! ```

mod ask;
mod budget;
mod cache;
mod client;
mod extract;
mod journal;
mod key;
mod limiter;
mod pool;
pub mod prompt;
mod reply;
mod request;
mod request_settings;
mod retry;
mod samples;
mod shots;

pub use ask::{CostEstimate, Item, Items, Job, Outcome, Report, State, Stop, Totals, ask, estimate, preview};
pub use extract::Reading;
pub use journal::JOURNAL;
pub use key::Key;
pub use prompt::{Prompt, Question, STYLES, Shot, builtin_prompts};
pub use reply::Usage;
pub use request_settings::{Prices, RequestSettings, TokenField};
pub use samples::{Bounds, Estimate, majority_vote, mean_interval, pass_at_k};
pub use shots::ShotPool;
