//! ReCOGS: names are predicates, events have predications of their own, entities come first.

use std::borrow::Cow;
use std::collections::HashSet;

use rayon::prelude::*;
use wug_data::Streams;

use super::super::files::Row;
use super::super::lf::{Conjunct, Form, Join, Notation, Term};
use super::concat::{join_forms, join_sentences, shift, triples};
use super::filler::{self, Naming};
use super::positions::{place, rejoin};
use super::rename::rename;
use super::{ConvertError, Converted, Draws, Variant, form_of, prepose};

/// How many rows the length augmentation adds to train (for each set of names).
const CONCATENATIONS: usize = 3072;
/// How many sets of names each row of train gets.
const PASSES: usize = 5;

/// Converts a part of COGS.
pub fn convert(variant: Variant, part: &str, mut rows: Vec<Row>, draws: Draws) -> Converted {
    let is_train = part == "train";
    if is_train && variant != Variant::RecogsV1 {
        let mut dice = draws.dice(variant);
        rows = prepose::convert(rows, &mut dice)?;
        rows = filler::convert(rows, &mut dice, Naming::Append)?;
    }
    let order = if variant == Variant::RecogsV1 { NmodOrder::First } else { NmodOrder::AsWords };
    for (i, row) in rows.iter_mut().enumerate() {
        let form =
            rewrite(form_of(row, i)?, &row.sentence, order).map_err(|what| ConvertError { row: i, what })?;
        row.form = form.print(Notation::Recogs);
    }
    if variant == Variant::RecogsPositional {
        return if is_train { lengthen(rows) } else { Ok(rows) };
    }
    // The names of the release hung on the hash seed of its process: these are wug's own.
    let seed = if let Draws::Seed(seed) = draws { seed } else { 0 };
    renamed(variant, part, rows, seed)
}

/// Where modifiers stand among the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NmodOrder {
    /// Before all verbs: version 1.
    First,
    /// In the order of COGS: version 2.
    AsWords,
}

/// The form of COGS as ReCOGS has it, with the variables of COGS.
pub fn rewrite<'t>(form: Form<'t>, sentence: &str, order: NmodOrder) -> Result<Form<'t>, String> {
    let words: Vec<&str> = sentence.split(' ').collect();
    let mut entities: Vec<(usize, Conjunct<'t>)> = Vec::new();
    let mut events: Vec<Conjunct<'t>> = Vec::new();
    let is_primitive = !form.lambdas.is_empty();
    for mut conjunct in form.conjuncts {
        match conjunct.arguments.len() {
            0 => return Ok(named_primitive(conjunct)),
            1 if !is_primitive => {
                let place = place(&conjunct.arguments[0]).ok_or("a noun whose variable is no place")?;
                entities.push((place, conjunct));
            }
            1 => events.push(conjunct),
            _ => {
                for argument in &mut conjunct.arguments {
                    name_to_variable(argument, &words, &mut entities)?;
                }
                let head = conjunct.head.take();
                if let (Some(head), false) = (head, conjunct.is_nmod()) {
                    let event = Conjunct::one_place(head, conjunct.arguments[0].clone());
                    if !events
                        .iter()
                        .any(|known| known.head == event.head && known.arguments == event.arguments)
                    {
                        events.push(event);
                    }
                }
                events.push(conjunct);
            }
        }
    }
    entities.sort_by_key(|(place, _)| *place);
    if order == NmodOrder::First {
        events.sort_by_key(|conjunct| !conjunct.is_nmod());
    }
    let number = entities.len();
    let mut conjuncts: Vec<Conjunct<'t>> = entities.into_iter().map(|(_, conjunct)| conjunct).collect();
    conjuncts.append(&mut events);
    rejoin(&mut conjuncts, number);
    Ok(Form { lambdas: form.lambdas, opens_with_semicolon: false, conjuncts })
}

