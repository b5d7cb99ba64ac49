//! All ways in which the generator can have made a problem: its derivations, each with its probability.
//!
//! An expression is read from left to right for all complete groups of all panels at once, each group a lane. What is
//! finished is a sum, what is still growing a term, and a value that is not whole, not positive or too large in any
//! lane ends the branch there: most of the 61,440 expressions over eight numbers are never read to their end.
//!
//! Two things are simplified: after a calculation has failed too often the generator shuffles the 25 operators that it
//! has, which here counts as drawing them anew; and that this happens with some constants more than with others is left
//! out.

use super::grammar::Interpretation;
use super::groups::Mode;
use super::meaning::{Expression, MOST_LEAVES, Operator, Tree};
use super::problem::Problem;
use super::sample::{FAILURES, Sampler};

/// One way to make a problem, with the answer that it leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct Derivation {
    /// How many groups.
    pub interpretation: Interpretation,
    /// Which positions they have.
    pub mode: Mode,
    /// What is calculated in each.
    pub expression: Expression,
    /// What each panel comes to.
    pub constants: Vec<u16>,
    /// The asked number.
    pub answer: u16,
    /// Probability of the numbers under this derivation, up to a factor that all derivations of a problem share.
    pub weight: f64,
}

impl Derivation {
    /// The calculation of every group: `54 + 22 = 76, 67 + 9 = 76, 17 + ? = 76 -> 59`.
    pub fn explain(&self, problem: &Problem) -> String {
        let groups = self.mode.groups(problem.integers(), self.interpretation.groups());
        let tree = self.expression.tree();
        let mut calculations = Vec::new();
        for (i, (panel, constant)) in problem.panels.iter().zip(&self.constants).enumerate() {
            for group in &groups {
                let leaf = |&position: &u8| {
                    let position = usize::from(position);
                    let asked = i + 1 == problem.panels.len() && position == problem.asked;
                    if asked { "?".to_owned() } else { panel.numbers[position].to_string() }
                };
                calculations.push(format!("{} = {constant}", tree.with(group.iter().map(leaf))));
            }
        }
        format!("{} -> {}", calculations.join(", "), self.answer)
    }

    /// The rule in letters, see [`rule`].
    pub fn rule(&self) -> String {
        rule(&self.expression, self.mode, self.interpretation)
    }
}

/// A rule in letters, one for each number of a group: `a * b / c - d, 2 groups along the axes`.
pub fn rule(expression: &Expression, mode: Mode, interpretation: Interpretation) -> String {
    let tree = expression.tree();
    let rule = tree.with(('a'..='z').take(tree.leaves()));
    let how = match mode {
        Mode::Whole => return rule,
        Mode::Neighbours => "of neighbours",
        Mode::Symmetry => "by symmetry",
        Mode::Mirrored => "of neighbours, mirrored",
        Mode::Axis => "along the axes",
    };
    format!("{rule}, {} groups {how}", interpretation.groups())
}

/// Every derivation of a problem that the sampler can make.
pub fn derivations(problem: &Problem, sampler: &Sampler) -> Vec<Derivation> {
    let mut found = Vec::new();
    if problem.largest() > sampler.parameters().largest {
        return found;
    }
    for interpretation in problem.layout.interpretations() {
        let modes = Mode::drawn(problem.layout, interpretation);
        for &mode in modes {
            let groups = mode.groups(problem.integers(), interpretation.groups());
            let reading = Reading::new(problem, sampler, &groups);
            for Found { expression, tree, constant, choice } in reading.expressions() {
                let solved = reading.solve(&expression, &tree, constant);
                found.extend(solved.map(|(answer, constants, likelihood)| Derivation {
                    interpretation,
                    mode,
                    expression,
                    constants,
                    answer,
                    weight: likelihood * choice / modes.len() as f64,
                }));
            }
        }
    }
    found
}

/// The numbers of a problem in one grouping.
struct Reading<'a> {
    problem: &'a Problem,
    sampler: &'a Sampler,
    largest: i32,
    size: usize,
    /// The complete groups: their numbers in the order of calculation.
    lanes: Vec<[i32; MOST_LEAVES]>,
    /// What each must come to, where it is shown.
    wanted: Vec<Option<i32>>,
    /// The group with the asked number, and where in it.
    open: [i64; MOST_LEAVES],
    asked: usize,
}

/// An expression that fits all complete groups.
struct Found {
    expression: Expression,
    tree: Tree,
    /// What they come to, if it is not shown.
    constant: i32,
    /// Probability of the expression.
    choice: f64,
}

