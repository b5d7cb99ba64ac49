//! Pictures of symbols: a folder for each symbol, as in the Kaggle set, or the release of HINT, which also says which
//! image is in which part.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use wug_data::{Error, Picture, Result, Streams};

use crate::files::{files_below, read_limited};
use crate::library::{BySymbol, Named, PARTS, check_all_present, divide};
use crate::{CROP, SYMBOLS, folder_name};

/// The longest side of a picture that is read.
const MAX_SIDE: usize = 4096;
const EXTENSIONS: [&str; 3] = ["jpg", "jpeg", "png"];

/// Reads the images of the symbols below a folder.
pub(crate) fn read(folder: &Path, symbols: &[usize], seed: u64) -> Result<BySymbol<Picture>> {
    if !folder.is_dir() {
        return Err(Error::file(folder, "is not a folder"));
    }
    let root = ["symbol_images", "Symbol_images"].map(|name| folder.join(name));
    let root = root.into_iter().find(|root| root.is_dir()).unwrap_or_else(|| folder.to_owned());
    let released = released_parts(folder)?;
    let mut glyphs: BySymbol<Picture> = SYMBOLS.chars().map(|_| Default::default()).collect();
    for &symbol in symbols {
        glyphs[symbol] = match &released {
            Some(parts) => listed(&root, symbol, parts)?,
            None => divided(&root, symbol, seed)?,
        };
    }
    check_all_present(&glyphs, symbols, folder)?;
    Ok(glyphs)
}

/// The folder of a symbol: `times`, `8`, and for letters either case.
fn symbol_folder(root: &Path, symbol: usize) -> Result<PathBuf> {
    let name = folder_name(symbol);
    let names = [name.clone(), name.to_ascii_uppercase()];
    names.iter().map(|name| root.join(name)).find(|path| path.is_dir()).ok_or_else(|| {
        let character = &SYMBOLS[symbol..=symbol];
        Error::file(root, format!("has no folder `{name}` with images of `{character}`"))
    })
}

/// The images of a folder without copies, shuffled and cut into parts.
fn divided(root: &Path, symbol: usize, seed: u64) -> Result<[Vec<Named<Picture>>; PARTS.len()]> {
    let folder = symbol_folder(root, symbol)?;
    let paths = files_below(&folder, &EXTENSIONS)?;
    if paths.is_empty() {
        return Err(Error::file(&folder, "has no image (.jpg, .png)"));
    }
    let mut images: Vec<Named<Picture>> = paths.par_iter().map(|path| load(path)).collect::<Result<_>>()?;
    // A copy could be in train and in test.
    let mut known = HashSet::new();
    images.retain(|(_, picture)| known.insert(picture.pixels.clone()));
    let streams = Streams::new("ink/images", &folder_name(symbol), seed);
    streams.item(0).shuffle(&mut images);
    Ok(divide(images))
}

/// Which files of a symbol's folder are in each part, by folder.
type Listing = BTreeMap<String, Vec<String>>;

/// `sym_train.json`, `sym_val.json` and `sym_test.json` of the release, if the folder has them.
fn released_parts(folder: &Path) -> Result<Option<[Listing; PARTS.len()]>> {
    let paths = PARTS.map(|part| folder.join(format!("sym_{part}.json")));
    if !paths[0].is_file() {
        return Ok(None);
    }
    let mut listings: [Listing; PARTS.len()] = Default::default();
    for (path, listing) in paths.iter().zip(&mut listings) {
        let text = std::fs::read(path).map_err(Error::io(path))?;
        *listing = serde_json::from_slice(&text).map_err(|error| {
            Error::line(path, error.line(), format!("expected lists of file names by symbol: {error}"))
        })?;
    }
    Ok(Some(listings))
}

fn listed(
    root: &Path,
    symbol: usize,
    parts: &[Listing; PARTS.len()],
) -> Result<[Vec<Named<Picture>>; PARTS.len()]> {
    let folder = symbol_folder(root, symbol)?;
    let mut images: [Vec<Named<Picture>>; PARTS.len()] = Default::default();
    for (part, listing) in images.iter_mut().zip(parts) {
        let names = listing.get(&folder_name(symbol)).map_or(&[][..], Vec::as_slice);
        *part = names.par_iter().map(|name| load(&folder.join(file_name(name)))).collect::<Result<_>>()?;
    }
    Ok(images)
}

