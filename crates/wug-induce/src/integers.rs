//! Targets that are whole numbers. They show no parts, so rules are found by solving: words alone give values, short
//! rows give tables of functions, and what is still unknown is tried out around one slot.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::forest::{Case, Leaf};
use crate::grammar::{Grammar, Rule};
use crate::links::Row;
use crate::pairs::{Pair, Pairs};
use crate::plan::Plan;
use crate::programs::{Expr, Function, Library, MAX_SIZE, Table, solve};
use crate::symbols::{Child, Counts, Sym, slot_count};
use crate::{Algebra, Without};

/// Whole numbers from 0.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Integers {
    /// The value of each source word.
    pub values: Vec<Option<u64>>,
    /// The functions found.
    pub library: Library,
}

const FUEL: u32 = 100_000;

impl Algebra for Integers {
    type Term = Expr;
    type Value = u64;

    fn parts(&self, _: &Expr, _: usize, _: usize) -> Vec<Expr> {
        Vec::new()
    }

    fn cut(&self, _: &Expr, _: usize, _: usize, _: &Expr) -> Option<Expr> {
        None
    }

    fn bits(&self, _: &Expr) -> f64 {
        0.0
    }

    fn class(&self, _: &[Sym], _: &Expr) -> u16 {
        0
    }

    fn slot(&self, slot: usize) -> u64 {
        slot as u64
    }

    fn word(&self, word: u32, _: usize) -> u64 {
        self.values.get(word as usize).copied().flatten().unwrap_or(0)
    }

    fn apply(&self, term: &Expr, children: &[&u64]) -> Option<u64> {
        let children: Vec<u64> = children.iter().map(|&&child| child).collect();
        self.library.eval(term, &children, &mut FUEL.clone())
    }

    fn is_part(&self, _: &u64, _: &u64) -> bool {
        true
    }

    fn is_whole(&self, value: &u64, gold: &u64) -> bool {
        value == gold
    }

    fn show(&self, term: &Expr) -> String {
        term.show(&|slot| format!("${}", slot + 1))
    }

    fn show_value(&self, value: &u64, _: &[String]) -> String {
        value.to_string()
    }
}

/// A training row: words, value, how many rows are like it.
type NumberRow<'a> = (&'a [u32], u64, f64);

/// Whether all targets of training pairs are whole numbers.
pub(crate) fn looks_like_integers(pairs: &Pairs) -> bool {
    let is_number = |target: &[u32]| target.len() == 1 && value(pairs, target).is_some();
    let numbers = pairs.rows.iter().filter(|(_, target, _)| is_number(target)).count();
    numbers > 0 && 100 * numbers >= 98 * pairs.rows.len()
}

fn value(pairs: &Pairs, target: &[u32]) -> Option<u64> {
    let [token] = target else { return None };
    let word = pairs.target.word(*token);
    let plain = word.bytes().all(|byte| byte.is_ascii_digit());
    if plain { word.parse().ok() } else { None }
}

/// The commonest value of each key.
fn commonest<K: Ord>(votes: BTreeMap<K, BTreeMap<u64, f64>>) -> BTreeMap<K, u64> {
    votes
        .into_iter()
        .filter_map(|(key, votes)| {
            let best = votes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
            Some((key, best.0))
        })
        .collect()
}

/// Rows from which links are estimated: so many of each length, up to a length; longer ones if these are few.
const CASES_PER_LENGTH: usize = 800;
const MAX_CASE: usize = 9;
pub(crate) const LONG_CASE: usize = 15;
const FEW_CASES: usize = 600;

