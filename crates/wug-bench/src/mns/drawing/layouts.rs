//! Where shapes and numbers stand in a panel of 300 x 300 pixels.
//!
//! Circles are the released design. The paper shows the other shapes and the release does not have them; here they
//! follow the circles, with sizes for which two digits fit into every field.

use super::raster::{Canvas, Point};
use crate::mns::grammar::{Kind, Layout, Shape};

/// Pixels along a side of a panel as it is drawn.
pub(crate) const SIZE: usize = 300;
/// The centre of a panel, where a shown constant stands.
pub(crate) const CENTRE: (i32, i32) = (150, 150);

/// A piece of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stroke {
    Circle { x: i32, y: i32, radius: i32 },
    Polygon(Vec<(i32, i32)>),
    Line((i32, i32), (i32, i32)),
}

/// The figure of a panel, and where its numbers stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Figure {
    pub(crate) strokes: Vec<Stroke>,
    pub(crate) positions: Vec<(i32, i32)>,
    /// Size of the font's unit, of 2^16: a scale of 0.6, or 0.5 in the small shapes of a composition.
    pub(crate) scale: i64,
}

impl Figure {
    pub(crate) fn new(layout: Layout, shape: Shape) -> Self {
        let (strokes, positions) = match layout.kind() {
            Kind::Combination => combination(layout, shape),
            Kind::Composition => composition(layout, shape),
            Kind::Partition => (partition(layout, shape), partition_positions(layout, shape)),
        };
        let scale = if layout.kind() == Kind::Composition { 32_768 } else { 39_322 };
        debug_assert_eq!(positions.len(), layout.integers());
        Self { strokes, positions, scale }
    }

    /// The figure without numbers.
    pub(crate) fn draw(&self) -> Canvas {
        let mut canvas = Canvas::white(SIZE);
        let point = |&(x, y): &(i32, i32)| Point::pixel(x, y);
        for stroke in &self.strokes {
            match stroke {
                Stroke::Circle { x, y, radius } => canvas.circle(*x, *y, *radius),
                Stroke::Polygon(corners) => {
                    canvas.polyline(&corners.iter().map(point).collect::<Vec<_>>(), true);
                }
                Stroke::Line(from, to) => canvas.line(point(from), point(to)),
            }
        }
        canvas
    }
}

type Pieces = (Vec<Stroke>, Vec<(i32, i32)>);

fn circle((x, y): (i32, i32), radius: i32) -> Stroke {
    Stroke::Circle { x, y, radius }
}

/// A polygon by its corners, seen from its middle.
fn polygon((x, y): (i32, i32), corners: &[(i32, i32)]) -> Stroke {
    Stroke::Polygon(corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect())
}

/// A rectangle by half its width and height.
fn rectangle(middle: (i32, i32), w: i32, h: i32) -> Stroke {
    polygon(middle, &[(-w, -h), (w, -h), (w, h), (-w, h)])
}

/// A hexagon with corners to the left and right: its side, and the distance of its flat edges.
fn hexagon(middle: (i32, i32), side: i32, flat: i32) -> Stroke {
    let half = side / 2;
    polygon(middle, &[(-side, 0), (-half, -flat), (half, -flat), (side, 0), (half, flat), (-half, flat)])
}

fn combination(layout: Layout, shape: Shape) -> Pieces {
    match layout {
        Layout::Overlap => overlap(shape),
        Layout::Include => include(shape),
        _ => tangent(shape),
    }
}

fn overlap(shape: Shape) -> Pieces {
    let middles = [(105, 150), (195, 150)];
    let sides = vec![(60, 150), (240, 150)];
    match shape {
        Shape::Circle => (middles.map(|at| circle(at, 90)).to_vec(), sides),
        Shape::Square => (middles.map(|at| rectangle(at, 90, 90)).to_vec(), sides),
        Shape::Rectangle => (middles.map(|at| rectangle(at, 90, 45)).to_vec(), sides),
        Shape::Hexagon => (middles.map(|at| hexagon(at, 90, 78)).to_vec(), sides),
        Shape::Triangle => {
            let corners = [(-90, 78), (0, -78), (90, 78)];
            (middles.map(|at| polygon(at, &corners)).to_vec(), vec![(72, 205), (226, 205)])
        }
    }
}

fn include(shape: Shape) -> Pieces {
    let outside = [(15, 150), (150, 15), (285, 150), (150, 285)];
    let (strokes, outside, inside) = match shape {
        Shape::Circle => (
            vec![circle(CENTRE, 90), circle(CENTRE, 45)],
            outside,
            [(82, 150), (150, 82), (217, 150), (150, 217)],
        ),
        Shape::Square => (
            vec![rectangle(CENTRE, 90, 90), rectangle(CENTRE, 45, 45)],
            outside,
            [(82, 150), (150, 82), (217, 150), (150, 217)],
        ),
        Shape::Rectangle => (
            vec![rectangle(CENTRE, 110, 55), rectangle(CENTRE, 55, 27)],
            [(15, 150), (150, 75), (275, 150), (150, 225)],
            [(67, 150), (150, 110), (230, 150), (150, 192)],
        ),
        Shape::Hexagon => (
            vec![hexagon(CENTRE, 90, 78), hexagon(CENTRE, 45, 39)],
            outside,
            [(81, 150), (150, 92), (216, 150), (150, 210)],
        ),
        // Larger than the others and lower, or two digits would not fit between the edges.
        Shape::Triangle => (
            vec![
                polygon((150, 175), &[(-120, 69), (0, -138), (120, 69)]),
                polygon((150, 175), &[(-50, 29), (0, -58), (50, 29)]),
            ],
            [(45, 150), (150, 15), (250, 150), (150, 275)],
            [(83, 195), (148, 95), (214, 195), (150, 226)],
        ),
    };
    (strokes, [outside, inside].concat())
}

