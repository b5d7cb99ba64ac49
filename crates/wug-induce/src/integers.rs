//! Targets that are whole numbers. They show no parts, so rules are found by solving: words alone give values, short
//! rows give tables of functions, and what is still unknown is tried out around one slot.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Algebra;
use crate::forest::{Case, Leaf};
use crate::grammar::{Grammar, Rule};
use crate::pairs::Pairs;
use crate::programs::{Expr, Library, MAX_SIZE, Table, solve};
use crate::symbols::{Child, Counts, Sym};

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

/// Rows from which links are estimated: so many of each length, up to a length.
const CASES_PER_LENGTH: usize = 800;
const MAX_CASE: usize = 9;

/// Reads training pairs: values of words, functions, rules, and cases for links.
pub(crate) fn read(pairs: &Pairs) -> (Integers, Grammar<Expr>, Vec<Case<u64>>) {
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
    let mut algebra = Integers {
        values: (0..pairs.source.len() as u32).map(|word| words.get(&word).copied()).collect(),
        library: Library::default(),
    };
    let mut rules = functions(&mut algebra, &rows);
    rules.push(Rule { source: vec![Sym::Slot(0)], term: Expr::Argument(0), class: 0, root: true });
    let classes = algebra.values.iter().map(|value| value.map(|_| 0)).collect();
    let mut grammar = Grammar { rules, classes, links: BTreeMap::new(), refuted: BTreeSet::new() };
    brackets(&algebra, &mut grammar, &rows);
    let cases = cases(&algebra, &grammar, &rows);
    (algebra, grammar, cases)
}

/// Functions from rows of two or three words with one word that has no value; the cheapest first, because later ones
/// may call earlier ones.
fn functions(algebra: &mut Integers, rows: &[NumberRow<'_>]) -> Vec<Rule<Expr>> {
    type Votes = BTreeMap<Vec<u64>, BTreeMap<u64, f64>>;
    let mut tables: BTreeMap<Vec<Sym>, Votes> = BTreeMap::new();
    for (source, value, n) in rows.iter().filter(|row| (2..=3).contains(&row.0.len())) {
        let values: Vec<Option<u64>> = source.iter().map(|&word| algebra.values[word as usize]).collect();
        if values.iter().filter(|value| value.is_none()).count() != 1 {
            continue;
        }
        let pattern = source.iter().zip(&values);
        let pattern = pattern.map(|(&word, value)| value.map_or(Sym::Word(word), |_| Sym::Slot(0))).collect();
        let arguments: Vec<u64> = values.into_iter().flatten().collect();
        let votes = tables.entry(pattern).or_default().entry(arguments).or_default();
        *votes.entry(*value).or_default() += n;
    }
    let mut open: Vec<(Vec<Sym>, Table)> = tables
        .into_iter()
        .map(|(pattern, votes)| (pattern, commonest(votes).into_iter().collect::<Table>()))
        .filter(|(_, table)| table.len() >= 4)
        .collect();
    let mut rules = Vec::new();
    for lenient in [false, true] {
        let mut size = 1;
        while size <= MAX_SIZE && !open.is_empty() {
            let found = open.iter().enumerate().find_map(|(i, (_, table))| {
                let allowed = if lenient { table.len() / 25 } else { 0 };
                Some((i, solve(table, size, &algebra.library, allowed)?))
            });
            let Some((i, function)) = found else {
                size += 1;
                continue;
            };
            let (source, table) = open.remove(i);
            let arguments = table[0].0.len() as u8;
            let id = algebra.library.functions.len() as u8;
            algebra.library.add(function, arguments);
            let term = Expr::Call(id, (0..arguments).map(Expr::Argument).collect());
            rules.push(Rule { source, term, class: 0, root: false });
            size = 1;
        }
    }
    rules
}

/// Words that are still unknown stand around one slot and change it little: the rule or the pair of rules that
/// explains most of the shortest rows, and leaves their values least open.
fn brackets(algebra: &Integers, grammar: &mut Grammar<Expr>, rows: &[NumberRow<'_>]) {
    let known: BTreeSet<u32> = grammar
        .rules
        .iter()
        .flat_map(|rule| &rule.source)
        .filter_map(|sym| if let Sym::Word(word) = sym { Some(*word) } else { None })
        .chain(algebra.values.iter().enumerate().filter(|(_, v)| v.is_some()).map(|(word, _)| word as u32))
        .collect();
    let mut short: Vec<&NumberRow<'_>> = rows
        .iter()
        .filter(|row| row.0.iter().any(|word| !known.contains(word)) && row.0.len() <= MAX_CASE)
        .collect();
    short.sort_by_key(|row| row.0.len());
    short.truncate(120);
    let unknown: BTreeSet<u32> =
        short.iter().flat_map(|row| row.0.iter().copied()).filter(|word| !known.contains(word)).collect();
    if unknown.is_empty() || unknown.len() > 8 {
        return;
    }
    let mut single: Vec<Rule<Expr>> = Vec::new();
    let slot = Sym::Slot(0);
    let terms =
        [Expr::Argument(0), Expr::Inc(Box::new(Expr::Argument(0))), Expr::Dec(Box::new(Expr::Argument(0)))];
    for &a in &unknown {
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
        let mut score = -8.0 * size as f64;
        for (source, value, _) in &short {
            let values = possible_values(algebra, &trial, source);
            let others = values.iter().filter(|other| *other != value).count() as f64;
            score += if values.contains(value) { 20.0 } else { 0.0 } - 2.0 * others;
        }
        if score > best.0 {
            best = (score, choice);
        }
    }
    grammar.rules.extend(best.1);
}

/// All values that any derivation gives.
fn possible_values(algebra: &Integers, grammar: &Grammar<Expr>, source: &[u32]) -> BTreeSet<u64> {
    let length = source.len();
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
                            values.extend(algebra.apply(&rule.term, &filled.iter().collect::<Vec<_>>()));
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
    cells.remove(&(0, length)).unwrap_or_default()
}

/// Rows for the estimation of links: some of each length.
fn cases(algebra: &Integers, grammar: &Grammar<Expr>, rows: &[NumberRow<'_>]) -> Vec<Case<u64>> {
    let mut by_length: BTreeMap<usize, Vec<&NumberRow<'_>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.0.len() <= MAX_CASE) {
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
            cases.push(Case { leaves: leaves.collect(), gold: *value, n: 1.0 });
        }
    }
    cases
}
