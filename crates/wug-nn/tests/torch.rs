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
    let mut worst = 0f64;
    for Fixture { config, loss, gradients } in &fixtures.models {
        let model = Model::new(config.clone()).unwrap();
        let tensors = model.layout().tensors().to_vec();
        assert_eq!(tensors.len(), gradients.len(), "{config:?}");
        let values = parameters(model.layout(), fixtures.scale);
        for isa in [Isa::Avx512, Isa::Avx2, Isa::Portable] {
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
                assert!(largest > 0.0);
                for (ours, theirs) in ours.iter().zip(theirs) {
                    let apart = f64::from((ours - theirs).abs() / largest);
                    worst = worst.max(apart);
                    assert!(apart <= 1e-5, "{config:?} {}: {ours}, not {theirs}", tensor.name);
                }
            }
        }
    }
    println!("apart by at most {worst:.1e} of a tensor's largest entry");
}
