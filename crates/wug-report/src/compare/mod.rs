//! Paired comparison of systems on the same examples: how large the difference is, how sure it is, and where it is.

mod statistics;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use wug_data::{Error, FactValue, Result};
use wug_run::{GroupValue, RunSpec};

use crate::report::chosen;
use crate::{Judged, JudgedPart};

pub use statistics::{mcnemar, paired_interval, seeded_interval};

/// Version of [`Comparison`] as JSON.
pub const COMPARISON_SCHEMA: u32 = 1;

/// Systems on the same examples, each compared with the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this format.
    pub schema: u32,
    /// `scan/length`.
    pub dataset: String,
    /// What judged.
    pub metric: String,
    /// Each part that all systems answered.
    pub parts: Vec<PartComparison>,
}

/// Systems on the examples of one part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartComparison {
    /// The part.
    pub part: String,
    /// Examples that all systems answered.
    pub n: usize,
    /// The systems; the first is the baseline.
    pub systems: Vec<SystemScore>,
    /// Each other system beside the baseline.
    pub pairs: Vec<Pair>,
}

/// The accuracy of a system: a file, a run, or runs that differ by their seeds alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemScore {
    /// What it is called.
    pub name: String,
    /// Its folders or file.
    pub runs: Vec<String>,
    /// The accuracy of each run, from 0 to 1.
    pub accuracies: Vec<f64>,
    /// Their mean.
    pub mean: f64,
}

/// A system beside the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The baseline.
    pub baseline: String,
    /// The other system.
    pub other: String,
    /// Accuracy of the other less that of the baseline, and which examples changed.
    #[serde(flatten)]
    pub change: Change,
    /// What the interval is.
    pub method: Method,
    /// The same by facts.
    pub by: Vec<ChangesByFact>,
    /// The examples that changed.
    pub flips: Vec<Flip>,
}

/// How an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Examples are resampled.
    PairedBootstrap,
    /// Examples and seeds are resampled.
    SeedBootstrap,
}

/// What changed between two systems on some examples. A system with several seeds is right where most of them are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// Examples.
    pub n: usize,
    /// Both are right.
    pub both: usize,
    /// Only the other system is right.
    pub gained: usize,
    /// Only the baseline is right.
    pub lost: usize,
    /// Both are wrong.
    pub neither: usize,
    /// Difference in mean accuracy, from -1 to 1.
    pub difference: f64,
    /// Its 95% interval.
    pub interval: (f64, f64),
    /// The two-sided exact McNemar test; none with several seeds, of which it knows nothing.
    pub mcnemar: Option<f64>,
}

impl Change {
    /// The result of the McNemar test as it is printed.
    pub fn printed_p(&self) -> String {
        match self.mcnemar {
            None => String::new(),
            Some(p) if p < 1e-300 => "< 1e-300".to_owned(),
            Some(p) if p < 1e-4 => format!("{p:.0e}"),
            Some(p) => format!("{p:.4}"),
        }
    }
}

/// What changed by the values of a fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangesByFact {
    /// The fact.
    pub fact: String,
    /// What changed for each value.
    pub groups: Vec<ChangeOfGroup>,
}

/// What changed for one value of a fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeOfGroup {
    /// The value.
    pub value: GroupValue,
    /// What changed.
    #[serde(flatten)]
    pub change: Change,
}

/// An example that one system has right and the other wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flip {
    /// Its id.
    pub id: String,
    /// Whether the other system is the one that is right.
    pub gained: bool,
    /// Its input.
    pub input: String,
    /// Its target.
    pub target: String,
    /// What the first run of the baseline predicted.
    pub baseline: String,
    /// What the first run of the other system predicted.
    pub other: String,
}

/// A file, a run, or runs that differ by their seeds alone.
pub struct System<'a> {
    /// What it is called.
    pub name: String,
    /// Its runs.
    pub runs: Vec<&'a Judged>,
}

impl<'a> System<'a> {
    /// Puts runs that differ by the learner's seed alone together, in the order given. Where that leaves one system, each
    /// run is a system of its own.
    pub fn group(runs: &'a [Judged]) -> Result<Vec<Self>> {
        Self::group_of(&runs.iter().collect::<Vec<_>>())
    }

