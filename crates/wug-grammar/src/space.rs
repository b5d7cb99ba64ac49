use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use num_bigint::BigUint;
use rand_core::Rng;

use crate::grammar::weighted;
use crate::{Arena, Error, Grammar, NodeId, Result, RuleId, Sort};

/// A finite set of trees of a grammar, which can be counted, indexed, listed and sampled without listing it.
///
/// The set is a graph of states. A state has alternatives, each a rule with a state per argument, and stands for all
/// trees that its alternatives can build. Depending on the question a state is a sort ([`Space::all`]), a sort with a
/// size ([`Space::of_size`]) or a depth ([`Space::of_depth`]), or a sort with a stretch of a sentence
/// ([`Parser::parse`](crate::Parser::parse)); counting, ranking and sampling do not care which.
///
/// The order of the trees: alternatives as the grammar lists them; within one, the last argument runs fastest.
#[derive(Debug, Clone)]
pub struct Space<'g> {
    grammar: &'g Grammar,
    /// Children before parents; the last state is the root. No state: no tree.
    states: Vec<State>,
    alternatives: Vec<Alternative>,
    children: Vec<u32>,
    counts: OnceCell<Counts>,
}

#[derive(Debug, Clone)]
struct State {
    alternatives: Range<u32>,
}

#[derive(Debug, Clone)]
struct Alternative {
    rule: RuleId,
    children: Range<u32>,
}

/// Numbers and total weights of trees, by state and by alternative.
#[derive(Debug, Clone)]
struct Counts {
    trees: Vec<BigUint>,
    alternative_trees: Vec<BigUint>,
    alternative_weights: Vec<f64>,
}

impl<'g> Space<'g> {
    /// All trees of a sort; an error if they are infinitely many.
    pub fn all(grammar: &'g Grammar, sort: Sort) -> Result<Self> {
        Self::build(grammar, sort, |&sort, add| {
            for &rule in grammar.rules_of(sort) {
                add(rule, grammar.rule(rule).arguments());
            }
        })
        .map_err(|sort| Error::Infinite(grammar.sort_name(sort).to_owned()))
    }

    /// The trees of a sort with exactly `nodes` nodes.
    ///
    /// ```
    /// # use wug_grammar::{Grammar, Space};
    /// let (grammar, _) = Grammar::parse("plus: E -> E + E\nE -> 1 | 2")?;
    /// let three_operators = Space::of_size(&grammar, grammar.sort("E")?, 7)?;
    /// assert_eq!(three_operators.count().to_string(), (5 * 2 * 2 * 2 * 2).to_string());
    /// # Ok::<(), wug_grammar::Error>(())
    /// ```
    pub fn of_size(grammar: &'g Grammar, sort: Sort, nodes: usize) -> Result<Self> {
        Self::build(grammar, (sort, nodes), |&(sort, nodes), add| {
            for &rule in grammar.rules_of(sort) {
                let sorts = grammar.rule(rule).arguments();
                if nodes > 0 {
                    share_out(nodes - 1, sorts, &mut Vec::new(), &mut |children| add(rule, children));
                }
            }
        })
        .map_err(|(sort, _)| Error::Infinite(grammar.sort_name(sort).to_owned()))
    }

    /// The trees of a sort with at most `depth` nodes on a path from the root.
    pub fn of_depth(grammar: &'g Grammar, sort: Sort, depth: usize) -> Result<Self> {
        Self::build(grammar, (sort, depth), |&(sort, depth), add| {
            for &rule in grammar.rules_of(sort) {
                if depth > 0 {
                    let arguments = grammar.rule(rule).arguments().iter();
                    add(rule, &arguments.map(|&sort| (sort, depth - 1)).collect::<Vec<_>>());
                }
            }
        })
        .map_err(|(sort, _)| Error::Infinite(grammar.sort_name(sort).to_owned()))
    }

