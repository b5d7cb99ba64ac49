//! The grammar run backwards: the cheapest source whose value is a given string.

use std::collections::HashMap;

use crate::costs::Costs;
use crate::grammar::Grammar;
use crate::strings::{Piece, Strings};
use crate::symbols::{Child, Sym};

/// The longest target that is inverted.
const MAX_LENGTH: usize = 256;
/// The most ways to lay terms over stretches that one target may take.
const MAX_WORK: u64 = 60_000_000;
/// How often rules that change nothing (`turn $1` => `$1`) may be put around each other.
const IDENTITIES: usize = 3;

/// A stretch of the target by its content: equal stretches are one.
type Content = u32;

struct Item {
    child: Child,
    bits: f32,
    /// For each slot: the content, and which of its items.
    children: Vec<(Content, u32)>,
}

struct Inverter<'a> {
    grammar: &'a Grammar<Vec<Piece>>,
    costs: &'a Costs,
    target: &'a [u32],
    coerce: bool,
    /// The content of the stretch from `i` to `j`.
    content: Vec<Content>,
    items: Vec<Vec<Item>>,
    work: u64,
}

/// The words of the cheapest source, with its bits and whether every link of it was seen.
pub(crate) fn invert(
    algebra: &Strings,
    grammar: &Grammar<Vec<Piece>>,
    costs: &Costs,
    target: &[u32],
) -> Result<(Vec<u32>, f64, bool), &'static str> {
    if target.len() > MAX_LENGTH {
        return Err("the target is too long to be inverted within bounds");
    }
    for coerce in [false, true] {
        let mut inverter = Inverter::new(grammar, costs, target, coerce);
        inverter.fill(algebra);
        if inverter.work > MAX_WORK {
            return Err("the target is too long to be inverted within bounds");
        }
        if let Some((bits, root)) = inverter.root() {
            let mut source = Vec::new();
            inverter.read(&root, &mut source);
            return Ok((source, f64::from(bits), !coerce));
        }
    }
    Err("no rule of the grammar makes the target")
}

impl<'a> Inverter<'a> {
    fn new(grammar: &'a Grammar<Vec<Piece>>, costs: &'a Costs, target: &'a [u32], coerce: bool) -> Self {
        let length = target.len();
        let mut ids: HashMap<&[u32], Content> = HashMap::new();
        let mut content = vec![0; (length + 1) * (length + 1)];
        for size in 1..=length {
            for start in 0..=length - size {
                let next = ids.len() as Content;
                let id = *ids.entry(&target[start..start + size]).or_insert(next);
                content[start * (length + 1) + start + size] = id;
            }
        }
        let items = (0..ids.len()).map(|_| Vec::new()).collect();
        Self { grammar, costs, target, coerce, content, items, work: 0 }
    }

    fn at(&self, start: usize, end: usize) -> Content {
        self.content[start * (self.target.len() + 1) + end]
    }

    fn fill(&mut self, algebra: &Strings) {
        let length = self.target.len();
        let mut done = vec![false; self.items.len()];
        for size in 1..=length {
            for start in 0..=length - size {
                let id = self.at(start, start + size);
                if std::mem::replace(&mut done[id as usize], true) {
                    continue;
                }
                if size == 1 {
                    let owners = algebra
                        .owns
                        .iter()
                        .enumerate()
                        .filter(|(_, owns)| **owns == Some(self.target[start]));
                    for (word, _) in owners {
                        let child = Child::Word(word as u32);
                        self.items[id as usize].push(Item { child, bits: 0.0, children: Vec::new() });
                    }
                }
                self.make(id, start, start + size, false);
                for _ in 0..IDENTITIES {
                    self.make(id, start, start + size, true);
                }
                if self.work > MAX_WORK {
                    return;
                }
            }
        }
    }

    /// Adds what rules make of a stretch; rules whose term is one slot, or the others.
    fn make(&mut self, id: Content, start: usize, end: usize, identity: bool) {
        let grammar = self.grammar;
        for (number, rule) in grammar.rules.iter().enumerate().filter(|(_, rule)| !rule.root) {
            if identity != matches!(rule.term[..], [Piece::Slot(_)]) {
                continue;
            }
            let Some(item) = self.best(number as u32, start, end) else { continue };
            let items = &mut self.items[id as usize];
            match items.iter_mut().find(|old| old.child == item.child) {
                Some(old) if item.bits < old.bits => *old = item,
                Some(_) => {}
                None => items.push(item),
            }
        }
    }

