//! From a table of examples to programs. Tables have wrong lines (wrong segmentations, noise), so programs are
//! synthesised from small samples and judged on the whole table.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::effort::Effort;
use super::integers;
use super::order::Order;
use super::program::{Input, IntExpr, Key, Program, Test};
use super::random::Random;
use super::strings;
use super::value::{Token, Value};

/// What synthesis knows of the language, and its bounds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Language {
    /// Bits of a target token.
    pub token_bits: f64,
    /// Whether integers in targets are positions in the source.
    pub positions: bool,
    pub order: Order,
    /// States that the search for a string program looks at.
    pub pops: usize,
    /// Integer expressions that are enumerated.
    pub expressions: usize,
}

/// A line of a table.
#[derive(Clone, Copy)]
pub(crate) struct Example<'a> {
    pub values: &'a [Value],
    pub starts: &'a [u16],
    pub target: &'a Value,
}

impl<'a> Example<'a> {
    pub(crate) fn input<'b>(&self, language: &'b Language) -> Input<'b>
    where
        'a: 'b,
    {
        Input { values: self.values, starts: self.starts, order: &language.order }
    }
}

/// A line of a table with the rows behind it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub values: Vec<Value>,
    pub starts: Vec<u16>,
    pub target: Value,
    pub rows: Vec<u32>,
    /// How each of the rows is cut into the pattern.
    pub cuts: Vec<u64>,
    /// The length of the shortest source behind it.
    pub length: usize,
}

impl Entry {
    fn example(&self) -> Example<'_> {
        Example { values: &self.values, starts: &self.starts, target: &self.target }
    }
}

/// A program with the rows whose targets it gives.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub program: Program,
    pub rows: Vec<u32>,
    /// Bits of the program, with what it costs to say in which rows it holds.
    pub bits: f64,
}

/// The samples that are tried for each program.
const SAMPLE: usize = 12;
const POOL: usize = 40;
/// The share of a table's bits that a program must save to end the search for better ones.
const ENOUGH: f64 = 0.85;
/// Samples without a program that pays, after which there are no more.
const HOPELESS: usize = 6;
/// Programs of one frame.
const PROGRAMS: usize = 4;

/// Programs for a table, the best first; each explains rows that those before it do not.
pub(crate) fn programs(
    entries: &[Entry],
    language: &Language,
    seed: u64,
    bits_of: &dyn Fn(u32) -> f64,
    branches: bool,
    effort: &Effort<'_>,
) -> Vec<Found> {
    let with = cover(entries, language, seed, bits_of, true, branches, effort);
    if !with.0.iter().any(|found| found.program.has_tables()) {
        return [with.0, with.1].concat();
    }
    let without = cover(entries, language, seed, bits_of, false, branches, effort);
    let gain = |all: &[Found]| -> f64 {
        all.iter().map(|f| (f.rows.iter().map(|&row| bits_of(row)).sum::<f64>() - f.bits).max(0.0)).sum()
    };
    let (a, b) = if gain(&without.0) > gain(&with.0) { (without, with) } else { (with, without) };
    [a.0, a.1, b.0].concat()
}

