use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::{Field, RowAccessor};
use parquet::schema::parser::parse_message_type;

use crate::{Dataset, Error, FactValue, RawPart, RawRow, Result, Selection, Values};

/// Rows that are held at once while writing.
const ROW_GROUP: usize = 1 << 16;

/// Writes examples as Parquet with the columns `id`, `input`, `target` and the group `facts`.
pub fn write_parquet(
    dataset: &Dataset,
    selection: &Selection<'_>,
    out: &mut (impl Write + Send),
) -> ParquetResult<()> {
    let facts = dataset.table.facts.columns();
    let mut schema = String::from(
        "message examples { required binary id (UTF8); required binary input (UTF8); required binary target (UTF8);",
    );
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
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let schema = Arc::new(parse_message_type(&schema)?);
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;

    let examples: Vec<(String, u32)> = selection.examples().collect();
    for rows in examples.chunks(ROW_GROUP) {
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
                        FactValue::Number(number) => number.to_string().into(),
                    });
                    write_texts(&mut group, labels)?;
                }
            }
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn write_texts<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    texts: impl Iterator<Item = Vec<u8>>,
) -> ParquetResult<()> {
    let values: Vec<ByteArray> = texts.map(ByteArray::from).collect();
    let mut column = group.next_column()?.expect("a column for every field of the schema");
    column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
    column.close()
}

/// Reads `input` and `target` of what [`write_parquet`] wrote.
pub fn read_parquet(path: &Path) -> Result<RawPart> {
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
    let (input, target) = (column("input")?, column("target")?);
    let mut rows = Vec::new();
    for (i, row) in reader.get_row_iter(None).map_err(fail)?.enumerate() {
        let row = row.map_err(fail)?;
        let text = |column| row.get_string(column).cloned().map_err(fail);
        rows.push(RawRow { line: i + 1, input: text(input)?, target: text(target)? });
    }
    Ok(RawPart { path: path.to_owned(), rows })
}

/// The values of one fact in what [`write_parquet`] wrote, as text.
pub(crate) fn read_parquet_fact(path: &Path, fact: &str) -> Result<Vec<String>> {
    let fail =
        |error: parquet::errors::ParquetError| Error::file(path, format!("not readable as Parquet: {error}"));
    let file = File::open(path).map_err(Error::io(path))?;
    let reader = SerializedFileReader::new(file).map_err(fail)?;
    let mut values = Vec::new();
    for row in reader.get_row_iter(None).map_err(fail)? {
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
