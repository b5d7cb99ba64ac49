use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use wug_data::{Error, Result, write_file};
use wug_nn::{Buffer, Layout, Optimiser, Rule};

use super::tensorboard;

/// Name of the checkpoint in a run folder.
pub(super) const FILE: &str = "checkpoint.safetensors";
/// Name of the metrics in a run folder.
pub(super) const METRICS: &str = "metrics.jsonl";
/// A header of safetensors is at most so long.
const MOST: usize = 100_000_000;

/// Training at some step: all that the next step depends on.
#[derive(Debug, Clone)]
pub(super) struct Checkpoint {
    pub(super) step: u64,
    pub(super) values: Buffer<f32>,
    pub(super) optimiser: Optimiser<f32>,
    pub(super) best: Option<Best>,
    /// Lines of metrics up to here.
    pub(super) metrics: Vec<String>,
    /// What happened since the last of them.
    pub(super) since: Totals,
}

/// What happened in some updates.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) loss: f64,
    pub(super) words: u64,
    pub(super) right: u64,
    pub(super) examples: u64,
}

/// Whose checkpoint it is.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    /// Everything that training depends on.
    pub(super) identity: Value,
    /// What a setting is that the program which wrote the checkpoint did not have.
    pub(super) defaults: BTreeMap<&'static str, Value>,
    /// The configuration of the network.
    pub(super) config: Value,
}

/// The best model by validation.
#[derive(Debug, Clone)]
pub(super) struct Best {
    pub(super) accuracy: f64,
    pub(super) step: u64,
    /// Validations since then.
    pub(super) stale: u64,
    pub(super) values: Buffer<f32>,
}

/// What the header says beside the tensors. Numbers that must come back to the bit are kept as their bits.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    schema: u32,
    identity: Value,
    config: Value,
    step: u64,
    powers: [u64; 2],
    best: Option<(u64, u64, u64)>,
    metrics: Vec<String>,
    /// Nothing where a line of metrics was just written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<(u64, u64, u64, u64)>,
}

impl Checkpoint {
    /// Writes checkpoint and metrics into a run folder, each completely or not at all.
    pub(super) fn write(&self, folder: &Path, owner: &Owner, layout: &Layout) -> Result<()> {
        let since = self.since;
        let said = Said {
            schema: 1,
            identity: owner.identity.clone(),
            config: owner.config.clone(),
            step: self.step,
            powers: self.optimiser.powers.map(f64::to_bits),
            best: self.best.as_ref().map(|best| (best.accuracy.to_bits(), best.step, best.stale)),
            metrics: self.metrics.clone(),
            since: (since.examples > 0)
                .then(|| (since.loss.to_bits(), since.words, since.right, since.examples)),
        };
        let said = serde_json::to_string(&said).expect("plain data");
        let mut header = Map::new();
        header.insert("__metadata__".to_owned(), json!({ "wug": said }));
        let mut at = 0;
        for (name, shape, values) in self.tensors(layout) {
            let end = at + 4 * values.len();
            let entry = json!({ "dtype": "F32", "shape": shape, "data_offsets": [at, end] });
            header.insert(name, entry);
            at = end;
        }
        let mut header = Value::Object(header).to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        write_file(&folder.join(FILE), |out| {
            out.write_all(&(header.len() as u64).to_le_bytes())?;
            out.write_all(&header)?;
            for (_, _, values) in self.tensors(layout) {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                out.write_all(&bytes)?;
            }
            Ok(())
        })?;
        self.write_metrics(folder)
    }

    /// Writes the metrics alone, for people who watch a run between its checkpoints.
    pub(super) fn write_metrics(&self, folder: &Path) -> Result<()> {
        write_file(&folder.join(METRICS), |out| {
            self.metrics.iter().try_for_each(|line| writeln!(out, "{line}"))
        })?;
        write_file(&folder.join(tensorboard::EVENTS), |out| tensorboard::write(&self.metrics, out))
    }

