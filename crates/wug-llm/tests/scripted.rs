//! What servers do wrong, and what becomes of it.

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use common::{
    Got, Numbered, ask_plain, ask_with, chat, cut, echo, plain_prompt, quick, respond, serve, text_item,
};
use serde_json::json;
use tempfile::tempdir;
use wug_llm::{Item, Job, Key, Prices, Prompt, Question, Report, State, Stop, ask};

fn answered(text: &str) -> State {
    State::Answered(text.to_owned())
}

/// Asks one question of a server that follows this script.
fn one(script: impl Fn(&Got, &mut TcpStream) + Send + Sync + 'static) -> (Report, usize) {
    let server = serve(script);
    let folder = tempdir().unwrap();
    let mut settings = quick(&server.url);
    settings.timeout = Duration::from_secs(3);
    let report = ask_plain(&settings, &vec![text_item(0, "jump")], folder.path());
    (report, server.requests.load(Ordering::SeqCst))
}

fn state(script: impl Fn(&Got, &mut TcpStream) + Send + Sync + 'static) -> State {
    one(script).0.outcomes[0].state.clone()
}

fn unanswered_because(script: impl Fn(&Got, &mut TcpStream) + Send + Sync + 'static) -> String {
    match state(script) {
        State::Unanswered(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_items_are_answered_in_order() {
    let server = serve(echo);
    let folder = tempdir().unwrap();
    let report = ask_plain(&quick(&server.url), &Numbered(50), folder.path());
    assert_eq!(report.stop, Stop::Done);
    for (i, outcome) in report.outcomes.iter().enumerate() {
        assert_eq!(outcome.state, answered(&format!("ITEM {i}")));
    }
    assert_eq!((report.totals.requests, report.totals.usage.prompt), (50, 500));
    let again = ask_plain(&quick(&server.url), &Numbered(50), folder.path());
    assert_eq!((again.totals.requests, again.totals.from_journal), (0, 50));
    assert_eq!(again.outcomes, report.outcomes);
}

#[test]
fn a_busy_server_is_obeyed_in_every_form() {
    fn date() -> String {
        httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(2))
    }
    type Form = (&'static str, fn() -> String, u64);
    let forms: [Form; 3] = [
        ("Retry-After", || "1".to_owned(), 900),
        ("Retry-After-Ms", || "300".to_owned(), 290),
        ("Retry-After", date, 900),
    ];
    for (name, form, least) in forms {
        let times: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let seen = Arc::clone(&times);
        let (report, requests) = one(move |got, stream| {
            seen.lock().unwrap().push(Instant::now());
            let value = form();
            if got.before == 0 { respond(stream, 429, &[(name, &value)], "{}") } else { echo(got, stream) }
        });
        assert_eq!((&report.outcomes[0].state, requests), (&answered("JUMP"), 2));
        let times = times.lock().unwrap();
        let waited = times[1] - times[0];
        assert!(waited >= Duration::from_millis(least) && waited < Duration::from_secs(10), "{waited:?}");
    }
}

#[test]
fn a_wait_that_is_too_long_stops_the_run_for_later() {
    let (report, requests) = one(|_, stream| respond(stream, 429, &[("Retry-After", "3600")], "{}"));
    assert_eq!((report.stop.clone(), requests), (Stop::Wait(Duration::from_secs(3600)), 1));
    assert!(report.stop.at_limit());
    assert!(matches!(report.outcomes[0].state, State::Unanswered(_)));
}

#[test]
fn errors_of_the_server_are_retried_and_then_given_up() {
    assert_eq!(
        state(|got, stream| if got.before < 3 {
            respond(stream, 500, &[], "oops");
        } else {
            echo(got, stream);
        }),
        answered("JUMP")
    );
    let (report, requests) =
        one(|_, stream| respond(stream, 500, &[], r#"{"error":{"message":"no projector"}}"#));
    assert_eq!(requests, 7, "six retries");
    assert_eq!(report.outcomes[0].state, State::Unanswered("HTTP 500: no projector".to_owned()));
    assert_eq!((report.stop, report.totals.unanswered), (Stop::Done, 1));
    let (_, requests) = one(|_, stream| respond(stream, 500, &[("x-should-retry", "false")], ""));
    assert_eq!(requests, 1);
    let (report, _) = one(|got, stream| {
        if got.before == 0 {
            respond(stream, 400, &[("x-should-retry", "true")], "");
        } else {
            echo(got, stream);
        }
    });
    assert_eq!(report.outcomes[0].state, answered("JUMP"));
}

#[test]
fn what_can_never_work_is_said_at_once() {
    for (status, what) in [(401, "Incorrect API key"), (404, "model not found"), (402, "no credit")] {
        let server = serve(move |_, stream| {
            respond(stream, status, &[], &json!({"error": {"message": what}}).to_string());
        });
        let folder = tempdir().unwrap();
        let report = ask_plain(&quick(&server.url), &Numbered(100), folder.path());
        let Stop::Fatal(message) = &report.stop else { panic!("{:?}", report.stop) };
        assert!(message.contains(what) && message.contains(&server.url), "{message}");
        assert!(server.requests.load(Ordering::SeqCst) <= 8);
        assert!(report.outcomes.iter().all(|outcome| matches!(outcome.state, State::Unanswered(_))));
    }
    let (report, _) = one(|_, stream| respond(stream, 308, &[("Location", "https://elsewhere/v1")], ""));
    assert!(matches!(&report.stop, Stop::Fatal(why) if why.contains("redirects to https://elsewhere/v1")));
    let folder = tempdir().unwrap();
    let report = ask_plain(&quick("http://127.0.0.1:1"), &Numbered(3), folder.path());
    assert!(
        matches!(&report.stop, Stop::Fatal(why) if why.contains("is the server running?")),
        "{:?}",
        report.stop
    );
}

#[test]
fn a_request_that_is_refused_every_time_stops_the_run_after_ten() {
    let server =
        serve(|_, stream| respond(stream, 400, &[], r#"{"error":"unsupported parameter: temperature"}"#));
    let folder = tempdir().unwrap();
    let report = ask_plain(&quick(&server.url), &Numbered(1000), folder.path());
    assert!(matches!(&report.stop, Stop::Fatal(why) if why.contains("unsupported parameter: temperature")));
    assert!(server.requests.load(Ordering::SeqCst) < 40);
}

#[test]
fn one_item_that_fails_for_good_costs_the_run_nothing() {
    let server = serve(|got, stream| {
        if got.text() == "item 7" {
            respond(stream, 400, &[], r#"{"detail":"too long"}"#);
        } else {
            echo(got, stream);
        }
    });
    let folder = tempdir().unwrap();
    let report = ask_plain(&quick(&server.url), &Numbered(30), folder.path());
    assert_eq!(report.stop, Stop::Done);
    assert_eq!(report.outcomes[7].state, State::Unanswered("HTTP 400: too long".to_owned()));
    let done = report.outcomes.iter().filter(|outcome| matches!(outcome.state, State::Answered(_)));
    assert_eq!(done.count(), 29);
}

#[test]
fn cut_connections_and_garbage_are_asked_again() {
    let scripts: [fn(&mut TcpStream); 4] = [
        cut,
        |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"choices\"").ok();
            cut(stream);
        },
        |stream| respond(stream, 200, &[], "{\"choices\":[{\"mess"),
        |stream| respond(stream, 200, &[], "{\"error\":{\"message\":\"upstream\"}}"),
    ];
    for script in scripts {
        let (report, requests) =
            one(move |got, stream| if got.before == 0 { script(stream) } else { echo(got, stream) });
        assert_eq!((&report.outcomes[0].state, requests), (&answered("JUMP"), 2));
        assert!(report.totals.lost.completion > 0, "it may have been charged");
    }
    let why = unanswered_because(|_, stream| respond(stream, 200, &[], "not JSON"));
    assert!(why.contains("invalid JSON"), "{why}");
}

#[test]
fn slow_and_endless_replies_end_at_the_time_limit() {
    let begun = Instant::now();
    let server = serve(|got, stream| {
        if got.text() == "item 0" {
            echo(got, stream);
            return;
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{").ok();
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let folder = tempdir().unwrap();
    let mut settings = quick(&server.url);
    (settings.timeout, settings.retries) = (Duration::from_millis(400), 1);
    let report = ask_plain(&settings, &Numbered(2), folder.path());
    assert_eq!(report.outcomes[0].state, answered("ITEM 0"));
    assert!(matches!(report.outcomes[1].state, State::Unanswered(_)), "{:?}", report.outcomes[1]);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn every_state_of_a_reply_is_told_apart() {
    let reply = |message: serde_json::Value, finish: &'static str| {
        let body =
            json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).to_string();
        state(move |_, stream| respond(stream, 200, &[], &body))
    };
    assert_eq!(reply(json!({"content": "Answer: RUN"}), "stop"), answered("RUN"));
    assert_eq!(
        reply(json!({"content": null, "refusal": "I cannot."}), "stop"),
        State::Refused("I cannot.".to_owned())
    );
    assert_eq!(
        reply(json!({"content": null}), "content_filter"),
        State::Refused("content filter".to_owned())
    );
    assert_eq!(reply(json!({"content": "Answer: RU"}), "length"), State::CutOff);
    assert_eq!(reply(json!({"content": null, "reasoning_content": "hmm"}), "length"), State::CutOff);
    assert_eq!(reply(json!({"content": null}), "stop"), State::Unparsable);
    assert_eq!(reply(json!({"content": "<think>Answer: NO</think>\n"}), "stop"), State::Unparsable);
    assert_eq!(reply(json!({"content": "<think>Answer: NO</think>\nYES"}), "stop"), answered("YES"));
    let both = json!({"choices": [{"index": 1, "message": {"content": "WRONG"}}, {"index": 0, "message": {"content": "RIGHT"}}]});
    assert_eq!(state(move |_, stream| respond(stream, 200, &[], &both.to_string())), answered("RIGHT"));
}

#[test]
fn a_second_step_sees_the_first_and_resumes() {
    let server = serve(|got, stream| {
        assert_eq!(got.path, "/v1/completions");
        let text = if got.text().ends_with("numerals) is") { " 6.\nQ: What" } else { " 3*2 is 6." };
        respond(
            stream,
            200,
            &[],
            &json!({"choices": [{"text": text, "finish_reason": "length"}]}).to_string(),
        );
    });
    let prompt = wug_llm::builtin_prompts::find("hint", "gpt3-zero-shot-cot").unwrap();
    let folder = tempdir().unwrap();
    let items = vec![text_item(0, "3*2"), text_item(1, "3*2")];
    let report = ask_with(&prompt, &quick(&server.url), &items, folder.path(), None);
    assert_eq!(report.outcomes[0].state, answered("6"));
    assert_eq!(report.outcomes[1].state, answered("6"));
    assert_eq!(server.requests.load(Ordering::SeqCst), 2, "equal requests are sent once");
    let again = ask_with(&prompt, &quick(&server.url), &items, folder.path(), None);
    assert_eq!((again.outcomes, again.totals.requests), (report.outcomes, 0));
}

#[test]
fn the_cache_serves_other_runs_and_samples_are_apart() {
    let server = serve(echo);
    let cache = tempdir().unwrap();
    let mut items = vec![text_item(0, "a"), text_item(0, "a"), text_item(1, "b")];
    items[1].sample = 1;
    let settings = quick(&server.url);
    for (run, expected) in [(0, 3), (1, 3)] {
        let folder = tempdir().unwrap();
        let report = ask_with(&plain_prompt(), &settings, &items, folder.path(), Some(cache.path()));
        assert_eq!(report.stop, Stop::Done);
        assert_eq!(server.requests.load(Ordering::SeqCst), expected);
        let spent = report.totals.usage.prompt;
        assert_eq!((report.totals.from_cache, spent), if run == 0 { (0, 30) } else { (3, 0) });
    }
}

#[test]
fn a_run_stops_before_its_limit_and_goes_on_with_a_higher_one() {
    let server = serve(echo);
    let folder = tempdir().unwrap();
    let mut settings = quick(&server.url);
    settings.prices = Prices { input: 1e4, output: 1e5 };
    // A reply costs 0.1 + 0.2; a request may cost up to 20 tokens more than that.
    settings.max_cost = Some(10.0);
    let report = ask_plain(&settings, &Numbered(100), folder.path());
    assert_eq!(report.stop, Stop::CostLimit);
    assert!(
        report.stop.at_limit() && report.totals.cost <= 10.0 && report.totals.cost > 7.0,
        "{}",
        report.totals.cost
    );
    let asked = server.requests.load(Ordering::SeqCst);
    settings.max_cost = Some(1000.0);
    let report = ask_plain(&settings, &Numbered(100), folder.path());
    assert_eq!((report.stop, server.requests.load(Ordering::SeqCst)), (Stop::Done, 100));
    assert_eq!(report.totals.requests, 100 - asked as u64);
    assert!((report.totals.cost - 30.0).abs() < 1e-9, "the whole run counts: {}", report.totals.cost);

    let folder = tempdir().unwrap();
    let mut settings = quick(&server.url);
    settings.max_tokens = Some(600);
    let report = ask_plain(&settings, &Numbered(100), folder.path());
    assert_eq!(report.stop, Stop::TokenLimit);
    assert!(report.totals.usage.total() <= 600);
}

#[test]
fn requests_in_flight_stay_within_the_limit_and_shrink_when_the_server_is_busy() {
    let server = serve(|got, stream| {
        std::thread::sleep(Duration::from_millis(5));
        echo(got, stream);
    });
    let folder = tempdir().unwrap();
    let mut settings = quick(&server.url);
    settings.concurrency = 12;
    let report = ask_plain(&settings, &Numbered(300), folder.path());
    assert_eq!(report.stop, Stop::Done);
    let most = server.most_at_once.load(Ordering::SeqCst);
    assert!((8..=12).contains(&most), "{most}");

    // Not more than three at a time are let in.
    let inside = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let server = serve(move |got, stream| {
        if inside.fetch_add(1, Ordering::SeqCst) >= 3 {
            respond(stream, 429, &[], "{}");
        } else {
            std::thread::sleep(Duration::from_millis(5));
            echo(got, stream);
        }
        inside.fetch_sub(1, Ordering::SeqCst);
    });
    let folder = tempdir().unwrap();
    let report = ask_plain(&settings, &Numbered(300), folder.path());
    assert_eq!((report.stop, report.totals.unanswered), (Stop::Done, 0));
    let wasted = server.requests.load(Ordering::SeqCst) as f64 / 300.0;
    assert!(wasted < 2.0, "{wasted} requests an item");
}

#[test]
fn cancelling_ends_soon_and_keeps_what_came() {
    let server = serve(|got, stream| {
        let number: usize = got.text().trim_start_matches("item ").parse().unwrap();
        if number >= 20 {
            std::thread::sleep(Duration::from_secs(30));
        }
        echo(got, stream);
    });
    let folder = tempdir().unwrap();
    let (cancel, prompt, settings) = (AtomicBool::new(false), plain_prompt(), quick(&server.url));
    let job = Job {
        prompt: &prompt,
        settings: &settings,
        key: Key::none(),
        folder: folder.path(),
        cache: None,
        cancel: &cancel,
        progress: &|totals| cancel.store(totals.done >= 20, Ordering::Relaxed),
    };
    let begun = Instant::now();
    let report = ask(&job, &Numbered(100)).unwrap();
    assert_eq!(report.stop, Stop::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(report.totals.done, 20);
}

#[test]
fn pictures_arrive_as_parts() {
    let server = serve(|got, stream| {
        let parts = got.body["messages"][0]["content"].as_array().cloned().unwrap_or_default();
        let kinds: Vec<&str> = parts.iter().filter_map(|part| part["type"].as_str()).collect();
        respond(stream, 200, &[], &chat(&kinds.join(" ")));
    });
    let folder = tempdir().unwrap();
    let prompt = Prompt::parse("p", "about = ''\n[[step]]\nuser = 'Look {images}!'\nmax-tokens = 9").unwrap();
    let question = Question { images: vec![vec![1, 2], vec![3]], ..Question::default() };
    let items = vec![Item { id: "a".to_owned(), sample: 0, question }];
    let report = ask_with(&prompt, &quick(&server.url), &items, folder.path(), None);
    assert_eq!(report.outcomes[0].state, answered("text image_url image_url text"));
}
