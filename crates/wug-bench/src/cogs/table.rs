//! Rows as a table with facts.

use std::sync::Arc;

use rayon::prelude::*;
use wug_data::{Dataset, Facts, Part, Sequences, Table, Vocab};

use super::files::Row;
use super::lexicon::is_preposition;
use super::types;

/// The rows of all parts as one table.
pub(super) fn dataset(name: String, parts: Vec<(String, Vec<Row>)>) -> Dataset {
    let (table, parts) = table(&parts);
    Dataset { name, table: Arc::new(table), parts, pictures: None }
}

/// The rows of all parts, and which of them belong to each.
pub(super) fn table(parts: &[(String, Vec<Row>)]) -> (Table, Vec<Part>) {
    let mut of_parts = Vec::with_capacity(parts.len());
    let mut first = 0;
    for (part, rows) in parts {
        let end = first + rows.len() as u32;
        of_parts.push(Part::new(part.as_str(), (first..end).collect()));
        first = end;
    }
    let rows: Vec<&Row> = parts.iter().flat_map(|(_, rows)| rows).collect();
    // By single spaces, so that what a release has comes back byte for byte.
    let words = |text: fn(&Row) -> &str| {
        let mut sequences = Sequences::new(Vocab::default(), " ");
        for row in &rows {
            sequences.push_words(text(row).split(' '));
        }
        sequences
    };
    let (facts, (inputs, targets)) = rayon::join(
        || facts(&rows),
        || rayon::join(|| words(|row| &row.sentence), || words(|row| &row.form)),
    );
    (Table { inputs, targets, facts }, of_parts)
}

fn facts(rows: &[&Row]) -> Facts {
    let numbers: Vec<[i64; 4]> = rows
        .par_iter()
        .map(|row| {
            let count = |counted: fn(&str) -> bool| {
                row.sentence.split(' ').filter(|word| counted(word)).count() as i64
            };
            let target_length = row.form.split(' ').count() as i64;
            [count(|_| true), target_length, count(|word| word == "that"), count(is_preposition)]
        })
        .collect();
    let mut facts = Facts::default();
    facts.add_labels("type", rows.iter().map(|row| row.kind.as_str()));
    facts.add_labels("group", rows.iter().map(|row| types::group(&row.kind)));
    for (i, name) in ["length", "target_length", "that_depth", "pp_depth"].into_iter().enumerate() {
        facts.add_numbers(name, numbers.iter().map(|row| row[i]));
    }
    facts.add_numbers("depth", numbers.iter().map(|[_, _, that, prepositions]| *that.max(prepositions)));
    facts
}
