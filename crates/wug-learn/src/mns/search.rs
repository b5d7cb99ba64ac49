use std::sync::LazyLock;

use wug_bench::mns::grammar::{Kind, Layout};
use wug_bench::mns::groups::Mode;
use wug_bench::mns::meaning::{MOST_LEAVES, Operator, Tree};
use wug_bench::mns::problem::Problem;
use wug_data::{Result, Stream, Streams};

use super::sampler;
use crate::SettingKind;
use crate::{Answer, Learner, LearnerInfo, Model, Question, Reads, Setting, Task, answer_each};

/// The paper's pure symbolic search: knows the numbers, not the figure, so it tries every rotation and grouping.
pub struct SearchPure;

/// The paper's context-guided search: knows type and layout, and so where to start and which groupings there are.
pub struct SearchContext;

const STEPS: Setting = Setting {
    name: "steps",
    about: "hypotheses to try before giving up; Table 1 has 10,000",
    default: SettingKind::Whole { default: 10_000, least: 1, most: 1_000_000_000 },
};

static PURE: LearnerInfo = LearnerInfo {
    name: "search-pure",
    title: "the paper's blind search over rotations, groups, operators and trees",
    benchmarks: &["mns"],
    reads: Reads::Tokens,
    settings: &[STEPS],
};

static CONTEXT: LearnerInfo = LearnerInfo {
    name: "search-context",
    title: "the paper's search that knows type and layout",
    benchmarks: &["mns"],
    reads: Reads::Tokens,
    settings: &[
        STEPS,
        Setting {
            name: "official-bug",
            about: "never mirror the groups of a partition, as the official code (which compares a text with a number)",
            default: SettingKind::Flag,
        },
    ],
};

impl Learner for SearchPure {
    fn about(&self) -> &'static LearnerInfo {
        &PURE
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        search(task, Knowledge::Numbers, PURE.name)
    }
}

impl Learner for SearchContext {
    fn about(&self) -> &'static LearnerInfo {
        &CONTEXT
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        let knowledge = Knowledge::Context { official_bug: task.settings.flag("official-bug") };
        search(task, knowledge, CONTEXT.name)
    }
}

fn search(task: &Task<'_>, knowledge: Knowledge, name: &str) -> Result<Box<dyn Model>> {
    Ok(Box::new(Search {
        knowledge,
        steps: task.settings.whole("steps"),
        largest: sampler(task)?.parameters().largest.into(),
        streams: task.streams(name),
    }))
}

/// What a search knows besides the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Knowledge {
    Numbers,
    Context { official_bug: bool },
}

struct Search {
    knowledge: Knowledge,
    steps: u64,
    largest: i64,
    streams: Streams,
}

impl Model for Search {
    fn answers(&self, questions: &[Question<'_>]) -> Result<Vec<Answer>> {
        answer_each(questions, |question| self.answer(question))
    }
}

impl Search {
    fn answer(&self, question: &Question<'_>) -> Result<Answer> {
        let problem = match Problem::read(question.input.tokens()?.words()) {
            Ok(problem) => problem,
            Err(what) => return Ok(Answer::abstain().note("unread", what)),
        };
        let stream = question.stream(&self.streams);
        let mut attempt = Attempt { search: self, problem: &problem, stream, steps: 0 };
        let answer = match attempt.run() {
            Some(found) => Answer {
                text: Some(found.answer.to_string()),
                explanation: Some(found.explain(&problem)),
                ..Answer::default()
            },
            None => Answer::abstain(),
        };
        Ok(answer.note("steps", attempt.steps))
    }
}

/// One search for one problem.
struct Attempt<'a> {
    search: &'a Search,
    problem: &'a Problem,
    stream: Stream,
    steps: u64,
}

/// The first hypothesis that fits.
struct Found {
    tree: Tree,
    groups: Vec<Vec<u8>>,
    constants: Vec<i64>,
    answer: i64,
}

impl Found {
    fn explain(&self, problem: &Problem) -> String {
        let mut calculations = Vec::new();
        for (i, (panel, constant)) in problem.panels.iter().zip(&self.constants).enumerate() {
            for group in &self.groups {
                let leaf = |&position: &u8| match panel.numbers[usize::from(position)] {
                    0 if i + 1 == problem.panels.len() => "?".to_owned(),
                    number => number.to_string(),
                };
                calculations.push(format!("{} = {constant}", self.tree.with(group.iter().map(leaf))));
            }
        }
        format!("{} -> {}", calculations.join(", "), self.answer)
    }
}

