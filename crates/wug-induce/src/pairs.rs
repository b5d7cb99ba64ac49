//! Training pairs as numbers.

use std::collections::BTreeMap;

use wug_grammar::Vocab;

/// Distinct training pairs with their counts, in the order they first came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairs {
    pub source: Vocab,
    pub target: Vocab,
    /// Source, target, count.
    pub rows: Vec<(Vec<u32>, Vec<u32>, f64)>,
}

/// Longer rows are not learned from.
const MAX_SOURCE: usize = 200;
const MAX_TARGET: usize = 4000;

impl Pairs {
    pub(crate) fn new<S: AsRef<str>, T: AsRef<str>>(pairs: impl IntoIterator<Item = (S, T)>) -> Self {
        let mut all = Self::default();
        let mut index: BTreeMap<(Vec<u32>, Vec<u32>), usize> = BTreeMap::new();
        for (source, target) in pairs {
            let length = |text: &str, most: usize| text.split_whitespace().take(most + 1).count();
            if length(source.as_ref(), MAX_SOURCE) > MAX_SOURCE
                || length(target.as_ref(), MAX_TARGET) > MAX_TARGET
            {
                continue;
            }
            let source: Vec<u32> =
                source.as_ref().split_whitespace().map(|word| all.source.add(word)).collect();
            let target: Vec<u32> =
                target.as_ref().split_whitespace().map(|word| all.target.add(word)).collect();
            let rows = &mut all.rows;
            let row = *index.entry((source, target)).or_insert_with_key(|(source, target)| {
                rows.push((source.clone(), target.clone(), 0.0));
                rows.len() - 1
            });
            all.rows[row].2 += 1.0;
        }
        all
    }

    /// The rows, those with the shortest sources first.
    pub(crate) fn shortest_first(&self) -> impl Iterator<Item = &(Vec<u32>, Vec<u32>, f64)> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&i| (self.rows[i].0.len(), i));
        order.into_iter().map(|i| &self.rows[i])
    }

    /// The share of sources with several targets, and of targets with several sources.
    pub(crate) fn ambiguity(&self) -> (f64, f64) {
        let share = |side: fn(&(Vec<u32>, Vec<u32>, f64)) -> &Vec<u32>| {
            let mut counts: BTreeMap<&Vec<u32>, usize> = BTreeMap::new();
            self.rows.iter().for_each(|row| *counts.entry(side(row)).or_default() += 1);
            counts.values().filter(|&&count| count > 1).count() as f64 / counts.len().max(1) as f64
        };
        (share(|row| &row.0), share(|row| &row.1))
    }

    /// The same pairs the other way round.
    pub(crate) fn reversed(self) -> Self {
        let rows = self.rows.into_iter().map(|(source, target, n)| (target, source, n));
        let mut rows: Vec<_> = rows.collect();
        rows.retain(|row| row.0.len() <= MAX_SOURCE);
        Self { source: self.target, target: self.source, rows }
    }
}
