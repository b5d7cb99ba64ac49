//! Networks that see against PyTorch, as `scripts/fixtures/torch_vision.py` has run it in double precision: losses and gradients,
//! five steps of training, running statistics and what is answered with them.

use std::collections::BTreeMap;

use serde::Deserialize;
use wug_nn::kernels::Isa;
use wug_nn::recurrent::{self, Attention, Begin, Bridge, Cell, Output};
use wug_nn::vision::{Body, Classifier, Config, Encoder, Reader, Size};
use wug_nn::{Buffer, Engine, Images, Layout, Lesson, Optimiser, Query, Real, Rule, Sequence, Step};

const ADAM: Rule = Rule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: false };

#[derive(Deserialize)]
struct Fixture {
    config: Config,
    examples: usize,
    /// Of each step, summed over the examples.
    losses: Vec<f64>,
    gradients: BTreeMap<String, Sample>,
    /// After the steps.
    trained: BTreeMap<String, Sample>,
    answers: Vec<u32>,
}

/// The largest entry of a tensor and some others.
#[derive(Deserialize)]
struct Sample {
    largest: f64,
    some: Vec<f64>,
}

impl Sample {
    /// How far the entries are, as a share of the largest.
    fn apart<T: Real>(&self, ours: &[T]) -> f64 {
        let at = |i: usize| ours[i * ours.len() / self.some.len()].to_f64();
        let apart = self.some.iter().enumerate().map(|(i, theirs)| (at(i) - theirs).abs());
        let largest = ours.iter().map(|x| x.to_f64().abs()).fold(0.0, f64::max);
        assert!(ours.iter().all(|x| x.to_f64().is_finite()));
        apart.fold((largest - self.largest).abs(), f64::max) / self.largest
    }
}

fn fixtures() -> Vec<Fixture> {
    serde_json::from_str(include_str!("../testdata/vision.json")).unwrap()
}

/// Numbers from -1 to 1 that look random.
fn scattered(name: &str, count: usize) -> impl Iterator<Item = f64> {
    let seed = name.bytes().fold(0u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let mixed = |x: u32| (x ^ (x >> 16)).wrapping_mul(0x045D_9F3B);
    (0..count as u32).map(move |i| {
        let x = mixed(mixed(i.wrapping_mul(2_654_435_761).wrapping_add(seed)));
        f64::from(x ^ (x >> 16)) / f64::from(1u32 << 31) - 1.0
    })
}

/// The rule by which both sides fill parameters.
fn filled<T: Real>(layout: &Layout) -> Buffer<T> {
    let mut values = Vec::new();
    for tensor in layout.tensors() {
        let read = if tensor.name.ends_with(".kernels") { tensor.rows } else { tensor.columns };
        let is_one = matches!(tensor.name.rsplit('.').next(), Some("scale" | "running-variance"));
        let value = |x: f64| match tensor.rows {
            1 => 0.3 * x + f64::from(u8::from(is_one)),
            _ => x * (6.0 / read as f64).sqrt(),
        };
        let numbers = scattered(&tensor.name, tensor.rows * tensor.columns);
        // As single precision has them, so that both precisions compute the same.
        values.extend(numbers.map(|x| T::from_f64(f64::from(value(x) as f32))));
    }
    values.into()
}

/// Images and targets of a fixture.
struct Data {
    pixels: Vec<u8>,
    targets: Vec<[u32; 2]>,
}

impl Data {
    fn of(config: &Config, examples: usize) -> Self {
        let size = config.frames * config.size.height * config.size.width;
        let pixels = scattered("images", examples * size).map(|x| ((x + 1.0) * 127.5) as u8).collect();
        let targets = (0..examples).map(|i| [(i * 7 % config.classes) as u32 + 1, 0]).collect();
        Self { pixels, targets }
    }

    fn sources(&self, config: &Config) -> Vec<Sequence<'_>> {
        let (width, height) = (config.size.width, config.size.height);
        let images = self.pixels.chunks_exact(config.frames * width * height);
        images.map(|pixels| Sequence::Images(Images { pixels, width, height })).collect()
    }

    fn lessons(&self, config: &Config) -> Vec<Lesson<'_>> {
        let sources = self.sources(config).into_iter();
        sources.zip(&self.targets).map(|(source, target)| Lesson { source, target, forced: true }).collect()
    }
}

fn engine<T: Real>(config: &Config, isa: Isa) -> Engine<T> {
    Engine::new(Classifier::<T>::new(config.clone()).unwrap(), isa)
}

