use std::io::Write;

use serde::Serialize;

use wug_bench::{Availability, BENCHMARKS};
use wug_data::Error;
use wug_learn::{Device, LEARNERS, Reads, learner};

use wug_report::{EXPERIMENTS, Experiment, Scale};

use crate::args::{List, Listed};
use crate::output::{BOLD, DIM, Done, json, out, table};

pub(crate) fn run(args: &List) -> Done {
    if args.name.is_some() && !matches!(args.what, Listed::Learners) {
        return Err(Error::usage("a name is for learners: `wug list learners NAME`").into());
    }
    match args.what {
        Listed::Datasets if args.settings => settings(),
        Listed::Datasets if args.json => datasets_json(),
        Listed::Datasets => datasets(),
        Listed::Learners if args.json => learners_json(),
        Listed::Learners => learners(args.name.as_deref()),
        Listed::Experiments => experiments(args.json),
        Listed::Devices => devices(args.json),
    }
}

fn origin(origin: Availability) -> &'static str {
    match origin {
        Availability::Rule => "rule",
        Availability::Drawn => "drawn",
        Availability::Imported => "import",
    }
}

fn datasets() -> Done {
    let mut out = out();
    for (i, benchmark) in BENCHMARKS.iter().enumerate() {
        let about = benchmark.about();
        if i > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{BOLD}{}{BOLD:#}", about.title)?;
        let rows = benchmark.families().into_iter().map(|family| {
            let name = format!("{}/{}", about.name, family.pattern);
            vec![
                name,
                family.names.len().to_string(),
                origin(family.origin).to_owned(),
                family.about.to_owned(),
            ]
        });
        write!(out, "{}", table(&["dataset", "number", "rows", "asks"], &[1], rows.collect()))?;
    }
    writeln!(
        out,
        "\n{DIM}rows: `rule` follow from the grammar, `drawn` depend on --seed, `import` need --data DIR"
    )?;
    writeln!(out, "{{1..5}} stands for each of the names; --json lists every one{DIM:#}")?;
    out.flush()?;
    Ok(())
}

fn settings() -> Done {
    let mut out = out();
    for benchmark in BENCHMARKS.iter().filter(|benchmark| !benchmark.settings().is_empty()) {
        writeln!(out, "{BOLD}{}{BOLD:#}", benchmark.about().title)?;
        write!(out, "{}", settings_table("--with", benchmark.settings()))?;
    }
    out.flush()?;
    Ok(())
}

fn datasets_json() -> Done {
    #[derive(Serialize)]
    struct Listing {
        schema: u32,
        datasets: Vec<Dataset>,
    }
    #[derive(Serialize)]
    struct Dataset {
        dataset: String,
        rows: &'static str,
        about: &'static str,
        metrics: Vec<&'static str>,
    }
    let mut datasets = Vec::new();
    for benchmark in BENCHMARKS.iter() {
        for family in benchmark.families() {
            datasets.extend(family.names.iter().map(|name| Dataset {
                dataset: format!("{}/{name}", benchmark.about().name),
                rows: origin(family.origin),
                about: family.about,
                metrics: benchmark.metrics().iter().map(|metric| metric.name).collect(),
            }));
        }
    }
    json(&Listing { schema: 1, datasets })
}

/// The benchmarks a learner is for, in words.
fn benchmarks(names: &[&str]) -> String {
    if names.is_empty() { "any".to_owned() } else { names.join(", ") }
}

fn learners(name: Option<&str>) -> Done {
    let mut out = out();
    if let Some(name) = name {
        return settings_of(learner(name)?.about(), out);
    }
    let rows = LEARNERS.iter().map(|learner| {
        let about = learner.about();
        vec![about.name.to_owned(), benchmarks(about.benchmarks), about.title.to_owned()]
    });
    write!(out, "{}", table(&["learner", "benchmarks", "how"], &[], rows.collect()))?;
    writeln!(out, "\n{DIM}`wug list learners NAME` shows what may be set{DIM:#}")?;
    out.flush()?;
    Ok(())
}

/// The settings of one learner.
fn settings_of(about: &wug_learn::LearnerInfo, mut out: impl Write) -> Done {
    writeln!(out, "{BOLD}{}{BOLD:#}  {}", about.name, about.title)?;
    write!(out, "{}", settings_table("--set", about.settings))?;
    out.flush()?;
    Ok(())
}

fn settings_table(option: &str, settings: &[wug_data::Setting]) -> String {
    let rows = settings.iter().map(|setting| {
        let default = setting.default.value();
        let default = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
        vec![setting.name.to_owned(), default, setting.default.expects(), setting.about.to_owned()]
    });
    table(&[option, "default", "values", "what it does"], &[], rows.collect())
}

fn learners_json() -> Done {
    #[derive(Serialize)]
    struct Listing {
        schema: u32,
        learners: Vec<Learner>,
    }
    #[derive(Serialize)]
    struct Learner {
        learner: &'static str,
        about: &'static str,
        benchmarks: &'static [&'static str],
        reads: Reads,
        settings: Vec<Setting>,
    }
    #[derive(Serialize)]
    struct Setting {
        name: &'static str,
        about: &'static str,
        default: serde_json::Value,
        expects: String,
    }
    let setting = |setting: &wug_learn::Setting| Setting {
        name: setting.name,
        about: setting.about,
        default: setting.default.value(),
        expects: setting.default.expects(),
    };
    let learners = LEARNERS.iter().map(|learner| {
        let about = learner.about();
        Learner {
            learner: about.name,
            about: about.title,
            benchmarks: about.benchmarks,
            reads: about.reads,
            settings: about.settings.iter().map(setting).collect(),
        }
    });
    json(&Listing { schema: 1, learners: learners.collect() })
}

