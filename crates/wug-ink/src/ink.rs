//! Pen strokes, and pictures of them.

use wug_data::Picture;

/// A point; x to the right, y down.
pub type Point = [f32; 2];

/// What a pen wrote: strokes, each a line through points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ink {
    /// The strokes in the order of writing.
    pub strokes: Vec<Vec<Point>>,
}

/// How ink looks on paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pen {
    /// A line one pixel wide, black or white: how HINT's images were drawn.
    Thin,
    /// A round pen of this width in pixels at a height of 45, with soft edges.
    Round(f32),
}

impl Ink {
    /// Left, top, right and bottom; `None` without points.
    pub fn bounds(&self) -> Option<[f32; 4]> {
        let mut points = self.strokes.iter().flatten();
        let &[x, y] = points.next()?;
        Some(points.fold([x, y, x, y], |[left, top, right, bottom], &[x, y]| {
            [left.min(x), top.min(y), right.max(x), bottom.max(y)]
        }))
    }

    /// A square picture in which the larger side of the ink fills the box and the other is centred, black on white.
    pub fn crop(&self, size: u32, pen: Pen) -> Picture {
        let mut picture = Picture { width: size, height: size, pixels: vec![255; (size * size) as usize] };
        let Some(bounds) = self.bounds() else { return picture };
        match pen {
            Pen::Thin => self.draw_thin(&mut picture, bounds),
            Pen::Round(width) => self.draw_round(&mut picture, bounds, width * size as f32 / 45.0),
        }
        picture
    }

    fn draw_thin(&self, picture: &mut Picture, [left, top, right, bottom]: [f32; 4]) {
        let size = picture.width;
        let larger = (right - left).max(bottom - top);
        let scale = if larger > 0.0 { (size - 1) as f32 / larger } else { 0.0 };
        let place = |from: f32, to: f32| {
            let extent = ((to - from) * scale).round() as i32;
            (size as i32 - 1 - extent).div_euclid(2)
        };
        let (across, down) = (place(left, right), place(top, bottom));
        let pixel = |&[x, y]: &Point| {
            (((x - left) * scale).round() as i32 + across, ((y - top) * scale).round() as i32 + down)
        };
        for stroke in &self.strokes {
            let Some(first) = stroke.first() else { continue };
            let mut from = pixel(first);
            mark(picture, from);
            for point in &stroke[1..] {
                let to = pixel(point);
                line(picture, from, to);
                from = to;
            }
        }
    }

    /// Every pixel takes as much ink as a round pen covers of it, which follows from how far its centre is from the
    /// nearest stroke. Written out rather than left to a library: a symbol takes a few microseconds, and the same bytes
    /// come out on every machine.
    fn draw_round(&self, picture: &mut Picture, [left, top, right, bottom]: [f32; 4], width: f32) {
        let room = picture.width as f32 - width;
        let larger = (right - left).max(bottom - top);
        let scale = if larger > 0.0 { room / larger } else { 0.0 };
        let across = (picture.width as f32 - (right - left) * scale) / 2.0;
        let down = (picture.height as f32 - (bottom - top) * scale) / 2.0;
        let place = |&[x, y]: &Point| [(x - left) * scale + across, (y - top) * scale + down];

        let reach = width / 2.0 + 0.5;
        let mut nearest = Nearest::new(picture.width as usize, reach);
        for stroke in &self.strokes {
            let Some(first) = stroke.first() else { continue };
            let mut from = place(first);
            if stroke.len() == 1 {
                nearest.line(from, from);
            }
            for point in &stroke[1..] {
                let to = place(point);
                nearest.line(from, to);
                from = to;
            }
        }
        for (pixel, &square) in picture.pixels.iter_mut().zip(&nearest.squares) {
            if square < reach * reach {
                let ink = (reach - square.sqrt()).min(1.0);
                *pixel = 255 - (ink * 255.0 + 0.5) as u8;
            }
        }
    }
}

/// For each pixel of a square the distance to the nearest line, squared, as far as the pen reaches.
struct Nearest {
    size: usize,
    reach: f32,
    squares: Vec<f32>,
}

impl Nearest {
    fn new(size: usize, reach: f32) -> Self {
        Self { size, reach, squares: vec![f32::INFINITY; size * size] }
    }

