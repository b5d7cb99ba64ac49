use std::io::Write;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use wug_bench::BENCHMARKS;
use wug_learn::LEARNERS;
use wug_report::EXPERIMENTS;

use wug_data::{Error, write_file};

use crate::args::Args;
use crate::output::{Done, out};

pub(crate) fn completions(shell: Shell) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_names(Args::command()), "wug", &mut script);
    let mut out = out();
    out.write_all(&script)?;
    out.flush()?;
    Ok(())
}

/// The commands with every name that there is as a possible value; a value that is parsed may have a part, or be a file.
fn with_names(command: Command) -> Command {
    let datasets = || {
        BENCHMARKS.iter().flat_map(|benchmark| {
            let families = benchmark.families().into_iter().flat_map(|family| family.names);
            families.map(|name| format!("{}/{name}", benchmark.about().name)).collect::<Vec<_>>()
        })
    };
    let named = |names: Vec<String>| PossibleValuesParser::new(names);
    let learners = || LEARNERS.iter().map(|learner| learner.about().name.to_owned()).collect();
    let experiments = EXPERIMENTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut command = command;
    for name in ["show", "generate", "score", "run"] {
        command = command.mut_subcommand(name, |of| {
            of.mut_arg("dataset", |arg| arg.value_parser(named(datasets().collect())))
        });
    }
    command
        .mut_subcommand("run", |of| of.mut_arg("learner", |arg| arg.value_parser(named(learners()))))
        .mut_subcommand("list", |of| of.mut_arg("name", |arg| arg.value_parser(named(learners()))))
        .mut_subcommand("reproduce", |of| {
            of.mut_arg("experiment", |arg| arg.value_parser(named(experiments)))
        })
}

pub(crate) fn man(folder: Option<&Path>) -> Done {
    let mut command = Args::command();
    command.build();
    let Some(folder) = folder else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        let mut out = out();
        out.write_all(&page)?;
        out.flush()?;
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    for command in std::iter::once(&command).chain(command.get_subcommands()) {
        let name = command.get_display_name().unwrap_or("wug").to_owned();
        let page = Man::new(command.clone()).title(name.to_uppercase());
        write_file(&folder.join(format!("{name}.1")), |mut out| page.render(&mut out))?;
    }
    Ok(())
}
