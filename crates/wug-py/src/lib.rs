//! Python bindings of wug: thin classes over the libraries, which know nothing of them. What a user sees is the package
//! `wug` in `python/`; this is its module `wug._wug`.

mod arrow;
mod data;
mod errors;
mod induce;
mod prompts;
mod run;
mod score;
mod stream;
mod work;

use pyo3::prelude::*;

/// The compiled half of `wug`.
#[pymodule]
fn _wug(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<data::Dataset>()?;
    module.add_class::<data::Part>()?;
    module.add_class::<score::Verdicts>()?;
    module.add_class::<induce::Model>()?;
    module.add_class::<stream::Stream>()?;
    module.add_function(wrap_pyfunction!(data::list_datasets, module)?)?;
    module.add_function(wrap_pyfunction!(data::load, module)?)?;
    module.add_function(wrap_pyfunction!(score::score, module)?)?;
    module.add_function(wrap_pyfunction!(score::verify, module)?)?;
    module.add_function(wrap_pyfunction!(induce::induce, module)?)?;
    module.add_function(wrap_pyfunction!(prompts::chat, module)?)?;
    module.add_function(wrap_pyfunction!(prompts::read_answer, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::judge_run, module)?)?;
    module.add_function(wrap_pyfunction!(run::compare, module)?)?;
    module.add_function(wrap_pyfunction!(run::report, module)?)?;
    Ok(())
}
