//! Examples and predictions in a compact form: 100,000 of them make a page of a few megabytes.
//!
//! A sequence of tokens is a text with one character for each token; the character's code, less [`FIRST_CODE`], is the
//! number of the token in the table's vocabulary. Frequent tokens come first, so that most take one byte.

use std::collections::{BTreeMap, HashMap};

use base64::Engine;
use serde::Serialize;

use wug_data::{Fact, Tokens};

use crate::plot::{Paper, Tree};
use crate::{Judged, JudgedPart};

/// The character of the first token, the first one behind `<`: nothing in a page can look like markup.
pub(super) const FIRST_CODE: u32 = 0x3d;
/// Codes that are no characters.
const SURROGATES: std::ops::Range<u32> = 0xd800..0xe000;
/// Examples of a part that have their pictures in the page: the first, and the first wrong ones of each run.
const PICTURES: usize = 40;
/// Predictions of a run that have their trees in the page.
const TREES: usize = 60;
/// Predictions of a run that have their explanations in the page.
const EXPLANATIONS: usize = 1000;
/// Longer explanations are cut, in characters.
const LONGEST_EXPLANATION: usize = 4000;
/// Reasons that are told apart.
const MOST_REASONS: usize = 500;
/// Facts with more values are not offered as a filter.
const MOST_VALUES: usize = 2000;

/// The examples of a part, once for all runs that answered them.
#[derive(Debug, Serialize)]
pub struct ExampleTable {
    /// The dataset.
    pub dataset: String,
    /// The part that ids are of.
    pub part: String,
    /// Positions of the examples in the part; absent if they are the first ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positions: Option<Vec<u32>>,
    /// What stands between the tokens of inputs, and of targets and predictions.
    pub separators: (String, String),
    /// The tokens.
    pub vocabulary: Vec<String>,
    /// The inputs.
    pub inputs: Vec<String>,
    /// The targets.
    pub targets: Vec<String>,
    /// Facts of each example.
    pub facts: Vec<FactColumn>,
    /// Pictures of some examples, as data URLs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pictures: BTreeMap<usize, String>,
}

/// The values of a fact.
#[derive(Debug, Serialize)]
pub struct FactColumn {
    /// The fact.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
    /// For each example the number of its value.
    pub rows: Vec<u32>,
}

/// The predictions of a run for the examples of a table.
#[derive(Debug, Serialize)]
pub struct RunExamples {
    /// The number of the table.
    pub table: usize,
    /// Reasons for being wrong; `#` stands for a number.
    pub reasons: Vec<String>,
    /// For each example 0 if it is right, else the number of its reason, from 1.
    pub verdicts: Vec<u32>,
    /// For each wrong example the numbers of its reason.
    pub numbers: Vec<String>,
    /// The predictions; absent where a prediction is the target.
    pub predictions: Vec<Option<String>>,
    /// How some predictions were derived.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub explanations: BTreeMap<usize, String>,
    /// The same as trees, for fewer, as data URLs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub trees: BTreeMap<usize, String>,
}

/// Gives tokens numbers in the order of their frequency.
#[derive(Default)]
struct Vocabulary {
    numbers: HashMap<String, usize>,
    counts: Vec<u64>,
}

impl Vocabulary {
    fn number(&mut self, token: &str) -> u32 {
        let known = self.numbers.get(token).copied();
        let number = known.unwrap_or_else(|| {
            self.numbers.insert(token.to_owned(), self.counts.len());
            self.counts.push(0);
            self.counts.len() - 1
        });
        self.counts[number] += 1;
        number as u32
    }

