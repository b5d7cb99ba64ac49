//! NACS: actions to commands, SCAN the other way round.
//!
//! *Does a learner still compose when an action sequence has several commands that mean it?* The same pairs as SCAN with
//! input and target exchanged (Bastings et al., 2018). 9,228 action sequences have 2.27 commands each on average and up
//! to 19, so a prediction is right when it is a command that means the input, not when it is the target.
//!
//! The datasets, parts and draws are those of [`crate::scan`]: `nacs/length#test` has the rows of
//! `scan/length#test` in the same order.
//!
//! Example: `I_JUMP I_JUMP` -> `jump twice` or `jump and jump` or `jump after jump`.

mod score;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use wug_data::{Dataset, Result, Selection, Table};

use crate::pair_files;
use crate::scan::{self, files, splits::Split};
use crate::{
    Benchmark, BenchmarkInfo, DataSettings, EXACT, Family, Items, Metric, NativeFile, Release, Source,
};

pub use score::{MEANING, Meaning};

/// The benchmark NACS.
pub struct Nacs;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "nacs",
    title: "NACS: action sequences to navigation commands",
    summary: "SCAN backwards: an action sequence is translated to a command that means it. Most sequences have several \
              commands, so a prediction is judged by its meaning.",
    licence: "CC BY-NC 4.0 (the released files; what wug makes from the grammar carries no licence of its own)",
    homepage: "https://github.com/facebookresearch/NACS",
    citation: "@inproceedings{bastings2018jump,
  title     = {Jump to Better Conclusions: SCAN both Left and Right},
  author    = {Bastings, Jasmijn and Baroni, Marco and Weston, Jason and Cho, Kyunghyun and Kiela, Douwe},
  booktitle = {Proceedings of the EMNLP Workshop BlackboxNLP},
  year      = {2018}
}",
};

/// The tables of SCAN, reversed once.
static REVERSED: LazyLock<Arc<Table>> = LazyLock::new(|| reverse(&scan::language::LANGUAGE.table));
static REVERSED_WITH_DAB: LazyLock<Arc<Table>> =
    LazyLock::new(|| reverse(&scan::language::LANGUAGE_WITH_DAB.table));

fn reverse(table: &Arc<Table>) -> Arc<Table> {
    Arc::new(Table::clone(table).reversed())
}

impl Benchmark for Nacs {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        scan::splits::families()
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        let split = scan::split("nacs", dataset)?;
        let parts = scan::parts("nacs", split, source)?;
        let table = if split.has_dab() { &REVERSED_WITH_DAB } else { &REVERSED };
        Ok(Dataset { name: format!("nacs/{dataset}"), table: Arc::clone(table), parts, pictures: None })
    }

    fn stream(&self, dataset: &str, settings: &DataSettings) -> Result<Box<dyn Items>> {
        settings.check("nacs", &[])?;
        let split = scan::split("nacs", dataset)?;
        let table = if split.has_dab() { &REVERSED_WITH_DAB } else { &REVERSED };
        scan::stream::stream("nacs", split, table)
    }

    fn default_part(&self, dataset: &str) -> &'static str {
        scan::default_part(dataset)
    }

    fn metrics(&self) -> &'static [Metric] {
        &[MEANING, EXACT]
    }

    fn explain(&self, dataset: &Dataset, row: u32) -> Option<String> {
        scan::meaning::derivation(&dataset.table.targets.get(row).to_string()).ok()
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Nacs {
    fn is_released(&self, dataset: &str, _part: &str) -> bool {
        matches!(
            Split::named(dataset),
            Some(
                Split::All
                    | Split::Simple
                    | Split::Length
                    | Split::AddprimJump
                    | Split::AddprimTurnLeft
                    | Split::JumpNested(_)
            )
        )
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        let Some(split) = Split::named(dataset.name.trim_start_matches("nacs/")) else { return Vec::new() };
        let stem = files::nacs_path(split, &selection.name);
        // As released: commands are the source, actions the target, though NACS asks for the command.
        [(".src", &dataset.table.targets), (".trg", &dataset.table.inputs)]
            .map(|(suffix, column)| NativeFile {
                path: format!("{stem}{suffix}"),
                write: Box::new(move |out| {
                    pair_files::write_lines(selection, out, |row, line| column.get(row).write(line))
                }),
            })
            .into()
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        scan::split("nacs", dataset)?;
        let mut raw = pair_files::read_pairs(file)?;
        for row in &mut raw.rows {
            std::mem::swap(&mut row.input, &mut row.target);
        }
        Ok(pair_files::as_given(format!("nacs/{dataset}"), raw))
    }
}