/// A chosen cover of the table by programs, and other programs that are nearly as good.
fn cover(
    entries: &[Entry],
    language: &Language,
    seed: u64,
    bits_of: &dyn Fn(u32) -> f64,
    lookups: bool,
    branches: bool,
    effort: &Effort<'_>,
) -> (Vec<Found>, Vec<Found>) {
    let mut random = Random::new(seed);
    let mut todo: Vec<&Entry> = entries.iter().collect();
    // How many ways each row has to be cut into the pattern.
    let ways = cuts_of(entries.iter());
    let total = ways.len() as f64;
    let worth: f64 = ways.keys().map(|&row| bits_of(row)).sum();
    let (mut chosen, mut others) = (Vec::new(), Vec::new());
    while chosen.len() < PROGRAMS && todo.len() >= 2 {
        let mut best: Option<(f64, Found)> = None;
        let mut tried: BTreeSet<Program> = BTreeSet::new();
        let mut all: Vec<(f64, Found)> = Vec::new();
        let mut judge = |programs: Vec<Program>, best: &mut Option<(f64, Found)>| {
            for mut program in programs {
                if program.holes().is_empty() || !tried.insert(program.clone()) {
                    continue;
                }
                effort.charge(todo.len());
                refit(&mut program, &todo, language);
                let right = |entry: &&&Entry| {
                    program.eval(&entry.example().input(language)).as_ref() == Some(&entry.target)
                };
                let rows = cuts_of(todo.iter().filter(right).copied());
                if rows.is_empty() {
                    continue;
                }
                // A program that holds for one way of many to cut a row explains the less of it.
                let share = |row: &u32, right: &BTreeSet<u64>| right.len() as f64 / ways[row].len() as f64;
                let vague =
                    |(row, right): (&u32, &BTreeSet<u64>)| bits_of(*row) * (1.0 - share(row, right).sqrt());
                let choice: f64 = rows.iter().map(vague).sum();
                let held = rows.len() as f64;
                // Branches that do not tell the rows apart were found by chance.
                if matches!(program, Program::Case(..)) && held < 0.95 * total {
                    continue;
                }
                let bits = program.bits(language.token_bits) + held * (total / held).log2() + choice;
                let rows: Vec<u32> = rows.into_keys().collect();
                let gain = rows.iter().map(|&row| bits_of(row)).sum::<f64>() - bits;
                let found = Found { program, rows, bits };
                all.push((gain, found.clone()));
                if best.as_ref().is_none_or(|best| gain > best.0) {
                    *best = Some((gain, found));
                }
            }
        };
        let quick =
            Language { expressions: language.expressions / 4, pops: language.pops / 2, ..language.clone() };
        for (number, sample) in samples(&todo, &mut random).into_iter().enumerate() {
            let examples: Vec<Example<'_>> = sample.iter().map(|entry| entry.example()).collect();
            if effort.is_stopped() {
                return (chosen, others);
            }
            let language = if number < 4 { language } else { &quick };
            let solved = solve(&examples, language, lookups, effort);
            judge(solved, &mut best);
            let gain = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.0);
            if gain >= ENOUGH * worth || number >= HOPELESS && gain <= 0.0 {
                break;
            }
        }
        let explains = best.as_ref().is_some_and(|best| best.0 >= ENOUGH * worth);
        if branches && chosen.is_empty() && lookups && !explains && todo.len() >= 8 {
            judge(cases(&todo, language, &mut random, effort), &mut best);
        }
        let Some((gain, found)) = best else { break };
        others.extend(
            all.into_iter().filter(|(g, f)| *g > gain - 8.0 && f.program != found.program).map(|(_, f)| f),
        );
        let rows: BTreeSet<u32> = found.rows.iter().copied().collect();
        todo.retain(|entry| {
            found.program.eval(&entry.example().input(language)).as_ref() != Some(&entry.target)
                && !entry.rows.iter().all(|row| rows.contains(row))
        });
        chosen.push(found);
    }
    (chosen, others)
}

/// The rows of some lines, with the ways to cut each.
fn cuts_of<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeMap<u32, BTreeSet<u64>> {
    let mut all: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for entry in entries {
        for (&row, &cut) in entry.rows.iter().zip(&entry.cuts) {
            all.entry(row).or_default().insert(cut);
        }
    }
    all
}

