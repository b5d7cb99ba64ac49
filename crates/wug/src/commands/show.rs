use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use wug_bench::Address;
use wug_data::{FactValue, PartSize};

use crate::args::Show;
use crate::output::{BOLD, DIM, Done, GREEN, json, out, thousands};

#[derive(Serialize)]
struct Shown<'a> {
    schema: u32,
    dataset: &'a str,
    part: &'a str,
    parts: Vec<PartSize>,
    examples: Vec<ShownExample<'a>>,
}

#[derive(Serialize)]
struct ShownExample<'a> {
    id: String,
    input: String,
    target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    derivation: Option<String>,
    facts: BTreeMap<&'static str, FactValue<'a>>,
}

pub(crate) fn run(args: &Show) -> Done {
    let address: Address = args.dataset.parse()?;
    let dataset = address.benchmark.make(&address.dataset, &args.data.source()?)?;
    let part = address.part.as_deref().unwrap_or_else(|| address.benchmark.default_part(&address.dataset));
    let selection = dataset.select(part)?.limited(Some(args.number));
    let table = &dataset.table;

    let examples: Vec<ShownExample<'_>> = selection
        .examples()
        .map(|(id, row)| ShownExample {
            id,
            input: table.inputs.get(row).to_string(),
            target: table.targets.get(row).to_string(),
            derivation: if args.answer { address.benchmark.explain(&dataset, row) } else { None },
            facts: table.facts.columns().iter().map(|fact| (fact.name(), fact.value(row))).collect(),
        })
        .collect();
    let parts: Vec<PartSize> = dataset
        .parts
        .iter()
        .map(|part| PartSize { part: part.name.clone(), rows: part.rows.len() })
        .collect();
    if args.json {
        return json(&Shown { schema: 1, dataset: &dataset.name, part, parts, examples });
    }

    let mut out = out();
    let about = address.benchmark.about();
    writeln!(out, "{BOLD}{}{BOLD:#}  {}", dataset.name, about.title)?;
    let sizes: Vec<String> =
        parts.iter().map(|part| format!("{} {}", part.part, thousands(part.rows))).collect();
    writeln!(out, "{DIM}{}{DIM:#}", sizes.join(" · "))?;
    for example in &examples {
        writeln!(out, "\n{DIM}{}{DIM:#}", example.id)?;
        writeln!(out, "  {}", example.input)?;
        writeln!(out, "  {GREEN}{}{GREEN:#}", example.target)?;
        if let Some(derivation) = &example.derivation {
            writeln!(out, "  {derivation}")?;
        }
        let facts: Vec<String> =
            example.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
        writeln!(out, "  {DIM}{}{DIM:#}", facts.join(" · "))?;
    }
    out.flush()?;
    Ok(())
}