    /// Builds the graph below `root`: `expand` lists a key's alternatives, whose arguments are keys again. Keys and
    /// alternatives without trees are left out. Fails with a key that lies below itself.
    pub(crate) fn build<K: Clone + Eq + Hash>(
        grammar: &'g Grammar,
        root: K,
        mut expand: impl FnMut(&K, &mut dyn FnMut(RuleId, &[K])),
    ) -> std::result::Result<Self, K> {
        // A key is open while its alternatives are being built, then a state, or empty.
        enum Progress {
            Open,
            State(u32),
            Empty,
        }
        struct Frame<K> {
            key: K,
            alternatives: Vec<(RuleId, Range<usize>)>,
            keys: Vec<K>,
            next: usize,
        }
        let mut frame = |key: K| {
            let mut frame = Frame { key, alternatives: Vec::new(), keys: Vec::new(), next: 0 };
            let Frame { key, alternatives, keys, .. } = &mut frame;
            expand(key, &mut |rule, arguments| {
                let start = keys.len();
                keys.extend_from_slice(arguments);
                alternatives.push((rule, start..keys.len()));
            });
            frame
        };

        let mut space = Self {
            grammar,
            states: Vec::new(),
            alternatives: Vec::new(),
            children: Vec::new(),
            counts: OnceCell::new(),
        };
        let mut seen: HashMap<K, Progress> = HashMap::from([(root.clone(), Progress::Open)]);
        let mut open = vec![frame(root)];
        while let Some(top) = open.last_mut() {
            if let Some(key) = top.keys.get(top.next) {
                match seen.get(key) {
                    Some(Progress::Open) => return Err(key.clone()),
                    Some(_) => top.next += 1,
                    None => {
                        let key = key.clone();
                        seen.insert(key.clone(), Progress::Open);
                        open.push(frame(key));
                    }
                }
                continue;
            }
            let done = open.pop().expect("the loop runs while a frame is open");
            let first = space.alternatives.len() as u32;
            for (rule, keys) in done.alternatives {
                let start = space.children.len();
                for key in &done.keys[keys] {
                    match seen[key] {
                        Progress::State(state) => space.children.push(state),
                        Progress::Empty | Progress::Open => {
                            space.children.truncate(start);
                            break;
                        }
                    }
                }
                let children = start as u32..space.children.len() as u32;
                if children.len() == grammar.rule(rule).arguments().len() {
                    space.alternatives.push(Alternative { rule, children });
                }
            }
            let alternatives = first..space.alternatives.len() as u32;
            let progress = if alternatives.is_empty() {
                Progress::Empty
            } else {
                space.states.push(State { alternatives });
                Progress::State(space.states.len() as u32 - 1)
            };
            if open.is_empty() && matches!(progress, Progress::Empty) {
                space.states.clear();
            }
            seen.insert(done.key, progress);
        }
        Ok(space)
    }

    /// Whether no tree is in the set.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// How many trees there are.
    pub fn count(&self) -> BigUint {
        self.counts().trees.last().cloned().unwrap_or_default()
    }

    /// The tree with this index, from 0; `None` from [`Space::count`] on.
    pub fn unrank(&self, arena: &mut Arena, index: &BigUint) -> Option<NodeId> {
        if *index >= self.count() {
            return None;
        }
        Some(self.grow(arena, Some(index.clone()), &mut |space, state, index| {
            let counts = space.counts();
            let mut index = index.expect("an index is handed down with every state");
            for alternative in space.alternatives_of(state) {
                let trees = &counts.alternative_trees[alternative];
                if index < *trees {
                    // Mixed radix, the last argument running fastest.
                    let children = space.children_of(alternative);
                    let mut digits = vec![None; children.len()];
                    for (digit, &child) in digits.iter_mut().zip(children).rev() {
                        let base = &counts.trees[child as usize];
                        *digit = Some(&index % base);
                        index /= base;
                    }
                    return (alternative, digits);
                }
                index -= trees;
            }
            unreachable!("the counts of the alternatives sum to the state's")
        }))
    }

