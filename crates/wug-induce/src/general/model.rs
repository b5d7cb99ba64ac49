//! From pairs to a model.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::chart::{At, Bounds, Chart, Origin, parse};
use super::effort::Effort;
use super::grammar::{Grammar, Symbol, round};
use super::hypotheses::{Level, lexicon, tokens_of};
use super::mentions::Mentions;
use super::order::Order;
use super::phrases::{as_rows, phrases};
use super::program::show_value;
use super::read::{Ends, Format, Row, TokenRow, Words, formats, read, value_bits};
use super::search::Search;
use super::synthesis::Language;
use super::value::Token;
use crate::{Progress, Stopped};

/// A grammar with what is needed to read sources and write targets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GeneralModel {
    words: Words,
    ends: Ends,
    format: Format,
    mentions: Option<Mentions>,
    grammar: Grammar,
    /// Bits of the description of training.
    pub bits: f64,
    /// The share of training rows that come out right.
    pub right: f64,
    /// What ended the search, if it was not done.
    #[serde(skip)]
    pub stopped: Option<Stopped>,
}

/// Longer sources are not read.
const LONGEST: usize = 400;

/// Finds the grammar with the shortest description of the pairs.
pub(crate) fn propose<S: AsRef<str>, T: AsRef<str>>(
    pairs: impl IntoIterator<Item = (S, T)>,
    budget: u64,
    until: Option<Instant>,
    verbose: bool,
    watch: Option<&(dyn Fn(Progress) + Sync)>,
) -> Option<GeneralModel> {
    let (words, ends, rows) = read(pairs);
    let effort = Effort::new(budget, until, verbose, watch);
    let (mut best, is_cut) = best_of(&words, &ends, &rows, &effort);
    if let Some(best) = &mut best {
        best.stopped = effort.stopped(is_cut);
    }
    best
}

/// The best grammar of all attempts, and whether steps were missing to try all to their end.
fn best_of(
    words: &Words,
    ends: &Ends,
    rows: &[TokenRow],
    effort: &Effort<'_>,
) -> (Option<GeneralModel>, bool) {
    let mut best: Option<GeneralModel> = None;
    let mut open = attempts(rows, words);
    let mut begun: Vec<Start> = Vec::new();
    for (pass, share) in PASSES.into_iter().enumerate() {
        let mut cut = Vec::new();
        for attempt in open {
            let start = Start::of(words, rows, &attempt);
            if pass == 0 {
                if begun.iter().any(|known| known.is_same(&start)) {
                    continue;
                }
                begun.push(start.clone());
            }
            if !effort.begin(share) {
                return (best, true);
            }
            let model = try_one(words, rows.len(), &attempt, start, effort);
            if effort.is_spent() {
                cut.push(attempt);
            }
            if effort.verbose {
                let (rules, steps) = (model.grammar.rules.len(), effort.steps());
                let (bits, right) = (model.bits, model.right);
                eprintln!(
                    "{:?}: {bits:.0} bits, right {right:.4}, rules {rules}, steps {steps}",
                    model.format
                );
            }
            let is_simple = model.right >= EXPLAINED && model.grammar.rules.len() <= SIMPLE;
            if best.as_ref().is_none_or(|best| model.bits < best.bits) {
                best = Some(GeneralModel { ends: ends.clone(), ..model });
            }
            if is_simple {
                return (best, false);
            }
        }
        let is_short = |best: &GeneralModel| best.right >= EXPLAINED && best.grammar.rules.len() <= SHORT;
        if best.as_ref().is_some_and(is_short) {
            return (best, false);
        }
        open = cut;
    }
    (best, !open.is_empty())
}

/// The share of training that a grammar explains which ends the search: at once if it has few rules, and after the first
/// pass if it is short. A longer one may be that of a hypothesis that does not fit.
const EXPLAINED: f64 = 0.995;
const SIMPLE: usize = 5;
const SHORT: usize = 14;

/// The share of the budget that each attempt has in the first pass and in the second. A level that needs many steps must
/// not keep a later one, where the language may be simple, from being reached.
const PASSES: [f64; 2] = [0.08, 0.4];

/// A way to read the targets, and how much is assumed of words.
type Attempt = (Format, Option<Mentions>, Level);

/// The attempts, in their order.
fn attempts(rows: &[TokenRow], words: &Words) -> Vec<Attempt> {
    let levels = |format: &Format| match format {
        Format::Int | Format::Digits | Format::Record(_) => &[Level::Rows, Level::Symbols][..],
        Format::Str | Format::Split(_) => &[Level::Rows, Level::Symbols, Level::Phrases][..],
    };
    let of_reading = |(format, mentions): (Format, Option<Mentions>)| {
        levels(&format).iter().map(move |&level| (format.clone(), mentions.clone(), level))
    };
    readings(rows, words).into_iter().flat_map(of_reading).collect()
}

