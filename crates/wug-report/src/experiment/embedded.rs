//! The experiments that are part of the program.

use wug_data::{Error, Result};

macro_rules! experiments {
    ($($name:literal)*) => {
        /// Names and texts of all experiments, `experiments/*/*.toml`.
        pub static EXPERIMENTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!(env!("WUG_FILES"), "/experiments/", $name, ".toml")))),*];
    };
}

experiments! {
    "cogs/table-1"
    "hint/figure-3-data"
    "hint/figure-3-model"
    "hint/figure-4-numbers"
    "hint/figure-4-operators"
    "hint/figure-a5-dependency"
    "hint/figure-a5-depth"
    "hint/figure-a5-length"
    "hint/figure-a5-operators"
    "hint/figure-a5-result"
    "hint/figure-a6"
    "hint/gpt3"
    "hint/gpt3-exact"
    "hint/grid-rnn"
    "hint/grid-transformer"
    "hint/scan-length"
    "hint/table-2"
    "hint/table-3"
    "hint/table-4"
    "mns/figure-6"
    "mns/figure-7"
    "mns/table-1"
    "nacs/table-1"
    "nacs/table-10"
    "nacs/table-2"
    "nacs/table-3"
    "nacs/table-4"
    "nacs/table-5"
    "nacs/table-6"
    "nacs/table-7"
    "nacs/table-8"
    "nacs/table-9"
    "recogs/figure-4-cp"
    "recogs/figure-4-pp"
    "recogs/figure-5"
    "recogs/positional"
    "recogs/table-4"
    "recogs/table-6"
    "scan/experiment-1"
    "scan/experiment-2"
    "scan/experiment-3"
    "scan/experiment-4"
    "scan/figure-3"
    "scan/figure-4-actions"
    "scan/figure-4-commands"
    "scan/figure-5"
    "scan/grid"
    "scan/training-accuracy"
}

/// The text of the experiment with this name.
pub fn experiment_text(name: &str) -> Result<&'static str> {
    let found = EXPERIMENTS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let paper = name.split('/').next().unwrap_or_default();
        let near: Vec<&str> =
            EXPERIMENTS.iter().map(|(known, _)| *known).filter(|known| known.starts_with(paper)).collect();
        let shown = wug_data::truncate(name, 60);
        Error::usage(match near.as_slice() {
            [] => format!("no experiment `{shown}`; `wug list experiments` shows all"),
            near => format!("no experiment `{shown}`; there are: {}", near.join(", ")),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, Scale};

    #[test]
    fn every_file_is_part_of_the_program() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let mut found = Vec::new();
        for paper in std::fs::read_dir(&folder).unwrap() {
            for file in std::fs::read_dir(paper.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                let name = path.strip_prefix(&folder).unwrap().with_extension("");
                found.push(name.to_str().unwrap().replace('\\', "/"));
            }
        }
        found.sort();
        let known: Vec<&str> = EXPERIMENTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(known, found);
    }

    #[test]
    fn every_experiment_is_read_at_every_scale() {
        for (name, _) in EXPERIMENTS {
            for scale in Scale::ALL {
                let experiment = Experiment::named(name, scale).unwrap_or_else(|error| panic!("{error}"));
                let specs = experiment.specs().unwrap();
                assert!(!specs.is_empty(), "{name} runs nothing at {}", scale.name());
                assert_eq!(specs.len() as u64, experiment.run_count().unwrap());
                let folders: std::collections::BTreeSet<String> =
                    specs.iter().map(|spec| spec.folder().unwrap()).collect();
                assert_eq!(folders.len(), specs.len(), "a folder for each run of {name}");
            }
        }
    }

    #[test]
    fn an_unknown_name_says_what_there_is() {
        let error = Experiment::named("mns/table-2", Scale::Smoke).unwrap_err().to_string();
        assert_eq!(error, "no experiment `mns/table-2`; there are: mns/figure-6, mns/figure-7, mns/table-1");
    }
}
