//! All values of all spans of a source that a grammar derives, the cheapest few of each span.

use std::collections::BTreeMap;

use super::grammar::{Child, Grammar, Place, RUN, Symbol, WORD};
use super::program::Input;
use super::value::Value;

/// What made an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Word(u32),
    Run,
    Rule(u32),
    List,
}

/// Where an item is: start, end, number in its cell.
pub(crate) type At = (u16, u16, u16);

/// A value of a span, with its cheapest derivation.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub bits: f64,
    pub origin: Origin,
    pub value: Value,
    pub children: Vec<At>,
}

/// The items of each span.
pub(crate) struct Chart {
    n: usize,
    cells: Vec<Vec<Item>>,
    lists: Vec<Vec<Item>>,
    /// The steps that were taken.
    pub steps: usize,
    /// Whether the bound on steps cut the work short.
    pub cut: bool,
}

/// Bounds of a parse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Items of a span, and of one frame among them.
    pub items: usize,
    pub of_frame: usize,
    /// Attempts to move on in a rule.
    pub steps: usize,
}

impl Bounds {
    pub(crate) const TRAIN: Self = Self { items: 10, of_frame: 3, steps: 25_000 };
    pub(crate) const PREDICT: Self = Self { items: 12, of_frame: 4, steps: 2_000_000 };
}

impl Chart {
    pub(crate) fn cell(&self, from: usize, to: usize) -> &[Item] {
        &self.cells[from * (self.n + 1) + to]
    }

    fn list(&self, from: usize, to: usize) -> &[Item] {
        &self.lists[from * (self.n + 1) + to]
    }

    pub(crate) fn item(&self, at: At, is_list: bool) -> &Item {
        let cell = if is_list {
            self.list(at.0 as usize, at.1 as usize)
        } else {
            self.cell(at.0 as usize, at.1 as usize)
        };
        &cell[at.2 as usize]
    }

    /// The readings of the whole source, the cheapest first: bits and item.
    pub(crate) fn whole(&self, grammar: &Grammar) -> Vec<(f64, At)> {
        let mut all: Vec<(f64, At)> = self
            .cell(0, self.n)
            .iter()
            .enumerate()
            .map(|(i, item)| {
                (
                    item.bits + grammar.link(&grammar.top, child_of(grammar, item)),
                    (0, self.n as u16, i as u16),
                )
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }
}

/// Links of so many bits are not followed.
pub(crate) const FORBIDDEN: f64 = 1e6;

/// What an item is to the hole that it fills.
pub(crate) fn child_of(grammar: &Grammar, item: &Item) -> Child {
    let (kind, word, rule) = match item.origin {
        Origin::Word(word) => (WORD, Some(word), None),
        Origin::Run | Origin::List => (RUN, None, None),
        Origin::Rule(rule) => (grammar.rules[rule as usize].frame, None, Some(rule)),
    };
    Child { kind, word, rule }
}

struct Parser<'a> {
    grammar: &'a Grammar,
    source: &'a [u32],
    chart: Chart,
    /// The cells of the start that is worked on, before they are cut to the cheapest items.
    open: Vec<Vec<Item>>,
    bounds: Bounds,
    steps: usize,
}

/// A rule that was matched up to a symbol.
struct Partial {
    rule: u32,
    from: usize,
    values: Vec<Value>,
    starts: Vec<u16>,
    children: Vec<At>,
}

/// The chart of a source.
pub(crate) fn parse(grammar: &Grammar, source: &[u32], bounds: Bounds) -> Chart {
    let n = source.len();
    let chart = Chart {
        n,
        cells: vec![Vec::new(); (n + 1) * (n + 1)],
        lists: vec![Vec::new(); (n + 1) * (n + 1)],
        steps: 0,
        cut: false,
    };
    let mut parser = Parser { grammar, source, chart, open: Vec::new(), bounds, steps: bounds.steps };
    parser.run();
    parser.chart
}

impl Parser<'_> {
    fn run(&mut self) {
        let n = self.source.len();
        let grammar = self.grammar;
        let fits = |rule: &u32| {
            let pattern = &grammar.rules[*rule as usize].pattern;
            pattern.len() <= n
                && pattern.iter().all(|symbol| match symbol {
                    Symbol::Word(word) => self.source.contains(word),
                    _ => true,
                })
        };
        let rules: Vec<u32> = (0..grammar.rules.len() as u32).filter(fits).collect();
        let first = |rule: u32| grammar.rules[rule as usize].pattern[0];
        let has_lists =
            rules.iter().any(|&rule| grammar.rules[rule as usize].pattern.contains(&Symbol::List));
        for i in (0..n).rev() {
            self.open = vec![Vec::new(); n + 1];
            self.leaves(i);
            self.whole_runs(i, &rules);
            for &rule in &rules {
                if first(rule) == Symbol::Word(self.source[i]) {
                    self.advance(&mut Partial::new(rule, i), 0, i, 0.0);
                }
            }
            for j in i + 1..=n {
                self.close(i, j);
                for &rule in &rules {
                    match first(rule) {
                        Symbol::Hole | Symbol::Run if grammar.rules[rule as usize].pattern.len() > 1 => {
                            let mut partial = Partial::new(rule, i);
                            self.fill(&mut partial, 0, i, j, 0.0, false);
                        }
                        _ => {}
                    }
                }
            }
            if has_lists {
                self.make_lists(i);
                for &rule in &rules {
                    if first(rule) == Symbol::List {
                        for j in i + 1..=n {
                            let mut partial = Partial::new(rule, i);
                            self.fill(&mut partial, 0, i, j, 0.0, true);
                        }
                    }
                }
                for j in i + 1..=n {
                    self.close(i, j);
                }
            }
        }
        self.chart.cut = self.steps == 0;
        self.chart.steps = self.bounds.steps - self.steps + n;
    }

