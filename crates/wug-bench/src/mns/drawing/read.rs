//! Reading a problem from its pixels.
//!
//! First the figure: the empty panel whose pixels differ least; if it is not where it should be, each is tried at the
//! shift at which most of its ink is found. Then the numbers: at each position the label whose drawing differs least
//! from what is there. Both are sums over hundreds of pixels, so that some flipped ones do not matter.

use std::ops::Range;
use std::sync::OnceLock;

use wug_data::Picture;

use super::layouts::CENTRE;
use super::reduce::{PANEL, reduce_into, touched};
use super::text::Label;
use super::{OFFSET, TEMPLATES, Template};
use crate::mns::grammar::{Layout, Shape};
use crate::mns::groups::has_room_at_the_centre;
use crate::mns::problem::{Panel, Problem};

/// How far a panel may be shifted, in pixels.
const SHIFT: i32 = 6;
/// How far a number may be shifted by itself.
const JITTER: i32 = 3;
/// Dark pixels by which a figure is looked for.
const INK: usize = 240;
/// How many labels are drawn beside their place to see whether they fit there.
const DRAWN: usize = 6;
/// Mean difference of greys above which a label is looked for beside its place, noise aside.
const POOR: f64 = 10.0;

/// Reads problems whose numbers are at most `largest`.
pub struct Reader {
    largest: u16,
    figures: Vec<Readable>,
}

/// A figure with what its labels look like at every place, drawn when it is first met.
struct Readable {
    layout: Layout,
    shape: Shape,
    template: &'static Template,
    /// Where some of its ink is, from all over the figure.
    ink: Vec<(i32, i32)>,
    places: OnceLock<Vec<Place>>,
}

/// A place for a label.
struct Place {
    x: i32,
    y: i32,
    columns: Range<usize>,
    rows: Range<usize>,
    /// Nothing, `?`, 1, 2, ...: the pixels of the place, row by row.
    patches: Vec<Vec<u8>>,
    /// The same on white.
    bare: Vec<Vec<u8>>,
}

/// Number of the patch without a label, and of the one with `?`; a number's own patch follows them.
const NOTHING: usize = 0;
const ASKED: usize = 1;

impl Reader {
    /// A reader of numbers up to `largest`.
    pub fn new(largest: u16) -> Self {
        let mut figures: Vec<Readable> = TEMPLATES
            .iter()
            .map(|(&(layout, shape), template)| Readable {
                layout,
                shape,
                template,
                ink: sample_ink(&template.reduced),
                places: OnceLock::new(),
            })
            .collect();
        figures.sort_by_key(|figure| (figure.layout, figure.shape));
        Self { largest, figures }
    }

    /// The problem that a picture shows: panels of 160 x 160 side by side.
    pub fn read(&self, picture: &Picture) -> Result<Problem, String> {
        let (width, height) = (picture.width as usize, picture.height as usize);
        if height != PANEL || !width.is_multiple_of(PANEL) || width < 2 * PANEL {
            return Err(format!("{width} x {height} pixels: not two or more panels of {PANEL} x {PANEL}"));
        }
        let panel = |i: usize| {
            let rows = picture.pixels.chunks(width).flat_map(|row| &row[i * PANEL..(i + 1) * PANEL]);
            rows.copied().collect()
        };
        let panels: Vec<Vec<u8>> = (0..width / PANEL).map(panel).collect();
        let figure = self.figure(&panels[0]);
        let places = figure.places.get_or_init(|| figure.draw_places(self.largest));
        let seen: Vec<Seen> = panels.iter().map(|panel| Seen::new(figure, places, panel)).collect();
        let (last, others) = seen.split_last().expect("two panels at least");

        let asked = (0..figure.layout.integers()).min_by_key(|&place| last.doubt(place)).unwrap_or_default();
        let shown = has_room_at_the_centre(figure.layout)
            && seen.iter().filter(|it| it.shows()).count() * 2 > seen.len();
        let mut panels: Vec<Panel> = others.iter().map(|seen| seen.panel(figure.layout, shown)).collect();
        let mut final_panel = last.panel(figure.layout, shown);
        final_panel.numbers[asked] = 0;
        panels.push(final_panel);
        Ok(Problem { layout: figure.layout, shape: figure.shape, panels, asked })
    }

