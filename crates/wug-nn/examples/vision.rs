//! Times training steps of networks that see (forward, backward, clipping, Adam) and prints a JSON line for each:
//! `cargo run --release -p wug-nn --example vision`. `benches/compare/torch_vision.py` runs it beside PyTorch.
//!
//! With a word, `mns-cnn`, `resnet18`, `hint-lstm-attn` or `relation-network`, only that network, so that the peak of memory is its own. With `--turns` it measures
//! anew whenever it reads a line, so that others can be measured in turn with it.

use std::io::{BufRead, stdin};
use std::time::{Duration, Instant};

use wug_nn::kernels::{Isa, peak};
use wug_nn::recurrent::{self, Attention, Begin, Bridge, Cell, Output};
use wug_nn::vision::{Body, Classifier, Config, Encoder, Head, Reader, Size};
use wug_nn::{Buffer, Engine, Images, Lesson, Network, Optimiser, Rule, Sequence, Step};

const ADAM: Rule = Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: false };

/// A network, and how many examples an update has, of how many images and of what size; the length of targets; and the
/// additions and multiplications of a step as PyTorch makes them, which multiplies the zeros around feature maps, too.
struct Case {
    name: &'static str,
    network: Box<dyn Network<f32>>,
    examples: usize,
    frames: usize,
    side: usize,
    target: (usize, u32),
    operations: f64,
}

/// Operations of the forward and backward pass of a ResNet-18 for a window of 32 x 32 pixels.
const WINDOW: f64 = 55.6e9 / 256.0;

fn cases() -> [Case; 4] {
    let square = |side| Size { height: side, width: side };
    let classifier = |side, pixel, body, units, classes| {
        let head = Head::Hidden { units, dropout: 0.5 };
        let config = Config { frames: 3, size: square(side), pixel, body, head, classes };
        Box::new(Classifier::new(config).expect("a network"))
    };
    let relation = Box::new(
        Classifier::new(Config {
            frames: 3,
            size: square(80),
            pixel: 1.0,
            body: Body::Plain { widths: vec![24; 4], padding: 1, rectify_first: true },
            head: Head::Relation { units: 256, dropout: 0.5 },
            classes: 99,
        })
        .expect("a network"),
    );
    let plain = Body::Plain { widths: vec![32; 4], padding: 0, rectify_first: false };
    let (hidden, embedding, words, symbols, length) = (512, 128, 11, 12, 4);
    let config = recurrent::Config {
        cell: Cell::Lstm,
        encoder_layers: 3,
        decoder_layers: 1,
        hidden,
        embedding,
        bidirectional: true,
        attention: Attention::Additive,
        attention_bias: true,
        dependence: true,
        begin: Begin::Learned,
        bridge: Bridge::Linear,
        output: Output::Joint,
        dropout: 0.1,
        source_words: 2,
        target_words: words,
    };
    let encoder =
        Encoder { size: square(32), pixel: 1.0 / 255.0, body: Body::resnet18(), embedding, words: 2, end: 1 };
    let model = Box::new(recurrent::RecurrentNetwork::new(config).expect("a network"));
    let reader = Box::new(Reader::new(encoder, model).expect("a network"));
    // Four gates of three layers and two directions for each symbol; decoder, attention and output for each word.
    let layers = 2 * 4 * hidden * ((embedding + hidden) + 2 * (3 * hidden));
    let decoder = 4 * hidden * (embedding + 3 * hidden) + hidden * hidden + words * (embedding + 3 * hidden);
    let attended = symbols * 2 * hidden * hidden;
    let sequence = 6.0 * ((symbols + 1) * layers + (length + 1) * decoder + attended) as f64;
    [
        Case {
            name: "mns-cnn",
            network: classifier(80, 1.0, plain, 512, 99),
            examples: 32,
            frames: 3,
            side: 80,
            target: (1, 99),
            operations: 1.04e9,
        },
        Case {
            name: "resnet18",
            network: classifier(32, 1.0 / 255.0, Body::resnet18(), 128, 20),
            examples: 256,
            frames: 3,
            side: 32,
            target: (1, 20),
            operations: 256.0 * WINDOW,
        },
        Case {
            name: "hint-lstm-attn",
            network: reader,
            examples: 32,
            frames: symbols,
            side: 32,
            target: (length, 10),
            operations: 32.0 * (symbols as f64 * WINDOW + sequence),
        },
        Case {
            name: "relation-network",
            network: relation,
            examples: 32,
            frames: 3,
            side: 80,
            target: (1, 99),
            // Three layers of 256 units over 625 pairs, forward and backward; the rest is a fiftieth.
            operations: 6.0 * 32.0 * 625.0 * 3.0 * 256.0 * 256.0,
        },
    ]
}

