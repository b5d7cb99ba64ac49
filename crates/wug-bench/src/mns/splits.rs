//! Which problems go where: parts by the number of a problem in its condition.

use std::collections::HashMap;

use rayon::prelude::*;

use wug_data::{Facts, Part, Result, Sequences, Streams, Table, Vocab};

use super::derivations::Rule;
use super::grammar::{Condition, Interpretation, Kind, Layout, Shape, cell, conditions};
use super::problem::Problem;
use super::sample::{Drawn, Parameters, Sampler};
use crate::{Availability, Family};

/// The parts, with the last digits that the numbers of their problems have.
pub(crate) const PARTS: [(&str, &[usize]); 3] =
    [("train", &[0, 2, 4, 6, 8, 9]), ("val", &[1, 7]), ("test", &[3, 5])];

/// What a dataset is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// Name behind `mns/`.
    pub name: String,
    /// The conditions in turn: problem `i` of a part has condition `i` modulo their number.
    pub conditions: Vec<Condition>,
    /// Problems of each condition, in all parts together.
    pub per_condition: usize,
    /// Panels and numbers.
    pub parameters: Parameters,
}

/// Rows that are worked out together.
const CHUNK: usize = 1 << 12;

const PANELS: [usize; 5] = [2, 4, 5, 6, 8];
const LARGEST: [u16; 5] = [20, 50, 200, 500, 999];

impl Design {
    /// The design of a dataset.
    pub fn named(name: &str) -> Option<Self> {
        let circles = || conditions().iter().copied().filter(|it| it.shape == Shape::Circle).collect();
        let circle = |parameters, per_condition| Self {
            name: name.to_owned(),
            conditions: circles(),
            per_condition,
            parameters,
        };
        if let Some(panels) = name.strip_prefix("circle-panels-") {
            let panels = PANELS.into_iter().find(|known| known.to_string() == panels)?;
            return Some(circle(Parameters { panels, ..Parameters::default() }, 1000));
        }
        if let Some(largest) = name.strip_prefix("circle-to-") {
            let largest = LARGEST.into_iter().find(|known| known.to_string() == largest)?;
            return Some(circle(Parameters::up_to(largest), 1000));
        }
        match name {
            "circle" => Some(circle(Parameters::default(), 10_000)),
            "shapes" => Some(Self {
                name: name.to_owned(),
                conditions: conditions().to_vec(),
                per_condition: 3000,
                parameters: Parameters::default(),
            }),
            _ => None,
        }
    }

    /// Problems of a part.
    pub fn size(&self, part: &str) -> usize {
        let digits = PARTS.iter().find(|(name, _)| *name == part).map_or(0, |(_, digits)| digits.len());
        self.conditions.len() * (self.per_condition / 10 * digits)
    }

    /// Draws problem `i` of a part.
    pub fn draw(&self, sampler: &Sampler, streams: &Streams, i: u64) -> Drawn {
        let condition = self.conditions[i as usize % self.conditions.len()];
        sampler.problem(condition, &mut streams.item(i))
    }

    /// All examples and the parts they fall into.
    pub fn make(&self, seed: u64) -> Result<(Table, Vec<Part>)> {
        let sampler = Sampler::new(self.parameters.clone())?;
        let mut rows = Rows::default();
        let mut parts = Vec::new();
        for (part, _) in PARTS {
            let streams = Streams::new(&format!("mns/{}", self.name), part, seed);
            let items = 0..self.size(part) as u64;
            let row = |i: u64| Row::from(self.draw(&sampler, &streams, i));
            let first = rows.rows.len() as u32;
            rows.rows.par_extend(items.into_par_iter().map(row));
            parts.push(Part::new(part, (first..rows.rows.len() as u32).collect()));
        }
        Ok((rows.table(), parts))
    }
}

/// The number of a problem in its condition, from its position in a part.
pub(crate) fn number(part: &str, position: usize, conditions: usize) -> usize {
    let index = position / conditions;
    let digits = PARTS.iter().find(|(name, _)| *name == part).map_or(&[0][..], |(_, digits)| digits);
    index / digits.len() * 10 + digits[index % digits.len()]
}

/// The part of a problem with this number in its condition.
pub(crate) fn part_of(number: usize) -> &'static str {
    let digit = number % 10;
    PARTS.iter().find(|(_, digits)| digits.contains(&digit)).map_or("test", |(part, _)| part)
}

/// Problems with their answers, before they are a table.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) problem: Problem,
    pub(crate) answer: u16,
    /// Unknown where a problem comes from elsewhere and the grammar does not make it.
    pub(crate) interpretation: Option<Interpretation>,
    /// What is calculated, where it is known.
    pub(crate) rule: Option<Rule>,
}

impl From<Drawn> for Row {
    fn from(drawn: Drawn) -> Self {
        Self {
            rule: Some(Rule {
                expression: drawn.expression,
                mode: drawn.mode,
                interpretation: drawn.condition.interpretation,
            }),
            problem: drawn.problem,
            answer: drawn.answer,
            interpretation: Some(drawn.condition.interpretation),
        }
    }
}

