use std::cell::Cell;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::{Field, RowAccessor};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;
use rayon::prelude::*;
use serde_json::json;

use crate::{Dataset, Error, FactValue, RawPart, RawRow, Result, Selection, Values};

/// Rows that are held at once while writing ...
const ROW_GROUP: usize = 1 << 16;
/// ... and with their pictures.
const ROW_GROUP_OF_PICTURES: usize = 1 << 12;

/// Writes examples as Parquet with the columns `id`, `input`, `target`, the group `image` (where there are pictures:
/// the PNG file in `bytes`, its name in `path`, as Hugging Face's `Image` reads it) and the group `facts`.
pub fn write_parquet(
    dataset: &Dataset,
    selection: &Selection<'_>,
    out: &mut (impl Write + Send),
) -> ParquetResult<()> {
    write_parquet_counted(dataset, selection, out, &|_| ())
}

/// The same, telling how many rows are done on the way.
pub fn write_parquet_counted(
    dataset: &Dataset,
    selection: &Selection<'_>,
    out: &mut (impl Write + Send),
    done: &(dyn Fn(usize) + Sync),
) -> ParquetResult<()> {
    let facts = dataset.table.facts.columns();
    let mut schema = String::from(
        "message examples { required binary id (UTF8); required binary input (UTF8); required binary target (UTF8);",
    );
    if dataset.pictures.is_some() {
        // None is ever missing, but Hugging Face's library takes a column for a picture only if it might be.
        schema.push_str(" optional group image { optional binary bytes; optional binary path (UTF8); }");
    }
    if !facts.is_empty() {
        schema.push_str(" required group facts {");
        for fact in facts {
            let (kind, note) = match fact.values() {
                Values::Numbers(_) => ("int64", ""),
                Values::Labels { .. } => ("binary", " (UTF8)"),
            };
            let _ = write!(schema, " required {kind} {}{note};", fact.name());
        }
        schema.push_str(" }");
    }
    schema.push_str(" }");
    let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    if dataset.pictures.is_some() {
        let features = KeyValue::new("huggingface".to_owned(), features(dataset));
        properties = properties.set_key_value_metadata(Some(vec![features]));
    }
    let properties = properties.build();
    let schema = Arc::new(parse_message_type(&schema)?);
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;

    let at_once = if dataset.pictures.is_some() { ROW_GROUP_OF_PICTURES } else { ROW_GROUP };
    for positions in selection.positions.chunks(at_once) {
        let example =
            |&position: &u32| (selection.part.id(position as usize), selection.part.rows[position as usize]);
        let rows: Vec<(String, u32)> = positions.iter().map(example).collect();
        let mut group = file.next_row_group()?;
        write_texts(&mut group, rows.iter().map(|(id, _)| id.as_bytes().to_vec()))?;
        write_texts(
            &mut group,
            rows.iter().map(|(_, row)| dataset.table.inputs.get(*row).to_string().into()),
        )?;
        write_texts(
            &mut group,
            rows.iter().map(|(_, row)| dataset.table.targets.get(*row).to_string().into()),
        )?;
        if let Some(pictures) = &dataset.pictures {
            let draw = |&position: &u32| {
                let file = pictures.picture(&selection.part.name, position).png()?;
                done(1);
                Ok(file)
            };
            let files: Vec<Vec<u8>> = positions.par_iter().map(draw).collect::<ParquetResult<_>>()?;
            write_optional(&mut group, files.into_iter())?;
            write_optional(&mut group, rows.iter().map(|(id, _)| format!("{id}.png").into()))?;
        }
        for fact in facts {
            match fact.values() {
                Values::Numbers(numbers) => {
                    let values: Vec<i64> = rows.iter().map(|(_, row)| numbers[*row as usize]).collect();
                    let mut column = group.next_column()?.expect("a column for every fact");
                    column.typed::<Int64Type>().write_batch(&values, None, None)?;
                    column.close()?;
                }
                Values::Labels { .. } => {
                    let labels = rows.iter().map(|(_, row)| match fact.value(*row) {
                        FactValue::Label(label) => label.into(),
                        other => other.to_string().into(),
                    });
                    write_texts(&mut group, labels)?;
                }
            }
        }
        group.close()?;
        if dataset.pictures.is_none() {
            done(positions.len());
        }
    }
    file.close()?;
    Ok(())
}

fn write_texts<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    texts: impl Iterator<Item = Vec<u8>>,
) -> ParquetResult<()> {
    write_bytes(group, texts, None)
}

/// The same for a column that is optional inside an optional group.
fn write_optional<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    texts: impl Iterator<Item = Vec<u8>>,
) -> ParquetResult<()> {
    write_bytes(group, texts, Some(2))
}

