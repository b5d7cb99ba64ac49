//! Thick lines and circles on a canvas, pixel for pixel as OpenCV 4 draws them without antialiasing: coordinates have
//! 16 binary places, a thick line is a filled quadrilateral with a round cap at each end, a circle a polygon of 72
//! thick lines.

/// Binary places of coordinates.
const PLACES: u32 = 16;
const ONE: i64 = 1 << PLACES;
const HALF: i64 = ONE / 2;

/// A point with 16 binary places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) x: i64,
    pub(crate) y: i64,
}

impl Point {
    /// A pixel's centre.
    pub(crate) fn pixel(x: i32, y: i32) -> Self {
        Self { x: i64::from(x) * ONE, y: i64::from(y) * ONE }
    }
}

/// Ten million times the sines of 0, 5, ..., 90 degrees: a polygon with more exact corners is another polygon.
const SINES: [i32; 19] = [
    0, 871_557, 1_736_482, 2_588_190, 3_420_201, 4_226_183, 5_000_000, 5_735_764, 6_427_876, 7_071_068,
    7_660_444, 8_191_520, 8_660_254, 9_063_078, 9_396_926, 9_659_258, 9_848_078, 9_961_947, 10_000_000,
];

/// The sine of five times this many degrees, with the precision of 32 bits.
fn sine(fives: i32) -> f64 {
    let fives = fives.rem_euclid(72);
    let quarter = (fives % 18) as usize;
    let sine = match fives / 18 {
        0 => SINES[quarter],
        1 => SINES[18 - quarter],
        2 => -SINES[quarter],
        _ => -SINES[18 - quarter],
    };
    f64::from((f64::from(sine) / 1e7) as f32)
}

/// A white square that is drawn on in black.
#[derive(Debug, Clone)]
pub(crate) struct Canvas {
    pub(crate) size: usize,
    /// Rows from the top.
    pub(crate) pixels: Vec<u8>,
}

impl Canvas {
    pub(crate) fn white(size: usize) -> Self {
        Self { size, pixels: vec![255; size * size] }
    }

    fn dot(&mut self, x: i64, y: i64) {
        let size = self.size as i64;
        if (0..size).contains(&x) && (0..size).contains(&y) {
            self.pixels[(y * size + x) as usize] = 0;
        }
    }

    fn row(&mut self, y: i64, from: i64, to: i64) {
        let size = self.size as i64;
        let (from, to) = (from.max(0), to.min(size - 1));
        if (0..size).contains(&y) && from <= to {
            self.pixels[(y * size + from) as usize..=(y * size + to) as usize].fill(0);
        }
    }

    /// A line two pixels thick with round ends.
    pub(crate) fn line(&mut self, from: Point, to: Point) {
        self.polyline(&[from, to], false);
    }

    /// Thick lines from point to point; back to the first if `closed`.
    pub(crate) fn polyline(&mut self, points: &[Point], closed: bool) {
        if !closed && let Some(&first) = points.first() {
            self.cap(first);
        }
        let last = if closed { points.last().copied() } else { None };
        let starts = last.into_iter().chain(points.iter().copied());
        let ends = points.iter().copied().skip(usize::from(!closed));
        for (from, to) in starts.zip(ends) {
            self.bar(from, to);
            self.cap(to);
        }
    }

    /// A circle two pixels thick, around a pixel.
    pub(crate) fn circle(&mut self, x: i32, y: i32, radius: i32) {
        let centre = Point::pixel(x, y);
        let radius = f64::from(radius) * ONE as f64;
        let corner = |fives: i32| {
            let at = |centre: i64, sine: f64| {
                let exact = centre as f64 + radius * sine;
                let whole = (exact / ONE as f64).round_ties_even() as i64 * ONE;
                whole + (exact - whole as f64).round_ties_even() as i64
            };
            Point { x: at(centre.x, sine(18 - fives)), y: at(centre.y, sine(fives)) }
        };
        let corners: Vec<Point> = (0..=72).map(corner).collect();
        self.polyline(&corners, false);
    }

