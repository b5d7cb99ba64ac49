use super::*;
use std::cell::Cell;
use std::time::{Duration, Instant};

use wug_data::{Sequences, Stream, Streams, Vocab};

use super::super::convert::{Draws, Variant, convert};
use super::super::splits;

/// Judges one prediction.
fn verdict(metric: &str, notation: Option<Notation>, target: &str, prediction: &str) -> Verdict {
    let mut targets = Sequences::new(Vocab::default(), " ");
    targets.push_words(target.split(' '));
    let example = Example { row: 0, input: targets.get(0), target: targets.get(0) };
    let metrics = if notation.is_some() { RECOGS_METRICS } else { METRICS };
    let metric = metrics.into_iter().find(|known| known.name == metric).unwrap();
    (metric.judge)().judge(&example, prediction)
}

const GOLD: &str = "* girl ( x _ 1 ) ; see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , Emma )";

#[test]
fn the_metrics_differ_in_what_they_forgive() {
    for (prediction, [exact, index, sem]) in [
        (GOLD, [true, true, true]),
        (
            "* girl ( x _ 5 ) ; see . agent ( x _ 9 , x _ 5 ) AND see . theme ( x _ 9 , Emma )",
            [false, true, true],
        ),
        (
            "see . theme ( x _ 9 , Emma ) AND * girl ( x _ 5 ) AND see . agent ( x _ 9 , x _ 5 )",
            [false, false, true],
        ),
        (
            "* girl ( x _ 5 ) ; see . agent ( x _ 9 , x _ 5 ) AND see . theme ( x _ 9 , Liam )",
            [false, false, false],
        ),
        (
            "* girl ( x _ 2 ) ; see . agent ( x _ 2 , x _ 2 ) AND see . theme ( x _ 2 , Emma )",
            [false, false, false],
        ),
        ("", [false, false, false]),
    ] {
        for (metric, right) in [("exact", exact), ("index-invariant", index), ("sem", sem)] {
            let verdict = verdict(metric, None, GOLD, prediction);
            assert_eq!(verdict.correct, right, "{metric}: {prediction}");
            assert_eq!(verdict.reason.is_empty(), right, "a reason goes with what is wrong");
        }
    }
}

#[test]
fn targets_tell_their_notation() {
    for (target, notation) in [
        (GOLD, Notation::Cogs),
        ("Emma", Notation::Cogs),
        ("LAMBDA a . girl ( a )", Notation::Cogs),
        ("boy ( 3 ) AND hold . agent ( 1 , Liam )", Notation::Reduced(Removal::X)),
        ("boy 3 AND hold . agent 1 , Liam", Notation::Reduced(Removal::XParen)),
        ("boy 3 AND hold . agent 1 Liam", Notation::Reduced(Removal::XParenComma)),
        ("LAMBDA a . LAMBDA e . crawl . agent e a", Notation::Reduced(Removal::XParenComma)),
        ("need ( agent = zebra , xcomp = walk ( agent = zebra ) )", Notation::VariableFree),
    ] {
        assert_eq!(notation_of(target), notation, "{target}");
        assert!(verdict("sem", None, target, target).correct, "{target}");
    }
    let reordered = "need ( xcomp = walk ( agent = zebra ) , agent = zebra )";
    let target = "need ( agent = zebra , xcomp = walk ( agent = zebra ) )";
    assert!(verdict("sem", None, target, reordered).correct);
    assert!(
        !verdict("sem", None, target, "need ( agent = zebra , xcomp = walk ( agent = * zebra ) )").correct
    );
}

#[test]
fn the_first_conjunct_behind_the_definites_counts() {
    let modified = "* cake ( x _ 1 ) ; * table ( x _ 4 ) ; cake . nmod . on ( x _ 1 , x _ 4 ) AND burn . theme ( x _ 5 , x _ 1 )";
    assert!(verdict("nmod-first", None, GOLD, modified).correct);
    assert_eq!(verdict("nmod-first", None, GOLD, GOLD).reason, "first is `see . agent`");
    let recogs = "cake ( 1 ) ; table ( 4 ) ; nmod . on ( 1 , 4 ) AND burn ( 5 ) AND theme ( 5 , 1 )";
    assert!(verdict("nmod-first", Some(Notation::Recogs), recogs, recogs).correct);
}

