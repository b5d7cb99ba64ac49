use std::io::Write;

use wug_data::write_file;
use wug_report::{Report, serve};

use crate::args::Report as Args;
use crate::commands::show::wrote;
use crate::output::{Done, out};

pub(crate) fn run(args: &Args) -> Done {
    if args.watch {
        return Ok(serve(&args.folders, args.port, |address| {
            let mut out = out();
            // Whoever started it in a terminal sees it; if nobody reads it, the page is served all the same.
            let _ = writeln!(out, "http://{address}  (ends with Ctrl-C)").and_then(|()| out.flush());
        })?);
    }
    let report = Report::collect(&args.folders);
    for problem in &report.problems {
        anstream::eprintln!("not shown: {}: {}", problem.folder, problem.what);
    }
    if let Some(path) = &args.json {
        write_file(path, |out| Ok(serde_json::to_writer(out, &report)?))?;
        wrote(path);
    }
    write_file(&args.out, |out| out.write_all(report.html().as_bytes()))?;
    wrote(&args.out);
    Ok(())
}
