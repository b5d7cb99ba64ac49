use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use wug_bench::{Address, DataSettings, Source};
use wug_data::{Error, Result};
use wug_learn::{EXECUTION_SETTINGS, Settings, learner};

/// Everything that determines the result of a run.
///
/// Its JSON is the `spec` of `run.json`; [`RunSpec::key`] hashes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// `scan/length`.
    pub dataset: String,
    /// Where the data come from.
    pub source: Source,
    /// What was chosen about the data.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub with: BTreeMap<String, String>,
    /// The parts that are answered; if empty, the one that the benchmark tests on.
    pub parts: Vec<String>,
    /// The number of examples of each part, from the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The learner.
    pub learner: String,
    /// Present if the learner is given the symbols behind the images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Symbols>,
    /// Every setting of the learner with its value.
    pub settings: BTreeMap<String, Value>,
    /// The run whose trained model this one fine-tunes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<Box<RunSpec>>,
    /// Seed of the learner.
    pub learner_seed: u64,
    /// The metric.
    pub metric: String,
    /// Facts that scores are broken down by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// Whether the importance of facts is measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub importance: bool,
    /// Inputs whose nearest training inputs are reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<String>,
}

/// The symbols behind the images of a dataset, as what a learner reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Symbols {
    /// `--reads symbols`.
    Symbols,
}

impl RunSpec {
    /// A learner on a dataset (`scan/length`, or parts of it: `cogs/main#test,gen`), all else as it is by default.
    pub fn new(dataset: &str, learner_name: &str) -> Result<Self> {
        let address: Address = dataset.parse()?;
        let about = learner(learner_name)?.about();
        Ok(Self {
            dataset: address.full_dataset(),
            source: Source::Seed(0),
            with: BTreeMap::new(),
            parts: address.part.iter().flat_map(|parts| parts.split(',')).map(str::to_owned).collect(),
            limit: None,
            learner: about.name.to_owned(),
            reads: None,
            settings: Settings::read(about, &[])?.to_map(),
            init: None,
            learner_seed: 0,
            metric: address.benchmark.metrics()[0].name.to_owned(),
            by: Vec::new(),
            importance: false,
            neighbours: Vec::new(),
        })
    }

    /// Sets the learner's settings from `name=value` texts; the others are those of the run that is fine-tuned, or have
    /// their defaults.
    pub fn set(&mut self, given: &[String]) -> Result<()> {
        let base = self.init.as_ref().map(|init| init.settings.clone()).unwrap_or_default();
        self.settings = Settings::read_over(learner(&self.learner)?.about(), &base, given)?.to_map();
        Ok(())
    }

    /// Changes settings that only say how to execute, from `name=value` texts.
    pub fn set_execution(&mut self, given: &[String]) -> Result<()> {
        let about = learner(&self.learner)?.about();
        let read = Settings::read(about, given)?.to_map();
        for name in given.iter().filter_map(|text| text.split('=').next()) {
            if !EXECUTION_SETTINGS.contains(&name) {
                let can = about.settings.iter().map(|setting| setting.name);
                let can: Vec<&str> = can.filter(|name| EXECUTION_SETTINGS.contains(name)).collect();
                return Err(Error::usage(format!(
                    "`{name}` decides about the result and cannot be changed in a run that is resumed; these can: {}",
                    can.join(", ")
                )));
            }
            self.settings.insert(name.to_owned(), read[name].clone());
        }
        Ok(())
    }

    /// Fine-tunes the model of another run; to be called before [`RunSpec::set`].
    ///
    /// # Errors
    /// If the run is one of another learner.
    pub fn fine_tune(&mut self, init: Self) -> Result<()> {
        let (own, other) = (&self.learner, &init.learner);
        if !learner(own)?.fine_tunes() {
            return Err(Error::usage(format!("{own} is not trained step by step and fine-tunes nothing")));
        }
        if own != other {
            return Err(Error::usage(format!(
                "the initial checkpoint is one of {other}, which is another architecture than {own}: use --learner {other}, \
                 or name a run of {own}"
            )));
        }
        if init.init.is_some() {
            return Err(Error::usage(
                "the initial checkpoint is itself fine-tuned: name the run it began from",
            ));
        }
        self.init = Some(Box::new(init));
        Ok(())
    }

    /// Chooses the metric.
    pub fn judge_by(&mut self, metric: &str) -> Result<()> {
        let address: Address = self.dataset.parse()?;
        address.benchmark.judge(metric)?;
        metric.clone_into(&mut self.metric);
        Ok(())
    }

    /// What was chosen about the data.
    pub fn data_settings(&self) -> DataSettings {
        let mut settings = DataSettings::default();
        self.with.iter().for_each(|(key, value)| settings.set(key, value));
        settings
    }

    /// The seed of the draw as a manifest records it: absent for data that are read.
    pub(crate) fn recorded_seed(&self) -> Option<Value> {
        match self.source {
            Source::Seed(seed) => Some(seed.into()),
            Source::Official => Some("official".into()),
            Source::Folder(..) => None,
        }
    }

