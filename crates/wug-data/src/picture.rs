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

/// The pictures of a dataset, drawn when they are asked for.
pub trait Pictures: Send + Sync {
    /// The picture of the example at a position of a part.
    fn picture(&self, part: &str, position: u32) -> Picture;
}