    /// The words and runs that begin at a position.
    fn leaves(&mut self, i: usize) {
        let grammar = self.grammar;
        let word = self.source[i];
        for value in grammar.lexicon.get(word as usize).into_iter().flatten() {
            self.put(i + 1, Item::leaf(Origin::Word(word), value.clone(), 0.0));
        }
        let token = |j: usize| *grammar.in_run.get(self.source[j] as usize)?;
        let tokens: Vec<u32> = (i..self.source.len()).map_while(token).collect();
        let Some(&first) = tokens.first() else { return };
        self.put(i + 1, Item::leaf(Origin::Run, Value::string(&[first]), 1.0));
        // Units are whole runs and single words, and so is what rules take.
        if tokens.len() > 1 && (i == 0 || token(i - 1).is_none()) {
            self.put(i + tokens.len(), Item::leaf(Origin::Run, Value::string(&tokens), 1.0));
        }
    }

    /// Rules that are nothing but a run.
    fn whole_runs(&mut self, i: usize, rules: &[u32]) {
        for &rule in rules.iter().filter(|&&rule| self.grammar.rules[rule as usize].pattern == [Symbol::Run])
        {
            for end in i + 1..=self.source.len() {
                let run = self.open[end].iter().find(|item| item.origin == Origin::Run);
                let Some(run) = run.map(|item| item.value.clone()) else { continue };
                let mut partial = Partial::new(rule, i);
                partial.values.push(run);
                partial.starts.push(0);
                self.finish(&partial, end, 1.0);
            }
        }
    }

    fn put(&mut self, end: usize, item: Item) {
        let same = |other: &&mut Item| {
            let frame = |origin: Origin| match origin {
                Origin::Rule(rule) => self.grammar.rules[rule as usize].frame,
                Origin::Word(_) => WORD,
                _ => RUN,
            };
            frame(other.origin) == frame(item.origin) && other.value == item.value
        };
        match self.open[end].iter_mut().find(same) {
            Some(known) if known.bits > item.bits => *known = item,
            Some(_) => {}
            None => self.open[end].push(item),
        }
    }

