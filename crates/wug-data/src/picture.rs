use std::io;

/// A grey picture: rows from the top, 0 is black and 255 white.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// One byte a pixel.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// A white picture.
    pub fn white(width: u32, height: u32) -> Self {
        Self { width, height, pixels: vec![255; width as usize * height as usize] }
    }

    /// Lays another picture on this one, its corner at `x`, `y`; the darker pixel wins, and what lies outside is cut.
    pub fn paste(&mut self, other: &Self, x: i32, y: i32) {
        let columns = 0.max(-x)..(other.width as i32).min(self.width as i32 - x);
        for row in 0.max(-y)..(other.height as i32).min(self.height as i32 - y) {
            if columns.is_empty() {
                break;
            }
            let from = (row * other.width as i32) as usize;
            let to = ((row + y) as usize) * self.width as usize;
            let source = &other.pixels[from + columns.start as usize..from + columns.end as usize];
            let target = &mut self.pixels[to + (columns.start + x) as usize..to + (columns.end + x) as usize];
            for (target, source) in target.iter_mut().zip(source) {
                *target = (*target).min(*source);
            }
        }
    }

    /// The picture in another size: each new pixel is the mean of the old ones around it, weighted by a tent as wide as
    /// the larger of an old and a new pixel (bilinear with antialiasing).
    #[must_use]
    pub fn resized(&self, width: u32, height: u32) -> Self {
        let (across, down) = (taps(self.width, width), taps(self.height, height));
        let mut narrow = vec![0f32; width as usize * self.height as usize];
        for (from, to) in
            self.pixels.chunks_exact(self.width as usize).zip(narrow.chunks_exact_mut(width as usize))
        {
            for (pixel, (first, weights)) in to.iter_mut().zip(&across) {
                *pixel = from[*first..]
                    .iter()
                    .zip(weights)
                    .map(|(pixel, weight)| f32::from(*pixel) * weight)
                    .sum();
            }
        }
        let mut resized = Self::white(width, height);
        for (row, (first, weights)) in resized.pixels.chunks_exact_mut(width as usize).zip(&down) {
            let mut sums = vec![0.5f32; width as usize];
            for (weight, from) in weights.iter().zip(narrow.chunks_exact(width as usize).skip(*first)) {
                for (sum, pixel) in sums.iter_mut().zip(from) {
                    *sum += weight * pixel;
                }
            }
            for (pixel, sum) in row.iter_mut().zip(sums) {
                *pixel = sum as u8;
            }
        }
        resized
    }

    /// Reads a PNG file as grey; the error says what is wrong. Sides of more than 16,384 pixels are refused.
    pub fn from_png(bytes: &[u8]) -> Result<Self, String> {
        const MAX_SIDE: u32 = 16_384;
        let mut decoder = png::Decoder::new(io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
        let (width, height) = (reader.info().width, reader.info().height);
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(format!("{width} x {height} pixels are too many"));
        }
        let mut samples = vec![0; reader.output_buffer_size().ok_or("too many pixels")?];
        let frame = reader.next_frame(&mut samples).map_err(|error| error.to_string())?;
        let channels = frame.color_type.samples();
        let grey = |pixel: &[u8]| match *pixel {
            [red, green, blue, ..] => {
                ((u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114 + 500) / 1000) as u8
            }
            _ => pixel[0],
        };
        // What is transparent shows white paper.
        let on_white = |pixel: &[u8]| match (channels, pixel) {
            (2 | 4, [.., alpha]) => {
                let alpha = u32::from(*alpha);
                ((u32::from(grey(pixel)) * alpha + 255 * (255 - alpha)) / 255) as u8
            }
            _ => grey(pixel),
        };
        let pixels: Vec<u8> =
            samples.chunks_exact(channels).take(width as usize * height as usize).map(on_white).collect();
        if pixels.len() != width as usize * height as usize {
            return Err("the picture is cut off".to_owned());
        }
        Ok(Self { width, height, pixels })
    }

    /// The picture as a PNG file.
    ///
    /// ```
    /// let white = wug_data::Picture { width: 2, height: 1, pixels: vec![255, 255] };
    /// assert!(white.png()?.starts_with(b"\x89PNG"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn png(&self) -> io::Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        // Pictures are drawn by the hundred thousand: the fast setting costs a few percent of their size.
        encoder.set_compression(png::Compression::Fast);
        encoder.write_header()?.write_image_data(&self.pixels)?;
        Ok(file)
    }
}

