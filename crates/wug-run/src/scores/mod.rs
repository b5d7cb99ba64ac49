//! Scores of predictions: by part, by slice, by fact, with intervals. `scores.json`, `--json` and reports are [`Scores`].

mod importance;
mod interval;
mod kd_tree;
mod mismatch;
mod sampled;
mod score;
mod seeds;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use wug_bench::{Benchmark, Draw};
use wug_data::{Dataset, Error, Fact, Result};
use wug_learn::{EarlyStop, ModelSize};

use crate::{Neighbours, Symbols};

pub use importance::{FeatureShare, Importance, importance};
pub use interval::wilson;
pub use mismatch::{Suspect, mismatch};
pub use sampled::{AnswerStates, PassAtK, SampleScores};
pub use score::{Group, GroupValue, Groups, Scored, Tally, score};
pub use seeds::{SeedScores, SeedSummary};

/// Version of [`Scores`] as JSON.
pub const SCORES_SCHEMA: u32 = 1;

/// The scores of a prediction file or a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Version of this format.
    pub schema: u32,
    /// `scan/length`.
    pub dataset: String,
    /// What made the predictions, if a run did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learner: Option<String>,
    /// Present if the learner was given the symbols behind the images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Symbols>,
    /// How large the trained model is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<ModelSize>,
    /// What ended learning before it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<EarlyStop>,
    /// The metric.
    pub metric: String,
    /// The draw that was scored against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<Draw>,
    /// The hash of each part of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hashes: BTreeMap<String, String>,
    /// The file of predictions, if they were read from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictions: Option<PredictionsRead>,
    /// What the predictions seem to be made for instead, where they score badly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Each part that was scored.
    pub parts: Vec<PartScores>,
    /// Predictions that the judge was asked to explain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explained: Vec<Explained>,
    /// Nearest training inputs by a decoder's states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<Neighbours>,
}

/// What a file of predictions holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionsRead {
    /// How many.
    pub n: usize,
    /// In which format.
    pub format: String,
}

/// The scores of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartScores {
    /// Name of the part.
    pub part: String,
    /// Over all of it.
    #[serde(flatten)]
    pub tally: Tally,
    /// The corpus-level score, where the metric has one (BLEU).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// By facts: in JSON one table by itself, several as a list.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "one_or_list",
        deserialize_with = "list_of_one_or_list"
    )]
    pub by: Vec<Groups>,
    /// How answers ended that came over a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<AnswerStates>,
    /// Of several samples per item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SampleScores>,
    /// Slices that the benchmark's paper reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<SliceScores>,
}

/// The score of a slice that the benchmark's paper reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceScores {
    /// Its name.
    pub slice: String,
    /// Over all of it.
    #[serde(flatten)]
    pub tally: Tally,
    /// Which facts decide whether a prediction is right, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
}

/// Why one prediction is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explained {
    /// Id of the example.
    pub id: String,
    /// Its input.
    pub input: String,
    /// Its target.
    pub target: String,
    /// What was predicted.
    pub prediction: String,
    /// Why that is wrong; empty if it is right.
    pub reasons: Vec<String>,
}

impl Scores {
    /// Totals of every part and its slices, by the facts that are given, with the importance of facts if asked for.
    pub fn new(
        benchmark: &dyn Benchmark,
        dataset: &Dataset,
        metric: &str,
        scored: &[Scored<'_>],
        facts: &[&Fact],
        importance: bool,
    ) -> Result<Self> {
        let part = |scored: &Scored<'_>| {
            Ok(PartScores {
                part: scored.selection().name.clone(),
                tally: scored.total(),
                score: scored.corpus_score(),
                by: facts.iter().map(|fact| scored.by(fact)).collect(),
                states: None,
                samples: None,
                slices: slices(benchmark, dataset, scored, importance)?,
            })
        };
        Ok(Self {
            schema: SCORES_SCHEMA,
            dataset: dataset.name.clone(),
            learner: None,
            reads: None,
            learned: None,
            stopped: None,
            metric: metric.to_owned(),
            draw: None,
            hashes: BTreeMap::new(),
            predictions: None,
            hint: None,
            parts: scored.iter().map(part).collect::<Result<_>>()?,
            explained: Vec::new(),
            neighbours: Vec::new(),
        })
    }

    /// Reads scores that a run has written.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).map_err(Error::io(path))?;
        let scores: Self = serde_json::from_slice(&text)
            .map_err(|error| Error::line(path, error.line(), format!("not scores of wug: {error}")))?;
        if scores.schema != SCORES_SCHEMA {
            let (found, known) = (scores.schema, SCORES_SCHEMA);
            return Err(Error::file(path, format!("has schema {found}, and this program reads {known}")));
        }
        Ok(scores)
    }
}

fn one_or_list<S: Serializer>(groups: &[Groups], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    match groups {
        [one] => one.serialize(serializer),
        several => several.serialize(serializer),
    }
}

fn list_of_one_or_list<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<Groups>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrList {
        One(Groups),
        List(Vec<Groups>),
    }
    Ok(match OneOrList::deserialize(deserializer)? {
        OneOrList::One(one) => vec![one],
        OneOrList::List(list) => list,
    })
}

/// The slices of a part that it has examples of; none if it is one of them itself.
fn slices(
    benchmark: &dyn Benchmark,
    dataset: &Dataset,
    scored: &Scored<'_>,
    wants_importance: bool,
) -> Result<Vec<SliceScores>> {
    if wants_importance && benchmark.features().is_empty() {
        return Err(Error::usage(format!("{} has no facts for --importance", benchmark.about().name)));
    }
    let mut reports = Vec::new();
    for slice in benchmark.slices() {
        let Ok(fact) = dataset.table.facts.column(slice.fact) else { continue };
        let keeps = |row| (slice.keeps)(fact.value(row));
        let tally = scored.of(keeps);
        if tally.n == 0 || tally.n == scored.total().n {
            continue;
        }
        // The paper looks at each of its subsets, not at slices across them.
        let importance = if wants_importance && slice.fact == "subset" {
            Some(importance(dataset, scored, benchmark.features(), keeps, 0)?)
        } else {
            None
        };
        reports.push(SliceScores { slice: slice.name.to_owned(), tally, importance });
    }
    if wants_importance && reports.is_empty() {
        let importance = importance(dataset, scored, benchmark.features(), |_| true, 0)?;
        reports.push(SliceScores {
            slice: "all".to_owned(),
            tally: scored.total(),
            importance: Some(importance),
        });
    }
    Ok(reports)
}
