//! Whether predictions that score badly were made for another draw, part or order than they are scored against.

use std::collections::HashMap;

use wug_bench::{Benchmark, DataSettings, Judge, Source};
use wug_data::{Dataset, Example, Prediction, Predictions, Selection};

/// Nobody needs a hint from here on.
const GOOD: f64 = 0.5;
/// Fewer predictions than this tell nothing.
const FEWEST: usize = 20;
/// Predictions that are tried on another draw.
const TRIED: usize = 500;
/// Other seeds that are tried ...
const SEEDS: u64 = 5;
/// ... unless a draw has more rows than this.
const MAX_ROWS: usize = 200_000;

/// What was scored.
pub struct Suspect<'a> {
    /// The benchmark.
    pub benchmark: &'a dyn Benchmark,
    /// The name of the dataset in it.
    pub dataset_name: &'a str,
    /// Where its rows come from.
    pub source: &'a Source,
    /// What was chosen about it.
    pub settings: &'a DataSettings,
    /// The dataset.
    pub dataset: &'a Dataset,
    /// Its examples that were scored.
    pub selections: &'a [Selection<'a>],
    /// How many of each at most.
    pub limit: Option<usize>,
    /// The predictions.
    pub predictions: &'a Predictions,
    /// Who judged them.
    pub judge: &'a dyn Judge,
    /// The share that is right.
    pub accuracy: f64,
}

/// What the predictions seem to be made for, as advice to whoever scores them; `None` if they score well or fit nothing
/// better.
pub fn mismatch(suspect: &Suspect<'_>) -> Option<String> {
    if suspect.accuracy >= GOOD || suspect.predictions.len() < FEWEST {
        return None;
    }
    let overlap = suspect.overlap()?;
    // Who is right more often than shuffled predictions would be answers these examples, if badly.
    if suspect.accuracy > 0.02 + 3.0 * overlap.by_chance {
        return None;
    }
    suspect.other_part().or_else(|| suspect.other_seed()).or_else(|| suspect.other_order(&overlap))
}

