use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use wug_bench::{Address, Availability, BENCHMARKS, Benchmark, Files, Source, card, collection_card};
use wug_data::{
    Dataset, Error, FileEntry, FileWriter, Folder, Manifest, Part, PartSize, Result, Selection, picture_path,
    write_image_list, write_jsonl_counted, write_parquet_counted,
};

use crate::args::{Format, Generate};
use crate::output::{Done, out};
use crate::progress::{LOG_EVERY, Progress};
use wug_data::thousands;

pub(crate) fn run(args: &Generate) -> Done {
    // A benchmark with one dataset names that.
    let whole = match args.dataset.parse::<Address>() {
        Ok(_) => None,
        Err(_) => BENCHMARKS.iter().find(|benchmark| benchmark.about().name == args.dataset),
    };
    let source = args.data.source()?;
    let settings = args.data.settings()?;
    let addresses = match whole {
        Some(benchmark) => datasets_of(benchmark, args.format, &source)?,
        None => vec![args.dataset.parse::<Address>()?],
    };
    let Some(first) = addresses.first() else {
        let what = format!("no dataset of {} can be drawn: read them with --data DIR", args.dataset);
        return Err(Error::usage(what).into());
    };
    let about = first.benchmark.about();
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
    let progress = Progress::start(args.quiet, LOG_EVERY);
    let written: Vec<Written> = addresses
        .par_iter()
        .map(|address| {
            let made;
            let dataset = if let Some(dataset) = &first {
                dataset
            } else {
                made = make(address)?;
                &made
            };
            write(args, address, dataset, &layout, &progress)
        })
        .collect::<Result<_>>()?;
    progress.finish();

    let card = whole.filter(|_| args.format != Format::Native).map(|benchmark| {
        let datasets: Vec<(String, Files)> = addresses
            .iter()
            .zip(&written)
            .map(|(address, written)| (address.dataset.clone(), written.listed.clone()))
            .collect();
        let text = collection_card(&**benchmark, &datasets, &command(args, &args.dataset));
        layout.folder.file("README.md", |out| out.write_all(text.as_bytes()))
    });
    let card = card.transpose()?;
    let (parts, files): (Vec<_>, Vec<_>) =
        written.into_iter().map(|written| (written.sizes, written.files)).unzip();
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
        files: files.into_iter().flatten().chain(card).collect(),
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

/// All datasets of a benchmark that can be made; as native files only those that the release has, if there is one.
fn datasets_of(benchmark: &Arc<dyn Benchmark>, format: Format, source: &Source) -> Result<Vec<Address>> {
    let (imported, written) = match source {
        Source::Folder(folder, _) if folder.is_dir() => (true, Manifest::read(folder)?),
        Source::Folder(..) => (true, None),
        _ => (false, None),
    };
    // A folder that wug wrote says which datasets it has.
    let has = |name: &String| {
        let begin = format!("{name}#");
        written.as_ref().is_none_or(|written| written.parts.iter().any(|size| size.part.starts_with(&begin)))
    };
    let families = benchmark.families().into_iter();
    let names: Vec<String> = families
        .filter(|family| imported || family.origin != Availability::Imported)
        .flat_map(|family| family.names)
        .filter(has)
        .collect();
    let is_released = |name: &String| {
        benchmark.release().is_some_and(|release| release.is_released(name, benchmark.default_part(name)))
    };
    let all = format != Format::Native || !names.iter().any(is_released);
    let names = names.into_iter().filter(|name| all || is_released(name));
    Ok(names.map(|dataset| Address { benchmark: Arc::clone(benchmark), dataset, part: None }).collect())
}

/// How the files of one or all datasets of a benchmark lie in a folder.
struct Layout {
    folder: Folder,
    /// All datasets: native files have their places in the official repository, others a folder for each dataset.
    whole: bool,
    /// Files of the repository that have been begun: datasets may share a test file.
    shared: Mutex<HashSet<String>>,
}

/// What was written of a dataset.
struct Written {
    sizes: Vec<PartSize>,
    files: Vec<FileEntry>,
    listed: Files,
}

/// The command that writes the same files.
fn command(args: &Generate, dataset: &str) -> String {
    let limit = args.limit.map_or_else(String::new, |limit| format!(" --limit {limit}"));
    let without = if args.no_pictures { " --no-pictures" } else { "" };
    let (format, data) = (args.format.name(), args.data.typed());
    format!("wug generate {dataset} --format {format}{data}{limit}{without} --out DIR")
}

fn write(
    args: &Generate,
    address: &Address,
    dataset: &Dataset,
    layout: &Layout,
    progress: &Progress,
) -> Result<Written> {
    let Layout { folder, whole, shared } = layout;
    let selections = selections(args, address, dataset)?;
    progress.expect(selections.iter().map(|selection| selection.positions.len()).sum());
    let done = |rows| progress.add(rows);
    let has_pictures = dataset.pictures.is_some();
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
                let native = address.benchmark.expect_release()?.native_files(dataset, selection);
                // Some releases have a file for each row.
                let is_file_a_row = native.len() == selection.positions.len();
                let written: Result<Vec<Option<FileEntry>>> = native
                    .par_iter()
                    .map(|file| {
                        if is_file_a_row {
                            done(1);
                        }
                        let path = if *whole { &file.path } else { file.name() };
                        let is_first =
                            shared.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
                        if is_first { folder.file(path, |out| (file.write)(out)).map(Some) } else { Ok(None) }
                    })
                    .collect();
                files.extend(written?.into_iter().flatten());
                if !is_file_a_row {
                    done(selection.positions.len());
                }
            }
            Format::Jsonl => {
                let path = format!("{inside}{}.jsonl", selection.name);
                // Where there are pictures, a row is done when its picture is.
                let count: &(dyn Fn(usize) + Sync) = if has_pictures { &|_| () } else { &done };
                files.push(folder.file(&path, |out| write_jsonl_counted(dataset, selection, out, count))?);
                files.extend(write_pictures(dataset, selection, folder, &inside, &done)?);
            }
            Format::Parquet => {
                let path = format!("{inside}{}.parquet", selection.name);
                files.push(folder.file(&path, |out: &mut FileWriter| {
                    write_parquet_counted(dataset, selection, out, &done).map_err(io::Error::other)
                })?);
            }
        }
    }
    if args.format == Format::Native {
        for pictures in address.benchmark.expect_release()?.native_pictures(dataset, &selections) {
            let path =
                if *whole { format!("{}/{}", address.dataset, pictures.path) } else { pictures.path.clone() };
            let name = |i: usize| pictures.names[i].clone();
            files.push(folder.pictures(&path, pictures.names.len(), name, |i| (pictures.draw)(i))?);
        }
    } else {
        let made = command(args, &address.to_string());
        let text = card(&*address.benchmark, dataset, &selections, args.format.name(), &made);
        files.push(folder.file(&format!("{inside}README.md"), |out| out.write_all(text.as_bytes()))?);
    }
    Ok(Written { sizes, files, listed: Files::of(dataset, &selections, args.format.name()) })
}

