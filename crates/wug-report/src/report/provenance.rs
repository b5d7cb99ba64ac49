use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use wug_bench::Source;
use wug_learn::learner;
use wug_run::{Machine, RunRecord, RunSpec, Symbols};

/// How a run came about and can be repeated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Provenance {
    /// The command that repeats it.
    pub command: String,
    /// Version of wug.
    pub wug: String,
    /// The machine, where the run says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// How long it took.
    pub seconds: f64,
    /// Where the data come from.
    pub data: String,
    /// Seed of the learner.
    pub learner_seed: u64,
    /// The hash of each part.
    pub hashes: BTreeMap<String, String>,
    /// Every setting of the learner.
    pub settings: BTreeMap<String, Value>,
    /// Settings that are not at their defaults.
    pub chosen: Vec<String>,
}

impl Provenance {
    /// That of a run.
    pub(super) fn of(record: &RunRecord) -> Self {
        let spec = &record.spec;
        Self {
            command: command(spec),
            wug: record.wug.clone(),
            machine: record.machine.clone(),
            seconds: record.seconds,
            data: match &spec.source {
                Source::Seed(seed) => format!("drawn with seed {seed}"),
                Source::Official => "drawn as the release was (seed official)".to_owned(),
                Source::Folder(folder, _) => format!("read from {}", folder.display()),
            },
            learner_seed: spec.learner_seed,
            hashes: record.scores.as_ref().map(|scores| scores.hashes.clone()).unwrap_or_default(),
            settings: spec.settings.clone(),
            chosen: chosen(spec),
        }
    }
}

/// `name=value` of the settings that are not at their defaults.
pub(crate) fn chosen(spec: &RunSpec) -> Vec<String> {
    let known = learner(&spec.learner).map(|learner| learner.about().settings).unwrap_or_default();
    let is_default = |name: &String, value: &Value| {
        known.iter().any(|setting| setting.name == name && setting.default.value() == *value)
    };
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let settings = spec.settings.iter().filter(|(name, value)| !is_default(name, value));
    settings.map(|(name, value)| format!("{name}={}", shown(value))).collect()
}

/// The command that repeats a run.
fn command(spec: &RunSpec) -> String {
    let parts = if spec.parts.is_empty() { String::new() } else { format!("#{}", spec.parts.join(",")) };
    let mut text =
        format!("wug run {} --learner {}", quoted(&format!("{}{parts}", spec.dataset)), spec.learner);
    if let Some(Symbols::Symbols) = spec.reads {
        text.push_str(" --reads symbols");
    }
    for setting in chosen(spec) {
        let _ = write!(text, " --set {}", quoted(&setting));
    }
    match &spec.source {
        Source::Seed(0) => {}
        Source::Seed(seed) => drop(write!(text, " --seed {seed}")),
        Source::Official => text.push_str(" --seed official"),
        Source::Folder(folder, seed) => {
            let _ = write!(text, " --data {} --seed {seed}", quoted(&folder.display().to_string()));
        }
    }
    for (key, value) in &spec.with {
        let _ = write!(text, " --with {}", quoted(&format!("{key}={value}")));
    }
    if let Some(limit) = spec.limit {
        let _ = write!(text, " --limit {limit}");
    }
    let default = spec.dataset.parse::<wug_bench::Address>().map(|at| at.benchmark.metrics()[0].name);
    if default.map_or(true, |name| name != spec.metric) {
        let _ = write!(text, " --metric {}", quoted(&spec.metric));
    }
    if spec.learner_seed != 0 {
        let _ = write!(text, " --learner-seed {}", spec.learner_seed);
    }
    text
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/#,=-_.:+".contains(c);
    if word.chars().all(is_plain) && !word.starts_with('#') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_repeats_the_run() {
        let mut spec = RunSpec::new("scan/length#test", "lstm").unwrap();
        assert_eq!(command(&spec), "wug run scan/length#test --learner lstm");
        spec.set(&["steps=10".to_owned()]).unwrap();
        spec.source = Source::Folder("my data".into(), 3);
        spec.limit = Some(5);
        spec.learner_seed = 2;
        assert_eq!(
            command(&spec),
            "wug run scan/length#test --learner lstm --set steps=10 --data 'my data' --seed 3 --limit 5 --learner-seed 2"
        );
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