    /// The cheapest way a rule makes a stretch.
    fn best(&mut self, rule: u32, start: usize, end: usize) -> Option<Item> {
        let mut best = None;
        let slots = self.costs.slots(rule);
        let mut bound = vec![None; slots];
        self.lay(rule, &self.grammar.rules[rule as usize].term, start, end, &mut bound, 0.0, &mut best);
        best
    }

    #[allow(clippy::too_many_arguments)]
    fn lay(
        &mut self,
        rule: u32,
        term: &'a [Piece],
        start: usize,
        end: usize,
        bound: &mut Vec<Option<(usize, usize, u32)>>,
        bits: f32,
        best: &mut Option<Item>,
    ) {
        self.work += 1;
        if best.as_ref().is_some_and(|best| best.bits <= bits) || self.work > MAX_WORK {
            return;
        }
        let Some((first, rest)) = term.split_first() else {
            // A slot that the term does not use could be anything: nothing to read it from.
            if start == end && bound.iter().all(Option::is_some) {
                let children = bound.iter().flatten().map(|&(from, to, item)| (self.at(from, to), item));
                *best = Some(Item { child: Child::Rule(rule), bits, children: children.collect() });
            }
            return;
        };
        if end < start + term.len() {
            return;
        }
        match *first {
            Piece::Symbol(symbol) => {
                if self.target[start] == symbol {
                    self.lay(rule, rest, start + 1, end, bound, bits, best);
                }
            }
            Piece::Slot(slot) => match bound[slot as usize] {
                Some((from, to, _)) => {
                    let size = to - from;
                    if start + size <= end && self.at(start, start + size) == self.at(from, to) {
                        self.lay(rule, rest, start + size, end, bound, bits, best);
                    }
                }
                None => {
                    let ends = if rest.is_empty() { end..=end } else { start + 1..=end - rest.len() };
                    for middle in ends {
                        let Some((cost, item)) = self.cheapest((rule, slot), self.at(start, middle)) else {
                            continue;
                        };
                        bound[slot as usize] = Some((start, middle, item));
                        self.lay(rule, rest, middle, end, bound, bits + cost, best);
                        bound[slot as usize] = None;
                    }
                }
            },
        }
    }

    fn cheapest(&self, place: (u32, u8), content: Content) -> Option<(f32, u32)> {
        let mut best: Option<(f32, u32)> = None;
        for (i, item) in self.items[content as usize].iter().enumerate() {
            let cost = self.costs.get(place, item.child);
            let bits = item.bits + cost.bits;
            if (cost.seen || self.coerce)
                && bits < f32::INFINITY
                && best.is_none_or(|(least, _)| bits < least)
            {
                best = Some((bits, i as u32));
            }
        }
        best
    }

    fn root(&mut self) -> Option<(f32, Item)> {
        let mut best: Option<(f32, Item)> = None;
        for id in (0..self.grammar.rules.len() as u32).filter(|&id| self.grammar.rules[id as usize].root) {
            let cost = self.costs.top(id);
            if !(cost.seen || self.coerce) {
                continue;
            }
            if let Some(item) = self.best(id, 0, self.target.len()) {
                let bits = item.bits + cost.bits;
                if best.as_ref().is_none_or(|(least, _)| bits < *least) {
                    best = Some((bits, item));
                }
            }
        }
        best
    }

    /// The source of an item. Identities put around each other could refer to each other in a circle, so depth is
    /// bounded by the number of items.
    fn read(&self, item: &Item, source: &mut Vec<u32>) {
        match item.child {
            Child::Word(word) => source.push(word),
            Child::Rule(rule) => {
                let mut children = item.children.iter();
                for sym in &self.grammar.rules[rule as usize].source {
                    match *sym {
                        Sym::Word(word) => source.push(word),
                        Sym::Slot(_) => {
                            let &(content, index) = children.next().expect("a child for each slot");
                            self.read(&self.items[content as usize][index as usize], source);
                        }
                    }
                }
            }
        }
    }
}
