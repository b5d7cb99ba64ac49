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
        encoder.write_header()?.write_image_data(&self.pixels)?;
        Ok(file)
    }
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
pub trait Pictures: Send + Sync {
    /// The picture of the example at a position of a part.
    fn picture(&self, part: &str, position: u32) -> Picture;
}
