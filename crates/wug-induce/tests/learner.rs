//! The learner on whole tasks, on hostile input, and on any number of threads.

use wug_bench::{Address, Source};
use wug_induce::{Model, Settings, learn};

fn rows(dataset: &str, part: &str) -> Vec<(String, String)> {
    let address: Address = dataset.parse().unwrap();
    let dataset = address.benchmark.make(&address.dataset, &Source::Seed(0)).unwrap();
    let example = |&row: &u32| {
        let example = dataset.table.example(row);
        (example.input.to_string(), example.target.to_string())
    };
    dataset.part(part).unwrap().rows.iter().map(example).collect()
}

fn wrong(model: &Model, test: &[(String, String)]) -> usize {
    test.iter().filter(|(source, target)| model.predict(source).text != *target).count()
}

#[test]
fn scan_is_solved_where_networks_fail() {
    for split in ["scan/length", "scan/addprim-jump", "scan/simple-p1"] {
        let model = learn(rows(split, "train"), &Settings::default());
        assert_eq!(wrong(&model, &rows(split, "test")), 0, "{split}\n{}", model.text());
        assert!(model.text().lines().filter(|line| line.contains("=>")).count() <= 12, "{}", model.text());
    }
}

#[test]
fn nacs_is_scan_backwards() {
    let meaning: std::collections::BTreeMap<String, String> = rows("scan/all", "all").into_iter().collect();
    for split in ["nacs/addprim-jump", "nacs/simple-p1", "nacs/simple-p2", "nacs/simple-p4"] {
        let model = learn(rows(split, "train"), &Settings::default());
        assert!(model.is_backwards(), "{split}");
        for (actions, _) in rows(split, "test").iter().step_by(40) {
            assert_eq!(meaning.get(&model.predict(actions).text), Some(actions), "{split}");
        }
    }
}

#[test]
fn predications_and_numbers_are_recognised() {
    let people = ["Ava", "Bo", "Cy", "Di"];
    let mut pairs = Vec::new();
    for (i, a) in people.iter().enumerate() {
        for (j, b) in people.iter().enumerate() {
            for (verb, lemma) in [("saw", "see"), ("met", "meet"), ("hit", "hit")] {
                if i != j && (i + j) % 3 > 0 {
                    let target =
                        format!("{lemma} . agent ( x _ 1 , {a} ) AND {lemma} . theme ( x _ 1 , {b} )");
                    pairs.push((format!("{a} {verb} {b} ."), target));
                }
            }
        }
    }
    let model = learn(pairs, &Settings::default());
    let target = "hit . agent ( x _ 1 , Ava ) AND hit . theme ( x _ 1 , Di )";
    assert_eq!(model.predict("Ava hit Di .").text, target, "{}", model.text());

    let mut sums = Vec::new();
    for x in 0..10 {
        sums.push((x.to_string(), x.to_string()));
        sums.extend((0..10).map(|y| (format!("{x} plus {y}"), (x + y).to_string())));
        sums.extend((0..10).map(|y| (format!("{x} plus {y} plus 3"), (x + y + 3).to_string())));
    }
    let model = learn(sums, &Settings::default());
    assert_eq!(model.predict("9 plus 9 plus 9 plus 9 plus 9 plus 9").text, "54", "{}", model.text());
}

#[test]
fn what_is_saved_loads_again() {
    let train = rows("scan/addprim-jump", "train");
    let model = learn(train, &Settings::default());
    let loaded = Model::load(&model.save()).unwrap();
    assert_eq!(loaded.save(), model.save());
    let source = "jump around left twice after walk opposite right";
    assert_eq!(loaded.predict(source), model.predict(source));
    for broken in ["", "{}", "[1]", &model.save()[..200], &model.save().replace("\"Rule\":1", "\"Rule\":99")]
    {
        assert!(Model::load(broken).is_err());
    }
}

#[test]
fn hostile_input_gets_an_answer_or_a_reason() {
    let model = learn(rows("scan/simple", "train"), &Settings::default());
    let long = ["walk left and"; 334].join(" ");
    for source in ["", "walk walk walk", "after", "zyzzyva", "walk zyzzyva", "\u{0}\t\u{1f600}", &long] {
        let prediction = model.predict(source);
        assert!(prediction.abstained.is_some() || !prediction.text.is_empty(), "{source:.40}");
        let _ = model.invert(source);
    }
    assert_eq!(model.predict("walk zyzzyva").unknown, ["zyzzyva"]);
    assert_eq!(model.predict("zyzzyva twice").text, "zyzzyva zyzzyva", "a new word is copied");

    assert!(learn(Vec::<(&str, &str)>::new(), &Settings::default()).predict("walk").abstained.is_some());
    assert_eq!(learn([("walk", "WALK")], &Settings::default()).predict("walk").text, "WALK");
    for pair in [("2 + 2", "4"), ("Ava ran .", "run . agent ( x _ 1 , Ava )"), ("", ""), ("a", "")] {
        let _ = learn([pair], &Settings::default()).predict(pair.0);
    }
    let quarrel = learn([("a b", "X"), ("a b", "Y"), ("", ""), ("a", ""), ("", "Z")], &Settings::default());
    let _ = quarrel.predict("a b");
}

#[test]
fn any_number_of_threads_learns_the_same() {
    let train = rows("scan/simple-p4", "train");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learn(train.clone(), &Settings::default()).save())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn hostile_input_to_predications_and_numbers() {
    let people = ["Ava", "Bo", "Cy"];
    let mut facts = Vec::new();
    let mut sums = Vec::new();
    for (i, a) in people.iter().enumerate() {
        for b in &people[i..] {
            for (verb, lemma) in [("saw", "see"), ("met", "meet")] {
                let target = format!("{lemma} . agent ( x _ 1 , {a} ) AND {lemma} . theme ( x _ 1 , {b} )");
                facts.push((format!("{a} {verb} {b} ."), target));
            }
        }
    }
    for x in 0..8 {
        sums.push((x.to_string(), x.to_string()));
        sums.extend((0..8).map(|y| (format!("{x} + {y}"), (x + y).to_string())));
    }
    // One source with two targets, and targets that are cut short.
    facts.push(("Ava saw Bo .".to_owned(), "see . agent ( x _ 1 ,".to_owned()));
    sums.push(("1 + 1".to_owned(), "7".to_owned()));
    let long_sum = ["1"; 500].join(" + ");
    let long_tale = ["Ava saw"; 500].join(" ");
    for model in [learn(facts, &Settings::default()), learn(sums, &Settings::default())] {
        for source in ["", "zyzzyva", "Ava zyzzyva Bo .", "1 + zyzzyva", "+ +", &long_sum, &long_tale] {
            let prediction = model.predict(source);
            assert!(prediction.abstained.is_some() || !prediction.text.is_empty(), "{source:.40}");
        }
    }
}
