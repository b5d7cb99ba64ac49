//! Numbers as strokes. The coordinates are those of the digits and the question mark in the font Simplex Roman of
//! A. V. Hershey (U.S. National Bureau of Standards, 1967): 20 units wide, 21 high, y downwards from -12 to 9.

use super::raster::{Canvas, Point};

type Stroke = &'static [(i8, i8)];

const DIGITS: [&[Stroke]; 10] = [
    &[&[
        (-1, -12),
        (-4, -11),
        (-6, -8),
        (-7, -3),
        (-7, 0),
        (-6, 5),
        (-4, 8),
        (-1, 9),
        (1, 9),
        (4, 8),
        (6, 5),
        (7, 0),
        (7, -3),
        (6, -8),
        (4, -11),
        (1, -12),
        (-1, -12),
    ]],
    &[&[(-4, -8), (-2, -9), (1, -12), (1, 9)]],
    &[&[
        (-6, -7),
        (-6, -8),
        (-5, -10),
        (-4, -11),
        (-2, -12),
        (2, -12),
        (4, -11),
        (5, -10),
        (6, -8),
        (6, -6),
        (5, -4),
        (3, -1),
        (-7, 9),
        (7, 9),
    ]],
    &[&[
        (-5, -12),
        (6, -12),
        (0, -4),
        (3, -4),
        (5, -3),
        (6, -2),
        (7, 1),
        (7, 3),
        (6, 6),
        (4, 8),
        (1, 9),
        (-2, 9),
        (-5, 8),
        (-6, 7),
        (-7, 5),
    ]],
    &[&[(3, -12), (-7, 2), (8, 2)], &[(3, -12), (3, 9)]],
    &[&[
        (5, -12),
        (-5, -12),
        (-6, -3),
        (-5, -4),
        (-2, -5),
        (1, -5),
        (4, -4),
        (6, -2),
        (7, 1),
        (7, 3),
        (6, 6),
        (4, 8),
        (1, 9),
        (-2, 9),
        (-5, 8),
        (-6, 7),
        (-7, 5),
    ]],
    &[&[
        (6, -9),
        (5, -11),
        (2, -12),
        (0, -12),
        (-3, -11),
        (-5, -8),
        (-6, -3),
        (-6, 2),
        (-5, 6),
        (-3, 8),
        (0, 9),
        (1, 9),
        (4, 8),
        (6, 6),
        (7, 3),
        (7, 2),
        (6, -1),
        (4, -3),
        (1, -4),
        (0, -4),
        (-3, -3),
        (-5, -1),
        (-6, 2),
    ]],
    &[&[(7, -12), (-3, 9)], &[(-7, -12), (7, -12)]],
    &[&[
        (-2, -12),
        (-5, -11),
        (-6, -9),
        (-6, -7),
        (-5, -5),
        (-3, -4),
        (1, -3),
        (4, -2),
        (6, 0),
        (7, 2),
        (7, 5),
        (6, 7),
        (5, 8),
        (2, 9),
        (-2, 9),
        (-5, 8),
        (-6, 7),
        (-7, 5),
        (-7, 2),
        (-6, 0),
        (-4, -2),
        (-1, -3),
        (3, -4),
        (5, -5),
        (6, -7),
        (6, -9),
        (5, -11),
        (2, -12),
        (-2, -12),
    ]],
    &[&[
        (6, -5),
        (5, -2),
        (3, 0),
        (0, 1),
        (-1, 1),
        (-4, 0),
        (-6, -2),
        (-7, -5),
        (-7, -6),
        (-6, -9),
        (-4, -11),
        (-1, -12),
        (0, -12),
        (3, -11),
        (5, -9),
        (6, -5),
        (6, 0),
        (5, 5),
        (3, 8),
        (0, 9),
        (-2, 9),
        (-5, 8),
        (-6, 6),
    ]],
];

const QUESTION: &[Stroke] = &[
    &[
        (-6, -7),
        (-6, -8),
        (-5, -10),
        (-4, -11),
        (-2, -12),
        (2, -12),
        (4, -11),
        (5, -10),
        (6, -8),
        (6, -6),
        (5, -4),
        (4, -3),
        (0, -1),
        (0, 2),
    ],
    &[(0, 7), (-1, 8), (0, 9), (1, 8), (0, 7)],
];

/// Half the width of a character.
const DIGIT: i64 = 10;
const MARK: i64 = 9;
/// The baseline in the font's units.
const BASELINE: i64 = 9;

/// What stands at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    Number(u16),
    Asked,
}

impl Label {
    /// The characters from left to right: strokes and half their width.
    fn characters(self) -> Vec<(&'static [Stroke], i64)> {
        match self {
            Self::Asked => vec![(QUESTION, MARK)],
            Self::Number(number) => {
                number.to_string().bytes().map(|digit| (DIGITS[usize::from(digit - b'0')], DIGIT)).collect()
            }
        }
    }

    /// The lines of the label with the left end of its baseline at a pixel. A unit of the font is `scale` of 2^16.
    pub(crate) fn lines(self, x: i32, y: i32, scale: i64) -> Vec<Vec<Point>> {
        let mut origin = Point::pixel(x, y);
        origin.y -= BASELINE * scale;
        let mut lines = Vec::new();
        for (strokes, half) in self.characters() {
            origin.x += half * scale;
            for stroke in strokes {
                let point = |&(x, y): &(i8, i8)| Point {
                    x: origin.x + i64::from(x) * scale,
                    y: origin.y + i64::from(y) * scale,
                };
                lines.push(stroke.iter().map(point).collect());
            }
            origin.x += half * scale;
        }
        lines
    }

    /// Draws the label; gives the rectangle (left, top, right, bottom) that may have changed.
    pub(crate) fn draw(self, canvas: &mut Canvas, x: i32, y: i32, scale: i64) -> [usize; 4] {
        let lines = self.lines(x, y, scale);
        for line in &lines {
            canvas.polyline(line, false);
        }
        let points = || lines.iter().flatten();
        let most = canvas.size as i64 - 1;
        // Two pixels more, for the thickness of the strokes.
        let low = |at: Option<i64>| ((at.unwrap_or_default() >> 16) - 2).clamp(0, most) as usize;
        let high = |at: Option<i64>| ((at.unwrap_or_default() >> 16) + 3).clamp(0, most) as usize;
        [
            low(points().map(|point| point.x).min()),
            low(points().map(|point| point.y).min()),
            high(points().map(|point| point.x).max()),
            high(points().map(|point| point.y).max()),
        ]
    }
}
