use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use wug_data::truncate;

use wug_data::Error;

use crate::{BENCHMARKS, Benchmark, Family};

/// The name of a dataset or a part: `scan/length`, `scan/length#test`. A benchmark with one dataset names it.
#[derive(Clone)]
pub struct Address {
    /// The benchmark before the slash.
    pub benchmark: Arc<dyn Benchmark>,
    /// The dataset behind it.
    pub dataset: String,
    /// The part behind `#`.
    pub part: Option<String>,
}

impl Address {
    /// The name of the dataset with its benchmark, without the part.
    pub fn full_dataset(&self) -> String {
        format!("{}/{}", self.benchmark.about().name, self.dataset)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full_dataset())?;
        self.part.as_ref().map_or(Ok(()), |part| write!(f, "#{part}"))
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, part) = match text.split_once('#') {
            Some((name, part)) => (name, Some(part.to_owned())),
            None => (text, None),
        };
        for benchmark in BENCHMARKS.iter() {
            if let Some(dataset) =
                name.strip_prefix(benchmark.about().name).and_then(|rest| rest.strip_prefix('/'))
                && benchmark.has(dataset)
            {
                return Ok(Self { benchmark: Arc::clone(benchmark), dataset: dataset.to_owned(), part });
            }
            if name == benchmark.about().name
                && let [Family { names, .. }] = benchmark.families().as_slice()
                && let [only] = names.as_slice()
            {
                return Ok(Self { benchmark: Arc::clone(benchmark), dataset: only.clone(), part });
            }
        }
        Err(Error::usage(unknown(name)))
    }
}

/// The message for a name that is no dataset, with the names nearest to it.
fn unknown(name: &str) -> String {
    let mut known: Vec<String> = Vec::new();
    for benchmark in BENCHMARKS.iter() {
        let about = benchmark.about();
        if name == about.name || name == format!("{}/", about.name) {
            return format!(
                "`{name}` is a benchmark; name one of its datasets, such as {0}/{1} (`wug list` shows all)",
                about.name,
                benchmark.families()[0].names[0]
            );
        }
        for family in benchmark.families() {
            known.extend(family.names.iter().map(|dataset| format!("{}/{dataset}", about.name)));
        }
    }
    // A benchmark may have been left out, as in `length`.
    let distance = |known: &String| {
        let bare = known.split_once('/').map_or("", |(_, dataset)| dataset);
        strsim::osa_distance(name, known).min(1 + strsim::osa_distance(name, bare))
    };
    // Names are short; a longer one is not a slip of the hand.
    let nearest = if name.len() > 80 { Vec::new() } else { nearest(known, distance, name.len() / 2) };
    let shown = truncate(name, 80);
    match nearest.as_slice() {
        [] => format!("no dataset `{shown}`; `wug list` shows all"),
        nearest => format!("no dataset `{shown}`; did you mean {}?", nearest.join(", ")),
    }
}

/// At most three of `known`, nearest first, none farther than `farthest`.
fn nearest(known: Vec<String>, distance: impl Fn(&String) -> usize, farthest: usize) -> Vec<String> {
    let mut known: Vec<(usize, String)> = known.into_iter().map(|name| (distance(&name), name)).collect();
    known.retain(|(distance, _)| *distance <= farthest);
    known.sort();
    known.into_iter().take(3).map(|(_, name)| name).collect()
}
