//! What the scores of a model say beside right and wrong: items without an answer, and several samples of one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use wug_bench::Judge;
use wug_data::Dataset;
use wug_learn::Answer;
use wug_llm::{mean_interval, pass_at_k};

use super::{Scored, wilson};

/// How the answers of a model that is asked over a network ended, beside right and wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerStates {
    /// How many there are of each state: `answered`, `refused`, `cut-off`, `unparsable`, `unanswered`.
    pub counts: BTreeMap<String, usize>,
    /// The accuracy if every unanswered item were right; the accuracy of the part takes them for wrong.
    pub accuracy_at_most: f64,
    /// Its 95% interval.
    pub interval_at_most: (f64, f64),
}

/// The scores of several samples per item. The score of the part is that of their majority vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleScores {
    /// Samples per item.
    pub samples: usize,
    /// Mean accuracy of a sample (pass@1), pass@2 and so on for powers of two, and pass@k for all samples.
    pub pass: Vec<PassAtK>,
}

/// The probability that one of k samples is right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PassAtK {
    /// How many samples.
    pub k: usize,
    /// Estimated without bias, mean over items.
    pub mean: f64,
    /// Its 95% interval.
    pub interval: (f64, f64),
}

impl AnswerStates {
    /// The states of answers that have some.
    pub(crate) fn of(answers: &[Answer], correct: usize) -> Option<Self> {
        let mut counts = BTreeMap::new();
        for answer in answers {
            let state = answer.notes.get("state").and_then(|state| state.as_str())?;
            *counts.entry(state.to_owned()).or_insert(0) += 1;
        }
        let unanswered = answers.iter().filter(|answer| answer.unanswered).count();
        let (most, n) = (correct + unanswered, answers.len());
        (n > 0).then(|| Self {
            counts,
            accuracy_at_most: most as f64 / n as f64,
            interval_at_most: wilson(most, n),
        })
    }

    /// How many items have no answer through no fault of the model.
    pub fn unanswered(&self) -> usize {
        self.counts.get("unanswered").copied().unwrap_or(0)
    }
}

impl SampleScores {
    /// The scores of answers that were sampled several times.
    pub(crate) fn of(
        dataset: &Dataset,
        scored: &Scored<'_>,
        answers: &[Answer],
        judge: &dyn Judge,
    ) -> Option<Self> {
        let samples = answers.first()?.samples.len();
        if samples < 2 {
            return None;
        }
        let right = |(row, answer): (u32, &Answer)| {
            let example = dataset.table.example(row);
            let judged = answer.samples.iter().flatten().filter(|text| judge.judge(&example, text).correct);
            judged.count()
        };
        let rows = scored.selection().examples().map(|(_, row)| row);
        let correct: Vec<usize> = rows.zip(answers).map(right).collect();
        let powers = (0..).map(|power| 1 << power).take_while(|&k| k < samples).chain([samples]);
        let pass = powers.filter_map(|k| {
            let values: Option<Vec<f64>> =
                correct.iter().map(|&correct| pass_at_k(samples, correct, k)).collect();
            let estimate = mean_interval(&values?)?;
            Some(PassAtK { k, mean: estimate.mean, interval: (estimate.low, estimate.high) })
        });
        Some(Self { samples, pass: pass.collect() })
    }
}
