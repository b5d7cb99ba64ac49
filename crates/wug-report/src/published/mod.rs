//! The papers' numbers as data: `published/*.toml`, which is part of the program.

mod places;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

pub use places::{Compared, Decoding, Filter, Place, compared};

/// The files, by paper.
const FILES: [(&str, &str); 5] = [
    ("hint", include_str!(concat!(env!("WUG_FILES"), "/published/hint.toml"))),
    ("mns", include_str!(concat!(env!("WUG_FILES"), "/published/mns.toml"))),
    ("nacs", include_str!(concat!(env!("WUG_FILES"), "/published/nacs.toml"))),
    ("recogs", include_str!(concat!(env!("WUG_FILES"), "/published/recogs.toml"))),
    ("scan", include_str!(concat!(env!("WUG_FILES"), "/published/scan.toml"))),
];

/// One number that a paper prints.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// Whose: `scan`, `nacs`, ...; the name of the file.
    #[serde(skip)]
    pub paper: &'static str,
    /// Where in the paper: `Table 4`.
    pub source: String,
    /// The dataset, in the paper's terms; [`compared`] says what it is here.
    pub dataset: String,
    /// The part, in the paper's terms.
    pub part: String,
    /// The learner, in the paper's terms.
    pub learner: String,
    /// The network behind `lnb-best` and `lnb-best-overall`.
    pub architecture: Option<String>,
    /// What was measured.
    pub metric: String,
    /// Percent, or BLEU.
    pub value: f64,
    /// Why the number is not exact: `about`, `at least`.
    pub qualifier: Option<String>,
    /// The figure behind plus or minus.
    pub spread: Option<f64>,
    /// What that figure is.
    pub spread_kind: Option<SpreadKind>,
    /// Lower end of an interval or range.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How many runs are behind the number.
    pub runs: Option<u32>,
    /// What was made of the runs.
    pub statistic: Option<Summary>,
    /// Whether the paper measured it.
    pub origin: Attribution,
    /// What else is known.
    pub note: String,
    /// Right answers, where the paper prints a fraction.
    pub correct: Option<u32>,
    /// All answers, where the paper prints a fraction.
    pub total: Option<u32>,
    /// The most operators of an expression that was trained on (HINT, Figure 4).
    pub max_operators: Option<u32>,
}

/// Whether a paper measured a number or cites it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attribution {
    /// Measured.
    Own,
    /// Taken from others.
    Cited,
}

/// What a spread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpreadKind {
    /// Standard deviation.
    Std,
    /// The 95% confidence interval.
    Ci95,
    /// Lowest and highest.
    Range,
}

/// What is made of several runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Summary {
    /// Their mean.
    #[default]
    Mean,
    /// Their median.
    Median,
}

/// A number of examples that a paper states.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitSize {
    /// Where in the paper.
    pub source: String,
    /// The dataset, in the paper's terms.
    pub dataset: String,
    /// The part, in the paper's terms.
    pub part: String,
    /// How many.
    pub examples: u64,
    /// What else is known.
    #[serde(default)]
    pub note: String,
}

#[derive(Deserialize)]
struct File {
    result: Vec<Number>,
    #[serde(default)]
    size: Vec<SplitSize>,
}

static NUMBERS: LazyLock<(Vec<Number>, Vec<SplitSize>)> = LazyLock::new(|| {
    let (mut numbers, mut sizes) = (Vec::new(), Vec::new());
    for (paper, text) in FILES {
        let file: File = toml::from_str(text).expect("a file of the program is well formed");
        numbers.extend(file.result.into_iter().map(|number| Number { paper, ..number }));
        sizes.extend(file.size);
    }
    (numbers, sizes)
});

/// Every number of every paper.
///
/// ```
/// let number = wug_report::published().iter().find(|n| n.paper == "scan" && n.source == "Experiment 2").unwrap();
/// assert_eq!((number.dataset.as_str(), number.value), ("scan/length", 20.8));
/// ```
pub fn published() -> &'static [Number] {
    &NUMBERS.0
}

/// Every size that the papers state.
pub fn published_sizes() -> &'static [SplitSize] {
    &NUMBERS.1
}

impl Number {
    /// The number as the paper prints it: `14.4 ± 0.8`, `about 54`, `1 of 8`, `72.00` in a table with two decimals.
    pub fn printed(&self) -> String {
        let digits = |value: f64| format!("{value:.*}", self.decimals().max(decimals(value)));
        let value = match (self.correct, self.total) {
            (Some(correct), Some(total)) => format!("{correct} of {total}"),
            _ => digits(self.value),
        };
        let value = self.qualifier.as_ref().map_or(value.clone(), |word| format!("{word} {value}"));
        match (self.spread, self.low, self.high) {
            (Some(spread), ..) => format!("{value} ± {}", digits(spread)),
            (None, Some(low), Some(high)) => format!("{value} [{}, {}]", digits(low), digits(high)),
            _ => value,
        }
    }

    /// The decimals that the paper prints at least: a table prints as many for all its numbers, and what is about right has
    /// none.
    fn decimals(&self) -> usize {
        if self.qualifier.is_some() {
            return 0;
        }
        if !self.source.starts_with("Table") {
            return 1;
        }
        let of_table = |other: &&Number| (other.paper, &other.source) == (self.paper, &self.source);
        published().iter().filter(of_table).map(|other| decimals(other.value)).fold(1, usize::max)
    }
}

/// How many decimals a number has, of at most two.
fn decimals(value: f64) -> usize {
    let hundredths = (value * 100.0).round() as u64;
    if hundredths.is_multiple_of(100) {
        0
    } else if hundredths.is_multiple_of(10) {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_read() {
        let of = |paper: &str| published().iter().filter(|number| number.paper == paper).count();
        assert_eq!(FILES.map(|(paper, _)| of(paper)), [188, 49, 358, 125, 26]);
        assert_eq!(published().iter().filter(|number| number.origin == Attribution::Own).count(), 669);
        assert_eq!(published_sizes().len(), 72);
        assert!(published().iter().all(|number| (0.0..=100.0).contains(&number.value)));
    }

    #[test]
    fn a_number_is_printed_as_in_the_paper() {
        let find = |paper, dataset, part, learner| {
            let same = |n: &&Number| {
                (n.paper, n.dataset.as_str(), n.part.as_str(), n.learner.as_str())
                    == (paper, dataset, part, learner)
            };
            published().iter().find(same).expect("published").printed()
        };
        assert_eq!(find("nacs", "scan/length", "test", "gru"), "14.4 ± 0.8");
        assert_eq!(find("scan", "scan/simple-p2", "test", "lnb-best-overall"), "about 54");
        assert_eq!(find("mns", "mns/partition-analytic", "test", "search-pure"), "71.60");
        assert_eq!(find("scan", "mt/en-fr", "daxy", "lstm-attn"), "1 of 8");
        assert_eq!(find("scan", "scan/simple", "test", "rnn-attn"), "59.7 [18.4, 94.0]");
        assert_eq!(find("scan", "scan/length", "test-oracle-length-24-actions", "lnb-best"), "95.76");
    }
}