    /// The index of a tree, or `None` if it is not in the set.
    pub fn rank(&self, arena: &Arena, tree: NodeId) -> Option<BigUint> {
        let root = self.states.len().checked_sub(1)?;
        self.rank_in(arena, tree, root as u32, &mut HashMap::new())
    }

    fn rank_in(
        &self,
        arena: &Arena,
        tree: NodeId,
        state: u32,
        known: &mut HashMap<(NodeId, u32), Option<BigUint>>,
    ) -> Option<BigUint> {
        if let Some(rank) = known.get(&(tree, state)) {
            return rank.clone();
        }
        let counts = self.counts();
        let mut before = BigUint::default();
        let mut found = None;
        for alternative in self.alternatives_of(state) {
            if self.alternatives[alternative].rule == arena.rule(tree) {
                let children = self.children_of(alternative).iter().zip(arena.children(tree));
                let mut children = children;
                let within = children.try_fold(BigUint::default(), |rank, (&state, &child)| {
                    let rank = rank * &counts.trees[state as usize];
                    Some(rank + self.rank_in(arena, child, state, known)?)
                });
                if let Some(within) = within {
                    found = Some(before + within);
                    break;
                }
            }
            before += &counts.alternative_trees[alternative];
        }
        known.insert((tree, state), found.clone());
        found
    }

    /// All trees in order. They share their subtrees, so the arena stays small.
    pub fn enumerate(&self, arena: &mut Arena) -> Result<Vec<NodeId>> {
        /// Far beyond this the list alone would fill the memory of a laptop.
        const MOST: u64 = 1 << 28;
        let total: BigUint = self.counts().trees.iter().sum();
        if total > BigUint::from(MOST) {
            return Err(Error::TooMany(self.count().to_string()));
        }
        let mut trees: Vec<Vec<NodeId>> = Vec::with_capacity(self.states.len());
        let mut chosen = Vec::new();
        for state in 0..self.states.len() as u32 {
            let mut list = Vec::new();
            for alternative in self.alternatives_of(state) {
                let children = self.children_of(alternative);
                let rule = self.alternatives[alternative].rule;
                let mut digits = vec![0; children.len()];
                'product: loop {
                    chosen.clear();
                    chosen.extend(
                        children
                            .iter()
                            .zip(&digits)
                            .map(|(&child, &digit): (&u32, &usize)| trees[child as usize][digit]),
                    );
                    list.push(arena.add(rule, &chosen));
                    for (digit, &child) in digits.iter_mut().zip(children).rev() {
                        *digit += 1;
                        if *digit < trees[child as usize].len() {
                            continue 'product;
                        }
                        *digit = 0;
                    }
                    break;
                }
            }
            trees.push(list);
        }
        Ok(trees.pop().unwrap_or_default())
    }

    /// A tree drawn uniformly; `None` if there is none.
    pub fn sample(&self, arena: &mut Arena, rng: &mut impl Rng) -> Option<NodeId> {
        if self.is_empty() {
            return None;
        }
        let index = below(rng, &self.count());
        self.unrank(arena, &index)
    }

    /// A tree drawn in proportion to the product of the weights of its rules; `None` if all weigh nothing.
    pub fn sample_weighted(&self, arena: &mut Arena, rng: &mut impl Rng) -> Option<NodeId> {
        let root = self.states.len().checked_sub(1)? as u32;
        let weights = &self.counts().alternative_weights;
        if self.alternatives_of(root).all(|alternative| weights[alternative] <= 0.0) {
            return None;
        }
        Some(self.grow(arena, None, &mut |space, state, _| {
            let alternatives = space.alternatives_of(state);
            let chosen = weighted(rng, alternatives.clone().map(|alternative| weights[alternative]));
            let alternative =
                alternatives.start + chosen.expect("a state with weight has an alternative with weight");
            (alternative, vec![None; space.children_of(alternative).len()])
        }))
    }

    /// Builds one tree from the root down: `choose` names the alternative of a state, and what each child state is told.
    fn grow(
        &self,
        arena: &mut Arena,
        told: Option<BigUint>,
        choose: &mut impl FnMut(&Self, u32, Option<BigUint>) -> (usize, Vec<Option<BigUint>>),
    ) -> NodeId {
        enum Step {
            Choose(u32, Option<BigUint>),
            Build(usize),
        }
        let mut open = vec![Step::Choose(self.states.len() as u32 - 1, told)];
        let mut done: Vec<NodeId> = Vec::new();
        while let Some(step) = open.pop() {
            match step {
                Step::Choose(state, told) => {
                    let (alternative, told) = choose(self, state, told);
                    open.push(Step::Build(alternative));
                    let children = self.children_of(alternative);
                    open.extend(
                        children.iter().zip(told).rev().map(|(&child, told)| Step::Choose(child, told)),
                    );
                }
                Step::Build(alternative) => {
                    let first = done.len() - self.children_of(alternative).len();
                    let node = arena.add(self.alternatives[alternative].rule, &done[first..]);
                    done.truncate(first);
                    done.push(node);
                }
            }
        }
        done.pop().expect("the root was built")
    }

    fn alternatives_of(&self, state: u32) -> Range<usize> {
        let Range { start, end } = self.states[state as usize].alternatives;
        start as usize..end as usize
    }

    fn children_of(&self, alternative: usize) -> &[u32] {
        let Range { start, end } = self.alternatives[alternative].children;
        &self.children[start as usize..end as usize]
    }

    /// Computed on first use: a parse that only asks whether there is a tree does not pay for big numbers.
    fn counts(&self) -> &Counts {
        self.counts.get_or_init(|| {
            let mut counts = Counts {
                trees: Vec::with_capacity(self.states.len()),
                alternative_trees: Vec::with_capacity(self.alternatives.len()),
                alternative_weights: Vec::with_capacity(self.alternatives.len()),
            };
            let mut weights: Vec<f64> = Vec::with_capacity(self.states.len());
            for state in 0..self.states.len() as u32 {
                let (mut trees, mut weight) = (BigUint::default(), 0.0);
                for alternative in self.alternatives_of(state) {
                    let children = self.children_of(alternative);
                    let product: BigUint =
                        children.iter().map(|&child| &counts.trees[child as usize]).product();
                    let rule = self.grammar.rule(self.alternatives[alternative].rule);
                    let mass =
                        children.iter().fold(rule.weight(), |mass, &child| mass * weights[child as usize]);
                    trees += &product;
                    weight += mass;
                    counts.alternative_trees.push(product);
                    counts.alternative_weights.push(mass);
                }
                counts.trees.push(trees);
                weights.push(weight);
            }
            counts
        })
    }
}

