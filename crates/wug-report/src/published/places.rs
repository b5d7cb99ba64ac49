//! What the papers' numbers are numbers of, in the names of this program.

use wug_data::FactValue;

use super::Number;

/// Where the examples of a number are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// A dataset of the registry, `scan/length`.
    pub dataset: String,
    /// A part or subset of it, `test-SL`.
    pub part: String,
    /// Which examples of the part count; all if absent.
    pub filter: Option<Filter>,
}

/// Examples with one value of a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The fact.
    pub fact: &'static str,
    /// Its value, as text.
    pub value: String,
}

impl Filter {
    /// Whether an example with this value of the fact counts.
    pub fn keeps(&self, value: FactValue<'_>) -> bool {
        value.to_string() == self.value
    }
}

/// How answers are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoding {
    /// As the learner does.
    Usual,
    /// The end of the answer is where the end of the target is (SCAN, Experiment 2).
    OracleLength,
}

/// What a number is compared with: learners of the registry on datasets of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Where it was measured; several where the number is about all of them together.
    pub places: Vec<Place>,
    /// Who was measured; several where the paper took the best of each experiment.
    pub learners: Vec<String>,
    /// How it answered.
    pub decoding: Decoding,
    /// Why the names differ from the paper's; empty if they do not.
    pub reason: &'static str,
}

/// What names stand for here, where they do not stand for themselves.
struct Rule {
    paper: &'static str,
    dataset: Match,
    part: Match,
    to: fn(&Number) -> Vec<Place>,
    reason: &'static str,
}