    /// The tokens by frequency, and for each number the character that stands for it.
    fn finish(self) -> (Vec<String>, Vec<char>) {
        let mut order: Vec<usize> = (0..self.counts.len()).collect();
        order.sort_by_key(|&number| (std::cmp::Reverse(self.counts[number]), number));
        let mut characters = vec!['\u{fffd}'; order.len()];
        for (place, &number) in order.iter().enumerate() {
            characters[number] = character(place);
        }
        let mut tokens: Vec<(usize, String)> =
            self.numbers.into_iter().map(|(token, number)| (number, token)).collect();
        tokens.sort_unstable();
        let mut tokens: Vec<String> = tokens.into_iter().map(|(_, token)| token).collect();
        let by_frequency = order.into_iter().map(|number| std::mem::take(&mut tokens[number])).collect();
        (by_frequency, characters)
    }
}

/// The character that stands for the token at a place of the vocabulary. There are more characters than a table can have
/// tokens before it is too large for a page.
fn character(place: usize) -> char {
    let code = FIRST_CODE + place as u32;
    let code = if code >= SURROGATES.start { code + (SURROGATES.end - SURROGATES.start) } else { code };
    char::from_u32(code).unwrap_or('\u{fffd}')
}

/// A table in the making, with the predictions of its runs.
pub(super) struct TableBuilder {
    table: ExampleTable,
    vocabulary: Vocabulary,
    inputs: Vec<Vec<u32>>,
    targets: Vec<Vec<u32>>,
    /// The predictions of each run.
    predictions: Vec<Vec<Option<Vec<u32>>>>,
    hash: String,
    positions: Vec<u32>,
}

impl TableBuilder {
    pub(super) fn new(judged: &Judged, part: &JudgedPart) -> Self {
        let data = &judged.dataset.table;
        let separator = |tokens: &dyn Fn(u32) -> String, words: &dyn Fn(u32) -> String| {
            // Where tokens are single characters without spaces between them, so are those of predictions.
            let is_glued = part.rows.iter().take(100).any(|&row| tokens(row) != words(row));
            if is_glued { String::new() } else { " ".to_owned() }
        };
        let joined = |tokens: Tokens<'_>| tokens.words().collect::<Vec<_>>().join(" ");
        let separators = (
            separator(&|row| data.inputs.get(row).to_string(), &|row| joined(data.inputs.get(row))),
            separator(&|row| data.targets.get(row).to_string(), &|row| joined(data.targets.get(row))),
        );
        let mut vocabulary = Vocabulary::default();
        let mut encode = |tokens: Tokens<'_>| tokens.words().map(|word| vocabulary.number(word)).collect();
        let inputs = part.rows.iter().map(|&row| encode(data.inputs.get(row))).collect();
        let targets = part.rows.iter().map(|&row| encode(data.targets.get(row))).collect();
        let is_prefix = part.positions.iter().enumerate().all(|(i, &position)| i == position as usize);
        let facts = data.facts.columns().iter().filter_map(|fact| column(fact, &part.rows));
        let table = ExampleTable {
            dataset: judged.dataset.name.clone(),
            part: part.part.clone(),
            positions: (!is_prefix).then(|| part.positions.clone()),
            separators,
            vocabulary: Vec::new(),
            inputs: Vec::new(),
            targets: Vec::new(),
            facts: facts.collect(),
            pictures: BTreeMap::new(),
        };
        let (hash, positions) = (part.hash.clone(), part.positions.clone());
        Self { table, vocabulary, inputs, targets, predictions: Vec::new(), hash, positions }
    }

    /// Whether a run answered just these examples.
    pub(super) fn fits(&self, judged: &Judged, part: &JudgedPart) -> bool {
        self.table.dataset == judged.dataset.name
            && (&self.table.part, &self.hash, &self.positions) == (&part.part, &part.hash, &part.positions)
    }