/// The last part of a path: a list may name a file with its folder, and must not lead out of it.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn load(path: &Path) -> Result<Named<Picture>> {
    let bytes = read_limited(path)?;
    let picture = if bytes.starts_with(b"\x89PNG") { Picture::from_png(&bytes) } else { from_jpeg(&bytes) };
    let picture = picture.map_err(|what| Error::file(path, format!("not readable as an image: {what}")))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Larger ones are shrunk once, not whenever they are drawn.
    let fits = picture.width == CROP && picture.height == CROP;
    Ok((name, if fits { picture } else { picture.resized(CROP, CROP) }))
}

fn from_jpeg(bytes: &[u8]) -> Result<Picture, String> {
    let options = DecoderOptions::default()
        .set_max_width(MAX_SIDE)
        .set_max_height(MAX_SIDE)
        .jpeg_set_out_colorspace(ColorSpace::Luma);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let pixels = decoder.decode().map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions().ok_or("no size")?;
    if pixels.len() != width * height {
        return Err("not a grey or colour picture".to_owned());
    }
    Ok(Picture { width: width as u32, height: height as u32, pixels })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GlyphSource, Glyphs};

    /// A folder with `count` different images of each of two symbols.
    fn folder(count: u8) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["8", "times"] {
            let inside = folder.path().join(name);
            std::fs::create_dir(&inside).unwrap();
            for i in 0..count {
                let picture = Picture { width: 45, height: 45, pixels: vec![i; 45 * 45] };
                std::fs::write(inside.join(format!("{i:03}.png")), picture.png().unwrap()).unwrap();
            }
        }
        folder
    }

    fn open(folder: &Path) -> Result<Glyphs> {
        Glyphs::open(&GlyphSource::Images(folder.to_owned()), &[8, 12], 0, None)
    }

    #[test]
    fn a_folder_for_each_symbol_is_divided() {
        let folder = folder(40);
        // A copy under another name is left out.
        let copy = folder.path().join("8");
        std::fs::copy(copy.join("000.png"), copy.join("copy.png")).unwrap();
        let glyphs = open(folder.path()).unwrap();
        assert_eq!([0, 1, 2].map(|part| glyphs.count(part, 8)), [30, 2, 8]);
        let mut shades: Vec<u8> = Vec::new();
        for part in 0..3 {
            shades.extend((0..glyphs.count(part, 8)).map(|image| glyphs.crop(part, 8, image, 45).pixels[0]));
        }
        shades.sort_unstable();
        assert_eq!(shades, (0..40).collect::<Vec<u8>>(), "every image is in one part");
    }

    #[test]
    fn the_lists_of_a_release_are_kept() {
        let folder = folder(6);
        for (part, names) in
            [("train", "\"000.png\",\"8/001.png\""), ("val", "\"002.png\""), ("test", "\"003.png\"")]
        {
            let text = format!("{{\"8\":[{names}],\"times\":[{names}]}}");
            std::fs::write(folder.path().join(format!("sym_{part}.json")), text).unwrap();
        }
        let glyphs = open(folder.path()).unwrap();
        assert_eq!([0, 1, 2].map(|part| glyphs.count(part, 12)), [2, 1, 1]);
        assert_eq!(glyphs.find(0, 8, "001.png"), Some(1));
        std::fs::write(folder.path().join("sym_val.json"), "[1]").unwrap();
        let error = open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("sym_val.json:1: expected lists of file names"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let folder = folder(40);
        let broken = folder.path().join("8/005.png");
        std::fs::write(&broken, b"\x89PNG\r\n\x1a\nnothing more").unwrap();
        let error = open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("005.png: not readable as an image"), "{error}");
        std::fs::write(&broken, b"no picture").unwrap();
        assert!(open(folder.path()).unwrap_err().to_string().contains("005.png"));
        std::fs::remove_dir_all(folder.path().join("8")).unwrap();
        std::fs::create_dir(folder.path().join("8")).unwrap();
        assert!(open(folder.path()).unwrap_err().to_string().contains("has no image"));
        std::fs::remove_dir(folder.path().join("8")).unwrap();
        assert!(open(folder.path()).unwrap_err().to_string().contains("has no folder `8`"));
    }
}
