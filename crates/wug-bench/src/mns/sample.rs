//! How a problem is drawn, as the official generator does it: constants, operators, and numbers that come out.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock};

use wug_data::{Error, Result, Stream};

use super::grammar::Condition;
use super::groups::{Mode, has_room_at_the_centre};
use super::meaning::{Expression, MOST_LEAVES, Operator, Tree};
use super::problem::{LARGEST, MOST_PANELS, Panel, Problem};

/// How many operators are drawn for a problem; a calculation uses the first of them.
const OPERATORS: usize = 25;
/// Draws after which the generator gives up looking for a divisor or a multiple.
const DRAWS: usize = 101;
/// Failures of one calculation after which operators are chosen anew.
pub(crate) const FAILURES: u32 = 11;
/// Choices of operators after which a problem starts afresh, so that no stream runs forever.
const CHOICES: usize = 1000;

/// What may vary between datasets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// Panels of a problem.
    pub panels: usize,
    /// The largest number; the smallest is 1.
    pub largest: u16,
    /// What calculations come to.
    pub constants: RangeInclusive<u16>,
}

impl Default for Parameters {
    /// As released: three panels, numbers from 1 to 99, constants from 5 to 94.
    fn default() -> Self {
        Self { panels: 3, largest: 99, constants: 5..=94 }
    }
}

impl Parameters {
    /// Numbers from 1 to `largest`, and constants that keep the same distance from the ends as the released ones.
    pub fn up_to(largest: u16) -> Self {
        Self { largest, constants: 5..=largest.saturating_sub(5), ..Self::default() }
    }
}

/// A problem with what the generator knows about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// What is asked.
    pub problem: Problem,
    /// The asked number.
    pub answer: u16,
    /// The way through the And-Or graph.
    pub condition: Condition,
    /// How positions are grouped.
    pub mode: Mode,
    /// What is calculated in each group.
    pub expression: Expression,
    /// What each panel comes to.
    pub constants: Vec<u16>,
}

/// Draws problems.
#[derive(Debug)]
pub struct Sampler {
    parameters: Parameters,
    factors: Vec<Choices>,
    multiples: Vec<Choices>,
    /// See [`Sampler::success`]; found once for every expression.
    successes: RwLock<HashMap<Expression, Arc<[f32]>>>,
}

/// The left operands of `*` or `/` that fit a value.
#[derive(Debug)]
struct Choices {
    /// Each equally likely.
    fitting: Vec<u16>,
    /// Probability that none of the draws fits.
    failure: f64,
}

impl Choices {
    fn new(range: RangeInclusive<u16>, fits: impl Fn(u16) -> bool) -> Self {
        let size = range.clone().count();
        let fitting: Vec<u16> = range.filter(|&number| fits(number)).collect();
        let miss = (size - fitting.len()) as f64 / size as f64;
        // Multiplied out, for the same bits on every machine.
        let failure = (0..DRAWS).fold(1.0, |failure, _| failure * miss);
        Self { fitting, failure }
    }

    /// The same distribution as drawing from the whole range until a number fits or the draws run out.
    fn draw(&self, stream: &mut Stream) -> Option<u16> {
        if self.failure > 0.0 && stream.coin(self.failure) {
            return None;
        }
        Some(*stream.choose(&self.fitting))
    }
}

impl Sampler {
    /// A sampler for these parameters, checked.
    pub fn new(parameters: Parameters) -> Result<Self> {
        let Parameters { panels, largest, constants } = &parameters;
        if !(2..=MOST_PANELS).contains(panels) {
            return Err(Error::usage(format!("{panels} panels: there must be 2 to {MOST_PANELS}")));
        }
        if !(20..=LARGEST).contains(largest) {
            return Err(Error::usage(format!(
                "numbers up to {largest}: the largest must be 20 to {LARGEST}"
            )));
        }
        if *constants.start() < 2 || constants.end() >= largest || constants.is_empty() {
            return Err(Error::usage(format!(
                "constants from {} to {}: they must lie between 2 and {}",
                constants.start(),
                constants.end(),
                largest - 1
            )));
        }
        let largest = *largest;
        let table =
            |choices: &dyn Fn(u16) -> Choices| (0..=largest).map(|value| choices(value.max(1))).collect();
        let factors = table(&|value| Choices::new(1..=value, |left| value % left == 0));
        let multiples = table(&|value| Choices::new(value..=largest, |left| left % value == 0));
        Ok(Self { parameters, factors, multiples, successes: RwLock::default() })
    }

