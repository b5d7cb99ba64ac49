//! What it looks like: panels of 160 x 160 pixels, the same to the pixel as the release where that has them, and SVG.

mod layouts;
mod raster;
mod read;
mod reduce;
mod svg;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use wug_data::{Part, Picture, Pictures, Streams, Table};

use super::files;
use super::grammar::{Layout, Shape, conditions};
use super::problem::{Panel, Problem};
use layouts::{CENTRE, Figure};
use raster::Canvas;
use text::Label;

pub use read::Reader;
pub use reduce::PANEL;
pub use svg::{svg, svg_sheet};

/// From a position to the left end of its number's baseline.
const OFFSET: (i32, i32) = (-9, 4);

/// A figure and its empty panel, drawn once.
struct Template {
    figure: Figure,
    canvas: Canvas,
    reduced: Vec<u8>,
}

/// The empty panel of every layout and shape.
static TEMPLATES: LazyLock<HashMap<(Layout, Shape), Template>> = LazyLock::new(|| {
    let figures = conditions().iter().map(|condition| (condition.layout, condition.shape));
    let template = |(layout, shape)| {
        let figure = Figure::new(layout, shape);
        let canvas = figure.draw();
        let reduced = reduce::reduce(&canvas);
        ((layout, shape), Template { figure, canvas, reduced })
    };
    figures.map(template).collect()
});

/// The labels of a panel with their places: its numbers in position order, then the shown constant.
fn labels<'a>(panel: &'a Panel, figure: &'a Figure) -> impl Iterator<Item = (Label, (i32, i32))> + 'a {
    let label = |&number: &u16| if number == 0 { Label::Asked } else { Label::Number(number) };
    let numbers = panel.numbers.iter().map(label).zip(figure.positions.iter().copied());
    numbers.chain(panel.centre.map(|constant| (Label::Number(constant), CENTRE)))
}

/// One panel, 160 pixels wide and high, rows from the top. `beside` says by how much each label stands beside its
/// place, in pixels of the 300 that a panel is drawn with.
///
/// Only what a number can have changed is reduced anew: the rest is the empty panel's.
fn draw_panel(
    panel: &Panel,
    layout: Layout,
    shape: Shape,
    mut beside: impl FnMut() -> (i32, i32),
) -> Vec<u8> {
    let Template { figure, canvas, reduced } = &TEMPLATES[&(layout, shape)];
    let (mut canvas, mut reduced) = (canvas.clone(), reduced.clone());
    let boxes: Vec<[usize; 4]> = labels(panel, figure)
        .map(|(label, (x, y))| {
            let (dx, dy) = beside();
            label.draw(&mut canvas, x + OFFSET.0 + dx, y + OFFSET.1 + dy, figure.scale)
        })
        .collect();
    for touched in boxes {
        reduce::reduce_into(&canvas, touched, &mut reduced);
    }
    reduced
}

/// The panels of a problem, side by side.
pub fn draw(problem: &Problem) -> Picture {
    draw_beside(problem, || (0, 0))
}

/// The panels of a problem, side by side, with each number beside its place by what `beside` says, in pixels of the 300
/// that a panel is drawn with.
pub fn draw_beside(problem: &Problem, mut beside: impl FnMut() -> (i32, i32)) -> Picture {
    let panels: Vec<Vec<u8>> = problem
        .panels
        .iter()
        .map(|panel| draw_panel(panel, problem.layout, problem.shape, &mut beside))
        .collect();
    let mut pixels = Vec::with_capacity(panels.len() * PANEL * PANEL);
    for y in 0..PANEL {
        for panel in &panels {
            pixels.extend(&panel[y * PANEL..][..PANEL]);
        }
    }
    Picture { width: (panels.len() * PANEL) as u32, height: PANEL as u32, pixels }
}

/// A picture with every panel shifted to the right and down; white comes in from the edges.
pub fn shift(picture: &Picture, dx: i32, dy: i32) -> Picture {
    let mut shifted = Picture { pixels: vec![255; picture.pixels.len()], ..picture.clone() };
    let (width, size) = (picture.width as usize, PANEL as i32);
    for (i, &grey) in picture.pixels.iter().enumerate() {
        let (x, y) = (i % width, (i / width) as i32);
        let (inner, y) = ((x % PANEL) as i32 + dx, y + dy);
        if (0..size).contains(&inner) && (0..picture.height as i32).contains(&y) {
            shifted.pixels[y as usize * width + x / PANEL * PANEL + inner as usize] = grey;
        }
    }
    shifted
}

/// Draws the problems of a dataset when they are looked at, or reads the files they came from.
pub(crate) struct Figures {
    table: Arc<Table>,
    parts: Vec<Part>,
    files: Vec<PathBuf>,
    jitter: Option<Jitter>,
}

/// Numbers that stand beside their places by up to this number of pixels of 300, drawn anew for each example.
pub(crate) struct Jitter {
    pub(crate) pixels: u8,
    pub(crate) dataset: String,
    pub(crate) seed: u64,
}

impl Figures {
    /// The figures of a table's problems; `files` has one for each row, or none at all.
    pub(crate) fn new(
        table: &Arc<Table>,
        parts: &[Part],
        files: Vec<PathBuf>,
        jitter: Option<Jitter>,
    ) -> Self {
        Self { table: Arc::clone(table), parts: parts.to_vec(), files, jitter }
    }
}

impl Pictures for Figures {
    fn picture(&self, part: &str, position: u32) -> Picture {
        let part = self.parts.iter().find(|known| known.name == part).expect("a part of the dataset");
        let row = part.rows[position as usize];
        let problem =
            || Problem::read(self.table.inputs.get(row).words()).expect("the table has problems only");
        if let Some(Jitter { pixels, dataset, seed }) = &self.jitter {
            let streams = Streams::new(&format!("{dataset}/jitter"), &part.name, *seed);
            let mut stream = streams.item(position.into());
            let mut step = || stream.below(2 * u64::from(*pixels) + 1) as i32 - i32::from(*pixels);
            return draw_beside(&problem(), || (step(), step()));
        }
        // A file that has vanished since it was read has still been read.
        let stored = self.files.get(row as usize).and_then(|path| files::picture(path).ok());
        stored.unwrap_or_else(|| draw(&problem()))
    }
}