    /// Adds the predictions of a run; they are encoded when the vocabulary is complete.
    pub(super) fn add(
        &mut self,
        table: usize,
        judged: &Judged,
        part: &JudgedPart,
        reasons: &[Option<(String, String)>],
    ) -> RunExamples {
        let separator = self.table.separators.1.clone();
        let mut predictions = Vec::with_capacity(part.rows.len());
        for (&row, prediction) in part.rows.iter().zip(&part.predictions) {
            let is_target = judged.dataset.table.targets.get(row).to_string() == prediction.text;
            predictions
                .push((!is_target).then(|| encoded(&mut self.vocabulary, &prediction.text, &separator)));
        }
        self.predictions.push(predictions);
        self.draw(judged, part);
        let (reasons, verdicts, numbers) = classes(reasons);
        let (explanations, trees) = explanations(part);
        RunExamples { table, reasons, verdicts, numbers, predictions: Vec::new(), explanations, trees }
    }

    /// Draws the first examples, and the first that the run has wrong.
    fn draw(&mut self, judged: &Judged, part: &JudgedPart) {
        let wrong = (0..part.rows.len()).filter(|&i| !part.verdicts[i].correct).take(PICTURES);
        let shown: Vec<usize> = (0..part.rows.len().min(PICTURES)).chain(wrong).collect();
        for i in shown {
            if self.table.pictures.contains_key(&i) {
                continue;
            }
            let drawn = if let Some(svg) = judged.benchmark.svg(&judged.dataset, &part.rows[i..=i]) {
                Some(data_url("image/svg+xml", svg.as_bytes()))
            } else if let Some(pictures) = &judged.dataset.pictures {
                let picture = pictures.picture(&part.part, part.positions[i]);
                picture.png().ok().map(|png| data_url("image/png", &png))
            } else {
                return;
            };
            if let Some(drawn) = drawn {
                self.table.pictures.insert(i, drawn);
            }
        }
    }

    /// The table, and the predictions of each run in the order they were added.
    pub(super) fn finish(mut self) -> (ExampleTable, Vec<Vec<Option<String>>>) {
        let (tokens, characters) = self.vocabulary.finish();
        let text = |ids: &Vec<u32>| ids.iter().map(|&id| characters[id as usize]).collect::<String>();
        self.table.vocabulary = tokens;
        self.table.inputs = self.inputs.iter().map(text).collect();
        self.table.targets = self.targets.iter().map(text).collect();
        let run = |run: &Vec<Option<Vec<u32>>>| run.iter().map(|ids| ids.as_ref().map(text)).collect();
        (self.table, self.predictions.iter().map(run).collect())
    }
}

/// The tokens of a prediction. Whatever it is, they make the same text again.
fn encoded(vocabulary: &mut Vocabulary, text: &str, separator: &str) -> Vec<u32> {
    match (text, separator) {
        ("", _) => Vec::new(),
        (text, "") => {
            let mut buffer = [0; 4];
            text.chars().map(|c| vocabulary.number(c.encode_utf8(&mut buffer))).collect()
        }
        (text, separator) => text.split(separator).map(|token| vocabulary.number(token)).collect(),
    }
}

/// The values of a fact; none if it has one value, or too many.
fn column(fact: &Fact, rows: &[u32]) -> Option<FactColumn> {
    let mut values: Vec<wug_data::FactValue<'_>> = rows.iter().map(|&row| fact.value(row)).collect();
    let of_rows = values.clone();
    values.sort_unstable();
    values.dedup();
    if values.len() < 2 || values.len() > MOST_VALUES {
        return None;
    }
    let rows = of_rows.iter().map(|value| values.binary_search(value).unwrap_or_default() as u32).collect();
    Some(FactColumn {
        name: fact.name().to_owned(),
        values: values.iter().map(ToString::to_string).collect(),
        rows,
    })
}

/// A reason without its numbers, which `#` stands for, and the numbers.
pub(super) fn template(reason: &str) -> (String, String) {
    let (mut class, mut numbers) = (String::new(), Vec::new());
    let mut digits = String::new();
    for c in reason.chars().chain([' ']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            numbers.push(std::mem::take(&mut digits));
            class.push('#');
        }
        if c == '#' {
            numbers.push("#".to_owned());
        }
        class.push(c);
    }
    (class.trim_end().to_owned(), numbers.join(" "))
}

