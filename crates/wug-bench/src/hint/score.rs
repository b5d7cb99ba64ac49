//! When a prediction is right: when it is the result, as a whole number.

use wug_data::{Example, FactValue};

use super::expression::parse;
use super::python;
use crate::{Feature, Judge, Metric, Slice, Verdict};

/// Equal whole numbers.
pub const EXACT_RESULT: Metric = Metric {
    name: "exact",
    about: "the prediction is the result: digits, with or without spaces between and zeros before",
    judge: || Box::new(ExactResult),
};

/// Python's value of the expression.
pub const GPT3_NOTEBOOK: Metric = Metric {
    name: "gpt3-notebook",
    about: "as the published GPT-3 rows were scored: Python's int(eval(expression)), and an answer of 0 is always wrong",
    judge: || Box::new(Gpt3Notebook),
};

/// The subsets, and the results that train never has.
pub const SLICES: [Slice; 6] = [
    Slice { name: "I", fact: "subset", keeps: |subset| subset == FactValue::Label("I") },
    Slice { name: "SS", fact: "subset", keeps: |subset| subset == FactValue::Label("SS") },
    Slice { name: "LS", fact: "subset", keeps: |subset| subset == FactValue::Label("LS") },
    Slice { name: "SL", fact: "subset", keeps: |subset| subset == FactValue::Label("SL") },
    Slice { name: "LL", fact: "subset", keeps: |subset| subset == FactValue::Label("LL") },
    Slice { name: "result above 100", fact: "result", keeps: |result| result > FactValue::Number(100) },
];

/// Fig. A6 of the paper.
pub const FEATURES: [Feature; 5] = [
    Feature { fact: "length", logarithm: false },
    Feature { fact: "depth", logarithm: false },
    Feature { fact: "dependency", logarithm: false },
    Feature { fact: "operators", logarithm: false },
    Feature { fact: "result", logarithm: true },
];

/// Where the ranges begin in which results are grouped: the digits, the tens, and larger ones.
pub const RESULT_RANGES: &[i64] =
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 101, 1_000, 10_001];

/// Judges by the result.
pub struct ExactResult;

impl Judge for ExactResult {
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict {
        let said = prediction.chars().filter(|c| !c.is_whitespace());
        let mut significant = said.clone().skip_while(|&c| c == '0').peekable();
        if prediction.trim().is_empty() {
            return Verdict::wrong("empty prediction");
        }
        if let Some(odd) = said.clone().find(|c| !c.is_ascii_digit()) {
            return Verdict::wrong(format!("`{odd}` is not a digit"));
        }
        let zero = significant.peek().is_none();
        let result = example.target.to_string();
        if (zero && result == "0") || significant.eq(result.chars()) {
            return Verdict::right();
        }
        let shown: String = said.take(20).collect();
        Verdict::wrong(format!("{shown} is not {result}"))
    }
}

/// Judges as the notebook of the paper's GPT-3 rows does: by Python's arithmetic (true division, negative numbers, the
/// result truncated) instead of HINT's, and with an answer of 0 always wrong. The published 8.6 and 27.6 are on this
/// scale, all other rows of the table on that of [`ExactResult`].
pub struct Gpt3Notebook;

impl Judge for Gpt3Notebook {
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict {
        let said: String = prediction.chars().filter(|c| !c.is_whitespace()).take(400).collect();
        let Some(said) = said.parse::<f64>().ok().filter(|said| said.is_finite()) else {
            return Verdict::wrong("not a number");
        };
        if said == 0.0 {
            return Verdict::wrong("the notebook takes 0 for no answer");
        }
        let prefix = parse(&example.input.to_string()).ok();
        let Some(truth) =
            prefix.and_then(|prefix| python::evaluate(&prefix)).and_then(python::Number::truncated)
        else {
            return Verdict::wrong("Python has no value for the expression");
        };
        // A float this large is no longer a whole number that anyone could mean.
        if said.abs() < 1e15 && said.trunc() as i128 == truth {
            return Verdict::right();
        }
        Verdict::wrong(format!("{} is not {truth}, the value in Python", said.trunc()))
    }
}

#[cfg(test)]
mod tests {
    use wug_data::{Facts, Sequences, Table, Vocab};

    use super::*;

    #[test]
    fn only_the_number_counts() {
        let mut table = Table {
            inputs: Sequences::new(Vocab::default(), ""),
            targets: Sequences::new(Vocab::default(), ""),
            facts: Facts::default(),
        };
        for (input, target) in [("9*9", "81"), ("3-5", "0")] {
            table.inputs.push_words(input.split_inclusive(|_| true));
            table.targets.push_words(target.split_inclusive(|_| true));
        }
        let judge = |row, prediction: &str| ExactResult.judge(&table.example(row), prediction);
        for right in ["81", "8 1", " 081\t"] {
            assert!(judge(0, right).correct, "{right}");
        }
        for (wrong, reason) in [
            ("", "empty prediction"),
            ("18", "18 is not 81"),
            ("-81", "`-` is not a digit"),
            ("81.0", "`.` is not a digit"),
        ] {
            assert_eq!(judge(0, wrong).reason, reason);
        }
        assert!(judge(1, "0").correct && judge(1, "00").correct && !judge(1, "").correct);
        assert!(!judge(0, &"8".repeat(100_000)).correct);
    }

    /// The two scales of the GPT-3 rows differ in both directions.
    #[test]
    fn the_notebook_computes_as_python_does() {
        let mut table = Table {
            inputs: Sequences::new(Vocab::default(), ""),
            targets: Sequences::new(Vocab::default(), ""),
            facts: Facts::default(),
        };
        let rows = [
            ("9*9", "81", "81", true, true),
            ("7/2", "4", "4", true, false),
            ("7/2", "4", "3", false, true),
            ("7/2", "4", "3.5", false, true),
            ("3-5", "0", "-2", false, true),
            ("3-5", "0", "0", true, false),
            ("4-4", "0", "0", true, false),
            ("1/9", "1", "0", false, false),
            ("1/9", "1", "0.1", false, true),
            ("(3-5)*2+9", "9", "5", false, true),
            ("1/(1/2+1/2-1)", "1", "1", true, false),
            ("9*9", "81", "nan", false, false),
            ("9*9", "81", "1e400", false, false),
        ];
        for (row, (input, target, prediction, hint, notebook)) in (0..).zip(rows) {
            table.inputs.push_words(input.split_inclusive(|_| true));
            table.targets.push_words(target.split_inclusive(|_| true));
            let example = table.example(row);
            assert_eq!(ExactResult.judge(&example, prediction).correct, hint, "HINT: {input} = {prediction}");
            assert_eq!(Gpt3Notebook.judge(&example, prediction).correct, notebook, "{input} = {prediction}");
        }
    }
}
