//! Optimisers against PyTorch (`scripts/fixtures/torch_optimiser.py`).

use std::collections::BTreeMap;

use wug_nn::kernels::Isa;
use wug_nn::{Optimiser, Rule};

#[test]
fn optimisers_match_pytorch() {
    let fixtures: BTreeMap<String, Vec<Vec<f64>>> =
        serde_json::from_str(include_str!("../testdata/optimiser.json")).unwrap();
    let adam = |beta2, decoupled| Rule::Adam { beta1: 0.9, beta2, epsilon: 1e-8, decoupled };
    let cases = [
        ("adam", Rule::ADAM, 0.0),
        ("adam, decay", Rule::ADAM, 0.1),
        ("adamw", adam(0.999, true), 0.1),
        ("adamw, beta2", adam(0.98, true), 0.01),
        ("sgd, decay", Rule::Sgd, 0.1),
    ];
    assert_eq!(fixtures.len(), cases.len());
    for (name, rule, decay) in cases {
        let mut values = vec![0.5, -1.25, 2.0, 0.0, -0.001, 30.0, 1e-9];
        let mut optimiser = Optimiser::new(rule, values.len());
        for (step, wanted) in fixtures[name].iter().enumerate() {
            let gradient = |i: usize| (step as f64 + 1.0) * (i as f64 - 3.0) / 8.0;
            let gradients: Vec<f64> = (0..values.len()).map(gradient).collect();
            optimiser.step(Isa::best(), &mut values, &gradients, 0.01, 0.0, decay);
            for (ours, theirs) in values.iter().zip(wanted) {
                assert!(
                    (ours - theirs).abs() <= 1e-12 * theirs.abs().max(1e-3),
                    "{name}: {ours} not {theirs}"
                );
            }
        }
    }
}
