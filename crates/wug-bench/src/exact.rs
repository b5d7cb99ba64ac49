//! Exact match, the metric most benchmarks share.

use wug_data::Example;
use wug_data::truncate;

use crate::{Judge, Metric, Verdict};

/// Equal words in equal order.
pub const EXACT: Metric = Metric {
    name: "exact",
    about: "the prediction has the target's tokens, in order",
    judge: || Box::new(Exact),
};

/// Judges by exact match.
pub struct Exact;

impl Judge for Exact {
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict {
        if example.target.same_words(prediction) {
            return Verdict::right();
        }
        let mut said = prediction.split_whitespace();
        for (i, wanted) in example.target.words().enumerate() {
            match said.next() {
                Some(word) if word == wanted => {}
                Some(word) => {
                    let shown = truncate(word, 40);
                    return Verdict::wrong(format!("token {} is {shown}, not {wanted}", i + 1));
                }
                None if i == 0 => return Verdict::wrong("empty prediction"),
                None => {
                    return Verdict::wrong(format!(
                        "ends after {i} of {} tokens",
                        example.target.ids().len()
                    ));
                }
            }
        }
        let extra = said.count();
        Verdict::wrong(format!("{extra} token{} too many", if extra == 1 { "" } else { "s" }))
    }
}
