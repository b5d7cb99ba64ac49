use std::io::Write;
use std::path::Path;

use wug_bench::cogs::convert::{Draws, Variant, convert};
use wug_bench::cogs::files;
use wug_bench::cogs::splits::PARTS;
use wug_data::{Error, Result, write_file};

use crate::args::{Convert, Seed};
use crate::output::{Done, out};
use wug_data::thousands;

pub(crate) fn run(args: &Convert) -> Done {
    let from = variant(&args.from)?;
    let to = variant(&args.to)?;
    if from != Variant::Main {
        return Err(Error::usage(format!(
            "conversions start from cogs, not from {}: convert the COGS file it was made of",
            args.from
        ))
        .into());
    }
    let part = part(args)?;
    let draws = match args.seed {
        None => Draws::Seed(0),
        Some(Seed::Number(seed)) => Draws::Seed(seed),
        Some(Seed::Official) => Draws::Official,
    };
    let rows = files::read(&args.input)?;
    let read = rows.len();
    let rows = convert(to, &part, rows, draws)
        .map_err(|error| Error::line(&args.input, error.row + 1, error.what))?;
    if let Some(parent) = args.out.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).map_err(Error::io(parent))?;
    }
    write_file(&args.out, |out| files::write(&rows, out))?;

    let mut out = out();
    writeln!(
        out,
        "{} rows of {} as {} rows of {} in {}",
        thousands(read),
        args.input.display(),
        thousands(rows.len()),
        to.name(),
        args.out.display()
    )?;
    if args.seed.is_some_and(|seed| matches!(seed, Seed::Official)) && !to.is_repeatable() {
        writeln!(
            out,
            "the release hung on the hash seed of its process: its rule was followed with wug's own draw of {}",
            if matches!(to, Variant::Participial { .. }) { "nouns" } else { "variable names" }
        )?;
    }
    out.flush()?;
    Ok(())
}

fn variant(name: &str) -> Result<Variant> {
    Variant::named(name).ok_or_else(|| {
        let known: Vec<String> = Variant::ALL.iter().map(|variant| variant.name()).collect();
        Error::usage(format!("no conversion for `{name}`; there are: {}", known.join(", ")))
    })
}

/// The part that was named, or the one that the name of the file begins with.
fn part(args: &Convert) -> Result<String> {
    if let Some(part) = &args.part {
        return match PARTS.iter().find(|known| *known == part) {
            Some(part) => Ok((*part).to_owned()),
            None => Err(Error::usage(format!("no part `{part}`; there are: {}", PARTS.join(", ")))),
        };
    }
    let stem = args.input.file_stem().map(Path::new).and_then(Path::to_str).unwrap_or_default();
    let stem = stem.split(['_', '.']).next().unwrap_or_default();
    PARTS.iter().find(|part| **part == stem).map(|part| (*part).to_owned()).ok_or_else(|| {
        Error::usage(format!(
            "which part is {}? --part {} says so; only train is added to and altered",
            args.input.display(),
            PARTS.join("|")
        ))
    })
}
