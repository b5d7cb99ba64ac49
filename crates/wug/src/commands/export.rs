use wug_bench::Address;
use wug_data::{Dataset, Result};
use wug_learn::{Exported, export};

use crate::args::Export;
use crate::commands::show::wrote;
use crate::output::Done;

pub(crate) fn run(args: &Export) -> Done {
    let (source, settings) = (args.data.source()?, args.data.settings()?);
    let make = |name: &String| -> Result<(Address, Dataset)> {
        let address: Address = name.parse()?;
        let dataset = address.benchmark.make_with(&address.dataset, &source, &settings)?;
        Ok((address, dataset))
    };
    let made: Vec<(Address, Dataset)> = args.datasets.iter().map(make).collect::<Result<_>>()?;
    let task = |made| -> Result<Exported<'_>> {
        let (address, dataset): &(Address, Dataset) = made;
        let default = address.benchmark.default_part(&address.dataset);
        let selection = dataset.select(address.part.as_deref().unwrap_or(default))?.limited(args.limit);
        Ok(Exported { address, dataset, selection })
    };
    let tasks: Vec<Exported<'_>> = made.iter().map(task).collect::<Result<_>>()?;
    export(args.harness.into(), &tasks, &args.out)?;
    wrote(&args.out);
    Ok(())
}
