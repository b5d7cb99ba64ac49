use wug_report::write_gallery;

use crate::args::Gallery;
use crate::output::Done;

pub(crate) fn run(args: &Gallery) -> Done {
    let pages = write_gallery(&args.out)?;
    anstream::eprintln!("wrote {pages} pages; open {}", args.out.join("index.html").display());
    Ok(())
}
