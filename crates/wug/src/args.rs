//! The command line. Help, completions and manual pages are all made from this.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;
use wug_data::parse_duration;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Parser, Subcommand, ValueEnum, ValueHint};

use wug_bench::{DataSettings, Limit, Source};
use wug_data::{Error, Manifest, PredictionFormat, Result};

use crate::terminal::Protocol;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Given the parts, do you know the whole? Makes, splits and scores the benchmarks of systematic generalization.
#[derive(Parser)]
#[command(name = "wug", version, styles = STYLES, max_term_width = 100)]
#[command(after_help = "\
Examples:
  wug list                                     all datasets
  wug show scan/length#test                    a few examples
  wug generate scan/length --out data          files for your model
  wug score scan/length --predictions out.txt  the right score
  wug run scan/length --learner induced        a learner's score
  wug reproduce mns/table-1                    a paper's table, ours beside theirs
  wug compare runs/lstm runs/induced           paired difference with its interval
  wug report runs --out report.html            one page to look at
  wug convert cogs recogs/v2 --in train.tsv --out recogs.tsv

DATASET is BENCHMARK/DATASET as `wug list` prints it; #PART behind it picks a part.
Exit codes: 0 done, 1 the work failed, 2 wrong usage, 3 stopped at a limit and can be resumed, 130 and 143 interrupted.")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// How many threads to compute with [default: one for each core]; results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List what there is
    List(List),
    /// Look at examples of a dataset
    Show(Show),
    /// Write a dataset, or all datasets of a benchmark, to files
    Generate(Generate),
    /// Rewrite a file of one dataset as another
    Convert(Convert),
    /// Print items of a dataset's endless stream, as JSON lines
    Stream(Stream),
    /// Write a dataset as a task of an evaluation harness, scored by wug's verdicts
    Export(Export),
    /// Score predictions
    Score(Score),
    /// Let a learner answer, and score it
    Run(Run),
    /// Run a table or figure of a paper, and print it beside the paper's
    Reproduce(Reproduce),
    /// Compare runs on the same examples: paired differences, and what flipped
    Compare(Compare),
    /// Make one page to look at from runs and experiments
    Report(Report),
    /// Make the web site: benchmarks, learners, experiments, published results, docs
    Gallery(Gallery),
    /// Print a script that completes wug's commands in your shell
    #[command(after_help = "Example: wug completions bash > ~/.local/share/bash-completion/completions/wug")]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Write this and a page for each command into a folder instead
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

#[derive(clap::Args)]
pub(crate) struct List {
    /// What to list
    #[arg(value_enum, default_value_t = Listed::Datasets)]
    pub(crate) what: Listed,
    /// A learner, to see its settings with the values they may have
    #[arg(value_name = "LEARNER")]
    pub(crate) name: Option<String>,
    /// What can be changed about datasets with --with
    #[arg(long, conflicts_with = "json")]
    pub(crate) settings: bool,
    /// Every dataset by name, as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Listed {
    /// Benchmarks and their datasets
    Datasets,
    /// Learners and their settings
    Learners,
    /// Tables and figures of the papers
    Experiments,
    /// Where networks can be computed
    Devices,
}

/// Where the rows of a dataset come from.
#[derive(clap::Args)]
pub(crate) struct Data {
    /// Seed of the draw, or `official` to repeat the released one where that is possible [default: 0]
    #[arg(long, value_name = "N|official")]
    seed: Option<Seed>,
    /// Read the released files, or a folder that wug wrote, instead of drawing
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    data: Option<PathBuf>,
    /// Change the dataset, such as operators=30; `wug list datasets --settings` shows what can be set
    #[arg(long = "with", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Images of handwritten symbols: built-in, inkml:DIR (CROHME), images:DIR (a folder for each symbol)
    #[arg(long, value_name = "SOURCE")]
    glyphs: Option<String>,
}

#[derive(Clone, Copy)]
pub(crate) enum Seed {
    Number(u64),
    Official,
}

impl std::str::FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "official" => Ok(Self::Official),
            text => {
                text.parse().map(Self::Number).map_err(|_| "expected a whole number or `official`".to_owned())
            }
        }
    }
}

