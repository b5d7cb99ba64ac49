//! `wug`: parses the command line, calls the libraries, prints.

mod args;
mod commands;
mod output;
mod progress;
mod scores;
mod signals;
mod terminal;

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Parser;

use args::{Args, Command};
use output::{BOLD, Failure};

/// A damaged Parquet file makes its reader panic. That becomes an error, so the panic needs no message of its own.
fn silence_caught_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !wug_data::panic_is_caught() {
            default(info);
        }
    }));
}

fn main() -> ExitCode {
    signals::install();
    silence_caught_panics();
    let args = Args::parse();
    if let Some(threads) = args.threads {
        // It fails only if the pool exists already, and nothing has been computed yet.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }
    let done = match args.command {
        Command::List(list) => commands::list::run(&list),
        Command::Show(show) => commands::show::run(&show),
        Command::Generate(generate) => commands::generate::run(&generate),
        Command::Convert(convert) => commands::convert::run(&convert),
        Command::Stream(stream) => commands::stream::run(&stream),
        Command::Export(export) => commands::export::run(&export),
        Command::Score(score) => commands::score::run(&score),
        Command::Run(run) => commands::run::run(&run),
        Command::Reproduce(reproduce) => commands::reproduce::run(&reproduce),
        Command::Compare(compare) => commands::compare::run(&compare),
        Command::Report(report) => commands::report::run(&report),
        Command::Gallery(gallery) => commands::gallery::run(&gallery),
        Command::Completions { shell } => commands::help::completions(shell),
        Command::Man { out } => commands::help::man(out.as_deref()),
    };
    if wug_data::is_interrupted() {
        // What failed, failed because of the signal; its handler is about to end the process.
        std::thread::sleep(std::time::Duration::MAX);
    }
    match done {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Error(error)) if error.is_unfinished() => {
            anstream::eprintln!("{BOLD}stopped:{BOLD:#} {error}");
            ExitCode::from(signals::exit_code().unwrap_or(3))
        }
        Err(Failure::Error(error)) => {
            let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
            anstream::eprintln!("{red}error:{red:#} {error}");
            ExitCode::from(if error.is_usage() { 2 } else { 1 })
        }
    }
}
