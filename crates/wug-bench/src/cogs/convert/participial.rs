//! Participial verb phrases: `A leaf froze .` becomes `A leaf painting the spaceship froze .`
//!
//! The release drew nouns from a list whose order hung on the hash seed of its process; here the list is sorted. All
//! else is as there.

use std::collections::BTreeSet;

use super::super::files::Row;
use super::super::lexicon::PARTICIPLES;
use super::super::lf::{Conjunct, Form, Notation, Term};
use super::draws::Dice;
use super::positions::{place, renumber, sort};
use super::{ConvertError, Converted, form_of};

/// How many of the rows that can take a phrase get one.
const SHARE: f64 = 0.15;

/// A phrase to be put behind a noun.
struct Phrase {
    lemma: &'static str,
    participle: &'static str,
    noun: String,
    definite: bool,
}

/// Adds one or two phrases to a share of the rows that start with an article. `easy` writes `nmod` for `acl`.
pub fn convert(mut rows: Vec<Row>, dice: &mut Dice, easy: bool) -> Converted {
    dice.pass("participial");
    let nouns = nouns(&rows)?;
    for (i, row) in rows.iter_mut().enumerate() {
        dice.row(i);
        if let Some(extended) = extend(row, i, &nouns, dice, easy)? {
            *row = extended;
        }
    }
    Ok(rows)
}

/// The nouns of all logical forms.
fn nouns(rows: &[Row]) -> Result<Vec<String>, ConvertError> {
    let mut nouns = BTreeSet::new();
    for (i, row) in rows.iter().enumerate() {
        for conjunct in form_of(row, i)?.conjuncts {
            if let (Some(head), [_]) = (conjunct.head, conjunct.arguments.as_slice()) {
                nouns.insert(head.into_owned());
            }
        }
    }
    Ok(nouns.into_iter().collect())
}

fn extend(
    row: &Row,
    i: usize,
    nouns: &[String],
    dice: &mut Dice,
    easy: bool,
) -> Result<Option<Row>, ConvertError> {
    if !(row.sentence.starts_with("A ") || row.sentence.starts_with("The ")) {
        return Ok(None);
    }
    let fail = |what: &str| ConvertError { row: i, what: what.to_owned() };
    let mut form = form_of(row, i)?;
    let theme =
        form.conjuncts.iter().rev().find(|conjunct| conjunct.relation.last().is_some_and(|r| r == "theme"));
    let theme = theme.and_then(|conjunct| conjunct.arguments.get(1));
    let object = match theme {
        Some(theme) => match place(theme) {
            Some(place) => Some(place),
            None => return Ok(None),
        },
        None => None,
    };
    if dice.unit() >= SHARE {
        return Ok(None);
    }
    // The subject is the word behind the article.
    let (side, at) = match object {
        Some(object) if dice.unit() >= 0.5 => ("obj", object),
        _ => ("subj", 1),
    };
    let mut phrases = vec![draw(nouns, dice)];
    if dice.unit() < 0.5 {
        phrases.push(draw(nouns, dice));
    }

    let width = 3 * phrases.len();
    renumber(&mut form, |place| if place > at { place.checked_add(width) } else { Some(place) })
        .map_err(|what| ConvertError { row: i, what })?;
    let mut words: Vec<&str> = row.sentence.split(' ').collect();
    if at >= words.len() {
        return Err(fail("the theme is no place in the sentence"));
    }
    let head = head_at(&form, at).ok_or_else(|| fail("no noun at the place to be modified"))?;
    let inserted = phrases.iter().flat_map(|phrase| {
        [phrase.participle, if phrase.definite { "the" } else { "a" }, phrase.noun.as_str()]
    });
    words.splice(at + 1..=at, inserted);
    let relation = if easy { "nmod" } else { "acl" };
    let (mut above, mut above_at) = (head, at);
    for (n, phrase) in phrases.iter().enumerate() {
        let below = at + 3 * (n + 1);
        let noun = Conjunct::one_place(phrase.noun.clone(), Term::numbered(below));
        form.conjuncts.push(Conjunct { definite: phrase.definite, ..noun });
        form.conjuncts.push(Conjunct::two_place(
            Some(above.into()),
            vec![relation.into(), phrase.lemma.into()],
            Term::numbered(above_at),
            Term::numbered(below),
        ));
        (above, above_at) = (phrase.noun.clone(), below);
    }
    sort(&mut form, &words);
    let nested = if phrases.len() > 1 { "_nested" } else { "" };
    Ok(Some(Row {
        sentence: words.join(" "),
        form: form.print(Notation::Cogs),
        kind: format!("{side}_participle_verb_phrase{nested}"),
    }))
}

fn draw(nouns: &[String], dice: &mut Dice) -> Phrase {
    let &(lemma, participle) = dice.choose(&PARTICIPLES);
    let noun = dice.choose(nouns).clone();
    let definite = dice.unit() >= 0.5;
    Phrase { lemma, participle, noun, definite }
}

/// The noun whose variable has this place.
fn head_at(form: &Form<'_>, at: usize) -> Option<String> {
    let mut nouns = form.conjuncts.iter().filter(|conjunct| conjunct.arguments.len() == 1);
    let noun = nouns.find(|conjunct| place(&conjunct.arguments[0]) == Some(at))?;
    noun.head.as_ref().map(ToString::to_string)
}
