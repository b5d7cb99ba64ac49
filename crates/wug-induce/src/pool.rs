//! The state of the search: templates that still cover whole sources, and the rules found so far.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::Algebra;
use crate::symbols::{
    Child, Counts, Sum, Sym, binary_entropy_bits, entropy_bits, hash_of, matches, slot_count,
};

/// Bits to write down a rule, apart from what it says; a function word; a slot.
pub(crate) const RULE_BITS: f64 = 8.0;
pub(crate) const WORD_BITS: f64 = 8.0;
pub(crate) const SLOT_BITS: f64 = 2.0;

/// The longest stretch of a source that may become a rule.
pub(crate) const MAX_SPAN: usize = 7;

/// A source pattern with its target term, and what was seen in its slots.
#[derive(Debug, Clone)]
pub(crate) struct Template<T> {
    /// Function words and slots.
    pub source: Vec<Sym>,
    /// The target, over the slots.
    pub term: T,
    /// What was seen in each slot; shared by the pools that the search compares.
    pub slots: Vec<Arc<Counts>>,
    /// How many training rows it covers.
    pub n: f64,
}

/// A rule that might be added: a stretch of a source and the part of the target that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Candidate<T> {
    pub source: Vec<Sym>,
    pub term: T,
}

#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub template: Template<T>,
    pub bits: f64,
    hash: u64,
    source_hash: u64,
    /// Hash and bits saved, for each candidate found in the template; made when first asked for.
    candidates: OnceLock<Vec<(u64, f64, Candidate<T>)>>,
    /// Hashes of all stretches that have a slot, whether or not a part of the target belongs to them.
    stretches: OnceLock<Vec<u64>>,
}

impl<T: Clone + Ord + std::hash::Hash> Entry<T> {
    fn new<A: Algebra<Term = T>>(algebra: &A, template: Template<T>) -> Self {
        let bits = RULE_BITS + source_bits(&template.source) + algebra.bits(&template.term);
        let hash = hash_of(&(&template.source, &template.term));
        let source_hash = hash_of(&template.source);
        Self { template, bits, hash, source_hash, candidates: OnceLock::new(), stretches: OnceLock::new() }
    }

    /// Stretches of the source with the parts of the target that belong to them.
    pub(crate) fn candidates<A: Algebra<Term = T>>(
        &self,
        algebra: &A,
        root: bool,
    ) -> &[(u64, f64, Candidate<T>)] {
        self.candidates.get_or_init(|| {
            let mut found = Vec::new();
            let Template { source, term, .. } = &self.template;
            for_stretches(source, root, |start, end, from, to| {
                for part in algebra.parts(term, from, to) {
                    let source = source[start..end].to_vec();
                    let saved = source_bits(&source) + algebra.bits(&part) - 2.0 * SLOT_BITS;
                    let candidate = Candidate { source, term: part };
                    found.push((hash_of(&candidate), saved, candidate));
                }
            });
            found
        })
    }

    pub(crate) fn stretches(&self, root: bool) -> &[u64] {
        self.stretches.get_or_init(|| {
            let mut found = Vec::new();
            let source = &self.template.source;
            for_stretches(source, root, |start, end, _, _| found.push(hash_of(&&source[start..end])));
            found
        })
    }
}

fn source_bits(source: &[Sym]) -> f64 {
    source.iter().map(|sym| if matches!(sym, Sym::Word(_)) { WORD_BITS } else { SLOT_BITS }).sum()
}

/// Calls `each` with every stretch of two to seven symbols that has a slot: its start and end, and its slots.
fn for_stretches(source: &[Sym], root: bool, mut each: impl FnMut(usize, usize, usize, usize)) {
    let mut from = 0;
    for start in 0..source.len() {
        let mut to = from;
        for end in start + 1..=source.len().min(start + MAX_SPAN) {
            to += usize::from(matches!(source[end - 1], Sym::Slot(_)));
            let whole = end - start == source.len() && !root;
            if end - start >= 2 && to > from && !whole {
                each(start, end, from, to);
            }
        }
        from += usize::from(matches!(source[start], Sym::Slot(_)));
    }
}

/// Templates that cover whole sources (`roots`) and rules, which fill slots. Entries are shared between the pools
/// that the search compares.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    pub roots: Vec<Arc<Entry<T>>>,
    /// By number; a rule that became equal to another leaves a gap.
    pub rules: Vec<Option<Arc<Entry<T>>>>,
}

impl<T> Clone for Pool<T> {
    fn clone(&self) -> Self {
        Self { roots: self.roots.clone(), rules: self.rules.clone() }
    }
}

impl<T: Clone + Ord + std::hash::Hash + Send + Sync> Pool<T> {
    pub(crate) fn new<A: Algebra<Term = T>>(algebra: &A, templates: &[Template<T>]) -> Self {
        let roots =
            templates.iter().map(|template| Arc::new(Entry::new(algebra, template.clone()))).collect();
        Self { roots, rules: Vec::new() }
    }

