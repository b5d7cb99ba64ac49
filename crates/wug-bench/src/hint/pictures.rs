//! Expressions in handwriting: which image each symbol has, and the strip they make.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use wug_data::{Dataset, Error, Part, Picture, Pictures, Result, Selection, Streams, Table};
use wug_ink::{CROP, Deal, GlyphSource, Glyphs, Layout, PARTS, Pen};

use super::grammar::{SYMBOLS, Symbol};
use crate::{DataSettings, NativePictures};

/// Rows between two counts of symbols: far enough apart to be small, near enough to count on from.
const EVERY: usize = 64;

/// How handwriting looks and where it comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Style {
    /// Where images of symbols come from.
    pub glyphs: GlyphSource,
    /// The pen, if it is not the writer's own.
    pub pen: Option<Pen>,
    /// How the images are put together.
    pub layout: Layout,
}

impl Style {
    /// The style that a user chose.
    pub fn of(settings: &DataSettings) -> Result<Self> {
        let mut style = Self::default();
        settings.apply("height", &mut style.layout.height)?;
        settings.apply("gap", &mut style.layout.gap)?;
        settings.apply("baseline", &mut style.layout.baseline)?;
        settings.apply("scale", &mut style.layout.scale)?;
        style.layout.check()?;
        if let Some(glyphs) = settings.get("glyphs") {
            style.glyphs = glyphs.parse()?;
        }
        style.pen = match settings.get("pen") {
            None | Some("writer") => None,
            Some("thin") => Some(Pen::Thin),
            Some(width) => match width.parse::<f32>() {
                Ok(width) if (0.5..=10.0).contains(&width) => Some(Pen::Round(width)),
                _ => {
                    let what =
                        format!("no pen `{width}`; there are: writer, thin, and widths from 0.5 to 10");
                    return Err(Error::usage(what));
                }
            },
        };
        Ok(style)
    }
}

/// The handwriting of a dataset.
pub struct Strips {
    table: Arc<Table>,
    parts: Vec<Hand>,
    glyphs: Glyphs,
    layout: Layout,
}

/// The handwriting of a part.
struct Hand {
    part: Part,
    /// Place of the part in [`PARTS`].
    place: usize,
    /// Before every 64th row, how often each symbol has occurred.
    counts: Vec<[u64; SYMBOLS.len()]>,
    /// By symbol; none for those that do not occur.
    deals: Vec<Option<Deal>>,
    placement: Streams,
    /// The images of each row, where files name them instead of a deal.
    given: Option<Vec<Box<[u32]>>>,
}

impl Strips {
    /// Handwriting for the parts of a table.
    pub fn new(table: Arc<Table>, parts: &[Part], style: &Style, seed: u64) -> Result<Self> {
        let mut used = BTreeSet::new();
        let mut counted = Vec::new();
        for part in parts {
            let mut counts = Vec::with_capacity(part.rows.len() / EVERY + 1);
            let mut count = [0; SYMBOLS.len()];
            for (i, &row) in part.rows.iter().enumerate() {
                if i % EVERY == 0 {
                    counts.push(count);
                }
                table.inputs.get(row).ids().iter().for_each(|&symbol| count[symbol as usize] += 1);
            }
            used.extend((0..SYMBOLS.len()).filter(|&symbol| count[symbol] > 0));
            counted.push((part, counts));
        }
        let symbols: Vec<usize> = used.into_iter().collect();
        let glyphs = Glyphs::open(&style.glyphs, &symbols, seed, style.pen)?;
        let hand = |(part, counts): (&Part, Vec<[u64; SYMBOLS.len()]>)| {
            let place = PARTS.iter().position(|name| *name == part.name).unwrap_or(PARTS.len() - 1);
            let deal = |symbol: Symbol| {
                let images = glyphs.count(place, symbol.0 as usize);
                (images > 0).then(|| Deal::new(&part.name, symbol.character(), seed, images))
            };
            Hand {
                part: part.clone(),
                place,
                counts,
                deals: Symbol::all().map(deal).collect(),
                placement: Streams::new("hint/placement", &part.name, seed),
                given: None,
            }
        };
        let parts = counted.into_iter().map(hand).collect();
        Ok(Self { table, parts, glyphs, layout: style.layout })
    }

    /// Replaces the deal by the images that files name, `paths[part][row][token]`.
    pub fn give(&mut self, paths: &[Vec<Vec<String>>]) -> Result<()> {
        for (hand, rows) in self.parts.iter_mut().zip(paths) {
            let mut known: HashMap<(usize, String), u32> = HashMap::new();
            for symbol in 0..SYMBOLS.len() {
                for image in 0..self.glyphs.count(hand.place, symbol) {
                    known.insert((symbol, self.glyphs.name(hand.place, symbol, image)), image as u32);
                }
            }
            let mut given = Vec::with_capacity(rows.len());
            for (i, paths) in rows.iter().enumerate() {
                let tokens = self.table.inputs.get(hand.part.rows[i]).ids();
                let image = |(&symbol, path): (&u32, &String)| {
                    let name = path.rsplit('/').next().unwrap_or(path);
                    known.get(&(symbol as usize, name.to_owned())).copied().ok_or_else(|| {
                        let what = format!(
                            "row {} of {} needs {path}, which is no image of it",
                            i + 1,
                            hand.part.name
                        );
                        Error::usage(what)
                    })
                };
                given.push(tokens.iter().zip(paths).map(image).collect::<Result<_>>()?);
            }
            hand.given = Some(given);
        }
        Ok(())
    }