/// Reads training pairs: values of words, functions, rules, and cases for links.
pub(crate) fn read(pairs: &Pairs, plan: &Plan) -> (Integers, Grammar<Expr>, Vec<Case<u64>>) {
    let rows: Vec<NumberRow<'_>> = pairs
        .rows
        .iter()
        .filter_map(|(source, target, n)| Some((source.as_slice(), value(pairs, target)?, *n)))
        .collect();
    let mut votes: BTreeMap<u32, BTreeMap<u64, f64>> = BTreeMap::new();
    for (source, value, n) in rows.iter().filter(|row| row.0.len() == 1) {
        *votes.entry(source[0]).or_default().entry(*value).or_default() += n;
    }
    let words = commonest(votes);
    // A word that never stands alone but is spelled as a number is that number.
    let spelled = |word: u32| {
        let text = pairs.source.word(word);
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        if digits && plan.has(Without::Spelling) { text.parse().ok() } else { None }
    };
    let value = |word: u32| words.get(&word).copied().or_else(|| spelled(word));
    let mut algebra =
        Integers { values: (0..pairs.source.len() as u32).map(value).collect(), library: Library::default() };
    let root = Rule { source: vec![Sym::Slot(0)], term: Expr::Argument(0), class: 0, root: true };
    let classes = algebra.values.iter().map(|value| value.map(|_| 0)).collect();
    let mut grammar =
        Grammar { rules: vec![root], classes, links: BTreeMap::new(), refuted: BTreeSet::new() };
    // What is found makes longer rows readable, which show more.
    let find_all = |algebra: &mut Integers, grammar: &mut Grammar<Expr>, checked: bool| {
        while functions(algebra, grammar, &rows, Rows::Plain, checked)
            || brackets(algebra, grammar, &rows)
            || functions(algebra, grammar, &rows, Rows::Any, checked)
        {}
    };
    find_all(&mut algebra, &mut grammar, true);
    // A word whose function is too hard is remembered until the others are known, of which it may be made.
    let mut remembered = false;
    while let Some((source, table)) =
        tables(&algebra, &grammar, &rows, Rows::Plain).into_iter().max_by_key(|(_, table)| table.len())
    {
        add(&mut algebra, &mut grammar, source, Function::Memory(table));
        remembered = true;
        find_all(&mut algebra, &mut grammar, true);
    }
    if remembered {
        think_again(&mut algebra, &mut grammar, &rows);
    }
    find_all(&mut algebra, &mut grammar, false);
    let cases = cases(&algebra, &grammar, &rows);
    (algebra, grammar, cases)
}

/// The words of rules, and those that have a value.
fn known_words(algebra: &Integers, grammar: &Grammar<Expr>) -> BTreeSet<u32> {
    let values = algebra.values.iter().enumerate().filter(|(_, value)| value.is_some());
    let rules = grammar.rules.iter().flat_map(|rule| &rule.source);
    let of_rules = rules.filter_map(|sym| if let Sym::Word(word) = sym { Some(*word) } else { None });
    of_rules.chain(values.map(|(word, _)| word as u32)).collect()
}

/// What a word does, by its pattern: arguments, and how often each value was seen.
type Votes = BTreeMap<Vec<u64>, BTreeMap<u64, f64>>;

/// Longer rows are not asked for tables; tables with fewer entries are not solved.
const MAX_ASKED: usize = 11;
const LEAST_ENTRIES: usize = 4;

/// Which rows tables are made from.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    /// Those that can be read in one way only.
    Plain,
    /// Also those in which the unknown word may bind weaker than the others, or not: if a program gives all values, it
    /// does.
    Any,
}

