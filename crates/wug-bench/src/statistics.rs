//! What a dataset looks like, for `show --stats`: what every benchmark has.

use std::collections::BTreeSet;

use wug_data::{Dataset, Sequences};

use crate::Statistic;

/// Sizes of the parts, and how long inputs and targets are.
pub(crate) fn usual(dataset: &Dataset) -> Vec<Statistic> {
    let table = &dataset.table;
    vec![
        sizes(dataset),
        lengths(dataset, &table.inputs, "input-length", "length of the input in tokens"),
        lengths(dataset, &table.targets, "target-length", "length of the target in tokens"),
    ]
}

fn sizes(dataset: &Dataset) -> Statistic {
    Statistic {
        name: "sizes".to_owned(),
        title: "examples".to_owned(),
        columns: vec!["examples".to_owned()],
        rows: dataset.parts.iter().map(|part| (part.name.clone(), vec![part.rows.len() as f64])).collect(),
        shares: false,
        notes: Vec::new(),
    }
}

fn lengths(dataset: &Dataset, sequences: &Sequences, name: &str, title: &str) -> Statistic {
    let length = |&row: &u32| sequences.get(row).ids().len();
    let seen: BTreeSet<usize> = dataset.parts.iter().flat_map(|part| part.rows.iter().map(length)).collect();
    let lengths: Vec<usize> = seen.into_iter().collect();
    let mut rows: Vec<(String, Vec<f64>)> =
        lengths.iter().map(|length| (length.to_string(), vec![0.0; dataset.parts.len()])).collect();
    for (column, part) in dataset.parts.iter().enumerate() {
        for row in &part.rows {
            let at = lengths.binary_search(&length(row)).expect("every length was seen");
            rows[at].1[column] += 1.0;
        }
        for (_, shares) in &mut rows {
            shares[column] /= part.rows.len().max(1) as f64;
        }
    }
    Statistic {
        name: name.to_owned(),
        title: title.to_owned(),
        columns: dataset.parts.iter().map(|part| part.name.clone()).collect(),
        rows,
        shares: true,
        notes: Vec::new(),
    }
}