/// `Emma` alone becomes `LAMBDA a . Emma ( a )`.
fn named_primitive(conjunct: Conjunct<'_>) -> Form<'_> {
    let arguments = vec![Term::Bound(Cow::Borrowed("a"))];
    Form {
        lambdas: vec![Cow::Borrowed("a")],
        opens_with_semicolon: false,
        conjuncts: vec![Conjunct { arguments, ..conjunct }],
    }
}

/// Replaces a name by a variable, and notes what it is the name of.
fn name_to_variable<'t>(
    argument: &mut Term<'t>,
    words: &[&str],
    entities: &mut Vec<(usize, Conjunct<'t>)>,
) -> Result<(), String> {
    let Term::Constant(name) = argument else { return Ok(()) };
    let place = words.iter().position(|word| *word == name.as_ref());
    let place = place.ok_or_else(|| format!("`{name}` is not in the sentence"))?;
    let variable = Term::numbered(place);
    let entity = Conjunct::one_place(std::mem::take(name), variable.clone());
    if !entities.iter().any(|(known, _)| *known == place) {
        entities.push((place, entity));
    }
    *argument = variable;
    Ok(())
}

/// The converted form of a row, and how many of its conjuncts are entities: those before the last `;`.
fn parse(row: &Row, i: usize) -> Result<(Form<'_>, usize), ConvertError> {
    let form = Form::parse(&row.form, Notation::Recogs)
        .map_err(|error| ConvertError { row: i, what: error.to_string() })?;
    let entities = form.conjuncts.iter().rposition(|conjunct| conjunct.join == Join::Semicolon);
    Ok((form, entities.unwrap_or(0)))
}

/// Three rows as one; `prepare` gives their variables new names.
fn join(
    rows: &[Row],
    triple: [usize; 3],
    kind: &str,
    prepare: impl FnOnce([&str; 3], &mut [Form<'_>; 3]) -> Result<(), String>,
) -> Result<Row, ConvertError> {
    let sentences = triple.map(|i| rows[i].sentence.as_str());
    let parsed = triple.iter().map(|&i| parse(&rows[i], i)).collect::<Result<Vec<_>, _>>()?;
    let (forms, entities): (Vec<Form<'_>>, Vec<usize>) = parsed.into_iter().unzip();
    let mut forms: [Form<'_>; 3] = forms.try_into().unwrap_or_default();
    prepare(sentences, &mut forms).map_err(|what| ConvertError { row: triple[0], what })?;
    let mut entities = entities.into_iter();
    let form = join_forms(forms.map(|form| (form, entities.next().unwrap_or(0))));
    Ok(Row { sentence: join_sentences(sentences), form: form.print(Notation::Recogs), kind: kind.to_owned() })
}

/// Adds concatenations of three rows, variables behind each other.
fn lengthen(mut rows: Vec<Row>) -> Converted {
    let all: Vec<usize> = (0..rows.len()).collect();
    for triple in triples(&rows, &all, CONCATENATIONS) {
        let row = join(&rows, triple, "concat", shift)?;
        rows.push(row);
    }
    Ok(rows)
}

/// Gives the variables of each row new names: once, or in `train` several times over, concatenations included.
fn renamed(variant: Variant, part: &str, rows: Vec<Row>, seed: u64) -> Converted {
    let dataset = variant.name();
    let pass = |name: &str| -> Result<Vec<Row>, ConvertError> {
        let streams = Streams::new(&dataset, name, seed);
        let row = |(i, row): (usize, &Row)| {
            let mut forms = [parse(row, i)?.0];
            rename(&mut forms, &mut streams.item(i as u64));
            Ok(Row { form: forms[0].print(Notation::Recogs), ..row.clone() })
        };
        rows.par_iter().enumerate().map(row).collect()
    };
    if part != "train" {
        return pass(part);
    }
    let mut made = Vec::new();
    for number in 0..PASSES {
        made.append(&mut pass(&format!("train-{number}"))?);
    }
    let all: Vec<usize> = (0..rows.len()).collect();
    let triples = triples(&rows, &all, CONCATENATIONS);
    for number in 0..PASSES {
        let streams = Streams::new(&dataset, &format!("concat-{number}"), seed);
        let joined = triples.par_iter().enumerate().map(|(i, triple)| {
            join(&rows, *triple, "length_ood", |_, forms| {
                rename(forms, &mut streams.item(i as u64));
                Ok(())
            })
        });
        made.append(&mut joined.collect::<Result<Vec<Row>, ConvertError>>()?);
    }
    let mut seen: HashSet<Row> = HashSet::with_capacity(made.len());
    made.retain(|row| seen.insert(row.clone()));
    Ok(made)
}
