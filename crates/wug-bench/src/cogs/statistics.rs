//! Figures of the ReCOGS paper: sizes (Table 8), lengths (Fig. 3), and the words behind a comma (Fig. 2).

use std::collections::HashMap;

use wug_data::{Dataset, Sequences};

use crate::Statistic;
use crate::statistics::usual;

/// The tokens that mark variables; without them the words behind a comma are more even.
const MARKS: [&str; 2] = ["x", "_"];

/// All of them.
pub fn statistics(dataset: &Dataset) -> Vec<Statistic> {
    let mut statistics = usual(dataset);
    let vocab = dataset.table.targets.vocab();
    if let (Some(comma), Some(part)) = (vocab.get(","), dataset.parts.first()) {
        let marks: Vec<u32> = MARKS.iter().filter_map(|mark| vocab.get(mark)).collect();
        let mut add = |name: &str, title: String, skipped: &[u32]| {
            statistics.push(Statistic {
                name: name.to_owned(),
                title,
                columns: vec![part.name.clone()],
                rows: behind(&dataset.table.targets, &part.rows, comma, skipped),
                shares: false,
                notes: Vec::new(),
            });
        };
        add("after-comma", format!("words behind a comma in the targets of {}", part.name), &[]);
        if marks.len() == MARKS.len() {
            let title =
                format!("words behind a comma in the targets of {}, without {}", part.name, MARKS.join(" "));
            add("after-comma-reduced", title, &marks);
        }
    }
    statistics
}

/// The words behind a token, most frequent first, `skipped` tokens left out.
fn behind(sequences: &Sequences, rows: &[u32], token: u32, skipped: &[u32]) -> Vec<(String, Vec<f64>)> {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for &row in rows {
        let mut last = None;
        for &id in sequences.get(row).ids().iter().filter(|id| !skipped.contains(id)) {
            if last == Some(token) {
                *counts.entry(id).or_default() += 1;
            }
            last = Some(id);
        }
    }
    let mut counts: Vec<(&str, usize)> =
        counts.into_iter().map(|(id, count)| (sequences.vocab().word(id), count)).collect();
    counts.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
    counts.into_iter().map(|(word, count)| (word.to_owned(), vec![count as f64])).collect()
}