    /// Keeps the cheapest items of a span.
    fn close(&mut self, i: usize, j: usize) {
        let mut items = std::mem::take(&mut self.open[j]);
        items.sort_by(|a, b| a.bits.total_cmp(&b.bits));
        // Several frames share a cell: readings by one must not crowd out those by others.
        let mut by_frame: BTreeMap<u32, usize> = BTreeMap::new();
        let grammar = self.grammar;
        items.retain(|item| {
            let count = by_frame.entry(child_of(grammar, item).kind).or_default();
            *count += 1;
            *count <= self.bounds.of_frame
        });
        let cell = &mut self.chart.cells[i * (self.source.len() + 1) + j];
        // A cell that was closed before keeps its items where they are: others point at them.
        cell.extend(items.into_iter().take(self.bounds.items));
    }

    /// Moves on in a rule from a symbol at a position.
    fn advance(&mut self, partial: &mut Partial, symbol: usize, at: usize, bits: f64) {
        if self.steps == 0 {
            return;
        }
        self.steps -= 1;
        let grammar = self.grammar;
        let pattern = &grammar.rules[partial.rule as usize].pattern;
        let Some(&next) = pattern.get(symbol) else {
            self.finish(partial, at, bits);
            return;
        };
        if at >= self.source.len() {
            return;
        }
        if let Symbol::Word(word) = next {
            if self.source[at] == word {
                partial.starts.push((at - partial.from) as u16);
                self.advance(partial, symbol + 1, at + 1, bits);
                partial.starts.pop();
            }
            return;
        }
        let rest = pattern.len() - symbol - 1;
        for end in at + 1..=self.source.len().saturating_sub(rest) {
            self.fill(partial, symbol, at, end, bits, next == Symbol::List);
        }
    }

    /// Fills a hole with each item of a span.
    fn fill(
        &mut self,
        partial: &mut Partial,
        symbol: usize,
        at: usize,
        end: usize,
        bits: f64,
        is_list: bool,
    ) {
        let grammar = self.grammar;
        let rule = &grammar.rules[partial.rule as usize];
        if end + rule.pattern.len() - symbol - 1 > self.source.len() {
            return;
        }
        if let Some(Symbol::Word(word)) = rule.pattern.get(symbol + 1)
            && self.source.get(end) != Some(word)
        {
            return;
        }
        let hole = partial.values.len();
        // A rule of many holes looks at fewer values of each.
        let most = match grammar.places[partial.rule as usize].len() {
            0..=2 => usize::MAX,
            3 => 4,
            4 => 3,
            _ => 2,
        };
        let place = &grammar.places[partial.rule as usize][hole];
        let count = if is_list { self.chart.list(at, end).len() } else { self.chart.cell(at, end).len() };
        for i in 0..count.min(most) {
            let child = (at as u16, end as u16, i as u16);
            let item = self.chart.item(child, is_list);
            if rule.pattern[symbol] == Symbol::Run && item.origin != Origin::Run {
                continue;
            }
            let link = if is_list { 0.0 } else { grammar.link(place, child_of(grammar, item)) };
            if link >= FORBIDDEN {
                continue;
            }
            let total = bits + item.bits + link;
            let by = if grammar.language.positions { (at - partial.from) as i64 } else { 0 };
            partial.values.push(item.value.shifted(by));
            partial.starts.push((at - partial.from) as u16);
            partial.children.push(child);
            self.advance(partial, symbol + 1, end, total);
            partial.values.pop();
            partial.starts.pop();
            partial.children.pop();
        }
    }