    /// The same of some runs.
    pub(crate) fn group_of(runs: &[&'a Judged]) -> Result<Vec<Self>> {
        let mut keys: Vec<(String, Vec<&'a Judged>)> = Vec::new();
        for (i, &run) in runs.iter().enumerate() {
            let key = match &run.record {
                Some(record) => RunSpec { learner_seed: 0, ..record.spec.clone() }.key()?,
                None => format!("file {i}"),
            };
            match keys.iter_mut().find(|(known, _)| *known == key) {
                Some((_, runs)) => runs.push(run),
                None => keys.push((key, vec![run])),
            }
        }
        let groups: Vec<Vec<&'a Judged>> = match keys.len() {
            0 | 1 => runs.iter().map(|&run| vec![run]).collect(),
            _ => keys.into_iter().map(|(_, runs)| runs).collect(),
        };
        // The learner, with its settings where there are several of it; else the folder or file.
        let learner = |runs: &[&Judged]| runs[0].record.as_ref().map(|record| record.spec.learner.clone());
        let settings = |runs: &[&Judged]| -> Option<String> {
            let spec = &runs[0].record.as_ref()?.spec;
            Some(std::iter::once(spec.learner.clone()).chain(chosen(spec)).collect::<Vec<_>>().join(" "))
        };
        let name = |runs: &[&'a Judged]| {
            let unique = |of: &dyn Fn(&[&Judged]) -> Option<String>| {
                let own = of(runs);
                let same = groups.iter().filter(|other| of(other.as_slice()) == own).count();
                own.filter(|_| same == 1)
            };
            unique(&learner).or_else(|| unique(&settings)).unwrap_or_else(|| runs[0].name.clone())
        };
        Ok(groups.iter().map(|runs| Self { name: name(runs), runs: runs.clone() }).collect())
    }
}

impl Comparison {
    /// Compares each system with the first, by all facts that are named.
    ///
    /// # Errors
    /// If they were not run on the same data, or judged by different metrics.
    pub fn new(systems: &[System<'_>], by: &[String]) -> Result<Self> {
        let runs: Vec<&Judged> = systems.iter().flat_map(|system| system.runs.iter().copied()).collect();
        let [first, others @ ..] = runs.as_slice() else {
            return Err(Error::usage("there is nothing to compare"));
        };
        for other in others {
            check_alike(first, other)?;
        }
        for fact in by {
            first.dataset.table.facts.column(fact)?;
        }
        let mut parts = Vec::new();
        for part in &first.parts {
            if others.iter().all(|run| run.parts.iter().any(|other| other.name == part.name)) {
                parts.push(compare_part(&part.name, systems, by)?);
            }
        }
        if parts.is_empty() {
            return Err(Error::usage("the runs answered different parts: there is nothing to compare"));
        }
        let (dataset, metric) = (first.dataset.name.clone(), first.metric.clone());
        Ok(Self { schema: COMPARISON_SCHEMA, dataset, metric, parts })
    }
}

/// Refuses to compare what was not asked the same.
fn check_alike(first: &Judged, other: &Judged) -> Result<()> {
    let differ = |what: &str, a: &str, b: &str| {
        let (first, other) = (&first.name, &other.name);
        Err(Error::usage(format!("cannot compare {first} and {other}: their {what} are {a} and {b}")))
    };
    if first.dataset.name != other.dataset.name {
        return differ("datasets", &first.dataset.name, &other.dataset.name);
    }
    if first.metric != other.metric {
        let differs = differ("metrics", &first.metric, &other.metric);
        return differs.map_err(|error: Error| Error::usage(format!("{error}: choose one with --metric")));
    }
    for part in &first.parts {
        let same = other.parts.iter().find(|other| other.part == part.part && other.hash != part.hash);
        if let Some(same) = same {
            return differ(&format!("draws of {}", part.part), &part.hash, &same.hash);
        }
    }
    Ok(())
}

/// The verdicts of all runs of a system on the examples that are compared.
struct Verdicts<'a> {
    name: &'a str,
    first: &'a JudgedPart,
    /// Where the examples are in the part of the first run.
    indices: Vec<usize>,
    /// For each run whether each example is right.
    right: Vec<Vec<bool>>,
}

impl Verdicts<'_> {
    /// Whether most seeds are right.
    fn is_right(&self, example: usize) -> bool {
        2 * self.right.iter().filter(|right| right[example]).count() > self.right.len()
    }