/// Text that is no logical form, or hardly.
fn malformed() -> Vec<Vec<u8>> {
    let mut inputs: Vec<Vec<u8>> = [
        "",
        " ",
        "(",
        ")",
        ";",
        "AND",
        "*",
        "LAMBDA",
        "LAMBDA a",
        "LAMBDA a .",
        "girl (",
        "girl ( )",
        "girl ( 1",
        "girl ( 1 ) AND",
        "girl ( 1 ) ; ; girl ( 2 )",
        "( ( ( (",
        ") ) )",
        "girl ( 1 , )",
        "girl ( 1 , 2 , 3 )",
        "girl . ( 1 )",
        ". . .",
        "x _ x _ x",
        "= = =",
        "a ( b =",
        "AND AND AND",
        "\u{0}",
        "ſ ( ß )",
        "🦔 ( 🦔 )",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    inputs.push(vec![0xff, 0xfe, b'g', 0x80]);
    for unit in [
        "( ",
        ") ",
        "girl ( 1 ) ; ",
        "a ( b = ",
        "AND ",
        "LAMBDA a . ",
        "x",
        "r ( 1 , 2 ) AND r ( 2 , 1 ) AND ",
        "é",
    ] {
        for size in [1_000, 16_000, 60_000, 10_000_000] {
            let mut text = unit.repeat(size / unit.len());
            inputs.push(text.clone().into_bytes());
            text.push_str("a ( 1 )");
            inputs.push(text.into_bytes());
        }
    }
    // As many look-alikes as there is room for.
    let entities: Vec<String> = (0..950).map(|i| format!("girl ( {i} )")).collect();
    inputs.push(entities.join(" ; ").into_bytes());
    inputs
}

#[test]
fn malformed_predictions_are_wrong_at_once() {
    let targets = [
        (Notation::Recogs, "* girl ( 1 ) ; see ( 2 ) AND agent ( 2 , 1 )"),
        (Notation::Cogs, GOLD),
        (Notation::VariableFree, "see ( agent = * girl , theme = Emma )"),
    ];
    for input in malformed() {
        for (notation, target) in targets {
            // The best of three: other tests share the machine.
            let mut best = Duration::MAX;
            for _ in 0..3 {
                let start = Instant::now();
                let verdict = sem_bytes(target, &input, notation);
                best = best.min(start.elapsed());
                assert!(!verdict.correct && !verdict.reason.is_empty());
            }
            let shown = String::from_utf8_lossy(&input[..input.len().min(30)]).into_owned();
            assert!(best < Duration::from_millis(10), "{best:?} for {} bytes: {shown}", input.len());
            if let Ok(text) = std::str::from_utf8(&input) {
                for metric in ["exact", "index-invariant", "sem-official", "nmod-first"] {
                    let verdict = verdict(metric, Some(notation), target, text);
                    assert!(!verdict.correct && !verdict.reason.is_empty(), "{metric}: {shown}");
                }
            }
        }
    }
    assert_eq!(sem_bytes("Emma", &[b'E', 0xff], Notation::Cogs).reason, "not UTF-8 (byte 2)");
}

/// A prediction made from a target by a few random changes.
fn mutated(target: &str, stream: &mut Stream) -> String {
    const TOKENS: [&str; 16] =
        ["(", ")", ",", ";", ".", "*", "=", "AND", "LAMBDA", "x", "_", "1", "2", "girl", "agent", "é"];
    let mut tokens: Vec<&str> = target.split(' ').collect();
    for _ in 0..=stream.below(4) {
        let at = stream.below(tokens.len() as u64 + 1) as usize;
        match stream.below(4) {
            0 => tokens.insert(at, TOKENS[stream.below(16) as usize]),
            1 if at < tokens.len() => tokens[at] = TOKENS[stream.below(16) as usize],
            2 if at < tokens.len() && tokens.len() > 1 => {
                tokens.remove(at);
            }
            _ => {
                let other = stream.below(tokens.len() as u64) as usize;
                if at < tokens.len() {
                    tokens.swap(at, other);
                }
            }
        }
    }
    tokens.join(" ")
}

/// `WUG_FUZZ_SECONDS` makes this run longer; the inputs are the same each time.
#[test]
fn mutated_forms_get_a_verdict() {
    let seconds = std::env::var("WUG_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let rows = splits::recursion_set(super::super::draw::Recursion::Phrases, 3, 0);
    let streams = Streams::new("test", "mutated", 0);
    let start = Instant::now();
    let mut i = 0u64;
    while start.elapsed() < Duration::from_secs(seconds) {
        for variant in [Variant::Main, Variant::VariableFree, Variant::RecogsV2] {
            let row = rows[i as usize % rows.len()].clone();
            let row = convert(variant, "gen", vec![row], Draws::Seed(i)).unwrap().swap_remove(0);
            let mut stream = streams.item(i);
            let prediction = mutated(&row.form, &mut stream);
            let there = sem_text(&row.form, &prediction, variant.notation());
            assert!(!there.undecided, "{prediction}");
            // What is a logical form is judged the same the other way round.
            if Form::parse(&prediction, variant.notation()).is_ok() {
                let back = sem_text(&prediction, &row.form, variant.notation());
                assert_eq!(there.correct, back.correct, "{} / {prediction}", row.form);
            }
            sem::official::compare(&row.form, &prediction);
            i += 1;
        }
    }
}

#[test]
fn gold_against_gold_is_decided_with_ease() {
    let rows = splits::generalization(1);
    for variant in [Variant::Main, Variant::RecogsV2, Variant::VariableFree] {
        let converted = convert(variant, "gen", rows.clone(), Draws::Seed(1)).unwrap();
        let mut most = 0;
        for row in &converted {
            let form = Form::parse(&row.form, variant.notation()).unwrap();
            let work = Cell::new(sem::MOST_WORK);
            assert_eq!(sem::compare_within(&form, &form, &work), Match::Equal, "{}", row.form);
            most = most.max(sem::MOST_WORK - work.get());
        }
        assert!(most < sem::MOST_WORK / 100, "{variant:?}: {most}");
    }
}
