//! Examples as a stream of Arrow record batches, with the columns of the Parquet files.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use rayon::prelude::*;
use serde_json::json;

use wug_data::{Dataset, FactValue, Values};

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

    fn batch(&self, positions: &[u32]) -> Result<RecordBatch, ArrowError> {
        let part = &self.dataset.parts[self.part];
        let table = &self.dataset.table;
        let rows: Vec<u32> = positions.iter().map(|&position| part.rows[position as usize]).collect();
        let mut columns: Vec<ArrayRef> = vec![
            texts(positions, |position, text| {
                let _ = write!(text, "{}_{position:08}", part.name);
            }),
            texts(&rows, |row, text| {
                let _ = write!(text, "{}", table.inputs.get(row));
            }),
            texts(&rows, |row, text| {
                let _ = write!(text, "{}", table.targets.get(row));
            }),
        ];
        if self.dataset.pictures.is_some() {
            columns.push(self.images(positions)?);
        }
        let facts: Vec<ArrayRef> =
            table.facts.columns().iter().map(|fact| fact_column(fact, &rows)).collect();
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
        let mut bytes = BinaryBuilder::new();
        files.iter().for_each(|file| bytes.append_value(file));
        let paths = texts(positions, |position, text| {
            let _ = write!(text, "{}_{position:08}.png", part.name);
        });
        Ok(Arc::new(StructArray::try_new(image_fields(), vec![Arc::new(bytes.finish()), paths], None)?))
    }
}

fn image_fields() -> Fields {
    vec![Field::new("bytes", DataType::Binary, true), Field::new("path", DataType::Utf8, true)].into()
}

fn texts(rows: &[u32], write: impl Fn(u32, &mut StringBuilder)) -> ArrayRef {
    let mut texts = StringBuilder::with_capacity(rows.len(), 32 * rows.len());
    for &row in rows {
        write(row, &mut texts);
        texts.append_value("");
    }
    Arc::new(texts.finish())
}

fn fact_column(fact: &wug_data::Fact, rows: &[u32]) -> ArrayRef {
    match fact.values() {
        Values::Numbers(numbers) => {
            Arc::new(rows.iter().map(|&row| numbers[row as usize]).collect::<Int64Array>())
        }
        Values::Labels { .. } => texts(rows, |row, text| {
            if let FactValue::Label(label) = fact.value(row) {
                let _ = text.write_str(label);
            }
        }),
    }
}
