use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use wug_bench::{Address, ItemStream};
use wug_data::{Error, FactValue, Table};

use crate::args::Stream;
use crate::output::{Done, out};

/// Items that are drawn together.
const CHUNK: u64 = 4096;

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    input: String,
    target: String,
    facts: BTreeMap<&'static str, FactValue<'a>>,
}

pub(crate) fn run(args: &Stream) -> Done {
    let address: Address = args.dataset.parse()?;
    let stream = ItemStream::new(&address, args.seed, &args.settings()?, args.limits.clone())?;
    if args.size {
        let mut out = out();
        match stream.size() {
            Some(size) => writeln!(out, "{size}")?,
            None => writeln!(out, "endless")?,
        }
        return Ok(out.flush()?);
    }
    let mut out = out();
    let mut left = args.count.unwrap_or(u64::MAX);
    let mut from = args.from;
    while left > 0 {
        let count = left.min(CHUNK);
        let table = stream.items(from, count as usize)?;
        for row in 0..count {
            let line = line(&table, row as u32, stream.id(from + row));
            serde_json::to_writer(&mut out, &line).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        let end = || Error::usage("--from: there is no number that large");
        from = from.checked_add(count).ok_or_else(end)?;
        left -= count;
    }
    out.flush()?;
    Ok(())
}

fn line(table: &Table, row: u32, id: String) -> Line<'_> {
    let example = table.example(row);
    Line {
        id,
        input: example.input.to_string(),
        target: example.target.to_string(),
        facts: table.facts.columns().iter().map(|fact| (fact.name(), fact.value(row))).collect(),
    }
}
