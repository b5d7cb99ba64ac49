//! Datasets and their parts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use wug_bench::{Address, BENCHMARKS, DataSettings, Source};
use wug_data::{Error, FactValue};

use crate::arrow::Rows;
use crate::errors::exception;
use crate::work::{Unattended, briefly, run};

/// Where the rows of a dataset come from, as a user names it.
#[derive(FromPyObject)]
pub(crate) enum Seed {
    /// A number.
    Number(u64),
    /// `official`.
    Word(String),
}

/// The source and the settings that arguments name.
pub(crate) fn source(
    seed: Option<Seed>,
    data: Option<PathBuf>,
    settings: BTreeMap<String, String>,
) -> wug_data::Result<(Source, DataSettings)> {
    let mut chosen = data.as_deref().map(DataSettings::written_in).transpose()?.unwrap_or_default();
    settings.iter().for_each(|(key, value)| chosen.set(key, value));
    let source = match (data, seed) {
        (Some(folder), None) => Source::folder(&folder, None)?,
        (Some(folder), Some(Seed::Number(seed))) => Source::folder(&folder, Some(seed))?,
        (Some(_), Some(Seed::Word(_))) => {
            return Err(Error::usage("`seed` draws the data and `data` reads them: give one of the two"));
        }
        (None, None) => Source::Seed(0),
        (None, Some(Seed::Number(seed))) => Source::Seed(seed),
        (None, Some(Seed::Word(word))) if word == "official" => Source::Official,
        (None, Some(Seed::Word(word))) => {
            return Err(Error::usage(format!("seed={word:?}: expected a whole number or \"official\"")));
        }
    };
    Ok((source, chosen))
}

/// The names of all datasets.
#[pyfunction]
pub(crate) fn list_datasets() -> Vec<String> {
    let names = BENCHMARKS.iter().flat_map(|benchmark| {
        let families = benchmark.families().into_iter().flat_map(|family| family.names);
        families.map(|name| format!("{}/{name}", benchmark.about().name)).collect::<Vec<_>>()
    });
    names.collect()
}

/// Makes a dataset or reads it.
#[pyfunction]
pub(crate) fn load(
    py: Python<'_>,
    dataset: String,
    seed: Option<Seed>,
    data: Option<PathBuf>,
    settings: BTreeMap<String, String>,
) -> PyResult<Dataset> {
    let make = move || {
        let address: Address = dataset.parse()?;
        let (source, settings) = source(seed, data, settings)?;
        let made = address.benchmark.make_with(&address.dataset, &source, &settings)?;
        Ok(Dataset { dataset: Arc::new(made), address })
    };
    run(py, &Unattended, make)?.map_err(exception)
}

/// A dataset: one table of examples, and parts that list its rows.
#[pyclass(frozen, module = "wug._wug")]
pub(crate) struct Dataset {
    dataset: Arc<wug_data::Dataset>,
    address: Address,
}

#[pymethods]
impl Dataset {
    #[getter]
    fn name(&self) -> &str {
        &self.dataset.name
    }

    #[getter]
    fn title(&self) -> &str {
        self.address.benchmark.about().title
    }

    #[getter]
    fn licence(&self) -> &str {
        self.address.benchmark.about().licence
    }

    #[getter]
    fn citation(&self) -> &str {
        self.address.benchmark.about().citation
    }

    #[getter]
    fn has_images(&self) -> bool {
        self.dataset.pictures.is_some()
    }

    /// Names of the parts.
    fn parts(&self) -> Vec<&str> {
        self.dataset.parts.iter().map(|part| part.name.as_str()).collect()
    }

    /// A part, or a subset of one.
    fn part(&self, name: &str) -> PyResult<Part> {
        let selection = self.dataset.select(name).map_err(|error| PyKeyError::new_err(error.to_string()))?;
        let known = self.dataset.parts.iter().position(|part| part.name == selection.part.name);
        let (part, positions) = (known.unwrap_or_default(), Arc::new(selection.positions));
        Ok(Part { name: selection.name, rows: Rows { dataset: Arc::clone(&self.dataset), part, positions } })
    }
}

/// Some examples of a part, in order.
#[pyclass(frozen, module = "wug._wug")]
pub(crate) struct Part {
    name: String,
    rows: Rows,
}

impl Part {
    fn position(&self, index: usize) -> PyResult<u32> {
        let none = || {
            PyIndexError::new_err(format!("{}: there are {} examples", self.name, self.rows.positions.len()))
        };
        self.rows.positions.get(index).copied().ok_or_else(none)
    }

    fn picture(&self, py: Python<'_>, index: usize) -> PyResult<Option<wug_data::Picture>> {
        let position = self.position(index)?;
        let Some(pictures) = self.rows.dataset.pictures.as_ref() else { return Ok(None) };
        let part = &self.rows.dataset.parts[self.rows.part].name;
        briefly(py, || pictures.picture(part, position)).map(Some)
    }
}

#[pymethods]
impl Part {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn dataset(&self) -> &str {
        &self.rows.dataset.name
    }

    #[getter]
    fn has_images(&self) -> bool {
        self.rows.dataset.pictures.is_some()
    }

    fn __len__(&self) -> usize {
        self.rows.positions.len()
    }

    /// An example without its picture.
    fn example<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let position = self.position(index)? as usize;
        let dataset = &self.rows.dataset;
        let part = &dataset.parts[self.rows.part];
        let row = part.rows[position];
        let example = PyDict::new(py);
        example.set_item("id", part.id(position))?;
        example.set_item("input", dataset.table.inputs.get(row).to_string())?;
        example.set_item("target", dataset.table.targets.get(row).to_string())?;
        example.set_item("facts", facts(py, &dataset.table, row)?)?;
        Ok(example)
    }

    /// The picture of an example as a PNG file.
    fn png<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(picture) = self.picture(py, index)? else { return Ok(None) };
        Ok(Some(PyBytes::new(py, &picture.png()?)))
    }

    /// The picture of an example: width, height and grey pixels.
    fn pixels<'py>(
        &self,
        py: Python<'py>,
        index: usize,
    ) -> PyResult<Option<(u32, u32, Bound<'py, PyBytes>)>> {
        let picture = self.picture(py, index)?;
        Ok(picture.map(|picture| (picture.width, picture.height, PyBytes::new(py, &picture.pixels))))
    }

    /// The examples at some indices.
    fn take(&self, indices: Vec<usize>) -> PyResult<Self> {
        let positions = indices.into_iter().map(|index| self.position(index)).collect::<PyResult<_>>()?;
        let rows = Rows { positions: Arc::new(positions), ..self.rows.clone() };
        Ok(Self { name: self.name.clone(), rows })
    }

    /// The examples as an Arrow C stream. What a consumer asks for beyond the columns as they are, it has to convert.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = FFI_ArrowArrayStream::new(self.rows.clone().reader());
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// The facts of a row.
pub(crate) fn facts<'py>(py: Python<'py>, table: &wug_data::Table, row: u32) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    for fact in table.facts.columns() {
        match fact.value(row) {
            FactValue::Number(number) => facts.set_item(fact.name(), number)?,
            other => facts.set_item(fact.name(), other.to_string())?,
        }
    }
    Ok(facts)
}