impl Attempt<'_> {
    /// Holistic and analytic in random order, then rotations, groupings, operators and trees, each in random order.
    fn run(&mut self) -> Option<Found> {
        let integers = self.problem.integers();
        let mut styles = vec![vec![1]];
        if integers >= 4 {
            styles.push(
                (2..=4).filter(|&groups| integers.is_multiple_of(groups) && integers > groups).collect(),
            );
            self.stream.shuffle(&mut styles);
        }
        styles.into_iter().flatten().find_map(|groups| self.grouped(groups))
    }

    fn grouped(&mut self, groups: usize) -> Option<Found> {
        let integers = self.problem.integers();
        let mut rotations: Vec<usize> = match self.search.knowledge {
            Knowledge::Numbers => (0..integers).collect(),
            Knowledge::Context { .. } => vec![0],
        };
        self.stream.shuffle(&mut rotations);
        for rotation in rotations {
            let mut modes = modes(self.search.knowledge, self.problem.layout, groups);
            self.stream.shuffle(&mut modes);
            for mode in modes {
                let mut positions = mode.groups(integers, groups);
                for position in positions.iter_mut().flatten() {
                    *position = ((usize::from(*position) + rotation) % integers) as u8;
                }
                if let Some(found) = self.calculated(positions) {
                    return Some(found);
                }
                if self.steps >= self.search.steps {
                    return None;
                }
            }
        }
        None
    }

    /// Tries all operators and trees on these groups.
    fn calculated(&mut self, groups: Vec<Vec<u8>>) -> Option<Found> {
        let numbers = Numbers::new(self.problem, &groups);
        let shapes = &SHAPES[numbers.size];
        let mut order: Vec<u16> = (0..shapes.len() as u16).collect();
        let mut strings: Vec<u16> = (0..1 << (2 * (numbers.size - 1))).collect();
        for i in 0..strings.len() {
            draw(&mut strings, i, &mut self.stream);
            for j in 0..order.len() {
                draw(&mut order, j, &mut self.stream);
                if self.steps >= self.search.steps {
                    return None;
                }
                self.steps += 1;
                let tree = shapes[usize::from(order[j])].tree(strings[i]);
                if let Some((constants, answer)) = numbers.check(self.problem, &tree, self.search.largest) {
                    return Some(Found { tree, groups, constants, answer });
                }
            }
        }
        None
    }
}

/// Puts a random one of the items from `i` on at `i`: a shuffle that is as long as it is looked at.
fn draw<T>(items: &mut [T], i: usize, stream: &mut Stream) {
    let j = i + stream.below((items.len() - i) as u64) as usize;
    items.swap(i, j);
}

/// The groupings that a search tries.
fn modes(knowledge: Knowledge, layout: Layout, groups: usize) -> Vec<Mode> {
    use Mode::{Axis, Mirrored, Neighbours, Symmetry, Whole};
    if groups == 1 {
        return vec![Whole];
    }
    let Knowledge::Context { official_bug } = knowledge else {
        let mut modes = vec![Neighbours, Symmetry, Mirrored];
        modes.extend((layout.integers() == 8 && groups == 2).then_some(Axis));
        return modes;
    };
    match (layout, groups) {
        (Layout::Include | Layout::Cross, 2) => vec![Neighbours, Axis],
        (Layout::Triangle, 2 | 3) | (Layout::Square | Layout::Circle, 2 | 4) => vec![Symmetry],
        (Layout::Parts6 | Layout::Parts8, 2) if !official_bug => vec![Mirrored, Symmetry],
        _ => {
            debug_assert!(
                layout.kind() != Kind::Composition || matches!(layout, Layout::Line | Layout::Cross)
            );
            vec![Neighbours, Symmetry]
        }
    }
}

/// The numbers of a problem in the order of calculation.
struct Numbers {
    size: usize,
    /// Complete groups with their panel.
    complete: Vec<(usize, [i64; MOST_LEAVES])>,
    open: [i64; MOST_LEAVES],
    asked: usize,
}

impl Numbers {
    fn new(problem: &Problem, groups: &[Vec<u8>]) -> Self {
        let mut numbers =
            Self { size: groups[0].len(), complete: Vec::new(), open: [0; MOST_LEAVES], asked: 0 };
        for (i, panel) in problem.panels.iter().enumerate() {
            for group in groups {
                let mut leaves = [0; MOST_LEAVES];
                for (leaf, &position) in leaves.iter_mut().zip(group) {
                    *leaf = panel.numbers[usize::from(position)].into();
                }
                // The asked number is the only 0.
                match leaves[..numbers.size].iter().position(|&leaf| leaf == 0) {
                    Some(asked) => (numbers.open, numbers.asked) = (leaves, asked),
                    None => numbers.complete.push((i, leaves)),
                }
            }
        }
        numbers
    }

