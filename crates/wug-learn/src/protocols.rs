//! The training protocols of the papers, from `protocols.toml`: the only place that has them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use toml::Value;

use crate::Preset;

/// The text that the program carries.
const TEXT: &str = include_str!("../protocols.toml");

/// How a paper trained its learners.
#[derive(Debug, Clone, Deserialize)]
pub struct Protocol {
    /// The paper.
    pub paper: String,
    /// Which of its experiments.
    pub experiment: String,
    /// Where it says so.
    pub source: String,
    /// What reproduces it.
    #[serde(default, rename = "preset")]
    pub presets: Vec<PresetOfLearners>,
    /// Everything else that the paper states.
    #[serde(flatten)]
    pub stated: BTreeMap<String, Value>,
}

/// The settings that reproduce a protocol with some learners.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetOfLearners {
    /// The name for `--set protocol=NAME`.
    pub name: String,
    /// The learners that have it.
    pub learners: Vec<String>,
    /// What a reader should know.
    pub note: Option<String>,
    /// The settings.
    pub settings: BTreeMap<String, Value>,
}

/// All protocols.
pub static PROTOCOLS: LazyLock<Vec<Protocol>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        protocol: Vec<Protocol>,
    }
    toml::from_str::<File>(TEXT).expect("protocols.toml is part of the program").protocol
});

/// The presets of a learner.
pub(crate) fn presets(learner: &str) -> Vec<Preset> {
    let all = PROTOCOLS.iter().flat_map(|protocol| &protocol.presets);
    let own = all.filter(|preset| preset.learners.iter().any(|known| known == learner));
    let text = |(name, value): (&String, &Value)| match value {
        Value::String(word) => format!("{name}={word}"),
        other => format!("{name}={other}"),
    };
    own.map(|preset| Preset {
        name: preset.name.clone(),
        stands_for: preset.settings.iter().map(text).collect(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LEARNERS, Settings, learner};

    #[test]
    fn every_preset_is_made_of_settings_of_its_learners() {
        let presets: Vec<&PresetOfLearners> =
            PROTOCOLS.iter().flat_map(|protocol| &protocol.presets).collect();
        assert!(presets.len() >= 8);
        for preset in presets {
            for name in &preset.learners {
                let about = learner(name).unwrap().about();
                let given = [format!("protocol={}", preset.name)];
                let settings =
                    Settings::read(about, &given).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(settings.word("protocol"), preset.name);
            }
        }
    }

    #[test]
    fn learners_of_a_kind_share_their_presets() {
        for known in LEARNERS.iter().map(|learner| learner.about().name) {
            let like = match known {
                "cnn" | "cnn-lstm" | "relation-network" => "cnn",
                "resnet18" => "resnet18",
                _ if known.starts_with("transformer") => "transformer",
                _ => "lstm",
            };
            if learner(known).unwrap().about().setting("protocol").is_some() {
                assert_eq!(presets(known), presets(like), "{known}");
            }
        }
    }
}
