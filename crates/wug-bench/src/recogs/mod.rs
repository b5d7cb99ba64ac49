//! ReCOGS: the sentences of COGS with logical forms that say only what is meant.
//!
//! Variables are numbers without meaning, names are predicates, events and their roles are separate predications, and
//! a prediction is right if it says the same whatever the names and the order (Wu, Manning and Potts, 2023).
//!
//! | dataset | train | dev | test | gen | variables |
//! |---|---|---|---|---|---|
//! | `v2` | about 135,547 | 3,000 | 3,000 | 21,000 | drawn at random, five times for each row of train |
//! | `v1` | about 135,547 | 3,000 | 3,000 | 21,000 | the same; modifiers first, nothing preposed or strewn in |
//! | `positional` | 27,227 | 3,000 | 3,000 | 21,000 | places in the sentence, as in COGS |
//!
//! Example: `The girl slept .` -> `* girl ( 1 ) ; sleep ( 2 ) AND agent ( 2 , 1 )`.
//!
//! Everything but the registry entry is in [`crate::cogs`]: the conversion in [`crate::cogs::convert::recogs`], the
//! metric in [`crate::cogs::sem`].

use std::path::Path;

use wug_data::{Dataset, Error, Result, Selection};

use crate::cogs::convert::Variant;
use crate::cogs::score;
use crate::{
    Availability, Benchmark, BenchmarkInfo, DataSettings, Family, Items, Metric, NativeFile, Release, Source,
    Statistic, cogs,
};

/// The benchmark ReCOGS.
pub struct Recogs;

static ABOUT: BenchmarkInfo = BenchmarkInfo {
    name: "recogs",
    title: "ReCOGS: English sentences to logical forms with arbitrary variables",
    summary: "The sentences of COGS with logical forms whose variables have no meaning, whose names are predicates and \
              whose events are predications of their own. A prediction is right if it says the same.",
    licence: "MIT (the released files; what wug makes from the grammar carries no licence of its own)",
    homepage: "https://github.com/frankaging/ReCOGS",
    citation: "@article{wu2023recogs,
  title   = {{ReCOGS}: How Incidental Details of a Logical Form Overshadow an Evaluation of Semantic Interpretation},
  author  = {Wu, Zhengxuan and Manning, Christopher D. and Potts, Christopher},
  journal = {Transactions of the Association for Computational Linguistics},
  volume  = {11},
  year    = {2023}
}",
};

fn variant(dataset: &str) -> Result<Variant> {
    let variant = Variant::named(&format!("recogs/{dataset}"));
    variant.ok_or_else(|| Error::usage(format!("recogs has no dataset `{dataset}`")))
}

impl Benchmark for Recogs {
    fn about(&self) -> &BenchmarkInfo {
        &ABOUT
    }

    fn families(&self) -> Vec<Family> {
        let family = |name: &'static str, about| Family {
            pattern: name,
            names: vec![name.to_owned()],
            about,
            origin: Availability::Drawn,
        };
        vec![
            family("v2", "meaning whatever the names of variables; preposing and `um` in train"),
            family("v1", "the same as of March 2023: modifiers first, train without preposing and `um`"),
            family("positional", "variables that are places in the sentence"),
        ]
    }

    fn make(&self, dataset: &str, source: &Source) -> Result<Dataset> {
        cogs::make_variant("recogs", dataset, variant(dataset)?, source)
    }

    fn stream(&self, dataset: &str, settings: &DataSettings) -> Result<Box<dyn Items>> {
        settings.check("recogs", &[])?;
        let named = cogs::Named::Variant(variant(dataset)?);
        cogs::stream::stream(&format!("recogs/{dataset}"), named)
    }

    fn default_part(&self, _: &str) -> &'static str {
        "gen"
    }

    fn metrics(&self) -> &'static [Metric] {
        &score::RECOGS_METRICS
    }

    fn statistics(&self, dataset: &Dataset) -> Vec<Statistic> {
        crate::cogs::statistics::statistics(dataset)
    }

    fn explain(&self, dataset: &Dataset, row: u32) -> Option<String> {
        let sentence = dataset.table.inputs.get(row).to_string();
        cogs::sentence::Sentence::parse(&sentence).ok().map(|sentence| sentence.term())
    }

    fn release(&self) -> Option<&dyn Release> {
        Some(self)
    }
}

impl Release for Recogs {
    fn is_released(&self, _: &str, _: &str) -> bool {
        true
    }

    fn native_files<'a>(&self, dataset: &'a Dataset, selection: &'a Selection<'a>) -> Vec<NativeFile<'a>> {
        cogs::native_files(dataset, selection)
    }

    fn read_gold(&self, dataset: &str, file: &Path) -> Result<Dataset> {
        variant(dataset)?;
        cogs::read_gold(&format!("recogs/{dataset}"), file)
    }
}