    /// A hash of everything that determines the result, in hexadecimal: two specs share it only if their runs would give
    /// the same scores. Settings that are at their defaults or only say how to execute do not count.
    pub fn key(&self) -> Result<String> {
        let init = self.init.as_ref().map(|init| init.training().map(Box::new)).transpose()?;
        let spec = Self { settings: self.deciding_settings()?, init, ..self.clone() };
        let json = serde_json::to_vec(&spec).expect("plain data");
        Ok(Sha256::digest(json).iter().take(8).map(|byte| format!("{byte:02x}")).collect())
    }

    /// A name for the folder of its run: readable, and unique by [`RunSpec::key`].
    pub fn folder(&self) -> Result<String> {
        let place = format!("{}-{}", self.dataset.replace('/', "-"), self.parts.join("-"));
        Ok(format!("{}.{place}.{}-{}", self.learner, self.learner_seed, self.key()?))
    }

    /// Whether one training serves both: they differ only in what is answered and how.
    pub fn trains_as(&self, other: &Self) -> Result<bool> {
        Ok(self.training()? == other.training()?)
    }

    /// What training depends on, and nothing else.
    fn training(&self) -> Result<Self> {
        let mut settings = self.deciding_settings()?;
        settings.remove("oracle-length");
        Ok(Self {
            settings,
            init: self.init.as_ref().map(|init| init.training().map(Box::new)).transpose()?,
            parts: Vec::new(),
            limit: None,
            metric: String::new(),
            by: Vec::new(),
            importance: false,
            neighbours: Vec::new(),
            ..self.clone()
        })
    }

    /// The settings that are not at their defaults and decide about the result.
    fn deciding_settings(&self) -> Result<BTreeMap<String, Value>> {
        let about = learner(&self.learner)?.about();
        let is_default = |name: &str, value: &Value| {
            about.settings.iter().any(|setting| setting.name == name && setting.default.value() == *value)
        };
        let settings = self.settings.iter().map(|(name, value)| (name.clone(), value.clone()));
        Ok(settings
            .filter(|(name, value)| !EXECUTION_SETTINGS.contains(&name.as_str()) && !is_default(name, value))
            .collect())
    }

    /// Refuses a spec that cannot be run, before anything is computed: unknown names, values out of range.
    pub fn check(&self) -> Result<()> {
        let about = learner(&self.learner)?.about();
        Settings::from_map(about, &self.settings)?;
        let address: Address = self.dataset.parse()?;
        address.benchmark.judge(&self.metric)?;
        if !about.is_for(address.benchmark.about().name) {
            let (name, benchmarks) = (about.name, about.benchmarks.join(" and "));
            return Err(Error::usage(format!("{name} is for {benchmarks}, not for {}", self.dataset)));
        }
        self.init.as_ref().map_or(Ok(()), |init| init.check())
    }
}

impl fmt::Display for RunSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.learner, self.dataset)?;
        if !self.parts.is_empty() {
            write!(f, "#{}", self.parts.join(","))?;
        }
        if let Some(init) = &self.init {
            write!(f, ", fine-tuned from {}", init.dataset)?;
        }
        write!(f, ", seed {}", self.learner_seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> RunSpec {
        let mut spec = RunSpec::new("scan/length#test", "lstm").unwrap();
        spec.set(&["steps=10".to_owned()]).unwrap();
        spec
    }

    #[test]
    fn the_key_depends_on_the_result_and_on_nothing_else() {
        // Fixed: a cache survives a renamed flag, another order of options, a new default that was given before.
        assert_eq!(spec().key().unwrap(), "ba7c7de3cc46dcbe");
        let mut other = spec();
        other.set(&["checkpoint=7".to_owned(), "steps=10".to_owned(), "dropout=0".to_owned()]).unwrap();
        assert_eq!(other.key().unwrap(), spec().key().unwrap());
        for change in [
            |spec: &mut RunSpec| spec.learner_seed = 1,
            |spec: &mut RunSpec| spec.limit = Some(3),
            |spec: &mut RunSpec| spec.source = Source::Seed(1),
            |spec: &mut RunSpec| spec.reads = Some(Symbols::Symbols),
            |spec: &mut RunSpec| spec.set(&["steps=11".to_owned()]).unwrap(),
        ] {
            let mut other = spec();
            change(&mut other);
            assert_ne!(other.key().unwrap(), spec().key().unwrap(), "{other:?}");
        }
    }

    #[test]
    fn a_spec_is_read_as_it_was_written() {
        let mut spec = spec();
        spec.source = Source::Folder("data".into(), 3);
        spec.with.insert("operators".to_owned(), "30".to_owned());
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<RunSpec>(&json).unwrap(), spec);
    }

    #[test]
    fn training_is_shared_by_what_is_asked_in_another_way() {
        let mut other = spec();
        other.parts = vec!["train".to_owned()];
        other.set(&["steps=10".to_owned(), "oracle-length=true".to_owned()]).unwrap();
        assert!(spec().trains_as(&other).unwrap() && spec().key().unwrap() != other.key().unwrap());
        other.learner_seed = 1;
        assert!(!spec().trains_as(&other).unwrap());
    }
}
