//! Language models behind an OpenAI-compatible endpoint (docs/llm.md).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use wug_data::{Dataset, Error, InputKind, Result, Selection};
use wug_llm::prompt::Choose;
use wug_llm::{
    Item, Items, JOURNAL, Job, Key, Outcome, Prices, Prompt, Report, Shot, ShotPool, State, Stop, TokenField,
    Totals, builtin_prompts, estimate, majority_vote,
};

use crate::input::Input;
use crate::{
    Answer, Answering, Learner, LearnerInfo, Lesson, Model, Question, Reads, Setting, SettingKind, Settings,
    Task, Watch, questions,
};

/// Asks a language model.
pub struct Llm;

static ABOUT: LearnerInfo = LearnerInfo {
    name: "llm",
    title: "a language model behind an OpenAI-compatible endpoint (docs/llm.md)",
    benchmarks: &[],
    reads: Reads::Any,
    settings: SETTINGS,
};

const fn setting(name: &'static str, about: &'static str, default: SettingKind) -> Setting {
    Setting { name, about, default }
}

const fn whole(default: u64, least: u64, most: u64) -> SettingKind {
    SettingKind::Whole { default, least, most }
}

const fn number(default: f64, least: f64, most: f64) -> SettingKind {
    SettingKind::Number { default, least, most }
}

static SETTINGS: &[Setting] = &[
    setting("model", "the model's name, as the server knows it", SettingKind::Text("")),
    setting("endpoint", "base URL of the server", SettingKind::Text("http://localhost:8080")),
    setting(
        "prompt",
        "zero-shot, few-shot, chain-of-thought, for hint also gpt3-zero-shot and gpt3-zero-shot-cot, or a .toml file",
        SettingKind::Text("zero-shot"),
    ),
    setting("shots", "few-shot examples; 0: as many as the prompt says", whole(0, 0, 1000)),
    setting(
        "choose",
        "few-shot examples: as the prompt says, by the learner's seed, or to cover the question's words",
        SettingKind::Word(&["prompt", "random", "coverage"]),
    ),
    setting("samples", "samples per item; their majority vote is scored", whole(1, 1, 1000)),
    setting(
        "temperature",
        "sampling temperature, or `none` to leave it to the server",
        SettingKind::Text("0"),
    ),
    setting("top-p", "nucleus sampling, or `none`", SettingKind::Text("none")),
    setting(
        "send-seed",
        "send the learner's seed to the server, plus the number of the sample",
        SettingKind::Flag,
    ),
    setting(
        "reply-tokens",
        "maximum number of generated tokens; 0: as the prompt says",
        whole(0, 0, 1 << 24),
    ),
    setting(
        "token-field",
        "request field for the maximum number of generated tokens",
        SettingKind::Word(&["auto", "max_tokens", "max_completion_tokens"]),
    ),
    setting(
        "reasoning-effort",
        "reasoning_effort of reasoning models; empty: not sent",
        SettingKind::Text(""),
    ),
    setting("extra", "further request fields, as a JSON object", SettingKind::Text("{}")),
    setting("concurrency", "maximum number of requests in flight", whole(8, 1, 4096)),
    setting("timeout", "time for a request", SettingKind::Seconds { default: 600, least: 1, most: 86_400 }),
    setting("retries", "how often a request is sent again after an error", whole(6, 0, 1000)),
    setting("max-reply", "maximum size of a reply in bytes", whole(8 << 20, 1 << 10, 1 << 30)),
    setting("price-in", "price of a million prompt tokens", number(0.0, 0.0, 1e9)),
    setting("price-out", "price of a million generated tokens", number(0.0, 0.0, 1e9)),
    setting("max-cost", "stop before the run costs more; 0: no limit", number(0.0, 0.0, 1e12)),
    setting("max-tokens", "stop before the run uses more tokens; 0: no limit", whole(0, 0, u64::MAX)),
    setting("key-from", "environment variable that holds the API key", SettingKind::Text("OPENAI_API_KEY")),
    setting("cache", "folder of replies that runs share; empty: none", SettingKind::Text("")),
];

impl Learner for Llm {
    fn about(&self) -> &'static LearnerInfo {
        &ABOUT
    }

    fn keeps(&self) -> &'static [&'static str] {
        &[JOURNAL]
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        let settings = request_settings(&task.settings, task.seed)?;
        settings.check()?;
        let samples = task.settings.whole("samples") as usize;
        if samples > 1 && settings.temperature == Some(0.0) {
            return Err(Error::usage("several samples at temperature 0 are all the same: set temperature"));
        }
        let cache = task.settings.word("cache");
        Ok(Box::new(Asker {
            prompter: Prompter::new(task)?,
            key: Key::from_env(task.settings.word("key-from"))?,
            settings,
            samples,
            folder: task.folder.clone(),
            deadline: task.deadline,
            cache: (!cache.is_empty()).then(|| PathBuf::from(cache)),
        }))
    }
}

