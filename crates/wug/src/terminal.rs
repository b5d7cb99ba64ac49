//! Pictures in a terminal.

use std::fmt::Write;
use std::io::IsTerminal;

use clap::ValueEnum;

use wug_data::Picture;

/// How a terminal shows pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// As the terminal can; none where the output is no terminal
    Auto,
    /// The graphics protocol of kitty, WezTerm, Ghostty, Konsole
    Kitty,
    /// Sixel: foot, mlterm, xterm -ti vt340
    Sixel,
    /// Half blocks, in any terminal
    Blocks,
    /// No pictures
    None,
}

impl Protocol {
    /// What `auto` stands for here.
    pub(crate) fn resolved(self) -> Self {
        if self != Self::Auto {
            return self;
        }
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let (term, program) = (variable("TERM"), variable("TERM_PROGRAM"));
        if !std::io::stdout().is_terminal() || term == "dumb" {
            Self::None
        } else if term.contains("kitty")
            || !variable("KITTY_WINDOW_ID").is_empty()
            || !variable("KONSOLE_VERSION").is_empty()
            || ["WezTerm", "ghostty"].contains(&program.as_str())
        {
            Self::Kitty
        } else if term.starts_with("foot") || term.starts_with("mlterm") || term.contains("sixel") {
            Self::Sixel
        } else {
            Self::Blocks
        }
    }

    /// The picture as text for the terminal, with its last line's end; empty for none.
    pub(crate) fn draw(self, picture: &Picture) -> std::io::Result<String> {
        Ok(match self {
            Self::Kitty => kitty(&picture.png()?),
            Self::Sixel => sixel(picture),
            Self::Blocks => blocks(picture, columns()),
            Self::Auto | Self::None => String::new(),
        })
    }
}

fn columns() -> u32 {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    said.or_else(|| terminal_size::terminal_size().map(|(width, _)| u32::from(width.0))).unwrap_or(80).max(20)
}

/// A PNG file in pieces of at most 4096 characters, as the protocol wants it.
fn kitty(png: &[u8]) -> String {
    let data = base64(png);
    let mut text = String::new();
    let pieces: Vec<&str> =
        (0..data.len()).step_by(4096).map(|i| &data[i..data.len().min(i + 4096)]).collect();
    for (i, piece) in pieces.iter().enumerate() {
        let control = if i == 0 { "a=T,f=100," } else { "" };
        let more = u8::from(i + 1 < pieces.len());
        let _ = write!(text, "\x1b_G{control}m={more};{piece}\x1b\\");
    }
    text + "\n"
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word =
            three.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i)) as usize & 63] as char;
            text.push(if i <= three.len() { digit } else { '=' });
        }
    }
    text
}

/// Bands of six rows in eight shades of grey.
fn sixel(picture: &Picture) -> String {
    const SHADES: u8 = 8;
    let mut text = format!("\x1bPq\"1;1;{};{}", picture.width, picture.height);
    for shade in 0..SHADES {
        let percent = u32::from(shade) * 100 / u32::from(SHADES - 1);
        let _ = write!(text, "#{shade};2;{percent};{percent};{percent}");
    }
    let shade_at = |x: u32, y: u32| {
        (y < picture.height).then(|| picture.pixels[(y * picture.width + x) as usize] / (255 / SHADES + 1))
    };
    for top in (0..picture.height).step_by(6) {
        for shade in 0..SHADES {
            let _ = write!(text, "#{shade}");
            for x in 0..picture.width {
                let bit = |dy: u32| u8::from(shade_at(x, top + dy) == Some(shade)) << dy;
                text.push((63 + (0..6).map(bit).sum::<u8>()) as char);
            }
            text.push('$');
        }
        text.push('-');
    }
    text + "\x1b\\\n"
}

/// Ink as the dots of Braille, eight to a cell, for pictures that are too wide for blocks: they fit and stay legible.
fn dots(picture: &Picture, columns: u32) -> String {
    /// The bit of each dot, by row and column of its cell.
    const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    let width = picture.width.min(2 * columns).max(1);
    let height = (picture.height * width / picture.width.max(1)).max(1);
    let small = picture.resized(width, height);
    let ink = |x: u32, y: u32| x < width && y < height && small.pixels[(y * width + x) as usize] < 176;
    let mut text = String::new();
    for top in (0..height).step_by(4) {
        let cell = |left: u32| {
            let dot = |i: u32| {
                if ink(left + i % 2, top + i / 2) { BITS[i as usize / 2][i as usize % 2] } else { 0 }
            };
            match (0..8).map(dot).sum::<u32>() {
                0 => ' ',
                bits => char::from_u32(0x2800 + bits).unwrap_or(' '),
            }
        };
        text.push_str((0..width).step_by(2).map(cell).collect::<String>().trim_end());
        text.push('\n');
    }
    text
}

/// Ink as half blocks; a strip that is too wide goes on below.
fn blocks(picture: &Picture, columns: u32) -> String {
    let is_strip = picture.width > 3 * picture.height;
    let height = picture.height.min(if is_strip { 16 } else { 44 });
    let width = (picture.width * height / picture.height.max(1)).max(1);
    if !is_strip && width > columns {
        return dots(picture, columns);
    }
    let small = picture.resized(width, height);
    let ink = |x: u32, y: u32| y < height && small.pixels[(y * small.width + x) as usize] < 176;
    let mut text = String::new();
    // Symbols of a strip are about as wide as high: it is not broken inside one.
    let across = if is_strip { (columns / height * height).max(height) } else { columns };
    for left in (0..width).step_by(across as usize) {
        for y in (0..height).step_by(2) {
            let cells = (left..width.min(left + across)).map(|x| match (ink(x, y), ink(x, y + 1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            });
            text.push_str(cells.collect::<String>().trim_end());
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cross() -> Picture {
        let pixels = (0..64u32).map(|i| if i / 8 == i % 8 || i / 8 + i % 8 == 7 { 0 } else { 255 });
        Picture { width: 8, height: 8, pixels: pixels.collect() }
    }

    #[test]
    fn half_blocks_show_the_ink() {
        assert_eq!(blocks(&cross(), 80), "▀▄    ▄▀\n  ▀▄▄▀\n  ▄▀▀▄\n▄▀    ▀▄\n");
    }

    #[test]
    fn wide_pictures_fit() {
        let pixels = (0..480 * 160u32).map(|i| if i % 480 % 160 < 4 || i / 480 < 4 { 0 } else { 255 });
        let panels = Picture { width: 480, height: 160, pixels: pixels.collect() };
        let drawn = blocks(&panels, 80);
        let lines: Vec<usize> = drawn.lines().map(|line| line.chars().count()).collect();
        assert!(lines.iter().all(|&width| width <= 80) && lines.len() == 14, "{lines:?}");
        let second = drawn.lines().nth(5).unwrap();
        assert_eq!(second.split_whitespace().count(), 3, "the left edge of each panel: {second}");
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn protocols_begin_and_end_as_they_should() {
        let sixel = sixel(&cross());
        assert!(sixel.starts_with("\x1bPq\"1;1;8;8#0;2;0;0;0") && sixel.ends_with("-\x1b\\\n"));
        let kitty = kitty(&vec![0; 10_000]);
        assert_eq!(kitty.matches("\x1b_G").count(), 4);
        assert!(kitty.starts_with("\x1b_Ga=T,f=100,m=1;") && kitty.contains("\x1b_Gm=0;"));
    }
}
