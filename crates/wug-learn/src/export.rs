//! Tasks for the harnesses that people use: a folder that the harness runs as it is, whose scorer calls `wug.verify`.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use wug_bench::{Address, Benchmark};
use wug_data::{Dataset, Error, Folder, Manifest, PartSize, Result, Selection};
use wug_llm::{Prompt, Question, builtin_prompts};

/// The prompt that exports ask with.
const STYLE: &str = "zero-shot";

/// A harness that runs tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harness {
    /// EleutherAI's lm-evaluation-harness.
    LmEval,
    /// Inspect, of the UK AI Security Institute.
    Inspect,
    /// Prime Intellect's verifiers.
    Verifiers,
}

/// Some examples of a dataset, to be made into a task.
pub struct Exported<'a> {
    /// Where they are from.
    pub address: &'a Address,
    /// Their dataset.
    pub dataset: &'a Dataset,
    /// Which they are.
    pub selection: Selection<'a>,
}

impl Exported<'_> {
    /// The name of the task: `wug_scan_length`, with the part where it is not the one that the benchmark tests on.
    fn task(&self) -> String {
        let default = self.address.benchmark.default_part(&self.address.dataset);
        let part = if self.selection.name == default { "" } else { &self.selection.name };
        let name = format!("wug_{}_{part}", self.address.full_dataset());
        let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("_").to_lowercase()
    }

    /// A line for each question.
    fn rows(&self, prompt: &Prompt) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            id: String,
            dataset: String,
            input: String,
            target: String,
            system: &'a str,
            prompt: String,
        }
        let mut lines = String::new();
        for (id, row) in self.selection.examples() {
            let example = self.dataset.table.example(row);
            let input = example.input.to_string();
            let (system, prompt) =
                prompt.chat(&Question { input: Some(input.clone()), ..Question::default() })?;
            let (target, system) = (example.target.to_string(), system.unwrap_or_default());
            let dataset = self.address.full_dataset();
            let line = Row { id, dataset, input, target, system: &system, prompt };
            lines.push_str(&serde_json::to_string(&line).expect("plain data"));
            lines.push('\n');
        }
        Ok(lines)
    }
}

/// The prompt that exported tasks ask with, and by which answers are read out of replies.
pub fn exported_prompt(benchmark: &dyn Benchmark) -> Result<Prompt> {
    builtin_prompts::find(benchmark.about().name, STYLE)
}

/// Writes the tasks for a harness into a folder.
///
/// # Errors
/// If a benchmark has no prompt of text, or the folder cannot be written.
pub fn export(harness: Harness, tasks: &[Exported<'_>], out: &Path) -> Result<()> {
    let Some(first) = tasks.first() else {
        return Err(Error::usage("name at least one dataset to export"));
    };
    let mut texts: Vec<(String, String)> = Vec::new();
    for task in tasks {
        let name = task.task();
        let prompt = exported_prompt(&*task.address.benchmark)?;
        let rows = task.rows(&prompt).map_err(|error| Error::usage(format!("{name}: {error}")))?;
        texts.extend(files(harness, &name, rows));
    }
    texts.extend(shared(harness, tasks));
    texts.sort();
    texts.dedup_by(|one, other| one.0 == other.0);
    let folder = Folder::create(out)?;
    let file = |(path, text): &(String, String)| {
        folder.file(path, |out| -> io::Result<()> { out.write_all(text.as_bytes()) })
    };
    let files = texts.iter().map(file).collect::<Result<_>>()?;
    let names: Vec<String> = tasks.iter().map(|task| task.address.full_dataset()).collect();
    let size = |task: &Exported<'_>| PartSize { part: task.task(), rows: task.selection.positions.len() };
    folder.finish(&Manifest {
        schema: 1,
        wug: env!("CARGO_PKG_VERSION").to_owned(),
        dataset: names.join(" "),
        format: "export".to_owned(),
        seed: None,
        settings: Vec::new(),
        parts: tasks.iter().map(size).collect(),
        licence: first.address.benchmark.about().licence.to_owned(),
        files,
    })
}

/// The files of one task.
fn files(harness: Harness, task: &str, rows: String) -> Vec<(String, String)> {
    match harness {
        Harness::LmEval => {
            vec![(format!("{task}.jsonl"), rows), (format!("{task}.yaml"), lm_eval_task(task))]
        }
        Harness::Inspect => vec![(format!("{task}.jsonl"), rows)],
        Harness::Verifiers => {
            let module = |text: &str| format!("{task}/{task}/{text}");
            let init = format!(
                "\"\"\"{task}: questions of wug.\"\"\"\n\nfrom {task}.taskset import ExportTaskset\n\n__all__ = [\"ExportTaskset\"]\n"
            );
            vec![
                (module("rows.jsonl"), rows),
                (module("__init__.py"), init),
                (module("taskset.py"), include_str!("../export/verifiers.py").to_owned()),
                (format!("{task}/pyproject.toml"), verifiers_project(task)),
            ]
        }
    }
}

/// The files that all tasks share.
fn shared(harness: Harness, tasks: &[Exported<'_>]) -> Vec<(String, String)> {
    match harness {
        Harness::LmEval => vec![("utils.py".to_owned(), include_str!("../export/lm_eval.py").to_owned())],
        Harness::Inspect => {
            let mut text = include_str!("../export/inspect.py").to_owned();
            for task in tasks {
                let name = task.task();
                let about = task.address.benchmark.about().title;
                let _ = write!(
                    text,
                    "\n\n@task\ndef {name}() -> Task:\n    \"\"\"{about}.\"\"\"\n    return wug_task(\"{name}\")\n"
                );
            }
            vec![("task.py".to_owned(), text)]
        }
        Harness::Verifiers => Vec::new(),
    }
}

fn lm_eval_task(task: &str) -> String {
    format!(
        "task: {task}
custom_dataset: !function utils.rows
metadata:
  version: 1
  task: {task}
test_split: test
output_type: generate_until
doc_to_text: \"{{{{system}}}}\\n\\n{{{{prompt}}}}\"
doc_to_target: \"{{{{target}}}}\"
process_results: !function utils.process_results
generation_kwargs:
  until: [\"</s>\"]
  max_gen_toks: 512
  temperature: 0.0
metric_list:
  - metric: correct
    aggregation: mean
    higher_is_better: true
"
    )
}

fn verifiers_project(task: &str) -> String {
    let name = task.replace('_', "-");
    format!(
        "[project]
name = \"{name}\"
version = \"0.1.0\"
description = \"Questions of wug, scored by its verdicts\"
requires-python = \">=3.11\"
dependencies = [\"verifiers>=0.4\", \"wug\"]

[build-system]
requires = [\"hatchling\"]
build-backend = \"hatchling.build\"

[tool.hatch.build.targets.wheel]
packages = [\"{task}\"]
"
    )
}