impl Suspect<'_> {
    /// Whether another accuracy is so much higher that it is no accident.
    fn is_better(&self, accuracy: f64) -> bool {
        accuracy > self.accuracy + 0.05 && accuracy > 4.0 * self.accuracy
    }

    /// The accuracy of some predictions on examples of another draw or part; `None` if they are not as many, or not
    /// better.
    fn fits(&self, dataset: &Dataset, selections: &[Selection<'_>]) -> Option<f64> {
        let aligned = self.predictions.align_rows(selections).ok()?;
        let pairs: Vec<(Example<'_>, &Prediction)> = selections
            .iter()
            .zip(&aligned)
            .flat_map(|(selection, rows)| {
                let positions =
                    selection.positions.iter().map(|&position| selection.part.rows[position as usize]);
                positions.map(|row| dataset.table.example(row)).zip(rows.iter().copied())
            })
            .collect();
        let tried: Vec<_> = pairs.iter().step_by(pairs.len().div_ceil(TRIED).max(1)).collect();
        let right =
            tried.iter().filter(|(example, row)| self.judge.judge(example, &row.text).correct).count();
        Some(right as f64 / tried.len().max(1) as f64).filter(|accuracy| self.is_better(*accuracy))
    }

    /// A part with as many examples.
    fn other_part(&self) -> Option<String> {
        let [scored] = self.selections else { return None };
        let parts = self.dataset.parts.iter().filter(|part| part.name != scored.part.name);
        parts.map(|part| Selection::whole(part).limited(self.limit)).find_map(|selection| {
            let accuracy = self.fits(self.dataset, std::slice::from_ref(&selection))?;
            let percent = 100.0 * accuracy;
            Some(format!(
                "they fit {1} ({percent:.0}% of a sample): score {0}#{1}",
                self.dataset.name, selection.name
            ))
        })
    }

    /// Another draw, by a low seed or as the release was made.
    fn other_seed(&self) -> Option<String> {
        let rows: usize = self.dataset.parts.iter().map(|part| part.rows.len()).sum();
        let seeds = if rows > MAX_ROWS { 1 } else { SEEDS };
        let sources = (0..seeds).map(Source::Seed).chain([Source::Official]);
        for source in sources.filter(|source| source != self.source) {
            let made = self.benchmark.make_with(self.dataset_name, &source, self.settings);
            let Ok(dataset) = made else { continue };
            let selections: Option<Vec<Selection<'_>>> = self
                .selections
                .iter()
                .map(|selection| Some(dataset.select(&selection.name).ok()?.limited(self.limit)))
                .collect();
            let Some(accuracy) = selections.and_then(|selections| self.fits(&dataset, &selections)) else {
                continue;
            };
            let seed = if let Source::Seed(seed) = source { seed.to_string() } else { "official".to_owned() };
            let percent = 100.0 * accuracy;
            return Some(format!(
                "they fit the draw of seed {seed} ({percent:.0}% of a sample): give --seed {seed}"
            ));
        }
        None
    }

    /// What predictions and targets have in common, however they are paired.
    fn overlap(&self) -> Option<Overlap> {
        let aligned = self.predictions.align_rows(self.selections).ok()?;
        let (mut targets, mut answers) = (Counts::default(), Counts::default());
        let (mut lengths, mut answer_lengths) = (Counts::default(), Counts::default());
        let (mut n, mut as_long) = (0, 0);
        for (selection, rows) in self.selections.iter().zip(aligned) {
            for ((_, row), answer) in selection.examples().zip(rows) {
                let target = self.dataset.table.targets.get(row).to_string();
                let target = words(&target);
                let answer = words(&answer.text);
                as_long += usize::from(target.len() == answer.len());
                lengths.add(target.len());
                answer_lengths.add(answer.len());
                targets.add(target.join(" "));
                answers.add(answer.join(" "));
                n += 1;
            }
        }
        let n = f64::from(n);
        let long_by_chance = lengths.agreement(&answer_lengths);
        let as_long = as_long as f64 / n;
        Some(Overlap {
            found: targets.shared(&answers) as f64 / n,
            by_chance: targets.agreement(&answers),
            is_shuffled: as_long < long_by_chance + 0.1 * (1.0 - long_by_chance),
        })
    }

    /// Whether many predictions are targets of other examples.
    fn other_order(&self, overlap: &Overlap) -> Option<String> {
        let Overlap { found, by_chance, is_shuffled } = *overlap;
        if !self.is_better(found) || found < 0.2 || by_chance > 0.01 || !is_shuffled {
            return None;
        }
        let shown: Vec<&str> = self.selections.iter().map(|selection| selection.name.as_str()).collect();
        Some(format!(
            "{:.0}% of them are targets of other examples of {}: are they in another order, such as that of the \
             released files (--data DIR)?",
            100.0 * found,
            shown.join(" and ")
        ))
    }
}

/// What predictions and targets have in common.
struct Overlap {
    /// The share of targets that are among the predictions, each as often.
    found: f64,
    /// How often a prediction equals a target if both are drawn at random.
    by_chance: f64,
    /// Whether a prediction is as long as its target no more often than by chance: a model that mistakes one example for
    /// another at least gets that right.
    is_shuffled: bool,
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// How often each of some things occurs.
struct Counts<T> {
    counts: HashMap<T, usize>,
    total: usize,
}

impl<T> Default for Counts<T> {
    fn default() -> Self {
        Self { counts: HashMap::new(), total: 0 }
    }
}

impl<T: Eq + std::hash::Hash> Counts<T> {
    fn add(&mut self, thing: T) {
        *self.counts.entry(thing).or_default() += 1;
        self.total += 1;
    }

    fn of(&self, thing: &T) -> usize {
        self.counts.get(thing).copied().unwrap_or_default()
    }

    /// How many of these are also among those, however they are paired.
    fn shared(&self, other: &Self) -> usize {
        self.counts.iter().map(|(thing, &count)| count.min(other.of(thing))).sum()
    }

    /// How often one of these equals one of those if both are drawn at random.
    fn agreement(&self, other: &Self) -> f64 {
        let pairs: f64 =
            self.counts.iter().map(|(thing, &count)| count as f64 * other.of(thing) as f64).sum();
        pairs / (self.total as f64 * other.total as f64).max(1.0)
    }
}