impl Rows {
    /// The problems as text with their facts.
    pub(crate) fn table(&self) -> Table {
        let largest = self.rows.iter().map(|row| row.problem.largest().max(row.answer)).max().unwrap_or(1);
        let vocab = vocabulary(largest);
        let answers: Vocab = (1..=largest).map(|number| number.to_string()).collect();
        let id = |word: &str| vocab.get(word).expect("every word of a problem is known");
        let first_number = id("1");
        let [colon, bar, question, equals] = [":", "|", "?", "="].map(id);
        let layouts = Layout::ALL.map(|layout| (id(layout.kind().name()), id(layout.name())));
        let shapes = Shape::ALL.map(|shape| id(shape.name()));

        let number = |number: u16| first_number + u32::from(number) - 1;
        let push = |Row { problem, .. }: &Row, words: &mut Vec<u32>| {
            let (kind, layout) = layouts[problem.layout as usize];
            words.extend([kind, layout]);
            if problem.shape != Shape::Circle {
                words.push(shapes[problem.shape as usize]);
            }
            for (i, panel) in problem.panels.iter().enumerate() {
                words.push(if i == 0 { colon } else { bar });
                words.extend(panel.numbers.iter().map(|&n| if n == 0 { question } else { number(n) }));
                if let Some(centre) = panel.centre {
                    words.extend([equals, number(centre)]);
                }
            }
        };
        let chunks: Vec<(Vec<u32>, Vec<u32>)> = self
            .rows
            .par_chunks(CHUNK)
            .map(|rows| {
                let (mut words, mut lengths) = (Vec::with_capacity(32 * rows.len()), Vec::new());
                for row in rows {
                    let start = words.len();
                    push(row, &mut words);
                    lengths.push((words.len() - start) as u32);
                }
                (words, lengths)
            })
            .collect();
        let mut inputs = Sequences::new(vocab, " ");
        for (words, lengths) in chunks {
            inputs.extend(words, lengths);
        }
        let mut targets = Sequences::new(answers, " ");
        let ids = self.rows.iter().map(|row| u32::from(row.answer - 1)).collect();
        targets.extend(ids, self.rows.iter().map(|_| 1));
        Table { inputs, targets, facts: self.facts() }
    }

    fn facts(&self) -> Facts {
        const INTERPRETATIONS: [&str; 3] = ["holistic", "analytic", "unknown"];
        let rows = || self.rows.iter();
        let interpretation = |row: &Row| match row.interpretation {
            Some(Interpretation::Holistic) => 0,
            Some(Interpretation::Analytic(_)) => 1,
            None => 2,
        };
        let layout = |code: u32| Layout::ALL[code as usize];
        let mut facts = Facts::default();
        facts.add_coded(
            "subset",
            rows().map(|row| 3 * row.problem.layout as u32 + interpretation(row)),
            |code| cell(layout(code / 3), INTERPRETATIONS[code as usize % 3]),
        );
        let layouts = || rows().map(|row| row.problem.layout as u32);
        facts.add_coded("type", layouts(), |code| layout(code).kind().name());
        facts.add_coded("layout", layouts(), |code| layout(code).name());
        let shapes = rows().map(|row| row.problem.shape as u32);
        facts.add_coded("shape", shapes, |code| Shape::ALL[code as usize].name());
        facts.add_coded("interpretation", rows().map(interpretation), |code| INTERPRETATIONS[code as usize]);
        let parts = |row: &Row| row.interpretation.map_or(0, |it| it.parts().into());
        facts.add_numbers("parts", rows().map(parts));
        facts.add_numbers("integers", rows().map(|row| row.problem.integers() as i64));
        let shown = rows().map(|row| row.problem.shows_constants().into());
        facts.add_coded("constant_shown", shown, |code| ["no", "yes"][code as usize]);
        let (codes, rules) = self.rules();
        facts.add_coded("rule", codes, |code| {
            rules[code as usize].map_or_else(String::new, |rule| rule.to_string())
        });
        facts
    }

    /// The different rules, and which of them each row has.
    fn rules(&self) -> (Vec<u32>, Vec<Option<Rule>>) {
        let mut known: HashMap<u32, u32> = HashMap::new();
        let mut rules = Vec::new();
        let code = |row: &Row| {
            *known.entry(row.rule.map_or(0, |rule| rule.number())).or_insert_with(|| {
                rules.push(row.rule);
                rules.len() as u32 - 1
            })
        };
        let codes = self.rows.iter().map(code).collect();
        (codes, rules)
    }
}

/// The words of problems; the numbers stand together, in order.
fn vocabulary(largest: u16) -> Vocab {
    let mut vocab = Vocab::default();
    for word in [":", "|", "?", "="] {
        vocab.add(word);
    }
    // Before the layouts: 2, 4, 6 and 8 are numbers of parts too.
    for number in 1..=largest.max(8) {
        vocab.add(&number.to_string());
    }
    let kinds = Kind::ALL.into_iter().map(Kind::name);
    let layouts = Layout::ALL.into_iter().map(Layout::name);
    for word in kinds.chain(layouts).chain(Shape::ALL.into_iter().map(Shape::name)) {
        vocab.add(word);
    }
    vocab
}

/// The datasets as they are listed.
pub(crate) fn families() -> Vec<Family> {
    let family = |pattern, names, about| Family { pattern, names, about, origin: Availability::Drawn };
    vec![
        family("circle", vec!["circle".to_owned()], "the missing number; circles only, as released"),
        family("shapes", vec!["shapes".to_owned()], "the same with all 42 figures of the paper"),
        family(
            "circle-panels-{2,4,5,6,8}",
            PANELS.iter().map(|panels| format!("circle-panels-{panels}")).collect(),
            "the same with fewer or more panels",
        ),
        family(
            "circle-to-{20,50,200,500,999}",
            LARGEST.iter().map(|largest| format!("circle-to-{largest}")).collect(),
            "the same with numbers up to another bound than 99",
        ),
    ]
}
