//! Handwritten symbols.
//!
//! [`Writers`] write the 22 symbols of HINT in their own hands; [`Ink`] is what they write, and [`Ink::crop`] a picture
//! of it. Nothing in them was fitted to anybody's data. [`Glyphs`] are images of symbols, from these writers or from
//! files; a [`Deal`] says which image is next, and a [`Layout`] puts them side by side.
//!
//! ```
//! use wug_ink::Writers;
//!
//! let (ink, pen) = Writers::new(0).write(42, 8, 0); // writer 42 writes an 8
//! let picture = ink.crop(45, pen);
//! assert_eq!((picture.width, picture.height), (45, 45));
//! ```

mod deal;
mod files;
mod images;
mod ink;
mod inkml;
mod library;
mod skeletons;
mod strip;
mod writer;

pub use deal::Deal;
pub use ink::{Ink, Pen, Point};
pub use library::{GlyphSource, Glyphs, PARTS};
pub use strip::Layout;
pub use writer::Writers;

/// The symbols that can be written.
pub const SYMBOLS: &str = "0123456789+-*/()xyabcd";
/// The side of a picture of a symbol, in pixels.
pub const CROP: u32 = 45;

/// The name of a symbol's folder of images: `*` and `/` cannot be file names everywhere.
pub fn folder_name(symbol: usize) -> String {
    match &SYMBOLS[symbol..=symbol] {
        "*" => "times".to_owned(),
        "/" => "div".to_owned(),
        other => other.to_owned(),
    }
}
