//! When a prediction is right: when it is the result, as a whole number.

use wug_data::{Example, FactValue};

use crate::{Feature, Judge, Metric, Slice, Verdict};

/// Equal whole numbers.
pub const EXACT_RESULT: Metric = Metric {
    name: "exact",
    about: "the prediction is the result: digits, with or without spaces between and zeros before",
    judge: || Box::new(ExactResult),
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
}
