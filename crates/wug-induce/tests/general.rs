//! The general search on small languages that the search over templates does not solve, and on garbage.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use wug_induce::{Model, Settings, Stopped, Without, learn, learn_watched};

type Rows = Vec<(String, String)>;

fn general() -> Settings {
    Settings { without: Some(Without::Templates), ..Settings::default() }
}

fn assert_solved(model: &Model, test: &[(&str, &str)]) {
    for (source, target) in test {
        assert_eq!(model.predict(source).text, *target, "{source}\n{}", model.text());
    }
}

/// Numbers below a bound that depend on nothing but how many were drawn before.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// Prefix arithmetic with maximum and sum, one or two deep.
fn arithmetic() -> Rows {
    let mut draw = Draw(1);
    let mut rows: Rows = (0..10).map(|i| (i.to_string(), i.to_string())).collect();
    for _ in 0..160 {
        let (a, b, c) = (draw.below(10), draw.below(10), draw.below(10));
        let (word, value): (&str, fn(u64, u64) -> u64) =
            if draw.below(2) == 0 { ("big", u64::max) } else { ("plus", |a, b| a + b) };
        rows.push((format!("{word} {a} {b}"), value(a, b).to_string()));
        rows.push((format!("{word} {a} plus {b} {c}"), value(a, b + c).to_string()));
        rows.push((format!("{word} big {a} {b} {c}"), value(a.max(b), c).to_string()));
    }
    rows
}

#[test]
fn prefix_arithmetic_nests_deeper_than_training() {
    let model = learn(arithmetic(), &general());
    assert_solved(
        &model,
        &[("plus plus 9 9 plus big 3 8 plus 7 7", "40"), ("big plus 1 plus 1 1 big 2 plus 0 1", "3")],
    );
    assert!(model.text().contains("max($1, $2)"), "{}", model.text());
}

#[test]
fn tables_compose() {
    let things = ["ash", "elm", "fir", "oak", "yew"];
    let next = |i: usize, by: usize| things[(i * 2 + by) % 5];
    let place = |thing: &str| things.iter().position(|other| *other == thing).unwrap();
    let mut rows = Rows::new();
    for (i, thing) in things.iter().enumerate() {
        for (word, by) in [("foo", 1), ("bar", 3)] {
            rows.push((format!("{thing} {word}"), next(i, by).to_owned()));
            rows.push((format!("{thing} {word} foo"), next(place(next(i, by)), 1).to_owned()));
            rows.push((format!("{thing} {word} bar"), next(place(next(i, by)), 3).to_owned()));
        }
    }
    let model = learn(rows, &general());
    let mut at = 0;
    for by in [1, 3, 3, 1, 1] {
        at = place(next(at, by));
    }
    assert_solved(&model, &[("ash foo bar bar foo foo", things[at])]);
}

#[test]
fn state_is_threaded_through_a_sequence() {
    let mut draw = Draw(3);
    let mut rows = Rows::new();
    for i in 0..400 {
        let (mut x, mut y, mut words) = (0i64, 0i64, Vec::new());
        for _ in 0..=i % 3 {
            let steps = draw.below(8) as i64 + 1;
            let (word, dx, dy) = [("north", 0, 1), ("south", 0, -1), ("east", 1, 0)][draw.below(3) as usize];
            (x, y) = (x + dx * steps, y + dy * steps);
            words.push(format!("{word} {steps}"));
        }
        rows.push((words.join(" "), format!("{x} {y}")));
    }
    let model = learn(rows, &general());
    assert_solved(&model, &[("north 5 east 2 south 8 south 8 east 7", "9 -11")]);
}

