//! The endless stream: expressions with bounded length and values.
//!
//! Train has what the bounds of train allow, but for one expression in ten, chosen by its hash. Test asks for these (SS)
//! and for longer expressions and larger values (LS, SL, LL), the four equally often.

use wug_data::{Example, Picture, Result, Stream, Table};
use wug_ink::{Glyphs, Layout, PARTS};

use super::expression::Expression;
use super::grammar::{Alphabet, SYMBOLS, count};
use super::pictures::Style;
use super::pool::{Ready, Wanted, draw_one};
use super::splits::{Design, SUBSETS};
use super::table;
use crate::Items;
use crate::stream::{Generator, belongs};

/// Draws expressions.
struct Expressions {
    design: Design,
    alphabet: Alphabet,
    ready: Ready,
    /// Numbers of operators with what the numbers up to each weigh in train.
    weights: Vec<(usize, u64)>,
    /// Images of symbols, and how they are put together, where items are pictures.
    handwriting: Option<(Glyphs, Layout)>,
}

/// The stream of a design.
pub(super) fn stream(design: Design, style: Option<&Style>) -> Result<Box<dyn Items>> {
    let alphabet = design.alphabet();
    let mut sum = 0;
    let weigh = |operators: usize| {
        // As in the dataset: the few short expressions are not repeated without end.
        let all = count(&alphabet, operators) * design.most_repeats(operators).min(design.train);
        sum += u64::try_from(all).unwrap_or(u64::MAX).min(design.train as u64);
        (operators, sum)
    };
    let short = design.numbers_of_operators().take_while(|&operators| operators <= design.train_operators);
    let weights = short.map(weigh).collect();
    let ready = Ready::new(&alphabet);
    let symbols: Vec<usize> = (0..SYMBOLS.len()).collect();
    // The same writers for every seed: those of train never write test.
    let open = |style: &Style| Ok((Glyphs::open(&style.glyphs, &symbols, 0, style.pen)?, style.layout));
    let handwriting = style.map(open).transpose()?;
    Ok(Box::new(Expressions { design, alphabet, ready, weights, handwriting }))
}

impl Expressions {
    fn short(&self, random: &mut Stream) -> Option<usize> {
        let chosen = random.below(self.weights.last()?.1.max(1));
        self.weights.iter().find(|(_, sum)| chosen < *sum).map(|(operators, _)| *operators)
    }

    fn long(&self, random: &mut Stream) -> Option<usize> {
        let (first, last) = (self.design.train_operators + 1, self.design.operators);
        (first <= last).then(|| first + random.below((last - first + 1) as u64) as usize)
    }
}

impl Generator for Expressions {
    /// The expression in prefix form, and the place of its subset.
    type Row = (Vec<u8>, u8);

    fn splits(&self) -> Vec<&'static str> {
        vec!["train", "test"]
    }

    fn draw(&self, split: &str, _: u64, random: &mut Stream) -> Option<Self::Row> {
        let (is_long, is_large, subset) = match split {
            "test" => {
                let kind = random.below(4);
                (kind & 1 == 1, kind & 2 == 2, 1 + kind as u8)
            }
            _ => (false, false, 0),
        };
        let operators = if is_long { self.long(random) } else { self.short(random) }?;
        let wanted: Wanted<'_> = self.design.wanted(&self.alphabet, operators, is_large);
        let prefix = draw_one(&wanted, &self.ready, random)?;
        debug_assert!((subset as usize) < SUBSETS.len());
        let is_held_out = is_long || is_large;
        (is_held_out || belongs(&infix(&prefix)?, split)).then_some((prefix, subset))
    }

    fn table(&self, rows: Vec<Self::Row>) -> Table {
        let (prefixes, subsets): (Vec<Vec<u8>>, Vec<u8>) = rows.into_iter().unzip();
        table::table_of(&prefixes, &subsets)
    }

    fn picture(&self, split: &str, item: &Example<'_>, random: &mut Stream) -> Option<Picture> {
        let (glyphs, layout) = self.handwriting.as_ref()?;
        let place = PARTS.iter().position(|name| *name == split)?;
        let image = |&symbol: &u32| {
            let symbol = symbol as usize;
            // Images from a folder may lack a symbol.
            let count = glyphs.count(place, symbol);
            (count > 0).then(|| (symbol, random.below(count)))
        };
        let images = item.input.ids().iter().map(image).collect::<Option<Vec<(usize, u64)>>>()?;
        let crop = |i: usize, size| glyphs.crop(place, images[i].0, images[i].1, size);
        Some(layout.compose(images.len(), random, crop))
    }
}

/// The text of an expression.
fn infix(prefix: &[u8]) -> Option<String> {
    let mut expression = Expression::default();
    expression.set(prefix)?;
    Some(expression.tokens.iter().map(|&token| SYMBOLS.as_bytes()[token as usize] as char).collect())
}