/// The settings as wug-llm has them.
fn request_settings(settings: &Settings, seed: u64) -> Result<wug_llm::RequestSettings> {
    let optional = |name: &str| match settings.word(name) {
        "none" => Ok(None),
        text => match text.parse::<f64>() {
            Ok(value) if (0.0..=10.0).contains(&value) => Ok(Some(value)),
            _ => Err(Error::usage(format!("`{name}={text}`: expected a number from 0 to 10, or none"))),
        },
    };
    let extra = settings.word("extra");
    let Ok(Value::Object(extra)) = serde_json::from_str(extra) else {
        return Err(Error::usage(format!("`extra={extra}`: expected a JSON object such as {{\"top_k\":1}}")));
    };
    let limit = |name: &str| Some(settings.whole(name)).filter(|&limit| limit > 0);
    let mut asked = wug_llm::RequestSettings::new(settings.word("endpoint"), settings.word("model"));
    asked.concurrency = settings.whole("concurrency") as usize;
    asked.temperature = optional("temperature")?;
    asked.top_p = optional("top-p")?;
    asked.seed = settings.flag("send-seed").then_some(seed);
    asked.reply_tokens = limit("reply-tokens").map(|tokens| tokens as u32);
    asked.token_field = match settings.word("token-field") {
        "max_tokens" => Some(TokenField::MaxTokens),
        "max_completion_tokens" => Some(TokenField::MaxCompletionTokens),
        _ => None,
    };
    let effort = settings.word("reasoning-effort");
    asked.reasoning_effort = (!effort.is_empty()).then(|| effort.to_owned());
    asked.extra = extra;
    asked.timeout = Duration::from_secs(settings.whole("timeout"));
    asked.retries = settings.whole("retries") as u32;
    asked.max_reply = settings.whole("max-reply") as usize;
    asked.prices = Prices { input: settings.number("price-in"), output: settings.number("price-out") };
    asked.max_cost = Some(settings.number("max-cost")).filter(|&cost| cost > 0.0);
    asked.max_tokens = limit("max-tokens");
    Ok(asked)
}

/// Makes questions for a prompt: with few-shot examples from train, where it wants them.
struct Prompter {
    prompt: Prompt,
    shots: Shots,
}

enum Shots {
    /// The same for every question.
    Fixed(Vec<Shot>),
    /// Those that cover a question's words, of all that there are.
    Covering { pool: ShotPool, all: Vec<Shot>, count: usize },
}

impl Prompter {
    fn new(task: &Task<'_>) -> Result<Self> {
        let prompt = find_prompt(task.settings.word("prompt"), task.dataset(), task.reads())?;
        let shots = match &prompt.examples {
            None => Shots::Fixed(Vec::new()),
            Some(examples) => {
                let count = match task.settings.whole("shots") {
                    0 => examples.count,
                    count => count as usize,
                };
                let choose = match task.settings.word("choose") {
                    "random" => Choose::Random,
                    "coverage" => Choose::Coverage,
                    _ => examples.choose,
                };
                shots(task, count, choose)?
            }
        };
        Ok(Self { prompt, shots })
    }

    fn question(&self, input: &Input<'_>) -> wug_llm::Question {
        let (text, images) = given(input);
        let shots = match (&self.shots, input) {
            (Shots::Fixed(shots), _) => shots.clone(),
            (Shots::Covering { pool, all, count }, Input::Tokens(tokens)) => {
                pool.covering(tokens.words(), *count).into_iter().map(|i| all[i].clone()).collect()
            }
            (Shots::Covering { .. }, Input::Image(_)) => Vec::new(),
        };
        wug_llm::Question { input: text, images, shots }
    }
}

/// The prompt in a style, or the one in a file.
fn find_prompt(style: &str, dataset: &str, reads: InputKind) -> Result<Prompt> {
    let prompt = if Path::new(style).extension().is_some_and(|extension| extension == "toml") {
        Prompt::read(Path::new(style))?
    } else {
        let benchmark = dataset.split('/').next().unwrap_or_default();
        let own = builtin_prompts::all().any(|(known, ..)| known == format!("{benchmark}-image"));
        let image = if reads == InputKind::Images && own { "-image" } else { "" };
        builtin_prompts::find(&format!("{benchmark}{image}"), style)?
    };
    let (wants, are) = match reads {
        InputKind::Images if prompt.wants_text() => ("text (`{input}`)", "images"),
        InputKind::Tokens if prompt.wants_images() => ("images (`{images}`)", "tokens"),
        _ => return Ok(prompt),
    };
    Err(Error::usage(format!("the prompt {style} asks with {wants}, and the inputs of {dataset} are {are}")))
}

