//! Where images of symbols come from: virtual writers, files of pen strokes, or files of pictures, behind one type.

use std::path::PathBuf;
use std::str::FromStr;

use wug_data::{Error, Picture, Result};

use crate::{Ink, Pen, SYMBOLS, Writers, images, inkml};

/// The parts that images are divided among: no image, and where writers are known no writer, is in two of them.
pub const PARTS: [&str; 3] = ["train", "val", "test"];

/// How many built-in writers a part has: three quarters train, as in the release.
const WRITERS: [u64; 3] = [3000, 200, 800];
/// How often each of them writes each symbol.
const SAMPLES: u64 = 2;

/// What `--glyphs` names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum GlyphSource {
    /// Virtual writers.
    #[default]
    BuiltIn,
    /// A folder of InkML files.
    InkMl(PathBuf),
    /// A folder with a folder of images for each symbol.
    Images(PathBuf),
}

impl FromStr for GlyphSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "built-in" => Ok(Self::BuiltIn),
            Some(("inkml", folder)) if !folder.is_empty() => Ok(Self::InkMl(folder.into())),
            Some(("images", folder)) if !folder.is_empty() => Ok(Self::Images(folder.into())),
            _ => Err(Error::usage(format!(
                "no glyphs `{text}`; there are: built-in, inkml:DIR (CROHME), images:DIR (a folder for each symbol)"
            ))),
        }
    }
}

/// Something with the name of the file it has, or would have.
pub(crate) type Named<T> = (String, T);
/// By symbol, then by part.
pub(crate) type BySymbol<T> = Vec<[Vec<Named<T>>; PARTS.len()]>;

/// Images of symbols, divided among the parts.
#[derive(Debug, Clone)]
pub struct Glyphs {
    kind: Kind,
    pen: Option<Pen>,
}

#[derive(Debug, Clone)]
enum Kind {
    BuiltIn(Writers),
    Strokes(BySymbol<Ink>),
    Pictures(BySymbol<Picture>),
}

impl Glyphs {
    /// Opens a source. Files are read and checked now, so that drawing cannot fail. `symbols` must have images (places
    /// in [`SYMBOLS`]); `pen` replaces the pens of writers.
    pub fn open(source: &GlyphSource, symbols: &[usize], seed: u64, pen: Option<Pen>) -> Result<Self> {
        let kind = match source {
            GlyphSource::BuiltIn => Kind::BuiltIn(Writers::new(seed)),
            GlyphSource::InkMl(folder) => Kind::Strokes(inkml::read(folder, symbols, seed)?),
            GlyphSource::Images(folder) => Kind::Pictures(images::read(folder, symbols, seed)?),
        };
        Ok(Self { kind, pen })
    }

    /// How many images of a symbol a part has.
    pub fn count(&self, part: usize, symbol: usize) -> u64 {
        match &self.kind {
            Kind::BuiltIn(_) => WRITERS[part] * SAMPLES,
            Kind::Strokes(inks) => inks[symbol][part].len() as u64,
            Kind::Pictures(pictures) => pictures[symbol][part].len() as u64,
        }
    }

    /// One of them, in a square of this size.
    pub fn crop(&self, part: usize, symbol: usize, image: u64, size: u32) -> Picture {
        match &self.kind {
            Kind::BuiltIn(writers) => {
                let (writer, sample) = writer(part, image);
                let (ink, pen) = writers.write(writer, symbol, sample);
                ink.crop(size, self.pen.unwrap_or(pen))
            }
            Kind::Strokes(inks) => {
                inks[symbol][part][image as usize].1.crop(size, self.pen.unwrap_or(Pen::Thin))
            }
            Kind::Pictures(pictures) => {
                let picture = &pictures[symbol][part][image as usize].1;
                if picture.width == size { picture.clone() } else { picture.resized(size, size) }
            }
        }
    }

    /// The name of its file, without a folder.
    pub fn name(&self, part: usize, symbol: usize, image: u64) -> String {
        match &self.kind {
            Kind::BuiltIn(_) => {
                let (writer, sample) = writer(part, image);
                format!("w{writer:04}-{sample}.png")
            }
            Kind::Strokes(inks) => inks[symbol][part][image as usize].0.clone(),
            Kind::Pictures(pictures) => pictures[symbol][part][image as usize].0.clone(),
        }
    }

    /// The image of a part with this name, if there is one.
    pub fn find(&self, part: usize, symbol: usize, name: &str) -> Option<u64> {
        (0..self.count(part, symbol)).find(|&image| self.name(part, symbol, image) == name)
    }
}

/// The writer of a built-in image, and which of the writer's samples it is. Writers of the parts are numbered one
/// behind the other, so they are disjoint.
fn writer(part: usize, image: u64) -> (u64, u64) {
    let before: u64 = WRITERS[..part].iter().sum();
    (before + image / SAMPLES, image % SAMPLES)
}

/// Fails if a symbol that is needed has no image in some part.
pub(crate) fn check_all_present<T>(
    glyphs: &BySymbol<T>,
    symbols: &[usize],
    folder: &std::path::Path,
) -> Result<()> {
    for &symbol in symbols {
        for (part, images) in PARTS.iter().zip(&glyphs[symbol]) {
            if images.is_empty() {
                let found: usize = glyphs[symbol].iter().map(Vec::len).sum();
                let character = &SYMBOLS[symbol..=symbol];
                let what = format!("has {found} images of `{character}`, which leaves none for {part}");
                return Err(Error::file(folder, what));
            }
        }
    }
    Ok(())
}

/// Cuts shuffled images into the parts as the release did: 75% train, 5% val, the rest test.
pub(crate) fn divide<T>(mut images: Vec<T>) -> [Vec<T>; PARTS.len()] {
    let n = images.len();
    let test = images.split_off(n * 3 / 4 + n / 20);
    let val = images.split_off(n * 3 / 4);
    [images, val, test]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_writer_is_in_two_parts() {
        let glyphs = Glyphs::open(&GlyphSource::BuiltIn, &[], 0, None).unwrap();
        let writers = |part: usize| -> HashSet<u64> {
            (0..glyphs.count(part, 0)).map(|image| writer(part, image).0).collect()
        };
        let all: Vec<HashSet<u64>> = (0..3).map(writers).collect();
        assert_eq!(all.iter().map(HashSet::len).collect::<Vec<_>>(), [3000, 200, 800]);
        assert!(all[0].is_disjoint(&all[1]) && all[0].is_disjoint(&all[2]) && all[1].is_disjoint(&all[2]));
    }

    #[test]
    fn sources_are_named() {
        assert_eq!("built-in".parse::<GlyphSource>().unwrap(), GlyphSource::BuiltIn);
        assert_eq!("inkml:a:b".parse::<GlyphSource>().unwrap(), GlyphSource::InkMl("a:b".into()));
        for wrong in ["", "inkml:", "crohme", "images"] {
            assert!(wrong.parse::<GlyphSource>().unwrap_err().is_usage());
        }
    }

    #[test]
    fn images_are_divided_as_in_the_release() {
        let sizes = divide((0..157).collect::<Vec<_>>()).map(|part| part.len());
        assert_eq!(sizes, [117, 7, 33], "the division sign of the release");
    }
}
