//! Times training steps (forward, backward, clipping, Adam) and prints a JSON line for each model:
//! `cargo run --release -p wug-nn --example step`. `benches/compare/torch.py` runs it beside PyTorch.
//!
//! With two words, `lstm 32` or `lstm-attn 32`, only that model and batch, so that the peak of memory is its own. A third, such as
//! `flex`, is another device than the CPU, if it was compiled in with `--features flex`. With `--turns` it measures anew whenever
//! it reads a line, so that others can be measured in turn with it.

use std::io::{BufRead, stdin};
use std::time::{Duration, Instant};

use wug_nn::kernels::{Isa, peak};
use wug_nn::recurrent::{Attention, Begin, Bridge, Cell, Config, Output, RecurrentNetwork};
use wug_nn::{Buffer, Device, Engine, Lesson, Optimiser, Rule, Sequence, Step};

const LAYERS: usize = 2;
const HIDDEN: usize = 200;
const SOURCE: usize = 8;
const TARGET: usize = 16;
const WORDS: usize = 10;

fn main() {
    // As training does: a thread outside of the pool would have to wake it several times a step.
    rayon::scope(|_| measure());
}

fn measure() {
    let (flags, given): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let turns = flags.iter().any(|flag| flag == "--turns");
    let device =
        given.get(2).map_or(Some(Device::Cpu), |name| Device::named(name)).expect("the name of a device");
    for attention in [false, true] {
        for batch in [1, 32, 128] {
            let name = if attention { "lstm-attn" } else { "lstm" };
            if given.is_empty() || (given[0] == name && given[1] == batch.to_string()) {
                report(name, attention, batch, device, turns);
            }
        }
    }
}

fn report(name: &str, attention: bool, batch: u32, device: Device, turns: bool) {
    let mut step = prepare(attention, batch, device);
    let (threads, peak) = (rayon::current_num_threads(), peak(Isa::best()));
    let mut turn = || {
        let seconds = shortest(&mut step);
        let flops = f64::from(batch) * operations(attention, batch) / seconds;
        let share = flops / (peak * threads as f64);
        println!(
            "{{\"model\":\"{name}\",\"batch\":{batch},\"device\":\"{device}\",\"milliseconds\":{:.3},\"isa\":\"{}\",\
             \"threads\":{threads},\"gflops\":{:.1},\"share_of_peak\":{share:.3},\"peak_kilobytes\":{}}}",
            seconds * 1e3,
            Isa::best(),
            flops / 1e9,
            peak_memory().unwrap_or_default(),
        );
    };
    if turns {
        stdin().lock().lines().for_each(|_| turn());
    } else {
        turn();
    }
}

/// Additions and multiplications of an example's products, forward and twice as many back. In large batches the words of the
/// first layers are multiplied once for all places, and what is attended to once for each word of the source; the zeros that
/// the encoder begins with are not multiplied.
fn operations(attention: bool, batch: u32) -> f64 {
    let cell = 4 * HIDDEN * 2 * HIDDEN;
    let words = if batch > 1 { SOURCE + TARGET } else { 0 };
    let saved = (words + LAYERS) * 4 * HIDDEN * HIDDEN;
    let attended = SOURCE * (4 * HIDDEN + HIDDEN) * HIDDEN + TARGET * (HIDDEN + WORDS) * HIDDEN;
    let attended = if attention { attended } else { 0 };
    let products = (SOURCE + TARGET) * LAYERS * cell + TARGET * HIDDEN * WORDS + attended;
    6.0 * (products - saved) as f64
}

/// The most memory that this process has had, in kilobytes, where the system says so.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Makes a model and a batch; each call takes a step.
fn prepare(attention: bool, batch: u32, device: Device) -> impl FnMut() {
    let config = Config {
        cell: Cell::Lstm,
        encoder_layers: LAYERS,
        decoder_layers: LAYERS,
        hidden: HIDDEN,
        embedding: HIDDEN,
        bidirectional: false,
        attention: if attention { Attention::Additive } else { Attention::None },
        attention_bias: false,
        dependence: true,
        begin: Begin::Learned,
        bridge: Bridge::Copy,
        output: if attention { Output::Context } else { Output::State },
        dropout: 0.0,
        source_words: 20,
        target_words: WORDS,
    };
    let model = RecurrentNetwork::new(config).expect("a valid configuration");
    let mut state = 1u32;
    let mut unit = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    let mut values: Buffer<f32> = model.layout().draw(&mut unit);
    let mut optimiser = Optimiser::new(Rule::ADAM, values.len());
    let (source, target) = (SOURCE as u32, TARGET as u32);
    let sources: Vec<Vec<u32>> =
        (0..batch).map(|i| (0..source).map(|t| (i + 3 * t) % 20).collect()).collect();
    let targets: Vec<Vec<u32>> = (0..batch)
        .map(|i| (0..target).map(|t| if t + 1 < target { (i + t) % 9 + 1 } else { 0 }).collect())
        .collect();
    let step = Step { factor: 1.0 / f64::from(batch), ..Step::PLAIN };
    let mut engine = Engine::on(device, Box::new(model), Isa::best()).expect("a device that is there");
    move || {
        let pairs = sources.iter().zip(&targets);
        let lessons: Vec<Lesson<'_>> = pairs
            .map(|(source, target)| Lesson { source: Sequence::Tokens(source), target, forced: true })
            .collect();
        let (_, gradients) = engine.learn(&values, &lessons, step);
        optimiser.step(Isa::best(), &mut values, gradients, 1e-3, 5.0, 0.0);
    }
}

/// The seconds of the shortest step of two seconds, and of five at least.
fn shortest(step: &mut impl FnMut()) -> f64 {
    let (mut best, start, mut steps) = (f64::MAX, Instant::now(), 0);
    while steps < 5 || start.elapsed() < Duration::from_secs(2) {
        let now = Instant::now();
        step();
        best = best.min(now.elapsed().as_secs_f64());
        steps += 1;
    }
    best
}