    /// What it was made for.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Draws a problem.
    pub fn problem(&self, condition: Condition, stream: &mut Stream) -> Drawn {
        loop {
            if let Some(drawn) = self.attempt(condition, stream) {
                return drawn;
            }
        }
    }

    fn attempt(&self, condition: Condition, stream: &mut Stream) -> Option<Drawn> {
        let Condition { shape, layout, interpretation } = condition;
        let panels = self.parameters.panels;
        let range = &self.parameters.constants;
        let number = |stream: &mut Stream| {
            range.start() + stream.below(u64::from(range.end() - range.start()) + 1) as u16
        };
        let mut constants: Vec<u16> = (0..panels).map(|_| number(stream)).collect();
        let shown = has_room_at_the_centre(layout) && stream.coin(0.5);
        if !shown {
            let constant = constants[0];
            constants.fill(constant);
        }
        let mode = *stream.choose(Mode::drawn(layout, interpretation));
        let (integers, groups) = (layout.integers(), interpretation.groups());
        let order = mode.order(integers, groups);
        let mut operators = [Operator::Add; OPERATORS];
        operators.fill_with(|| *stream.choose(&Operator::ALL));

        for _ in 0..CHOICES {
            let expression = expression(&operators[..integers / groups - 1], stream);
            let tree = expression.tree();
            let mut numbers = [[0; MOST_LEAVES]; MOST_PANELS];
            if self.numbers(&tree, &constants, &order[..integers], &mut numbers, stream) {
                let mut problem = Problem { layout, shape, panels: Vec::with_capacity(panels), asked: 0 };
                for (numbers, &constant) in numbers.iter().zip(&constants) {
                    let numbers = numbers[..integers].to_vec();
                    problem.panels.push(Panel { numbers, centre: shown.then_some(constant) });
                }
                problem.asked = stream.below(integers as u64) as usize;
                let answer = std::mem::take(&mut problem.panels[panels - 1].numbers[problem.asked]);
                return Some(Drawn { problem, answer, condition, mode, expression, constants });
            }
            stream.shuffle(&mut operators);
        }
        None
    }

    /// Numbers for every group of every panel; false if a group fails too often.
    fn numbers(
        &self,
        tree: &Tree,
        constants: &[u16],
        order: &[u8],
        panels: &mut [[u16; MOST_LEAVES]; MOST_PANELS],
        stream: &mut Stream,
    ) -> bool {
        for (&constant, numbers) in constants.iter().zip(panels) {
            for group in order.chunks(tree.leaves()) {
                let Some(leaves) = (0..FAILURES).find_map(|_| self.leaves(tree, constant, stream)) else {
                    return false;
                };
                for (&position, leaf) in group.iter().zip(leaves) {
                    numbers[usize::from(position)] = leaf;
                }
            }
        }
        true
    }

    /// Numbers for which the tree comes to `value`, drawn from the root down.
    fn leaves(&self, tree: &Tree, value: u16, stream: &mut Stream) -> Option<[u16; MOST_LEAVES]> {
        let first = tree.leaves();
        let mut values = [0u16; 2 * MOST_LEAVES - 1];
        values[2 * first - 2] = value;
        for (i, node) in tree.nodes().iter().enumerate().rev() {
            let (left, right) = self.split(node.operator, values[first + i], stream)?;
            values[usize::from(node.left)] = left;
            values[usize::from(node.right)] = right;
        }
        let mut leaves = [0; MOST_LEAVES];
        leaves[..first].copy_from_slice(&values[..first]);
        Some(leaves)
    }

