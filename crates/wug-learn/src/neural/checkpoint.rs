use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use safetensors::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use wug_data::{Error, Result, write_file};
use wug_nn::{Buffer, Layout, Optimiser, Rule};

use super::metrics::Metrics;

/// Name of the checkpoint in a run folder.
pub(super) const FILE: &str = "checkpoint.safetensors";
/// The key of the metadata. There is only one: the format does not order them.
const METADATA: &str = "wug";
/// Version of the metadata.
const SCHEMA: u32 = 2;

/// Training at some step: all that the next step depends on.
#[derive(Debug, Clone)]
pub(super) struct Checkpoint {
    pub(super) step: u64,
    pub(super) values: Buffer<f32>,
    pub(super) optimiser: Optimiser<f32>,
    pub(super) best: Option<Best>,
    /// The learning curve up to here.
    pub(super) metrics: Metrics,
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

/// What the metadata says beside the tensors. Floating-point numbers that must come back to the bit are kept as their bits.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Metadata {
    pub(super) identity: Value,
    pub(super) config: Value,
    step: u64,
    powers: [u64; 2],
    pub(super) best: Option<(u64, u64, u64)>,
    metrics: Vec<String>,
    /// Nothing where a line of metrics was just written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<(u64, u64, u64, u64)>,
}

impl Checkpoint {
    /// Writes checkpoint and metrics into a run folder, each completely or not at all.
    pub(super) fn write(&self, folder: &Path, owner: &Owner, layout: &Layout) -> Result<()> {
        let since = self.since;
        let metadata = Metadata {
            identity: owner.identity.clone(),
            config: owner.config.clone(),
            step: self.step,
            powers: self.optimiser.powers.map(f64::to_bits),
            best: self.best.as_ref().map(|best| (best.accuracy.to_bits(), best.step, best.stale)),
            metrics: self.metrics.lines().to_vec(),
            since: (since.examples > 0)
                .then(|| (since.loss.to_bits(), since.words, since.right, since.examples)),
        };
        let metadata = serde_json::to_string(&metadata).expect("plain data");
        let path = folder.join(FILE);
        let bytes = sealed(&metadata, self.tensors(layout)).map_err(|what| Error::file(&path, what))?;
        write_file(&path, |out| out.write_all(&bytes))?;
        self.metrics.write(folder)
    }

    /// The tensors of the model by name, then what the optimiser remembers and the best model, flat.
    fn tensors(&self, layout: &Layout) -> BTreeMap<String, Tensor> {
        let mut tensors = BTreeMap::new();
        let mut add = |name: &str, shape, values: &[f32]| {
            let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            tensors.insert(name.to_owned(), Tensor { shape, bytes });
        };
        for tensor in layout.tensors() {
            let shape =
                if tensor.rows == 1 { vec![tensor.columns] } else { vec![tensor.rows, tensor.columns] };
            add(&tensor.name, shape, &self.values[tensor.range()]);
        }
        for (name, moments) in ["optimiser.mean", "optimiser.square"].into_iter().zip(&self.optimiser.moments)
        {
            if !moments.is_empty() {
                add(name, vec![moments.len()], moments);
            }
        }
        if let Some(best) = &self.best {
            add("best", vec![best.values.len()], &best.values);
        }
        tensors
    }

    /// Reads the checkpoint of a run folder; `None` if there is none yet.
    pub(super) fn read(folder: &Path, owner: &Owner, layout: &Layout, rule: Rule) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        let Some(bytes) = load(&path)? else { return Ok(None) };
        let broken = |what: &str| Error::file(&path, format!("is not a checkpoint of wug: {what}"));
        let (metadata, tensors) = opened(&bytes).map_err(|what| broken(&what))?;
        let mut said: Metadata =
            serde_json::from_str(&metadata).map_err(|error| broken(&error.to_string()))?;
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
            let tensor = tensors.tensor(name).ok()?;
            let bytes = Some(tensor.data()).filter(|bytes| bytes.len() == 4 * len)?;
            let (values, _) = bytes.as_chunks::<4>();
            Some(values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect::<Vec<f32>>())
        };
        let get = |name: &str, len: usize| {
            tensor(name, len)
                .map(Buffer::from)
                .ok_or_else(|| broken(&format!("tensor `{name}` is missing or has another shape")))
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
        let metrics = Metrics::of_checkpoint(said.metrics, folder);
        Ok(Some(Self { step: said.step, values, optimiser, best, metrics, since }))
    }
}