    /// The figure whose empty panel differs least from this one: where it should stand if that explains the panel, else
    /// shifted.
    fn figure(&self, panel: &[u8]) -> &Readable {
        let in_place = |figure: &&Readable| difference(panel, &figure.template.reduced, (0, 0));
        let best = self.figures.iter().min_by_key(in_place).expect("there are figures");
        if best.is_there(panel) {
            return best;
        }
        let shifted = |figure: &&Readable| {
            let near = around(figure.shift(panel), 1);
            near.map(|shift| difference(panel, &figure.template.reduced, shift)).min()
        };
        self.figures.iter().min_by_key(shifted).expect("there are figures")
    }
}

/// Some dark pixels, evenly from all of them.
fn sample_ink(panel: &[u8]) -> Vec<(i32, i32)> {
    let dark: Vec<usize> = (0..panel.len()).filter(|&at| panel[at] < 128).collect();
    let number = INK.min(dark.len());
    let nth = |i: usize| dark[i * dark.len() / number];
    (0..number).map(|i| ((nth(i) % PANEL) as i32, (nth(i) / PANEL) as i32)).collect()
}

/// Sum of differences between a panel and a template that is shifted to it.
fn difference(panel: &[u8], template: &[u8], (dx, dy): (i32, i32)) -> u64 {
    let inside = |shift: i32| {
        let first = (-shift).max(0) as usize;
        first..PANEL - shift.max(0) as usize
    };
    let columns = inside(dx);
    let mut sum = 0u64;
    for y in inside(dy) {
        let here = &panel[(y as i32 + dy) as usize * PANEL..][..PANEL];
        let there = &template[y * PANEL..][..PANEL];
        let from = (columns.start as i32 + dx) as usize;
        let here = &here[from..from + columns.len()];
        let row: u32 = here
            .iter()
            .zip(&there[columns.clone()])
            .map(|(&one, &other)| u32::from(one.abs_diff(other)))
            .sum();
        sum += u64::from(row);
    }
    sum
}

impl Readable {
    /// How much of the ink sample is in a panel that is shifted like this.
    fn found(&self, panel: &[u8], (dx, dy): (i32, i32)) -> usize {
        let size = PANEL as i32;
        let is_dark = |&&(x, y): &&(i32, i32)| {
            let (x, y) = (x + dx, y + dy);
            (0..size).contains(&x) && (0..size).contains(&y) && panel[(y * size + x) as usize] < 160
        };
        self.ink.iter().filter(is_dark).count()
    }

    /// Whether most of the figure's ink is in the panel, unshifted.
    fn is_there(&self, panel: &[u8]) -> bool {
        self.found(panel, (0, 0)) * 5 > self.ink.len() * 4
    }

    /// The shift at which the panel has most of the figure's ink.
    fn shift(&self, panel: &[u8]) -> (i32, i32) {
        let found = |&(x, y): &(i32, i32)| (self.found(panel, (x, y)), -x.abs() - y.abs());
        around((0, 0), SHIFT).max_by_key(found).unwrap_or_default()
    }

    /// The shift at which the panel differs least.
    fn best_shift(&self, panel: &[u8]) -> (i32, i32) {
        if self.is_there(panel) {
            return (0, 0);
        }
        let difference =
            |&(x, y): &(i32, i32)| (difference(panel, &self.template.reduced, (x, y)), x.abs() + y.abs());
        around(self.shift(panel), 1).min_by_key(difference).unwrap_or_default()
    }

