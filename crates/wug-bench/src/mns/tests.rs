//! The generator against its rules and against problems of an independent generator.

use std::fs;

use serde::Deserialize;
use wug_data::Streams;
use wug_official::Official;

use super::derivations::derivations;
use super::grammar::{Interpretation, Kind, Layout, Shape};
use super::groups::{Mode, has_room_at_the_centre};
use super::meaning::{Expression, Operator};
use super::problem::{Panel, Problem};
use super::sample::{Drawn, Parameters, Sampler};
use super::splits::{Design, number};

/// A problem of the reference file.
#[derive(Deserialize)]
pub(crate) struct Reference {
    r#type: String,
    layout: String,
    parts: u8,
    mode: u8,
    groups: Vec<Vec<u8>>,
    ops: String,
    paren: i8,
    center: bool,
    constants: Vec<u16>,
    panels: Vec<Vec<Option<u16>>>,
    answer: u16,
}

impl Reference {
    pub(crate) fn read_all(official: &mut Official) -> Vec<Self> {
        let Some(folder) = official.folder("mns", 560) else { return Vec::new() };
        let text = fs::read_to_string(folder.join("mns_problems_560.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn problem(&self) -> Problem {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == self.r#type).unwrap();
        let asked = self.panels.last().unwrap().iter().position(Option::is_none).unwrap();
        let panels = self.panels.iter().zip(&self.constants).map(|(numbers, &constant)| Panel {
            numbers: numbers.iter().map(|number| number.unwrap_or_default()).collect(),
            centre: self.center.then_some(constant),
        });
        Problem {
            layout: Layout::named(kind, &self.layout).unwrap(),
            shape: Shape::Circle,
            panels: panels.collect(),
            asked,
        }
    }

    fn expression(&self) -> Expression {
        let operators: Vec<Operator> =
            self.ops.chars().map(|sign| Operator::with_sign(sign).unwrap()).collect();
        Expression::new(&operators, u8::try_from(self.paren).ok())
    }
}

#[test]
fn reference_problems_evaluate() {
    let mut official = Official::new("MNS problems evaluate, groups and rules agree");
    for reference in Reference::read_all(&mut official) {
        let problem = reference.problem();
        let interpretation = if reference.parts == 0 {
            Interpretation::Holistic
        } else {
            Interpretation::Analytic(reference.parts)
        };
        let modes = Mode::drawn(problem.layout, interpretation);
        let fits =
            |mode: &&Mode| mode.groups(problem.integers(), interpretation.groups()) == reference.groups;
        let mode = modes.iter().find(fits).expect("the groups are those of a mode");
        assert_eq!(matches!(mode, Mode::Symmetry | Mode::Axis), reference.mode == 2);

        let tree = reference.expression().tree();
        for (panel, &constant) in reference.panels.iter().zip(&reference.constants) {
            for group in &reference.groups {
                let leaf = |&position: &u8| panel[usize::from(position)].unwrap_or(reference.answer).into();
                let leaves: Vec<i64> = group.iter().map(leaf).collect();
                assert_eq!(tree.value(&leaves, 99), Some(constant.into()), "{problem}");
            }
        }
        official.compared(1);
    }
}

#[test]
fn reference_problems_are_derived() {
    let mut official = Official::new("MNS problems have their derivation");
    let sampler = Sampler::new(Parameters::default()).unwrap();
    let mut right = 0;
    let references = Reference::read_all(&mut official);
    for reference in &references {
        let problem = reference.problem();
        let all = derivations(&problem, &sampler);
        assert!(all.iter().any(|it| it.answer == reference.answer), "{problem}");
        let mut weights = [0.0; 100];
        for derivation in &all {
            weights[usize::from(derivation.answer)] += derivation.weight;
        }
        let best = (1..100).max_by(|&one, &other| weights[one].total_cmp(&weights[other])).unwrap();
        right += usize::from(best == usize::from(reference.answer));
        official.compared(1);
    }
    // The optimum is wrong in three of a thousand.
    assert!(references.is_empty() || right >= 554, "{right} of {}", references.len());
}

/// Problems of every condition, some hundred of each.
fn drawn(per_condition: usize) -> Vec<Drawn> {
    let design = Design::named("circle").unwrap();
    let sampler = Sampler::new(design.parameters.clone()).unwrap();
    let streams = Streams::new("mns/circle", "test", 0);
    (0..(28 * per_condition) as u64).map(|i| design.draw(&sampler, &streams, i)).collect()
}

#[test]
fn drawn_problems_obey_the_rules() {
    for Drawn { problem, answer, condition, mode, expression, constants } in drawn(100) {
        let text = problem.to_string();
        assert_eq!(text.parse::<Problem>().unwrap(), problem);
        assert!(constants.iter().all(|constant| (5..=94).contains(constant)), "{text}");
        match problem.panels[0].centre {
            Some(_) => {
                assert!(has_room_at_the_centre(problem.layout));
                assert!(
                    problem.panels.iter().map(|panel| panel.centre.unwrap()).eq(constants.iter().copied())
                );
            }
            None => assert!(constants.iter().all(|&constant| constant == constants[0])),
        }
        let operators = expression.operators();
        if let Some(at) = expression.parenthesis() {
            assert!(usize::from(at) + 1 < operators.len() && operators[usize::from(at)].is_sum());
        }
        let tree = expression.tree();
        let groups = mode.groups(problem.integers(), condition.interpretation.groups());
        assert_eq!(groups[0].len(), operators.len() + 1);
        for (i, (panel, &constant)) in problem.panels.iter().zip(&constants).enumerate() {
            let mut numbers = panel.numbers.clone();
            if i == 2 {
                assert_eq!(numbers[problem.asked], 0);
                numbers[problem.asked] = answer;
            }
            assert!(numbers.iter().all(|number| (1..=99).contains(number)), "{text}");
            for group in &groups {
                let leaves: Vec<i64> =
                    group.iter().map(|&position| numbers[usize::from(position)].into()).collect();
                assert_eq!(tree.value(&leaves, 99), Some(constant.into()), "{text}");
            }
        }
    }
}

#[test]
fn drawn_problems_are_derived_with_their_rule() {
    let sampler = Sampler::new(Parameters::default()).unwrap();
    for Drawn { problem, answer, condition, mode, expression, .. } in drawn(40) {
        let operators = expression.operators();
        // Parentheses at the start before a sum change nothing.
        let redundant = expression.parenthesis() == Some(0) && operators[1].is_sum();
        let expression = if redundant { Expression::new(operators, None) } else { expression };
        let all = derivations(&problem, &sampler);
        let found = all.iter().find(|it| {
            it.interpretation == condition.interpretation && it.mode == mode && it.expression == expression
        });
        assert_eq!(found.map(|it| it.answer), Some(answer), "{problem}");
    }
}

#[test]
fn distributions_are_those_of_the_release() {
    let all = drawn(1000);
    let share = |of: &dyn Fn(&Drawn) -> bool| {
        100.0 * all.iter().filter(|drawn| of(drawn)).count() as f64 / all.len() as f64
    };
    let ones = share(&|drawn| drawn.answer == 1);
    assert!((ones - 20.0).abs() < 0.5, "the answer is 1 in {ones}%");
    for (kind, expected) in Kind::ALL.into_iter().zip([5.0, 14.0, 9.0]) {
        let share = share(&|drawn| drawn.problem.layout.kind() == kind);
        assert!((share - 100.0 * expected / 28.0).abs() < 0.01);
    }
    let shown = share(&|drawn| drawn.problem.shows_constants());
    assert!((shown - 25.0).abs() < 0.8, "constants are shown in {shown}%, half of the compositions");
    let first = share(&|drawn| drawn.problem.asked == 0);
    // A position among n is asked with probability 1/n: the mean of 1/n over the 28 conditions.
    assert!((first - 100.0 * 5.2083 / 28.0).abs() < 0.8, "the first position is asked in {first}%");
}

/// Restarts favour operators that seldom fail: shares of operators and parentheses against the reference problems.
#[test]
fn operators_are_as_frequent_as_in_the_reference() {
    let mut official = Official::new("MNS operator shares");
    let references = Reference::read_all(&mut official);
    if references.is_empty() {
        return;
    }
    let count = |expressions: &mut dyn Iterator<Item = Expression>| {
        let mut counts = [0.0f64; 5];
        for expression in expressions {
            for &operator in expression.operators() {
                counts[operator as usize] += 1.0;
            }
            counts[4] += f64::from(u8::from(expression.parenthesis().is_some()));
        }
        counts
    };
    let theirs = count(&mut references.iter().map(Reference::expression));
    let all = drawn(500);
    let ours = count(&mut all.iter().map(|drawn| drawn.expression));
    let total: f64 = theirs[..4].iter().sum();
    for (one, other) in theirs.iter().zip(&ours) {
        let expected = other / 25.0;
        let spread = (expected * (1.0 - expected / total)).sqrt();
        assert!((one - expected).abs() < 4.0 * spread, "{theirs:?} in 560 problems, {ours:?} in 14,000");
    }
    official.compared(5);
}

#[test]
fn numbers_of_problems_have_the_last_digits_of_their_part() {
    let numbers = |part| (0..6).map(|i| number(part, 28 * i + 3, 28)).collect::<Vec<usize>>();
    assert_eq!(numbers("train"), [0, 2, 4, 6, 8, 9]);
    assert_eq!(numbers("val"), [1, 7, 11, 17, 21, 27]);
    assert_eq!(numbers("test"), [3, 5, 13, 15, 23, 25]);
    assert_eq!(number("test", 55_999, 28), 9995);
}

#[test]
fn other_parameters_are_obeyed() {
    let streams = Streams::new("test", "parameters", 0);
    for parameters in [
        Parameters::up_to(20),
        Parameters::up_to(999),
        Parameters { panels: 2, ..Parameters::default() },
        Parameters { panels: 8, ..Parameters::default() },
    ] {
        let sampler = Sampler::new(parameters.clone()).unwrap();
        let conditions = Design::named("circle").unwrap().conditions;
        for (i, &condition) in conditions.iter().enumerate() {
            let drawn = sampler.problem(condition, &mut streams.item(i as u64));
            assert_eq!(drawn.problem.panels.len(), parameters.panels);
            assert!(drawn.problem.largest().max(drawn.answer) <= parameters.largest);
        }
    }
    for wrong in [
        Parameters { panels: 1, ..Parameters::default() },
        Parameters { largest: 5, ..Parameters::default() },
        Parameters { constants: 5..=99, ..Parameters::default() },
        Parameters { constants: 1..=50, ..Parameters::default() },
        Parameters { largest: 1000, ..Parameters::default() },
    ] {
        assert!(Sampler::new(wrong).unwrap_err().is_usage());
    }
}
