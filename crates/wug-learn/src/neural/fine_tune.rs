//! Fine-tuning: training that begins from the checkpoint of another run, on a dataset that may have more words.

use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use serde_json::Value;

use wug_data::{Error, Result};
use wug_nn::{Buffer, Layout};

use super::checkpoint::{FILE, Metadata, difference, load, opened};

/// What training begins from.
pub(super) struct Initial {
    /// The folder of the run; none where a fine-tuning is resumed.
    pub(super) folder: Option<PathBuf>,
    /// A hash of the examples that it was trained on.
    pub(super) examples: String,
    /// Words of its source vocabulary; new ones are behind them.
    pub(super) source_words: usize,
    /// How many are new.
    pub(super) new_words: usize,
}

impl Initial {
    /// The parameters of the checkpoint where it has them. Rows of new words stay as they are in `drawn`.
    ///
    /// # Errors
    /// If the checkpoint is of another architecture, or was trained on other examples.
    pub(super) fn values(
        &self,
        learner: &str,
        config: &Value,
        layout: &Layout,
        drawn: Buffer<f32>,
    ) -> Result<Buffer<f32>> {
        let Some(folder) = &self.folder else {
            return Err(Error::usage("there is no checkpoint to go on from: name --init-checkpoint again"));
        };
        let path = folder.join(FILE);
        let none = || Error::usage(format!("{}: there is no checkpoint to fine-tune", folder.display()));
        let bytes = load(&path)?.ok_or_else(none)?;
        let broken = |what: &str| Error::file(&path, format!("is not a checkpoint of wug: {what}"));
        let (metadata, tensors) = opened(&bytes).map_err(|what| broken(&what))?;
        let said: Metadata = serde_json::from_str(&metadata).map_err(|error| broken(&error.to_string()))?;
        self.check(&path, &said, learner, config)?;
        // What the run would answer with is what is fine-tuned.
        let keeps_best = said.identity["settings"]["keep"] != "last";
        let best = if said.best.is_some() && keeps_best { floats(&tensors, "best") } else { None };
        self.copy(&tensors, best.as_deref(), layout, drawn)
            .map_err(|name| broken(&format!("tensor `{name}` is missing or has another shape")))
    }

    /// Refuses a checkpoint that this network cannot begin from.
    fn check(&self, path: &Path, said: &Metadata, learner: &str, config: &Value) -> Result<()> {
        let refuse = |what: String| Err(Error::usage(format!("{}: {what}", path.display())));
        if let Some(other) = said.identity["learner"].as_str().filter(|&other| other != learner) {
            return refuse(format!(
                "is a checkpoint of another architecture: of {other}, not of {learner}; use --learner {other}, or \
                 fine-tune a run of {learner}"
            ));
        }
        if let Some(difference) = difference(&without_sizes(&said.config), &without_sizes(config)) {
            return refuse(format!(
                "is a checkpoint of another architecture: {difference}; leave out the settings of the network, which \
                 are those of the checkpoint, and read what it was trained to read"
            ));
        }
        if said.identity["examples"] != *self.examples {
            return refuse("was trained on other examples than its run says: train it again".to_owned());
        }
        Ok(())
    }

    /// Copies the tensors, or says which does not fit. `best` has all of them in one.
    fn copy(
        &self,
        tensors: &SafeTensors<'_>,
        best: Option<&[f32]>,
        layout: &Layout,
        mut drawn: Buffer<f32>,
    ) -> Result<Buffer<f32>, String> {
        let mut start = 0;
        for tensor in layout.tensors() {
            let name = &tensor.name;
            let mut old = floats(tensors, name).ok_or_else(|| name.clone())?;
            if let Some(best) = best {
                old = best.get(start..start + old.len()).ok_or_else(|| name.clone())?.to_vec();
            }
            start += old.len();
            let new = &mut drawn[tensor.range()];
            let grown = self.new_words * tensor.columns;
            if old.len() == new.len() {
                new.copy_from_slice(&old);
            } else if old.len() + grown == new.len() && self.source_words * tensor.columns <= old.len() {
                // Special words may be behind the others: they stay behind them.
                let words = self.source_words * tensor.columns;
                new[..words].copy_from_slice(&old[..words]);
                new[words + grown..].copy_from_slice(&old[words..]);
            } else {
                return Err(name.clone());
            }
        }
        Ok(drawn)
    }
}