    fn finish(&mut self, partial: &Partial, end: usize, bits: f64) {
        let grammar = self.grammar;
        let input =
            Input { values: &partial.values, starts: &partial.starts, order: &grammar.language.order };
        let Some(value) = grammar.rules[partial.rule as usize].program.eval(&input) else { return };
        if value.as_str().is_some_and(<[u32]>::is_empty) {
            return;
        }
        let origin = Origin::Rule(partial.rule);
        self.put(end, Item { bits, origin, value, children: partial.children.clone() });
    }

    /// Lists of adjacent items that begin at a position.
    fn make_lists(&mut self, i: usize) {
        let n = self.source.len();
        for j in i + 1..=n {
            let mut lists: Vec<Item> = Vec::new();
            let mut add = |bits: f64, values: Vec<Value>, children: Vec<At>| {
                lists.push(Item { bits, origin: Origin::List, value: Value::List(values.into()), children });
            };
            for k in i + 1..=j {
                for (number, item) in self.chart.cell(i, k).iter().enumerate().take(2) {
                    if item.value.kind() == 2 {
                        continue;
                    }
                    let child = child_of(self.grammar, item);
                    let bits = item.bits + self.grammar.link(&self.grammar.list, child);
                    let at = (i as u16, k as u16, number as u16);
                    if k == j {
                        add(bits, vec![item.value.clone()], vec![at]);
                        continue;
                    }
                    for rest in self.chart.list(k, j).iter().take(2) {
                        let Value::List(more) = &rest.value else { continue };
                        let values = [std::slice::from_ref(&item.value), &more[..]].concat();
                        add(bits + rest.bits, values, [&[at], &rest.children[..]].concat());
                    }
                }
            }
            lists.sort_by(|a, b| a.bits.total_cmp(&b.bits));
            lists.dedup_by(|a, b| a.value == b.value);
            lists.truncate(3);
            self.chart.lists[i * (n + 1) + j] = lists;
        }
    }
}

impl Partial {
    fn new(rule: u32, from: usize) -> Self {
        Self { rule, from, values: Vec::new(), starts: Vec::new(), children: Vec::new() }
    }
}

impl Item {
    fn leaf(origin: Origin, value: Value, bits: f64) -> Self {
        Self { bits, origin, value, children: Vec::new() }
    }
}

/// Calls `visit` for each link of a derivation: the rule and hole that is filled (`None` for the whole source), and what
/// fills it.
pub(crate) fn links(
    grammar: &Grammar,
    chart: &Chart,
    at: At,
    visit: &mut dyn FnMut(Option<(u32, u8)>, Child),
) {
    let item = chart.item(at, false);
    visit(None, child_of(grammar, item));
    below(grammar, chart, item, visit);
}

/// The rule number that stands for the elements of lists.
pub(crate) const LIST: u32 = u32::MAX;

fn below(grammar: &Grammar, chart: &Chart, item: &Item, visit: &mut dyn FnMut(Option<(u32, u8)>, Child)) {
    let Origin::Rule(rule) = item.origin else { return };
    let holes = grammar.rules[rule as usize].pattern.iter().filter(|s| !matches!(s, Symbol::Word(_)));
    for (hole, (symbol, &at)) in holes.zip(&item.children).enumerate() {
        if *symbol == Symbol::List {
            let list = chart.item(at, true);
            for &element in &list.children {
                let element = chart.item(element, false);
                visit(Some((LIST, 0)), child_of(grammar, element));
                below(grammar, chart, element, visit);
            }
            continue;
        }
        let next = chart.item(at, false);
        visit(Some((rule, hole as u8)), child_of(grammar, next));
        below(grammar, chart, next, visit);
    }
}

/// The place of a link.
pub(crate) fn place_mut(grammar: &mut Grammar, parent: Option<(u32, u8)>) -> &mut Place {
    match parent {
        None => &mut grammar.top,
        Some((LIST, _)) => &mut grammar.list,
        Some((rule, hole)) => &mut grammar.places[rule as usize][hole as usize],
    }
}