/// What has been read of every lane: a finished sum and a growing term.
#[derive(Clone)]
struct State {
    sums: Vec<i32>,
    terms: Vec<i32>,
}

impl<'a> Reading<'a> {
    fn new(problem: &'a Problem, sampler: &'a Sampler, groups: &[Vec<u8>]) -> Self {
        let mut reading = Self {
            problem,
            sampler,
            largest: sampler.parameters().largest.into(),
            size: groups[0].len(),
            lanes: Vec::with_capacity(problem.panels.len() * groups.len()),
            wanted: Vec::with_capacity(problem.panels.len() * groups.len()),
            open: [0; MOST_LEAVES],
            asked: 0,
        };
        for (i, panel) in problem.panels.iter().enumerate() {
            let is_last = i + 1 == problem.panels.len();
            for group in groups {
                let mut lane = [0; MOST_LEAVES];
                for (leaf, &position) in lane.iter_mut().zip(group) {
                    *leaf = panel.numbers[usize::from(position)].into();
                }
                let asked = group.iter().position(|&position| usize::from(position) == problem.asked);
                if let (true, Some(asked)) = (is_last, asked) {
                    reading.asked = asked;
                    reading.open = lane.map(i64::from);
                } else {
                    reading.lanes.push(lane);
                    reading.wanted.push(panel.centre.map(i32::from));
                }
            }
        }
        reading
    }

    /// The expressions that fit every complete group.
    fn expressions(&self) -> Vec<Found> {
        let empty = State { sums: vec![0; self.lanes.len()], terms: vec![0; self.lanes.len()] };
        let mut search = Search {
            reading: self,
            states: vec![empty; self.size],
            operators: [Operator::Add; MOST_LEAVES - 1],
            parenthesis: None,
            found: Vec::new(),
        };
        search.start();
        search.found
    }

    /// The asked number, what each panel comes to, and the probability of all numbers.
    fn solve(&self, expression: &Expression, tree: &Tree, constant: i32) -> Option<(u16, Vec<u16>, f64)> {
        let largest = i64::from(self.largest);
        let constants: Vec<u16> =
            self.problem.panels.iter().map(|panel| panel.centre.unwrap_or(constant as u16)).collect();
        let mut open = self.open;
        let value = i64::from(constants[constants.len() - 1]);
        let answer = tree.solve(&open[..self.size], self.asked, value, largest)?;
        open[self.asked] = answer;

        let mut likelihood = self.probability(tree, &open)?;
        for lane in &self.lanes {
            likelihood *= self.probability(tree, &lane.map(i64::from))?;
        }
        // A calculation that often fails is repeated: what it gives in the end is as much likelier.
        let groups = (self.lanes.len() + 1) / constants.len();
        for &constant in &constants {
            let failure = 1.0 - self.sampler.success(expression, constant);
            let tries = (1..FAILURES).fold(1.0, |tries, _| 1.0 + failure * tries);
            likelihood = (0..groups).fold(likelihood, |likelihood, _| likelihood * tries);
        }
        Some((answer as u16, constants, likelihood))
    }

    /// Probability that the sampler splits the root's value into just these numbers.
    fn probability(&self, tree: &Tree, leaves: &[i64; MOST_LEAVES]) -> Option<f64> {
        let values = tree.values(&leaves[..self.size], self.largest.into())?;
        let nodes = tree.nodes().iter().zip(&values[self.size..]);
        Some(nodes.map(|(node, &value)| self.sampler.split_probability(node.operator, value)).product())
    }
}

/// The depth-first search over operators and parentheses.
struct Search<'a> {
    reading: &'a Reading<'a>,
    /// After each number.
    states: Vec<State>,
    operators: [Operator; MOST_LEAVES - 1],
    parenthesis: Option<u8>,
    found: Vec<Found>,
}

