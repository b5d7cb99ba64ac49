//! Grammars from pairs.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::work::{Unattended, briefly, run};

/// Finds the grammar behind pairs.
#[pyfunction]
pub(crate) fn induce(
    py: Python<'_>,
    pairs: Vec<(String, String)>,
    budget: f64,
    steps: Option<u64>,
) -> PyResult<Model> {
    let budget = Duration::try_from_secs_f64(budget)
        .map_err(|error| PyValueError::new_err(format!("budget={budget}: {error}")))?;
    let default = wug_induce::Settings::default();
    let settings = wug_induce::Settings { budget, steps: steps.unwrap_or(default.steps), ..default };
    let model = run(py, &Unattended, move || wug_induce::learn(pairs, &settings))?;
    Ok(Model { model })
}

/// A learned grammar.
#[pyclass(frozen, module = "wug._wug")]
pub(crate) struct Model {
    model: wug_induce::Model,
}

#[pymethods]
impl Model {
    /// A model that was saved.
    #[staticmethod]
    fn load(text: &str) -> PyResult<Self> {
        let model = wug_induce::Model::load(text);
        Ok(Self { model: model.map_err(|error| PyValueError::new_err(error.to_string()))? })
    }

    /// What `load` reads.
    fn save(&self) -> String {
        self.model.save()
    }

    #[getter]
    fn grammar(&self) -> String {
        self.model.text()
    }

    /// The answer or, if there is none, the reason; and the derivation.
    fn predict(&self, py: Python<'_>, source: &str) -> PyResult<(Option<String>, Option<String>, String)> {
        briefly(py, || {
            let prediction = self.model.predict(source);
            let derivation = self.model.derivation(&prediction);
            match prediction.abstained {
                Some(why) => (None, Some(why), derivation),
                None => (Some(prediction.text), None, derivation),
            }
        })
    }
}
