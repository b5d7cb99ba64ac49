//! How a language model is asked, and how its reply is read.

use pyo3::prelude::*;

use wug_bench::Address;
use wug_learn::exported_prompt;
use wug_llm::Question;

use crate::errors::exception;

/// The system's message, if there is one, and the user's.
#[pyfunction]
pub(crate) fn chat(dataset: &str, input: String) -> PyResult<(Option<String>, String)> {
    let chat = || {
        let address: Address = dataset.parse()?;
        exported_prompt(&*address.benchmark)?.chat(&Question { input: Some(input), ..Question::default() })
    };
    chat().map_err(exception)
}

/// The answer in a reply, if there is one.
#[pyfunction]
pub(crate) fn read_answer(dataset: &str, reply: &str) -> PyResult<Option<String>> {
    let read = || {
        let address: Address = dataset.parse()?;
        Ok(exported_prompt(&*address.benchmark)?.answer.read(reply))
    };
    read().map_err(exception)
}