#[test]
fn a_general_model_is_saved_and_explained() {
    let model = learn(arithmetic(), &general());
    let loaded = Model::load(&model.save()).unwrap();
    assert_eq!(loaded.save(), model.save());
    let prediction = model.predict("plus 1 big 2 3");
    assert_eq!(loaded.predict("plus 1 big 2 3"), prediction);
    assert!(model.derivation(&prediction).contains("= 4"), "{}", model.derivation(&prediction));
    assert!(model.predict("plus 1 never").abstained.is_some());
    let broken = model.save().replace("\"frame\":0", "\"frame\":77");
    assert!(Model::load(&broken).is_err());
}

#[test]
fn any_number_of_threads_finds_the_same_grammar() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learn(arithmetic(), &general()).save())
    };
    assert_eq!(on(1), on(3));
}

/// Sources and targets that have nothing to do with each other.
fn noise(rows: u64) -> Rows {
    let mut draw = Draw(5);
    let mut text = |longest: u64| {
        let length = draw.below(longest) + 1;
        (0..length).map(|_| format!("w{}", draw.below(40))).collect::<Vec<_>>().join(" ")
    };
    (0..rows).map(|_| (text(12), text(12))).collect()
}

#[test]
fn what_was_stopped_says_so() {
    let few_steps = learn(noise(300), &Settings { steps: 20_000, ..general() });
    assert_eq!(few_steps.stopped(), Some(Stopped::Steps));
    let budget = Duration::from_secs(2);
    let begun = Instant::now();
    let little_time = learn(noise(3000), &Settings { budget, steps: u64::MAX, ..Settings::default() });
    assert_eq!(little_time.stopped(), Some(Stopped::Time));
    // Generous, for machines that do other things, too; a search that did not look at the clock would take minutes.
    assert!(begun.elapsed() < 15 * budget, "{:?}", begun.elapsed());
    assert_eq!(learn(arithmetic(), &general()).stopped(), None);
}

#[test]
fn whoever_watches_is_told_and_changes_nothing() {
    let told = Mutex::new(Vec::new());
    let watched =
        learn_watched(arithmetic(), &general(), Some(&|progress| told.lock().unwrap().push(progress)));
    assert_eq!(watched.save(), learn(arithmetic(), &general()).save());
    let told = told.into_inner().unwrap();
    assert!(told.iter().all(|progress| progress.round > 0 && progress.steps <= progress.of));
    assert!(told.iter().any(|progress| progress.rules > 0 && progress.explained > 0.5), "{told:?}");
}

/// Pairs without a language: few or no rows, contradictions, huge and odd tokens, rows of very different lengths.
fn garbage(draw: &mut Draw) -> Rows {
    let huge = "z".repeat(10_000);
    let tokens = ["a", "b", "(", ")", "7", "-3", "99999999999999999999", "\u{1F600}", "x", ",", &huge];
    let kinds = draw.below(tokens.len() as u64 - 1) + 2;
    let longest = [1, 3, 7, 30][draw.below(4) as usize];
    let mut text = |longest: u64| {
        let length = draw.below(longest + 1);
        let words: Vec<&str> = (0..length).map(|_| tokens[draw.below(kinds) as usize]).collect();
        words.join(" ")
    };
    let first: Rows = (0..12).map(|_| (text(longest), text(longest))).collect();
    let mut rows: Rows = first[..draw.below(13) as usize].to_vec();
    // The same sources with other targets.
    for i in 0..draw.below(6) as usize {
        rows.push((first[i].0.clone(), first[i + 1].1.clone()));
    }
    rows
}

fn assert_bounded(files: usize) {
    let mut draw = Draw(9);
    let settings = Settings { steps: 100_000, ..Settings::default() };
    for _ in 0..files {
        let rows = garbage(&mut draw);
        let model = learn(rows.clone(), &settings);
        for (source, _) in rows.iter().chain(&[("never seen".to_owned(), String::new())]) {
            let prediction = model.predict(source);
            assert!(prediction.abstained.is_none() || prediction.text.is_empty());
        }
    }
}

#[test]
fn garbage_is_bounded() {
    assert_bounded(60);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_files_of_garbage_are_bounded() {
    assert_bounded(10_000);
}