/// The ways to read the targets: formats, and numbers as mentions where they can be.
fn readings(rows: &[TokenRow], words: &Words) -> Vec<(Format, Option<Mentions>)> {
    let formats = formats(rows, words);
    if formats.iter().all(|format| matches!(format, Format::Str | Format::Split(_)))
        && let Some(mentions) = Mentions::find(rows)
    {
        // Strings around a token that all targets have are the more general reading.
        return formats.into_iter().rev().map(|format| (format, Some(mentions.clone()))).collect();
    }
    formats.into_iter().map(|format| (format, None)).collect()
}

/// Where an attempt begins: the rows as it reads them, and the lexicon of its level.
#[derive(Clone)]
struct Start {
    rows: Vec<Row>,
    grammar: Grammar,
    format: Format,
    level: Level,
    word_bits: f64,
}

impl Start {
    fn of(words: &Words, rows: &[TokenRow], (format, mentions, level): &Attempt) -> Self {
        let rows: Vec<Row> = rows
            .iter()
            .filter_map(|(source, target, _)| {
                let target = match mentions {
                    Some(mentions) => mentions.to_positions(source, target)?,
                    None => target.clone(),
                };
                Some(Row { source: source.clone(), target: format.value(&target)? })
            })
            .collect();
        let targets: Vec<Vec<Token>> = rows.iter().map(|row| tokens_of(&row.target)).collect();
        let distinct: BTreeSet<Token> = targets.iter().flatten().copied().collect();
        let language = Language {
            token_bits: (distinct.len() as f64 + 2.0).log2(),
            positions: mentions.is_some(),
            order: Order::of(targets.iter().map(|target| &target[..])),
            pops: 500,
            expressions: 2000,
        };
        let sources: BTreeSet<u32> = rows.iter().flat_map(|row| row.source.iter().copied()).collect();
        let word_bits = (sources.len() as f64 + 2.0).log2();
        let grammar = lexicon(&rows, words, format, *level, language);
        Self { rows, grammar, format: format.clone(), level: *level, word_bits }
    }

    /// Whether a search from either finds the same: two levels may assume the same of words.
    fn is_same(&self, other: &Self) -> bool {
        self.format == other.format
            && (self.level == Level::Phrases) == (other.level == Level::Phrases)
            && self.grammar.lexicon == other.grammar.lexicon
            && self.grammar.in_run == other.grammar.in_run
    }
}

fn try_one(
    words: &Words,
    all: usize,
    (format, mentions, level): &Attempt,
    start: Start,
    effort: &Effort<'_>,
) -> GeneralModel {
    let level = *level;
    let Start { mut rows, grammar, word_bits, .. } = start;
    let real = rows.len();
    let mut extra = Vec::new();
    if level == Level::Phrases {
        let bracket = |token: Token| match &words.show(token)[..] {
            "(" | "[" | "{" | "<" => 1,
            ")" | "]" | "}" | ">" => -1,
            _ => 0,
        };
        extra = phrases(&rows, &grammar, &bracket);
        let short = as_rows(&rows, &extra);
        rows.extend(short);
    }
    let mut search = Search::new(&rows, real, grammar, word_bits, &extra, effort);
    search.run();
    let mut grammar = search.grammar;
    grammar.round();
    let (mut bits, mut right) = measure(&grammar, &rows[..real], effort);
    if level == Level::Phrases {
        bits += (word_bits + grammar.language.token_bits) * grammar.lexicon.iter().flatten().count() as f64;
    }
    right *= real as f64 / all.max(1) as f64;
    (bits, right) = (round(bits), round(right));
    let mentions = mentions.clone();
    GeneralModel {
        words: words.clone(),
        ends: Ends::default(),
        format: format.clone(),
        mentions,
        grammar,
        bits,
        right,
        stopped: None,
    }
}

/// Bits of the description, and the share of the rows that come out right.
fn measure(grammar: &Grammar, rows: &[Row], effort: &Effort<'_>) -> (f64, f64) {
    use rayon::prelude::*;
    // Where the time is over, a few rows have to do.
    let asked = if effort.is_stopped() { 60 } else { 600 };
    let drawn = super::random::Random::new(5).sample(rows.len(), asked);
    let wrong: Vec<f64> = drawn
        .par_iter()
        .map(|&i| {
            let row = &rows[i];
            let chart = parse(grammar, &row.source, Bounds::TRAIN);
            effort.charge(chart.steps);
            let first =
                chart.whole(grammar).first().map(|&(_, at)| chart.item(at, false).value == row.target);
            if first == Some(true) { 0.0 } else { 8.0 + value_bits(&row.target, grammar.language.token_bits) }
        })
        .collect();
    let scale = rows.len() as f64 / drawn.len().max(1) as f64;
    let right = wrong.iter().filter(|bits| **bits == 0.0).count() as f64 / wrong.len().max(1) as f64;
    (grammar.bits() + scale * wrong.iter().sum::<f64>(), right)
}

