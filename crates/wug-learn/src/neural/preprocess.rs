use wug_data::Picture;
use wug_nn::{Images, Sequence};

/// How a picture becomes the images that a network reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preprocess {
    /// Panels side by side, each made a square.
    Panels {
        /// How many.
        panels: usize,
        /// Pixels of a side.
        side: usize,
    },
    /// A strip of handwriting, made as high as a window, inverted so that ink is bright, and cut into square windows.
    Windows {
        /// Pixels of a side.
        side: usize,
    },
}

/// What a network sees of a picture.
pub(super) struct Preprocessed {
    pixels: Vec<u8>,
    side: usize,
}

impl Preprocessed {
    /// The images in order.
    pub(super) fn sequence(&self) -> Sequence<'_> {
        Sequence::Images(Images { pixels: &self.pixels, width: self.side, height: self.side })
    }
}

impl Preprocess {
    /// Panels of a picture whose panels are squares.
    pub(super) fn panels(picture: &Picture, side: usize) -> Self {
        let panels = (picture.width + picture.height / 2) / picture.height.max(1);
        Self::Panels { panels: panels.max(1) as usize, side }
    }

    /// How many images there are of every picture; none where pictures differ.
    pub(super) fn frames(self) -> usize {
        match self {
            Self::Panels { panels, .. } => panels,
            Self::Windows { .. } => 0,
        }
    }

    /// Applies it to a picture.
    pub(super) fn apply(self, picture: &Picture) -> Preprocessed {
        match self {
            Self::Panels { panels, side } => {
                let width = (picture.width as usize / panels).max(1);
                let panel =
                    |i: usize| cut(picture, i * width, width).resized(side as u32, side as u32).pixels;
                Preprocessed { pixels: (0..panels).flat_map(panel).collect(), side }
            }
            Self::Windows { side } => {
                let Picture { width, height, .. } = *picture;
                let wide = u64::from(width) * side as u64 / u64::from(height.max(1));
                let strip = picture.resized((wide as u32).max(side as u32), side as u32);
                let windows = strip.width as usize / side;
                let mut pixels = Vec::with_capacity(windows * side * side);
                for window in 0..windows {
                    for row in strip.pixels.chunks_exact(strip.width as usize) {
                        pixels.extend(row[window * side..][..side].iter().map(|ink| 255 - ink));
                    }
                }
                Preprocessed { pixels, side }
            }
        }
    }
}

/// Some columns of a picture; white where it has none.
fn cut(picture: &Picture, first: usize, width: usize) -> Picture {
    let mut part = Picture::white(width as u32, picture.height);
    let rows = picture.pixels.chunks_exact((picture.width as usize).max(1));
    for (to, from) in part.pixels.chunks_exact_mut(width).zip(rows) {
        let from = &from[first.min(from.len())..];
        let shared = from.len().min(width);
        to[..shared].copy_from_slice(&from[..shared]);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture whose columns get darker by one from the left.
    fn slope(width: u32, height: u32) -> Picture {
        let row = (0..width).map(|x| 255 - x as u8);
        Picture { width, height, pixels: (0..height).flat_map(|_| row.clone()).collect() }
    }

    #[test]
    fn panels_are_cut_and_made_squares() {
        let picture = slope(60, 20);
        let preprocess = Preprocess::panels(&picture, 10);
        assert_eq!(preprocess, Preprocess::Panels { panels: 3, side: 10 });
        let sequence = preprocess.apply(&picture);
        let pixels = sequence.sequence().pixels();
        assert_eq!((sequence.sequence().len(), pixels.len()), (3, 300));
        assert!(pixels[..100].iter().all(|&x| x >= 235) && pixels[200..].iter().all(|&x| x <= 215));
        // A picture of another size has as many.
        assert_eq!(preprocess.apply(&slope(7, 90)).sequence().len(), 3);
    }

    #[test]
    fn a_strip_has_a_window_for_each_symbol() {
        let seen = Preprocess::Windows { side: 32 }.apply(&slope(45 * 4, 45));
        assert_eq!(seen.sequence().len(), 4);
        let pixels = seen.sequence().pixels();
        assert!(pixels[0] <= 1 && pixels[3 * 1024 + 31] >= 178, "ink is bright");
        assert_eq!(Preprocess::Windows { side: 32 }.apply(&slope(3, 45)).sequence().len(), 1);
    }
}