/// Samples of a table: the shortest lines, the most frequent target of each input, and random ones.
fn samples<'a>(todo: &[&'a Entry], random: &mut Random) -> Vec<Vec<&'a Entry>> {
    let pool = &todo[..todo.len().min(POOL)];
    let shortest = pool[0].length;
    let mut most: BTreeMap<(&[Value], &[u16]), &Entry> = BTreeMap::new();
    for &entry in todo {
        let known = most.entry((&entry.values, &entry.starts)).or_insert(entry);
        if entry.rows.len() > known.rows.len() {
            *known = entry;
        }
    }
    let mut most: Vec<&Entry> = most.into_values().collect();
    most.sort_by_key(|entry| entry.length);
    let mut all: Vec<Vec<&Entry>> = vec![
        pool.iter().filter(|entry| entry.length == shortest).take(SAMPLE).copied().collect(),
        pool.iter().take(SAMPLE).copied().collect(),
        pool.iter().take(3).copied().collect(),
        most.iter().take(SAMPLE).copied().collect(),
    ];
    for size in [3, 5, 2, 4, 3, 8] {
        all.push(random.sample(pool.len(), size).into_iter().map(|i| pool[i]).collect());
    }
    for size in [4, 8] {
        all.push(random.sample(todo.len(), size).into_iter().map(|i| todo[i]).collect());
    }
    all.retain(|sample| sample.len() >= 2);
    all
}

/// Programs that give every target of a sample.
pub(crate) fn solve(
    examples: &[Example<'_>],
    language: &Language,
    lookups: bool,
    effort: &Effort<'_>,
) -> Vec<Program> {
    let kind = |examples: &[Example<'_>]| {
        let first = &examples[0];
        examples.iter().all(|example| {
            example.target.kind() == first.target.kind()
                && example.values.iter().zip(first.values).all(|(a, b)| a.kind() == b.kind())
        })
    };
    if !kind(examples) {
        return Vec::new();
    }
    match examples[0].target {
        Value::Str(_) => {
            let targets: Vec<&[Token]> =
                examples.iter().filter_map(|example| example.target.as_str()).collect();
            strings::synthesize(examples, &targets, language, lookups, effort)
        }
        Value::Int(_) => {
            let targets: Vec<i64> = examples.iter().filter_map(|example| example.target.as_int()).collect();
            integers::synthesize(examples, &targets, language, lookups, effort)
        }
        Value::Record(parts) => {
            let each = (0..parts.len()).map(|i| {
                component(examples, i)
                    .and_then(|examples| solve(&examples, language, lookups, effort).into_iter().next())
            });
            each.collect::<Option<Vec<_>>>().map(Program::Record).into_iter().collect()
        }
        Value::List(_) => Vec::new(),
    }
}

/// The sample with one component of its targets as the target.
fn component<'a>(examples: &[Example<'a>], i: usize) -> Option<Vec<Example<'a>>> {
    examples
        .iter()
        .map(|example| match example.target {
            Value::Record(parts) => Some(Example { target: parts.get(i)?, ..*example }),
            _ => None,
        })
        .collect()
}

/// Lines that a program with branches is made from.
const CASE_SAMPLE: usize = 60;
/// Branches of a program.
const BRANCHES: usize = 8;

/// Programs with branches: the lines are told apart by a key, and each group has a program.
fn cases(todo: &[&Entry], language: &Language, random: &mut Random, effort: &Effort<'_>) -> Vec<Program> {
    let mut all = Vec::new();
    let near: Vec<Example<'_>> = todo.iter().take(CASE_SAMPLE).map(|entry| entry.example()).collect();
    let drawn = random.sample(todo.len(), CASE_SAMPLE);
    let drawn: Vec<Example<'_>> = drawn.into_iter().map(|i| todo[i].example()).collect();
    for examples in [near, drawn] {
        all.extend(case_of(&examples, language, effort));
    }
    all
}