/// The bytes of a checkpoint; `None` if there is none.
pub(super) fn load(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path)(error)),
    }
}

/// A tensor as the file has it.
struct Tensor {
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// The bytes of a safetensors file whose metadata begins with its version and a checksum of everything that is read.
fn sealed(metadata: &str, tensors: BTreeMap<String, Tensor>) -> Result<Vec<u8>, String> {
    let all = tensors.iter().map(|(name, tensor)| (name.as_str(), &tensor.shape[..], &tensor.bytes[..]));
    let sealed = format!("{SCHEMA} {} {metadata}", checksum(metadata, all));
    let metadata = HashMap::from([(METADATA.to_owned(), sealed)]);
    safetensors::serialize(&tensors, Some(metadata)).map_err(|error| error.to_string())
}

/// The metadata and the tensors of such a file, or what is wrong with it.
pub(super) fn opened(bytes: &[u8]) -> Result<(String, SafeTensors<'_>), String> {
    let foreign = || "it was written by something else".to_owned();
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let sealed =
        header.metadata().as_ref().and_then(|metadata| metadata.get(METADATA)).ok_or_else(foreign)?;
    if sealed.starts_with('{') {
        return Err("an older version of wug wrote it: run again from the start".to_owned());
    }
    let mut words = sealed.splitn(3, ' ');
    let (Some(schema), Some(sum), Some(metadata)) = (words.next(), words.next(), words.next()) else {
        return Err(foreign());
    };
    if schema != SCHEMA.to_string() {
        return Err(format!("it has version {schema}, and this program reads version {SCHEMA}"));
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let mut all = tensors.tensors();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    let views = all.iter().map(|(name, view)| (name.as_str(), view.shape(), view.data()));
    if checksum(metadata, views) != sum {
        return Err("its checksum does not fit: the file is damaged".to_owned());
    }
    Ok((metadata.to_owned(), tensors))
}

/// SHA-256 of the metadata and the tensors, in the order of their names.
fn checksum<'t>(metadata: &str, tensors: impl Iterator<Item = (&'t str, &'t [usize], &'t [u8])>) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(metadata.as_bytes());
    for (name, shape, bytes) in tensors {
        add(name.as_bytes());
        for &side in shape {
            add(&(side as u64).to_le_bytes());
        }
        add(bytes);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first thing in which two runs differ, for a message.
pub(super) fn difference(theirs: &Value, ours: &Value) -> Option<String> {
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

/// A checkpoint with other metadata, sealed again.
#[cfg(test)]
pub(super) fn edited(bytes: &[u8], edit: impl Fn(&str) -> String) -> Vec<u8> {
    let (metadata, tensors) = opened(bytes).expect("a checkpoint");
    let copy = |(name, view): (String, safetensors::tensor::TensorView<'_>)| {
        (name, Tensor { shape: view.shape().to_vec(), bytes: view.data().to_vec() })
    };
    let edited = edit(&metadata);
    assert_ne!(edited, metadata);
    sealed(&edited, tensors.tensors().into_iter().map(copy).collect()).expect("plain data")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensors() -> BTreeMap<String, Tensor> {
        let tensor =
            |shape: &[usize], bytes: u8| Tensor { shape: shape.to_vec(), bytes: (0..bytes).collect() };
        BTreeMap::from([("a".to_owned(), tensor(&[2, 3], 24)), ("b".to_owned(), tensor(&[4], 16))])
    }

    #[test]
    fn a_flipped_bit_anywhere_is_found() {
        let whole = sealed(r#"{"step":12}"#, tensors()).unwrap();
        assert_eq!(opened(&whole).unwrap().0, r#"{"step":12}"#);
        for bit in 0..8 * whole.len() {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(opened(&damaged).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        }
    }

    #[test]
    fn a_checkpoint_of_an_older_version_is_recognised() {
        let metadata = HashMap::from([(METADATA.to_owned(), r#"{"schema":1}"#.to_owned())]);
        let old = safetensors::serialize(&tensors(), Some(metadata)).unwrap();
        assert!(opened(&old).err().unwrap().contains("an older version of wug"));
    }
}