fn main() {
    // As training does: a thread outside of the pool would have to wake it several times a step.
    rayon::scope(|_| measure());
}

fn measure() {
    let (flags, given): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let turns = flags.iter().any(|flag| flag == "--turns");
    for case in cases().into_iter().filter(|case| given.is_empty() || given[0] == case.name) {
        report(case, turns);
    }
}

fn report(case: Case, turns: bool) {
    let (name, examples, operations) = (case.name, case.examples, case.operations);
    let mut step = prepare(case);
    let (threads, peak) = (rayon::current_num_threads(), peak(Isa::best()));
    let mut turn = || {
        let seconds = shortest(&mut step);
        let flops = operations / seconds;
        println!(
            "{{\"model\":\"{name}\",\"batch\":{examples},\"milliseconds\":{:.2},\"isa\":\"{}\",\"threads\":{threads},\
             \"gflops\":{:.1},\"share_of_peak\":{:.3},\"peak_kilobytes\":{}}}",
            seconds * 1e3,
            Isa::best(),
            flops / 1e9,
            flops / (peak * threads as f64),
            peak_memory().unwrap_or_default(),
        );
    };
    if turns {
        stdin().lock().lines().for_each(|_| turn());
    } else {
        turn();
    }
}

/// A step of training on images of noise.
fn prepare(case: Case) -> impl FnMut() {
    let Case { network, examples, frames, side, target: (length, words), .. } = case;
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut values: Buffer<f32> = network.layout().draw(|| f64::from(next()) / f64::from(1 << 24));
    let size = frames * side * side;
    let pixels: Vec<u8> = (0..examples * size).map(|_| (next() >> 8) as u8).collect();
    let mut target = || (0..length).map(|_| next() % words + 1).chain([0]).collect();
    let targets: Vec<Vec<u32>> = (0..examples).map(|_| target()).collect();
    let mut optimiser = Optimiser::new(ADAM, values.len());
    let mut engine = Engine::boxed(network, Isa::best());
    let step = Step { factor: 1.0 / examples as f64, key: Some(1), smoothing: 0.0 };
    move || {
        let source = |pixels| Sequence::Images(Images { pixels, width: side, height: side });
        let pairs = pixels.chunks_exact(size).zip(&targets);
        let lessons: Vec<Lesson<'_>> =
            pairs.map(|(pixels, target)| Lesson { source: source(pixels), target, forced: true }).collect();
        let (outcome, gradients) = engine.learn(&values, &lessons, step);
        assert!(outcome.loss.is_finite());
        optimiser.step(Isa::best(), &mut values, gradients, 1e-4, 5.0, 0.0);
        engine.update_running(&mut values);
    }
}

/// The shortest of many steps, over at least a second.
fn shortest(step: &mut impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut least = f64::INFINITY;
    while begin.elapsed() < Duration::from_secs(2) {
        let start = Instant::now();
        step();
        least = least.min(start.elapsed().as_secs_f64());
    }
    least
}

/// The most memory that this process has had, in kilobytes, where the system says so.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