fn shots(task: &Task<'_>, count: usize, choose: Choose) -> Result<Shots> {
    let lessons = task.train()?;
    if task.reads() == InputKind::Images {
        if choose == Choose::Coverage {
            return Err(Error::usage("examples that are images have no words to cover: set choose=random"));
        }
        // Rendering all of train to choose a few would take minutes.
        let lessons: Vec<Lesson<'_>> = lessons.iter().collect();
        let chosen = task.streams(ABOUT.name).item(0).sample(&lessons, count);
        return Ok(Shots::Fixed(chosen.iter().map(shot).collect()));
    }
    let tokens = lessons.iter().map(|lesson| lesson.input.tokens()).collect::<Result<Vec<_>>>()?;
    let pool = ShotPool::new(tokens.iter().map(wug_data::Tokens::words), task.seed);
    let all = lessons.iter();
    match choose {
        Choose::Random => {
            let lessons: Vec<Lesson<'_>> = all.collect();
            Ok(Shots::Fixed(pool.random(count).into_iter().map(|i| shot(&lessons[i])).collect()))
        }
        Choose::Coverage => {
            let all = all.map(|lesson| shot(&lesson)).collect();
            Ok(Shots::Covering { pool, all, count })
        }
    }
}

fn shot(lesson: &Lesson<'_>) -> Shot {
    let (input, images) = given(&lesson.input);
    Shot { input, images, target: lesson.target.to_string() }
}

/// An input as text or as PNG files.
fn given(input: &Input<'_>) -> (Option<String>, Vec<Vec<u8>>) {
    match input {
        Input::Tokens(tokens) => (Some(tokens.to_string()), Vec::new()),
        // Writing a PNG to memory does not fail.
        Input::Image(image) => (None, image.render().png().into_iter().collect()),
    }
}

/// The model: asks when it is asked.
struct Asker {
    prompter: Prompter,
    settings: wug_llm::RequestSettings,
    key: Key,
    samples: usize,
    folder: Option<PathBuf>,
    deadline: Option<Instant>,
    cache: Option<PathBuf>,
}

/// The items of some questions: each question as often as there are samples.
struct Asked<'a> {
    asker: &'a Asker,
    questions: &'a [Question<'a>],
}

