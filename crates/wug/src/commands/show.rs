use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use wug_bench::Address;
use wug_data::{Dataset, FactValue, PartSize, write_file};
use wug_report::{Stats, quantile};

use crate::args::Show;
use crate::output::{BOLD, DIM, Done, GREEN, bar, json, out, table, thousands};

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
    facts: BTreeMap<&'static str, FactValue<'a>>,
}

pub(crate) fn run(args: &Show) -> Done {
    let address: Address = args.dataset.parse()?;
    let dataset = address.benchmark.make(&address.dataset, &args.data.source()?)?;
    if args.stats {
        return stats(args, &dataset);
    }
    let part = address.part.as_deref().unwrap_or_else(|| address.benchmark.default_part(&address.dataset));
    let selection = dataset.select(part)?.limited(Some(args.number));
    let table = &dataset.table;

    let examples: Vec<ShownExample<'_>> = selection
        .examples()
        .map(|(id, row)| ShownExample {
            id,
            input: table.inputs.get(row).to_string(),
            target: table.targets.get(row).to_string(),
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
        let facts: Vec<String> =
            example.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
        writeln!(out, "  {DIM}{}{DIM:#}", facts.join(" · "))?;
    }
    out.flush()?;
    Ok(())
}

/// Figures over the whole dataset.
fn stats(args: &Show, dataset: &Dataset) -> Done {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: u32,
        dataset: &'a str,
        #[serde(flatten)]
        stats: &'a Stats,
    }
    let stats = Stats::of(dataset);
    if let Some(path) = &args.csv {
        write_file(path, |out| stats.write_csv(out))?;
    }
    if args.json {
        return json(&Document { schema: 1, dataset: &dataset.name, stats: &stats });
    }
    let mut out = out();
    writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}lengths in tokens: median, 95%, longest{DIM:#}", dataset.name)?;
    let lengths = |lengths| {
        let at = |share| quantile(lengths, share).to_string();
        [at(0.5), at(0.95), at(1.0)].join(" / ")
    };
    let rows = stats.parts.iter().map(|part| {
        vec![
            part.part.clone(),
            thousands(part.rows),
            lengths(&part.input_lengths),
            lengths(&part.target_lengths),
        ]
    });
    write!(out, "{}", table(&["part", "n", "input", "target"], &[1, 2, 3], rows.collect()))?;
    for followers in &stats.followers {
        let without = match followers.without.as_slice() {
            [] => String::new(),
            tokens => format!(", without {}", tokens.join(" ")),
        };
        let part = stats.parts.first().map_or("", |part| &part.part);
        writeln!(out, "\n{BOLD}behind a comma in the targets of {part}{without}{BOLD:#}")?;
        let most = followers.counts.first().map_or(1, |(_, count)| *count);
        let rows = followers.counts.iter().take(10).map(|(word, count)| {
            vec![format!(", {word}"), thousands(*count), bar(*count as f64 / most as f64, 20)]
        });
        write!(out, "{}", table(&["bigram", "count", ""], &[1], rows.collect()))?;
    }
    out.flush()?;
    Ok(())
}