/// The most frequent reasons, the number of each example's reason, and the numbers in it.
fn classes(reasons: &[Option<(String, String)>]) -> (Vec<String>, Vec<u32>, Vec<String>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (class, _) in reasons.iter().flatten() {
        *counts.entry(class).or_default() += 1;
    }
    let mut frequent: Vec<(&str, usize)> = counts.into_iter().collect();
    frequent.sort_by_key(|&(class, count)| (std::cmp::Reverse(count), class));
    let mut names: Vec<String> =
        frequent.iter().take(MOST_REASONS).map(|(class, _)| (*class).to_owned()).collect();
    let known: HashMap<&str, u32> = (1..).zip(&names).map(|(number, name)| (name.as_str(), number)).collect();
    let other = names.len() as u32 + 1;
    let number = |reason: &Option<(String, String)>| {
        reason.as_ref().map_or(0, |(class, _)| known.get(class.as_str()).copied().unwrap_or(other))
    };
    let verdicts: Vec<u32> = reasons.iter().map(number).collect();
    if verdicts.contains(&other) {
        names.push("other reasons".to_owned());
    }
    let numbers = reasons.iter().flatten().map(|(_, numbers)| numbers.clone()).collect();
    (names, verdicts, numbers)
}

/// How some predictions were derived: wrong ones and right ones, as texts and as trees.
fn explanations(part: &JudgedPart) -> (BTreeMap<usize, String>, BTreeMap<usize, String>) {
    let (mut texts, mut trees) = (BTreeMap::new(), BTreeMap::new());
    for wanted in [false, true] {
        let of = part.predictions.iter().zip(&part.verdicts).enumerate();
        let of = of.filter(|(_, (_, verdict))| verdict.correct == wanted);
        let explained = of.filter_map(|(i, (prediction, _))| Some((i, prediction.explanation.as_ref()?)));
        for (count, (i, explanation)) in explained.take(EXPLANATIONS / 2).enumerate() {
            texts.insert(i, explanation.chars().take(LONGEST_EXPLANATION).collect());
            // The first line is the derivation; those after it are the rules that it names.
            let derivation = explanation.lines().next().unwrap_or_default();
            if let Some(tree) = Tree::read(derivation).filter(|_| count < TREES / 2) {
                trees.insert(i, data_url("image/svg+xml", tree.svg(Paper::White).as_bytes()));
            }
        }
    }
    (texts, trees)
}

fn data_url(kind: &str, bytes: &[u8]) -> String {
    format!("data:{kind};base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_from_its_tokens() {
        for (text, separator) in
            [("a b  c ", " "), ("", " "), (" ", " "), ("12+3 x", ""), ("<script>\0\u{202e}\n", " ")]
        {
            let mut vocabulary = Vocabulary::default();
            let ids = encoded(&mut vocabulary, text, separator);
            let (tokens, characters) = vocabulary.finish();
            let place = |c: char| (0..tokens.len()).find(|&place| character(place) == c).expect("a token");
            let words: Vec<&str> =
                ids.iter().map(|&id| tokens[place(characters[id as usize])].as_str()).collect();
            assert_eq!(words.join(separator), text);
        }
    }

    #[test]
    fn every_token_has_a_character_of_its_own() {
        let characters: Vec<char> = (0..60_000).map(character).collect();
        assert!(characters.windows(2).all(|pair| pair[0] < pair[1]) && !characters.contains(&'<'));
    }

    #[test]
    fn a_reason_is_a_class_with_numbers() {
        assert_eq!(
            template("ends after 32 of 40 tokens"),
            ("ends after # of # tokens".into(), "32 40".into())
        );
        assert_eq!(template("# 5"), ("# #".into(), "# 5".into()));
    }
}