fn tangent(shape: Shape) -> Pieces {
    let (strokes, middles): (Vec<Stroke>, _) = match shape {
        Shape::Circle => {
            let middles = [(90, 184), (150, 80), (210, 184)];
            (middles.map(|at| circle(at, 60)).into(), middles)
        }
        Shape::Square => {
            let middles = [(100, 200), (150, 100), (200, 200)];
            (middles.map(|at| rectangle(at, 50, 50)).into(), middles)
        }
        Shape::Rectangle => {
            let middles = [(90, 180), (150, 120), (210, 180)];
            (middles.map(|at| rectangle(at, 60, 30)).into(), middles)
        }
        Shape::Hexagon => {
            // Standing on a corner, so that each touches the two others along a side.
            let middles = [(98, 195), (150, 105), (202, 195)];
            let corners = [(0, -60), (52, -30), (52, 30), (0, 60), (-52, 30), (-52, -30)];
            (middles.map(|at| polygon(at, &corners)).into(), middles)
        }
        Shape::Triangle => {
            let corners = [(-60, 35), (0, -69), (60, 35)];
            let middles = [(90, 215), (150, 111), (210, 215)];
            (middles.map(|at| polygon(at, &corners)).into(), middles)
        }
    };
    (strokes, middles.to_vec())
}

fn composition(layout: Layout, shape: Shape) -> Pieces {
    let positions: Vec<(i32, i32)> = match layout {
        // Top, bottom, then the two in between.
        Layout::Line => vec![(150, 31), (150, 269), (150, 99), (150, 201)],
        Layout::Cross => {
            vec![(31, 150), (150, 31), (269, 150), (150, 269), (99, 150), (150, 99), (201, 150), (150, 201)]
        }
        Layout::Triangle => vec![(82, 189), (116, 130), (150, 71), (184, 130), (218, 189), (150, 189)],
        Layout::Square => {
            vec![(82, 82), (150, 82), (218, 82), (218, 150), (218, 218), (150, 218), (82, 218), (82, 150)]
        }
        _ => vec![(53, 150), (82, 82), (150, 53), (218, 82), (246, 150), (218, 218), (150, 246), (82, 218)],
    };
    let small = |&at: &(i32, i32)| match shape {
        Shape::Triangle => polygon(at, &[(-23, 11), (0, -28), (23, 11)]),
        Shape::Square => rectangle(at, 17, 17),
        _ => circle(at, 17),
    };
    (positions.iter().map(small).collect(), positions)
}

fn partition(layout: Layout, shape: Shape) -> Vec<Stroke> {
    let ((cx, cy), line) = (CENTRE, |(a, b), (c, d)| Stroke::Line((a, b), (c, d)));
    // A diameter whose ends mirror each other.
    let through = |dx: i32, dy: i32| line((cx - dx, cy - dy), (cx + dx, cy + dy));
    // Outline, horizontal and vertical, diagonals, and 60 degrees steep.
    let (outline, straight, diagonals, steep) = match shape {
        Shape::Square => (
            rectangle(CENTRE, 110, 110),
            [through(110, 0), through(0, 110)],
            [through(110, 110), through(110, -110)],
            [through(63, 110), through(63, -110)],
        ),
        Shape::Hexagon => (
            hexagon(CENTRE, 120, 104),
            [through(120, 0), through(0, 104)],
            [through(76, 76), through(76, -76)],
            [through(60, 104), through(60, -104)],
        ),
        // The ends are cut off to whole pixels, not rounded.
        _ => (
            circle(CENTRE, 120),
            [through(120, 0), through(0, 120)],
            [line((65, 65), (234, 234)), line((65, 234), (234, 65))],
            [line((90, 46), (210, 253)), line((90, 253), (210, 46))],
        ),
    };
    let [horizontal, vertical] = straight;
    let mut strokes = vec![outline];
    match layout {
        Layout::Parts2 => strokes.push(horizontal),
        Layout::Parts4 => strokes.extend(diagonals),
        Layout::Parts6 => strokes.extend(std::iter::once(horizontal).chain(steep)),
        _ => strokes.extend([horizontal, vertical].into_iter().chain(diagonals)),
    }
    strokes
}

fn partition_positions(layout: Layout, shape: Shape) -> Vec<(i32, i32)> {
    match layout {
        Layout::Parts2 => vec![(150, 90), (150, 210)],
        Layout::Parts4 => vec![(90, 150), (150, 90), (210, 150), (150, 210)],
        Layout::Parts6 => vec![(98, 120), (150, 90), (201, 120), (201, 180), (150, 210), (98, 180)],
        // Farther out than in the released circle, where numbers stand on the lines.
        _ if shape != Shape::Circle => {
            vec![(78, 120), (118, 75), (178, 75), (216, 120), (216, 184), (178, 230), (118, 230), (78, 184)]
        }
        _ => {
            vec![(98, 120), (120, 98), (180, 98), (201, 120), (201, 180), (180, 201), (120, 201), (98, 180)]
        }
    }
}
