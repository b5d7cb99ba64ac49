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

impl Pairs {
    pub fn new<S: AsRef<str>, T: AsRef<str>>(pairs: impl IntoIterator<Item = (S, T)>) -> Self {
        let mut all = Self::default();
        let mut index: BTreeMap<(Vec<u32>, Vec<u32>), usize> = BTreeMap::new();
        for (source, target) in pairs {
            let source: Vec<u32> = source.as_ref().split_whitespace().map(|word| all.source.add(word)).collect();
            let target: Vec<u32> = target.as_ref().split_whitespace().map(|word| all.target.add(word)).collect();
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
    pub fn shortest_first(&self) -> impl Iterator<Item = &(Vec<u32>, Vec<u32>, f64)> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&i| (self.rows[i].0.len(), i));
        order.into_iter().map(|i| &self.rows[i])
    }
}
