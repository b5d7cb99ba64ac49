//! Every number that a paper measured is a number of something here: a dataset, a part or filter, and a learner.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use wug_bench::{Address, Source};
use wug_data::Dataset;
use wug_learn::LEARNERS;
use wug_report::{Attribution, Number, Place, compared, published};

/// Learners that are not in the registry, with how many numbers wait for each. A learner that arrives is taken from here.
const NOT_OURS_YET: &[(&str, usize)] =
    &[("gpt3-zero-shot", 7), ("gpt3-zero-shot-cot", 8), ("human", 7), ("t5-base", 2)];

fn own() -> impl Iterator<Item = &'static Number> {
    published().iter().filter(|number| number.origin == Attribution::Own)
}

#[test]
fn every_number_has_its_examples() {
    let mut places: BTreeMap<String, BTreeSet<(String, String, String)>> = BTreeMap::new();
    for number in own() {
        for Place { dataset, part, filter } in compared(number).places {
            let filter = filter.map_or(("", String::new()), |filter| (filter.fact, filter.value));
            places.entry(dataset).or_default().insert((part, filter.0.to_owned(), filter.1));
        }
    }
    places.into_par_iter().for_each(|(name, parts)| {
        let address: Address = name.parse().unwrap_or_else(|error| panic!("{error}"));
        let dataset: Dataset = address.benchmark.make(&address.dataset, &Source::Seed(0)).unwrap();
        for (part, fact, value) in parts {
            let selection = dataset.select(&part).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!selection.positions.is_empty(), "{name}#{part} is empty");
            if fact.is_empty() {
                continue;
            }
            let column = dataset.table.facts.column(&fact).unwrap();
            let kept = selection.examples().filter(|(_, row)| column.value(*row).to_string() == value);
            assert!(kept.count() > 0, "{name}#{part} has no example whose {fact} is {value}");
        }
    });
}

#[test]
fn every_number_has_its_learner() {
    let known: Vec<&str> = LEARNERS.iter().map(|learner| learner.about().name).collect();
    let mut waiting: BTreeMap<String, usize> = BTreeMap::new();
    for number in own() {
        for learner in compared(number).learners {
            if !known.contains(&learner.as_str()) {
                *waiting.entry(learner).or_default() += 1;
            }
        }
    }
    let expected: BTreeMap<String, usize> =
        NOT_OURS_YET.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
    assert_eq!(waiting, expected);
}

#[test]
fn every_metric_is_known() {
    for number in own() {
        let place = &compared(number).places[0];
        let benchmark = place.dataset.parse::<Address>().unwrap().benchmark;
        let metric = match number.metric.as_str() {
            "accuracy" => "exact",
            "back-mapping accuracy" => "meaning",
            "semantic exact match" => "sem",
            metric => metric,
        };
        assert!(benchmark.judge(metric).is_ok(), "{}: {}", place.dataset, number.metric);
    }
}
