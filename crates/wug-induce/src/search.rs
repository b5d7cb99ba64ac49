//! The search for rules: the shortest description of the training pairs that greedy steps from several starts find.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::plan::Plan;
use crate::pool::{Candidate, Pool, RULE_BITS, Template};
use crate::symbols::{Sym, binary_entropy_bits};
use crate::{Algebra, Without};

/// How one greedy run chooses.
#[derive(Debug, Clone, Copy)]
struct Policy {
    /// How heavily places where a rule's source stands but the rule does not hold count against it.
    penalty: f64,
    /// Sizes of the growing sets of shortest templates that are searched one after the other.
    stages: &'static [usize],
    /// Prefer rules that hold wherever their source stands.
    exact_first: bool,
}

const POLICIES: [Policy; 5] = [
    Policy { penalty: 1.0, stages: &[100, 200, 400, 800], exact_first: false },
    Policy { penalty: 1.0, stages: &[200, 1000], exact_first: false },
    Policy { penalty: 4.0, stages: &[100, 200, 400, 800], exact_first: false },
    Policy { penalty: 1.0, stages: &[100, 200, 400, 800], exact_first: true },
    Policy { penalty: 1.0, stages: &[800], exact_first: false },
];

/// Candidates that are tried in full at each step, from each of two rankings.
const TRIED: usize = 8;

/// Templates in which candidates are looked for.
const SEARCHED: usize = 600;

/// Rules in the order they were found, each as it was when found.
pub(crate) type Steps<T> = Vec<Candidate<T>>;

/// What a run found: the steps and the bits that the templates then need.
#[derive(Debug, Clone)]
pub(crate) struct Found<T> {
    pub steps: Steps<T>,
    pub bits: f64,
}

/// Searches from every start; the shortest descriptions first. `templates` must be ordered, shortest first.
pub(crate) fn search<A: Algebra>(
    algebra: &A,
    templates: &[Template<A::Term>],
    plan: &Plan,
) -> Vec<Found<A::Term>> {
    let starts = if plan.has(Without::Starts) { POLICIES.len() } else { 1 };
    let mut found: Vec<Found<A::Term>> = POLICIES[..starts]
        .par_iter()
        .map(|policy| {
            let mut steps = Search { algebra, policy, plan }.run(templates);
            let bits = replay(algebra, templates, &mut steps).bits();
            Found { steps, bits }
        })
        .collect();
    found.sort_by(|a, b| a.bits.total_cmp(&b.bits).then_with(|| a.steps.cmp(&b.steps)));
    found.dedup_by(|a, b| a.steps == b.steps);
    found
}

/// The pool after all steps. Steps that no longer fit anywhere are dropped.
pub(crate) fn replay<A: Algebra>(
    algebra: &A,
    templates: &[Template<A::Term>],
    steps: &mut Steps<A::Term>,
) -> Pool<A::Term> {
    go_on(algebra, Pool::new(algebra, templates), 0, steps)
}

/// The pool after the steps from the given one on.
fn go_on<A: Algebra>(
    algebra: &A,
    mut pool: Pool<A::Term>,
    from: usize,
    steps: &mut Steps<A::Term>,
) -> Pool<A::Term> {
    let rest = steps.split_off(from);
    for step in rest {
        if let Some((next, _)) = pool.apply(algebra, &step) {
            pool = next;
            steps.push(step);
        }
    }
    pool
}

/// A step that could be taken: its score, the bits after it, the rule, the pool after it.
type Step<'a, A> = (f64, f64, &'a Candidate<<A as Algebra>::Term>, Pool<<A as Algebra>::Term>);

/// A candidate with what it seems to save, without and with the places where it would not hold.
type Ranked<'a, T> = (f64, f64, &'a Candidate<T>);

struct Search<'a, A: Algebra> {
    algebra: &'a A,
    policy: &'a Policy,
    plan: &'a Plan,
}

