//! SCAN: commands to actions.
//!
//! *Does a learner that knows `jump` and `walk twice` know `jump twice`?* 20,910 commands of a small phrase-structure
//! grammar are translated to sequences of actions (Lake and Baroni, 2018). Every split of the SCAN repository and of
//! "Rearranging the familiar" (Loula et al., 2018) asks another question.
//!
//! | dataset | train | test | asks for |
//! |---|---|---|---|
//! | `simple` | 16,728 | 4,182 | nothing but memory: a random split |
//! | `simple-p{1..64}` | 209 to 13,382 | the rest | the same from less |
//! | `length` | 16,990 | 3,920 | longer outputs than ever seen |
//! | `addprim-jump` | 14,670 | 7,706 | a verb in compounds that was only seen alone |
//! | `addprim-turn-left` | 21,890 | 1,208 | the same for a phrase whose words were seen in compounds |
//! | `addprim-jump-num-N-rep-R` | 14,655 to 14,671 | 7,706 - N | the same after N compounds |
//! | `addprim-jump-num-N` | 14,648 to 14,670 | 7,674 | the same, nested sets (NACS paper) |
//! | `template-*` | 15,225 (18,528) | 4,476 (1,173) | a construction never seen |
//! | `filler-{0..3}` | 15,225 to 18,528 | 1,173 | the same after 0 to 3 verbs in it |
//! | `fewshot-N-rep-R` | 15,225 + N | 1,173 | the same after N examples |
//! | `mcd-{1,2,3}` | 8,365 | 1,045 | known atoms in new compounds; only with `--data` |
//! | `all` | 20,910 | | all commands in one part |
//!
//! Example: `jump opposite left and walk thrice` -> `I_TURN_LEFT I_TURN_LEFT I_JUMP I_WALK I_WALK I_WALK`.
//!
//! Each dataset also has `val-random` (one line of train in ten) with `train-wo-random`; `length` has `val-length`
//! (19 to 22 actions); `addprim-jump` and its nested sets have `val-dab` (the test part with an invented verb), each
//! with the train parts that go with it, as in the NACS paper.

pub mod files;
pub mod grammar;
pub mod language;
pub mod meaning;
pub mod splits;
mod statistics;
pub(crate) mod stream;

use std::path::Path;

use wug_data::{Dataset, Error, Part, Result, Selection};

use crate::pair_files;
use crate::{Benchmark, BenchmarkInfo, DataSettings, Family, Items, NativeFile, Release, Source, Statistic};
use splits::Split;

/// The benchmark SCAN.
pub struct Scan;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "scan",
    title: "SCAN: navigation commands to action sequences",
    summary: "Commands such as `jump opposite left and walk thrice` are translated to sequences of actions. The splits \
              hold out lengths, primitives and constructions that follow from what the training part shows.",
    licence: "BSD (the released files; what wug makes from the grammar carries no licence of its own)",
    homepage: "https://github.com/brendenlake/SCAN",
    citation: "@inproceedings{lake2018generalization,
  title     = {Generalization without Systematicity: On the Compositional Skills of Sequence-to-Sequence Recurrent Networks},
  author    = {Lake, Brenden M. and Baroni, Marco},
  booktitle = {Proceedings of the 35th International Conference on Machine Learning},
  year      = {2018}
}
@inproceedings{loula2018rearranging,
  title     = {Rearranging the Familiar: Testing Compositional Generalization in Recurrent Networks},
  author    = {Loula, Jo{\\~a}o and Baroni, Marco and Lake, Brenden M.},
  booktitle = {Proceedings of the EMNLP Workshop BlackboxNLP},
  year      = {2018}
}",
};

impl Benchmark for Scan {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        splits::families()
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        let split = split("scan", dataset)?;
        let parts = parts("scan", split, source)?;
        Ok(Dataset {
            name: format!("scan/{dataset}"),
            table: split.language().table.clone(),
            parts,
            pictures: None,
        })
    }

    fn stream(&self, dataset: &str, settings: &DataSettings) -> Result<Box<dyn Items>> {
        settings.check("scan", &[])?;
        let split = split("scan", dataset)?;
        stream::stream("scan", split, &split.language().table)
    }

    fn default_part(&self, dataset: &str) -> &'static str {
        default_part(dataset)
    }

    fn statistics(&self, dataset: &Dataset) -> Vec<Statistic> {
        statistics::statistics(dataset)
    }

    fn explain(&self, dataset: &Dataset, row: u32) -> Option<String> {
        meaning::derivation(&dataset.table.inputs.get(row).to_string()).ok()
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Scan {
    fn is_released(&self, dataset: &str, part: &str) -> bool {
        matches!(part, "train" | "test" | "all")
            && !matches!(Split::named(dataset), Some(Split::JumpNested(_)))
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        let name = dataset.name.trim_start_matches("scan/");
        let Some(split) = Split::named(name) else { return Vec::new() };
        let write = |out: &mut dyn std::io::Write| files::write_in_out(dataset, selection, out);
        vec![NativeFile { path: files::scan_path(split, &selection.name), write: Box::new(write) }]
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        split("scan", dataset)?;
        Ok(pair_files::as_given(format!("scan/{dataset}"), pair_files::read_pairs(file)?))
    }
}

/// The split with this name.
pub(crate) fn split(benchmark: &str, dataset: &str) -> Result<Split> {
    Split::named(dataset).ok_or_else(|| Error::usage(format!("{benchmark} has no dataset `{dataset}`")))
}

/// The part that is scored when none is named.
pub(crate) fn default_part(dataset: &str) -> &'static str {
    if dataset == "all" { "all" } else { "test" }
}

/// The parts of a split from any source.
pub(crate) fn parts(benchmark: &str, split: Split, source: &Source) -> Result<Vec<Part>> {
    match source {
        Source::Folder(folder, seed) => files::import(folder, benchmark, split, *seed),
        Source::Official => Err(Error::usage(format!(
            "the release of {benchmark}/{} cannot be repeated from a seed: read it with --data DIR",
            split.name()
        ))),
        Source::Seed(_) if split.origin() == crate::Availability::Imported => Err(Error::usage(format!(
            "{benchmark}/{} is not made from rules: read the released files with --data DIR",
            split.name()
        ))),
        Source::Seed(seed) => Ok(splits::make(split, *seed)),
    }
}
