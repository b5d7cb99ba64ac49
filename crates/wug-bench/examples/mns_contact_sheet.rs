//! Draws one panel of each of the 42 figures of MNS into one PNG file, to be looked at:
//! `cargo run -p wug-bench --example mns_contact_sheet -- sheet.png`.

use std::collections::HashSet;
use std::error::Error;

use wug_bench::mns::drawing::{PANEL, draw};
use wug_bench::mns::sample::Sampler;
use wug_bench::mns::splits::Design;
use wug_data::{Picture, Streams};

const ACROSS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to write")?;
    let design = Design::named("shapes").ok_or("the dataset has a design")?;
    let sampler = Sampler::new(design.parameters.clone())?;
    let streams = Streams::new("mns/shapes", "contact sheet", 0);
    let mut seen = HashSet::new();
    let first = design.conditions.iter().filter(|condition| seen.insert((condition.layout, condition.shape)));
    let panels: Vec<Picture> = (0..)
        .zip(first)
        .map(|(i, &condition)| draw(&sampler.problem(condition, &mut streams.item(i)).problem))
        .collect();

    let down = panels.len().div_ceil(ACROSS);
    let width = ACROSS * PANEL;
    let mut sheet = Picture {
        width: width as u32,
        height: (down * PANEL) as u32,
        pixels: vec![255; width * down * PANEL],
    };
    for (i, picture) in panels.iter().enumerate() {
        for (y, row) in picture.pixels.chunks(picture.width as usize).enumerate() {
            let at = (i / ACROSS * PANEL + y) * width + i % ACROSS * PANEL;
            sheet.pixels[at..at + PANEL].copy_from_slice(&row[row.len() - PANEL..]);
        }
    }
    std::fs::write(&path, sheet.png()?)?;
    println!("{} figures in {path}", panels.len());
    Ok(())
}
