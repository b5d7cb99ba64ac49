//! Concatenation: three sentences and their logical forms made one, to train on greater lengths.

use super::super::files::Row;
use super::super::lf::{Form, Notation};
use super::positions::{inside, rejoin, renumber};
use super::{ConvertError, Converted, form_of, numpy};

/// Adds `number` rows, each made of three; fewer if the rows do not suffice.
pub fn convert(mut rows: Vec<Row>, number: usize) -> Converted {
    let sources: Vec<usize> = (0..rows.len()).filter(|&i| rows[i].kind != "primitive").collect();
    for triple in triples(&rows, &sources, number) {
        let joined = join_cogs(&rows, triple)?;
        rows.push(joined);
    }
    Ok(rows)
}

/// Which rows are joined: the longest first, three of every six.
pub(super) fn triples(rows: &[Row], sources: &[usize], number: usize) -> Vec<[usize; 3]> {
    let lengths: Vec<usize> = sources.iter().map(|&i| rows[i].sentence.chars().count()).collect();
    let longest: Vec<usize> = numpy::argsort(&lengths).into_iter().rev().map(|i| sources[i]).collect();
    longest.chunks(6).filter_map(|six| six.first_chunk().copied()).take(number).collect()
}

/// The sentences as one: a full stop at the end only, articles without the capital inside.
pub(super) fn join_sentences(parts: [&str; 3]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for (i, part) in parts.into_iter().enumerate() {
        for (j, word) in part.split(' ').filter(|word| *word != ".").enumerate() {
            words.push(if i > 0 && j == 0 { inside(word) } else { word });
        }
    }
    words.push(".");
    words.join(" ")
}

/// The forms as one: a given number of conjuncts of each come before all others.
pub(super) fn join_forms(parts: [(Form<'_>, usize); 3]) -> Form<'_> {
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for (mut form, apart) in parts {
        behind.extend(form.conjuncts.split_off(apart));
        before.append(&mut form.conjuncts);
    }
    let apart = before.len();
    before.append(&mut behind);
    rejoin(&mut before, apart);
    Form { lambdas: Vec::new(), opens_with_semicolon: apart == 0, conjuncts: before }
}

/// Moves the variables of each form behind the sentences before it.
pub(super) fn shift(sentences: [&str; 3], forms: &mut [Form<'_>; 3]) -> Result<(), String> {
    let mut by = 0;
    for (sentence, form) in sentences.into_iter().zip(forms) {
        renumber(form, |place| place.checked_add(by))?;
        by += sentence.split(' ').filter(|word| *word != ".").count();
    }
    Ok(())
}

fn join_cogs(rows: &[Row], triple: [usize; 3]) -> Result<Row, ConvertError> {
    let [a, b, c] = triple;
    let sentences = triple.map(|i| rows[i].sentence.as_str());
    let mut forms = [form_of(&rows[a], a)?, form_of(&rows[b], b)?, form_of(&rows[c], c)?];
    shift(sentences, &mut forms).map_err(|what| ConvertError { row: a, what })?;
    let definites = |form: &Form<'_>| form.conjuncts.iter().take_while(|conjunct| conjunct.definite).count();
    let form = join_forms(forms.map(|form| {
        let apart = definites(&form);
        (form, apart)
    }));
    Ok(Row {
        sentence: join_sentences(sentences),
        form: form.print(Notation::Cogs),
        kind: "concat".to_owned(),
    })
}