/// Calls `each` with every way to give `nodes` nodes to trees of these sorts, at least one to each.
fn share_out(
    nodes: usize,
    sorts: &[Sort],
    given: &mut Vec<(Sort, usize)>,
    each: &mut impl FnMut(&[(Sort, usize)]),
) {
    match sorts {
        [] if nodes == 0 => each(given),
        [] => {}
        [last] => {
            if nodes > 0 {
                given.push((*last, nodes));
                each(given);
                given.pop();
            }
        }
        [first, rest @ ..] => {
            for share in 1..=nodes.saturating_sub(rest.len()) {
                given.push((*first, share));
                share_out(nodes - share, rest, given, each);
                given.pop();
            }
        }
    }
}

/// Uniform below a big number: enough random bits, drawn again until they are below.
fn below(rng: &mut impl Rng, bound: &BigUint) -> BigUint {
    let bits = bound.bits();
    loop {
        let mut words: Vec<u32> = (0..bits.div_ceil(32)).map(|_| rng.next_u32()).collect();
        if let (Some(last), spare @ 1..) = (words.last_mut(), words_spare(bits)) {
            *last >>= spare;
        }
        let number = BigUint::new(words);
        if number < *bound {
            return number;
        }
    }
}

/// Bits of the last 32-bit word that a number of `bits` bits leaves unused.
fn words_spare(bits: u64) -> u32 {
    (bits.div_ceil(32) * 32 - bits) as u32
}
