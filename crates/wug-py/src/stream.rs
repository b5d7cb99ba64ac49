//! Endless streams.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rayon::prelude::*;

use wug_bench::{Address, DataSettings, ItemStream, Limit};
use wug_data::Picture;

use crate::data::facts;
use crate::errors::exception;
use crate::work::{Unattended, run};

/// The items of one split of a dataset at one seed.
#[pyclass(frozen, module = "wug._wug")]
pub(crate) struct Stream {
    stream: Arc<ItemStream>,
}

#[pymethods]
impl Stream {
    #[new]
    fn new(
        py: Python<'_>,
        dataset: String,
        seed: u64,
        limits: Vec<String>,
        settings: BTreeMap<String, String>,
    ) -> PyResult<Self> {
        let limits = limits.iter().map(|limit| limit.parse()).collect::<Result<Vec<Limit>, String>>();
        let limits = limits.map_err(PyValueError::new_err)?;
        let open = move || {
            let address: Address = dataset.parse()?;
            let mut chosen = DataSettings::default();
            settings.iter().for_each(|(key, value)| chosen.set(key, value));
            ItemStream::new(&address, seed, &chosen, limits)
        };
        let stream = run(py, &Unattended, open)?.map_err(exception)?;
        Ok(Self { stream: Arc::new(stream) })
    }

    #[getter]
    fn split(&self) -> &str {
        self.stream.split()
    }

    /// The number of different items, where it is known to be finite.
    #[getter]
    fn size(&self) -> Option<u64> {
        self.stream.size()
    }

    /// Items `start`, `start + 1`, ...
    fn items<'py>(&self, py: Python<'py>, start: u64, count: usize) -> PyResult<Bound<'py, PyList>> {
        let stream = Arc::clone(&self.stream);
        let draw = move || {
            let table = stream.items(start, count)?;
            let picture = |row: u32| stream.picture(start + u64::from(row), &table.example(row));
            let pictures: Vec<Option<Picture>> = (0..count as u32).into_par_iter().map(picture).collect();
            Ok((table, pictures))
        };
        let (table, pictures) = run(py, &Unattended, draw)?.map_err(exception)?;
        let items = PyList::empty(py);
        for (row, picture) in (0..).zip(pictures) {
            let example = table.example(row);
            let item = PyDict::new(py);
            item.set_item("id", self.stream.id(start + u64::from(row)))?;
            item.set_item("input", example.input.to_string())?;
            item.set_item("target", example.target.to_string())?;
            item.set_item("facts", facts(py, &table, row)?)?;
            if let Some(picture) = picture {
                item.set_item("image", (picture.width, picture.height, PyBytes::new(py, &picture.pixels)))?;
            }
            items.append(item)?;
        }
        Ok(items)
    }
}
