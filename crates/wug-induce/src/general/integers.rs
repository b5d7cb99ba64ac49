//! Synthesis of integer programs: enumeration by cost with observational equivalence, and exact affine solving.

use std::collections::BTreeMap;

use ahash::AHashMap;

use super::effort::Effort;
use super::functions::{IntFunction, Operator};
use super::program::{IntExpr, Key, Program, int_bits};
use super::strings::string_leaves;
use super::synthesis::{Example, Language};
use super::value::{LARGEST, Token, Value, leaves};

/// Larger samples tell no more.
const SAMPLE: usize = 14;

/// Integer features of a sample: what expressions begin with.
pub(crate) fn features(examples: &[Example<'_>]) -> Vec<IntExpr> {
    let mut all = Vec::new();
    let strings = string_leaves(examples);
    for leaf in leaves(examples[0].values) {
        match leaf.of(examples[0].values) {
            Some(Value::Int(_)) => all.push(IntExpr::Apply(IntFunction::Value, leaf)),
            Some(Value::List(_)) => {
                all.extend(IntFunction::OF_LISTS.iter().map(|&function| IntExpr::Apply(function, leaf)));
            }
            Some(Value::Str(text)) => {
                if text.len() == 1 {
                    all.push(IntExpr::Apply(IntFunction::Value, leaf));
                }
                all.extend(IntFunction::OF_STRINGS.iter().map(|&function| IntExpr::Apply(function, leaf)));
                for &other in strings.iter().filter(|&&other| other != leaf) {
                    all.extend([IntExpr::Count(leaf, other), IntExpr::Index(leaf, other)]);
                }
                let mut tokens: Vec<Token> = examples
                    .iter()
                    .filter_map(|example| leaf.of(example.values)?.as_str())
                    .flatten()
                    .copied()
                    .collect();
                tokens.sort_unstable();
                tokens.dedup();
                if tokens.len() <= 6 {
                    all.extend(tokens.into_iter().map(|token| IntExpr::CountOf(token, leaf)));
                }
            }
            _ => {}
        }
    }
    all
}

/// How an expression was made; it is written out only when it is wanted.
enum Made {
    Given(IntExpr),
    Binary(Operator, usize, usize),
}

/// Expressions by their results in the sample: of several with the same results, the first and cheapest is kept.
#[derive(Default)]
struct Enumeration {
    seen: AHashMap<Box<[i64]>, usize>,
    /// Numbers of expressions by cost.
    by_cost: BTreeMap<u32, Vec<usize>>,
    all: Vec<(Box<[i64]>, Made)>,
}

impl Enumeration {
    fn add(&mut self, cost: u32, results: &[i64], made: Made) {
        if !self.seen.contains_key(results) {
            self.seen.insert(results.into(), self.all.len());
            self.by_cost.entry(cost).or_default().push(self.all.len());
            self.all.push((results.into(), made));
        }
    }

    /// Adds each operator's results on two known expressions.
    fn combine(&mut self, cost: u32, a: usize, b: usize, results: &mut Vec<i64>) {
        for operator in Operator::ALL {
            if operator.commutes() && a > b {
                continue;
            }
            results.clear();
            let pairs = self.all[a].0.iter().zip(&self.all[b].0);
            results.extend(pairs.map_while(|(&a, &b)| operator.eval(a, b)));
            if results.len() == self.all[a].0.len() {
                self.add(cost, results, Made::Binary(operator, a, b));
            }
        }
    }

    fn expr(&self, number: usize) -> IntExpr {
        match &self.all[number].1 {
            Made::Given(expr) => expr.clone(),
            Made::Binary(operator, a, b) => {
                IntExpr::Binary(*operator, Box::new(self.expr(*a)), Box::new(self.expr(*b)))
            }
        }
    }
}

/// Programs that give every target of the sample, the shortest first.
pub(crate) fn synthesize(
    examples: &[Example<'_>],
    targets: &[i64],
    language: &Language,
    lookups: bool,
    effort: &Effort<'_>,
) -> Vec<Program> {
    let n = examples.len().min(SAMPLE);
    let (examples, targets) = (&examples[..n], &targets[..n]);
    let mut found = Vec::new();
    if let Some(expr) = enumerate(examples, targets, language, effort) {
        found.push(expr);
    }
    if let Some(expr) = affine(examples, targets) {
        let token = language.token_bits;
        if found.iter().all(|other| expr.bits(token) < other.bits(token)) {
            found.insert(0, expr);
        }
    }
    if found.is_empty() && lookups {
        found.extend(table(examples, targets));
    }
    found.into_iter().map(Program::Int).collect()
}

fn enumerate(
    examples: &[Example<'_>],
    targets: &[i64],
    language: &Language,
    effort: &Effort<'_>,
) -> Option<IntExpr> {
    let n = examples.len();
    let mut known = Enumeration::default();
    let all = features(examples);
    for expr in &all {
        let results: Option<Vec<i64>> = examples.iter().map(|example| expr.eval(example.values)).collect();
        if let Some(results) = results {
            known.add(expr.bits(2.0).round() as u32, &results, Made::Given(expr.clone()));
        }
    }
    for (value, cost) in constants(examples, targets, &all) {
        known.add(cost, &vec![value; n], Made::Given(IntExpr::Constant(value)));
    }
    let mut results = Vec::with_capacity(n);
    let mut pairs = 0;
    'grow: for cost in 4..=24u32 {
        if known.seen.contains_key(targets) {
            break;
        }
        let costs: Vec<u32> = known.by_cost.keys().copied().collect();
        for &a_cost in &costs {
            let Some(b_cost) = cost.checked_sub(a_cost + 2) else { break };
            let (Some(a_list), Some(b_list)) = (known.by_cost.get(&a_cost), known.by_cost.get(&b_cost))
            else {
                continue;
            };
            let (a_list, b_list) = (a_list.clone(), b_list.clone());
            for (&a, &b) in a_list.iter().flat_map(|a| b_list.iter().map(move |b| (a, b))) {
                pairs += 1;
                known.combine(cost, a, b, &mut results);
                if known.all.len() > language.expressions {
                    break 'grow;
                }
            }
        }
    }
    // A pair is as much work as a step of a chart.
    effort.charge(all.len() + pairs);
    known.seen.get(targets).map(|&number| known.expr(number))
}

/// Constants that the sample suggests, with their costs.
fn constants(examples: &[Example<'_>], targets: &[i64], features: &[IntExpr]) -> Vec<(i64, u32)> {
    let mut all: BTreeMap<i64, u32> = BTreeMap::from([(0, 3), (1, 3), (2, 4), (10, 6)]);
    let mut suggest = |value: i64, least: f64| {
        if value > 0 && value < 10_000_000 {
            let cost = (least + 2.0 * (1.0 + value as f64).log2()) as u32;
            let known = all.entry(value).or_insert(cost);
            *known = cost.min(*known);
        }
    };
    for (example, &target) in examples.iter().zip(targets) {
        for feature in features {
            let Some(value) = feature.eval(example.values) else { continue };
            if value != 0 && target % value == 0 {
                suggest(target / value, 3.0);
            }
            if target != 0 && value % target == 0 {
                suggest(value / target, 3.0);
            }
            suggest((target - value).abs(), 3.0);
        }
        suggest(target + 1, 3.0);
        suggest(target, 5.0);
    }
    let mut all: Vec<(i64, u32)> = all.into_iter().collect();
    all.sort_by_key(|&(value, cost)| (cost, value));
    all.truncate(14);
    all
}

/// The exact integer solution of target = sum of coefficient * leaf + constant, by elimination over fractions.
fn affine(examples: &[Example<'_>], targets: &[i64]) -> Option<IntExpr> {
    let all = leaves(examples[0].values);
    let unknowns = all.len() + 1;
    if examples.len() < unknowns + 1 || all.len() > 6 {
        return None;
    }
    let mut rows: Vec<Vec<(i128, i128)>> = Vec::new();
    for (example, &target) in examples.iter().zip(targets) {
        let mut row: Vec<(i128, i128)> = Vec::new();
        for leaf in &all {
            let Value::Int(value) = leaf.of(example.values)? else { return None };
            row.push((i128::from(*value), 1));
        }
        row.extend([(1, 1), (i128::from(target), 1)]);
        rows.push(row);
    }
    let mut rank = 0;
    let mut pivots = Vec::new();
    for column in 0..unknowns {
        let Some(pivot) = (rank..rows.len()).find(|&row| rows[row][column].0 != 0) else { continue };
        rows.swap(rank, pivot);
        let (a, b) = rows[rank][column];
        for cell in &mut rows[rank] {
            *cell = reduce(cell.0.checked_mul(b)?, cell.1.checked_mul(a)?)?;
        }
        let head = rows[rank].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let (a, b) = row[column];
            if i == rank || a == 0 {
                continue;
            }
            for (cell, &(c, d)) in row.iter_mut().zip(&head) {
                let (x, y) = reduce(a.checked_mul(c)?, b.checked_mul(d)?)?;
                let top = cell.0.checked_mul(y)?.checked_sub(x.checked_mul(cell.1)?)?;
                *cell = reduce(top, cell.1.checked_mul(y)?)?;
            }
        }
        pivots.push(column);
        rank += 1;
        if rank == rows.len() {
            return None;
        }
    }
    if rows[rank..].iter().any(|row| row[unknowns].0 != 0) {
        return None;
    }
    let mut solution = vec![0i64; unknowns];
    for (row, &column) in pivots.iter().enumerate() {
        let (value, over) = rows[row][unknowns];
        solution[column] = i64::try_from(value).ok().filter(|value| over == 1 && value.abs() < LARGEST)?;
    }
    let mut expr: Option<IntExpr> = None;
    for (i, &factor) in solution.iter().enumerate().filter(|(_, factor)| **factor != 0) {
        let term = match all.get(i) {
            None => IntExpr::Constant(factor),
            Some(&leaf) => {
                let leaf = IntExpr::Apply(IntFunction::Value, leaf);
                if factor == 1 {
                    leaf
                } else {
                    let factor = IntExpr::Constant(factor);
                    IntExpr::Binary(Operator::Multiply, Box::new(factor), Box::new(leaf))
                }
            }
        };
        expr = Some(match expr {
            None => term,
            Some(expr) => IntExpr::Binary(Operator::Add, Box::new(expr), Box::new(term)),
        });
    }
    Some(expr.unwrap_or(IntExpr::Constant(0)))
}

/// A fraction in lowest terms; `None` if it grew too large to go on with.
fn reduce(mut a: i128, mut b: i128) -> Option<(i128, i128)> {
    let (mut x, mut y) = (a.unsigned_abs(), b.unsigned_abs());
    while y != 0 {
        (x, y) = (y, x % y);
    }
    let by = i128::try_from(x.max(1)).ok()?;
    (a, b) = (a / by, b / by);
    if b < 0 {
        (a, b) = (-a, -b);
    }
    (a.abs() < 1 << 60 && b < 1 << 60).then_some((a, b))
}

/// A table from one string to integers.
fn table(examples: &[Example<'_>], targets: &[i64]) -> Option<IntExpr> {
    string_leaves(examples).into_iter().find_map(|leaf| {
        let mut table: BTreeMap<Value, i64> = BTreeMap::new();
        for (example, &target) in examples.iter().zip(targets) {
            if *table.entry(leaf.of(example.values)?.clone()).or_insert(target) != target {
                return None;
            }
        }
        (table.len() >= 2).then_some(IntExpr::Lookup(Key::Whole(leaf), table))
    })
}

/// Fills the table of a lookup from all entries.
pub(crate) fn refit(expr: &mut IntExpr, entries: &[(Example<'_>, i64, f64)]) {
    let IntExpr::Lookup(key, table) = expr else { return };
    let mut votes: BTreeMap<Value, BTreeMap<i64, f64>> = BTreeMap::new();
    for (example, target, weight) in entries {
        if let Some(key) = key.of(example.values, |_| true) {
            *votes.entry(key).or_default().entry(*target).or_default() += weight;
        }
    }
    let best = |votes: &BTreeMap<i64, f64>| {
        votes.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0))).map_or(0, |(&value, _)| value)
    };
    *table = votes.into_iter().map(|(key, votes)| (key, best(&votes))).collect();
}

/// Bits of a target that is remembered.
pub(crate) fn row_bits(value: i64) -> f64 {
    4.0 + int_bits(value)
}