/// Writes the pictures of a part beside its JSONL file, if it has any.
fn write_pictures(
    dataset: &Dataset,
    selection: &Selection<'_>,
    folder: &Folder,
    inside: &str,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<FileEntry>> {
    let Some(pictures) = &dataset.pictures else { return Ok(Vec::new()) };
    let path = format!("{inside}{}", picture_path(selection, ""));
    let path = path.trim_end_matches(".png");
    let name = |i: usize| format!("{}.png", selection.part.id(selection.positions[i] as usize));
    let draw = |i: usize| {
        let picture = pictures.picture(&selection.part.name, selection.positions[i]);
        done(1);
        picture
    };
    let written = folder.pictures(path, selection.positions.len(), name, draw)?;
    let list =
        folder.file(&format!("{path}metadata.jsonl"), |out| write_image_list(dataset, selection, out))?;
    Ok(vec![written, list])
}

/// The part that was asked for, or all; as native files, those that the release has or that stand for them.
fn selections<'a>(args: &Generate, address: &Address, dataset: &'a Dataset) -> Result<Vec<Selection<'a>>> {
    if let Some(part) = &address.part {
        return Ok(vec![dataset.select(part)?.limited(args.limit)]);
    }
    let release = address.benchmark.release();
    let released =
        |part: &&Part| release.is_some_and(|release| release.is_released(&address.dataset, &part.name));
    let is_released = dataset.parts.iter().any(|part| released(&part));
    let parts =
        dataset.parts.iter().filter(|part| args.format != Format::Native || !is_released || released(part));
    Ok(parts.map(|part| Selection::whole(part).limited(args.limit)).collect())
}