    fn accuracies(&self) -> Vec<f64> {
        let share = |right: &Vec<bool>| {
            right.iter().filter(|&&right| right).count() as f64 / right.len().max(1) as f64
        };
        self.right.iter().map(share).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn compare_part(name: &str, systems: &[System<'_>], by: &[String]) -> Result<PartComparison> {
    let of_run = |run: &&'_ Judged| -> BTreeSet<u32> {
        let part = run.parts.iter().find(|part| part.name == name);
        part.map(|part| part.positions.iter().copied().collect()).unwrap_or_default()
    };
    let mut shared: Option<BTreeSet<u32>> = None;
    for run in systems.iter().flat_map(|system| &system.runs) {
        let own = of_run(run);
        shared = Some(shared.map_or(own.clone(), |shared| shared.intersection(&own).copied().collect()));
    }
    let shared = shared.unwrap_or_default();
    let verdicts: Vec<Verdicts<'_>> = systems.iter().map(|system| verdicts(name, system, &shared)).collect();
    let scores = systems.iter().zip(&verdicts).map(|(system, verdicts)| {
        let accuracies = verdicts.accuracies();
        let runs = system.runs.iter().map(|run| run.name.clone()).collect();
        SystemScore { name: system.name.clone(), runs, mean: mean(&accuracies), accuracies }
    });
    let dataset = &systems[0].runs[0].dataset;
    let mut pairs = Vec::new();
    for other in &verdicts[1..] {
        pairs.push(pair(dataset, &verdicts[0], other, by)?);
    }
    Ok(PartComparison { part: name.to_owned(), n: shared.len(), systems: scores.collect(), pairs })
}

fn verdicts<'a>(part: &str, system: &'a System<'_>, shared: &BTreeSet<u32>) -> Verdicts<'a> {
    let parts = system.runs.iter().filter_map(|run| run.parts.iter().find(|own| own.name == part));
    let parts: Vec<&JudgedPart> = parts.collect();
    let indices = |part: &JudgedPart| -> Vec<usize> {
        let positions = part.positions.iter().enumerate();
        positions.filter(|(_, position)| shared.contains(position)).map(|(i, _)| i).collect()
    };
    let right =
        parts.iter().map(|part| indices(part).into_iter().map(|i| part.verdicts[i].correct).collect());
    Verdicts { name: &system.name, first: parts[0], indices: indices(parts[0]), right: right.collect() }
}

fn pair(
    dataset: &wug_data::Dataset,
    baseline: &Verdicts<'_>,
    other: &Verdicts<'_>,
    by: &[String],
) -> Result<Pair> {
    let all: Vec<usize> = (0..baseline.indices.len()).collect();
    let is_seeded = baseline.right.len() > 1 || other.right.len() > 1;
    let mut facts = Vec::new();
    for fact in by {
        let fact = dataset.table.facts.column(fact)?;
        let mut groups: BTreeMap<FactValue<'_>, Vec<usize>> = BTreeMap::new();
        for (example, &index) in baseline.indices.iter().enumerate() {
            groups.entry(fact.group(baseline.first.rows[index])).or_default().push(example);
        }
        let groups = groups.into_iter().map(|(value, examples)| ChangeOfGroup {
            value: value.into(),
            change: change(baseline, other, &examples),
        });
        facts.push(ChangesByFact { fact: fact.name().to_owned(), groups: groups.collect() });
    }
    let flips = all.iter().filter(|&&i| baseline.is_right(i) != other.is_right(i)).map(|&i| {
        let (ours, theirs) = (baseline.indices[i], other.indices[i]);
        let example = dataset.table.example(baseline.first.rows[ours]);
        Flip {
            id: baseline.first.id(ours),
            gained: other.is_right(i),
            input: example.input.to_string(),
            target: example.target.to_string(),
            baseline: baseline.first.predictions[ours].text.clone(),
            other: other.first.predictions[theirs].text.clone(),
        }
    });
    Ok(Pair {
        baseline: baseline.name.to_owned(),
        other: other.name.to_owned(),
        change: change(baseline, other, &all),
        method: if is_seeded { Method::SeedBootstrap } else { Method::PairedBootstrap },
        by: facts,
        flips: flips.collect(),
    })
}

/// What changed on some examples.
fn change(baseline: &Verdicts<'_>, other: &Verdicts<'_>, examples: &[usize]) -> Change {
    let (mut both, mut gained, mut lost, mut neither) = (0, 0, 0, 0);
    for &example in examples {
        match (baseline.is_right(example), other.is_right(example)) {
            (true, true) => both += 1,
            (false, true) => gained += 1,
            (true, false) => lost += 1,
            (false, false) => neither += 1,
        }
    }
    let n = examples.len();
    let mut change = Change {
        n,
        both,
        gained,
        lost,
        neither,
        difference: (gained as f64 - lost as f64) / n.max(1) as f64,
        interval: (0.0, 0.0),
        mcnemar: None,
    };
    if baseline.right.len() == 1 && other.right.len() == 1 {
        change.interval = paired_interval(n, gained, lost);
        change.mcnemar = Some(mcnemar(gained, lost));
        return change;
    }
    let some = |verdicts: &Verdicts<'_>| -> Vec<Vec<bool>> {
        verdicts.right.iter().map(|right| examples.iter().map(|&i| right[i]).collect()).collect()
    };
    let (minus, plus) = (some(baseline), some(other));
    let accuracy = |runs: &[Vec<bool>]| {
        let right = runs.iter().flatten().filter(|&&right| right).count();
        right as f64 / (runs.len() * n).max(1) as f64
    };
    change.difference = accuracy(&plus) - accuracy(&minus);
    let (minus, plus): (Vec<&[bool]>, Vec<&[bool]>) =
        (minus.iter().map(Vec::as_slice).collect(), plus.iter().map(Vec::as_slice).collect());
    change.interval = seeded_interval(&minus, &plus);
    change
}
