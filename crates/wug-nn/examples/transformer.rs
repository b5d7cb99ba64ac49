//! Times training steps (forward, backward, Adam) and greedy decoding of Transformers and prints JSON lines:
//! `cargo run --release -p wug-nn --example transformer`. `benches/compare/torch_transformer.py` runs it beside PyTorch.
//!
//! With a width as its argument it times that width alone, and the memory is its own. With a file behind it, whose lines are
//! the lengths of a source and its answer, it times decoding of those as well.

use std::time::{Duration, Instant};

use wug_nn::kernels::Isa;
use wug_nn::transformer::{Config, TransformerNetwork};
use wug_nn::{Buffer, Engine, Lesson, Optimiser, Query, Rule, Sequence, Step};

const BATCH: u32 = 128;
const SOURCE: u32 = 12;
const TARGET: u32 = 24;
const WORDS: u32 = 100;

fn main() {
    // As training does: a thread outside of the pool would have to wake it several times a step.
    rayon::scope(|_| measure());
}

fn measure() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let widths: Vec<usize> = arguments.iter().filter_map(|width| width.parse().ok()).collect();
    let path = arguments.iter().find(|argument| argument.parse::<usize>().is_err());
    let lengths = path.map(|path| read(path)).unwrap_or_default();
    for width in if widths.is_empty() { vec![128, 256, 512] } else { widths } {
        let times = time(width, &lengths);
        println!(
            "{{\"width\":{width},\"step\":{:.3},\"greedy\":{:.3},\"uneven\":{:.3},\"megabytes\":{},\"isa\":\"{}\"}}",
            times.step * 1e3,
            times.greedy * 1e3,
            times.uneven * 1e3,
            times.megabytes,
            Isa::best()
        );
    }
}

/// The lengths of sources and their answers.
fn read(path: &str) -> Vec<(u32, usize)> {
    let text = std::fs::read_to_string(path).expect("a file of lengths");
    let pair = |line: &str| {
        let (source, answer) = line.split_once(' ')?;
        Some((source.parse().ok()?, answer.parse().ok()?))
    };
    text.lines().map(|line| pair(line).expect("two lengths in each line")).collect()
}

/// Seconds of the shortest training step, the shortest decoding of a batch and of examples of other lengths, and the memory
/// that the first two took.
struct Times {
    step: f64,
    greedy: f64,
    uneven: f64,
    megabytes: u64,
}

/// Two layers of encoder and decoder, as in PyTorch's `nn.Transformer`.
fn config(width: usize) -> Config {
    Config {
        width,
        heads: width / 32,
        feed_forward: 4 * width,
        embedding: width,
        attention_bias: true,
        ..Config::small(WORDS as usize, WORDS as usize)
    }
}

fn time(width: usize, lengths: &[(u32, usize)]) -> Times {
    let mut engine =
        Engine::new(TransformerNetwork::new(config(width)).expect("a valid configuration"), Isa::best());
    let mut state = 1u32;
    let unit = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    let mut values: Buffer<f32> = engine.network().layout().draw(unit);
    let mut optimiser = Optimiser::new(Rule::ADAM, values.len());
    let source = |(i, length): (u32, u32)| (0..length).map(|t| (i + 3 * t) % WORDS).collect();
    let sources: Vec<Vec<u32>> = (0..BATCH).map(|i| source((i, SOURCE))).collect();
    let word = |i: u32, t: u32| if t + 1 < TARGET { 1 + (i + t) % (WORDS - 1) } else { 0 };
    let targets: Vec<Vec<u32>> = (0..BATCH).map(|i| (0..TARGET).map(|t| word(i, t)).collect()).collect();
    let lesson = |(source, target)| Lesson { source: Sequence::Tokens(source), target, forced: true };
    let pairs = sources.iter().map(Vec::as_slice).zip(targets.iter().map(Vec::as_slice));
    let lessons: Vec<Lesson<'_>> = pairs.map(lesson).collect();
    let mut key = 0;
    let step = shortest(|| {
        key += 1;
        let step = Step { factor: 1.0 / f64::from(BATCH * TARGET), key: Some(key), smoothing: 0.0 };
        let (_, gradients) = engine.learn(&values, &lessons, step);
        optimiser.step(Isa::best(), &mut values, gradients, 1e-4, 5.0, 0.0);
    });
    let mut decode = |sources: &[Vec<u32>], answers: &[usize]| {
        let pairs = sources.iter().zip(answers);
        let queries: Vec<Query<'_>> = pairs
            .map(|(source, &length)| Query { source: Sequence::Tokens(source), length: Some(length) })
            .collect();
        let longest = answers.iter().copied().max().unwrap_or_default();
        shortest(|| {
            let answers = engine.answer(&values, &queries, longest);
            assert!(answers.iter().all(Option::is_some));
        })
    };
    // The end is the last word.
    let greedy = decode(&sources, &[TARGET as usize - 1; BATCH as usize]);
    let megabytes = megabytes();
    let sources: Vec<Vec<u32>> = (0..).zip(lengths.iter().map(|pair| pair.0)).map(source).collect();
    let answers: Vec<usize> = lengths.iter().map(|pair| pair.1).collect();
    let uneven = if lengths.is_empty() { 0.0 } else { decode(&sources, &answers) };
    Times { step, greedy, uneven, megabytes }
}

/// Seconds of the shortest of at least five.
fn shortest(mut work: impl FnMut()) -> f64 {
    let (mut best, start, mut done) = (f64::MAX, Instant::now(), 0);
    while done < 5 || start.elapsed() < Duration::from_secs(5) {
        let now = Instant::now();
        work();
        best = best.min(now.elapsed().as_secs_f64());
        done += 1;
    }
    best
}

/// The most memory that this process has had, where the system says so.
fn megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1024
}