enum Match {
    Any,
    Is(&'static str),
    Starts(&'static str),
    Ends(&'static str),
}

impl Match {
    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(text) => name == *text,
            Self::Starts(text) => name.starts_with(text),
            Self::Ends(text) => name.ends_with(text),
        }
    }
}

const fn rule(
    paper: &'static str,
    dataset: Match,
    part: Match,
    to: fn(&Number) -> Vec<Place>,
    reason: &'static str,
) -> Rule {
    Rule { paper, dataset, part, to, reason }
}

/// The first rule that fits counts.
static RULES: &[Rule] = &[
    rule(
        "scan",
        Match::Is("scan/key-experiments"),
        Match::Any,
        |number| KEY_EXPERIMENTS.iter().map(|(dataset, _)| place(*dataset, &number.part)).collect(),
        "the key experiments are the four splits of Experiments 1 to 3",
    ),
    rule(
        "scan",
        Match::Starts("scan/addprim-jump-num-"),
        Match::Any,
        |number| (1..=5).map(|rep| place(format!("{}-rep-{rep}", number.dataset), &number.part)).collect(),
        "in the SCAN paper the added commands vary by run; without rep the names are the NACS paper's nested sets",
    ),
    rule(
        "scan",
        Match::Any,
        Match::Is("test-oracle-length"),
        |number| vec![place(&number.dataset, "test")],
        "a way to decode, not a part",
    ),
    rule(
        "scan",
        Match::Any,
        Match::Ends("-24-actions"),
        |number| vec![filtered(&number.dataset, "test", "action_length", "24")],
        "a way to decode, on the test commands of 24 actions",
    ),
    rule(
        "scan",
        Match::Any,
        Match::Ends("-48-actions"),
        |number| vec![filtered(&number.dataset, "test", "action_length", "48")],
        "a way to decode, on the test commands of 48 actions",
    ),
    rule("scan", Match::Starts("mt/"), Match::Is("daxy"), with_daxy, DAXY),
    rule("nacs", Match::Starts("mt/"), Match::Is("daxy"), with_daxy, DAXY),
    rule(
        "mns",
        Match::Is("mns/all"),
        Match::Any,
        |number| vec![place("mns/circle", &number.part)],
        "the released problems are those of circles",
    ),
    rule(
        "mns",
        Match::Any,
        Match::Any,
        |number| {
            let subset = number.dataset.trim_start_matches("mns/");
            vec![place("mns/circle", format!("{}-{subset}", number.part))]
        },
        "types of problems are subsets of the test part",
    ),
    rule("hint", Match::Is("hint/fewshot-overall"), Match::Any, |number| few_shot(number, "xyabcd"), OVER),
    rule("hint", Match::Is("hint/fewshot-abcd"), Match::Any, |number| few_shot(number, "abcd"), OVER),
    rule("hint", Match::Is("hint/fewshot-xy"), Match::Any, |number| few_shot(number, "xy"), OVER),
    rule(
        "hint",
        Match::Starts("hint/fewshot-"),
        Match::Any,
        |number| vec![place(format!("{}-image", number.dataset), hint_part(number))],
        "the paper compares its few-shot table with Table 2, which is of images",
    ),
    rule(
        "hint",
        Match::Any,
        Match::Is("test-avg"),
        |number| vec![place(&number.dataset, "test")],
        "the average is weighted by the sizes of the subsets: it is that of the whole part",
    ),
    rule(
        "recogs",
        Match::Is("recogs/test"),
        Match::Any,
        |_| vec![place("recogs/v2", "test")],
        "the paper's ReCOGS is the second version",
    ),
    rule(
        "recogs",
        Match::Is("recogs/gen"),
        Match::Any,
        |number| vec![generalization("recogs/v2", &number.part)],
        "the paper's ReCOGS is the second version; kinds of generalization are types of rows",
    ),
    rule(
        "recogs",
        Match::Starts("cogs"),
        Match::Any,
        |number| {
            let dataset = number.dataset.trim_end_matches("/gen").trim_start_matches("cogs");
            let dataset = if dataset.is_empty() { "main" } else { &dataset[1..] };
            vec![generalization(&format!("cogs/{dataset}"), &number.part)]
        },
        "the variants of COGS are datasets with the part gen; kinds of generalization are types of rows",
    ),
];

const DAXY: &str = "trained on the data to which `i am daxy .` was added 1,000 times";
const OVER: &str = "over several new symbols, from images as in the paper's Table 2";

/// The splits of the SCAN paper's Experiments 1 to 3 and the best network of each.
const KEY_EXPERIMENTS: [(&str, &str); 4] = [
    ("scan/simple", "lstm"),
    ("scan/length", "gru-attn"),
    ("scan/addprim-turn-left", "gru-attn"),
    ("scan/addprim-jump", "lstm-attn"),
];

fn place(dataset: impl Into<String>, part: impl Into<String>) -> Place {
    Place { dataset: dataset.into(), part: part.into(), filter: None }
}

fn filtered(dataset: &str, part: &str, fact: &'static str, value: &str) -> Place {
    Place { filter: Some(Filter { fact, value: value.to_owned() }), ..place(dataset, part) }
}

fn with_daxy(number: &Number) -> Vec<Place> {
    vec![place(format!("{}-daxy", number.dataset), &number.part)]
}

fn hint_part(number: &Number) -> &str {
    if number.part == "test-avg" { "test" } else { &number.part }
}

fn few_shot(number: &Number, symbols: &str) -> Vec<Place> {
    symbols.chars().map(|symbol| place(format!("hint/fewshot-{symbol}-image"), hint_part(number))).collect()
}

fn generalization(dataset: &str, part: &str) -> Place {
    match part {
        "overall" => place(dataset, "gen"),
        "lex" => filtered(dataset, "gen", "group", "lexical"),
        kind => filtered(dataset, "gen", "type", &kind.replace('-', "_")),
    }
}

/// What a number is a number of, in the names of the registries.
///
/// ```
/// use wug_report::{compared, published};
///
/// let number = published().iter().find(|number| number.dataset == "mns/partition-analytic").unwrap();
/// let place = &compared(number).places[0];
/// assert_eq!((place.dataset.as_str(), place.part.as_str()), ("mns/circle", "test-partition-analytic"));
/// ```
pub fn compared(number: &Number) -> Compared {
    let fits = |rule: &&Rule| {
        rule.paper == number.paper && rule.dataset.fits(&number.dataset) && rule.part.fits(&number.part)
    };
    let rule = RULES.iter().find(fits);
    let places = rule.map_or_else(|| vec![place(&number.dataset, &number.part)], |rule| (rule.to)(number));
    let learners = match (&number.architecture, number.learner.as_str()) {
        (Some(architecture), _) => vec![architecture.clone()],
        (None, "lnb-best") => KEY_EXPERIMENTS.iter().map(|(_, best)| (*best).to_owned()).collect(),
        (None, learner) => vec![learner.to_owned()],
    };
    let decoding =
        if number.part.starts_with("test-oracle-length") { Decoding::OracleLength } else { Decoding::Usual };
    Compared { places, learners, decoding, reason: rule.map_or("", |rule| rule.reason) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published;

    #[test]
    fn every_rule_is_needed() {
        for (i, rule) in RULES.iter().enumerate() {
            let first = |number: &Number| {
                RULES.iter().position(|rule| {
                    rule.paper == number.paper
                        && rule.dataset.fits(&number.dataset)
                        && rule.part.fits(&number.part)
                })
            };
            assert!(
                published().iter().any(|number| first(number) == Some(i)),
                "no number needs: {}",
                rule.reason
            );
        }
    }
}
