//! How long COGS takes to make and to score: `cargo bench -p wug-bench --bench cogs`.

use divan::Bencher;
use rayon::prelude::*;

use wug_bench::cogs::convert::{Draws, Variant, convert};
use wug_bench::cogs::lf::{Form, Notation};
use wug_bench::cogs::score::sem_text;
use wug_bench::cogs::sem::compare;
use wug_bench::{Benchmark, Source, cogs::Cogs, cogs::splits};
use wug_data::Streams;

fn main() {
    divan::main();
}

/// All parts: 30,155 + 21,000 rows.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn make_main() -> usize {
    Cogs.make("main", &Source::Seed(0)).expect("a draw").table.inputs.len()
}

/// Targets of the generalization part, and predictions that say the same in other words.
fn pairs() -> Vec<(String, String)> {
    let rows = splits::generalization(0);
    let targets = convert(Variant::RecogsV2, "gen", rows.clone(), Draws::Seed(0)).expect("well formed");
    let others = convert(Variant::RecogsV2, "gen", rows, Draws::Seed(1)).expect("well formed");
    let streams = Streams::new("bench", "sem", 0);
    let shuffled = others.iter().enumerate().map(|(i, row)| {
        let mut form = Form::parse(&row.form, Notation::Recogs).expect("well formed");
        streams.item(i as u64).shuffle(&mut form.conjuncts);
        form.print(Notation::Recogs)
    });
    targets.iter().map(|row| row.form.clone()).zip(shuffled).collect()
}

/// 21,000 predictions, all right, on all cores.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn sem_right(bencher: Bencher<'_, '_>) {
    let pairs = pairs();
    bencher.bench(|| {
        let right = |(target, said): &&(String, String)| sem_text(target, said, Notation::Recogs).correct;
        let right = pairs.par_iter().filter(right).count();
        assert_eq!(right, pairs.len());
    });
}

/// 21,000 predictions, all wrong, with a reason each, on all cores.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn sem_wrong(bencher: Bencher<'_, '_>) {
    let pairs = pairs();
    bencher.bench(|| {
        let wrong = (0..pairs.len()).into_par_iter().filter(|&i| {
            let said = pairs[(i + 1) % pairs.len()].1.replacen(" ( ", " ( 1 ) AND extra ( ", 1);
            !sem_text(&pairs[i].0, &said, Notation::Recogs).correct
        });
        assert_eq!(wrong.count(), pairs.len());
    });
}

/// 1,000 pairs of forms that are made to be hard to tell apart.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn sem_adversarial(bencher: Bencher<'_, '_>) {
    let texts: Vec<(String, String)> = (0..1000).map(adversarial).collect();
    bencher.bench(|| {
        let decided = texts.iter().filter(|(a, b)| {
            let form = |text| Form::parse(text, Notation::Recogs).expect("well formed");
            compare(&form(a), &form(b)) != wug_bench::cogs::sem::Match::Undecided
        });
        assert_eq!(decided.count(), 1000);
    });
}

/// Look-alike entities, long chains of `that`, structures said many times, cycles of look-alikes.
fn adversarial(i: usize) -> (String, String) {
    let join = |list: Vec<String>| list.join(" AND ");
    let entities = || join((0..20).map(|i| format!("girl ( {i} )")).collect());
    let chain = |n: usize| {
        join(
            (0..n)
                .map(|i| format!("like ( {i} ) AND agent ( {i} , 99 ) AND ccomp ( {i} , {} )", i + 1))
                .collect(),
        )
    };
    let copies = |n: usize| {
        let one = |i: usize| {
            format!(
                "girl ( {0} ) AND girl ( {1} ) AND like ( {2} ) AND agent ( {2} , {0} ) AND theme ( {2} , {1} )",
                3 * i,
                3 * i + 1,
                3 * i + 2
            )
        };
        join((0..n).map(one).collect())
    };
    let cycle = |start: usize, n: usize| {
        join((0..n).map(|i| format!("r ( {} , {} )", start + i, start + (i + 1) % n)).collect())
    };
    match i % 5 {
        0 => (entities(), format!("{} AND girl ( 0 )", entities())),
        1 => (chain(40 + i % 7), chain(40 + i % 7)),
        2 => (chain(40), chain(41)),
        3 => (copies(10), copies(10)),
        _ => (cycle(0, 20), format!("{} AND {}", cycle(0, 10), cycle(10, 10))),
    }
}
