//! Every model against PyTorch: loss and gradients within 1e-5 of each tensor's largest entry, in single precision; on a GPU
//! within 1e-4.

use std::collections::BTreeMap;

use serde::Deserialize;
use wug_nn::kernels::Isa;
use wug_nn::{Engine, Layout, Lesson, Network, Sequence, Step, recurrent, transformer};

type Pairs = Vec<(Vec<u32>, Vec<u32>)>;
type Gradients = BTreeMap<String, Vec<f32>>;

/// A model, and what PyTorch computed of it.
struct Case {
    name: String,
    build: Box<dyn Fn() -> Box<dyn Network<f32>>>,
    values: Vec<f32>,
    lessons: Pairs,
    smoothing: f64,
    loss: f64,
    gradients: Gradients,
}

/// The 22 recurrent models of `scripts/fixtures/torch_fixtures.py`.
fn recurrent_models() -> Vec<Case> {
    #[derive(Deserialize)]
    struct Fixtures {
        scale: f64,
        lessons: Pairs,
        models: Vec<Fixture>,
    }
    #[derive(Deserialize)]
    struct Fixture {
        config: recurrent::Config,
        loss: f64,
        gradients: Gradients,
    }
    let Fixtures { scale, lessons, models } =
        serde_json::from_str(include_str!("../testdata/torch.json")).unwrap();
    assert_eq!(models.len(), 22);
    let case = |Fixture { config, loss, gradients }| {
        let model = recurrent::RecurrentNetwork::new(config).unwrap();
        let (name, values) = (format!("{:?}", model.config()), drawn(model.layout(), scale));
        let build = Box::new(move || Box::new(model.clone()) as Box<dyn Network<f32>>);
        Case { name, build, values, lessons: lessons.clone(), smoothing: 0.0, loss, gradients }
    };
    models.into_iter().map(case).collect()
}

/// One congruence over the sorted names.
fn drawn(layout: &Layout, scale: f64) -> Vec<f32> {
    let mut tensors: Vec<_> = layout.tensors().iter().collect();
    tensors.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let mut values = vec![0.0; layout.len()];
    let mut state = 1u32;
    for tensor in tensors {
        for value in &mut values[tensor.range()] {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *value = ((f64::from(state >> 8) / f64::from(1 << 23) - 1.0) * scale) as f32;
        }
    }
    values
}

/// The eight Transformers of `scripts/fixtures/torch_transformer.py`.
fn transformers() -> Vec<Case> {
    #[derive(Deserialize)]
    struct Fixture {
        config: transformer::Config,
        smoothing: f64,
        lessons: Pairs,
        loss: f64,
        gradients: Gradients,
    }
    let fixtures: Vec<Fixture> = serde_json::from_str(include_str!("../testdata/transformer.json")).unwrap();
    assert_eq!(fixtures.len(), 8);
    let case = |Fixture { config, smoothing, lessons, loss, gradients }| {
        let name = format!("{config:?}");
        let build = move || -> Box<dyn Network<f32>> {
            Box::new(transformer::TransformerNetwork::new(config.clone()).unwrap())
        };
        let network = build();
        let tensors = network.layout().tensors().iter();
        let values = tensors.flat_map(|tensor| filled(&tensor.name, tensor.range().len())).collect();
        Case { name, build: Box::new(build), values, lessons, smoothing, loss, gradients }
    };
    fixtures.into_iter().map(case).collect()
}

/// The rule by which both sides fill a tensor of a Transformer.
fn filled(name: &str, size: usize) -> Vec<f32> {
    let seed = name.bytes().map(usize::from).sum::<usize>() * 31;
    let middle = if name.rsplit('.').next() == Some("scale") { 0.5 } else { -0.5 };
    (0..size).map(|i| ((i + seed) * 40503 % 65536) as f32 / 65536.0 + middle).collect()
}

