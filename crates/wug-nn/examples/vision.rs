//! Times training steps of networks that see (forward, backward, clipping, Adam) and prints a JSON line for each:
//! `cargo run --release -p wug-nn --example vision`. `benches/compare/torch_vision.py` runs it beside PyTorch.
//!
//! With a word, `mns-cnn` or `resnet18`, only that network, so that the peak of memory is its own. With `--turns` it measures
//! anew whenever it reads a line, so that others can be measured in turn with it.

use std::io::{BufRead, stdin};
use std::time::{Duration, Instant};

use wug_nn::kernels::{Isa, peak};
use wug_nn::vision::{Body, Classifier, Config, Head, Size};
use wug_nn::{Buffer, Engine, Images, Lesson, Network, Optimiser, Rule, Sequence, Step};

const ADAM: Rule = Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: false };

/// A network, how many examples of it an update has, and the multiplications and additions of a step as PyTorch counts them.
struct Case {
    name: &'static str,
    config: Config,
    examples: usize,
    operations: f64,
}

fn cases() -> [Case; 2] {
    let square = |side| Size { height: side, width: side };
    let hidden = |units| Head::Hidden { units, dropout: 0.5 };
    let plain = Body::Plain { widths: vec![32; 4], padding: 0, rectify_first: false };
    let cnn = Config { frames: 3, size: square(80), pixel: 1.0, body: plain, head: hidden(512), classes: 99 };
    let resnet = Config {
        frames: 3,
        size: square(32),
        pixel: 1.0 / 255.0,
        body: Body::resnet18(),
        head: hidden(128),
        classes: 20,
    };
    [
        Case { name: "mns-cnn", config: cnn, examples: 32, operations: 0.36e9 * 3.0 },
        Case { name: "resnet18", config: resnet, examples: 256, operations: 57e9 },
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
        report(&case, turns);
    }
}

fn report(case: &Case, turns: bool) {
    let mut step = prepare(case);
    let (threads, peak) = (rayon::current_num_threads(), peak(Isa::best()));
    let mut turn = || {
        let seconds = shortest(&mut step);
        let flops = case.operations / seconds;
        println!(
            "{{\"model\":\"{}\",\"batch\":{},\"milliseconds\":{:.2},\"isa\":\"{}\",\"threads\":{threads},\
             \"gflops\":{:.1},\"share_of_peak\":{:.3},\"peak_kilobytes\":{}}}",
            case.name,
            case.examples,
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
fn prepare(case: &Case) -> impl FnMut() {
    let Case { config, examples, .. } = case;
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let network = Classifier::<f32>::new(config.clone()).expect("a network");
    let mut values: Buffer<f32> = network.layout().draw(|| f64::from(next()) / f64::from(1 << 24));
    let Size { height, width } = config.size;
    let size = config.frames * height * width;
    let pixels: Vec<u8> = (0..examples * size).map(|_| (next() >> 8) as u8).collect();
    let targets: Vec<[u32; 2]> = (0..*examples).map(|_| [next() % config.classes as u32 + 1, 0]).collect();
    let mut optimiser = Optimiser::new(ADAM, values.len());
    let mut engine = Engine::new(network, Isa::best());
    let step = Step { factor: 1.0 / *examples as f64, key: Some(1), smoothing: 0.0 };
    move || {
        let lesson = |(pixels, target)| Lesson {
            source: Sequence::Images(Images { pixels, width, height }),
            target,
            forced: true,
        };
        let targets = targets.iter().map(|target| &target[..]);
        let lessons: Vec<Lesson<'_>> = pixels.chunks_exact(size).zip(targets).map(lesson).collect();
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
