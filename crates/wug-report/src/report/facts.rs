//! Accuracy and reasons by the values of every fact.

use std::collections::{BTreeMap, HashMap};

use wug_data::{Fact, FactValue};
use wug_run::{Group, GroupValue, Groups, Tally};

use super::ReasonsByFact;
use crate::JudgedPart;

/// A plot has at most this many values of a fact.
const MOST_VALUES: usize = 40;
/// Reasons that are shown by fact.
const MOST_REASONS: usize = 10;

/// For each example the number of its group, and the names of the groups in order.
pub(super) struct Grouped {
    pub(super) names: Vec<GroupValue>,
    pub(super) of: Vec<usize>,
}

/// Groups examples by a fact. Numbers with too many values are put in ranges with about equally many examples; of words
/// with too many values the most frequent stay, and the others are one group.
pub(super) fn grouped(part: &JudgedPart, fact: &Fact) -> Grouped {
    let values: Vec<FactValue<'_>> = part.rows.iter().map(|&row| fact.group(row)).collect();
    let mut counts: BTreeMap<FactValue<'_>, usize> = BTreeMap::new();
    for &value in &values {
        *counts.entry(value).or_default() += 1;
    }
    let mut names: Vec<GroupValue> = Vec::new();
    let mut group_of: HashMap<FactValue<'_>, usize> = HashMap::new();
    let is_number = counts.keys().all(|value| matches!(value, FactValue::Number(_)));
    if counts.len() <= MOST_VALUES {
        for &value in counts.keys() {
            group_of.insert(value, names.len());
            names.push(value.into());
        }
    } else if is_number {
        let target = values.len().div_ceil(MOST_VALUES / 2);
        let mut range: Vec<FactValue<'_>> = Vec::new();
        let (mut size, last) = (0, counts.keys().next_back().copied());
        for (&value, &count) in &counts {
            range.push(value);
            group_of.insert(value, names.len());
            size += count;
            if size >= target || Some(value) == last {
                let label =
                    if range.len() == 1 { value.to_string() } else { format!("{} to {value}", range[0]) };
                names.push(GroupValue::Label(label));
                range.clear();
                size = 0;
            }
        }
    } else {
        let mut frequent: Vec<(FactValue<'_>, usize)> = counts.into_iter().collect();
        frequent.sort_by_key(|&(value, count)| (std::cmp::Reverse(count), value));
        for (i, (value, _)) in frequent.into_iter().enumerate() {
            group_of.insert(value, i.min(MOST_VALUES - 1));
            if i < MOST_VALUES - 1 {
                names.push(value.into());
            }
        }
        names.push(GroupValue::Label("others".to_owned()));
    }
    let of = values.iter().map(|value| group_of[value]).collect();
    Grouped { names, of }
}

/// Accuracy by groups.
pub(super) fn accuracy(part: &JudgedPart, fact: &Fact, grouped: &Grouped) -> Groups {
    let mut tallies = vec![Tally::default(); grouped.names.len()];
    for (&group, verdict) in grouped.of.iter().zip(&part.verdicts) {
        let tally = &mut tallies[group];
        tally.n += 1;
        tally.correct += usize::from(verdict.correct);
        tally.undecided += usize::from(verdict.undecided);
    }
    let groups = grouped.names.iter().cloned().zip(tallies);
    let groups = groups.map(|(value, tally)| Group { value, tally }).collect();
    Groups { fact: fact.name().to_owned(), groups }
}

/// How many examples of each group are wrong for the most frequent reasons; `reasons` has for each example a text if it is
/// wrong.
pub(super) fn reasons(fact: &Fact, grouped: &Grouped, reasons: &[Option<&str>]) -> ReasonsByFact {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in reasons.iter().flatten() {
        *counts.entry(reason).or_default() += 1;
    }
    let mut frequent: Vec<(&str, usize)> = counts.into_iter().collect();
    frequent.sort_by_key(|&(reason, count)| (std::cmp::Reverse(count), reason));
    let shown: Vec<&str> = frequent.iter().take(MOST_REASONS).map(|(reason, _)| *reason).collect();
    let mut table: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (&group, reason) in grouped.of.iter().zip(reasons) {
        let Some(reason) = reason else { continue };
        let name = if shown.contains(reason) { reason } else { "other reasons" };
        let row = table.entry(name.to_owned()).or_insert_with(|| vec![0; grouped.names.len()]);
        row[group] += 1;
    }
    let values = grouped.names.iter().map(ToString::to_string).collect();
    ReasonsByFact { fact: fact.name().to_owned(), values, reasons: table }
}
