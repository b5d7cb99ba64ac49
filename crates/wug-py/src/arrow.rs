//! Examples as a stream of Arrow record batches, with the columns of the Parquet files.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    StructArray,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use rayon::prelude::*;
use serde_json::json;

use wug_data::{Dataset, Sequences, Values};

use crate::work::pool;

/// Rows of a batch ...
const ROWS: usize = 1 << 15;
/// ... and with pictures.
const ROWS_WITH_PICTURES: usize = 1 << 10;

/// Some examples of a part.
#[derive(Clone)]
pub(crate) struct Rows {
    /// The dataset.
    pub(crate) dataset: Arc<Dataset>,
    /// The part's place in it.
    pub(crate) part: usize,
    /// Positions in the part.
    pub(crate) positions: Arc<Vec<u32>>,
}

impl Rows {
    fn facts(&self) -> Fields {
        let field = |fact: &wug_data::Fact| {
            let kind = match fact.values() {
                Values::Numbers(_) => DataType::Int64,
                Values::Labels { .. } => DataType::Utf8,
            };
            Field::new(fact.name(), kind, false)
        };
        self.dataset.table.facts.columns().iter().map(field).collect()
    }

    /// The columns. Hugging Face's library takes `image` for a picture because the metadata says so.
    fn schema(&self) -> SchemaRef {
        let text = |name: &str| Field::new(name, DataType::Utf8, false);
        let mut fields = vec![text("id"), text("input"), text("target")];
        let mut metadata = HashMap::new();
        if self.dataset.pictures.is_some() {
            fields.push(Field::new("image", DataType::Struct(image_fields()), true));
            let value = |kind: &DataType| {
                let kind = if *kind == DataType::Int64 { "int64" } else { "string" };
                json!({"dtype": kind, "_type": "Value"})
            };
            let facts: serde_json::Map<_, _> =
                self.facts().iter().map(|fact| (fact.name().clone(), value(fact.data_type()))).collect();
            let string = value(&DataType::Utf8);
            let features = json!({"info": {"features": {
                "id": string, "input": string, "target": string, "image": {"_type": "Image"}, "facts": facts,
            }}});
            metadata.insert("huggingface".to_owned(), features.to_string());
        }
        if !self.facts().is_empty() {
            fields.push(Field::new("facts", DataType::Struct(self.facts()), false));
        }
        Arc::new(Schema::new_with_metadata(fields, metadata))
    }

    /// All examples, a batch at a time: nothing is made before it is asked for.
    pub(crate) fn reader(self) -> Box<dyn RecordBatchReader + Send> {
        let schema = self.schema();
        let size = if self.dataset.pictures.is_some() { ROWS_WITH_PICTURES } else { ROWS };
        let number = self.positions.len().div_ceil(size);
        let batches = (0..number).map(move |i| {
            let end = ((i + 1) * size).min(self.positions.len());
            self.batch(&self.positions[i * size..end])
        });
        Box::new(RecordBatchIterator::new(batches, schema))
    }

    /// Called by whoever reads the stream: the work is done on the pool, as all work is.
    fn batch(&self, positions: &[u32]) -> Result<RecordBatch, ArrowError> {
        let failed = |error: pyo3::PyErr| ArrowError::ExternalError(Box::new(error));
        pool().map_err(failed)?.install(|| self.columns(positions))
    }

    fn columns(&self, positions: &[u32]) -> Result<RecordBatch, ArrowError> {
        let part = &self.dataset.parts[self.part];
        let table = &self.dataset.table;
        let rows: Vec<u32> = positions.iter().map(|&position| part.rows[position as usize]).collect();
        let sequence = |of: &Sequences| texts(&rows, |row, text| of.get(row).write(text));
        let facts = || table.facts.columns().par_iter().map(|fact| fact_column(fact, &rows)).collect();
        let ids = || texts(positions, |position, text| write!(text, "{}_{position:08}", part.name));
        let ((inputs, targets), (ids, facts)) = rayon::join(
            || rayon::join(|| sequence(&table.inputs), || sequence(&table.targets)),
            || rayon::join(ids, || -> Result<Vec<ArrayRef>, ArrowError> { facts() }),
        );
        let (mut columns, facts) = (vec![ids?, inputs?, targets?], facts?);
        if self.dataset.pictures.is_some() {
            columns.push(self.images(positions)?);
        }
        if !facts.is_empty() {
            columns.push(Arc::new(StructArray::try_new(self.facts(), facts, None)?));
        }
        RecordBatch::try_new(self.schema(), columns)
    }

    fn images(&self, positions: &[u32]) -> Result<ArrayRef, ArrowError> {
        let part = &self.dataset.parts[self.part];
        let draw = |&position: &u32| match &self.dataset.pictures {
            Some(pictures) => pictures.picture(&part.name, position).png(),
            None => Ok(Vec::new()),
        };
        let files: Vec<Vec<u8>> = positions.par_iter().map(draw).collect::<std::io::Result<_>>()?;
        let bytes: BinaryArray = files.iter().map(Some).collect();
        let paths = texts(positions, |position, text| write!(text, "{}_{position:08}.png", part.name))?;
        Ok(Arc::new(StructArray::try_new(image_fields(), vec![Arc::new(bytes), paths], None)?))
    }
}

fn image_fields() -> Fields {
    vec![Field::new("bytes", DataType::Binary, true), Field::new("path", DataType::Utf8, true)].into()
}

/// A column of text, each written behind the one before.
fn texts(
    rows: &[u32],
    write: impl Fn(u32, &mut Vec<u8>) -> std::io::Result<()>,
) -> Result<ArrayRef, ArrowError> {
    let mut text = Vec::with_capacity(32 * rows.len());
    let mut ends: Vec<i32> = Vec::with_capacity(rows.len() + 1);
    ends.push(0);
    for &row in rows {
        write(row, &mut text)?;
        let end = i32::try_from(text.len());
        ends.push(
            end.map_err(|_| ArrowError::ComputeError("a batch has more than 2 GiB of text".to_owned()))?,
        );
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
    Ok(Arc::new(StringArray::try_new(offsets, Buffer::from(text), None)?))
}

fn fact_column(fact: &wug_data::Fact, rows: &[u32]) -> Result<ArrayRef, ArrowError> {
    match fact.values() {
        Values::Numbers(numbers) => {
            Ok(Arc::new(rows.iter().map(|&row| numbers[row as usize]).collect::<Int64Array>()))
        }
        Values::Labels { names, rows: of } => {
            texts(rows, |row, text| text.write_all(names.word(of[row as usize]).as_bytes()))
        }
    }
}