    /// Whether every complete group comes to its panel's constant, and then the constants and the asked number.
    fn check(&self, problem: &Problem, tree: &Tree, largest: i64) -> Option<(Vec<i64>, i64)> {
        let mut hidden = None;
        for (panel, leaves) in &self.complete {
            let value = tree.value(&leaves[..self.size], i64::MAX).filter(|&value| value <= largest)?;
            let wanted = match problem.panels[*panel].centre {
                Some(centre) => centre.into(),
                None => *hidden.get_or_insert(value),
            };
            if value != wanted {
                return None;
            }
        }
        let constant = |centre: Option<u16>| centre.map_or(hidden.unwrap_or_default(), i64::from);
        let constants: Vec<i64> = problem.panels.iter().map(|panel| constant(panel.centre)).collect();
        let value = constants[constants.len() - 1];
        let answer = tree.solve(&self.open[..self.size], self.asked, value, i64::MAX)?;
        (answer <= largest).then_some((constants, answer))
    }
}

/// A binary tree whose operators stand between its leaves.
struct Shape {
    tree: Tree,
    /// For each node, which of the operators from left to right it is.
    operators: Vec<u8>,
}

impl Shape {
    /// The tree with the operators of a string, two bits each.
    #[inline]
    fn tree(&self, string: u16) -> Tree {
        let mut tree = self.tree;
        tree.set_operators(self.operators.iter().map(|&i| Operator::ALL[usize::from(string >> (2 * i) & 3)]));
        tree
    }
}

/// All binary trees by their number of leaves: 1, 2, 5, 42 and 429 with 2, 3, 4, 6 and 8.
static SHAPES: LazyLock<Vec<Vec<Shape>>> = LazyLock::new(|| {
    let with = |leaves: usize| {
        if leaves < 2 {
            return Vec::new();
        }
        let shape = |splits: Vec<(u8, u8, u8)>| {
            let mut tree = Tree::of_leaves(leaves);
            let mut operators = Vec::new();
            join(&splits, 0, leaves as u8, &mut tree, &mut operators);
            Shape { tree, operators }
        };
        bracketings(0, leaves as u8).into_iter().map(shape).collect()
    };
    (0..=MOST_LEAVES).map(with).collect()
});

/// All ways to split leaves `from..to`, as lists of (from, to, where).
fn bracketings(from: u8, to: u8) -> Vec<Vec<(u8, u8, u8)>> {
    if to - from < 2 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for split in from + 1..to {
        for left in bracketings(from, split) {
            for right in bracketings(split, to) {
                all.push([&[(from, to, split)], left.as_slice(), right.as_slice()].concat());
            }
        }
    }
    all
}

/// Adds the nodes of a bracketing, operands first; gives the number of the top one.
fn join(splits: &[(u8, u8, u8)], from: u8, to: u8, tree: &mut Tree, operators: &mut Vec<u8>) -> u8 {
    let Some(&(_, _, split)) = splits.iter().find(|&&(a, b, _)| (a, b) == (from, to)) else { return from };
    let left = join(splits, from, split, tree, operators);
    let right = join(splits, split, to, tree, operators);
    operators.push(split - 1);
    tree.join(Operator::Add, left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_counted_by_catalan() {
        let numbers: Vec<usize> = [2, 3, 4, 6, 8].iter().map(|&leaves| SHAPES[leaves].len()).collect();
        assert_eq!(numbers, [1, 2, 5, 42, 429]);
    }

    #[test]
    fn operators_stand_in_order() {
        // 0b_01_00: `+` first, then `-`.
        let texts: Vec<String> =
            SHAPES[3].iter().map(|shape| shape.tree(0b0100).with(["a", "b", "c"])).collect();
        assert_eq!(texts, ["a + (b - c)", "a + b - c"]);
    }

    #[test]
    fn the_bug_takes_the_mirror_away() {
        let context = |official_bug| Knowledge::Context { official_bug };
        assert_eq!(modes(context(false), Layout::Parts6, 2), [Mode::Mirrored, Mode::Symmetry]);
        assert_eq!(modes(context(true), Layout::Parts6, 2), [Mode::Neighbours, Mode::Symmetry]);
        assert_eq!(modes(context(true), Layout::Include, 4), [Mode::Neighbours, Mode::Symmetry]);
        assert_eq!(modes(Knowledge::Numbers, Layout::Parts8, 2).len(), 4);
        assert_eq!(modes(Knowledge::Numbers, Layout::Parts8, 4).len(), 3);
    }
}
