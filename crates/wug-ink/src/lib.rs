//! Handwritten symbols.
//!
//! [`Writers`] write the 22 symbols of HINT in their own hands; [`Ink`] is what they write, and [`Ink::crop`] a picture
//! of it. Nothing here was fitted to anybody's data.
//!
//! ```
//! use wug_ink::Writers;
//!
//! let (ink, pen) = Writers::new(0).write(42, 8, 0); // writer 42 writes an 8
//! let picture = ink.crop(45, pen);
//! assert_eq!((picture.width, picture.height), (45, 45));
//! ```

mod deal;
mod ink;
mod skeletons;
mod writer;

pub use deal::Deal;
pub use ink::{Ink, Pen, Point};
pub use writer::Writers;

/// The symbols that can be written.
pub const SYMBOLS: &str = "0123456789+-*/()xyabcd";