/// Compares loss and gradients with PyTorch's.
fn compare<T: Real>(fixture: &Fixture, isa: Isa, tolerance: f64) {
    let Fixture { config, examples, losses, gradients, .. } = fixture;
    let data = Data::of(config, *examples);
    let mut engine = engine::<T>(config, isa);
    let layout = engine.network().layout().clone();
    let step = Step { factor: 1.0 / *examples as f64, ..Step::PLAIN };
    let (outcome, ours) = engine.learn(&filled(&layout), &data.lessons(config), step);
    let apart = (outcome.loss / losses[0] - 1.0).abs();
    assert!(apart < tolerance, "the loss is {}, not {}: {config:?}", outcome.loss, losses[0]);
    let mut seen = 0;
    for tensor in layout.tensors() {
        let ours = &ours[tensor.range()];
        let Some(theirs) = gradients.get(&tensor.name) else {
            assert!(tensor.name.contains(".running-"), "{}", tensor.name);
            assert!(ours.iter().all(|&x| x == T::ZERO), "{} has no gradient", tensor.name);
            continue;
        };
        let apart = theirs.apart(ours);
        assert!(apart < tolerance, "{} is {apart:.1e} apart with {isa}: {config:?}", tensor.name);
        seen += 1;
    }
    assert_eq!(seen, gradients.len());
}

fn isas() -> impl Iterator<Item = Isa> {
    Isa::NAMES.iter().filter_map(|name| Isa::named(name))
}

#[test]
fn losses_and_gradients_match_pytorch() {
    for fixture in &fixtures() {
        compare::<f64>(fixture, Isa::best(), 1e-9);
        isas().for_each(|isa| compare::<f32>(fixture, isa, 1e-4));
    }
}

#[test]
fn five_steps_of_training_match_pytorch() {
    let trained = fixtures().into_iter().filter(|fixture| !fixture.trained.is_empty());
    let mut seen = 0;
    for Fixture { config, examples, losses, trained, answers, .. } in trained {
        let data = Data::of(&config, examples);
        let (lessons, sources) = (data.lessons(&config), data.sources(&config));
        let mut engine = engine::<f64>(&config, Isa::best());
        let layout = engine.network().layout().clone();
        let mut values = filled(&layout);
        let mut optimiser = Optimiser::new(ADAM, values.len());
        for theirs in losses {
            let step = Step { factor: 1.0 / examples as f64, ..Step::PLAIN };
            let (outcome, gradients) = engine.learn(&values, &lessons, step);
            assert!((outcome.loss / theirs - 1.0).abs() < 1e-8, "{} not {theirs}: {config:?}", outcome.loss);
            optimiser.step(Isa::best(), &mut values, gradients, 1e-3, 0.0, 0.0);
            engine.update_running(&mut values);
        }
        for tensor in layout.tensors() {
            let apart = trained[&tensor.name].apart(&values[tensor.range()]);
            assert!(apart < 1e-6, "{} is {apart:.1e} apart: {config:?}", tensor.name);
        }
        let queries: Vec<Query<'_>> = sources.iter().map(|&source| Query { source, length: None }).collect();
        let said: Vec<u32> =
            engine.answer(&values, &queries, 8).into_iter().map(|said| said.unwrap()[0] - 1).collect();
        assert_eq!(said, answers, "{config:?}");
        seen += 1;
    }
    assert_eq!(seen, 4);
}

/// What the loss changes by when a parameter does, a few of each tensor.
#[test]
fn gradients_are_differences_of_losses() {
    for Fixture { config, examples, .. } in fixtures().into_iter().take(6) {
        let data = Data::of(&config, examples);
        let lessons = data.lessons(&config);
        let mut engine = engine::<f64>(&config, Isa::best());
        let layout = engine.network().layout().clone();
        let mut values = filled::<f64>(&layout);
        let gradients = engine.learn(&values, &lessons, Step::PLAIN).1.to_vec();
        for tensor in layout.tensors().iter().filter(|tensor| !tensor.name.contains(".running-")) {
            let range = tensor.range();
            let largest = gradients[range.clone()].iter().fold(0f64, |a, b| a.max(b.abs()));
            for i in [range.start, range.start + range.len() / 2, range.end - 1] {
                let (at, small) = (values[i], 1e-6);
                let mut loss = |x: f64| {
                    values[i] = x;
                    engine.learn(&values, &lessons, Step::PLAIN).0.loss
                };
                let slope = (loss(at + small) - loss(at - small)) / (2.0 * small);
                values[i] = at;
                let apart = (slope - gradients[i]).abs() / largest;
                assert!(apart < 1e-4, "{}: {slope}, not {} ({largest})", tensor.name, gradients[i]);
            }
        }
    }
}

