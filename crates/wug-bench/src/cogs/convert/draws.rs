//! Where random choices come from.

use wug_data::{PythonRandom, Stream, Streams};

use super::Variant;

/// Whose draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draws {
    /// Those of the release: CPython's generator, seeded with 42 at the start of each variant, one stream for all rows.
    Official,
    /// Wug's own with this seed: a stream for each row.
    Seed(u64),
}

impl Draws {
    /// The draws of a variant, from the beginning.
    pub fn dice(self, variant: Variant) -> Dice {
        match self {
            Self::Official => Dice::Python(Box::new(PythonRandom::new(42))),
            Self::Seed(seed) => {
                let dataset = variant.name();
                let streams = Streams::new(&dataset, "rows", seed);
                Dice::Own(Box::new(Own { stream: streams.item(0), streams, dataset, seed }))
            }
        }
    }
}

/// A source of draws that is told which row they are for.
pub enum Dice {
    /// One stream for everything.
    Python(Box<PythonRandom>),
    /// A stream for each row of each pass.
    Own(Box<Own>),
}

/// Streams of wug's own.
pub struct Own {
    /// Those of the pass.
    streams: Streams,
    /// That of the row.
    stream: Stream,
    /// What they are for.
    dataset: String,
    /// Their seed.
    seed: u64,
}

impl Dice {
    /// Begins another pass over the rows.
    pub fn pass(&mut self, name: &str) {
        if let Self::Own(own) = self {
            own.streams = Streams::new(&own.dataset, name, own.seed);
        }
    }

    /// Begins a row.
    pub fn row(&mut self, row: usize) {
        if let Self::Own(own) = self {
            own.stream = own.streams.item(row as u64);
        }
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        match self {
            Self::Python(random) => random.random(),
            Self::Own(own) => own.stream.unit(),
        }
    }

    /// One of the items, each equally likely.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        match self {
            Self::Python(random) => random.choice(items),
            Self::Own(own) => own.stream.choose(items),
        }
    }
}
