//! Every model against PyTorch: loss and gradients within 1e-5 of each tensor's largest entry, in single precision.

use std::collections::BTreeMap;

use serde::Deserialize;
use wug_nn::kernels::Isa;
use wug_nn::{Config, Engine, Lesson, Model};

#[derive(Deserialize)]
struct Fixture {
    config: Config,
    lessons: Vec<(Vec<u32>, Vec<u32>)>,
    loss: f64,
    parameters: BTreeMap<String, Vec<f32>>,
    gradients: BTreeMap<String, Vec<f32>>,
}

#[test]
fn models_match_pytorch() {
    let fixtures: Vec<Fixture> = serde_json::from_str(include_str!("../testdata/torch.json")).unwrap();
    assert_eq!(fixtures.len(), 12);
    for fixture in &fixtures {
        let model = Model::new(fixture.config.clone()).unwrap();
        let tensors = model.layout().tensors().to_vec();
        let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(fixture.parameters.keys()), "{names:?}");
        let values: Vec<f32> = names.iter().flat_map(|name| fixture.parameters[*name].clone()).collect();
        let lessons: Vec<Lesson<'_>> =
            fixture.lessons.iter().map(|(source, target)| Lesson { source, target, forced: true }).collect();
        for isa in [Isa::best(), Isa::Portable] {
            let mut engine = Engine::new(model.clone(), isa);
            let (outcome, gradients) = engine.learn(&values, &lessons, 1.0, None);
            assert!(
                (outcome.loss / fixture.loss - 1.0).abs() < 1e-5,
                "{} not {}",
                outcome.loss,
                fixture.loss
            );
            for tensor in &tensors {
                let theirs = &fixture.gradients[&tensor.name];
                let ours = &gradients[tensor.range()];
                assert_eq!(ours.len(), theirs.len());
                let largest = theirs.iter().fold(0f32, |a, b| a.max(b.abs()));
                for (ours, theirs) in ours.iter().zip(theirs) {
                    let apart = (ours - theirs).abs();
                    assert!(
                        apart <= 1e-5 * largest,
                        "{:?} {}: {ours} not {theirs}",
                        fixture.config.cell,
                        tensor.name
                    );
                }
            }
        }
    }
}