impl Data {
    /// The source that the options name.
    pub(crate) fn source(&self) -> Result<Source> {
        match (&self.data, self.seed) {
            (None, None) => Ok(Source::Seed(0)),
            (None, Some(Seed::Number(seed))) => Ok(Source::Seed(seed)),
            (None, Some(Seed::Official)) => Ok(Source::Official),
            (Some(folder), None) => Source::folder(folder, None),
            (Some(folder), Some(Seed::Number(seed))) => Source::folder(folder, Some(seed)),
            (Some(_), Some(Seed::Official)) => {
                Err(Error::usage("--seed official draws the data and --data reads them: give one of the two"))
            }
        }
    }

    /// What the user chose about the dataset.
    pub(crate) fn settings(&self) -> Result<DataSettings> {
        let written = self.data.as_deref().map(DataSettings::written_in).transpose()?;
        let mut settings = written.unwrap_or_default();
        set(&mut settings, &self.set)?;
        if let Some(glyphs) = &self.glyphs {
            settings.set("glyphs", glyphs);
        }
        Ok(settings)
    }

    /// The manifest of the folder that is read, if wug wrote it.
    fn written(&self) -> Result<Option<Manifest>> {
        match &self.data {
            Some(folder) if folder.is_dir() => Manifest::read(folder),
            _ => Ok(None),
        }
    }

    /// The seed as the manifest records it: absent for data that were read and do not say theirs.
    pub(crate) fn recorded_seed(&self) -> Option<serde_json::Value> {
        match (&self.data, self.seed) {
            (Some(_), _) => self.written().ok().flatten().and_then(|manifest| manifest.seed),
            (None, None) => Some(0.into()),
            (None, Some(Seed::Number(seed))) => Some(seed.into()),
            (None, Some(Seed::Official)) => Some("official".into()),
        }
    }

    /// The options as they would be typed.
    pub(crate) fn typed(&self) -> String {
        let seed = match self.seed {
            Some(Seed::Number(seed)) => format!(" --seed {seed}"),
            Some(Seed::Official) => " --seed official".to_owned(),
            None => String::new(),
        };
        let mut typed = if self.data.is_some() { format!("{seed} --data DIR") } else { seed };
        for chosen in &self.set {
            let _ = write!(typed, " --with {chosen}");
        }
        if let Some(glyphs) = &self.glyphs {
            // A folder on this machine is nobody else's business.
            let kind =
                glyphs.split_once(':').map_or_else(|| glyphs.clone(), |(kind, _)| format!("{kind}:DIR"));
            let _ = write!(typed, " --glyphs {kind}");
        }
        typed
    }
}

