//! The cheapest derivation of a source.

use crate::costs::Costs;
use crate::grammar::{Grammar, TOP};
use crate::symbols::{Child, Sym};

/// A derivation: a child with its own children.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// The word or rule.
    pub child: Child,
    /// The stretch of the source it covers.
    pub span: (usize, usize),
    /// What fills its slots.
    pub children: Vec<Tree>,
}

/// The cheapest derivation, or why there is none.
#[derive(Debug)]
pub(crate) enum Parse {
    Tree { tree: Tree, bits: f64 },
    Nothing,
    TooLong,
}

/// The most extensions of partial matches that one source may take.
const MAX_WORK: u64 = 60_000_000;
const MAX_TOKENS: usize = 4096;

struct Item {
    child: Child,
    bits: f32,
    /// Start, end and index of each child.
    children: Vec<(u32, u32, u32)>,
}

/// How a partial match got where it is.
#[derive(Clone, Copy)]
struct State {
    bits: f32,
    /// Where the state before it ended, and which item of the cell in between was taken.
    from: u32,
    item: u32,
}

const CLOSED: State = State { bits: f32::INFINITY, from: 0, item: 0 };

struct Chart<'a, T> {
    grammar: &'a Grammar<T>,
    costs: &'a Costs,
    source: &'a [u32],
    coerce: bool,
    /// Number of the first state of each rule.
    offsets: Vec<usize>,
    states: usize,
    /// Items by start: (end, items), ends ascending.
    cells: Vec<Vec<(usize, Vec<Item>)>>,
    work: u64,
}

/// Parses with seen links alone; if that fails, with any.
pub(crate) fn parse<T>(grammar: &Grammar<T>, costs: &Costs, source: &[u32], coerce: bool) -> Parse {
    if source.len() > MAX_TOKENS {
        return Parse::TooLong;
    }
    let mut offsets = Vec::with_capacity(grammar.rules.len());
    let mut states = 0;
    for rule in &grammar.rules {
        offsets.push(states);
        states += rule.source.len() + 1;
    }
    let cells = (0..=source.len()).map(|_| Vec::new()).collect();
    let mut chart = Chart { grammar, costs, source, coerce, offsets, states, cells, work: 0 };
    let mut best = None;
    for start in (0..source.len()).rev() {
        best = chart.row(start);
        if chart.work > MAX_WORK {
            return Parse::TooLong;
        }
    }
    match best {
        Some((bits, top)) => {
            let tree = chart.tree(&top, 0, source.len());
            Parse::Tree { tree, bits: f64::from(bits) }
        }
        None => Parse::Nothing,
    }
}