fn devices(as_json: bool) -> Done {
    #[derive(Serialize)]
    struct Listing {
        schema: u32,
        devices: Vec<Entry>,
    }
    #[derive(Serialize)]
    struct Entry {
        device: &'static str,
        about: &'static str,
        compiled: bool,
        usable: bool,
    }
    let entry = |&device: &Device| Entry {
        device: device.name(),
        about: device.about(),
        compiled: device.is_compiled(),
        usable: device.check().is_ok(),
    };
    let devices: Vec<Entry> = Device::ALL.iter().map(entry).collect();
    if as_json {
        return json(&Listing { schema: 1, devices });
    }
    let mut out = out();
    let rows = devices.into_iter().map(|entry| {
        let state = match entry {
            Entry { usable: true, .. } => "yes".to_owned(),
            Entry { compiled: true, .. } => "not on this machine".to_owned(),
            Entry { device, .. } => format!("build with --features {device}"),
        };
        vec![entry.device.to_owned(), state, entry.about.to_owned()]
    });
    write!(out, "{}", table(&["device", "usable", "what it is"], &[], rows.collect()))?;
    out.flush()?;
    Ok(())
}

fn experiments(as_json: bool) -> Done {
    #[derive(Serialize)]
    struct Listing {
        schema: u32,
        experiments: Vec<Entry>,
    }
    #[derive(Serialize)]
    struct Entry {
        experiment: &'static str,
        title: String,
        paper: String,
        source: String,
        /// How many runs each scale has.
        runs: [u64; 3],
    }
    let mut entries = Vec::new();
    for (name, _) in EXPERIMENTS {
        let mut runs = [0; 3];
        for (runs, scale) in runs.iter_mut().zip(Scale::ALL) {
            *runs = Experiment::named(name, scale)?.run_count()?;
        }
        let Experiment { title, paper, source, .. } = Experiment::named(name, Scale::Paper)?;
        entries.push(Entry { experiment: name, title, paper, source, runs });
    }
    if as_json {
        return json(&Listing { schema: 1, experiments: entries });
    }
    let mut out = out();
    let rows = entries.into_iter().map(|entry| {
        let mut row = vec![entry.experiment.to_owned(), entry.source];
        row.extend(entry.runs.iter().map(u64::to_string));
        row.push(entry.title);
        row
    });
    let header = ["experiment", "source", "smoke", "cpu", "paper", "shows"];
    write!(out, "{}", table(&header, &[2, 3, 4], rows.collect()))?;
    writeln!(
        out,
        "\n{DIM}smoke, cpu, paper: how many runs `wug reproduce EXPERIMENT --scale ...` makes{DIM:#}"
    )?;
    out.flush()?;
    Ok(())
}
