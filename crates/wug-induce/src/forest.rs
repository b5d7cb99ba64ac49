//! All derivations of a training row that give its target.

use std::collections::{BTreeMap, HashMap};

use crate::Algebra;
use crate::grammar::{Grammar, Rule, TOP, fits};
use crate::symbols::{Child, Counts, Sym};

/// A link by its number in [`LinkNames`].
pub(crate) type LinkId = u32;

/// A leaf of a source.
#[derive(Debug, Clone)]
pub(crate) enum Leaf<V> {
    /// A function word.
    Function(u32),
    /// A content word, or all the words that stand here in rows that are otherwise alike.
    Content { value: V, class: u16, words: Counts },
}

/// Rows that are alike but for their words.
#[derive(Debug, Clone)]
pub(crate) struct Case<V> {
    pub leaves: Vec<Leaf<V>>,
    pub gold: V,
    /// How many rows.
    pub n: f64,
    /// Whether it is several sentences, which only roots for as many may put together.
    pub several: bool,
}

/// Links met so far, numbered; a group has the links of all words of a leaf, with their shares.
#[derive(Debug, Default)]
pub(crate) struct LinkNames {
    pub names: Vec<(u32, u8, Child)>,
    pub groups: Vec<Vec<(LinkId, f64)>>,
    ids: HashMap<(u32, u8, Child), LinkId>,
    /// Groups of one link.
    single: HashMap<LinkId, u32>,
}

impl LinkNames {
    fn id(&mut self, link: (u32, u8, Child)) -> LinkId {
        *self.ids.entry(link).or_insert_with(|| {
            self.names.push(link);
            self.names.len() as LinkId - 1
        })
    }

    fn one(&mut self, link: (u32, u8, Child)) -> u32 {
        let id = self.id(link);
        if let Some(&group) = self.single.get(&id) {
            return group;
        }
        self.groups.push(vec![(id, 1.0)]);
        let group = self.groups.len() as u32 - 1;
        self.single.insert(id, group);
        group
    }

    fn all(&mut self, (parent, slot): (u32, u8), words: &Counts) -> u32 {
        let total: f64 = words.iter().map(|(_, n)| n).sum();
        let group = words.iter().map(|(word, n)| (self.id((parent, slot, word)), n / total)).collect();
        self.groups.push(group);
        self.groups.len() as u32 - 1
    }
}

/// One way to build a node: its children, and the groups of links they come by.
#[derive(Debug, Clone)]
pub(crate) struct Alternative {
    pub children: Vec<u32>,
    pub links: Vec<u32>,
}

/// Derivations packed by what they share. Children come before parents.
#[derive(Debug)]
pub(crate) struct Forest {
    pub nodes: Vec<Vec<Alternative>>,
    /// Root rules over the whole source, with the link from the top.
    pub tops: Vec<(u32, u32)>,
    /// How many rows it stands for.
    pub n: f64,
}

impl Forest {
    /// Whether a derivation is left when groups of links are taken away.
    pub(crate) fn has_derivation(&self, is_gone: impl Fn(u32) -> bool) -> bool {
        let mut alive = vec![false; self.nodes.len()];
        for (i, alternatives) in self.nodes.iter().enumerate() {
            alive[i] = alternatives.is_empty()
                || alternatives.iter().any(|alternative| {
                    alternative.children.iter().all(|&child| alive[child as usize])
                        && !alternative.links.iter().any(|&link| is_gone(link))
                });
        }
        self.tops.iter().any(|&(top, link)| alive[top as usize] && !is_gone(link))
    }
}

/// The most nodes a row may have; longer rows are left out.
const MAX_NODES: usize = 4000;

/// What a node is: a leaf by its position, or a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Made {
    Leaf(usize),
    Rule(u32),
}

struct Node<V> {
    made: Made,
    class: u16,
    value: V,
    alternatives: Vec<Vec<u32>>,
}

/// Finds all derivations of a case; `None` if there is none, or too many.
pub(crate) fn forest<A: Algebra>(
    algebra: &A,
    grammar: &Grammar<A::Term>,
    case: &Case<A::Value>,
    names: &mut LinkNames,
) -> Option<Forest> {
    let length = case.leaves.len();
    let mut builder = Builder {
        algebra,
        grammar,
        case,
        nodes: Vec::new(),
        cells: vec![Vec::new(); (length + 1) * (length + 1)],
    };
    for size in 1..=length {
        for start in 0..=length - size {
            builder.fill(start, start + size);
            if builder.nodes.len() > MAX_NODES {
                return None;
            }
        }
    }
    builder.finish(names)
}

struct Builder<'a, A: Algebra> {
    algebra: &'a A,
    grammar: &'a Grammar<A::Term>,
    case: &'a Case<A::Value>,
    nodes: Vec<Node<A::Value>>,
    cells: Vec<Vec<u32>>,
}