    /// Adds a straight line. Only pixels in the box that the pen reaches are looked at.
    fn line(&mut self, from: Point, to: Point) {
        let [x, y] = from;
        let [across, down] = [to[0] - x, to[1] - y];
        let length = across * across + down * down;
        let per_length = if length > 0.0 { 1.0 / length } else { 0.0 };
        let range = |a: f32, b: f32| {
            // As integers: negative numbers become 0.
            let first = (a.min(b) - self.reach).max(0.0) as usize;
            let end = (a.max(b) + self.reach).max(0.0) as usize + 1;
            first.min(self.size)..end.min(self.size)
        };
        let columns = range(x, to[0]);
        for row in range(y, to[1]) {
            let below = row as f32 + 0.5 - y;
            let squares = &mut self.squares[row * self.size..][columns.clone()];
            for (square, column) in squares.iter_mut().zip(columns.clone()) {
                let beside = column as f32 + 0.5 - x;
                let along = ((beside * across + below * down) * per_length).clamp(0.0, 1.0);
                let (aside, under) = (beside - along * across, below - along * down);
                *square = square.min(aside * aside + under * under);
            }
        }
    }
}

fn mark(picture: &mut Picture, (x, y): (i32, i32)) {
    if (0..picture.width as i32).contains(&x) && (0..picture.height as i32).contains(&y) {
        picture.pixels[(y * picture.width as i32 + x) as usize] = 0;
    }
}

/// A straight line of pixels (Bresenham), without its first.
fn line(picture: &mut Picture, from: (i32, i32), to: (i32, i32)) {
    let (across, down) = ((to.0 - from.0).abs(), -(to.1 - from.1).abs());
    let (right, under) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
    let (mut at, mut error) = (from, across + down);
    while at != to {
        let twice = 2 * error;
        if twice >= down {
            error += down;
            at.0 += right;
        }
        if twice <= across {
            error += across;
            at.1 += under;
        }
        mark(picture, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark(picture: &Picture) -> usize {
        picture.pixels.iter().filter(|&&pixel| pixel < 128).count()
    }

    #[test]
    fn the_larger_side_fills_the_box() {
        let dash = Ink { strokes: vec![vec![[10.0, 3.0], [200.0, 3.0]]] };
        let thin = dash.crop(45, Pen::Thin);
        assert_eq!(dark(&thin), 45);
        assert!(thin.pixels[22 * 45..23 * 45].iter().all(|&pixel| pixel == 0), "in the middle row");
        let thick = dash.crop(45, Pen::Round(3.0));
        assert!((45 * 2..45 * 4).contains(&dark(&thick)));
    }

    #[test]
    fn a_pen_covers_what_it_is_wide() {
        // The ink of a line is its length times the width of the pen, and half a disc at each end.
        let dash = Ink { strokes: vec![vec![[0.0, 0.0], [10.0, 0.0]]] };
        for width in [1.0f32, 2.5, 4.0, 7.0] {
            let picture = dash.crop(45, Pen::Round(width));
            let ink: f32 = picture.pixels.iter().map(|&pixel| f32::from(255 - pixel) / 255.0).sum();
            let area = (45.0 - width) * width + std::f32::consts::PI * width * width / 4.0;
            assert!((ink - area).abs() < 0.05 * area, "{width}: {ink} of {area}");
        }
        let far = Ink { strokes: vec![vec![[f32::MAX, f32::MIN], [f32::MIN, f32::MAX], [f32::NAN, 0.0]]] };
        assert_eq!(far.crop(45, Pen::Round(3.0)).pixels.len(), 45 * 45, "hostile strokes draw something");
    }

    #[test]
    fn any_ink_can_be_drawn() {
        let dot = Ink { strokes: vec![vec![[7.0, 7.0]]] };
        assert_eq!(dark(&dot.crop(45, Pen::Thin)), 1);
        assert!(dark(&dot.crop(45, Pen::Round(4.0))) > 4);
        assert_eq!(dark(&Ink::default().crop(45, Pen::Thin)), 0);
        let empty = Ink { strokes: vec![Vec::new(), vec![[1.0, 1.0], [2.0, 2.0]]] };
        assert_eq!(dark(&empty.crop(32, Pen::Thin)), 32);
    }
}
