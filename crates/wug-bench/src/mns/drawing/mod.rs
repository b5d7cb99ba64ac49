//! What it looks like: panels of 160 x 160 pixels, the same to the pixel as the release where that has them, and SVG.

mod layouts;
mod raster;
mod reduce;
mod svg;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use wug_data::{Part, Picture, Pictures, Table};

use super::grammar::{Layout, Shape, conditions};
use super::problem::{Panel, Problem};
use layouts::{CENTRE, Figure};
use raster::Canvas;
use text::Label;

pub use reduce::PANEL;
pub use svg::svg;

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

/// One panel, 160 pixels wide and high, rows from the top.
///
/// Only what a number can have changed is reduced anew: the rest is the empty panel's.
pub fn draw_panel(panel: &Panel, layout: Layout, shape: Shape) -> Vec<u8> {
    let Template { figure, canvas, reduced } = &TEMPLATES[&(layout, shape)];
    let (mut canvas, mut reduced) = (canvas.clone(), reduced.clone());
    let boxes: Vec<[usize; 4]> = labels(panel, figure)
        .map(|(label, (x, y))| label.draw(&mut canvas, x + OFFSET.0, y + OFFSET.1, figure.scale))
        .collect();
    for touched in boxes {
        reduce::reduce_into(&canvas, touched, &mut reduced);
    }
    reduced
}

/// The panels of a problem, side by side.
pub fn draw(problem: &Problem) -> Picture {
    let panels: Vec<Vec<u8>> =
        problem.panels.iter().map(|panel| draw_panel(panel, problem.layout, problem.shape)).collect();
    let mut pixels = Vec::with_capacity(panels.len() * PANEL * PANEL);
    for y in 0..PANEL {
        for panel in &panels {
            pixels.extend(&panel[y * PANEL..][..PANEL]);
        }
    }
    Picture { width: (panels.len() * PANEL) as u32, height: PANEL as u32, pixels }
}

/// Draws the problems of a dataset when they are looked at.
pub(crate) struct Figures {
    table: Arc<Table>,
    parts: Vec<Part>,
}

impl Figures {
    pub(crate) fn new(table: &Arc<Table>, parts: &[Part]) -> Arc<dyn Pictures> {
        Arc::new(Self { table: Arc::clone(table), parts: parts.to_vec() })
    }
}

impl Pictures for Figures {
    fn picture(&self, part: &str, position: u32) -> Picture {
        let part = self.parts.iter().find(|known| known.name == part).expect("a part of the dataset");
        let words = self.table.inputs.get(part.rows[position as usize]).words();
        draw(&Problem::read(words).expect("the table has problems only"))
    }
}
