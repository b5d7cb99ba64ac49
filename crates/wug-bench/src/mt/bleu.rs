//! BLEU of a whole part, as sacrebleu computes it with its defaults (one reference, 13a tokens, exponential smoothing).

use std::collections::HashMap;

use wug_data::Example;

use crate::{Exact, Judge, Metric, Verdict};

/// Corpus BLEU.
pub const BLEU: Metric = Metric {
    name: "bleu",
    about: "BLEU of all predictions together, beside the share of exact ones",
    judge: || Box::new(Bleu),
};

/// Scores all predictions together by BLEU, and each by exact match.
pub struct Bleu;

impl Judge for Bleu {
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict {
        Exact.judge(example, prediction)
    }

    fn corpus_score(&self, examples: &[(Example<'_>, &str)]) -> Option<f64> {
        let targets: Vec<String> = examples.iter().map(|(example, _)| example.target.to_string()).collect();
        let pairs =
            examples.iter().zip(&targets).map(|((_, prediction), target)| (*prediction, target.as_str()));
        Some(bleu(pairs))
    }
}

const ORDER: usize = 4;

/// BLEU, from 0 to 100, of predictions and their references.
///
/// ```
/// use wug_bench::mt::bleu;
///
/// let pairs = [("je suis tres fatigue .", "je suis tres fatigue ."), ("il est la .", "il n est pas la .")];
/// assert_eq!(format!("{:.2}", bleu(pairs)), "58.54");
/// assert_eq!(bleu([("", "je suis la .")]), 0.0);
/// ```
pub fn bleu<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> f64 {
    let (mut right, mut all) = ([0u64; ORDER], [0u64; ORDER]);
    let (mut said, mut wanted) = (0, 0);
    for (prediction, reference) in pairs {
        let (prediction, reference) = (tokenised(prediction), tokenised(reference));
        let prediction: Vec<&str> = prediction.iter().map(String::as_str).collect();
        let reference: Vec<&str> = reference.iter().map(String::as_str).collect();
        said += prediction.len();
        wanted += reference.len();
        for n in 1..=ORDER {
            let mut open: HashMap<&[&str], u64> = HashMap::new();
            for stretch in reference.windows(n) {
                *open.entry(stretch).or_default() += 1;
            }
            for stretch in prediction.windows(n) {
                all[n - 1] += 1;
                if let Some(left) = open.get_mut(stretch).filter(|left| **left > 0) {
                    *left -= 1;
                    right[n - 1] += 1;
                }
            }
        }
    }
    if right.iter().all(|&right| right == 0) || all.contains(&0) {
        // Without stretches of some length there is no precision of that length.
        return 0.0;
    }
    let mut halves = 1.0;
    let mut logarithms = 0.0;
    for (right, all) in right.into_iter().zip(all) {
        let right = if right == 0 {
            halves *= 2.0;
            1.0 / halves
        } else {
            right as f64
        };
        logarithms += (100.0 * right / all as f64).ln();
    }
    let brevity = if said < wanted { (1.0 - wanted as f64 / said as f64).exp() } else { 1.0 };
    brevity * (logarithms / ORDER as f64).exp()
}

/// The tokens of a line by the rules of mteval-v13a: marks apart, but not in numbers such as `1,000.5`.
pub fn tokenised(line: &str) -> Vec<String> {
    let mut line =
        line.trim_end_matches(is_space).replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    for (entity, mark) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
        if line.contains('&') {
            line = line.replace(entity, mark);
        }
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let is_stop = |c: char| c == '.' || c == ',';
    let spaced: String = format!(" {line} ")
        .chars()
        .flat_map(|c| if is_mark(c) { vec![' ', c, ' '] } else { vec![c] })
        .collect();
    let spaced = pairwise(&spaced, |a, b| !is_digit(a) && is_stop(b), |a, b| [a, ' ', b, ' ']);
    let spaced = pairwise(&spaced, |a, b| is_stop(a) && !is_digit(b), |a, b| [' ', a, ' ', b]);
    let spaced = pairwise(&spaced, |a, b| is_digit(a) && b == '-', |a, b| [a, ' ', b, ' ']);
    spaced.split(is_space).filter(|token| !token.is_empty()).map(str::to_owned).collect()
}

/// White space as Python has it.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Marks that always stand apart; `.`, `,`, `-` and `'` do not.
fn is_mark(c: char) -> bool {
    matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/')
}

/// Rewrites two neighbours that belong together, from left to right, each character once.
fn pairwise(text: &str, fits: impl Fn(char, char) -> bool, to: impl Fn(char, char) -> [char; 4]) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text.chars().peekable();
    while let Some(a) = rest.next() {
        match rest.peek() {
            Some(&b) if fits(a, b) => {
                out.extend(to(a, b));
                rest.next();
            }
            _ => out.push(a),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Made by `scripts/fixtures/bleu_fixtures.py` with sacrebleu.
    #[test]
    fn equals_sacrebleu() {
        let fixtures: Value = serde_json::from_str(include_str!("bleu.json")).unwrap();
        let cases = fixtures["corpora"].as_array().unwrap();
        assert!(cases.len() >= 10);
        for case in cases {
            let text = |pair: &Value, i: usize| pair[i].as_str().unwrap().to_owned();
            let pairs: Vec<(String, String)> =
                case["pairs"].as_array().unwrap().iter().map(|pair| (text(pair, 0), text(pair, 1))).collect();
            let ours =
                bleu(pairs.iter().map(|(prediction, reference)| (prediction.as_str(), reference.as_str())));
            let theirs = case["bleu"].as_f64().unwrap();
            assert!((ours - theirs).abs() < 1e-6, "{}: {ours}, not {theirs}", case["name"]);
        }
        for case in fixtures["tokens"].as_array().unwrap() {
            let theirs = case[1].as_str().unwrap();
            assert_eq!(tokenised(case[0].as_str().unwrap()).join(" "), theirs);
        }
    }
}
