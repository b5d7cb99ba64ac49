//! Times one training step (forward, backward, Adam) and prints JSON lines: `cargo run --release -p wug-nn --example step`.
//! `benches/compare/torch.py` runs it beside PyTorch.

use std::time::{Duration, Instant};

use wug_nn::kernels::Isa;
use wug_nn::recurrent::{Begin, Bridge, Cell, Config, Model, Output};
use wug_nn::{Engine, Lesson, Optimiser, Rule, Step};

fn main() {
    for attention in [false, true] {
        for batch in [1, 32, 128] {
            let seconds = time(attention, batch);
            println!(
                "{{\"attention\":{attention},\"batch\":{batch},\"milliseconds\":{:.3},\"isa\":\"{}\"}}",
                seconds * 1e3,
                Isa::best()
            );
        }
    }
}

/// The shortest step of a two-layer LSTM of 200 units, source 8, target 16 words.
fn time(attention: bool, batch: u32) -> f64 {
    let config = Config {
        cell: Cell::Lstm,
        encoder_layers: 2,
        decoder_layers: 2,
        hidden: 200,
        embedding: 200,
        bidirectional: false,
        attention,
        dependence: true,
        begin: Begin::Learned,
        bridge: Bridge::Copy,
        output: Output::State,
        dropout: 0.0,
        source_words: 20,
        target_words: 10,
    };
    let model = Model::new(config).expect("a valid configuration");
    let mut state = 1u32;
    let mut unit = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    let mut values: Vec<f32> = model.layout().draw(&mut unit);
    let mut optimiser = Optimiser::new(Rule::ADAM, values.len());
    let sources: Vec<Vec<u32>> = (0..batch).map(|i| (0..8).map(|t| (i + 3 * t) % 20).collect()).collect();
    let targets: Vec<Vec<u32>> =
        (0..batch).map(|i| (0..16).map(|t| (i + t) % 9 + u32::from(t < 15)).collect()).collect();
    let lesson = |(source, target)| Lesson { source, target, forced: true };
    let pairs = sources.iter().map(Vec::as_slice).zip(targets.iter().map(Vec::as_slice));
    let lessons: Vec<Lesson<'_>> = pairs.map(lesson).collect();
    let mut engine = Engine::new(model, Isa::best());
    let (mut best, start) = (f64::MAX, Instant::now());
    let mut steps = 0;
    while steps < 5 || start.elapsed() < Duration::from_secs(4) {
        let now = Instant::now();
        let (_, gradients) =
            engine.learn(&values, &lessons, Step { factor: 1.0 / f64::from(batch), ..Step::PLAIN });
        optimiser.step(Isa::best(), &mut values, gradients, 1e-3, 5.0, 0.0);
        best = best.min(now.elapsed().as_secs_f64());
        steps += 1;
    }
    best
}
