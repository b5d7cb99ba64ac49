//! The endless stream: sentences of the training distribution, shared out between train and test by their hash, and the
//! kinds of generalization. Train also has what the generalizations need: words on their own and, now and then, what is
//! held out.

use wug_data::{Error, Result, Stream, Table};

use super::convert::{self, Draws, Variant};
use super::draw::{Recursion, sample, sample_recursive};
use super::files::Row;
use super::grammar::START;
use super::splits::{self, DEPTHS, IN_DISTRIBUTION};
use super::types::{self, GENERALIZATIONS, Generalization, Made};
use super::{Named, table};
use crate::Items;
use crate::stream::{Generator, belongs};

/// Draws sentences.
struct Sentences {
    named: Named,
    /// Primitives and exposures.
    shown: Vec<Row>,
}

/// The stream of a variant of COGS or ReCOGS.
pub(crate) fn stream(name: &str, named: Named) -> Result<Box<dyn Items>> {
    if let Named::Variant(variant) = named
        && !is_notation(variant)
    {
        let what = format!("{name} has no stream: it differs from cogs/main only in the rows added to train");
        return Err(Error::usage(what));
    }
    let mut shown = splits::primitives(0);
    shown.extend(splits::exposures());
    Ok(Box::new(Sentences { named, shown }))
}

/// Whether a variant is another way to write logical forms; what ReCOGS adds to train is left out.
fn is_notation(variant: Variant) -> bool {
    use Variant::{Main, RecogsPositional, RecogsV1, RecogsV2, Remove, VariableFree};
    matches!(variant, Main | Remove(_) | VariableFree | RecogsV1 | RecogsV2 | RecogsPositional)
}

impl Sentences {
    fn row(&self, split: &str, random: &mut Stream) -> Option<Row> {
        if split == "gen" {
            return generalization(random.choose(&GENERALIZATIONS), random);
        }
        let shown = self.shown.len() as f64;
        if split == "train" && random.coin(shown / (IN_DISTRIBUTION.0 as f64 + shown)) {
            return Some(random.choose(&self.shown).clone());
        }
        let drawn = sample(START, random)?;
        belongs(&drawn.text, split).then(|| drawn.row("in_distribution"))
    }
}

fn generalization(kind: &Generalization, random: &mut Stream) -> Option<Row> {
    let depth = |random: &mut Stream| DEPTHS.start() + random.below(DEPTHS.count() as u64) as usize;
    let drawn = match kind.made {
        Made::Drawn(sort) => sample(sort, random)?,
        Made::Clauses => sample_recursive(Recursion::Clauses, depth(random), random)?,
        Made::Phrases => sample_recursive(Recursion::Phrases, depth(random), random)?,
        Made::Exchanged { from, old } => {
            let of = generalization(types::generalization(from)?, random)?;
            return Some(splits::exchange(&of, kind, old));
        }
    };
    Some(drawn.row(kind.name))
}

impl Generator for Sentences {
    type Row = Row;

    fn splits(&self) -> Vec<&'static str> {
        match self.named {
            Named::Variant(_) => vec!["train", "test", "gen"],
            Named::Recursion(..) => vec!["gen"],
        }
    }

    fn draw(&self, split: &str, _: u64, random: &mut Stream) -> Option<Row> {
        match self.named {
            Named::Recursion(recursion, depth) => {
                let drawn = sample_recursive(recursion, depth, random)?;
                Some(drawn.row(splits::kind_of(recursion)))
            }
            Named::Variant(variant) => {
                let row = self.row(split, random)?;
                // The names of ReCOGS's variables are drawn by a seed: each item has its own.
                let names = Draws::Seed(random.below(u64::MAX));
                convert::convert(variant, "test", vec![row], names).ok()?.pop()
            }
        }
    }

    fn table(&self, rows: Vec<Row>) -> Table {
        table::table(&[("stream".to_owned(), rows)]).0
    }
}