fn case_of(examples: &[Example<'_>], language: &Language, effort: &Effort<'_>) -> Option<Program> {
    if let Value::Record(parts) = examples[0].target {
        let each = (0..parts.len()).map(|i| {
            let examples = component(examples, i)?;
            let small = &examples[..examples.len().min(SAMPLE)];
            let plain = solve(small, language, true, effort).into_iter().find(|program| {
                examples.iter().all(|e| program.eval(&e.input(language)).as_ref() == Some(e.target))
            });
            plain.or_else(|| case_of(&examples, language, effort))
        });
        return each.collect::<Option<Vec<_>>>().map(Program::Record);
    }
    let mut best: Option<(f64, Program)> = None;
    for tests in tests(examples) {
        for test in tests {
            let Some(program) = branch(&test, examples, language, effort) else { continue };
            let bits = program.bits(language.token_bits);
            if best.as_ref().is_none_or(|best| bits < best.0) {
                best = Some((bits, program));
            }
        }
        if best.is_some() {
            break;
        }
    }
    best.map(|(_, program)| program)
}

/// What may tell branches apart.
fn tests(examples: &[Example<'_>]) -> [Vec<Test>; 2] {
    let mut keys = Vec::new();
    for leaf in strings::string_leaves(examples) {
        keys.extend([Key::Whole(leaf), Key::First(leaf), Key::Last(leaf)].map(Test::Key));
    }
    let mut comparisons = Vec::new();
    let mut features = integers::features(examples);
    features.truncate(8);
    for (i, a) in features.iter().enumerate() {
        for b in &features[i + 1..] {
            comparisons.push(Test::Compare(a.clone(), b.clone()));
        }
        comparisons.push(Test::Compare(a.clone(), IntExpr::Constant(0)));
        comparisons.push(Test::Parity(a.clone()));
    }
    [keys, comparisons]
}

fn branch(
    test: &Test,
    examples: &[Example<'_>],
    language: &Language,
    effort: &Effort<'_>,
) -> Option<Program> {
    let mut groups: BTreeMap<Value, Vec<Example<'_>>> = BTreeMap::new();
    for example in examples {
        groups.entry(test.of(example.values, |_| true)?).or_default().push(*example);
        if groups.len() > BRANCHES {
            return None;
        }
    }
    if groups.len() < 2 {
        return None;
    }
    groups.retain(|_, group| group.len() >= 2);
    let mut branches = BTreeMap::new();
    let quick = Language { pops: 60, expressions: 400, ..language.clone() };
    let hasty = Language { pops: 40, expressions: 100, ..language.clone() };
    if groups.values().any(|group| solve(&group[..group.len().min(3)], &hasty, false, effort).is_empty()) {
        return None;
    }
    for (key, group) in groups {
        // A group as large as the sample must be explained as a whole; its first lines show quickly that it is not.
        let first = &group[..group.len().min(SAMPLE)];
        let program = solve(first, &quick, false, effort).into_iter().find(|program| {
            group.iter().all(|e| program.eval(&e.input(language)).as_ref() == Some(e.target))
        })?;
        branches.insert(key, program);
    }
    (branches.len() >= 2).then_some(Program::Case(test.clone(), branches))
}

/// Fills the tables of a program from all lines that agree with the rest of it.
fn refit(program: &mut Program, entries: &[&Entry], language: &Language) {
    if !program.has_tables() {
        return;
    }
    let weighted: Vec<(Example<'_>, f64)> =
        entries.iter().map(|entry| (entry.example(), entry.rows.len() as f64)).collect();
    refit_on(program, &weighted, language);
}

fn refit_on(program: &mut Program, entries: &[(Example<'_>, f64)], language: &Language) {
    match program {
        Program::Concat(atoms) => {
            let entries: Vec<_> = entries
                .iter()
                .filter_map(|(example, weight)| Some((*example, example.target.as_str()?, *weight)))
                .collect();
            strings::refit(atoms, &entries, language);
        }
        Program::Int(expr) => {
            let entries: Vec<_> = entries
                .iter()
                .filter_map(|(example, weight)| Some((*example, example.target.as_int()?, *weight)))
                .collect();
            integers::refit(expr, &entries);
        }
        Program::Record(parts) => {
            for (i, part) in parts.iter_mut().enumerate() {
                let entries: Vec<(Example<'_>, f64)> = entries
                    .iter()
                    .filter_map(|(example, weight)| match example.target {
                        Value::Record(parts) => {
                            Some((Example { target: parts.get(i)?, ..*example }, *weight))
                        }
                        _ => None,
                    })
                    .collect();
                refit_on(part, &entries, language);
            }
        }
        Program::Case(..) => {}
    }
}