#[derive(clap::Args)]
pub(crate) struct Show {
    /// The dataset, or a part of it
    #[arg(value_name = "DATASET[#PART]")]
    pub(crate) dataset: String,
    /// How many examples
    #[arg(short, value_name = "N", default_value_t = 5)]
    pub(crate) number: usize,
    /// Say how each target comes about, where the benchmark can
    #[arg(long)]
    pub(crate) answer: bool,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Show how the examples are distributed instead
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print what the learner llm would send instead: a style such as few-shot, or a .toml file (docs/llm.md)
    #[arg(long, value_name = "STYLE", conflicts_with_all = ["stats", "answer", "out"])]
    pub(crate) prompt: Option<String>,
    /// Write the pictures as one PNG file, or drawings (mns) as .svg; with --stats, a folder of CSV and SVG files
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) out: Option<PathBuf>,
    /// How to draw pictures in the terminal
    #[arg(long, value_enum, default_value_t = Protocol::Auto)]
    pub(crate) pictures: Protocol,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Generate {
    /// The dataset or a part of it; a benchmark alone stands for all of its datasets
    #[arg(value_name = "DATASET[#PART]")]
    pub(crate) dataset: String,
    /// The folder to write: new, empty, or written by wug before
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// The kind of files
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Only the first N examples of each part
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Leave the pictures out, where the dataset has them
    #[arg(long)]
    pub(crate) no_pictures: bool,
    /// No progress bar
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The official names and bytes
    Native,
    /// A JSON object a line
    Jsonl,
    /// Columns
    Parquet,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
Example: wug convert cogs recogs/positional --in train.tsv --out positional.tsv --seed official")]
pub(crate) struct Convert {
    /// The dataset that the file is of: cogs
    #[arg(value_name = "FROM")]
    pub(crate) from: String,
    /// The dataset that it should be of, such as recogs/positional or cogs/variable-free
    #[arg(value_name = "TO")]
    pub(crate) to: String,
    /// The file to read, in the official format
    #[arg(long = "in", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    /// Which part it is: only train is added to and altered [default: what the name of the file begins with]
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<String>,
    /// Seed of what is drawn, or `official` for the draws of the release [default: 0]
    #[arg(long, value_name = "N|official")]
    pub(crate) seed: Option<Seed>,
}

#[derive(clap::Args)]
#[command(after_help = "\
Item I of a seed is the same whoever asks. Train and test share no item, whatever their seeds: the rule of the split decides \
(length, held-out words) or, where there is none, a hash of the input.

Examples:
  wug stream hint/symbol --from 1000 --count 5
  wug stream hint/symbol#test --count 100 --where operators=11-20 --with operators=30
  wug stream scan/length --size")]
pub(crate) struct Stream {
    /// The dataset, or a split of its stream, such as cogs/main#gen [default split: train]
    #[arg(value_name = "DATASET[#SPLIT]")]
    pub(crate) dataset: String,
    /// The first item
    #[arg(long, value_name = "I", default_value_t = 0)]
    pub(crate) from: u64,
    /// How many items [default: no end]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// Seed of the stream
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Only items with this fact, as difficulty: depth=3, depth=3-5, depth=3+; may be given again
    #[arg(long = "where", value_name = "FACT=VALUE")]
    pub(crate) limits: Vec<Limit>,
    /// Change the dataset, such as operators=30; `wug list datasets --settings` shows what can be set
    #[arg(long = "with", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print how many different items there are instead, or `endless`
    #[arg(long)]
    pub(crate) size: bool,
}

impl Stream {
    /// What the user chose about the dataset.
    pub(crate) fn settings(&self) -> Result<DataSettings> {
        let mut settings = DataSettings::default();
        set(&mut settings, &self.set)?;
        Ok(settings)
    }
}

/// Sets what `--with` says.
fn set(settings: &mut DataSettings, chosen: &[String]) -> Result<()> {
    for chosen in chosen {
        let (key, value) = chosen
            .split_once('=')
            .ok_or_else(|| Error::usage(format!("`--with {chosen}`: expected KEY=VALUE")))?;
        settings.set(key, value);
    }
    Ok(())
}

#[derive(clap::Args)]
#[command(after_help = "\
The scorer of the folder needs the Python package: pip install ./crates/wug-py. `wug score` reads the harness's logs as \
predictions: the samples of lm-eval (--log_samples), and Inspect's log as JSON (`inspect log dump`).

Examples:
  wug export lm-eval scan/simple nacs/simple --out tasks --limit 100
    lm_eval run --include_path tasks --tasks wug_scan_simple --apply_chat_template ...
  wug export inspect hint/symbol#test-SL --out tasks
    inspect eval tasks/task.py@wug_hint_symbol_test_sl --model ...")]
pub(crate) struct Export {
    /// The harness
    #[arg(value_enum)]
    pub(crate) harness: Harness,
    /// The datasets, or parts of them [default part: the one the benchmark tests on]
    #[arg(value_name = "DATASET[#PART]", required = true)]
    pub(crate) datasets: Vec<String>,
    /// The folder to write: new, empty, or written by wug before
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Only the first N examples of each part
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Harness {
    /// lm-evaluation-harness
    LmEval,
    /// Inspect
    Inspect,
    /// verifiers
    Verifiers,
}

impl From<Harness> for wug_learn::Harness {
    fn from(harness: Harness) -> Self {
        match harness {
            Harness::LmEval => Self::LmEval,
            Harness::Inspect => Self::Inspect,
            Harness::Verifiers => Self::Verifiers,
        }
    }
}

#[derive(clap::Args)]
pub(crate) struct Score {
    /// The dataset, or parts of it, such as cogs/main#test,gen [default part: the one the benchmark tests on, or those that
    /// the ids name]
    #[arg(value_name = "DATASET[#PART]")]
    pub(crate) dataset: String,
    /// The predictions: one a line in the order of the part, or JSON lines, JSON, TSV or CSV with `id` and `prediction`; `-`
    /// is standard input, and gzip is expanded
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) predictions: PathBuf,
    /// How the file holds them: lines, jsonl, json, tsv, csv, or the logs lm-eval and inspect [default: by its extension
    /// and content]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<PredictionFormat>,
    /// Score against this file of the official format instead
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["seed", "data"])]
    pub(crate) gold: Option<PathBuf>,
    /// How to judge [default: the benchmark's own metric]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    /// Accuracy by a fact, such as action-length; may be given again
    #[arg(long, value_name = "FACT")]
    pub(crate) by: Vec<String>,
    /// Which facts decide whether a prediction is right (permutation importance, 3 nearest neighbours)
    #[arg(long)]
    pub(crate) importance: bool,
    /// Say at length why the prediction with this id is wrong; may be given again
    #[arg(long, value_name = "ID")]
    pub(crate) explain: Vec<String>,
    /// Say the same of the first N wrong predictions
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) explain_first: usize,
    /// List the first N wrong predictions
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) errors: usize,
    /// Write a verdict for each prediction, as JSON lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) verdicts: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Only the first N examples of the part
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of the command line
pub(crate) struct Run {
    /// The dataset, or parts of it, such as cogs/main#test,gen [default part: the one the benchmark tests on]
    #[arg(value_name = "DATASET[#PART]", required_unless_present = "resume", requires = "learner")]
    pub(crate) dataset: Option<String>,
    /// The learner; `wug list learners` shows all
    #[arg(long, value_name = "LEARNER", required_unless_present = "resume", requires = "dataset")]
    pub(crate) learner: Option<String>,
    /// Give the learner the symbols behind the images of an image dataset; the scores say so
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) reads: Option<Reads>,
    /// Set something of the learner; may be given again
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Where a network is computed, the same as --set device=D; `wug list devices` shows all
    #[arg(long, value_name = "D")]
    pub(crate) device: Option<String>,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Seed of the learner
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) learner_seed: u64,
    /// Run this many learner seeds from --learner-seed on; reports mean and 95% interval over seeds
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with_all = ["resume", "explain", "explain_first"])]
    pub(crate) seeds: Option<usize>,
    /// The folder for run.json, predictions.jsonl, scores.json and checkpoints: new or empty
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Replace the run that the folder of --out has
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Go on with the run in this folder from its last checkpoint; its options need not be given again
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "out")]
    pub(crate) resume: Option<PathBuf>,
    /// Do not train again: take the checkpoint of a run with the same training, to answer another part or in another way
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "resume")]
    pub(crate) trained: Option<PathBuf>,
    /// Fine-tune the trained model of the run in this folder; settings that are not given are its own
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "trained")]
    pub(crate) init_checkpoint: Option<PathBuf>,
    /// Stop training after this time, such as 90m or 1h30m, with a checkpoint to go on from
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) time_limit: Option<Duration>,
    /// Only the first N examples of the part
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// How to judge [default: the benchmark's own metric]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    /// Accuracy by a fact, such as action-length; may be given again
    #[arg(long, value_name = "FACT")]
    pub(crate) by: Vec<String>,
    /// Which facts decide whether an answer is right (permutation importance, 3 nearest neighbours)
    #[arg(long)]
    pub(crate) importance: bool,
    /// The five training inputs nearest to this one by the last state of a recurrent decoder; may be given again
    #[arg(long, value_name = "INPUT")]
    pub(crate) neighbours: Vec<String>,
    /// A map (t-SNE) of what the image encoder says of the symbols of the part, as SVG (HINT, Figure A4)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "seeds")]
    pub(crate) embedding_map: Option<PathBuf>,
    /// Show the answer to the example with this id and how it came about; may be given again
    #[arg(long, value_name = "ID")]
    pub(crate) explain: Vec<String>,
    /// Show the same of the first N answers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) explain_first: usize,
    /// List the first N wrong predictions
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) errors: usize,
    /// No progress bar
    #[arg(long)]
    pub(crate) quiet: bool,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a learner is given instead of the images of an image dataset.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Reads {
    /// The symbols behind the images
    Symbols,
}

