//! Every model against PyTorch: loss and gradients within 1e-5 of each tensor's largest entry, in single precision.

use std::collections::BTreeMap;

use serde::Deserialize;
use wug_nn::kernels::Isa;
use wug_nn::recurrent::{Config, Model};
use wug_nn::{Engine, Layout, Lesson, Step};

#[derive(Deserialize)]
struct Fixtures {
    scale: f64,
    lessons: Vec<(Vec<u32>, Vec<u32>)>,
    models: Vec<Fixture>,
}

#[derive(Deserialize)]
struct Fixture {
    config: Config,
    loss: f64,
    gradients: BTreeMap<String, Vec<f32>>,
}

/// The parameters that `scripts/fixtures/torch_fixtures.py` gave its models: one congruence over the sorted names.
fn parameters(layout: &Layout, scale: f64) -> Vec<f32> {
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

#[test]
fn models_match_pytorch() {
    let fixtures: Fixtures = serde_json::from_str(include_str!("../testdata/torch.json")).unwrap();
    let lesson = |(source, target): &'static (Vec<u32>, Vec<u32>)| Lesson { source, target, forced: true };
    let lessons: Vec<Lesson<'_>> = Vec::leak(fixtures.lessons).iter().map(lesson).collect();
    assert_eq!(fixtures.models.len(), 18);
    let mut far = Vec::new();
    for Fixture { config, loss, gradients } in &fixtures.models {
        let model = Model::new(config.clone()).unwrap();
        let tensors = model.layout().tensors().to_vec();
        assert_eq!(tensors.len(), gradients.len(), "{config:?}");
        let values = parameters(model.layout(), fixtures.scale);
        for isa in Isa::NAMES.iter().filter_map(|name| Isa::named(name)) {
            let mut engine = Engine::new(model.clone(), isa);
            let (outcome, ours) = engine.learn(&values, &lessons, Step::PLAIN);
            assert!(
                (outcome.loss / loss - 1.0).abs() < 1e-5,
                "{config:?}: loss {}, not {loss}",
                outcome.loss
            );
            for tensor in &tensors {
                let (theirs, ours) = (&gradients[&tensor.name], &ours[tensor.range()]);
                assert_eq!(ours.len(), theirs.len());
                let largest = theirs.iter().fold(0f32, |a, b| a.max(b.abs()));
                assert!(largest > 0.0 && ours.iter().all(|x| x.is_finite()));
                let apart = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) / largest;
                if apart > 1e-5 {
                    far.push(format!("{} is {apart:.1e} apart with {isa}: {config:?}", tensor.name));
                }
            }
        }
    }
    assert!(far.is_empty(), "{}", far.join("\n"));
}