    /// What every label looks like at every place.
    fn draw_places(&self, largest: u16) -> Vec<Place> {
        let Template { figure, canvas, reduced } = self.template;
        let centre = has_room_at_the_centre(self.layout).then_some(CENTRE);
        let labels: Vec<Label> =
            std::iter::once(Label::Asked).chain((1..=largest).map(Label::Number)).collect();
        let place = |(x, y): (i32, i32)| {
            let boxes = labels.iter().map(|label| label.extent(x + OFFSET.0, y + OFFSET.1, figure.scale));
            let whole = boxes.fold([usize::MAX, usize::MAX, 0, 0], |[a, b, c, d], [e, f, g, h]| {
                [a.min(e), b.min(f), c.max(g), d.max(h)]
            });
            let (columns, rows) = touched(whole);
            let cut = |pixels: &[u8]| -> Vec<u8> {
                rows.clone().flat_map(|y| &pixels[y * PANEL..][columns.clone()]).copied().collect()
            };
            let white = vec![255; PANEL * PANEL];
            let (mut patches, mut bare) = (vec![cut(reduced)], vec![cut(&white)]);
            for label in &labels {
                for (empty, background, patches) in
                    [(canvas.clone(), reduced, &mut patches), (super::Canvas::white(300), &white, &mut bare)]
                {
                    let (mut canvas, mut pixels) = (empty, background.clone());
                    label.draw(&mut canvas, x + OFFSET.0, y + OFFSET.1, figure.scale);
                    reduce_into(&canvas, whole, &mut pixels);
                    patches.push(cut(&pixels));
                }
            }
            Place { x, y, columns, rows, patches, bare }
        };
        figure.positions.iter().copied().chain(centre).map(place).collect()
    }
}

/// How well each label fits at each place of a panel.
struct Seen {
    /// By place and label.
    costs: Vec<Vec<u32>>,
}

impl Seen {
    fn new(figure: &Readable, places: &[Place], panel: &[u8]) -> Self {
        let shift = figure.best_shift(panel);
        // What differs by more than half the range has been flipped or is a label's.
        let noise = noise(panel, &figure.template.reduced, places, shift);
        let costs = places.iter().map(|place| {
            let here = place.cut(panel, shift);
            let costs: Vec<u32> = place.patches.iter().map(|patch| here.distance(patch)).collect();
            let best = costs.iter().copied().min().unwrap_or_default();
            let poor = f64::from(best) / here.greys.len() as f64 > POOR + noise;
            if poor { place.costs_nearby(figure.template, &here, costs) } else { costs }
        });
        Self { costs: costs.collect() }
    }

    /// The number at a place.
    fn number(&self, place: usize) -> u16 {
        let numbers = self.costs[place].iter().enumerate().skip(ASKED + 1);
        numbers.min_by_key(|(_, cost)| **cost).map_or(1, |(label, _)| (label - ASKED) as u16)
    }

    /// How much better a place reads as a number than as `?`.
    fn doubt(&self, place: usize) -> i64 {
        let number = usize::from(self.number(place)) + ASKED;
        i64::from(self.costs[place][ASKED]) - i64::from(self.costs[place][number])
    }

    /// Whether a number stands at the centre.
    fn shows(&self) -> bool {
        let centre = self.costs.len() - 1;
        self.costs[centre][usize::from(self.number(centre)) + ASKED] < self.costs[centre][NOTHING]
    }

    fn panel(&self, layout: Layout, shown: bool) -> Panel {
        let numbers = (0..layout.integers()).map(|place| self.number(place)).collect();
        Panel { numbers, centre: shown.then(|| self.number(self.costs.len() - 1)) }
    }
}

impl Place {
    /// What stands at the place in a shifted panel; nothing is known of what lies beyond its edge.
    fn cut(&self, panel: &[u8], (dx, dy): (i32, i32)) -> Cut {
        let mut cut =
            Cut { greys: Vec::with_capacity(self.columns.len() * self.rows.len()), beyond: Vec::new() };
        for y in self.rows.clone().map(|y| y as i32 + dy) {
            for x in self.columns.clone().map(|x| x as i32 + dx) {
                let inside = (0..PANEL as i32).contains(&x) && (0..PANEL as i32).contains(&y);
                if !inside {
                    cut.beyond.push(cut.greys.len());
                }
                cut.greys.push(if inside { panel[y as usize * PANEL + x as usize] } else { 255 });
            }
        }
        cut
    }