    /// A dot of five pixels.
    fn cap(&mut self, at: Point) {
        let (x, y) = ((at.x + HALF) >> PLACES, (at.y + HALF) >> PLACES);
        self.row(y, x - 1, x + 1);
        self.dot(x, y - 1);
        self.dot(x, y + 1);
    }

    /// The quadrilateral of a line, without its caps.
    fn bar(&mut self, from: Point, to: Point) {
        let dx = (from.x - to.x) as f64 / ONE as f64;
        let dy = (to.y - from.y) as f64 / ONE as f64;
        let square = dx * dx + dy * dy;
        if square <= f64::EPSILON {
            return;
        }
        let scale = ONE as f64 / square.sqrt();
        let (x, y) = ((dy * scale).round_ties_even() as i64, (dx * scale).round_ties_even() as i64);
        self.fill(&[
            Point { x: from.x + x, y: from.y + y },
            Point { x: from.x - x, y: from.y - y },
            Point { x: to.x - x, y: to.y - y },
            Point { x: to.x + x, y: to.y + y },
        ]);
    }

    /// A convex polygon: its outline, then row by row what lies between its left and its right edge.
    fn fill(&mut self, corners: &[Point; 4]) {
        let mut before = corners[3];
        for &corner in corners {
            self.thin_line(before, corner);
            before = corner;
        }
        let row = |point: Point| (point.y + HALF) >> PLACES;
        let mut top = 0;
        for (i, corner) in corners.iter().enumerate() {
            if corner.y < corners[top].y {
                top = i;
            }
        }
        let bottom = corners.iter().map(|&corner| row(corner)).max().unwrap_or_default();
        let mut y = row(corners[top]);
        let edge = Edge { corner: top, x: -ONE, step: 0, end: y };
        let mut edges = [edge, edge];
        let mut left = corners.len();
        while y <= bottom {
            for (edge, direction) in edges.iter_mut().zip([1, 3]) {
                if y >= edge.end && !edge.next(corners, direction, y, &mut left) {
                    return;
                }
            }
            let (one, other) = (edges[0].x, edges[1].x);
            self.row(y, (one.min(other) + HALF) >> PLACES, (one.max(other) + HALF) >> PLACES);
            for edge in &mut edges {
                edge.x += edge.step;
            }
            y += 1;
        }
    }

    /// A line one pixel thick, along its longer direction.
    fn thin_line(&mut self, from: Point, to: Point) {
        let steep = (to.x - from.x).abs() <= (to.y - from.y).abs();
        // Work along x; a steep line is turned over.
        let turn = |point: Point| if steep { Point { x: point.y, y: point.x } } else { point };
        let (mut from, mut to) = (turn(from), turn(to));
        if to.x < from.x {
            std::mem::swap(&mut from, &mut to);
        }
        let slope = ((to.y - from.y) << PLACES) / ((to.x - from.x) | 1);
        let mut dot = |x: i64, y: i64| if steep { self.dot(y, x) } else { self.dot(x, y) };
        dot((to.x + HALF) >> PLACES, (to.y + HALF) >> PLACES);
        let first = (from.x + HALF) >> PLACES;
        let mut y = from.y + HALF;
        for x in first..=first + ((to.x - from.x) >> PLACES) {
            dot(x, y >> PLACES);
            y += slope;
        }
    }
}

/// An edge of a polygon on the way down.
#[derive(Clone, Copy)]
struct Edge {
    corner: usize,
    x: i64,
    step: i64,
    /// The row where it ends.
    end: i64,
}

impl Edge {
    /// Goes on to the next edge that reaches below row `y`; false if the polygon has none left.
    fn next(&mut self, corners: &[Point; 4], direction: usize, y: i64, left: &mut usize) -> bool {
        let mut from = self.corner;
        let mut to = (from + direction) % 4;
        while *left > 0 {
            *left -= 1;
            let end = (corners[to].y + HALF) >> PLACES;
            if end > y {
                let rows = end - y;
                self.step = ((corners[to].x - corners[from].x) * 2 + rows) / (2 * rows);
                (self.end, self.x, self.corner) = (end, corners[from].x, to);
                return true;
            }
            from = to;
            to = (to + direction) % 4;
        }
        false
    }
}
