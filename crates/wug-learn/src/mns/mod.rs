//! Solvers of MNS: the paper's two searches, and the optimum.

mod bayes;
mod bayes_image;
mod search;

pub use bayes::Bayes;
pub use bayes_image::BayesImage;
pub use search::{SearchContext, SearchPure};

use wug_bench::mns::sample::Sampler;
use wug_bench::mns::splits::Design;
use wug_data::{Error, Result};

use crate::Task;

/// The generator of the task's dataset.
fn sampler(task: &Task<'_>) -> Result<Sampler> {
    let name = task.dataset().trim_start_matches("mns/");
    let design = Design::named(name).ok_or_else(|| Error::usage(format!("{} is not MNS", task.dataset())))?;
    Sampler::new(design.parameters)
}
