use std::io::Write;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use wug_data::{Error, write_file};

use crate::args::Args;
use crate::output::{Done, out};

pub(crate) fn completions(shell: Shell) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "wug", &mut script);
    let mut out = out();
    out.write_all(&script)?;
    out.flush()?;
    Ok(())
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
