use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use wug_official::Official;

use super::*;

/// A grey or black-and-white PNG file as bytes.
fn read_png(path: &Path) -> (usize, Vec<u8>) {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path).unwrap()));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let samples = info.color_type.samples();
    let grey = pixels[..info.buffer_size()].chunks(samples).map(|pixel| pixel[0]).collect();
    (info.width as usize, grey)
}

#[test]
fn empty_circle_layouts_are_the_released_ones() {
    let mut official = Official::new("MNS layouts, pixel by pixel");
    let Some(folder) = official.folder("mns", 12) else { return };
    let mut wrong = Vec::new();
    for layout in Layout::ALL {
        let prefix = if layout.name().len() == 1 { "part" } else { "" };
        let (_, theirs) = read_png(&folder.join(format!("base_{prefix}{}.png", layout.name())));
        let ours = Figure::new(layout, Shape::Circle).draw().pixels;
        let different = ours.iter().zip(&theirs).filter(|(one, other)| one != other).count();
        if different > 0 {
            wrong.push((layout, different));
        }
        official.compared(1);
    }
    assert_eq!(wrong, [], "layouts with the number of pixels that differ");
}

#[test]
fn labels_are_the_released_ones() {
    #[derive(serde::Deserialize)]
    struct Layouts {
        glyphs: HashMap<String, HashMap<String, Glyph>>,
    }
    #[derive(serde::Deserialize)]
    struct Glyph {
        dx: i32,
        dy: i32,
        rows: Vec<String>,
    }
    let mut official = Official::new("MNS labels, pixel by pixel");
    let Some(folder) = official.folder("mns", 200) else { return };
    let layouts: Layouts =
        serde_json::from_reader(File::open(folder.join("mns_layouts.json")).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for (scale, units) in [("0.6", 39_322), ("0.5", 32_768)] {
        for (text, glyph) in &layouts.glyphs[scale] {
            let label = text.parse().map_or(Label::Asked, Label::Number);
            let mut ours = Canvas::white(300);
            label.draw(&mut ours, 100, 100, units);
            let mut theirs = Canvas::white(300);
            for (y, row) in glyph.rows.iter().enumerate() {
                for (x, cell) in row.chars().enumerate().filter(|(_, cell)| *cell == '#') {
                    let (x, y) = (100 + glyph.dx + x as i32, 100 + glyph.dy + y as i32);
                    assert_eq!(cell, '#');
                    theirs.pixels[y as usize * 300 + x as usize] = 0;
                }
            }
            if ours.pixels != theirs.pixels {
                wrong.push((scale, text));
            }
            official.compared(1);
        }
    }
    assert_eq!(wrong, [], "labels that differ");
}