impl From<Reads> for wug_run::Symbols {
    fn from(reads: Reads) -> Self {
        match reads {
            Reads::Symbols => Self::Symbols,
        }
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
Runs that are done are not run again: interrupt at any time and give the same command to go on.
Experiments with the same --out share their runs.

Examples:
  wug reproduce mns/table-1                       about a minute
  wug reproduce mns/table-1 --format markdown
  wug reproduce hint/table-3 --row transformer    one row of a table that takes long
  wug reproduce my-table.toml --scale smoke       a file of your own")]
pub(crate) struct Reproduce {
    /// The experiment as `wug list experiments` prints it, or a TOML file
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiment: String,
    /// How much of it: smoke (seconds; no result), cpu (fewer runs), paper (all)
    #[arg(long, value_name = "SCALE", default_value = "cpu")]
    pub(crate) scale: wug_report::Scale,
    /// Run only this row (may be given again); the table shows all that is done
    #[arg(long = "row", value_name = "NAME")]
    pub(crate) rows: Vec<String>,
    /// Run only what this column needs (may be given again)
    #[arg(long = "column", value_name = "NAME")]
    pub(crate) columns: Vec<String>,
    /// The folder for its runs and tables [default: runs/EXPERIMENT/SCALE]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// How many runs at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) jobs: Option<usize>,
    /// Where networks are computed; `wug list devices` shows all
    #[arg(long, value_name = "D")]
    pub(crate) device: Option<String>,
    /// Stop after this time, such as 90m or 1h30m; the same command goes on
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) time_limit: Option<Duration>,
    /// How to print the table
    #[arg(long, value_enum, default_value_t = TableFormat::Terminal, conflicts_with = "json")]
    pub(crate) format: TableFormat,
    /// Say nothing while running
    #[arg(long)]
    pub(crate) quiet: bool,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
The first run is the baseline. Runs that differ by --learner-seed alone are one system, and a folder of `wug run --seeds`
stands for all of its seeds: then seeds are resampled as well as examples.

Examples:
  wug compare runs/lstm runs/transformer --by action-length
  wug compare a.txt b.txt --dataset cogs/main#gen --by type")]
pub(crate) struct Compare {
    /// Run folders, or with --dataset files of predictions
    #[arg(value_name = "RUN", required = true, num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub(crate) runs: Vec<PathBuf>,
    /// The dataset, or a part of it, that files of predictions are for
    #[arg(long, value_name = "DATASET[#PART]")]
    pub(crate) dataset: Option<String>,
    /// What changed by a fact, such as action-length; may be given again
    #[arg(long, value_name = "FACT")]
    pub(crate) by: Vec<String>,
    /// How to judge [default: the metric of the runs]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    /// List the first N examples that flipped
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) flips: usize,
    #[command(flatten)]
    pub(crate) data: Data,
    /// One JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
DIR is the folder of a run, of an experiment, or one that has such folders below it. Folders that cannot be read are listed
on the page.

Examples:
  wug report runs/lstm runs/induced --out report.html
  wug report runs/mns/table-1/cpu --out table-1.html --json table-1.json
  wug report runs/lstm --watch")]
pub(crate) struct Report {
    /// Folders of runs and experiments
    #[arg(value_name = "DIR", required = true, num_args = 1.., value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "report.html", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    /// Write what the page shows as one JSON document, too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) json: Option<PathBuf>,
    /// Serve the page on 127.0.0.1 instead, and update it while runs go on
    #[arg(long, conflicts_with_all = ["out", "json"])]
    pub(crate) watch: bool,
    /// The port to serve on [default: any that is free]
    #[arg(long, value_name = "PORT", requires = "watch", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
}

#[derive(clap::Args)]
pub(crate) struct Gallery {
    /// The folder to write: new, empty, or written by wug before
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum TableFormat {
    /// For a person
    Terminal,
    /// A table of Markdown
    Markdown,
    /// A line for each row and column
    Csv,
    /// A tabular with booktabs
    Latex,
}

/// A number from 1 on.
fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "expected a whole number from 1".to_owned())
}

/// A time: `2h`, `90m`, `1h30m`, `45s`, or in seconds.
fn time(text: &str) -> std::result::Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "expected a time, such as 2h, 90m, 1h30m or 45 (seconds)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |text| time(text).map(|time| time.as_secs()).ok();
        assert_eq!(["2h", "90m", "1h30m", "0s"].map(seconds), [Some(7200), Some(5400), Some(5400), Some(0)]);
        assert_eq!(["", "2d", "h", "1h3", "-1h", "2 h", "99999999999999999999h"].map(seconds), [None; 7]);
    }
}
