//! Conversions of COGS to its variants and to ReCOGS, one file each.
//!
//! Each is a function of the rows of a part and of [`Draws`]. With [`Draws::Official`] the draws are those of CPython's
//! generator with the seed of the release, so that the released rows come out of the released COGS; with
//! [`Draws::Seed`] they are wug's own, a stream for every row.

pub mod concat;
pub mod draws;
pub mod filler;
mod numpy;
pub mod participial;
pub mod positions;
pub mod prepose;
pub mod recogs;
pub mod remove;
pub mod rename;

use super::files::Row;
use super::lf::{Form, Notation, ParseError, Removal};
pub use draws::Draws;

/// A way to write COGS, and what is done to its training part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variant {
    /// COGS itself.
    Main,
    /// Without some tokens of the logical form.
    Remove(Removal),
    /// With this number of rows added to train, each of them three rows concatenated.
    Concat(usize),
    /// With the modified noun phrase moved to the front in 5% of the rows of train that have one.
    Preposing,
    /// The same, and `um` strewn into 5% of the rows of train.
    PreposingFiller,
    /// With participial verb phrases in 15% of the rows of train.
    Participial {
        /// `nmod` stands for `acl`.
        easy: bool,
    },
    /// Without variables.
    VariableFree,
    /// ReCOGS as of March 2023.
    RecogsV1,
    /// ReCOGS as of July 2023.
    RecogsV2,
    /// ReCOGS with the variables of COGS.
    RecogsPositional,
}

impl Variant {
    /// Every variant, in the order in which they are listed.
    pub const ALL: [Self; 17] = [
        Self::Main,
        Self::Remove(Removal::X),
        Self::Remove(Removal::XParen),
        Self::Remove(Removal::XParenComma),
        Self::Concat(256),
        Self::Concat(512),
        Self::Concat(1024),
        Self::Concat(2048),
        Self::Concat(3072),
        Self::Preposing,
        Self::PreposingFiller,
        Self::Participial { easy: false },
        Self::Participial { easy: true },
        Self::VariableFree,
        Self::RecogsV1,
        Self::RecogsV2,
        Self::RecogsPositional,
    ];

    /// The name of its dataset, with the benchmark.
    pub fn name(self) -> String {
        let name = match self {
            Self::Main => "cogs/main",
            Self::Remove(Removal::X) => "cogs/remove-x",
            Self::Remove(Removal::XParen) => "cogs/remove-x-paren",
            Self::Remove(Removal::XParenComma) => "cogs/remove-x-paren-comma",
            Self::Concat(rows) => return format!("cogs/concat-{rows}"),
            Self::Preposing => "cogs/preposing",
            Self::PreposingFiller => "cogs/preposing-filler",
            Self::Participial { easy: false } => "cogs/participial",
            Self::Participial { easy: true } => "cogs/participial-easy",
            Self::VariableFree => "cogs/variable-free",
            Self::RecogsV1 => "recogs/v1",
            Self::RecogsV2 => "recogs/v2",
            Self::RecogsPositional => "recogs/positional",
        };
        name.to_owned()
    }

    /// The variant with this name; `cogs` alone is COGS itself.
    pub fn named(name: &str) -> Option<Self> {
        if name == "cogs" {
            return Some(Self::Main);
        }
        Self::ALL.into_iter().find(|variant| variant.name() == name)
    }

    /// How its logical forms are written.
    pub fn notation(self) -> Notation {
        match self {
            Self::Remove(removal) => Notation::Reduced(removal),
            Self::VariableFree => Notation::VariableFree,
            Self::RecogsV1 | Self::RecogsV2 | Self::RecogsPositional => Notation::Recogs,
            _ => Notation::Cogs,
        }
    }

    /// Whether `--seed official` gives the released bytes: the others hung on the order of a set, which CPython draws
    /// anew for each process.
    pub fn is_repeatable(self) -> bool {
        !matches!(self, Self::Participial { .. } | Self::RecogsV1 | Self::RecogsV2)
    }
}

/// Why rows could not be converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvertError {
    /// Which row, from 0.
    pub row: usize,
    /// What is wrong with it.
    pub what: String,
}

/// What a conversion makes.
pub type Converted = Result<Vec<Row>, ConvertError>;

/// Converts the rows of a part of COGS. Only `train` is added to and altered; the other parts change how their logical
/// forms are written, and no more.
pub fn convert(variant: Variant, part: &str, rows: Vec<Row>, draws: Draws) -> Converted {
    let is_train = part == "train";
    match variant {
        Variant::Main => Ok(rows),
        Variant::Remove(removal) => Ok(remove::convert(rows, removal)),
        Variant::VariableFree => each_form(rows, |form| form.print(Notation::VariableFree)),
        Variant::Concat(number) if is_train => concat::convert(rows, number),
        Variant::Preposing if is_train => prepose::convert(rows, &mut draws.dice(variant)),
        Variant::PreposingFiller if is_train => {
            let mut dice = draws.dice(variant);
            let rows = prepose::convert(rows, &mut dice)?;
            filler::convert(rows, &mut dice, filler::Naming::Replace)
        }
        Variant::Participial { easy } if is_train => {
            participial::convert(rows, &mut draws.dice(variant), easy)
        }
        Variant::RecogsV1 | Variant::RecogsV2 | Variant::RecogsPositional => {
            recogs::convert(variant, part, rows, draws)
        }
        Variant::Concat(_) | Variant::Preposing | Variant::PreposingFiller | Variant::Participial { .. } => {
            Ok(rows)
        }
    }
}

/// Rewrites each logical form.
fn each_form(mut rows: Vec<Row>, rewrite: impl Fn(&Form<'_>) -> String) -> Converted {
    for (i, row) in rows.iter_mut().enumerate() {
        row.form = rewrite(&form_of(row, i)?);
    }
    Ok(rows)
}

/// The logical form of a row of COGS.
fn form_of(row: &Row, i: usize) -> Result<Form<'_>, ConvertError> {
    let wrong = |error: ParseError| ConvertError { row: i, what: format!("the logical form, {error}") };
    Form::parse(&row.form, Notation::Cogs).map_err(wrong)
}

#[cfg(test)]
mod tests;