/// For each new pixel of a line, the first old pixel it depends on and the weights of that and the next.
fn taps(from: u32, to: u32) -> Vec<(usize, Vec<f32>)> {
    let scale = f64::from(from) / f64::from(to.max(1));
    let reach = scale.max(1.0);
    let tap = |i: u32| {
        let centre = (f64::from(i) + 0.5) * scale;
        let first = (centre - reach + 0.5).max(0.0) as usize;
        let end = ((centre + reach + 0.5) as usize).min(from as usize).max(first + 1);
        let weight = |j: usize| (1.0 - ((j as f64 + 0.5 - centre) / reach).abs()).max(0.0);
        let total: f64 = (first..end).map(weight).sum();
        let weights = (first..end).map(|j| if total > 0.0 { (weight(j) / total) as f32 } else { 1.0 });
        (first.min(from as usize - 1), weights.collect())
    };
    (0..to).map(tap).collect()
}

/// A contact sheet: pictures in rows of `columns`, each in a cell as large as the largest, on white.
pub fn sheet(pictures: &[Picture], columns: u32, margin: u32) -> Picture {
    let largest = |side: fn(&Picture) -> u32| pictures.iter().map(side).max().unwrap_or(1);
    let columns = columns.clamp(1, pictures.len().max(1) as u32);
    let (cell_width, cell_height) = (largest(|p| p.width) + margin, largest(|p| p.height) + margin);
    let rows = (pictures.len() as u32).div_ceil(columns).max(1);
    let (width, height) = (cell_width * columns, cell_height * rows);
    let mut sheet = Picture::white(width, height);
    for (i, picture) in (0u32..).zip(pictures) {
        sheet.paste(picture, (i % columns * cell_width) as i32, (i / columns * cell_height) as i32);
    }
    sheet
}

/// The pictures of a dataset, drawn when they are asked for.
pub trait Pictures: std::any::Any + Send + Sync {
    /// The picture of the example at a position of a part.
    fn picture(&self, part: &str, position: u32) -> Picture;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        let pixels = (0..45 * 90).map(|i| if i % 7 == 0 { 0 } else { 255 }).collect();
        Picture { width: 90, height: 45, pixels }
    }

    #[test]
    fn a_png_is_read_back() {
        assert_eq!(Picture::from_png(&picture().png().unwrap()).unwrap(), picture());
        let whole = picture().png().unwrap();
        for cut in [0, 8, 20, 60, whole.len() - 20] {
            assert!(Picture::from_png(&whole[..cut]).is_err(), "{cut} bytes are no picture");
        }
    }

    #[test]
    fn resizing_keeps_the_mean() {
        let mean = |picture: &Picture| {
            picture.pixels.iter().map(|&pixel| f64::from(pixel)).sum::<f64>() / picture.pixels.len() as f64
        };
        let small = picture().resized(64, 32);
        assert_eq!((small.width, small.height, small.pixels.len()), (64, 32, 64 * 32));
        assert!((mean(&small) - mean(&picture())).abs() < 1.5);
        assert_eq!(picture().resized(90, 45), picture(), "the same size is the same picture");
        assert_eq!(picture().resized(1, 1).pixels.len(), 1);
        assert_eq!(Picture::white(1, 1).resized(100, 3), Picture::white(100, 3));
    }

    #[test]
    fn pasting_cuts_what_lies_outside() {
        let mut paper = Picture::white(3, 3);
        let ink = Picture { width: 2, height: 2, pixels: vec![0, 1, 2, 3] };
        paper.paste(&ink, -1, -1);
        paper.paste(&ink, 2, 2);
        paper.paste(&ink, 9, 9);
        assert_eq!(paper.pixels, [3, 255, 255, 255, 255, 255, 255, 255, 0]);
    }
}