/// `level` says how many optional things around a value, itself included, are there.
fn write_bytes<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    texts: impl Iterator<Item = Vec<u8>>,
    level: Option<i16>,
) -> ParquetResult<()> {
    let values: Vec<ByteArray> = texts.map(ByteArray::from).collect();
    let levels = level.map(|level| vec![level; values.len()]);
    let mut column = group.next_column()?.expect("a column for every field of the schema");
    column.typed::<ByteArrayType>().write_batch(&values, levels.as_deref(), None)?;
    column.close()
}

/// The columns as Hugging Face's library describes them: without this it would not know that `image` is a picture.
fn features(dataset: &Dataset) -> String {
    let value = |kind: &str| json!({"dtype": kind, "_type": "Value"});
    let facts = dataset.table.facts.columns().iter().map(|fact| {
        let kind = if matches!(fact.values(), Values::Numbers(_)) { "int64" } else { "string" };
        (fact.name().to_owned(), value(kind))
    });
    let facts: serde_json::Map<String, serde_json::Value> = facts.collect();
    json!({"info": {"features": {
        "id": value("string"),
        "input": value("string"),
        "target": value("string"),
        "image": {"_type": "Image"},
        "facts": facts,
    }}})
    .to_string()
}

/// Reads `input` and `target` of what [`write_parquet`] wrote.
pub fn read_parquet(path: &Path) -> Result<RawPart> {
    // The library asserts where a damaged file breaks its expectations; to us that is one more way to be unreadable.
    catch_panic(|| read_rows(path))
        .unwrap_or_else(|| Err(Error::file(path, "not readable as Parquet: damaged")))
}

fn read_rows(path: &Path) -> Result<RawPart> {
    let fail =
        |error: parquet::errors::ParquetError| Error::file(path, format!("not readable as Parquet: {error}"));
    let file = File::open(path).map_err(Error::io(path))?;
    let reader = SerializedFileReader::new(file).map_err(fail)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let column = |name: &str| {
        let fields = schema.root_schema().get_fields();
        let found = fields.iter().position(|field| field.name() == name);
        found.ok_or_else(|| Error::file(path, format!("has no column `{name}`")))
    };
    // Only these two are read: pictures may be most of the file.
    let fields = schema.root_schema().get_fields();
    let wanted = vec![fields[column("input")?].clone(), fields[column("target")?].clone()];
    let projection = Type::group_type_builder(schema.root_schema().name()).with_fields(wanted).build();
    let mut rows = Vec::new();
    for (i, row) in reader.get_row_iter(Some(projection.map_err(fail)?)).map_err(fail)?.enumerate() {
        let row = row.map_err(fail)?;
        let text = |column| row.get_string(column).cloned().map_err(fail);
        rows.push(RawRow { line: i + 1, input: text(0)?, target: text(1)? });
    }
    Ok(RawPart { path: path.to_owned(), rows })
}

/// The values of one fact in what [`write_parquet`] wrote, as text.
pub(crate) fn read_parquet_fact(path: &Path, fact: &str) -> Result<Vec<String>> {
    catch_panic(|| read_fact(path, fact))
        .unwrap_or_else(|| Err(Error::file(path, "not readable as Parquet: damaged")))
}

fn read_fact(path: &Path, fact: &str) -> Result<Vec<String>> {
    let fail =
        |error: parquet::errors::ParquetError| Error::file(path, format!("not readable as Parquet: {error}"));
    let file = File::open(path).map_err(Error::io(path))?;
    let reader = SerializedFileReader::new(file).map_err(fail)?;
    // Only the facts are read: pictures may be most of the file.
    let root = reader.metadata().file_metadata().schema_descr().root_schema().clone();
    let fields: Vec<_> = root.get_fields().iter().filter(|field| field.name() == "facts").cloned().collect();
    if fields.is_empty() {
        return Err(Error::file(path, format!("has no fact `{fact}`")));
    }
    let projection = Type::group_type_builder(root.name()).with_fields(fields).build().map_err(fail)?;
    let mut values = Vec::new();
    for row in reader.get_row_iter(Some(projection)).map_err(fail)? {
        let row = row.map_err(fail)?;
        let facts = row.get_column_iter().find(|(name, _)| *name == "facts");
        let value = match facts {
            Some((_, Field::Group(facts))) => facts.get_column_iter().find(|(name, _)| *name == fact),
            _ => None,
        };
        values.push(match value {
            Some((_, Field::Str(value))) => value.clone(),
            Some((_, value)) => value.to_string(),
            None => return Err(Error::file(path, format!("has no fact `{fact}`"))),
        });
    }
    Ok(values)
}

thread_local! {
    /// Whether a panic of this thread is caught.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is caught and becomes an error. A program's panic hook may then stay silent; the library leaves
/// the hook as it is.
pub fn panic_is_caught() -> bool {
    CAUGHT.get()
}

/// Runs `work`; `None` if it panicked.
fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    CAUGHT.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work)).ok();
    CAUGHT.set(false);
    done
}
