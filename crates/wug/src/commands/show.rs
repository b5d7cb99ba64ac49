use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use wug_bench::Address;
use wug_data::{Dataset, Error, FactValue, PartSize, Result, Selection, sheet, write_file};
use wug_learn::preview_requests;

use crate::args::Show;
use crate::commands::stats;
use crate::output::{BOLD, DIM, Done, GREEN, json, out};
use crate::terminal::Protocol;
use wug_data::thousands;

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
    let dataset =
        address.benchmark.make_with(&address.dataset, &args.data.source()?, &args.data.settings()?)?;
    if args.stats {
        return stats::run(args, &address, &dataset);
    }
    let part = address.part.as_deref().unwrap_or_else(|| address.benchmark.default_part(&address.dataset));
    let selection = dataset.select(part)?.limited(Some(args.number));
    if let Some(style) = &args.prompt {
        return show_prompt(args, style, &dataset, &selection);
    }
    let table = &dataset.table;
    if let Some(path) = &args.out {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => write_svg(&address, &dataset, &selection, path)?,
            Some("png") => write_sheet(&dataset, &selection, path)?,
            _ => {
                let what = format!("--out {}: expected a name that ends with .png or .svg", path.display());
                return Err(Error::usage(what).into());
            }
        }
        wrote(path);
    }

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

    let protocol = args.pictures.resolved();
    let mut out = out();
    let about = address.benchmark.about();
    writeln!(out, "{BOLD}{}{BOLD:#}  {}", dataset.name, about.title)?;
    let sizes: Vec<String> =
        parts.iter().map(|part| format!("{} {}", part.part, thousands(part.rows))).collect();
    writeln!(out, "{DIM}{}{DIM:#}", sizes.join(" · "))?;
    for (example, &position) in examples.iter().zip(&selection.positions) {
        writeln!(out, "\n{DIM}{}{DIM:#}", example.id)?;
        if let Some(pictures) = dataset.pictures.as_ref().filter(|_| protocol != Protocol::None) {
            let drawn = protocol.draw(&pictures.picture(&selection.part.name, position))?;
            // Past the layer that takes escape sequences out where they are not colours.
            out.flush()?;
            std::io::stdout().write_all(drawn.as_bytes())?;
        }
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

/// Prints the requests that the learner llm would send for some examples.
fn show_prompt(args: &Show, style: &str, dataset: &Dataset, selection: &Selection<'_>) -> Done {
    let set = [format!("prompt={style}")];
    let requests = preview_requests(dataset, selection, dataset.input_kind(), &set, 0)?;
    let ids = selection.examples().map(|(id, _)| id);
    if args.json {
        let document = |(id, requests): (String, Vec<(String, Value)>)| {
            let requests = requests.into_iter().map(|(url, body)| json!({"url": url, "body": body}));
            json!({"id": id, "requests": requests.collect::<Vec<_>>()})
        };
        let examples: Vec<Value> = ids.zip(requests).map(document).collect();
        return json(
            &json!({"schema": 1, "dataset": dataset.name, "part": selection.name, "examples": examples}),
        );
    }
    let mut out = out();
    for (id, requests) in ids.zip(requests) {
        for (url, body) in requests {
            writeln!(out, "{DIM}{id}{DIM:#}  POST {url}")?;
            let text = serde_json::to_string_pretty(&body).map_err(std::io::Error::from)?;
            for line in text.lines() {
                writeln!(out, "  {}", shorten_image(line))?;
            }
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// A line of JSON without most of a picture: that is for machines (--json).
fn shorten_image(line: &str) -> Cow<'_, str> {
    const PREFIX: &str = "data:image/png;base64,";
    match line.find(PREFIX) {
        Some(at) => {
            let start = at + PREFIX.len();
            let end = line[start..].find('"').map_or(line.len(), |length| start + length);
            let kept = (start + 24).min(end);
            Cow::Owned(format!("{}... ({} characters){}", &line[..kept], end - start, &line[end..]))
        }
        None => Cow::Borrowed(line),
    }
}

/// Says what was written; not on standard output, which may be JSON.
pub(crate) fn wrote(path: &Path) {
    anstream::eprintln!("wrote {}", path.display());
}

/// The most examples of a contact sheet.
const MAX_SHEET: usize = 10_000;

/// Writes the pictures of some examples below each other, or side by side where they are not strips.
fn write_sheet(dataset: &Dataset, selection: &Selection<'_>, path: &Path) -> Result<()> {
    let Some(pictures) = &dataset.pictures else {
        return Err(Error::usage(format!("{} has no pictures for --out", dataset.name)));
    };
    if selection.positions.len() > MAX_SHEET {
        return Err(Error::usage(format!("a contact sheet has at most {MAX_SHEET} pictures")));
    }
    let positions = selection.positions.iter();
    let drawn: Vec<_> = positions.map(|&position| pictures.picture(&selection.part.name, position)).collect();
    let is_strip = drawn.iter().any(|picture| picture.width > 2 * picture.height);
    let columns = if is_strip { 1 } else { (drawn.len() as f64).sqrt().ceil() as u32 };
    let file = sheet(&drawn, columns, 4).png().map_err(Error::io(path))?;
    write_file(path, |out| out.write_all(&file))
}

/// Writes the drawings of some examples below each other.
fn write_svg(address: &Address, dataset: &Dataset, selection: &Selection<'_>, path: &Path) -> Result<()> {
    if selection.positions.len() > MAX_SHEET {
        return Err(Error::usage(format!("a contact sheet has at most {MAX_SHEET} pictures")));
    }
    let rows: Vec<u32> = selection.examples().map(|(_, row)| row).collect();
    let Some(text) = address.benchmark.svg(dataset, &rows) else {
        return Err(Error::usage(format!("{} has no drawings for an SVG file", dataset.name)));
    };
    write_file(path, |out| out.write_all(text.as_bytes()))
}