    /// All entries, with whether each is a root.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (bool, &Arc<Entry<T>>)> {
        let roots = self.roots.iter().map(|entry| (true, entry));
        roots.chain(self.rules.iter().flatten().map(|entry| (false, entry)))
    }

    /// Description length: every entry written down, and the choices between entries of equal source that the
    /// children in their slots do not decide.
    pub(crate) fn bits(&self) -> f64 {
        let written: f64 = self.entries().map(|(_, entry)| entry.bits).sum();
        let mut by_source: HashMap<(bool, u64), Vec<&Template<T>>> = HashMap::new();
        for (root, entry) in self.entries() {
            by_source.entry((root, entry.source_hash)).or_default().push(&entry.template);
        }
        let mut rivals: Vec<_> = by_source.into_iter().filter(|(_, group)| group.len() > 1).collect();
        rivals.sort_by(|((a, _), x), ((b, _), y)| (a, &x[0].source).cmp(&(b, &y[0].source)));
        written + rivals.iter().map(|(_, group)| ambiguity_bits(group)).sum::<f64>()
    }

    /// The pool after a candidate became a rule (everywhere it fits), and the bits to say where its source stands but
    /// the rule does not hold; `None` if it fits nowhere.
    pub(crate) fn apply<A: Algebra<Term = T>>(
        &self,
        algebra: &A,
        candidate: &Candidate<T>,
    ) -> Option<(Self, f64)> {
        let existing = self.rules.iter().position(|rule| {
            rule.as_ref().is_some_and(|rule| {
                rule.template.source == candidate.source && rule.template.term == candidate.term
            })
        });
        let id = existing.unwrap_or(self.rules.len());
        let slots = slot_count(&candidate.source);
        let mut taken = vec![Sum::default(); slots];
        let mut left = vec![Sum::default(); slots];
        let mut applied = 0.0;
        let mut rewriter = Rewriter { algebra, candidate, id, taken: &mut taken, applied: &mut applied };

        let mut pool = Self { roots: Vec::with_capacity(self.roots.len()), rules: self.rules.clone() };
        let mut changed = Vec::new();
        for entry in &self.roots {
            match rewriter.rewrite(&entry.template, true) {
                Some(template) => changed.push(template),
                None => pool.roots.push(entry.clone()),
            }
        }
        for (i, rule) in self.rules.iter().enumerate() {
            if let Some(rule) = rule.as_ref().filter(|_| i != id)
                && let Some(template) = rewriter.rewrite(&rule.template, false)
            {
                pool.rules[i] = Some(Arc::new(Entry::new(algebra, template)));
            }
        }
        if applied == 0.0 {
            return None;
        }
        if existing.is_some() {
            let mut template = pool.rules[id].as_ref().expect("found above").template.clone();
            for (slot, taken) in template.slots.iter_mut().zip(&taken) {
                Arc::make_mut(slot).add(&taken.counts());
            }
            template.n += applied;
            pool.rules[id] = Some(Arc::new(Entry::new(algebra, template)));
        } else {
            let Candidate { source, term } = candidate.clone();
            let slots = taken.iter().map(|taken| Arc::new(taken.counts())).collect();
            let template = Template { source, term, slots, n: applied };
            pool.rules.push(Some(Arc::new(Entry::new(algebra, template))));
        }
        pool.add_roots(algebra, changed);
        pool.merge_equal_rules(algebra);
        for (root, entry) in pool.entries() {
            leftovers(&entry.template, root, candidate, &mut left);
        }
        let penalty = taken.iter().zip(&left).map(|(taken, left)| mixed_bits(taken, left));
        Some((pool, penalty.fold(f64::INFINITY, f64::min)))
    }

    /// Adds roots; those equal to one that is there are added to it.
    pub(crate) fn add_roots<A: Algebra<Term = T>>(&mut self, algebra: &A, templates: Vec<Template<T>>) {
        let mut index: HashMap<u64, usize> = HashMap::with_capacity(self.roots.len());
        index.extend(self.roots.iter().enumerate().map(|(i, entry)| (entry.hash, i)));
        let mut changed: BTreeMap<usize, Template<T>> = BTreeMap::new();
        for template in templates {
            if let Some(&i) = index.get(&hash_of(&(&template.source, &template.term))) {
                let sum = changed.entry(i).or_insert_with(|| self.roots[i].template.clone());
                sum.n += template.n;
                add_slots(&mut sum.slots, &template.slots);
            } else {
                let entry = Entry::new(algebra, template);
                index.insert(entry.hash, self.roots.len());
                self.roots.push(Arc::new(entry));
            }
        }
        for (i, template) in changed {
            self.roots[i] = Arc::new(Entry::new(algebra, template));
        }
    }

    /// Rules that became equal are one rule.
    fn merge_equal_rules<A: Algebra<Term = T>>(&mut self, algebra: &A) {
        let mut first: HashMap<u64, u32> = HashMap::new();
        let mut names: BTreeMap<u32, u32> = BTreeMap::new();
        for i in 0..self.rules.len() {
            let Some(rule) = &self.rules[i] else { continue };
            let keep = *first.entry(rule.hash).or_insert(i as u32);
            if keep == i as u32 {
                continue;
            }
            names.insert(i as u32, keep);
            let gone = self.rules[i].take().expect("checked above");
            let mut sum = self.rules[keep as usize].as_ref().expect("kept").template.clone();
            sum.n += gone.template.n;
            add_slots(&mut sum.slots, &gone.template.slots);
            self.rules[keep as usize] = Some(Arc::new(Entry::new(algebra, sum)));
        }
        if names.is_empty() {
            return;
        }
        let rename = |child: Child| match child {
            Child::Rule(rule) => Child::Rule(names.get(&rule).copied().unwrap_or(rule)),
            Child::Word(_) => child,
        };
        for entry in self.roots.iter_mut().chain(self.rules.iter_mut().flatten()) {
            let mut template = entry.template.clone();
            template.slots.iter_mut().for_each(|slot| *slot = Arc::new(slot.rename(rename)));
            *entry = Arc::new(Entry::new(algebra, template));
        }
    }
}