impl Items for Asked<'_> {
    fn count(&self) -> usize {
        self.questions.len() * self.asker.samples
    }

    fn item(&self, i: usize) -> Item {
        let question = &self.questions[i / self.asker.samples];
        Item {
            id: format!("{:08}", question.position),
            sample: (i % self.asker.samples) as u32,
            question: self.asker.prompter.question(&question.input),
        }
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl Model for Asker {
    fn answers(&self, questions: &[Question<'_>]) -> Result<Vec<Answer>> {
        self.answers_watched(questions, &Watch { interrupted: &NEVER, answering: &|_| () })
    }

    fn answers_watched(&self, questions: &[Question<'_>], watch: &Watch<'_>) -> Result<Vec<Answer>> {
        let items = Asked { asker: self, questions };
        let most = estimate(&self.prompter.prompt, &self.settings, &items)?;
        (watch.answering)(Answering::Note(&format!(
            "{} requests to {}: at most about {} prompt and {} completion tokens{}",
            most.requests,
            self.settings.base_url()?,
            most.usage.prompt,
            most.usage.completion,
            if most.cost > 0.0 { format!(", cost {:.4}", most.cost) } else { String::new() },
        )));
        // Without a folder there is nothing to resume, and the journal goes with the process.
        let scratch = Scratch::new(self.folder.is_none())?;
        let folder = self.folder.as_deref().unwrap_or(&scratch.0);
        let cancel = AtomicBool::new(false);
        let job = Job {
            prompt: &self.prompter.prompt,
            settings: &self.settings,
            key: self.key.clone(),
            folder,
            cache: self.cache.as_deref(),
            cancel: &cancel,
            progress: &|totals| {
                let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
                cancel.store(late || watch.interrupted.load(Ordering::Relaxed), Ordering::Relaxed);
                tell(watch, totals);
            },
        };
        let report = wug_llm::ask(&job, &items)?;
        (watch.answering)(Answering::Note(&summary(&report.totals)));
        self.check(&report, folder)?;
        let of_questions = report.outcomes.chunks(self.samples);
        Ok(of_questions.map(answer).collect())
    }
}

impl Asker {
    /// An error if not all items were asked.
    fn check(&self, report: &Report, folder: &Path) -> Result<()> {
        let resume = if self.folder.is_some() {
            format!(
                "{} of {} items are done; --resume {}",
                report.totals.done,
                report.totals.items,
                folder.display()
            )
        } else {
            "nothing was kept: use --out DIR".to_owned()
        };
        match &report.stop {
            Stop::Done => Ok(()),
            Stop::CostLimit => Err(Error::unfinished(format!(
                "the next request may exceed max-cost; {resume} --set max-cost=MORE"
            ))),
            Stop::TokenLimit => Err(Error::unfinished(format!(
                "the next request may exceed max-tokens; {resume} --set max-tokens=MORE"
            ))),
            Stop::Wait(wait) => {
                let seconds = wait.as_secs();
                Err(Error::unfinished(format!("the server asks to wait for {seconds} s; {resume} then")))
            }
            Stop::Cancelled => Err(Error::unfinished(format!("interrupted; {resume}"))),
            Stop::Fatal(why) => {
                // An empty journal is nothing to go on from.
                let journal = folder.join(JOURNAL);
                if std::fs::metadata(&journal).is_ok_and(|file| file.len() == 0) {
                    let _ = std::fs::remove_file(&journal);
                }
                Err(Error::failed(why.clone()))
            }
        }
    }
}

fn tell(watch: &Watch<'_>, totals: &Totals) {
    let mut message = format!("{} in flight", totals.in_flight);
    if totals.unanswered > 0 {
        let _ = write!(message, ", {} unanswered", totals.unanswered);
    }
    if totals.max_cost > 0.0 {
        let _ = write!(message, ", cost {:.4}", totals.max_cost);
    }
    (watch.answering)(Answering::Progress { done: totals.done, of: totals.items, message: &message });
}

fn summary(totals: &Totals) -> String {
    let mut text = format!(
        "{} requests ({} retries), {} replies from the journal and {} from the cache; {} prompt and {} completion tokens",
        totals.requests,
        totals.retries,
        totals.from_journal,
        totals.from_cache,
        totals.usage.prompt,
        totals.usage.completion
    );
    if totals.max_cost > 0.0 {
        let _ = write!(text, ", cost {:.4}", totals.cost);
        if totals.max_cost > totals.cost {
            let _ = write!(text, " (up to {:.4} with requests whose replies were lost)", totals.max_cost);
        }
    }
    text
}

/// The answer that the samples of a question amount to.
fn answer(outcomes: &[Outcome]) -> Answer {
    let text = |outcome: &Outcome| match &outcome.state {
        State::Answered(answer) => Some(answer.clone()),
        _ => None,
    };
    let samples: Vec<Option<String>> = outcomes.iter().map(text).collect();
    let vote = majority_vote(samples.iter().map(Option::as_deref)).map(str::to_owned);
    let unanswered = outcomes.iter().all(|outcome| matches!(outcome.state, State::Unanswered(_)));
    let shown = outcomes.iter().find(|outcome| text(outcome) == vote).or(outcomes.first());
    let mut answer = Answer { text: vote, unanswered, ..Answer::default() };
    if let Some(outcome) = shown {
        answer.notes.insert("state".to_owned(), outcome.state.name().into());
        match &outcome.state {
            State::Refused(reason) | State::Unanswered(reason) => {
                answer.notes.insert("reason".to_owned(), reason.as_str().into());
            }
            State::Answered(_) | State::CutOff | State::Unparsable => (),
        }
        answer.explanation = Some(outcome.excerpt.clone()).filter(|excerpt| !excerpt.is_empty());
    }
    if samples.len() > 1 {
        let state = |outcome: &Outcome| json!(outcome.state.name());
        answer.notes.insert("samples".to_owned(), json!(samples));
        answer.notes.insert("states".to_owned(), outcomes.iter().map(state).collect());
        answer.samples = samples;
    }
    answer
}

/// A folder for a journal that nobody keeps.
struct Scratch(PathBuf);

impl Scratch {
    fn new(needed: bool) -> Result<Self> {
        static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("wug-llm-{}-{number}", std::process::id()));
        if needed {
            std::fs::create_dir_all(&path).map_err(Error::io(&path))?;
        }
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that was not made, or is in use by a request that nobody waits for, is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The requests that `llm` would send for some examples, exactly as they are sent: URLs and bodies. Settings are given as
/// for a run; a model need not be named.
pub fn preview_requests(
    dataset: &Dataset,
    selection: &Selection<'_>,
    reads: InputKind,
    given: &[String],
    seed: u64,
) -> Result<Vec<Vec<(String, Value)>>> {
    let mut settings = Settings::read(&ABOUT, given)?.to_map();
    if settings["model"] == "" {
        settings.insert("model".to_owned(), "MODEL".into());
    }
    let task = Task::reading(dataset, reads, Settings::from_map(&ABOUT, &settings)?, seed);
    let (asked, prompter) = (request_settings(&task.settings, seed)?, Prompter::new(&task)?);
    let preview = |question: &Question<'_>| {
        let item = Item { id: String::new(), sample: 0, question: prompter.question(&question.input) };
        wug_llm::preview(&prompter.prompt, &asked, &item)
    };
    questions(dataset, selection, reads, None).iter().map(preview).collect()
}