impl<A: Algebra> Search<'_, A> {
    fn run(&self, templates: &[Template<A::Term>]) -> Steps<A::Term> {
        let mut steps = Vec::new();
        let mut searched = 0;
        for &stage in self.policy.stages {
            let size = stage.min(templates.len());
            if size == searched || self.plan.is_spent() {
                break;
            }
            searched = size;
            let part = &templates[..size];
            let before = steps.clone();
            let pool = replay(self.algebra, part, &mut steps);
            let pool = self.grow(pool, &mut steps);
            if steps != before && self.plan.has(Without::Prune) {
                self.prune(part, pool.bits(), &mut steps);
            }
        }
        steps
    }

    /// Adds rules as long as the description gets shorter.
    fn grow(&self, mut pool: Pool<A::Term>, steps: &mut Steps<A::Term>) -> Pool<A::Term> {
        let mut bits = pool.bits();
        while !self.plan.is_spent() {
            let mut best: Option<Step<'_, A>> = None;
            let ranked = self.rank(&pool);
            for candidate in &ranked {
                let Some((next, penalty)) = pool.apply(self.algebra, candidate) else { continue };
                let next_bits = next.bits();
                let penalty = if self.plan.has(Without::Penalty) { penalty } else { 0.0 };
                let mut score = next_bits + self.policy.penalty * penalty;
                if score >= bits {
                    continue;
                }
                if self.policy.exact_first && penalty > 0.0 {
                    score += 1e6;
                }
                if best.as_ref().is_none_or(|(best, ..)| score < *best) {
                    best = Some((score, next_bits, candidate, next));
                }
            }
            let Some((_, next_bits, candidate, next)) = best else { break };
            steps.push(candidate.clone());
            pool = next;
            bits = next_bits;
        }
        pool
    }

    /// Drops a rule, lets the search go on from there, and keeps what is shorter.
    fn prune(&self, templates: &[Template<A::Term>], mut bits: f64, steps: &mut Steps<A::Term>) {
        let mut i = 0;
        // The pool after the steps before the one that is dropped.
        let mut before = Pool::new(self.algebra, templates);
        while i < steps.len() && !self.plan.is_spent() {
            let mut fewer = steps.clone();
            fewer.remove(i);
            let pool = go_on(self.algebra, before.clone(), i, &mut fewer);
            let pool = self.grow(pool, &mut fewer);
            let fewer_bits = pool.bits();
            if fewer_bits < bits - 1e-6 {
                *steps = fewer;
                bits = fewer_bits;
            } else {
                if let Some((next, _)) = before.apply(self.algebra, &steps[i]) {
                    before = next;
                }
                i += 1;
            }
        }
    }

    /// The most promising candidates by what they save, with and without the places where they would not hold.
    fn rank(&self, pool: &Pool<A::Term>) -> Vec<Candidate<A::Term>> {
        let mut entries: Vec<_> = pool.entries().collect();
        entries.sort_by_key(|(_, entry)| entry.template.source.len());
        entries.truncate(SEARCHED);
        let mut stands: HashMap<u64, f64> = HashMap::new();
        let mut sums: HashMap<u64, (f64, f64, &Candidate<A::Term>)> = HashMap::new();
        for (root, entry) in &entries {
            for &stretch in entry.stretches(*root) {
                *stands.entry(stretch).or_default() += entry.template.n;
            }
            for (hash, saved, candidate) in entry.candidates(self.algebra, *root) {
                let sum = sums.entry(*hash).or_insert((-RULE_BITS - saved.max(0.0), 0.0, candidate));
                sum.0 += saved;
                sum.1 += entry.template.n;
            }
        }
        let mut plain: Vec<Ranked<'_, A::Term>> = sums
            .into_values()
            .map(|(gain, holds, candidate)| {
                let source: &[Sym] = &candidate.source;
                let all = stands.get(&crate::symbols::hash_of(&source)).copied().unwrap_or(holds);
                (gain, gain - binary_entropy_bits(holds, (all - holds).max(0.0)), candidate)
            })
            .collect();
        let mut penalised = plain.clone();
        let order = |gain: fn(&Ranked<'_, A::Term>) -> f64| {
            move |a: &Ranked<'_, A::Term>, b: &Ranked<'_, A::Term>| {
                gain(b)
                    .total_cmp(&gain(a))
                    .then_with(|| (a.2.source.len(), a.2).cmp(&(b.2.source.len(), b.2)))
            }
        };
        let tried = if pool.roots.len() < 150 { 4 * TRIED } else { TRIED };
        best_first(&mut plain, tried, order(|c| c.0));
        best_first(&mut penalised, tried, order(|c| c.1));
        let mut ranked: Vec<Candidate<A::Term>> = Vec::new();
        for (_, _, candidate) in plain.iter().chain(&penalised) {
            if !ranked.contains(candidate) {
                ranked.push((*candidate).clone());
            }
        }
        ranked
    }
}

/// The first of a list in some order, in that order.
fn best_first<T>(list: &mut Vec<T>, most: usize, order: impl Fn(&T, &T) -> std::cmp::Ordering) {
    if list.len() > most {
        list.select_nth_unstable_by(most, &order);
        list.truncate(most);
    }
    list.sort_by(&order);
}
