use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use wug_bench::{Address, BENCHMARKS, Benchmark, Origin, Source, card};
use wug_data::{
    Dataset, Error, FileEntry, FileWriter, Folder, Manifest, Part, PartSize, Result, Selection, picture_path,
    write_jsonl, write_parquet,
};

use crate::args::{Format, Generate};
use crate::output::{Done, out, thousands};

pub(crate) fn run(args: &Generate) -> Done {
    let whole = BENCHMARKS.iter().find(|benchmark| benchmark.about().name == args.dataset);
    let source = args.data.source()?;
    let settings = args.data.settings()?;
    let addresses = match whole {
        Some(benchmark) => datasets_of(*benchmark, args.format, matches!(source, Source::Folder(..))),
        None => vec![args.dataset.parse::<Address>()?],
    };
    let about = addresses[0].benchmark.about();
    if args.no_pictures && args.format == Format::Native {
        return Err(Error::usage(
            "--no-pictures: the official files have them; choose --format jsonl or parquet",
        )
        .into());
    }
    let make = |address: &Address| -> Result<Dataset> {
        let mut dataset = address.benchmark.make_with(&address.dataset, &source, &settings)?;
        if args.no_pictures {
            dataset.pictures = None;
        }
        Ok(dataset)
    };

    // A single dataset is made before the folder is touched: most mistakes show then.
    let first = if whole.is_none() { Some(make(&addresses[0])?) } else { None };
    if let (Some(dataset), Some(part)) = (&first, &addresses[0].part) {
        dataset.select(part)?;
    }
    if Manifest::read(&args.out)?.is_some_and(|manifest| manifest.format == "run") {
        return Err(Error::file(&args.out, "holds a run: choose another folder for data").into());
    }
    let layout =
        Layout { folder: Folder::create(&args.out)?, whole: whole.is_some(), shared: Mutex::default() };
    let progress = progress(addresses.len() as u64, args.quiet);
    let written: Vec<(Vec<PartSize>, Vec<FileEntry>)> = addresses
        .par_iter()
        .map(|address| {
            let made;
            let dataset = if let Some(dataset) = &first {
                dataset
            } else {
                made = make(address)?;
                &made
            };
            let written = write(args, address, dataset, &layout);
            progress.inc(1);
            written
        })
        .collect::<Result<_>>()?;
    progress.finish_and_clear();

    let (parts, files): (Vec<_>, Vec<_>) = written.into_iter().unzip();
    let manifest = Manifest {
        schema: 1,
        wug: env!("CARGO_PKG_VERSION").to_owned(),
        dataset: whole
            .map_or_else(|| addresses[0].full_dataset(), |benchmark| benchmark.about().name.to_owned()),
        format: args.format.name().to_owned(),
        seed: args.data.recorded_seed(),
        settings: settings.typed(),
        parts: parts.into_iter().flatten().collect(),
        licence: about.licence.to_owned(),
        files: files.into_iter().flatten().collect(),
    };
    layout.folder.finish(&manifest)?;

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
        .filter(|name| format != Format::Native || benchmark.is_released(name, benchmark.default_part(name)))
        .map(|dataset| Address { benchmark, dataset, part: None })
        .collect()
}

/// How the files of one or all datasets of a benchmark lie in a folder.
struct Layout {
    folder: Folder,
    /// All datasets: native files have their places in the official repository, others a folder for each dataset.
    whole: bool,
    /// Files of the repository that have been begun: datasets may share a test file.
    shared: Mutex<HashSet<String>>,
}

fn write(
    args: &Generate,
    address: &Address,
    dataset: &Dataset,
    layout: &Layout,
) -> Result<(Vec<PartSize>, Vec<FileEntry>)> {
    let Layout { folder, whole, shared } = layout;
    let selections = selections(args, address, dataset)?;
    let prefix = if *whole { format!("{}#", address.dataset) } else { String::new() };
    let sizes = selections
        .iter()
        .map(|selection| PartSize {
            part: format!("{prefix}{}", selection.name),
            rows: selection.positions.len(),
        })
        .collect();
    let inside = if *whole { format!("{}/", address.dataset) } else { String::new() };

    let mut files = Vec::new();
    for selection in &selections {
        match args.format {
            Format::Native => {
                let native = address.benchmark.native_files(dataset, selection);
                let written: Result<Vec<Option<FileEntry>>> = native
                    .par_iter()
                    .map(|file| {
                        let path = if *whole { &file.path } else { file.name() };
                        let is_first =
                            shared.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
                        if is_first { folder.file(path, |out| (file.write)(out)).map(Some) } else { Ok(None) }
                    })
                    .collect();
                files.extend(written?.into_iter().flatten());
            }
            Format::Jsonl => {
                let path = format!("{inside}{}.jsonl", selection.name);
                files.push(folder.file(&path, |out| write_jsonl(dataset, selection, out))?);
                files.extend(write_pictures(dataset, selection, folder, &inside)?);
            }
            Format::Parquet => {
                let path = format!("{inside}{}.parquet", selection.name);
                files.push(folder.file(&path, |out: &mut FileWriter| {
                    write_parquet(dataset, selection, out).map_err(io::Error::other)
                })?);
            }
        }
    }
    if args.format == Format::Native {
        for pictures in address.benchmark.native_pictures(dataset, &selections) {
            let path =
                if *whole { format!("{}/{}", address.dataset, pictures.path) } else { pictures.path.clone() };
            let name = |i: usize| pictures.names[i].clone();
            files.push(folder.pictures(&path, pictures.names.len(), name, |i| (pictures.draw)(i))?);
        }
    } else {
        let without = if args.no_pictures { " --no-pictures" } else { "" };
        let (format, data) = (args.format.name(), args.data.typed());
        let made = format!("wug generate {address} --format {format}{data}{without} --out DIR");
        let text = card(address.benchmark, dataset, &selections, args.format.name(), &made);
        files.push(folder.file(&format!("{inside}README.md"), |out| out.write_all(text.as_bytes()))?);
    }
    Ok((sizes, files))
}

/// Writes the pictures of a part beside its JSONL file, if it has any.
fn write_pictures(
    dataset: &Dataset,
    selection: &Selection<'_>,
    folder: &Folder,
    inside: &str,
) -> Result<Option<FileEntry>> {
    let Some(pictures) = &dataset.pictures else { return Ok(None) };
    let path = format!("{inside}{}", picture_path(selection, ""));
    let path = path.trim_end_matches(".png");
    let name = |i: usize| format!("{}.png", selection.part.id(selection.positions[i] as usize));
    let draw = |i: usize| pictures.picture(&selection.part.name, selection.positions[i]);
    folder.pictures(path, selection.positions.len(), name, draw).map(Some)
}

/// The part that was asked for, or all; as native files, those that the release has or that stand for them.
fn selections<'a>(args: &Generate, address: &Address, dataset: &'a Dataset) -> Result<Vec<Selection<'a>>> {
    if let Some(part) = &address.part {
        return Ok(vec![dataset.select(part)?.limited(args.limit)]);
    }
    let released = |part: &&Part| address.benchmark.is_released(&address.dataset, &part.name);
    let is_released = dataset.parts.iter().any(|part| released(&part));
    let parts =
        dataset.parts.iter().filter(|part| args.format != Format::Native || !is_released || released(part));
    Ok(parts.map(|part| Selection::whole(part).limited(args.limit)).collect())
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