    fn hand(&self, part: &str) -> &Hand {
        self.parts.iter().find(|hand| hand.part.name == part).unwrap_or(&self.parts[0])
    }

    /// The symbol and the number of its image, for each token of an example.
    fn images(&self, hand: &Hand, position: u32) -> Vec<(usize, u64)> {
        let position = position as usize;
        if let Some(given) = &hand.given {
            let tokens = self.table.inputs.get(hand.part.rows[position]).ids().iter();
            return tokens.zip(&given[position]).map(|(&s, &image)| (s as usize, u64::from(image))).collect();
        }
        let mut count = hand.counts[position / EVERY];
        for &row in &hand.part.rows[position / EVERY * EVERY..position] {
            self.table.inputs.get(row).ids().iter().for_each(|&symbol| count[symbol as usize] += 1);
        }
        let tokens = self.table.inputs.get(hand.part.rows[position]).ids();
        tokens
            .iter()
            .map(|&symbol| {
                let symbol = symbol as usize;
                let before = count[symbol];
                count[symbol] += 1;
                (symbol, hand.deals[symbol].as_ref().map_or(0, |deal| deal.nth(before)))
            })
            .collect()
    }

    /// The path of the image of each token, as the release names them: `times/w0042-1.png`.
    pub fn paths(&self, part: &str, position: u32) -> Vec<String> {
        let hand = self.hand(part);
        let path = |(symbol, image)| {
            format!("{}/{}", wug_ink::folder_name(symbol), self.glyphs.name(hand.place, symbol, image))
        };
        self.images(hand, position).into_iter().map(path).collect()
    }

    /// How many images of each symbol that occurs the parts draw from.
    pub fn image_counts(&self) -> Vec<(String, Vec<u64>)> {
        let count = |hand: &Hand, symbol: Symbol| self.glyphs.count(hand.place, symbol.0 as usize);
        let counts = Symbol::all().map(|symbol| {
            let counts: Vec<u64> = self.parts.iter().map(|hand| count(hand, symbol)).collect();
            (symbol.character().to_string(), counts)
        });
        counts.filter(|(_, counts)| counts.iter().any(|&count| count > 0)).collect()
    }

    /// The images that some examples need, as places of parts, symbols and images.
    fn used(&self, selections: &[Selection<'_>]) -> BTreeSet<(usize, usize, u64)> {
        let mut used = BTreeSet::new();
        for selection in selections {
            let hand = self.hand(&selection.part.name);
            for &position in &selection.positions {
                used.extend(
                    self.images(hand, position)
                        .into_iter()
                        .map(|(symbol, image)| (symbol, hand.place, image)),
                );
            }
        }
        used
    }

    /// The names of the images of a part that some examples need, by folder.
    pub fn listing(&self, selection: &Selection<'_>) -> Vec<(String, Vec<String>)> {
        let used = self.used(std::slice::from_ref(selection));
        let name = |&(symbol, place, image): &(usize, usize, u64)| self.glyphs.name(place, symbol, image);
        (0..SYMBOLS.len())
            .map(|symbol| {
                let images = used.range((symbol, 0, 0)..(symbol + 1, 0, 0));
                (wug_ink::folder_name(symbol), images.map(name).collect())
            })
            .filter(|(_, names): &(String, Vec<String>)| !names.is_empty())
            .collect()
    }

    /// The folders of images that some examples need.
    pub fn folders(&self, selections: &[Selection<'_>]) -> Vec<NativePictures<'_>> {
        let used = self.used(selections);
        (0..SYMBOLS.len())
            .filter_map(|symbol| {
                let images: Vec<_> = used.range((symbol, 0, 0)..(symbol + 1, 0, 0)).copied().collect();
                let names: Vec<String> =
                    images.iter().map(|&(_, place, image)| self.glyphs.name(place, symbol, image)).collect();
                let draw = move |i: usize| {
                    let (symbol, place, image) = images[i];
                    self.glyphs.crop(place, symbol, image, CROP)
                };
                let path = format!("symbol_images/{}/", wug_ink::folder_name(symbol));
                (!names.is_empty()).then(|| NativePictures { path, names, draw: Box::new(draw) })
            })
            .collect()
    }
}

impl Pictures for Strips {
    fn picture(&self, part: &str, position: u32) -> Picture {
        let hand = self.hand(part);
        let images = self.images(hand, position);
        let mut random = hand.placement.item(u64::from(position));
        self.layout.compose(images.len(), &mut random, |i, size| {
            let (symbol, image) = images[i];
            self.glyphs.crop(hand.place, symbol, image, size)
        })
    }
}

/// The strips of a dataset that has them.
pub fn strips(dataset: &Dataset) -> Option<&Strips> {
    let pictures: &dyn std::any::Any = &**dataset.pictures.as_ref()?;
    pictures.downcast_ref()
}
