use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use wug_official::Official;

use super::*;
use crate::mns::groups::has_room_at_the_centre;
use crate::mns::sample::{Parameters, Sampler};
use crate::mns::splits::Design;
use wug_data::Streams;

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

/// Problems of every condition of a dataset.
fn problems(design: &str, per_condition: usize) -> Vec<Problem> {
    let design = Design::named(design).unwrap();
    let sampler = Sampler::new(design.parameters.clone()).unwrap();
    let streams = Streams::new("test", "reading", 0);
    let items = 0..(design.conditions.len() * per_condition) as u64;
    items.map(|i| design.draw(&sampler, &streams, i).problem).collect()
}

#[test]
fn what_is_drawn_is_read_back() {
    let reader = Reader::new(99);
    for problem in problems("shapes", 3) {
        assert_eq!(reader.read(&draw(&problem)).as_ref(), Ok(&problem));
    }
}

#[test]
fn shifts_are_read_over() {
    let reader = Reader::new(99);
    let mut stream = Streams::new("test", "shifts", 0).item(0);
    for problem in problems("shapes", 1).into_iter().step_by(3) {
        let mut step = |most: i32| stream.below(2 * most as u64 + 1) as i32 - most;
        let jittered = draw_beside(&problem, || (step(3), step(3)));
        assert_eq!(reader.read(&jittered).as_ref(), Ok(&problem), "numbers beside their places");
        // More to the right would cut a digit off that stands at the edge.
        let shifted = shift(&draw(&problem), step(4).min(2), step(4));
        assert_eq!(reader.read(&shifted).as_ref(), Ok(&problem), "panels shifted");
    }
}

#[test]
fn noise_is_read_over() {
    let reader = Reader::new(99);
    let mut stream = Streams::new("test", "noise", 0).item(0);
    let problems = problems("shapes", 2);
    let mut right = 0;
    for problem in &problems {
        let mut picture = draw(problem);
        for grey in &mut picture.pixels {
            if stream.coin(0.05) {
                *grey = 255 - *grey;
            }
        }
        right += usize::from(reader.read(&picture).as_ref() == Ok(problem));
    }
    assert!(right * 100 >= problems.len() * 98, "{right} of {}", problems.len());
}

#[test]
fn pictures_of_another_size_are_refused() {
    let reader = Reader::new(99);
    let of = |width, height| Picture { width, height, pixels: vec![255; (width * height) as usize] };
    for (width, height) in [(480, 80), (80, 480), (160, 160), (481, 160), (0, 160)] {
        let message = reader.read(&of(width, height)).unwrap_err();
        assert_eq!(message, format!("{width} x {height} pixels: not two or more panels of 160 x 160"));
    }
    assert!(reader.read(&of(480, 160)).is_ok(), "an empty picture is read as something, never a panic");
}

#[test]
fn the_released_problem_comes_out_pixel_by_pixel() {
    let mut official = Official::new("MNS released problem, pixel by pixel");
    let Some(folder) = official.folder("mns", 1) else { return };
    let path = folder.join("sample_prob_1003_include_analytical_2.npz");
    let sampler = Sampler::new(Parameters::default()).unwrap();
    let row = files::read_npz(&path, &sampler).unwrap();
    let text = "combination include : 52 80 14 68 1 1 2 1 | 23 14 57 86 3 7 1 1 | 29 1 17 75 ? 87 1 1";
    assert_eq!((row.problem.to_string().as_str(), row.answer), (text, 1));
    assert_eq!(row.rule, "a * b / c - d, 2 groups along the axes");
    assert_eq!(files::picture(&path).unwrap(), draw(&row.problem), "maximum difference 0");
    official.compared(1);
}

/// A panel in characters that have two by four dots each.
fn braille(panel: &[u8]) -> String {
    const DOTS: [(usize, usize); 8] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    let mut text = String::new();
    for y in (0..PANEL).step_by(4) {
        for x in (0..PANEL).step_by(2) {
            let is_dark = |(dx, dy): (usize, usize)| panel[(y + dy) * PANEL + x + dx] < 150;
            let dots =
                DOTS.iter().enumerate().filter(|(_, dot)| is_dark(**dot)).map(|(i, _)| 1 << i).sum::<u32>();
            text.push(if dots == 0 { ' ' } else { char::from_u32(0x2800 + dots).unwrap() });
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// The panel of a figure with the numbers 10, 21, 32, ... and 50 at the centre.
fn counted(layout: Layout, shape: Shape) -> Vec<u8> {
    let numbers = (0..layout.integers() as u16).map(|i| 10 + 11 * i).collect();
    let centre = has_room_at_the_centre(layout).then_some(50);
    draw_panel(&Panel { numbers, centre }, layout, shape, || (0, 0))
}

#[test]
fn every_layout_looks_as_it_did() {
    for layout in Layout::ALL {
        let name = format!("{}-{}", layout.kind().name(), layout.name());
        insta::assert_snapshot!(name, braille(&counted(layout, Shape::Circle)));
    }
}

#[test]
fn no_pixel_of_any_figure_has_changed() {
    let mut sums: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for condition in conditions().iter().filter(|it| seen.insert((it.layout, it.shape))) {
        let mut sum = flate2::Crc::new();
        sum.update(&counted(condition.layout, condition.shape));
        let (kind, layout) = (condition.layout.kind().name(), condition.layout.name());
        sums.push(format!("{kind} {layout} {}: {:08x}", condition.shape.name(), sum.sum()));
    }
    insta::assert_snapshot!(sums.join("\n"));
}

#[test]
fn svg_has_the_strokes() {
    let problem: Problem = "partition 4 hexagon : 1 2 3 4 | 5 6 7 8 | 9 10 ? 11".parse().unwrap();
    let svg = svg(&problem);
    assert_eq!(svg.matches("<polygon").count(), 3);
    assert_eq!(svg.matches("<line").count(), 6);
    assert_eq!(svg.matches("<path").count(), 12);
    assert!(
        svg.starts_with("<svg xmlns") && svg.contains("viewBox=\"0 0 900 300\"") && svg.ends_with("</svg>\n")
    );
}
