//! Enumerating, indexing, sampling and parsing a language of the size of SCAN.
//!
//! `cargo bench -p wug-grammar`

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use wug_grammar::{Algebra, Arena, Grammar, Parser, Space, Strings};

const COMMANDS: &str = "
    plain: C -> S
    and: C -> S and S
    after: C -> S after S
    once: S -> V
    twice: S -> V twice
    thrice: S -> V thrice
    direct: V -> U D
    around: V -> U around D
    U -> walk | look | run | jump | turn
    D -> left | right | up | down
";

fn language() -> (Grammar, Strings) {
    Grammar::parse(COMMANDS).expect("well formed")
}

fn main() {
    divan::main();
}

#[divan::bench]
fn enumerate(bencher: divan::Bencher) {
    let (grammar, _) = language();
    bencher.bench_local(|| {
        let mut arena = Arena::new();
        Space::all(&grammar, grammar.sort("C").unwrap()).unwrap().enumerate(&mut arena).unwrap().len()
    });
}

#[divan::bench]
fn enumerate_and_say(bencher: divan::Bencher) {
    let (grammar, words) = language();
    bencher.bench_local(|| {
        let mut arena = Arena::new();
        Space::all(&grammar, grammar.sort("C").unwrap()).unwrap().enumerate(&mut arena).unwrap();
        words.buffer().evaluate_all(&arena).len()
    });
}

#[divan::bench]
fn sample_one(bencher: divan::Bencher) {
    let (grammar, _) = language();
    let space = Space::all(&grammar, grammar.sort("C").unwrap()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    bencher.bench_local(|| space.sample(&mut Arena::new(), &mut rng));
}

#[divan::bench]
fn parse_one(bencher: divan::Bencher) {
    let (grammar, words) = language();
    let parser = Parser::new(&grammar, &words).unwrap();
    let sentence = parser.words("jump around left twice after walk around up thrice").unwrap();
    let sort = grammar.sort("C").unwrap();
    bencher.bench_local(|| parser.parse(sort, &sentence).is_empty());
}
