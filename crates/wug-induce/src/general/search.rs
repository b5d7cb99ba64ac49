//! The search for rules: in rounds, rows that are not derived yet become tables, tables become programs, and the rules
//! that shorten the description most are taken.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;

use super::chart::{Bounds, Chart, parse};
use super::effort::Effort;
use super::grammar::{Grammar, Symbol};
use super::links;
use super::program::{Atom, IntExpr, Key, Program};
use super::random::Random;
use super::read::{Row, value_bits};
use super::synthesis::{Entry, Found, programs};
use super::units::{Units, frames, hole_values, list_frame, units};
use super::value::Value;
use crate::Progress;

/// Longer sources are not searched for frames.
const LONGEST: usize = 45;
/// Rows of a round: the shortest that are not derived, and random others.
const SHORTEST_ROWS: usize = 320;
const RANDOM_ROWS: usize = 160;
/// Frames of a round that are synthesised.
const FRAMES: usize = 200;
/// Frames between which it is asked whether the budget is spent.
const CHUNK: usize = 16;
/// Lines of a table.
const LINES: usize = 400;
/// Frames of a round for which programs with branches are tried.
const BRANCHED: usize = 16;
/// Rounds, and rules of each.
const ROUNDS: usize = 12;
const RULES: usize = 30;
/// What explaining a phrase is worth beside explaining a row.
const PHRASE: f64 = 0.5;
/// Rules that are looked at again when the others are known, and rows of each.
const REFACTORED: usize = 16;
const MOST_REFACTORED: usize = 12;
const REFACTOR_ROWS: usize = 160;
/// Rules of a grammar: a longer one explains nothing.
const MOST_RULES: usize = 40;

/// Rows that say how much of training is explained.
const WATCHED: usize = 100;

/// A search over the rows of one hypothesis about units.
pub(crate) struct Search<'a> {
    pub rows: &'a [Row],
    pub grammar: Grammar,
    /// Bits of a source word in a pattern.
    pub word_bits: f64,
    pub bits: Vec<f64>,
    /// Further units of rows.
    pub extra: &'a [Vec<((usize, usize), Value)>],
    /// Rows from this one on are phrases of other rows: they are to be explained, but are no rows of training.
    pub real: usize,
    /// Rows by their sources; of equal ones the last.
    by_source: HashMap<&'a [u32], u32>,
    pub effort: &'a Effort<'a>,
    random: Random,
}

/// The lines of a table by values, starts and target.
type Lines<'a> = HashMap<(Vec<Value>, Vec<u16>, &'a Value), Entry>;