/// The numbers of a tensor.
fn floats(tensors: &SafeTensors<'_>, name: &str) -> Option<Vec<f32>> {
    let tensor = tensors.tensor(name).ok()?;
    let (values, rest) = tensor.data().as_chunks::<4>();
    rest.is_empty().then(|| values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
}

/// A configuration without what depends on how many words the source has.
fn without_sizes(config: &Value) -> Value {
    let Value::Object(map) = config else { return config.clone() };
    let kept = map.iter().filter(|(name, _)| !["source_words", "source_start"].contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), without_sizes(value))).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use wug_bench::{Address, Source};
    use wug_data::{Dataset, Error};

    use super::super::checkpoint::FILE;
    use crate::{InitCheckpoint, Settings, Task, learner};

    const NETWORK: &[&str] =
        &["style=hint", "hidden=6", "embedding=5", "reverse=true", "longest=4", "batch=8"];

    fn dataset(name: &str) -> Dataset {
        let address: Address = name.parse().unwrap();
        let mut sizes = wug_bench::DataSettings::default();
        for (part, rows) in [("train", "40"), ("val", "20"), ("test", "20")] {
            sizes.set(part, rows);
        }
        address.benchmark.make_with(&address.dataset, &Source::Seed(0), &sizes).unwrap()
    }

    fn settings(name: &str, given: &[&str]) -> Settings {
        let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        Settings::read(learner(name).unwrap().about(), &given).unwrap()
    }

    /// Trains on the main dataset.
    fn train(name: &str, main: &Dataset, given: &[&str], folder: &Path) {
        let mut task = Task::new(main, settings(name, given), 7);
        task.folder = Some(folder.to_owned());
        learner(name).unwrap().learn(&task).unwrap();
    }

    /// A trained model, and a dataset with a new symbol to fine-tune it on.
    struct Case<'a> {
        name: &'a str,
        main: &'a Dataset,
        few: &'a Dataset,
        trained: &'a Path,
        given: &'a [&'a str],
    }

    impl Case<'_> {
        fn tune(&self, more: &[&str], folder: &Path, resume: bool) -> Result<(), Error> {
            let given: Vec<&str> = self.given.iter().chain(more).copied().collect();
            let mut task = Task::new(self.few, settings(self.name, &given), 7);
            let main = Task::new(self.main, settings(self.name, &[self.given, &["steps=5"]].concat()), 7);
            let trained = (!resume).then(|| self.trained.to_owned());
            task.init = Some(InitCheckpoint { folder: trained, task: Box::new(main) });
            (task.folder, task.resume) = (Some(folder.to_owned()), resume);
            learner(self.name).unwrap().learn(&task).map(|_| ())
        }
    }

    fn tensors(folder: &Path) -> BTreeMap<String, (Vec<usize>, Vec<u8>)> {
        let bytes = std::fs::read(folder.join(FILE)).unwrap();
        let all = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let copy = |(name, view): (String, safetensors::tensor::TensorView<'_>)| {
            (name, (view.shape().to_vec(), view.data().to_vec()))
        };
        all.tensors().into_iter().map(copy).collect()
    }

    #[test]
    fn a_new_word_has_a_new_row_and_all_else_is_the_checkpoint() {
        let (main, few) = (dataset("hint/symbol"), dataset("hint/fewshot-x"));
        let transformer =
            ["style=hint", "width=16", "heads=2", "feed-forward=16", "reverse=true", "longest=4", "batch=8"];
        for (name, given) in [("lstm-attn", NETWORK), ("transformer-rel-uni", &transformer)] {
            let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let [trained, tuned] = folders.each_ref().map(tempfile::TempDir::path);
            train(name, &main, &[given, &["steps=5"]].concat(), trained);
            let case = Case { name, main: &main, few: &few, trained, given };
            // A rate of 0 changes nothing.
            case.tune(&["steps=2", "rate=0", "mix=0.5"], tuned, false).unwrap();
            let (before, after) = (tensors(trained), tensors(tuned));
            let mut grown = 0;
            for (tensor, (shape, bytes)) in &before {
                if tensor.starts_with("optimiser.") {
                    continue;
                }
                let (new_shape, new_bytes) = &after[tensor];
                if shape == new_shape {
                    assert!(bytes == new_bytes, "{name}: {tensor}");
                    continue;
                }
                // The new word is behind the others, and before the special one that a Transformer has at the end.
                grown += 1;
                let row = 4 * shape[1];
                let special = if name == "lstm-attn" { 0 } else { row };
                assert_eq!((new_shape[0], new_shape[1]), (shape[0] + 1, shape[1]), "{name}: {tensor}");
                let known = bytes.len() - special;
                assert!(bytes[..known] == new_bytes[..known], "{name}: {tensor}");
                assert!(bytes[known..] == new_bytes[known + row..], "{name}: {tensor}");
            }
            assert_eq!(grown, 1, "{name}: the table of the source");
        }
    }

    #[test]
    fn a_resumed_fine_tuning_ends_as_a_straight_one_with_any_threads() {
        for (main, few) in [("hint/symbol", "hint/fewshot-a"), ("hint/image", "hint/fewshot-a-image")] {
            let (main, few) = (dataset(main), dataset(few));
            let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
            let [trained, straight, broken] = folders.each_ref().map(tempfile::TempDir::path);
            train("lstm-attn", &main, &[NETWORK, &["steps=5"]].concat(), trained);
            let case = Case { name: "lstm-attn", main: &main, few: &few, trained, given: NETWORK };
            let settings =
                ["mix=0.5", "order=shuffled", "schedule=constant", "teacher=0.5", "teacher-by=batch"];
            let given = |steps| [&settings[..], &[steps]].concat();
            case.tune(&given("steps=8"), straight, false).unwrap();
            case.tune(&given("steps=5"), broken, false).unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            pool.install(|| case.tune(&given("steps=8"), broken, true)).unwrap();
            assert!(tensors(straight) == tensors(broken));
            assert!(tensors(straight) != tensors(trained));
        }
    }

    #[test]
    fn what_cannot_be_fine_tuned_is_refused_with_what_to_do() {
        let (main, few) = (dataset("hint/symbol"), dataset("hint/fewshot-x"));
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [trained, tuned] = folders.each_ref().map(tempfile::TempDir::path);
        train("lstm-attn", &main, &[NETWORK, &["steps=5"]].concat(), trained);
        let case = |name| Case { name, main: &main, few: &few, trained, given: NETWORK };
        let refused = |name, more: &[&str]| {
            let error = case(name).tune(more, tuned, false).unwrap_err();
            assert!(matches!(error, Error::Usage(_)), "{error}");
            assert!(!tuned.join(FILE).exists(), "nothing was begun");
            error.to_string()
        };
        let said = refused("gru-attn", &["steps=5"]);
        assert!(
            said.contains("another architecture: of lstm-attn, not of gru-attn; use --learner lstm-attn"),
            "{said}"
        );
        let said = refused("lstm-attn", &["steps=5", "layers=2"]);
        assert!(
            said.contains("another architecture: its") && said.contains("leave out the settings"),
            "{said}"
        );
        let said = refused("lstm-attn", &["steps=5", "train-where=operators<=-1"]);
        assert!(said.contains("no example of train is so"), "{said}");
        let said = refused("lstm-attn", &["steps=5", "train-where=operators"]);
        assert!(said.contains("expected FACT<=NUMBER or FACT=VALUE"), "{said}");

        let mut alone = Task::new(&few, settings("lstm-attn", &["mix=0.5"]), 7);
        let error = learner("lstm-attn").unwrap().learn(&alone).err().unwrap().to_string();
        assert!(error.contains("mix needs --init-checkpoint"), "{error}");
        alone.settings = settings("lstm-attn", NETWORK);
        let (empty, task) =
            (tempfile::tempdir().unwrap(), Box::new(Task::new(&main, alone.settings.clone(), 7)));
        alone.init = Some(InitCheckpoint { folder: Some(empty.path().to_owned()), task });
        let error = learner("lstm-attn").unwrap().learn(&alone).err().unwrap().to_string();
        assert!(error.contains("there is no checkpoint to fine-tune"), "{error}");
    }

    #[test]
    fn only_examples_that_meet_the_condition_are_trained_on() {
        let few = dataset("hint/fewshot-x");
        let train = few.part("train").unwrap();
        let operators = few.table.facts.column("operators").unwrap();
        let few_operators =
            train.rows.iter().filter(|&&row| operators.value(row).to_string().parse::<u32>().unwrap() <= 2);
        let task = Task::new(&few, settings("lstm", &["train-where=operators<=2"]), 0);
        let kept = task.train().unwrap().iter().count();
        assert!(kept == few_operators.count() && 0 < kept && kept < train.rows.len());
    }
}