fn add_slots(slots: &mut [Arc<Counts>], more: &[Arc<Counts>]) {
    slots.iter_mut().zip(more).for_each(|(slot, more)| Arc::make_mut(slot).add(more));
}

/// Puts one rule in place of its right-hand side.
struct Rewriter<'a, A: Algebra> {
    algebra: &'a A,
    candidate: &'a Candidate<A::Term>,
    id: usize,
    taken: &'a mut [Sum],
    applied: &'a mut f64,
}

impl<A: Algebra> Rewriter<'_, A> {
    fn rewrite(&mut self, template: &Template<A::Term>, root: bool) -> Option<Template<A::Term>> {
        let mut done: Option<Template<A::Term>> = None;
        while let Some(next) = self.once(done.as_ref().unwrap_or(template), root) {
            done = Some(next);
        }
        done
    }

    fn once(&mut self, template: &Template<A::Term>, root: bool) -> Option<Template<A::Term>> {
        let pattern = &self.candidate.source;
        if template.source.len() < pattern.len() || (!root && template.source.len() == pattern.len()) {
            return None;
        }
        for start in matches(&template.source, pattern) {
            let from = slot_count(&template.source[..start]);
            let to = from + self.taken.len();
            let Some(term) = self.algebra.cut(&template.term, from, to, &self.candidate.term) else {
                continue;
            };
            let class = self.algebra.class(pattern, &self.candidate.term);
            let mut source = template.source.clone();
            source.splice(start..start + pattern.len(), [Sym::Slot(class)]);
            let mut slots = template.slots.clone();
            let filled = Arc::new(Counts::one(Child::Rule(self.id as u32), template.n));
            let removed: Vec<Arc<Counts>> = slots.splice(from..to, [filled]).collect();
            self.taken.iter_mut().zip(&removed).for_each(|(taken, removed)| taken.add(removed));
            *self.applied += template.n;
            return Some(Template { source, term, slots, n: template.n });
        }
        None
    }
}

/// Adds what stands in the slots of a candidate's source where the rule was not applied.
fn leftovers<T>(template: &Template<T>, root: bool, candidate: &Candidate<T>, left: &mut [Sum]) {
    let pattern = &candidate.source;
    if !root && template.source.len() == pattern.len() {
        return; // a rival rule, which the pool's ambiguity pays for
    }
    for start in matches(&template.source, pattern) {
        let from = slot_count(&template.source[..start]);
        for (left, slot) in left.iter_mut().zip(&template.slots[from..]) {
            left.add(slot);
        }
    }
}

/// Bits to say, for each child, when the rule held.
fn mixed_bits(taken: &Sum, left: &Sum) -> f64 {
    if left.is_empty() {
        return 0.0;
    }
    left.counts().iter().map(|(child, n)| binary_entropy_bits(taken.get(child), n)).sum()
}

/// Bits to say which of several templates of equal source holds: the slot that decides best is asked.
fn ambiguity_bits<T>(rivals: &[&Template<T>]) -> f64 {
    let slots = rivals[0].slots.len();
    let total = entropy_bits(&rivals.iter().map(|rival| rival.n).collect::<Vec<_>>());
    (0..slots)
        .map(|slot| {
            let mut by_child: BTreeMap<Child, Vec<f64>> = BTreeMap::new();
            for (i, rival) in rivals.iter().enumerate() {
                for (child, n) in rival.slots[slot].iter() {
                    by_child.entry(child).or_insert_with(|| vec![0.0; rivals.len()])[i] += n;
                }
            }
            by_child.values().map(|counts| entropy_bits(counts)).sum::<f64>()
        })
        .fold(total, f64::min)
}
