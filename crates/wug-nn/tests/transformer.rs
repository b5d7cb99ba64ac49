//! Transformers against PyTorch: loss and gradients within 1e-5 of each tensor's largest entry, in single precision.

use std::collections::BTreeMap;

use serde::Deserialize;
use wug_nn::kernels::Isa;
use wug_nn::transformer::{Config, Model};
use wug_nn::{Engine, Lesson, Step};

#[derive(Deserialize)]
struct Fixture {
    config: Config,
    smoothing: f64,
    lessons: Vec<(Vec<u32>, Vec<u32>)>,
    loss: f64,
    gradients: BTreeMap<String, Vec<f32>>,
}

/// The rule by which both sides fill a tensor (`scripts/fixtures/torch_transformer.py`).
fn fill(name: &str, size: usize) -> Vec<f32> {
    let seed = name.bytes().map(usize::from).sum::<usize>() * 31;
    let middle = if name.rsplit('.').next() == Some("scale") { 0.5 } else { -0.5 };
    (0..size).map(|i| ((i + seed) * 40503 % 65536) as f32 / 65536.0 + middle).collect()
}

#[test]
fn models_match_pytorch() {
    let fixtures: Vec<Fixture> = serde_json::from_str(include_str!("../testdata/transformer.json")).unwrap();
    assert_eq!(fixtures.len(), 8);
    for (number, fixture) in fixtures.iter().enumerate() {
        for isa in [Isa::best(), Isa::Portable] {
            let mut engine = Engine::<f32>::new(Model::new(fixture.config.clone()).unwrap(), isa);
            let tensors = engine.network().layout().tensors().to_vec();
            let mut names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
            names.sort_unstable();
            assert!(names.iter().eq(fixture.gradients.keys()), "{number}: {names:?}");
            let values: Vec<f32> =
                tensors.iter().flat_map(|tensor| fill(&tensor.name, tensor.range().len())).collect();
            let lesson = |(source, target)| Lesson { source, target, forced: true };
            let pairs = fixture.lessons.iter().map(|(source, target)| (source.as_slice(), target.as_slice()));
            let lessons: Vec<Lesson<'_>> = pairs.map(lesson).collect();
            let step = Step { smoothing: fixture.smoothing, ..Step::PLAIN };
            let (outcome, gradients) = engine.learn(&values, &lessons, step);
            assert!(
                (outcome.loss / fixture.loss - 1.0).abs() < 1e-5,
                "{} not {}",
                outcome.loss,
                fixture.loss
            );
            let mut worst = 0f32;
            for tensor in &tensors {
                let (ours, theirs) = (&gradients[tensor.range()], &fixture.gradients[&tensor.name]);
                assert_eq!(ours.len(), theirs.len());
                let largest = theirs.iter().fold(0f32, |a, b| a.max(b.abs()));
                for (ours, theirs) in ours.iter().zip(theirs) {
                    let apart = (ours - theirs).abs();
                    worst = worst.max(apart / largest);
                    assert!(apart <= 1e-5 * largest, "{number} {}: {ours} not {theirs}", tensor.name);
                }
            }
            println!("model {number}, {isa}: apart at most {worst:.1e}");
        }
    }
}