    /// Operands for which the operator gives `value`.
    fn split(&self, operator: Operator, value: u16, stream: &mut Stream) -> Option<(u16, u16)> {
        let largest = self.parameters.largest;
        let mut below = |n: u16| (n > 0).then(|| stream.below(n.into()) as u16);
        match operator {
            Operator::Add => below(value - 1).map(|i| (1 + i, value - 1 - i)),
            Operator::Subtract => below(largest - value).map(|i| (value + 1 + i, 1 + i)),
            Operator::Multiply => {
                self.factors[usize::from(value)].draw(stream).map(|left| (left, value / left))
            }
            Operator::Divide => {
                self.multiples[usize::from(value)].draw(stream).map(|left| (left, left / value))
            }
        }
    }

    /// Probability that [`Sampler`] splits `value` into one given pair of operands.
    pub(crate) fn split_probability(&self, operator: Operator, value: i64) -> f64 {
        let value = value as u16;
        let of = |choices: &Choices| (1.0 - choices.failure) / choices.fitting.len() as f64;
        match operator {
            Operator::Add => 1.0 / f64::from(value - 1),
            Operator::Subtract => 1.0 / f64::from(self.parameters.largest - value),
            Operator::Multiply => of(&self.factors[usize::from(value)]),
            Operator::Divide => of(&self.multiples[usize::from(value)]),
        }
    }

    /// Probability that one attempt to find numbers for an expression with this value succeeds.
    pub(crate) fn success(&self, expression: &Expression, value: u16) -> f64 {
        let value = usize::from(value);
        if let Some(known) = self.successes.read().unwrap_or_else(PoisonError::into_inner).get(expression) {
            return known[value].into();
        }
        let made = self.make_successes(&expression.tree());
        let success = made[value].into();
        self.successes.write().unwrap_or_else(PoisonError::into_inner).insert(*expression, made);
        success
    }

    /// The probability of success for every value of the root, from the leaves up.
    fn make_successes(&self, tree: &Tree) -> Arc<[f32]> {
        let largest = usize::from(self.parameters.largest);
        let mut tables: Vec<Vec<f32>> = vec![vec![1.0; largest + 1]; tree.leaves()];
        for node in tree.nodes() {
            let (left, right) = (&tables[usize::from(node.left)], &tables[usize::from(node.right)]);
            let pairs = |value: usize| -> f32 {
                match node.operator {
                    Operator::Add => (1..value).map(|i| left[i] * right[value - i]).sum(),
                    Operator::Subtract => (value + 1..=largest).map(|i| left[i] * right[i - value]).sum(),
                    Operator::Multiply => {
                        let factors = self.factors[value].fitting.iter().map(|&i| usize::from(i));
                        factors.map(|i| left[i] * right[value / i]).sum()
                    }
                    Operator::Divide => {
                        let multiples = self.multiples[value].fitting.iter().map(|&i| usize::from(i));
                        multiples.map(|i| left[i] * right[i / value]).sum()
                    }
                }
            };
            let success = |value: usize| match pairs(value) {
                0.0 => 0.0,
                pairs => pairs * self.split_probability(node.operator, value as i64) as f32,
            };
            tables.push(std::iter::once(0.0).chain((1..=largest).map(success)).collect());
        }
        tables.pop().unwrap_or_default().into()
    }
}

/// Operators with parentheses around one `+` or `-` at most: each but the last operator has an even chance, until one
/// has them.
fn expression(operators: &[Operator], stream: &mut Stream) -> Expression {
    let last = operators.len() - 1;
    let mut candidates = (0..last).filter(|&at| operators[at].is_sum());
    let parenthesis = candidates.find(|_| stream.coin(0.5));
    Expression::new(operators, parenthesis.map(|at| at as u8))
}