impl<T> Chart<'_, T> {
    /// Everything that starts at `start`; returns the best root if that is the beginning.
    fn row(&mut self, start: usize) -> Option<(f32, Item)> {
        let length = self.source.len();
        let width = length + 1 - start;
        let mut table = vec![CLOSED; width * self.states];
        let mut best = None;
        // Rules that begin with a word, and their first step.
        for (id, rule) in self.grammar.rules.iter().enumerate() {
            if rule.root && start > 0 {
                continue;
            }
            if rule.source.first() == Some(&Sym::Word(self.source[start])) {
                table[self.states + self.offsets[id] + 1] = State { bits: 0.0, from: start as u32, item: 0 };
            }
        }
        for end in start + 1..=length {
            let items = self.complete(start, end, &table);
            if !items.is_empty() {
                self.begin(start, end, &items, &mut table);
                self.cells[start].push((end, items));
            }
            if start == 0 && end == length {
                best = self.roots(&table);
            }
            if end < length {
                self.extend(start, end, &mut table);
            }
            if self.work > MAX_WORK {
                return None;
            }
        }
        best
    }

    /// The items from `start` to `end`.
    fn complete(&self, start: usize, end: usize, table: &[State]) -> Vec<Item> {
        let mut items = Vec::new();
        let row = (end - start) * self.states;
        if end == start + 1 {
            let child = Child::Word(self.source[start]);
            if self.grammar.class(child).is_some() {
                items.push(Item { child, bits: 0.0, children: Vec::new() });
            }
        }
        for (id, rule) in self.grammar.rules.iter().enumerate() {
            let state = table[row + self.offsets[id] + rule.source.len()];
            if state.bits < f32::INFINITY && !rule.root {
                let children = self.trace(id, start, end, table);
                items.push(Item { child: Child::Rule(id as u32), bits: state.bits, children });
            }
        }
        items
    }

    /// The best root over the whole source.
    fn roots(&self, table: &[State]) -> Option<(f32, Item)> {
        let length = self.source.len();
        let mut best: Option<(f32, usize)> = None;
        for (id, rule) in self.grammar.rules.iter().enumerate().filter(|(_, rule)| rule.root) {
            let cost = self.costs.top(id as u32);
            let bits = table[length * self.states + self.offsets[id] + rule.source.len()].bits + cost.bits;
            if bits < f32::INFINITY
                && (cost.seen || self.coerce)
                && best.is_none_or(|(least, _)| bits < least)
            {
                best = Some((bits, id));
            }
        }
        best.map(|(bits, id)| {
            let children = self.trace(id, 0, length, table);
            (bits, Item { child: Child::Rule(id as u32), bits, children })
        })
    }

    /// Rules whose first slot is filled by what stands from `start` to `end`.
    fn begin(&mut self, start: usize, end: usize, items: &[Item], table: &mut [State]) {
        for (id, rule) in self.grammar.rules.iter().enumerate() {
            let is_slot = matches!(rule.source.first(), Some(Sym::Slot(_)));
            let fits = if rule.root { start == 0 } else { end < self.source.len() };
            if is_slot && fits {
                self.work += items.len() as u64;
                if let Some((bits, item)) = self.fill((id as u32, 0), items) {
                    let state = State { bits, from: start as u32, item };
                    let at = &mut table[(end - start) * self.states + self.offsets[id] + 1];
                    if state.bits < at.bits {
                        *at = state;
                    }
                }
            }
        }
    }

    /// Carries partial matches that reach `middle` one symbol further.
    fn extend(&mut self, start: usize, middle: usize, table: &mut [State]) {
        let row = (middle - start) * self.states;
        for (id, rule) in self.grammar.rules.iter().enumerate() {
            let mut slot = 0u8;
            for (dot, sym) in rule.source.iter().enumerate() {
                let state = table[row + self.offsets[id] + dot];
                let here = slot;
                slot += u8::from(matches!(sym, Sym::Slot(_)));
                if dot == 0 || state.bits == f32::INFINITY {
                    continue;
                }
                let target = self.offsets[id] + dot + 1;
                match *sym {
                    Sym::Word(word) => {
                        if self.source[middle] == word {
                            let at = &mut table[row + self.states + target];
                            if state.bits < at.bits {
                                *at = State { bits: state.bits, from: middle as u32, item: 0 };
                            }
                        }
                    }
                    Sym::Slot(_) => {
                        for (end, items) in &self.cells[middle] {
                            self.work += items.len() as u64;
                            if let Some((bits, item)) = self.fill((id as u32, here), items) {
                                let bits = bits + state.bits;
                                let at = &mut table[(end - start) * self.states + target];
                                if bits < at.bits {
                                    *at = State { bits, from: middle as u32, item };
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The cheapest item for a slot.
    fn fill(&self, place: (u32, u8), items: &[Item]) -> Option<(f32, u32)> {
        let mut best: Option<(f32, u32)> = None;
        for (i, item) in items.iter().enumerate() {
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

    /// The children of a complete match.
    fn trace(&self, id: usize, start: usize, end: usize, table: &[State]) -> Vec<(u32, u32, u32)> {
        let mut children = Vec::new();
        let mut at = end;
        for (dot, sym) in self.grammar.rules[id].source.iter().enumerate().rev() {
            let state = table[(at - start) * self.states + self.offsets[id] + dot + 1];
            if matches!(sym, Sym::Slot(_)) {
                children.push((state.from, at as u32, state.item));
            }
            at = state.from as usize;
        }
        children.reverse();
        children
    }

    fn tree(&self, item: &Item, start: usize, end: usize) -> Tree {
        let children = item
            .children
            .iter()
            .map(|&(from, to, index)| {
                let cell = &self.cells[from as usize];
                let found =
                    cell.binary_search_by_key(&(to as usize), |(end, _)| *end).expect("a filled cell");
                self.tree(&cell[found].1[index as usize], from as usize, to as usize)
            })
            .collect();
        Tree { child: item.child, span: (start, end), children }
    }
}

impl Tree {
    /// The links of the derivation, from the top.
    pub(crate) fn links(&self) -> Vec<(u32, u8, Child)> {
        let mut links = vec![(TOP, 0, self.child)];
        let mut open = vec![self];
        while let Some(tree) = open.pop() {
            if let Child::Rule(rule) = tree.child {
                for (slot, child) in tree.children.iter().enumerate() {
                    links.push((rule, slot as u8, child.child));
                    open.push(child);
                }
            }
        }
        links
    }
}
