//! When a prediction is right.

use std::collections::HashMap;
use wug_data::truncate;

use wug_data::Example;

use super::lf::{Form, Notation, Removal};
use super::sem::{self, Match, NoForm};
use crate::{EXACT, Judge, Metric, Verdict};

/// Equal up to the names of variables, in the same order.
pub const INDEX_INVARIANT: Metric = Metric {
    name: "index-invariant",
    about: "the target's tokens in order, with numbers renamed by first occurrence",
    judge: || Box::new(IndexInvariant),
};

/// Semantic Exact Match.
pub const SEM: Metric = Metric {
    name: "sem",
    about: "Semantic Exact Match: the same set of predications under a one-to-one mapping of variables",
    judge: || Box::new(Sem { notation: None }),
};

/// Semantic Exact Match as published.
pub const SEM_OFFICIAL: Metric = Metric {
    name: "sem-official",
    about: "the verdicts of the code published with Semantic Exact Match, faults included",
    judge: || Box::new(SemOfficial),
};

/// The error analysis of the ReCOGS paper, section 4.4.
pub const NMOD_FIRST: Metric = Metric {
    name: "nmod-first",
    about: "no score: the share of predictions whose first conjunct behind the last `;` is an nmod",
    judge: || Box::new(NmodFirst { notation: None }),
};

/// The metrics of COGS, whose targets tell how they are written.
pub const METRICS: [Metric; 5] = [EXACT, INDEX_INVARIANT, SEM, SEM_OFFICIAL, NMOD_FIRST];

/// The metrics of ReCOGS, whose notation is known.
pub const RECOGS_METRICS: [Metric; 5] = [
    Metric { judge: || Box::new(Sem { notation: Some(Notation::Recogs) }), ..SEM },
    INDEX_INVARIANT,
    EXACT,
    SEM_OFFICIAL,
    Metric { judge: || Box::new(NmodFirst { notation: Some(Notation::Recogs) }), ..NMOD_FIRST },
];

/// How a target of the benchmark COGS is written. Its datasets differ, and their forms tell which it is.
pub fn notation_of(target: &str) -> Notation {
    let has = |token: &str| target.split_whitespace().any(|word| word == token);
    let has_number = target.split_whitespace().any(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    if has("=") {
        Notation::VariableFree
    } else if has("_") || (!has_number && (has("(") || !has("LAMBDA"))) {
        // A tree of one node is written as the name of a primitive is.
        Notation::Cogs
    } else if has("(") {
        Notation::Reduced(Removal::X)
    } else if has(",") {
        Notation::Reduced(Removal::XParen)
    } else {
        Notation::Reduced(Removal::XParenComma)
    }
}

/// Predictions longer than this, and than four targets, are not looked into: the longest logical form of the release has
/// 1,385 bytes, and reading one must not take long.
const LONGEST: usize = 16 << 10;

/// The verdict on a prediction that is too long to be judged.
fn too_long(target: &str, prediction: &[u8]) -> Option<Verdict> {
    let most = LONGEST.max(4 * target.len());
    (prediction.len() > most).then(|| Verdict {
        correct: false,
        undecided: true,
        reason: format!("{} bytes are more than the {most} that are judged", prediction.len()),
    })
}

fn undecided() -> Verdict {
    Verdict { correct: false, undecided: true, reason: "not decided within the bound on work".to_owned() }
}

/// Semantic Exact Match of bytes from anywhere: what is not UTF-8 is wrong, like any text that is no logical form.
pub fn sem_bytes(target: &str, prediction: &[u8], notation: Notation) -> Verdict {
    if let Some(verdict) = too_long(target, prediction) {
        return verdict;
    }
    match std::str::from_utf8(prediction) {
        Ok(prediction) => sem_text(target, prediction, notation),
        Err(error) => Verdict::wrong(format!("not UTF-8 (byte {})", error.valid_up_to() + 1)),
    }
}

/// Semantic Exact Match of a prediction with a target.
pub fn sem_text(target: &str, prediction: &str, notation: Notation) -> Verdict {
    if let Some(verdict) = too_long(target, prediction.as_bytes()) {
        return verdict;
    }
    if prediction.trim().is_empty() {
        return Verdict::wrong("empty prediction");
    }
    match sem::compare_texts(target, prediction, notation) {
        Ok(Match::Equal) => Verdict::right(),
        Ok(Match::Undecided) => undecided(),
        Ok(Match::Different) => match forms(target, prediction, notation) {
            Ok((gold, said)) => Verdict::wrong(sem::sketch(&gold, &said, notation).summary(2)),
            Err(verdict) => verdict,
        },
        Err(no_form) => no_form_verdict(no_form),
    }
}

fn no_form_verdict(no_form: NoForm) -> Verdict {
    Verdict::wrong(match no_form {
        NoForm::Prediction(error) => format!("not a logical form: {error}"),
        NoForm::Gold(error) => format!("the target is not a logical form: {error}"),
    })
}

fn forms<'t>(
    target: &'t str,
    prediction: &'t str,
    notation: Notation,
) -> Result<(Form<'t>, Form<'t>), Verdict> {
    if prediction.trim().is_empty() {
        return Err(Verdict::wrong("empty prediction"));
    }
    let said =
        Form::parse(prediction, notation).map_err(|error| no_form_verdict(NoForm::Prediction(error)))?;
    let gold = Form::parse(target, notation).map_err(|error| no_form_verdict(NoForm::Gold(error)))?;
    Ok((gold, said))
}

