//! Filler words: `um` strewn into sentences.

use super::super::files::Row;
use super::super::lf::Notation;
use super::draws::Dice;
use super::positions::renumber;
use super::{ConvertError, Converted, form_of};

/// How many rows get filler words. The paper speaks of rows with a prepositional phrase; the release has them in any.
const SHARE: f64 = 0.05;

/// What becomes of the type of a row that gets filler words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// `sprinkle`, as in the variant of COGS.
    Replace,
    /// The old type and `+sprinkle`, as in ReCOGS.
    Append,
}

/// Strews `um` into a share of all rows. Primitives have no room for it and only change their type.
pub fn convert(mut rows: Vec<Row>, dice: &mut Dice, naming: Naming) -> Converted {
    dice.pass("filler");
    for (i, row) in rows.iter_mut().enumerate() {
        dice.row(i);
        if dice.unit() < SHARE {
            sprinkle(row, dice).map_err(|what| ConvertError { row: i, what })?;
            row.kind = match naming {
                Naming::Replace => "sprinkle".to_owned(),
                Naming::Append => format!("{}+sprinkle", row.kind),
            };
        }
    }
    Ok(rows)
}

fn sprinkle(row: &mut Row, dice: &mut Dice) -> Result<(), String> {
    let words: Vec<&str> = row.sentence.split(' ').collect();
    let mut sentence = Vec::with_capacity(2 * words.len());
    let mut places = Vec::with_capacity(words.len());
    for (i, word) in words.iter().enumerate() {
        places.push(sentence.len());
        sentence.push(*word);
        // Neither behind the first word nor before the full stop.
        if i > 0 && i + 2 < words.len() && dice.unit() > 0.5 {
            let fillers = *dice.choose(&[1, 2, 3]);
            sentence.extend(std::iter::repeat_n("um", fillers));
        }
    }
    let mut form = form_of(row, 0).map_err(|error| error.what)?;
    renumber(&mut form, |old| places.get(old).copied())?;
    let form = form.print(Notation::Cogs);
    row.sentence = sentence.join(" ");
    row.form = form;
    Ok(())
}
