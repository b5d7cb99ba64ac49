//! Runs as data.
//!
//! A [`RunSpec`] says everything that determines a result: dataset, source, learner, settings, seeds, parts, metric. A
//! [`RunRecord`] says what came out. Both are the file format, the cache key and the row of a report; nothing is parsed
//! from command-line flags again. [`Prepared::execute`] runs one spec, a [`Plan`] the specs of an experiment.
//!
//! ```
//! use wug_run::{Options, Prepared, RunSpec};
//!
//! let mut spec = RunSpec::new("mns/circle#test", "always-one")?;
//! spec.limit = Some(100);
//! let prepared = Prepared::new(spec)?;
//! let run = prepared.execute(&Options::default())?;
//! assert_eq!(run.scores.parts[0].tally.n, 100);
//! # Ok::<(), wug_data::Error>(())
//! ```

mod batch;
mod execute;
mod folder;
mod neighbours;
mod scorer;
mod scores;
mod spec;
mod symbols;

pub use batch::{Batch, Begins, Outcome, Plan};
pub use execute::{Options, Prepared, Run};
pub use folder::{Existing, Machine, RUN_SCHEMA, RunRecord, Status};
pub use neighbours::{Neighbour, Neighbours};
pub use scorer::{JudgedPredictions, Scorer, ScorerOptions};
pub use scores::{
    AnswerStates, Explained, FeatureShare, Group, GroupValue, Groups, Importance, PartScores, PassAtK,
    PredictionsRead, SCORES_SCHEMA, SampleScores, Scored, Scores, SeedScores, SeedSummary, SliceScores,
    Suspect, Tally, importance, mismatch, score, wilson,
};
pub use spec::{RunSpec, Symbols};
