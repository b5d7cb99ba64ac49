use std::ops::RangeInclusive;

use wug_data::{Error, Picture, Result, Stream};

use crate::CROP;

/// How crops are put together to a strip. The default is that of the release: side by side, without gaps, all of one
/// size, so that a window per symbol is all the segmentation it takes. The rest makes it harder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    /// Height of the strip in pixels; what is composed at 45 is shrunk to it.
    pub height: u32,
    /// The widest gap between two symbols, in pixels of 45; each is drawn from 0 to this.
    pub gap: u32,
    /// How far a symbol may be above or below the line, in pixels of 45.
    pub baseline: u32,
    /// How much smaller a symbol may be, from 0 to 0.9.
    pub scale: f64,
}

impl Default for Layout {
    fn default() -> Self {
        Self { height: CROP, gap: 0, baseline: 0, scale: 0.0 }
    }
}

impl Layout {
    /// What the height may be.
    pub const HEIGHT: RangeInclusive<u64> = 8..=1024;
    /// What the gap may be.
    pub const GAP: RangeInclusive<u64> = 0..=450;
    /// What the distance from the line may be.
    pub const BASELINE: RangeInclusive<u64> = 0..=45;
    /// What the scale may be at most.
    pub const MAX_SCALE: f64 = 0.9;

    /// Whether the numbers make sense.
    pub fn check(&self) -> Result<()> {
        let wholes = [
            ("height", self.height, Self::HEIGHT),
            ("gap", self.gap, Self::GAP),
            ("baseline", self.baseline, Self::BASELINE),
        ];
        let outside = wholes.into_iter().find(|(_, value, range)| !range.contains(&u64::from(*value)));
        let wrong = if let Some((name, value, range)) = outside {
            format!("{name}={value}: expected {} to {}", range.start(), range.end())
        } else if !(0.0..=Self::MAX_SCALE).contains(&self.scale) {
            format!("scale={}: expected 0 to {}", self.scale, Self::MAX_SCALE)
        } else {
            return Ok(());
        };
        Err(Error::usage(wrong))
    }

    /// Puts symbols side by side; `crop` draws the i-th in a square of a size.
    pub fn compose(
        &self,
        symbols: usize,
        random: &mut Stream,
        crop: impl Fn(usize, u32) -> Picture,
    ) -> Picture {
        let canvas = CROP + 2 * self.baseline;
        let mut placed = Vec::with_capacity(symbols);
        let mut right = 0;
        for i in 0..symbols {
            let size = CROP - (f64::from(CROP) * self.scale * random.unit()) as u32;
            let down = random.below(u64::from(2 * self.baseline) + 1) as u32 + (CROP - size) / 2;
            if i > 0 {
                right += random.below(u64::from(self.gap) + 1) as u32;
            }
            placed.push((crop(i, size), right, down));
            right += size;
        }
        let mut strip = Picture::white(right.max(1), canvas);
        for (crop, x, y) in &placed {
            strip.paste(crop, *x as i32, *y as i32);
        }
        if self.height == canvas {
            return strip;
        }
        let width = (u64::from(strip.width) * u64::from(self.height)).div_ceil(u64::from(canvas));
        strip.resized(width as u32, self.height)
    }
}

#[cfg(test)]
mod tests {
    use wug_data::Streams;

    use super::*;

    fn compose(layout: Layout) -> Picture {
        let mut random = Streams::new("test", "strip", 0).item(0);
        layout.compose(7, &mut random, |_, size| Picture {
            width: size,
            height: size,
            pixels: vec![0; (size * size) as usize],
        })
    }

    #[test]
    fn a_strip_has_a_window_for_each_symbol() {
        let strip = compose(Layout::default());
        assert_eq!((strip.width, strip.height), (45 * 7, 45));
        let small = compose(Layout { height: 32, ..Layout::default() });
        assert_eq!((small.width, small.height), (32 * 7, 32));
        assert!(small.pixels.iter().all(|&pixel| pixel == 0));
    }

    #[test]
    fn gaps_and_sizes_vary() {
        let strip = compose(Layout { gap: 20, baseline: 6, scale: 0.4, ..Layout::default() });
        assert_eq!(strip.height, 45);
        let strip = compose(Layout { height: 57, gap: 20, baseline: 6, scale: 0.4 });
        assert_eq!(strip.height, 57);
        assert!(strip.width < 45 * 7 + 6 * 20);
        assert!(strip.pixels.contains(&255) && strip.pixels.contains(&0));
        assert!(Layout { scale: 1.5, ..Layout::default() }.check().is_err());
    }
}
