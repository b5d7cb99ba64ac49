//! Spans of a row whose value is known, and the frames that they make of it.

use std::collections::BTreeMap;

use super::chart::Chart;
use super::grammar::{Grammar, Symbol};
use super::read::Row;
use super::value::Value;

/// Values of spans, by start and end.
pub(crate) type Units = BTreeMap<(usize, usize), Vec<Value>>;

/// Longer spans are not looked up among the rows.
const LONGEST_UNIT: usize = 25;
/// Values of a span.
const VALUES: usize = 4;

/// The units of a row: spans that are rows themselves, words, runs, and what the grammar derives.
pub(crate) fn units<'r>(
    row: &Row,
    value_of: &dyn Fn(&[u32]) -> Option<&'r Value>,
    grammar: &Grammar,
    chart: Option<&Chart>,
    extra: &[((usize, usize), Value)],
) -> Units {
    let source = &row.source[..];
    let n = source.len();
    let mut all = Units::new();
    let mut add = |from: usize, to: usize, value: Value| {
        let values: &mut Vec<Value> = all.entry((from, to)).or_default();
        if to - from < n && values.len() < VALUES && !values.contains(&value) {
            values.push(value);
        }
    };
    for from in 0..n {
        for to in from + 1..=n.min(from + LONGEST_UNIT) {
            if let Some(value) = value_of(&source[from..to]) {
                add(from, to, value.clone());
            }
        }
    }
    let token = |at: usize| grammar.in_run.get(source[at] as usize).copied().flatten();
    for from in 0..n {
        let run: Vec<u32> = (from..n).map_while(token).collect();
        if run.is_empty() {
            continue;
        }
        if from == 0 || token(from - 1).is_none() {
            add(from, from + run.len(), Value::string(&run));
        }
        add(from, from + 1, Value::string(&run[..1]));
    }
    for (at, &word) in source.iter().enumerate() {
        for value in grammar.lexicon.get(word as usize).into_iter().flatten() {
            add(at, at + 1, value.clone());
        }
    }
    for ((from, to), value) in extra {
        add(*from, *to, value.clone());
    }
    if let Some(chart) = chart {
        for from in 0..n {
            for to in from + 1..=n {
                for item in chart.cell(from, to) {
                    add(from, to, item.value.clone());
                }
            }
        }
    }
    all.retain(|_, values| !values.is_empty());
    all
}

/// A way to see a row: a pattern, and the spans of its holes.
pub(crate) type Frame = (Vec<Symbol>, Vec<(usize, usize)>);

/// Bounds of the frames of a row.
const FRAMES: usize = 500;
const HOLES: usize = 6;
const LITERALS: usize = 5;
const SYMBOLS: usize = 9;

/// The covers of a row by holes and words, those with the fewest symbols first.
pub(crate) fn frames(source: &[u32], units: &Units) -> Vec<Frame> {
    let n = source.len();
    let mut ends: Vec<Vec<usize>> = vec![Vec::new(); n];
    for &(from, to) in units.keys() {
        ends[from].push(to);
    }
    for ends in &mut ends {
        ends.reverse();
    }
    // The fewest symbols that cover what begins at a position.
    let mut fewest = vec![0usize; n + 1];
    for from in (0..n).rev() {
        fewest[from] =
            1 + ends[from].iter().map(|&to| fewest[to]).min().unwrap_or(usize::MAX / 2).min(fewest[from + 1]);
    }
    let mut all = Vec::new();
    for size in fewest[0].max(2)..=SYMBOLS.min(n) {
        let mut cover = Cover {
            source,
            ends: &ends,
            fewest: &fewest,
            all: &mut all,
            pattern: Vec::new(),
            spans: Vec::new(),
        };
        cover.extend(0, size, 0);
        if all.len() >= FRAMES {
            break;
        }
    }
    all
}

struct Cover<'a> {
    source: &'a [u32],
    ends: &'a [Vec<usize>],
    fewest: &'a [usize],
    all: &'a mut Vec<Frame>,
    pattern: Vec<Symbol>,
    spans: Vec<(usize, usize)>,
}

impl Cover<'_> {
    fn extend(&mut self, at: usize, left: usize, literals: usize) {
        if self.all.len() >= FRAMES || self.fewest[at] > left {
            return;
        }
        if at == self.source.len() {
            if left == 0 && !self.spans.is_empty() {
                self.all.push((self.pattern.clone(), self.spans.clone()));
            }
            return;
        }
        if left == 0 {
            return;
        }
        if self.spans.len() < HOLES {
            for i in 0..self.ends[at].len() {
                let to = self.ends[at][i];
                self.pattern.push(Symbol::Hole);
                self.spans.push((at, to));
                self.extend(to, left - 1, literals);
                self.pattern.pop();
                self.spans.pop();
            }
        }
        if literals < LITERALS {
            self.pattern.push(Symbol::Word(self.source[at]));
            self.extend(at + 1, left - 1, literals + 1);
            self.pattern.pop();
        }
    }
}

/// The frame in which each maximal sequence of adjacent units is one list, the longest units first; `None` where it has
/// none or too many.
pub(crate) fn list_frame(source: &[u32], units: &Units) -> Option<(Vec<Symbol>, Vec<Value>)> {
    let (mut pattern, mut lists): (Vec<Symbol>, Vec<Vec<Value>>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < source.len() {
        if let Some((&(_, to), values)) = units.range((at, 0)..(at + 1, 0)).next_back() {
            if pattern.last() != Some(&Symbol::List) {
                pattern.push(Symbol::List);
                lists.push(Vec::new());
            }
            lists.last_mut()?.push(values[0].clone());
            at = to;
        } else {
            pattern.push(Symbol::Word(source[at]));
            at += 1;
        }
    }
    let fits = (1..=2).contains(&lists.len()) && (2..=6).contains(&pattern.len());
    fits.then(|| (pattern, lists.into_iter().map(|list| Value::List(list.into())).collect()))
}

/// The values of the holes of a frame in all combinations, up to a few.
pub(crate) fn hole_values(spans: &[(usize, usize)], units: &Units, positions: bool) -> Vec<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for span in spans {
        let by = if positions { span.0 as i64 } else { 0 };
        let values = &units[span];
        all = all
            .iter()
            .flat_map(|before| {
                values.iter().map(move |value| {
                    let mut next = before.clone();
                    next.push(value.shifted(by));
                    next
                })
            })
            .take(6)
            .collect();
    }
    all
}