    /// The tensors of the model by name, then what the optimiser remembers and the best model, flat.
    fn tensors(&self, layout: &Layout) -> Vec<(String, Vec<usize>, &[f32])> {
        let mut tensors = Vec::new();
        for tensor in layout.tensors() {
            let shape =
                if tensor.rows == 1 { vec![tensor.columns] } else { vec![tensor.rows, tensor.columns] };
            tensors.push((tensor.name.clone(), shape, &self.values[tensor.range()]));
        }
        for (name, moments) in ["optimiser.mean", "optimiser.square"].into_iter().zip(&self.optimiser.moments)
        {
            if !moments.is_empty() {
                tensors.push((name.to_owned(), vec![moments.len()], &moments[..]));
            }
        }
        if let Some(best) = &self.best {
            tensors.push(("best".to_owned(), vec![best.values.len()], &best.values));
        }
        tensors
    }

    /// Reads the checkpoint of a run folder; `None` if there is none yet.
    pub(super) fn read(folder: &Path, owner: &Owner, layout: &Layout, rule: Rule) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let broken = |what: &str| Error::file(&path, format!("is not a checkpoint of wug: {what}"));
        let (header, data) = split(&bytes).ok_or_else(|| broken("its header is cut off"))?;
        let header: Map<String, Value> =
            serde_json::from_slice(header).map_err(|error| broken(&error.to_string()))?;
        let said = header.get("__metadata__").and_then(|metadata| metadata.get("wug")?.as_str());
        let mut said: Said =
            serde_json::from_str(said.ok_or_else(|| broken("it was written by something else"))?)
                .map_err(|error| broken(&error.to_string()))?;
        // Settings that are free to differ are in neither identity.
        if let Some(settings) = said.identity.get_mut("settings").and_then(Value::as_object_mut) {
            for (name, default) in &owner.defaults {
                if owner.identity["settings"].get(name).is_some() {
                    settings.entry(*name).or_insert_with(|| default.clone());
                }
            }
        }
        if let Some(difference) = difference(&said.identity, &owner.identity) {
            return Err(Error::file(&path, format!("belongs to another run: {difference}")));
        }
        if said.config != owner.config {
            return Err(Error::file(&path, "belongs to a model of another configuration"));
        }
        let tensor = |name: &str, len: usize| {
            let offsets = header.get(name).and_then(|entry| entry.get("data_offsets"));
            let offset =
                |i: usize| offsets.and_then(|offsets| offsets.get(i)?.as_u64()).map(|at| at as usize);
            let (start, end) = (offset(0)?, offset(1)?);
            let bytes = data.get(start..end).filter(|bytes| bytes.len() == 4 * len)?;
            let (values, _) = bytes.as_chunks::<4>();
            Some(values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect::<Vec<f32>>())
        };
        let get = |name: &str, len: usize| {
            tensor(name, len)
                .map(Buffer::from)
                .ok_or_else(|| broken(&format!("tensor `{name}` is missing or cut off")))
        };
        let total = layout.len();
        let mut values = Buffer::zeros(total);
        for each in layout.tensors() {
            values[each.range()].copy_from_slice(&get(&each.name, each.range().len())?);
        }
        let mut optimiser = Optimiser::new(rule, total);
        optimiser.powers = said.powers.map(f64::from_bits);
        if rule != Rule::Sgd {
            optimiser.moments = [get("optimiser.mean", total)?, get("optimiser.square", total)?];
        }
        let best = match said.best {
            Some((accuracy, step, stale)) => {
                let accuracy = f64::from_bits(accuracy);
                Some(Best { accuracy, step, stale, values: get("best", total)? })
            }
            None => None,
        };
        let since = said.since.map_or(Totals::default(), |(loss, words, right, examples)| Totals {
            loss: f64::from_bits(loss),
            words,
            right,
            examples,
        });
        Ok(Some(Self { step: said.step, values, optimiser, best, metrics: said.metrics, since }))
    }
}

/// Header and data of a safetensors file.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|&length| length <= MOST)?;
    rest.split_at_checked(length)
}

/// The first thing in which two runs differ, for a message.
fn difference(theirs: &Value, ours: &Value) -> Option<String> {
    if theirs == ours {
        return None;
    }
    let (Some(old), Some(new)) = (theirs.as_object(), ours.as_object()) else {
        return Some(format!("it has {theirs}, this run {ours}"));
    };
    for (name, new) in new {
        let old = old.get(name).unwrap_or(&Value::Null);
        if old != new {
            if old.is_object() && new.is_object() {
                return difference(old, new);
            }
            if name == "examples" {
                return Some("it was trained on other examples or other words".to_owned());
            }
            return Some(format!("its {name} is {old}, not {new}"));
        }
    }
    Some("it has other settings".to_owned())
}
