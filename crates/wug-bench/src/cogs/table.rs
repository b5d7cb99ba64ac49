//! Rows as a table with facts.

use std::sync::Arc;

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
    let mut table = Table {
        inputs: Sequences::new(Vocab::default(), " "),
        targets: Sequences::new(Vocab::default(), " "),
        facts: Facts::default(),
    };
    let mut of_parts = Vec::with_capacity(parts.len());
    for (part, rows) in parts {
        let first = table.inputs.len() as u32;
        for row in rows {
            // By single spaces, so that what a release has comes back byte for byte.
            table.inputs.push_words(row.sentence.split(' '));
            table.targets.push_words(row.form.split(' '));
        }
        of_parts.push(Part::new(part.as_str(), (first..table.inputs.len() as u32).collect()));
    }
    let rows = || parts.iter().flat_map(|(_, rows)| rows);
    let count = |row: &Row, counted: fn(&str) -> bool| {
        row.sentence.split(' ').filter(|word| counted(word)).count() as i64
    };
    let that = |row: &Row| count(row, |word| word == "that");
    let prepositions = |row: &Row| count(row, is_preposition);
    let mut facts = Facts::default();
    facts.add_labels("type", rows().map(|row| row.kind.as_str()));
    facts.add_labels("group", rows().map(|row| types::group(&row.kind)));
    facts.add_numbers("length", rows().map(|row| row.sentence.split(' ').count() as i64));
    facts.add_numbers("target_length", rows().map(|row| row.form.split(' ').count() as i64));
    facts.add_numbers("that_depth", rows().map(that));
    facts.add_numbers("pp_depth", rows().map(prepositions));
    facts.add_numbers("depth", rows().map(|row| that(row).max(prepositions(row))));
    table.facts = facts;
    (table, of_parts)
}