/// Tables of the words that are still unknown, from rows with one of them: the word stands before, behind or between
/// what has one value each.
fn tables(
    algebra: &Integers,
    grammar: &Grammar<Expr>,
    rows: &[NumberRow<'_>],
    which: Rows,
) -> Vec<(Vec<Sym>, Table)> {
    let known = known_words(algebra, grammar);
    let mut tables: BTreeMap<Vec<Sym>, Votes> = BTreeMap::new();
    for (source, value, n) in rows.iter().filter(|row| (2..=MAX_ASKED).contains(&row.0.len())) {
        let mut unknown = (0..source.len()).filter(|&at| !known.contains(&source[at]));
        let (Some(at), None) = (unknown.next(), unknown.next()) else { continue };
        let readable = |part: &[u32]| !possible_values(algebra, grammar, part).is_empty();
        let (left, right) = (&source[..at], &source[at + 1..]);
        let otherwise = which == Rows::Plain
            && ((1..left.len()).any(|start| readable(&left[start..]))
                || (1..right.len()).any(|end| readable(&right[..end])));
        let sides: Vec<BTreeSet<u64>> = [left, right]
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(|part| possible_values(algebra, grammar, part))
            .collect();
        if otherwise || sides.iter().any(|values| values.len() != 1) {
            continue;
        }
        let slot = |part: &[u32]| (!part.is_empty()).then_some(Sym::Slot(0));
        let pattern = slot(left).into_iter().chain([Sym::Word(source[at])]).chain(slot(right)).collect();
        let arguments: Vec<u64> = sides.iter().flatten().copied().collect();
        let votes = tables.entry(pattern).or_default().entry(arguments).or_default();
        *votes.entry(*value).or_default() += n;
    }
    let least = if which == Rows::Plain { LEAST_ENTRIES } else { 2 * LEAST_ENTRIES };
    tables
        .into_iter()
        .map(|(pattern, votes)| (pattern, commonest(votes).into_iter().collect::<Table>()))
        .filter(|(_, table)| table.len() >= least)
        .collect()
}

/// Finds functions for tables; the cheapest first, because later ones may call earlier ones. A table of a few rows is
/// given by many programs, most of which longer rows show to be wrong if they are checked. Returns whether any was found.
fn functions(
    algebra: &mut Integers,
    grammar: &mut Grammar<Expr>,
    rows: &[NumberRow<'_>],
    which: Rows,
    checked: bool,
) -> bool {
    let mut open = tables(algebra, grammar, rows, which);
    let before = grammar.rules.len();
    for lenient in [false, true] {
        let mut size = 1;
        while size <= MAX_SIZE && !open.is_empty() {
            let found = open.iter().enumerate().find_map(|(i, (source, table))| {
                let allowed = if lenient { table.len() / 25 } else { 0 };
                let found = if checked {
                    best_program(algebra, grammar, rows, (source, table), (size, allowed))
                } else {
                    solve(table, size, &algebra.library, allowed, &mut |_| true)
                };
                Some((i, found?))
            });
            let Some((i, function)) = found else {
                size += 1;
                continue;
            };
            let (source, _) = open.remove(i);
            add(algebra, grammar, source, function);
            size = 1;
        }
    }
    grammar.rules.len() > before
}

/// Rows on which a program is tried; how many are too few to tell; how many programs of one size are tried.
const TRIED_ROWS: usize = 60;
const TOO_FEW_ROWS: usize = 5;
const TRIED_PROGRAMS: usize = 40;
/// The share of the rows that a program must explain to be taken before others of its size are tried.
const SURELY_EXPLAINED: f64 = 0.97;

/// The program of one size that gives a table and explains most of the longer rows, if it explains enough of them.
fn best_program(
    algebra: &Integers,
    grammar: &Grammar<Expr>,
    rows: &[NumberRow<'_>],
    (source, table): (&[Sym], &Table),
    (size, allowed): (usize, usize),
) -> Option<Function> {
    let mut best: Option<(f64, Function)> = None;
    let mut tried = 0;
    let mut is_sure = |function: &Function| {
        tried += 1;
        if tried > TRIED_PROGRAMS {
            return false;
        }
        let share = explained(algebra, grammar, rows, source, function);
        if share >= EXPLAINED && best.as_ref().is_none_or(|(most, _)| share > *most) {
            best = Some((share, function.clone()));
        }
        share >= SURELY_EXPLAINED
    };
    solve(table, size, &algebra.library, allowed, &mut is_sure).or(best.map(|(_, function)| function))
}

/// The share of the longer rows with the word of a pattern that have some reading with their value when a function is
/// what the pattern means; rows are left aside if readings of them have no value. All, if there are too few.
fn explained(
    algebra: &Integers,
    grammar: &Grammar<Expr>,
    rows: &[NumberRow<'_>],
    source: &[Sym],
    function: &Function,
) -> f64 {
    let (mut algebra, mut grammar) = (algebra.clone(), grammar.clone());
    add(&mut algebra, &mut grammar, source.to_vec(), function.clone());
    let known = known_words(&algebra, &grammar);
    let uses =
        |words: &[u32]| source.iter().any(|sym| matches!(sym, Sym::Word(word) if words.contains(word)));
    let readable = rows.iter().filter(|row| {
        (4..=MAX_CASE).contains(&row.0.len()) && uses(row.0) && row.0.iter().all(|word| known.contains(word))
    });
    let (mut all, mut right) = (0, 0);
    for (words, value, _) in readable.take(TRIED_ROWS) {
        let (values, complete) = readings(&algebra, &grammar, words);
        let is_right = values.contains(value);
        all += usize::from(is_right || complete && !values.is_empty());
        right += usize::from(is_right);
    }
    if all < TOO_FEW_ROWS { 1.0 } else { right as f64 / all as f64 }
}

/// Adds a function, and the rule that calls it.
fn add(algebra: &mut Integers, grammar: &mut Grammar<Expr>, source: Vec<Sym>, function: Function) {
    let arguments = slot_count(&source) as u8;
    let id = algebra.library.functions.len() as u8;
    algebra.library.add(function, arguments);
    let term = Expr::Call(id, (0..arguments).map(Expr::Argument).collect());
    grammar.rules.push(Rule { source, term, class: 0, root: false });
}

/// Looks again for programs for what is only remembered, now that more functions are known.
fn think_again(algebra: &mut Integers, grammar: &mut Grammar<Expr>, rows: &[NumberRow<'_>]) {
    let (tables, numbers) = algebra.library.forget();
    let is_memory = |term: &Expr| matches!(term, Expr::Call(id, _) if tables.iter().any(|(m, _)| m == id));
    let (remembered, kept): (Vec<_>, Vec<_>) =
        std::mem::take(&mut grammar.rules).into_iter().partition(|rule| is_memory(&rule.term));
    let renumbered = |rule: Rule<Expr>| Rule { term: rule.term.renumbered(&numbers), ..rule };
    grammar.rules = kept.into_iter().map(renumbered).collect();
    for (rule, (_, table)) in remembered.into_iter().zip(tables) {
        let program = [0, table.len() / 25].into_iter().find_map(|allowed| {
            let source = rule.source.as_slice();
            (1..=MAX_SIZE)
                .find_map(|size| best_program(algebra, grammar, rows, (source, &table), (size, allowed)))
        });
        add(algebra, grammar, rule.source, program.unwrap_or(Function::Memory(table)));
    }
}

/// The most words that are tried together around a slot; the rows they are tried on, and the share of those that must
/// be explained.
const MAX_BRACKETS: usize = 3;
const BRACKET_ROWS: usize = 120;
const EXPLAINED: f64 = 0.8;

/// Words that are still unknown may stand around one slot and change it little: the rule or the pair of rules that
/// explains most of the shortest rows, and leaves their values least open. Returns whether any was found.
fn brackets(algebra: &Integers, grammar: &mut Grammar<Expr>, rows: &[NumberRow<'_>]) -> bool {
    let known = known_words(algebra, grammar);
    let mut groups: BTreeMap<BTreeSet<u32>, Vec<&NumberRow<'_>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.0.len() <= MAX_CASE) {
        let unknown: BTreeSet<u32> = row.0.iter().copied().filter(|word| !known.contains(word)).collect();
        if (1..=MAX_BRACKETS).contains(&unknown.len()) {
            groups.entry(unknown).or_default().push(row);
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    for (unknown, mut short) in groups {
        short.sort_by_key(|row| row.0.len());
        short.truncate(BRACKET_ROWS);
        let found = best_brackets(algebra, grammar, &unknown, &short);
        if !found.is_empty() {
            grammar.rules.extend(found);
            return true;
        }
    }
    false
}

/// The best rules around one slot for some words; none if they do not explain the rows.
fn best_brackets(
    algebra: &Integers,
    grammar: &Grammar<Expr>,
    unknown: &BTreeSet<u32>,
    short: &[&NumberRow<'_>],
) -> Vec<Rule<Expr>> {
    let mut single: Vec<Rule<Expr>> = Vec::new();
    let slot = Sym::Slot(0);
    let terms =
        [Expr::Argument(0), Expr::Inc(Box::new(Expr::Argument(0))), Expr::Dec(Box::new(Expr::Argument(0)))];
    for &a in unknown {
        let mut sources = vec![vec![Sym::Word(a), slot], vec![slot, Sym::Word(a)]];
        sources.extend(unknown.iter().map(|&b| vec![Sym::Word(a), slot, Sym::Word(b)]));
        for source in sources {
            let rule =
                |term: &Expr| Rule { source: source.clone(), term: term.clone(), class: 0, root: false };
            single.extend(terms.iter().map(rule));
        }
    }
    let mut choices: Vec<Vec<Rule<Expr>>> = single.iter().map(|rule| vec![rule.clone()]).collect();
    for (i, a) in single.iter().enumerate() {
        choices.extend(single[i + 1..].iter().map(|b| vec![a.clone(), b.clone()]));
    }
    let mut best: (f64, Vec<Rule<Expr>>) = (0.0, Vec::new());
    for choice in choices {
        let mut trial = grammar.clone();
        trial.rules.extend(choice.iter().cloned());
        let size: usize = choice.iter().map(|rule| rule.source.len()).sum();
        let (mut score, mut explained) = (-8.0 * size as f64, 0.0);
        for (source, value, _) in short {
            let values = possible_values(algebra, &trial, source);
            let others = values.iter().filter(|other| *other != value).count() as f64;
            explained += f64::from(u8::from(values.contains(value)));
            score -= 2.0 * others;
        }
        score += 20.0 * explained;
        if score > best.0 && explained >= EXPLAINED * short.len() as f64 {
            best = (score, choice);
        }
    }
    best.1
}

/// All values that any derivation gives.
fn possible_values(algebra: &Integers, grammar: &Grammar<Expr>, source: &[u32]) -> BTreeSet<u64> {
    readings(algebra, grammar, source).0
}

/// All values that any derivation gives, and whether every derivation gives one: what is only remembered has no value for
/// arguments that were not seen.
fn readings(algebra: &Integers, grammar: &Grammar<Expr>, source: &[u32]) -> (BTreeSet<u64>, bool) {
    let length = source.len();
    let mut complete = true;
    let mut cells: BTreeMap<(usize, usize), BTreeSet<u64>> = BTreeMap::new();
    for size in 1..=length {
        for start in 0..=length - size {
            let mut values: BTreeSet<u64> = BTreeSet::new();
            if size == 1 {
                values.extend(algebra.values[source[start] as usize]);
            }
            for rule in grammar.rules.iter().filter(|rule| !rule.root) {
                let mut open: Vec<(usize, usize, Vec<u64>)> = vec![(0, start, Vec::new())];
                while let Some((dot, at, filled)) = open.pop() {
                    if dot == rule.source.len() {
                        if at == start + size {
                            let value = algebra.apply(&rule.term, &filled.iter().collect::<Vec<_>>());
                            complete &= value.is_some();
                            values.extend(value);
                        }
                        continue;
                    }
                    if at >= start + size {
                        continue;
                    }
                    match rule.source[dot] {
                        Sym::Word(word) if source[at] == word => open.push((dot + 1, at + 1, filled)),
                        Sym::Word(_) => {}
                        Sym::Slot(_) => {
                            for (&(_, end), values) in cells.range((at, at + 1)..=(at, start + size)) {
                                for &value in values {
                                    open.push((dot + 1, end, [filled.clone(), vec![value]].concat()));
                                }
                            }
                        }
                    }
                }
            }
            if !values.is_empty() {
                cells.insert((start, start + size), values);
            }
        }
    }
    (cells.remove(&(0, length)).unwrap_or_default(), complete)
}

/// The most rows on which links are checked.
const CHECKED_ROWS: usize = 2000;

/// Rows that should come out right. Longer ones are left aside, to see how sure answers are.
pub(crate) fn rows_to_check(pairs: &Pairs) -> Vec<Row<u64>> {
    let rows: Vec<&Pair> = pairs.rows.iter().filter(|row| row.0.len() <= LONG_CASE).collect();
    let step = rows.len().div_ceil(CHECKED_ROWS).max(1);
    let rows = rows.into_iter().step_by(step);
    rows.filter_map(|(source, target, _)| Some(Row::new(source, value(pairs, target)?))).collect()
}

/// Rows for the estimation of links: some of each length.
fn cases(algebra: &Integers, grammar: &Grammar<Expr>, rows: &[NumberRow<'_>]) -> Vec<Case<u64>> {
    let mut by_length: BTreeMap<usize, Vec<&NumberRow<'_>>> = BTreeMap::new();
    let few = rows.iter().filter(|row| row.0.len() <= MAX_CASE).count() < FEW_CASES;
    let most = if few { LONG_CASE } else { MAX_CASE };
    for row in rows.iter().filter(|row| row.0.len() <= most) {
        by_length.entry(row.0.len()).or_default().push(row);
    }
    let mut cases = Vec::new();
    for rows in by_length.values() {
        let step = rows.len().div_ceil(CASES_PER_LENGTH).max(1);
        for (source, value, _) in rows.iter().step_by(step) {
            let leaves = source.iter().map(|&word| match grammar.classes[word as usize] {
                Some(class) => Leaf::Content {
                    value: algebra.word(word, 0),
                    class,
                    words: Counts::one(Child::Word(word), 1.0),
                },
                None => Leaf::Function(word),
            });
            cases.push(Case { leaves: leaves.collect(), gold: *value, n: 1.0, several: false });
        }
    }
    cases
}