    /// The costs of labels that need not stand just at their place. All are tried at small shifts, as if each were laid
    /// over the empty figure; the best of them are then drawn where they seem to stand.
    fn costs_nearby(&self, figure: &Template, here: &Cut, mut costs: Vec<u32>) -> Vec<u32> {
        let mut tried: Vec<(u32, usize, (i32, i32))> = Vec::new();
        for (label, cost) in costs.iter_mut().enumerate().skip(ASKED) {
            let shifts = around((0, 0), JITTER);
            let best = shifts.map(|shift| (here.distance(&self.overlay(label, shift)), label, shift)).min();
            let best = best.expect("there are shifts");
            *cost = best.0.min(*cost);
            tried.push(best);
        }
        tried.sort_unstable();
        for &(_, label, (dx, dy)) in tried.iter().take(DRAWN) {
            // A pixel here is 15/8 of a pixel there.
            for (dx, dy) in around((dx * 15 / 8, dy * 15 / 8), 2) {
                let patch = self.draw(figure, label_at(label), (dx, dy));
                costs[label] = costs[label].min(here.distance(&patch));
            }
        }
        costs
    }

    /// The pixels of the place with a label laid over the figure, shifted by whole pixels.
    fn overlay(&self, label: usize, (dx, dy): (i32, i32)) -> Vec<u8> {
        let mut pixels = self.patches[NOTHING].clone();
        let width = self.columns.len();
        let (skip, cut) = (dx.max(0) as usize, (-dx).max(0) as usize);
        if skip + cut >= width {
            return pixels;
        }
        for (y, row) in pixels.chunks_mut(width).enumerate() {
            let from = y as i32 - dy;
            if (0..self.rows.len() as i32).contains(&from) {
                let bare = &self.bare[label][from as usize * width + cut..][..width - skip - cut];
                for (grey, &ink) in row[skip..].iter_mut().zip(bare) {
                    *grey = ink.min(*grey);
                }
            }
        }
        pixels
    }

    /// The pixels of the place with a label drawn beside it.
    fn draw(&self, template: &Template, label: Label, (dx, dy): (i32, i32)) -> Vec<u8> {
        let mut canvas = template.canvas.clone();
        let (x, y) = (self.x + OFFSET.0 + dx, self.y + OFFSET.1 + dy);
        let extent = label.draw(&mut canvas, x, y, template.figure.scale);
        let mut pixels = template.reduced.clone();
        reduce_into(&canvas, extent, &mut pixels);
        self.rows.clone().flat_map(|y| &pixels[y * PANEL..][self.columns.clone()]).copied().collect()
    }
}

/// Pixels of a place.
struct Cut {
    greys: Vec<u8>,
    /// Those that lie beyond the edge of the panel.
    beyond: Vec<usize>,
}

impl Cut {
    /// Sum of differences to a patch, as far as the panel goes.
    fn distance(&self, patch: &[u8]) -> u32 {
        let difference = |(&one, &other): (&u8, &u8)| u32::from(one.abs_diff(other));
        let all: u32 = self.greys.iter().zip(patch).map(difference).sum();
        let unknown: u32 = self.beyond.iter().map(|&at| difference((&self.greys[at], &patch[at]))).sum();
        all - unknown
    }
}

/// What a patch shows.
fn label_at(patch: usize) -> Label {
    if patch == ASKED { Label::Asked } else { Label::Number((patch - ASKED) as u16) }
}

/// All shifts that differ from one by at most `most` each way.
fn around((x, y): (i32, i32), most: i32) -> impl Iterator<Item = (i32, i32)> {
    (-most..=most).flat_map(move |dy| (-most..=most).map(move |dx| (x + dx, y + dy)))
}

/// Mean difference of greys that noise makes, measured where no label stands.
fn noise(panel: &[u8], template: &[u8], places: &[Place], (dx, dy): (i32, i32)) -> f64 {
    let (mut flipped, mut counted) = (0u32, 0u32);
    let step = 3;
    for y in (SHIFT..PANEL as i32 - SHIFT).step_by(step) {
        for x in (SHIFT..PANEL as i32 - SHIFT).step_by(step) {
            let (column, row) = ((x - dx) as usize, (y - dy) as usize);
            if places.iter().any(|place| place.columns.contains(&column) && place.rows.contains(&row)) {
                continue;
            }
            let grey = panel[y as usize * PANEL + x as usize];
            flipped +=
                u32::from(grey.abs_diff(template[row.min(PANEL - 1) * PANEL + column.min(PANEL - 1)]) > 127);
            counted += 1;
        }
    }
    255.0 * f64::from(flipped) / f64::from(counted.max(1)) * 1.5
}
