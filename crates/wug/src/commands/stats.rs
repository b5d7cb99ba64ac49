use std::io::Write;

use serde::Serialize;

use wug_bench::{Address, Statistic};
use wug_data::{Dataset, Error, write_file};

use crate::args::Show;
use crate::output::{BOLD, DIM, Done, json, out, table};
use wug_data::thousands;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    dataset: &'a str,
    statistics: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    title: &'a str,
    columns: &'a [String],
    rows: Vec<(&'a str, &'a [f64])>,
    notes: &'a [String],
}

impl<'a> Entry<'a> {
    fn new(statistic: &'a Statistic) -> Self {
        let rows = statistic.rows.iter();
        Self {
            name: &statistic.name,
            title: &statistic.title,
            columns: &statistic.columns,
            rows: rows.map(|(value, numbers)| (value.as_str(), numbers.as_slice())).collect(),
            notes: &statistic.notes,
        }
    }
}

/// `show --stats`: how the examples of a dataset are distributed.
pub(crate) fn run(args: &Show, address: &Address, dataset: &Dataset) -> Done {
    let statistics = address.benchmark.statistics(dataset);
    if statistics.is_empty() {
        return Err(Error::usage(format!("{} has no statistics", dataset.name)).into());
    }
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        for statistic in &statistics {
            for (extension, text) in
                [("csv", wug_report::csv(statistic)), ("svg", wug_report::svg(statistic))]
            {
                let path = folder.join(format!("{}.{extension}", statistic.name));
                write_file(&path, |out| out.write_all(text.as_bytes()))?;
                crate::commands::show::wrote(&path);
            }
        }
    }
    if args.json {
        let statistics = statistics.iter().map(Entry::new).collect();
        return json(&Document { schema: 1, dataset: &dataset.name, statistics });
    }
    let mut out = out();
    writeln!(out, "{BOLD}{}{BOLD:#}", dataset.name)?;
    for statistic in &statistics {
        writeln!(out, "\n{BOLD}{}{BOLD:#}", statistic.title)?;
        let mut header = vec![statistic.name.as_str()];
        header.extend(statistic.columns.iter().map(String::as_str));
        let number =
            |x: &f64| if statistic.shares { format!("{:.3}%", x * 100.0) } else { thousands(*x as usize) };
        let rows = statistic.rows.iter().map(|(value, numbers)| {
            std::iter::once(value.clone()).chain(numbers.iter().map(number)).collect()
        });
        let right: Vec<usize> = (1..header.len()).collect();
        write!(out, "{}", table(&header, &right, rows.collect()))?;
        for note in &statistic.notes {
            writeln!(out, "  {DIM}{note}{DIM:#}")?;
        }
    }
    out.flush()?;
    Ok(())
}