impl GeneralModel {
    /// Whether its parts fit together; what was saved is hostile until this is checked.
    pub(crate) fn is_sound(&self) -> bool {
        let grammar = &self.grammar;
        let holes = |pattern: &[Symbol]| pattern.iter().filter(|s| !matches!(s, Symbol::Word(_))).count();
        grammar.places.len() == grammar.rules.len()
            && grammar.variant_bits.len() == grammar.rules.len()
            && grammar.rules.iter().zip(&grammar.places).all(|(rule, places)| {
                !rule.pattern.is_empty()
                    && (rule.frame as usize) < grammar.frames.len()
                    && places.len() == holes(&rule.pattern)
                    && (rule.pattern.len() > 1 || rule.pattern == [Symbol::Run])
            })
    }

    fn source(&self, text: &str) -> Vec<u32> {
        let words = text.split_whitespace().map(|word| self.words.vocabulary.get(word).unwrap_or(u32::MAX));
        self.ends.strip(&words.collect::<Vec<_>>()).to_vec()
    }

    /// The target of a source with the bits of its derivation, or why there is none.
    pub(crate) fn predict(&self, text: &str) -> Result<(String, f64, String), &'static str> {
        let source = self.source(text);
        if source.is_empty() || source.len() > LONGEST {
            return Err("the source is empty or too long");
        }
        let chart = parse(&self.grammar, &source, Bounds::PREDICT);
        let best = chart.whole(&self.grammar).first().copied().ok_or("no derivation covers the source")?;
        let value = &chart.item(best.1, false).value;
        let tokens = self
            .format
            .tokens(value)
            .and_then(|tokens| match &self.mentions {
                Some(mentions) => mentions.to_numbers(&source, &tokens),
                None => Some(tokens),
            })
            .ok_or("the derivation has no value that a target can have")?;
        let text: Vec<String> = tokens.iter().map(|&token| self.words.show(token)).collect();
        let mut used = BTreeSet::new();
        let derivation = self.derivation(&chart, best.1, &source, &mut used);
        let rules = used.into_iter().map(|rule| format!("\n{}", self.rule_text(rule)));
        Ok((text.join(" "), best.0, derivation + &rules.collect::<String>()))
    }

    /// A derivation in one line: each rule with its parts and its value. The rules are added to `used`.
    fn derivation(&self, chart: &Chart, at: At, source: &[u32], used: &mut BTreeSet<u32>) -> String {
        let names = |token: Token| self.words.show(token);
        let item = chart.item(at, false);
        let span: Vec<String> =
            source[at.0 as usize..at.1 as usize].iter().map(|&word| self.words.show(word)).collect();
        let value = show_value(&item.value, &names);
        let Origin::Rule(rule) = item.origin else { return format!("{} = {value}", span.join(" ")) };
        used.insert(rule);
        let holes = self.grammar.rules[rule as usize].pattern.iter();
        let holes = holes.filter(|symbol| !matches!(symbol, Symbol::Word(_)));
        let parts: Vec<String> = holes
            .zip(&item.children)
            .flat_map(|(symbol, &child)| match symbol {
                Symbol::List => chart.item(child, true).children.clone(),
                _ => vec![child],
            })
            .map(|child| self.derivation(chart, child, source, used))
            .collect();
        format!("r{rule}({}) = {value}", parts.join("; "))
    }

    /// A rule as a person reads it: `r3: $1 twice => $1 $1`.
    fn rule_text(&self, number: u32) -> String {
        let rule = &self.grammar.rules[number as usize];
        let mut hole = 0;
        let symbol = |symbol: &Symbol| match symbol {
            Symbol::Word(word) => self.words.show(*word),
            other => {
                hole += 1;
                let more = match other {
                    Symbol::List => "*",
                    Symbol::Run => "+",
                    _ => "",
                };
                format!("${hole}{more}")
            }
        };
        let pattern: Vec<String> = rule.pattern.iter().map(symbol).collect();
        let program = rule.program.show(&|token: Token| self.words.show(token));
        format!("r{number}: {} => {program}", pattern.join(" "))
    }

    /// The grammar as a person reads it.
    pub(crate) fn text(&self) -> String {
        let names = |token: Token| self.words.show(token);
        let mut out = String::new();
        for rule in 0..self.grammar.rules.len() as u32 {
            let _ = writeln!(out, "{}", self.rule_text(rule));
        }
        for (word, values) in self.grammar.lexicon.iter().enumerate() {
            for value in values {
                let _ = writeln!(out, "{} = {}", self.words.show(word as u32), show_value(value, &names));
            }
        }
        let copied: Vec<String> = (0..self.grammar.in_run.len() as u32)
            .filter(|&word| self.grammar.in_run[word as usize] == Some(self.words.as_token(word)))
            .map(|word| self.words.show(word))
            .collect();
        if !copied.is_empty() {
            let _ = writeln!(out, "copied: {}", copied.join(" "));
        }
        out
    }
}