struct Sem {
    notation: Option<Notation>,
}

impl Judge for Sem {
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict {
        let target = example.target.to_string();
        sem_text(&target, prediction, self.notation.unwrap_or_else(|| notation_of(&target)))
    }

    fn explain(&self, example: &Example<'_>, prediction: &str) -> Vec<String> {
        let target = example.target.to_string();
        let notation = self.notation.unwrap_or_else(|| notation_of(&target));
        let verdict = sem_text(&target, prediction, notation);
        if too_long(&target, prediction.as_bytes()).is_some() || verdict.correct {
            return if verdict.correct { Vec::new() } else { vec![verdict.reason] };
        }
        let (gold, said) = match forms(&target, prediction, notation) {
            Ok(forms) => forms,
            Err(verdict) => return vec![verdict.reason],
        };
        let explanation = sem::explain(&gold, &said, notation);
        let mut lines = Vec::new();
        if verdict.undecided {
            lines.push(verdict.reason);
        }
        if explanation.lambdas_differ {
            lines.push(format!(
                "binds {} variables by LAMBDA, not {}",
                said.lambdas.len(),
                gold.lambdas.len()
            ));
        }
        lines.extend(explanation.missing.iter().map(|conjunct| format!("missing  {conjunct}")));
        lines.extend(explanation.extra.iter().map(|conjunct| format!("extra    {conjunct}")));
        let pairs: Vec<String> =
            explanation.mapping.iter().map(|(said, gold)| format!("{said} as {gold}")).collect();
        if !pairs.is_empty() {
            lines.push(format!("taking the prediction's {}", pairs.join(", ")));
        }
        lines
    }
}

struct SemOfficial;

impl Judge for SemOfficial {
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict {
        let target = example.target.to_string();
        if let Some(verdict) = too_long(&target, prediction.as_bytes()) {
            return verdict;
        }
        match sem::official::compare(&target, prediction) {
            Match::Equal => Verdict::right(),
            Match::Different => Verdict::wrong("no mapping that the published code accepts"),
            Match::Undecided => undecided(),
        }
    }
}

struct IndexInvariant;

impl Judge for IndexInvariant {
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict {
        let (mut of_target, mut of_prediction) = (HashMap::new(), HashMap::new());
        let mut said = prediction.split_whitespace();
        for (i, wanted) in example.target.words().filter(|word| !word.is_empty()).enumerate() {
            let Some(word) = said.next() else {
                return Verdict::wrong(if i == 0 {
                    "empty prediction".to_owned()
                } else {
                    format!("ends after {i} of {} tokens", example.target.ids().len())
                });
            };
            let same = match (number(wanted, &mut of_target), number(word, &mut of_prediction)) {
                (Some(wanted), Some(word)) => wanted == word,
                _ => wanted == word,
            };
            if !same {
                let shown = truncate(word, 40);
                return Verdict::wrong(format!("token {} is {shown}, not {wanted}", i + 1));
            }
        }
        match said.count() {
            0 => Verdict::right(),
            extra => Verdict::wrong(format!("{extra} token{} too many", if extra == 1 { "" } else { "s" })),
        }
    }
}

/// Which number this is, in the order in which they occur; `None` for a word.
fn number<'t>(word: &'t str, known: &mut HashMap<&'t str, usize>) -> Option<usize> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| {
        let next = known.len();
        *known.entry(word).or_insert(next)
    })
}

struct NmodFirst {
    notation: Option<Notation>,
}

impl Judge for NmodFirst {
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict {
        let target = example.target.to_string();
        if let Some(verdict) = too_long(&target, prediction.as_bytes()) {
            return verdict;
        }
        let notation = self.notation.unwrap_or_else(|| notation_of(&target));
        let form = match Form::parse(prediction, notation) {
            Ok(form) => form,
            Err(error) => return Verdict::wrong(format!("not a logical form: {error}")),
        };
        match first_event(&form) {
            Some(conjunct) if conjunct.is_nmod() => Verdict::right(),
            Some(conjunct) => {
                let words: Vec<&str> = conjunct.predicate().take(3).collect();
                Verdict::wrong(format!("first is `{}`", words.join(" . ")))
            }
            None => Verdict::wrong("no conjunct"),
        }
    }
}

/// The first conjunct behind the last `;`.
pub(crate) fn first_event<'f, 't>(form: &'f Form<'t>) -> Option<&'f super::lf::Conjunct<'t>> {
    let first = form.conjuncts.iter().rposition(|conjunct| conjunct.join == super::lf::Join::Semicolon);
    form.conjuncts.get(first.unwrap_or(0))
}

#[cfg(test)]
mod tests;