impl<A: Algebra> Builder<'_, A> {
    fn cell(&self, start: usize, end: usize) -> usize {
        start * (self.case.leaves.len() + 1) + end
    }

    fn fill(&mut self, start: usize, end: usize) {
        let cell = self.cell(start, end);
        if let Leaf::Content { value, class, .. } = &self.case.leaves[start]
            && end == start + 1
        {
            self.cells[cell].push(self.nodes.len() as u32);
            let (made, value) = (Made::Leaf(start), value.clone());
            self.nodes.push(Node { made, class: *class, value, alternatives: Vec::new() });
        }
        self.make(start, end, false);
        if end - start == self.case.leaves.len() {
            self.make(start, end, true);
        }
    }

    /// Adds what root rules, or other rules, make of a stretch.
    fn make(&mut self, start: usize, end: usize, root: bool) {
        let cell = self.cell(start, end);
        let mut found: BTreeMap<(u32, A::Value), Vec<Vec<u32>>> = BTreeMap::new();
        for (id, rule) in self.grammar.rules.iter().enumerate().filter(|(_, rule)| rule.root == root) {
            let mut matches = Vec::new();
            self.lay(&rule.source, start, end, &mut Vec::new(), &mut matches);
            for children in matches {
                let values: Vec<&A::Value> =
                    children.iter().map(|&child| &self.nodes[child as usize].value).collect();
                if let Some(value) = self.algebra.apply(&rule.term, &values)
                    && self.algebra.is_part(&value, &self.case.gold)
                {
                    found.entry((id as u32, value)).or_default().push(children);
                }
            }
        }
        for ((rule, value), alternatives) in found {
            self.cells[cell].push(self.nodes.len() as u32);
            let class = self.grammar.rules[rule as usize].class;
            self.nodes.push(Node { made: Made::Rule(rule), class, value, alternatives });
        }
    }

    /// All ways to lay a pattern over a stretch of the source.
    fn lay(
        &self,
        pattern: &[Sym],
        start: usize,
        end: usize,
        children: &mut Vec<u32>,
        found: &mut Vec<Vec<u32>>,
    ) {
        let Some((first, rest)) = pattern.split_first() else {
            if start == end {
                found.push(children.clone());
            }
            return;
        };
        if end < start + pattern.len() || found.len() > MAX_NODES {
            return;
        }
        match *first {
            Sym::Word(word) => {
                if matches!(self.case.leaves[start], Leaf::Function(here) if here == word) {
                    self.lay(rest, start + 1, end, children, found);
                }
            }
            Sym::Slot(class) => {
                let ends = if rest.is_empty() { end..=end } else { start + 1..=end - rest.len() };
                for middle in ends {
                    for &node in &self.cells[self.cell(start, middle)] {
                        let Node { made, class: of, .. } = self.nodes[node as usize];
                        let root = matches!(made, Made::Rule(rule) if self.grammar.rules[rule as usize].root);
                        if !root && fits(of, class) {
                            children.push(node);
                            self.lay(rest, middle, end, children, found);
                            children.pop();
                        }
                    }
                }
            }
        }
    }

    /// Keeps what belongs to derivations of the whole.
    fn finish(self, names: &mut LinkNames) -> Option<Forest> {
        let whole = self.cell(0, self.case.leaves.len());
        let tops: Vec<u32> = self.cells[whole]
            .iter()
            .copied()
            .filter(|&node| {
                let Node { made, value, .. } = &self.nodes[node as usize];
                let is_root = |rule: &Rule<A::Term>| rule.root && (rule.class > 0 || !self.case.several);
                matches!(made, Made::Rule(rule) if is_root(&self.grammar.rules[*rule as usize]))
                    && self.algebra.is_whole(value, &self.case.gold)
            })
            .collect();
        if tops.is_empty() {
            return None;
        }
        let mut needed = vec![false; self.nodes.len()];
        for &top in &tops {
            needed[top as usize] = true;
        }
        for i in (0..self.nodes.len()).rev() {
            if needed[i] {
                for &child in self.nodes[i].alternatives.iter().flatten() {
                    needed[child as usize] = true;
                }
            }
        }
        let mut new_ids = vec![0u32; self.nodes.len()];
        let mut nodes = Vec::new();
        let mut groups: HashMap<((u32, u8), usize), u32> = HashMap::new();
        for (i, node) in self.nodes.iter().enumerate().filter(|(i, _)| needed[*i]) {
            new_ids[i] = nodes.len() as u32;
            let alternatives = node.alternatives.iter().map(|children| {
                let Made::Rule(parent) = node.made else { unreachable!("leaves have no children") };
                let links = children.iter().enumerate().map(|(slot, &child)| {
                    let place = (parent, slot as u8);
                    match self.nodes[child as usize].made {
                        Made::Rule(rule) => names.one((place.0, place.1, Child::Rule(rule))),
                        Made::Leaf(at) => *groups.entry((place, at)).or_insert_with(|| {
                            let Leaf::Content { words, .. } = &self.case.leaves[at] else {
                                unreachable!("function words make no nodes")
                            };
                            names.all(place, words)
                        }),
                    }
                });
                Alternative {
                    links: links.collect(),
                    children: children.iter().map(|&child| new_ids[child as usize]).collect(),
                }
            });
            let alternatives = alternatives.collect();
            nodes.push(alternatives);
        }
        let tops = tops
            .iter()
            .map(|&top| {
                let Made::Rule(rule) = self.nodes[top as usize].made else { unreachable!("roots are rules") };
                (new_ids[top as usize], names.one((TOP, 0, Child::Rule(rule))))
            })
            .collect();
        Some(Forest { nodes, tops, n: self.case.n })
    }
}
