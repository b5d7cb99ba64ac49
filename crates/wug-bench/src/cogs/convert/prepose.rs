//! Preposing: `A horse gave the cake beside a table to the mouse .` becomes
//! `The cake beside a table a horse gave to the mouse .`

use super::super::files::Row;
use super::super::lexicon::is_preposition;
use super::super::lf::Notation;
use super::draws::Dice;
use super::positions::{capitalised, inside, renumber, sort};
use super::{ConvertError, Converted, form_of};

/// How many of the rows that have a prepositional phrase are preposed.
const SHARE: f64 = 0.05;

/// Moves the modified noun phrase to the front in a share of the rows that have one.
pub fn convert(mut rows: Vec<Row>, dice: &mut Dice) -> Converted {
    dice.pass("prepose");
    for (i, row) in rows.iter_mut().enumerate() {
        let words: Vec<&str> = row.sentence.split(' ').collect();
        let Some(first) = words.iter().position(|word| is_preposition(word)) else { continue };
        dice.row(i);
        if dice.unit() < SHARE {
            *row = prepose(row, &words, first).map_err(|what| ConvertError { row: i, what })?;
        }
    }
    Ok(rows)
}

/// `first` is the place of the first preposition.
fn prepose(row: &Row, words: &[&str], first: usize) -> Result<Row, String> {
    let phrases = words.iter().filter(|word| is_preposition(word)).count();
    // Article and noun, then preposition, article and noun for each phrase.
    let start = first.checked_sub(2).ok_or("a preposition without a noun phrase before it")?;
    let end = (first + 3 * phrases).min(words.len());
    let order: Vec<usize> = (start..end).chain(0..start).chain(end..words.len()).collect();

    let mut moved: Vec<String> = order.iter().map(|&old| inside(words[old]).to_owned()).collect();
    moved[0] = capitalised(&moved[0]);
    let mut form = form_of(row, 0).map_err(|error| error.what)?;
    renumber(&mut form, |old| order.iter().position(|&place| place == old))?;
    let new_words: Vec<&str> = moved.iter().map(String::as_str).collect();
    sort(&mut form, &new_words);
    Ok(Row {
        sentence: moved.join(" "),
        form: form.print(Notation::Cogs),
        kind: format!("preposing_{phrases}"),
    })
}