impl Search<'_> {
    fn start(&mut self) {
        for (term, lane) in self.states[0].terms.iter_mut().zip(&self.reading.lanes) {
            *term = lane[0];
        }
        self.extend(1, None);
        if self.reading.size > 2 {
            for inner in [Operator::Add, Operator::Subtract] {
                let Some(pairs) = self.pairs(0, inner) else { continue };
                self.states[1].terms.clone_from(&pairs);
                (self.operators[0], self.parenthesis) = (inner, Some(0));
                self.extend(2, None);
                self.parenthesis = None;
            }
        }
    }

    /// Values of the two numbers from `leaf` on, in parentheses.
    fn pairs(&self, leaf: usize, inner: Operator) -> Option<Vec<i32>> {
        let value = |lane: &[i32; MOST_LEAVES]| {
            let value = if inner == Operator::Add {
                lane[leaf] + lane[leaf + 1]
            } else {
                lane[leaf] - lane[leaf + 1]
            };
            (1..=self.reading.largest).contains(&value).then_some(value)
        };
        self.reading.lanes.iter().map(value).collect()
    }

    /// Goes on after `read` numbers; `pending` stands between the finished sum and the term.
    fn extend(&mut self, read: usize, pending: Option<Operator>) {
        if read == self.reading.size {
            self.finish(pending);
            return;
        }
        let singles: Vec<i32> = self.reading.lanes.iter().map(|lane| lane[read]).collect();
        self.factor(read, 1, &singles, pending);
        // The last operator never stands in parentheses.
        if self.parenthesis.is_none() && read + 2 < self.reading.size {
            for inner in [Operator::Add, Operator::Subtract] {
                let Some(pairs) = self.pairs(read, inner) else { continue };
                (self.operators[read], self.parenthesis) = (inner, Some(read as u8));
                self.factor(read, 2, &pairs, pending);
                self.parenthesis = None;
            }
        }
    }

    /// Tries every operator before a factor of `width` numbers.
    fn factor(&mut self, read: usize, width: usize, factors: &[i32], pending: Option<Operator>) {
        // A pair in parentheses at the start matters only before `*` and `/`.
        let redundant = self.parenthesis == Some(0) && read == 2;
        for operator in Operator::ALL {
            if redundant && operator.is_sum() {
                continue;
            }
            if self.step(read, width, factors, pending, operator) {
                self.operators[read - 1] = operator;
                let pending = if operator.is_sum() { Some(operator) } else { pending };
                self.extend(read + width, pending);
            }
        }
    }

    /// The state after another operator and factor; whether every lane can go on.
    fn step(
        &mut self,
        read: usize,
        width: usize,
        factors: &[i32],
        pending: Option<Operator>,
        operator: Operator,
    ) -> bool {
        let largest = self.reading.largest;
        let (before, after) = self.states.split_at_mut(read + width - 1);
        let (before, after) = (&before[read - 1], &mut after[0]);
        for (lane, &factor) in factors.iter().enumerate() {
            let (sum, term) = (before.sums[lane], before.terms[lane]);
            let (sum, term) = match operator {
                Operator::Add | Operator::Subtract => (add(sum, pending, term), factor),
                Operator::Multiply => (sum, term * factor),
                Operator::Divide if term % factor == 0 => (sum, term / factor),
                Operator::Divide => return false,
            };
            if sum > largest || sum < 0 || (operator.is_sum() && sum == 0) || term > largest {
                return false;
            }
            after.sums[lane] = sum;
            after.terms[lane] = term;
        }
        true
    }

    fn finish(&mut self, pending: Option<Operator>) {
        let state = &self.states[self.reading.size - 1];
        let range = &self.reading.sampler.parameters().constants;
        let mut constant = None;
        for (lane, wanted) in self.reading.wanted.iter().enumerate() {
            let value = add(state.sums[lane], pending, state.terms[lane]);
            let fits = match wanted {
                Some(wanted) => value == *wanted,
                None => value == *constant.get_or_insert(value),
            };
            if !fits {
                return;
            }
        }
        if constant.is_some_and(|constant| {
            !(i32::from(*range.start())..=i32::from(*range.end())).contains(&constant)
        }) {
            return;
        }
        let operators = &self.operators[..self.reading.size - 1];
        let expression = Expression::new(operators, self.parenthesis);
        let choice = choice(operators, self.parenthesis);
        self.found.push(Found {
            expression,
            tree: expression.tree(),
            constant: constant.unwrap_or_default(),
            choice,
        });
    }
}

/// A sum with its next term; the term alone where there is no sum yet.
fn add(sum: i32, pending: Option<Operator>, term: i32) -> i32 {
    match pending {
        None => term,
        Some(Operator::Subtract) => sum - term,
        Some(_) => sum + term,
    }
}

/// Probability of these operators and parentheses; parentheses that change nothing count as none.
fn choice(operators: &[Operator], parenthesis: Option<u8>) -> f64 {
    let candidates = |most: usize| operators[..most].iter().filter(|operator| operator.is_sum()).count();
    let halves = |times: usize| (0..times).fold(1.0, |probability, _| probability * 0.5);
    let last = operators.len() - 1;
    let redundant = last >= 1 && operators[0].is_sum() && operators[1].is_sum();
    let parentheses = parenthesis.map_or_else(
        || halves(candidates(last)) + if redundant { 0.5 } else { 0.0 },
        |at| halves(candidates(at.into()) + 1),
    );
    parentheses * halves(2 * operators.len())
}
