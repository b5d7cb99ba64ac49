//! Statistics of the paper: how many examples there are (Table A1), how many images (Fig. A1), and how symbols, lengths
//! and values are distributed (Fig. A2).

use std::collections::BTreeMap;

use wug_data::{Dataset, Fact, FactValue, Part};

use super::grammar::SYMBOLS;
use super::pictures::strips;
use super::splits::SUBSETS;
use crate::Statistic;

/// All of them.
pub fn statistics(dataset: &Dataset) -> Vec<Statistic> {
    let mut statistics = vec![sizes(dataset), symbols(dataset)];
    for (name, title) in [
        ("operators", "number of operators"),
        ("length", "length in symbols"),
        ("depth", "depth of the tree"),
        ("dependency", "longest dependency"),
        ("result", "result"),
    ] {
        if let Ok(fact) = dataset.table.facts.column(name) {
            statistics.push(distribution(dataset, fact, title));
        }
    }
    statistics.extend(images(dataset));
    statistics
}

fn columns(dataset: &Dataset) -> Vec<String> {
    dataset.parts.iter().map(|part| part.name.clone()).collect()
}

fn sizes(dataset: &Dataset) -> Statistic {
    let subset = dataset.table.facts.column("subset").ok();
    let count = |part: &Part, wanted: &str| {
        let is_it = |row: &&u32| subset.is_some_and(|fact| fact.value(**row) == FactValue::Label(wanted));
        part.rows.iter().filter(is_it).count() as f64
    };
    let mut rows: Vec<(String, Vec<f64>)> =
        vec![("all".to_owned(), dataset.parts.iter().map(|part| part.rows.len() as f64).collect())];
    for name in SUBSETS {
        rows.push((name.to_owned(), dataset.parts.iter().map(|part| count(part, name)).collect()));
    }
    Statistic {
        name: "size".to_owned(),
        title: "examples of each subset (Table A1)".to_owned(),
        columns: columns(dataset),
        rows,
        shares: false,
        notes: Vec::new(),
    }
}

/// The share of each symbol, and how far test is from train.
fn symbols(dataset: &Dataset) -> Statistic {
    let share = |part: &Part| {
        let mut counts = [0u64; SYMBOLS.len()];
        for &row in &part.rows {
            dataset.table.inputs.get(row).ids().iter().for_each(|&symbol| counts[symbol as usize] += 1);
        }
        let total: u64 = counts.iter().sum();
        counts.map(|count| count as f64 / total.max(1) as f64)
    };
    let shares: Vec<[f64; SYMBOLS.len()]> = dataset.parts.iter().map(share).collect();
    let rows = SYMBOLS.chars().enumerate();
    let rows: Vec<(String, Vec<f64>)> = rows
        .map(|(i, symbol)| (symbol.to_string(), shares.iter().map(|part| part[i]).collect()))
        .filter(|(_, shares): &(String, Vec<f64>)| shares.iter().any(|&share| share > 0.0))
        .collect();
    with_divergence("symbol", "symbol (Fig. A2)", dataset, rows)
}

fn distribution(dataset: &Dataset, fact: &Fact, title: &str) -> Statistic {
    let parts = dataset.parts.len();
    let mut counts: BTreeMap<FactValue<'_>, Vec<f64>> = BTreeMap::new();
    for (i, part) in dataset.parts.iter().enumerate() {
        let weight = 1.0 / part.rows.len().max(1) as f64;
        let mut own: BTreeMap<FactValue<'_>, u64> = BTreeMap::new();
        part.rows.iter().for_each(|&row| *own.entry(fact.group(row)).or_default() += 1);
        for (value, count) in own {
            counts.entry(value).or_insert_with(|| vec![0.0; parts])[i] = count as f64 * weight;
        }
    }
    let rows = counts.into_iter().map(|(value, shares)| (value.to_string(), shares)).collect();
    with_divergence(fact.name(), &format!("{title} (Fig. A2)"), dataset, rows)
}

fn with_divergence(name: &str, title: &str, dataset: &Dataset, rows: Vec<(String, Vec<f64>)>) -> Statistic {
    let place = |name: &str| dataset.parts.iter().position(|part| part.name == name);
    let notes = match (place("train"), place("test")) {
        (Some(train), Some(test)) => {
            let terms = rows.iter().map(|(_, shares)| (shares[train], shares[test]));
            vec![format!("KL(train || test) = {}", divergence(terms))]
        }
        _ => Vec::new(),
    };
    Statistic {
        name: name.to_owned(),
        title: title.to_owned(),
        columns: columns(dataset),
        rows,
        shares: true,
        notes,
    }
}

/// The Kullback-Leibler divergence in nats, as it is printed: infinite where the second has nothing.
fn divergence(shares: impl Iterator<Item = (f64, f64)>) -> String {
    let sum: f64 = shares.filter(|(p, _)| *p > 0.0).map(|(p, q)| p * (p / q).ln()).sum();
    if sum.is_finite() { format!("{sum:.4}") } else { "infinite".to_owned() }
}

/// How many images of each symbol the parts draw from.
fn images(dataset: &Dataset) -> Option<Statistic> {
    let rows = strips(dataset)?.image_counts();
    Some(Statistic {
        name: "image".to_owned(),
        title: "images of each symbol (Fig. A1)".to_owned(),
        columns: columns(dataset),
        rows: rows
            .into_iter()
            .map(|(symbol, counts)| (symbol, counts.iter().map(|&count| count as f64).collect()))
            .collect(),
        shares: false,
        notes: Vec::new(),
    })
}
