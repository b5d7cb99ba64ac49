//! Writes a contact sheet of built-in handwriting: a row for each symbol, a writer for each column.
//!
//!     cargo run --release -p wug-ink --example sheet -- sheet.png [thin] [seed]

use wug_ink::{Pen, SYMBOLS, Writers};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: sheet FILE.png [thin] [seed]");
        std::process::exit(2);
    };
    let rest: Vec<String> = arguments.collect();
    let thin = rest.iter().any(|word| word == "thin");
    let seed = rest.iter().find_map(|word| word.parse().ok()).unwrap_or(0);
    let writers = Writers::new(seed);
    let crops = (0..SYMBOLS.len()).flat_map(|symbol| (0..26).map(move |writer| (symbol, writer)));
    let pictures: Vec<_> = crops
        .map(|(symbol, writer)| {
            let (ink, pen) = writers.write(writer, symbol, 0);
            ink.crop(45, if thin { Pen::Thin } else { pen })
        })
        .collect();
    std::fs::write(file, wug_data::sheet(&pictures, 26, 1).png()?)
}