/// Compares what an engine computes. Returns how far the farthest gradient is, and notes what is too far.
fn compare(case: &Case, engine: &mut Engine<f32>, tolerance: f32, far: &mut Vec<String>) -> f32 {
    let tensors = engine.network().layout().tensors().to_vec();
    let mut names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    names.sort_unstable();
    assert!(names.iter().eq(case.gradients.keys()), "{}: {names:?}", case.name);
    let lessons: Vec<Lesson<'_>> = case
        .lessons
        .iter()
        .map(|(source, target)| Lesson { source: Sequence::Tokens(source), target, forced: true })
        .collect();
    let step = Step { smoothing: case.smoothing, ..Step::PLAIN };
    let (outcome, ours) = engine.learn(&case.values, &lessons, step);
    if (outcome.loss / case.loss - 1.0).abs() >= f64::from(tolerance) {
        far.push(format!("the loss is {}, not {}: {}", outcome.loss, case.loss, case.name));
    }
    let mut worst = 0f32;
    for tensor in &tensors {
        let (theirs, ours) = (&case.gradients[&tensor.name], &ours[tensor.range()]);
        assert_eq!(ours.len(), theirs.len());
        let largest = theirs.iter().fold(0f32, |a, b| a.max(b.abs()));
        assert!(largest > 0.0 && ours.iter().all(|x| x.is_finite()), "{}: {}", tensor.name, case.name);
        let apart = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) / largest;
        if apart > tolerance {
            far.push(format!("{} is {apart:.1e} apart: {}", tensor.name, case.name));
        }
        worst = worst.max(apart);
    }
    worst
}

fn check(cases: &[Case]) {
    let mut far = Vec::new();
    for isa in Isa::NAMES.iter().filter_map(|name| Isa::named(name)) {
        for case in cases {
            compare(case, &mut Engine::boxed((case.build)(), isa), 1e-5, &mut far);
        }
        assert!(far.is_empty(), "with {isa}:\n{}", far.join("\n"));
    }
}

#[test]
fn recurrent_models_match_pytorch() {
    check(&recurrent_models());
}

#[test]
fn transformers_match_pytorch() {
    check(&transformers());
}

/// A run that was begun on a machine with one of them goes on to the same bits on a machine with the other.
#[test]
fn avx512_and_avx2_give_the_same_bits() {
    let [Some(wide), Some(narrow)] = ["avx512", "avx2"].map(Isa::named) else {
        println!("skipped: this machine does not have both instruction sets");
        return;
    };
    for case in recurrent_models().iter().chain(&transformers()) {
        let lessons: Vec<Lesson<'_>> = case
            .lessons
            .iter()
            .map(|(source, target)| Lesson { source: Sequence::Tokens(source), target, forced: true })
            .collect();
        let step = Step { key: Some(7), smoothing: case.smoothing, ..Step::PLAIN };
        let gradients = |isa| {
            let mut engine = Engine::boxed((case.build)(), isa);
            let (outcome, gradients) = engine.learn(&case.values, &lessons, step);
            (outcome.loss.to_bits(), gradients.iter().map(|x| x.to_bits()).collect::<Vec<u32>>())
        };
        assert!(gradients(wide) == gradients(narrow), "{}", case.name);
    }
}

#[cfg(feature = "burn")]
#[test]
fn every_device_matches_pytorch() {
    use wug_nn::Device;

    for &device in Device::ALL.iter().filter(|&&device| device != Device::Cpu && device.is_compiled()) {
        if let Err(why) = device.check() {
            println!("skipped: {why}");
            continue;
        }
        // Products on a GPU add up in other orders, and its functions are less exact.
        let tolerance = if device == Device::Flex { 2e-5 } else { 1e-4 };
        let mut far = Vec::new();
        for cases in [recurrent_models(), transformers()] {
            let mut worst = 0f32;
            for case in cases {
                let mut engine = Engine::on(device, (case.build)(), Isa::best()).unwrap();
                worst = worst.max(compare(&case, &mut engine, tolerance, &mut far));
            }
            println!("{device}: gradients apart at most {worst:.1e}");
        }
        assert!(far.is_empty(), "on {device}:\n{}", far.join("\n"));
    }
}