/// A run that was begun on one machine goes on to the same bits on another, whatever threads they have.
#[test]
fn threads_and_vectors_do_not_change_a_bit() {
    for Fixture { config, examples, .. } in fixtures().into_iter().take(6) {
        let data = Data::of(&config, examples);
        let bits = |isa, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut engine = engine::<f32>(&config, isa);
            let values = filled(engine.network().layout());
            let step = Step { key: Some(7), ..Step::PLAIN };
            pool.install(|| {
                let (outcome, gradients) = engine.learn(&values, &data.lessons(&config), step);
                (outcome.loss.to_bits(), gradients.iter().map(|x| x.to_bits()).collect::<Vec<u32>>())
            })
        };
        for isa in isas() {
            assert!(bits(isa, 1) == bits(isa, 3), "{isa}: {config:?}");
        }
        if let [Some(wide), Some(narrow)] = ["avx512", "avx2"].map(Isa::named) {
            assert!(bits(wide, 2) == bits(narrow, 2), "{config:?}");
        }
    }
}

/// What makes a configuration wrong, and a piece of the message.
type Wrong = (fn(&mut Config), &'static str);

#[test]
fn what_is_no_network_is_refused() {
    let wrong: [Wrong; 4] = [
        (|config| config.size.height = 0, "cannot be read"),
        (|config| config.size = wug_nn::vision::Size { height: 3, width: 3 }, "use larger images"),
        (|config| config.frames = 0, "1 to 64 images"),
        (|config| config.classes = 0, "at least one class"),
    ];
    for (change, message) in wrong {
        let mut config = fixtures().swap_remove(0).config;
        change(&mut config);
        let error = Classifier::<f32>::new(config).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

/// A small LSTM with attention that reads images of 16 x 16 pixels.
fn reader<T: Real>() -> Reader<T> {
    let config = recurrent::Config {
        cell: Cell::Lstm,
        encoder_layers: 1,
        decoder_layers: 1,
        hidden: 4,
        embedding: 3,
        bidirectional: true,
        attention: Attention::Additive,
        attention_bias: true,
        dependence: true,
        begin: Begin::Learned,
        bridge: Bridge::Linear,
        output: Output::Joint,
        dropout: 0.0,
        source_words: 2,
        target_words: 4,
    };
    let encoder = Encoder {
        size: Size { height: 16, width: 16 },
        pixel: 1.0 / 255.0,
        body: Body::Residual { widths: vec![4, 8], blocks: 1 },
        embedding: 3,
        words: 2,
        end: 1,
    };
    let model = Box::new(recurrent::RecurrentNetwork::new(config).unwrap());
    Reader::new(encoder, model).unwrap()
}

/// The encoder and the sequence model have the gradients of one network.
#[test]
fn a_sequence_model_and_its_encoder_learn_together() {
    const SIZE: usize = 16 * 16;
    let pixels: Vec<u8> = scattered("windows", 9 * SIZE).map(|x| ((x + 1.0) * 127.5) as u8).collect();
    let images = |range: std::ops::Range<usize>| {
        let pixels = &pixels[range.start * SIZE..range.end * SIZE];
        Sequence::Images(Images { pixels, width: 16, height: 16 })
    };
    let lesson = |range, target| Lesson { source: images(range), target, forced: true };
    let lessons = [lesson(0..4, &[1, 2, 0]), lesson(4..5, &[3, 0]), lesson(5..9, &[2, 2, 1, 0])];
    let mut engine = Engine::new(reader::<f64>(), Isa::best());
    let layout = engine.network().layout().clone();
    let mut values = filled::<f64>(&layout);
    let gradients = engine.learn(&values, &lessons, Step::PLAIN).1.to_vec();
    let largest = gradients.iter().fold(0f64, |a, b| a.max(b.abs()));
    for tensor in layout.tensors().iter().filter(|tensor| !tensor.name.contains(".running-")) {
        let range = tensor.range();
        for i in [range.start, range.start + range.len() / 2, range.end - 1] {
            let (at, small) = (values[i], 1e-6);
            let mut loss = |x: f64| {
                values[i] = x;
                engine.learn(&values, &lessons, Step::PLAIN).0.loss
            };
            let slope = (loss(at + small) - loss(at - small)) / (2.0 * small);
            values[i] = at;
            let apart = (slope - gradients[i]).abs() / largest;
            assert!(apart < 1e-6, "{}: {slope}, not {}", tensor.name, gradients[i]);
        }
    }
    // What is asked beside it does not change an answer, nor does what was asked before.
    let queries: Vec<Query<'_>> =
        lessons.iter().map(|lesson| Query { source: lesson.source, length: None }).collect();
    let answers = engine.answer(&values, &queries, 6);
    for (query, answer) in queries.iter().zip(&answers) {
        assert_eq!(&engine.answer(&values, &[*query, *query], 6), &[answer.clone(), answer.clone()]);
    }
}