struct Candidate {
    pattern: Vec<Symbol>,
    program: Program,
    rows: Vec<u32>,
    /// Bits of pattern, program and exceptions; and without the exceptions.
    bits: f64,
    rule_bits: f64,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        rows: &'a [Row],
        real: usize,
        grammar: Grammar,
        word_bits: f64,
        extra: &'a [Vec<((usize, usize), Value)>],
        effort: &'a Effort<'a>,
    ) -> Self {
        let token = grammar.language.token_bits;
        let weight = |i: usize| if i < real { 1.0 } else { PHRASE };
        let bits =
            rows.iter().enumerate().map(|(i, row)| weight(i) * value_bits(&row.target, token)).collect();
        let by_source = rows.iter().enumerate().map(|(i, row)| (&row.source[..], i as u32)).collect();
        Self { rows, grammar, word_bits, bits, extra, real, by_source, effort, random: Random::new(7) }
    }

    /// Rounds until nothing is left or nothing is found.
    pub(crate) fn run(&mut self) {
        let mut explained: BTreeSet<u32> =
            (0..self.rows.len() as u32).filter(|&row| self.rows[row as usize].source.len() == 1).collect();
        let mut idle = 0;
        for round in 0..ROUNDS {
            if self.effort.is_spent() || self.grammar.rules.len() >= MOST_RULES {
                break;
            }
            let batch = self.batch(&mut explained);
            if batch.is_empty() {
                break;
            }
            let (new, left) = self.round(&batch, round > 0);
            let learned = self.abduce(&left) + if new == 0 { self.phrases(&left) } else { 0 };
            links::relink(&mut self.grammar, &self.rows[..self.real], 400, 2, self.effort);
            if self.effort.verbose {
                eprintln!(
                    "round {round}: batch {}, left {}, new rules {new}, rules {}, learned words {learned}",
                    batch.len(),
                    left.len(),
                    self.grammar.rules.len()
                );
            }
            self.effort.tell(|| self.progress(round));
            idle = if new + learned > 0 { 0 } else { idle + 1 };
            if idle == 2 {
                break;
            }
        }
        links::relink(&mut self.grammar, &self.rows[..self.real], 1000, 3, self.effort);
        self.refactor();
        self.unify_keys();
        self.finish();
    }

    /// How far it is, from a sample of the rows. Nothing is charged: whoever watches changes no result.
    fn progress(&self, round: usize) -> Progress {
        let sample: Vec<u32> =
            Random::new(3).sample(self.real, WATCHED).into_iter().map(|i| i as u32).collect();
        let derives = |&row: &u32| {
            let row = &self.rows[row as usize];
            let chart = parse(&self.grammar, &row.source, Bounds::TRAIN);
            chart.cell(0, row.source.len()).iter().any(|item| item.value == row.target)
        };
        let derived: Vec<bool> = sample.par_iter().map(derives).collect();
        let open = sample.iter().zip(&derived).filter(|(_, derived)| !**derived);
        let open: f64 = open.map(|(&row, _)| self.bits[row as usize]).sum();
        let (all, scale) = (sample.len().max(1) as f64, self.real as f64 / sample.len().max(1) as f64);
        Progress {
            round: round + 1,
            rules: self.grammar.rules.len(),
            bits: self.grammar.bits() + scale * open,
            explained: derived.iter().filter(|derived| **derived).count() as f64 / all,
            ..Progress::default()
        }
    }

    /// What is left to do when the rules are known.
    fn finish(&mut self) {
        let rows = &self.rows[..self.real];
        links::relink(&mut self.grammar, rows, 1000, 2, self.effort);
        self.prune();
        links::relink(&mut self.grammar, rows, 1500, 2, self.effort);
        links::settle(&mut self.grammar, rows, self.effort);
    }

    /// Whether the grammar derives the target of a row.
    fn derives(&self, row: u32) -> bool {
        if self.effort.is_stopped() {
            return false;
        }
        let row = &self.rows[row as usize];
        let chart = parse(&self.grammar, &row.source, Bounds::TRAIN);
        self.effort.charge(chart.steps);
        chart.cell(0, row.source.len()).iter().any(|item| item.value == row.target)
    }

    fn derived(&self, rows: &[u32]) -> Vec<bool> {
        rows.par_iter().map(|&row| self.derives(row)).collect()
    }

    /// The shortest rows that are not derived, and some of the others.
    fn batch(&mut self, explained: &mut BTreeSet<u32>) -> Vec<u32> {
        let open: Vec<u32> = (0..self.rows.len() as u32)
            .filter(|row| !explained.contains(row) && self.rows[*row as usize].source.len() <= LONGEST)
            .collect();
        let mut batch = Vec::new();
        let mut at = 0;
        while at < open.len() && batch.len() < SHORTEST_ROWS && !self.effort.is_spent() {
            let chunk = &open[at..open.len().min(at + 128)];
            at += chunk.len();
            for (&row, derived) in chunk.iter().zip(self.derived(chunk)) {
                if derived {
                    explained.insert(row);
                } else {
                    batch.push(row);
                }
            }
        }
        let rest: Vec<u32> = open[at..].to_vec();
        let drawn = self.random.sample(rest.len(), RANDOM_ROWS * 3);
        let drawn: Vec<u32> = drawn.into_iter().map(|i| rest[i]).collect();
        let derived = self.derived(&drawn);
        let others = drawn.into_iter().zip(derived).filter(|(_, derived)| !derived).map(|(row, _)| row);
        batch.extend(others.take(RANDOM_ROWS));
        batch
    }

    /// The units of a row.
    fn units(&self, row: u32, with_chart: bool) -> Units {
        let chart: Option<Chart> = (with_chart || !self.grammar.rules.is_empty()).then(|| {
            let chart =
                parse(&self.grammar, &self.rows[row as usize].source, Bounds { items: 6, ..Bounds::TRAIN });
            self.effort.charge(chart.steps);
            chart
        });
        let extra = self.extra.get(row as usize).map_or(&[][..], |extra| &extra[..]);
        let value_of = |source: &[u32]| Some(&self.rows[*self.by_source.get(source)? as usize].target);
        units(&self.rows[row as usize], &value_of, &self.grammar, chart.as_ref(), extra)
    }

    /// The tables of the frames of some rows.
    fn tables(&self, batch: &[u32], with_chart: bool) -> BTreeMap<Vec<Symbol>, Vec<Entry>> {
        let lines = |&row: &u32| {
            let units = self.units(row, with_chart);
            let source = &self.rows[row as usize].source;
            let mut lines: Vec<(Vec<Symbol>, Vec<u16>, Vec<Value>)> = Vec::new();
            for (pattern, spans) in frames(source, &units) {
                let mut starts = Vec::new();
                let mut holes = spans.iter();
                let mut at = 0;
                for symbol in &pattern {
                    starts.push(at as u16);
                    at =
                        if *symbol == Symbol::Hole { holes.next().map_or(at, |span| span.1) } else { at + 1 };
                }
                for values in hole_values(&spans, &units, self.grammar.language.positions) {
                    lines.push((pattern.clone(), starts.clone(), values));
                }
            }
            let run = |word: &u32| self.grammar.in_run.get(*word as usize).copied().flatten();
            if let Some(run) = source.iter().map(run).collect::<Option<Vec<_>>>() {
                lines.push((vec![Symbol::Run], vec![0], vec![Value::string(&run)]));
            }
            if let Some((pattern, values)) = list_frame(source, &units) {
                let starts = vec![0; pattern.len()];
                lines.push((pattern, starts, values));
            }
            lines
        };
        let each: Vec<_> = batch.par_iter().map(lines).collect();
        let mut tables: BTreeMap<Vec<Symbol>, Lines<'_>> = BTreeMap::new();
        for (&row, lines) in batch.iter().zip(each) {
            let target = &self.rows[row as usize].target;
            for (pattern, starts, values) in lines {
                let cut =
                    starts.iter().fold(7u64, |cut, &at| cut.wrapping_mul(211).wrapping_add(u64::from(at)));
                let starts_key = if self.grammar.language.positions { starts.clone() } else { Vec::new() };
                let entry = tables.entry(pattern).or_default().entry((values.clone(), starts_key, target));
                let entry = entry.or_insert_with(|| Entry {
                    values,
                    starts,
                    target: target.clone(),
                    rows: Vec::new(),
                    cuts: Vec::new(),
                    length: self.rows[row as usize].source.len(),
                });
                if (entry.rows.last(), entry.cuts.last()) != (Some(&row), Some(&cut)) {
                    entry.rows.push(row);
                    entry.cuts.push(cut);
                }
            }
        }
        let sorted = |entries: HashMap<_, Entry>| {
            let mut entries: Vec<Entry> = entries.into_values().collect();
            entries.sort_by(|a, b| (a.length, &a.rows, &a.values).cmp(&(b.length, &b.rows, &b.values)));
            entries
        };
        tables.into_iter().map(|(pattern, entries)| (pattern, sorted(entries))).collect()
    }

    fn pattern_bits(&self, pattern: &[Symbol]) -> f64 {
        let symbol = |symbol: &Symbol| if matches!(symbol, Symbol::Word(_)) { self.word_bits } else { 2.0 };
        8.0 + pattern.iter().map(symbol).sum::<f64>()
    }

    /// Candidates for rules from the tables of a batch.
    fn candidates(&self, batch: &[u32], with_chart: bool) -> Vec<Candidate> {
        let mut ranked: Vec<(f64, Vec<Symbol>, Vec<Entry>)> = Vec::new();
        for (pattern, entries) in self.tables(batch, with_chart) {
            let rows: BTreeSet<u32> = entries.iter().flat_map(|entry| entry.rows.iter().copied()).collect();
            let lengths: BTreeSet<usize> = entries.iter().map(|entry| list_lengths(&entry.values)).collect();
            if rows.len() < 2 || pattern.contains(&Symbol::List) && lengths.len() < 3 {
                continue;
            }
            let bound =
                rows.iter().map(|&row| self.bits[row as usize]).sum::<f64>() - self.pattern_bits(&pattern);
            if bound > 10.0 {
                ranked.push((bound, pattern, entries));
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.truncate(FRAMES);
        let mut found: Vec<Candidate> = Vec::new();
        // Whether the budget is spent is asked between chunks, so that it does not depend on the number of threads.
        for (number, chunk) in ranked.chunks(CHUNK).enumerate() {
            if self.effort.is_spent() {
                break;
            }
            let each = chunk.par_iter().enumerate().map(|(i, (_, pattern, entries))| {
                let branches = number * CHUNK + i < BRANCHED;
                self.candidates_of(pattern, entries, branches)
            });
            found.extend(each.collect::<Vec<_>>().into_iter().flatten());
        }
        let known = |candidate: &Candidate| {
            self.grammar
                .rules
                .iter()
                .any(|rule| rule.pattern == candidate.pattern && rule.program == candidate.program)
        };
        found.into_iter().filter(|candidate| !known(candidate)).collect()
    }

    /// Candidates for rules with one pattern.
    fn candidates_of(&self, pattern: &[Symbol], entries: &[Entry], branches: bool) -> Vec<Candidate> {
        if self.effort.is_stopped() {
            return Vec::new();
        }
        let language = &self.grammar.language;
        let mut hasher = DefaultHasher::new();
        pattern.hash(&mut hasher);
        let seed = hasher.finish();
        let mut entries = entries.to_vec();
        if entries.len() > LINES {
            let mut random = Random::new(seed);
            let rest = entries.split_off(LINES * 5 / 8);
            entries.extend(random.sample(rest.len(), LINES * 3 / 8).into_iter().map(|i| rest[i].clone()));
        }
        let pattern_bits = self.pattern_bits(pattern);
        let found = programs(&entries, language, seed, &|row| self.bits[row as usize], branches, self.effort);
        let candidate = |Found { program, rows, bits }: Found| Candidate {
            pattern: pattern.to_vec(),
            rule_bits: pattern_bits + program.bits(language.token_bits),
            program,
            rows,
            bits: bits + pattern_bits,
        };
        let pays = |candidate: &Candidate| self.gain(candidate, |_| true) > 0.0;
        found.into_iter().map(candidate).filter(pays).collect()
    }

    fn gain(&self, candidate: &Candidate, counts: impl Fn(u32) -> bool) -> f64 {
        let rows = candidate.rows.iter().filter(|&&row| counts(row));
        rows.map(|&row| self.bits[row as usize]).sum::<f64>() - candidate.bits
    }

    /// A round: rules from a batch by greedy cover. Returns how many there are, and the rows that are left.
    fn round(&mut self, batch: &[u32], with_chart: bool) -> (usize, BTreeSet<u32>) {
        let mut candidates = self.candidates(batch, with_chart);
        let mut left: BTreeSet<u32> = batch.iter().copied().collect();
        let mut given: BTreeSet<u32> = BTreeSet::new();
        let mut new = 0;
        while new < RULES && !self.effort.is_stopped() {
            let credit = self.credit(&given);
            let gain = |candidate: &Candidate| {
                let inherited: f64 = candidate.rows.iter().filter_map(|row| credit.get(row)).sum::<f64>();
                self.gain(candidate, |row| left.contains(&row)) + inherited
            };
            let gains: Vec<f64> = candidates.iter().map(gain).collect();
            let paying = (0..gains.len()).filter(|&i| gains[i] > 0.0);
            let best =
                paying.max_by(|&a, &b| gains[a].total_cmp(&gains[b]).then(b.cmp(&a))).map(|i| (gains[i], i));
            // A row that many others contain may be worth remembering as a phrase.
            let phrase = credit
                .iter()
                .map(|(&row, &worth)| {
                    let source = &self.rows[row as usize].source;
                    (worth - 8.0 - self.word_bits * source.len() as f64 - self.bits[row as usize], row)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            if let Some((gain, row)) = phrase
                && gain > best.map_or(0.0, |best| best.0)
            {
                self.remember(row);
                given = self.underived(&given);
                new += 1;
                continue;
            }
            let Some((gain, i)) = best else { break };
            let candidate = candidates.swap_remove(i);
            if self.effort.verbose {
                let names = |token| format!("{token}");
                eprintln!(
                    "   + {:?} => {} gain {gain:.0} rows {}",
                    candidate.pattern,
                    candidate.program.show(&names),
                    candidate.rows.len()
                );
            }
            // What has the new rule as a part is looked for when that part has become a unit.
            candidates.retain(|other| !stands_in(&candidate.pattern, &other.pattern));
            self.grammar.add(candidate.pattern.clone(), candidate.program, candidate.rule_bits);
            new += 1;
            given.extend(candidate.rows.iter().copied());
            candidate.rows.iter().for_each(|row| {
                left.remove(row);
            });
            // Rows without the words of the new rule are no more derivable than before.
            let has = |row: &u32| contains_words(&self.rows[*row as usize].source, &candidate.pattern);
            let (open, others): (BTreeSet<u32>, BTreeSet<u32>) = left.iter().copied().partition(has);
            left = self.underived(&open);
            left.extend(others);
            let (open, others): (BTreeSet<u32>, BTreeSet<u32>) = given.iter().copied().partition(has);
            given = self.underived(&open);
            given.extend(others);
            // Words whose values have become known change the tables.
            if self.abduce(&left) > 0 {
                break;
            }
        }
        let open: Vec<u32> = batch.to_vec();
        let derived = self.derived(&open);
        let left =
            open.into_iter().zip(derived).filter(|(_, derived)| !derived).map(|(row, _)| row).collect();
        (new, left)
    }

    fn underived(&self, rows: &BTreeSet<u32>) -> BTreeSet<u32> {
        let rows: Vec<u32> = rows.iter().copied().collect();
        let derived = self.derived(&rows);
        rows.into_iter().zip(derived).filter(|(_, derived)| !derived).map(|(row, _)| row).collect()
    }

    /// What rows are worth that others contain: a row that is explained given a part that is not derivable pays that part.
    fn credit(&self, given: &BTreeSet<u32>) -> BTreeMap<u32, f64> {
        let mut credit: BTreeMap<u32, f64> = BTreeMap::new();
        let mut derivable: HashMap<u32, bool> = HashMap::new();
        for &row in given.iter().take(300) {
            let source = &self.rows[row as usize].source;
            let mut parts: Vec<(usize, usize, u32)> = Vec::new();
            for length in 2..=6.min(source.len().saturating_sub(1)) {
                for from in 0..=source.len() - length {
                    let Some(&part) = self.by_source.get(&source[from..from + length]) else { continue };
                    let inner = parts.iter().any(|&(a, b, _)| from <= a && b <= from + length);
                    if !inner && !*derivable.entry(part).or_insert_with(|| self.derives(part)) {
                        parts.push((from, from + length, part));
                    }
                }
            }
            for &(_, _, part) in &parts {
                *credit.entry(part).or_default() += self.bits[row as usize] / parts.len() as f64;
            }
        }
        credit
    }

    /// Makes a row a rule.
    fn remember(&mut self, row: u32) {
        let row = &self.rows[row as usize];
        let pattern: Vec<Symbol> = row.source.iter().map(|&word| Symbol::Word(word)).collect();
        let program = constant(&row.target);
        let bits = self.pattern_bits(&pattern) + value_bits(&row.target, self.grammar.language.token_bits);
        self.grammar.add(pattern, program, bits);
    }

    /// Remembers rows that stay unexplained but stand in other rows.
    fn phrases(&mut self, left: &BTreeSet<u32>) -> usize {
        let short: HashMap<&[u32], u32> = left
            .iter()
            .filter(|&&row| (row as usize) < self.real)
            .map(|&row| (&self.rows[row as usize].source[..], row))
            .filter(|(source, _)| (2..=4).contains(&source.len()))
            .collect();
        if short.is_empty() {
            return 0;
        }
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for row in self.rows[..self.real].iter().take(4000) {
            for length in 2..=4 {
                for part in row.source.windows(length).filter(|part| part.len() < row.source.len()) {
                    if let Some(&row) = short.get(part) {
                        *counts.entry(row).or_default() += 1;
                    }
                }
            }
        }
        let mut counts: Vec<(u32, usize)> = counts.into_iter().filter(|&(_, n)| n >= 3).collect();
        counts.sort_by_key(|&(row, n)| (std::cmp::Reverse(n), row));
        counts.truncate(12);
        for &(row, _) in &counts {
            self.remember(row);
        }
        counts.len()
    }

    /// Makes lookups by a whole string of one token lookups by its last token where other rules have such: rows that show a
    /// word alone do not tell the two apart.
    fn unify_keys(&mut self) {
        let atoms = |rule: &super::grammar::Rule| match &rule.program {
            Program::Concat(atoms) => atoms.clone(),
            _ => Vec::new(),
        };
        let by_last = |atom: &Atom| matches!(atom, Atom::Lookup(Key::Last(_) | Key::LastKnown(_), _));
        if !self.grammar.rules.iter().flat_map(atoms).any(|atom| by_last(&atom)) {
            return;
        }
        for rule in &mut self.grammar.rules {
            let Program::Concat(atoms) = &mut rule.program else { continue };
            for atom in atoms {
                if let Atom::Lookup(key, table) = atom
                    && let Key::Whole(leaf) = *key
                    && table.keys().all(|key| key.as_str().is_some_and(|text| text.len() == 1))
                {
                    *key = Key::Last(leaf);
                }
            }
        }
    }

    /// Replaces rules by shorter ones that do the same given the others: a rule that was found before its parts were known
    /// may spell them out.
    fn refactor(&mut self) {
        let mut order: Vec<(f64, u32)> = self.grammar.rules.iter().map(|rule| (rule.bits, rule.id)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (bits, id) in order.into_iter().take(REFACTORED) {
            // A grammar of many rules has not found the language; its rules are not worth the work.
            if self.effort.is_spent() || !(2..=MOST_REFACTORED).contains(&self.grammar.rules.len()) {
                return;
            }
            let Some(rule) = self.grammar.rules.iter().position(|rule| rule.id == id) else { continue };
            let pattern = self.grammar.rules[rule].pattern.clone();
            let has = |row: &u32| {
                let source = &self.rows[*row as usize].source;
                source.len() <= LONGEST && source.len() >= pattern.len() && contains_words(source, &pattern)
            };
            let concerned: Vec<u32> = (0..self.real as u32).filter(has).collect();
            let drawn = self.random.sample(concerned.len(), REFACTOR_ROWS);
            let sample: Vec<u32> = drawn.into_iter().map(|i| concerned[i]).collect();
            let before = self.derived(&sample);
            let kept = self.grammar.clone();
            self.grammar.remove(rule);
            let after = self.derived(&sample);
            let lost: Vec<u32> =
                (0..sample.len()).filter(|&i| before[i] && !after[i]).map(|i| sample[i]).collect();
            if lost.is_empty() {
                continue;
            }
            let mut candidates = self.candidates(&lost, true);
            candidates.retain(|candidate| candidate.rule_bits < bits - 2.0);
            candidates.sort_by(|a, b| {
                a.rule_bits
                    .total_cmp(&b.rule_bits)
                    .then(a.pattern.cmp(&b.pattern))
                    .then(a.program.cmp(&b.program))
            });
            let without = self.grammar.clone();
            let mut better = None;
            for candidate in candidates.iter().filter(|c| c.rows.len() * 10 >= lost.len() * 9).take(6) {
                self.grammar = without.clone();
                self.grammar.add(candidate.pattern.clone(), candidate.program.clone(), candidate.rule_bits);
                let derived = self.derived(&lost).into_iter().filter(|derived| *derived).count();
                if derived * 20 >= lost.len() * 19 {
                    better = Some(self.grammar.clone());
                    break;
                }
            }
            self.grammar = better.unwrap_or(kept);
        }
    }

    /// Drops each rule without which the description is no longer.
    fn prune(&mut self) {
        let used = links::use_of_rules(&self.grammar);
        for rule in (0..self.grammar.rules.len()).rev() {
            if used[rule] == 0.0 {
                self.grammar.remove(rule);
            }
        }
        let used = links::use_of_rules(&self.grammar);
        let mut order: Vec<(usize, Vec<Symbol>, Program)> = (0..self.grammar.rules.len())
            .map(|i| {
                (
                    used[i] as usize,
                    self.grammar.rules[i].pattern.clone(),
                    self.grammar.rules[i].program.clone(),
                )
            })
            .collect();
        order.sort();
        let rows: Vec<u32> =
            (0..self.real as u32).filter(|&row| self.rows[row as usize].source.len() <= 25).collect();
        for (_, pattern, program) in order {
            if self.effort.is_spent() {
                return;
            }
            let find = |rule: &super::grammar::Rule| rule.pattern == pattern && rule.program == program;
            let Some(rule) = self.grammar.rules.iter().position(find) else { continue };
            let has = |row: &&u32| contains_words(&self.rows[**row as usize].source, &pattern);
            let concerned: Vec<u32> = rows.iter().filter(has).copied().collect();
            let mut sample: Vec<u32> = concerned.iter().take(60).copied().collect();
            let rest = &concerned[sample.len()..];
            sample.extend(self.random.sample(rest.len(), 80).into_iter().map(|i| rest[i]));
            let scale = concerned.len() as f64 / sample.len().max(1) as f64;
            let (before, could) = (self.right(&sample), self.derived(&sample));
            let kept = self.grammar.clone();
            self.grammar.remove(rule);
            let part: Vec<Row> = sample.iter().map(|&row| self.rows[row as usize].clone()).collect();
            links::recount(&mut self.grammar, &part, self.effort);
            let (after, can) = (self.right(&sample), self.derived(&sample));
            let lost = |before: &[bool], after: &[bool]| -> f64 {
                let change = |i: usize| f64::from(before[i]) - f64::from(after[i]);
                (0..sample.len()).map(|i| scale * self.bits[sample[i] as usize] * change(i)).sum()
            };
            if lost(&before, &after).max(lost(&could, &can)) > kept.rules[rule].bits {
                self.grammar = kept;
            }
        }
    }

    /// Whether the cheapest reading of each row is its target.
    fn right(&self, rows: &[u32]) -> Vec<bool> {
        rows.par_iter()
            .map(|&row| {
                let row = &self.rows[row as usize];
                let chart = parse(&self.grammar, &row.source, Bounds::TRAIN);
                self.effort.charge(chart.steps);
                let best = chart.whole(&self.grammar);
                best.first().is_some_and(|&(_, at)| chart.item(at, false).value == row.target)
            })
            .collect()
    }
}

/// Whether a source has the words of a pattern.
fn contains_words(source: &[u32], pattern: &[Symbol]) -> bool {
    pattern.iter().all(|symbol| if let Symbol::Word(word) = symbol { source.contains(word) } else { true })
}

/// Whether a pattern, its holes filled by one or more symbols each, stands somewhere in a longer one.
fn stands_in(part: &[Symbol], whole: &[Symbol]) -> bool {
    fn matches(part: &[Symbol], whole: &[Symbol], open: bool) -> bool {
        match part {
            [] => true,
            [Symbol::Word(word), rest @ ..] => {
                let here = whole.first() == Some(&Symbol::Word(*word)) && matches(rest, &whole[1..], false);
                here || open && !whole.is_empty() && matches(part, &whole[1..], true)
            }
            [_, rest @ ..] => !whole.is_empty() && matches(rest, &whole[1..], true),
        }
    }
    let has_word = part.iter().any(|symbol| matches!(symbol, Symbol::Word(_)));
    has_word && part.len() < whole.len() && (0..whole.len()).any(|at| matches(part, &whole[at..], false))
}

fn list_lengths(values: &[Value]) -> usize {
    values.iter().map(|value| if let Value::List(list) = value { list.len() } else { 0 }).sum()
}

/// The program that always gives a value.
fn constant(value: &Value) -> Program {
    match value {
        Value::Int(value) => Program::Int(IntExpr::Constant(*value)),
        Value::Str(tokens) => Program::Concat(tokens.iter().map(|&token| Atom::Constant(token)).collect()),
        Value::Record(parts) | Value::List(parts) => Program::Record(parts.iter().map(constant).collect()),
    }
}
