//! Pen strokes, and pictures of them.

use tiny_skia::{FillRule, LineCap, LineJoin, Mask, PathBuilder, Stroke, Transform};

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

    fn draw_round(&self, picture: &mut Picture, [left, top, right, bottom]: [f32; 4], width: f32) {
        let room = picture.width as f32 - width;
        let larger = (right - left).max(bottom - top);
        let scale = if larger > 0.0 { room / larger } else { 0.0 };
        let across = (picture.width as f32 - (right - left) * scale) / 2.0;
        let down = (picture.height as f32 - (bottom - top) * scale) / 2.0;
        let mut path = PathBuilder::new();
        for stroke in &self.strokes {
            let mut points =
                stroke.iter().map(|&[x, y]| ((x - left) * scale + across, (y - top) * scale + down));
            let Some((x, y)) = points.next() else { continue };
            path.move_to(x, y);
            if stroke.len() == 1 {
                // A dot: a line too short to see, with round ends.
                path.line_to(x + 0.01, y);
            }
            points.for_each(|(x, y)| path.line_to(x, y));
        }
        let pen = Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
        let outline = path.finish().and_then(|path| path.stroke(&pen, 1.0));
        if let (Some(outline), Some(mut mask)) = (outline, Mask::new(picture.width, picture.height)) {
            mask.fill_path(&outline, FillRule::Winding, true, Transform::identity());
            for (pixel, ink) in picture.pixels.iter_mut().zip(mask.data()) {
                *pixel = 255 - ink;
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
    fn any_ink_can_be_drawn() {
        let dot = Ink { strokes: vec![vec![[7.0, 7.0]]] };
        assert_eq!(dark(&dot.crop(45, Pen::Thin)), 1);
        assert!(dark(&dot.crop(45, Pen::Round(4.0))) > 4);
        assert_eq!(dark(&Ink::default().crop(45, Pen::Thin)), 0);
        let empty = Ink { strokes: vec![Vec::new(), vec![[1.0, 1.0], [2.0, 2.0]]] };
        assert_eq!(dark(&empty.crop(32, Pen::Thin)), 32);
    }
}
