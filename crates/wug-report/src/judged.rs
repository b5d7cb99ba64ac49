//! Predictions with their verdicts: those of a run folder, or of a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wug_bench::{Address, Benchmark, DataSettings, Source, Verdict};
use wug_data::{Dataset, Error, Prediction, PredictionFormat, Predictions, Result, Selection};
use wug_run::{RunRecord, RunSpec, Status, score};

/// The predictions of one run, or of a file, with verdicts.
pub struct Judged {
    /// What it is called: the folder or file.
    pub name: String,
    /// The record of the run, if it is one.
    pub record: Option<RunRecord>,
    /// The benchmark.
    pub benchmark: Arc<dyn Benchmark>,
    /// The examples.
    pub dataset: Arc<Dataset>,
    /// What judged.
    pub metric: String,
    /// A list of verdicts for each part.
    pub parts: Vec<JudgedPart>,
}

/// The verdicts on the predictions for a part.
pub struct JudgedPart {
    /// What was asked for: `test`, `test-SL`.
    pub name: String,
    /// The part of the dataset that it belongs to.
    pub part: String,
    /// The hash of that part.
    pub hash: String,
    /// Positions of the examples in that part.
    pub positions: Vec<u32>,
    /// Their rows in the table.
    pub rows: Vec<u32>,
    /// What was predicted for each.
    pub predictions: Vec<Prediction>,
    /// What the judge says of each.
    pub verdicts: Vec<Verdict>,
}

impl JudgedPart {
    /// The id of the example at an index.
    pub fn id(&self, index: usize) -> String {
        format!("{}_{:08}", self.part, self.positions[index])
    }
}

/// Datasets that were made, each once.
#[derive(Default)]
pub struct Datasets {
    made: BTreeMap<String, (Arc<Dataset>, BTreeMap<String, String>)>,
}

/// Which predictions are judged, and by what.
struct Asked<'a> {
    address: &'a Address,
    source: &'a Source,
    settings: &'a DataSettings,
    parts: &'a [String],
    limit: Option<usize>,
    metric: &'a str,
}

impl Datasets {
    /// Judges the predictions of a run again; `metric` replaces its own.
    ///
    /// # Errors
    /// If the folder holds no finished run, or its data or predictions cannot be had.
    pub fn judge_run(&mut self, folder: &Path, metric: Option<&str>) -> Result<Judged> {
        let none = || Error::file(folder, "there is no run in this folder");
        let record = RunRecord::read(folder)?.ok_or_else(none)?;
        if record.status != Status::Done {
            let shown = folder.display();
            return Err(Error::file(folder, format!("the run is unfinished: `wug run --resume {shown}`")));
        }
        self.judge_record(folder, record, metric)
    }

    /// The same for a record that was read.
    pub fn judge_record(&mut self, folder: &Path, record: RunRecord, metric: Option<&str>) -> Result<Judged> {
        let RunSpec { dataset, source, parts, limit, metric: own, .. } = &record.spec;
        let address: Address = dataset.parse()?;
        let asked = Asked {
            address: &address,
            source,
            settings: &record.spec.data_settings(),
            parts,
            limit: *limit,
            metric: metric.unwrap_or(own),
        };
        let path = folder.join("predictions.jsonl");
        let mut judged = self.judge(&path, Some(PredictionFormat::JsonLines), &asked)?;
        let hashes = record.scores.iter().flat_map(|scores| &scores.hashes);
        for (part, hash) in hashes {
            if judged.parts.iter().any(|judged| judged.part == *part && judged.hash != *hash) {
                let what = format!(
                    "{dataset}#{part} is not the data that were answered (now another hash than {hash}): \
                     another version of wug drew them, or the files changed"
                );
                return Err(Error::file(folder, what));
            }
        }
        judged.name = folder.display().to_string();
        judged.record = Some(record);
        Ok(judged)
    }

    /// Judges a file of predictions for a dataset, of a part of it if the address has one.
    pub fn judge_file(
        &mut self,
        path: &Path,
        address: &Address,
        source: &Source,
        settings: &DataSettings,
        metric: Option<&str>,
    ) -> Result<Judged> {
        let own = address.benchmark.metrics()[0].name;
        let default = address.benchmark.default_part(&address.dataset).to_owned();
        let parts: Vec<String> = address
            .part
            .as_ref()
            .map_or(vec![default], |parts| parts.split(',').map(str::to_owned).collect());
        let metric = metric.unwrap_or(own);
        let asked = Asked { address, source, settings, parts: &parts, limit: None, metric };
        self.judge(path, None, &asked)
    }

    fn judge(&mut self, path: &Path, format: Option<PredictionFormat>, asked: &Asked<'_>) -> Result<Judged> {
        let benchmark = Arc::clone(&asked.address.benchmark);
        let judge = benchmark.judge(asked.metric)?;
        let (dataset, hashes) = self.make(asked)?;
        let select = |part: &String| Ok(dataset.select(part)?.limited(asked.limit));
        let selections: Vec<Selection<'_>> = asked.parts.iter().map(select).collect::<Result<_>>()?;
        let read = Predictions::read_for(path, format, &dataset, &selections)?;
        let aligned = read.align_rows(&selections)?;
        let mut parts = Vec::new();
        for (selection, predictions) in selections.into_iter().zip(aligned) {
            let texts: Vec<&str> = predictions.iter().map(|row| row.text.as_str()).collect();
            let known = hashes.entry(selection.part.name.clone());
            let hash = known.or_insert_with(|| dataset.part_sha256(selection.part)).clone();
            let rows = selection.examples().map(|(_, row)| row).collect();
            let scored = score(&dataset, selection, &texts, judge.as_ref());
            let selection = scored.selection();
            parts.push(JudgedPart {
                name: selection.name.clone(),
                part: selection.part.name.clone(),
                hash,
                positions: selection.positions.clone(),
                rows,
                verdicts: scored.verdicts().to_vec(),
                predictions: predictions.into_iter().cloned().collect(),
            });
        }
        Ok(Judged {
            name: path.display().to_string(),
            record: None,
            benchmark,
            dataset,
            metric: asked.metric.to_owned(),
            parts,
        })
    }

    /// Makes a dataset, or finds it made, with the hashes of its parts that are known.
    fn make(&mut self, asked: &Asked<'_>) -> Result<(Arc<Dataset>, &mut BTreeMap<String, String>)> {
        let name = asked.address.full_dataset();
        let key = format!("{name} {:?} {:?}", asked.source, asked.settings);
        if !self.made.contains_key(&key) {
            let benchmark = &asked.address.benchmark;
            let made = benchmark.make_with(&asked.address.dataset, asked.source, asked.settings)?;
            self.made.insert(key.clone(), (Arc::new(made), BTreeMap::new()));
        }
        let (dataset, hashes) = self.made.get_mut(&key).expect("it was just made");
        Ok((Arc::clone(dataset), hashes))
    }
}

/// The run folders `seed-N` that `wug run --seeds` makes below a folder, in the order of their seeds; none if the folder
/// is a run itself.
pub fn seed_folders(folder: &Path) -> Result<Vec<PathBuf>> {
    if folder.join(wug_data::MANIFEST).exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).map_err(Error::io(folder))?;
    let seed = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix("seed-")?.parse::<u64>().ok();
    let mut found: Vec<(u64, PathBuf)> =
        entries.flatten().filter_map(|entry| Some((seed(&entry.path())?, entry.path()))).collect();
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
