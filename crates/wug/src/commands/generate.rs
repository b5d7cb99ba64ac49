use std::io::{self, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use wug_bench::{Address, BENCHMARKS, Benchmark, Origin, card};
use wug_data::{
    Dataset, FileEntry, FileWriter, Folder, Manifest, PartSize, Result, Selection, write_jsonl, write_parquet,
};

use crate::args::{Format, Generate};
use crate::output::{Done, out, thousands};

pub(crate) fn run(args: &Generate) -> Done {
    let whole = BENCHMARKS.iter().find(|benchmark| benchmark.about().name == args.dataset);
    let addresses = match whole {
        Some(benchmark) => datasets_of(*benchmark, args.format, matches!(args.data.source()?, wug_bench::Source::Folder(..))),
        None => vec![args.dataset.parse::<Address>()?],
    };
    let source = args.data.source()?;
    let about = addresses[0].benchmark.about();
    // Each dataset of a benchmark has its place in the repository's layout, or a folder of its own.
    let inside = |address: &Address| if whole.is_some() { format!("{}/", address.dataset) } else { String::new() };

    // A single dataset is made before the folder is touched: most mistakes show then.
    let first = if whole.is_none() { Some(addresses[0].benchmark.make(&addresses[0].dataset, &source)?) } else { None };
    if let (Some(dataset), Some(part)) = (&first, &addresses[0].part) {
        dataset.select(part)?;
    }
    let folder = Folder::create(&args.out)?;
    let progress = progress(addresses.len() as u64, args.quiet);
    let written: Vec<(Vec<PartSize>, Vec<FileEntry>)> = addresses
        .par_iter()
        .map(|address| {
            let made;
            let dataset = if let Some(dataset) = &first {
                dataset
            } else {
                made = address.benchmark.make(&address.dataset, &source)?;
                &made
            };
            let written = write(args, address, dataset, &folder, &inside(address), whole.is_some());
            progress.inc(1);
            written
        })
        .collect::<Result<_>>()?;
    progress.finish_and_clear();

    let (parts, files): (Vec<_>, Vec<_>) = written.into_iter().unzip();
    let mut manifest = Manifest {
        schema: 1,
        wug: env!("CARGO_PKG_VERSION").to_owned(),
        dataset: whole.map_or_else(|| addresses[0].full_dataset(), |benchmark| benchmark.about().name.to_owned()),
        format: args.format.name().to_owned(),
        seed: args.data.recorded_seed(),
        parts: parts.into_iter().flatten().collect(),
        licence: about.licence.to_owned(),
        files: files.into_iter().flatten().collect(),
    };
    // Two datasets may share a file of the repository.
    manifest.files.dedup_by(|a, b| a.path == b.path);
    folder.finish(&manifest)?;

    let rows: usize = manifest.parts.iter().map(|part| part.rows).sum();
    let mut out = out();
    writeln!(
        out,
        "{}: {} files with {} examples in {}",
        manifest.dataset,
        manifest.files.len(),
        thousands(rows),
        args.out.display()
    )?;
    out.flush()?;
    Ok(())
}

/// All datasets of a benchmark that can be made; as native files only those that the release has.
fn datasets_of(benchmark: &'static dyn Benchmark, format: Format, imported: bool) -> Vec<Address> {
    let families = benchmark.families().into_iter();
    families
        .filter(|family| imported || family.origin != Origin::Imported)
        .flat_map(|family| family.names)
        .filter(|name| {
            format != Format::Native || benchmark.is_released(name, benchmark.default_part(name))
        })
        .map(|dataset| Address { benchmark, dataset, part: None })
        .collect()
}

fn write(
    args: &Generate,
    address: &Address,
    dataset: &Dataset,
    folder: &Folder,
    inside: &str,
    whole: bool,
) -> Result<(Vec<PartSize>, Vec<FileEntry>)> {
    let selections: Vec<Selection<'_>> = match &address.part {
        Some(part) => vec![dataset.select(part)?.limited(args.limit)],
        None => {
            let parts = dataset.parts.iter().filter(|part| {
                args.format != Format::Native
                    || address.benchmark.is_released(&address.dataset, &part.name)
                    || !address.benchmark.is_released(&address.dataset, "train") && matches!(part.name.as_str(), "train" | "test")
            });
            parts.map(|part| Selection::whole(part).limited(args.limit)).collect()
        }
    };
    let label = |selection: &Selection<'_>| match whole {
        true => format!("{}#{}", address.dataset, selection.name),
        false => selection.name.clone(),
    };
    let sizes = selections
        .iter()
        .map(|selection| PartSize { part: label(selection), rows: selection.positions.len() })
        .collect();

    let mut files = Vec::new();
    for selection in &selections {
        match args.format {
            Format::Native => {
                for file in address.benchmark.native_files(dataset, selection) {
                    let path = if whole { &file.path } else { file.name() };
                    files.push(folder.file(path, |out| (file.write)(out))?);
                }
            }
            Format::Jsonl => {
                let path = format!("{inside}{}.jsonl", selection.name);
                files.push(folder.file(&path, |out| write_jsonl(dataset, selection, out))?);
            }
            Format::Parquet => {
                let path = format!("{inside}{}.parquet", selection.name);
                files.push(folder.file(&path, |out: &mut FileWriter| {
                    write_parquet(dataset, selection, out).map_err(io::Error::other)
                })?);
            }
        }
    }
    if args.format != Format::Native {
        let made = format!("wug generate {address} --format {}{} --out DIR", args.format.name(), args.data.typed());
        let text = card(address.benchmark, dataset, &selections, args.format.name(), &made);
        files.push(folder.file(&format!("{inside}README.md"), |out| out.write_all(text.as_bytes()))?);
    }
    Ok((sizes, files))
}

fn progress(steps: u64, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(
        Some(steps),
        if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
    );
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} datasets, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
