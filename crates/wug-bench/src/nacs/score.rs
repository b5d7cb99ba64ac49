//! When a prediction is right: it is a command, and it means the input.

use wug_data::Example;

use crate::scan::meaning::with_actions;
use crate::{Judge, Metric, Verdict};

/// Back-mapping accuracy.
pub const MEANING: Metric =
    Metric { name: "meaning", about: "the prediction is a command whose actions are the input" };

/// Judges by interpreting the prediction. What is no command is wrong everywhere, also where the official metric, which
/// maps unknown commands and `dab` alike to nothing, takes it for right.
pub struct Meaning;

impl Judge for Meaning {
    fn judge(&self, example: &Example<'_>, prediction: &str) -> Verdict {
        let mut same = false;
        let parsed = with_actions(prediction, |actions| {
            same = actions.eq(example.input.words());
        });
        match parsed {
            Err(reason) => Verdict::wrong(reason),
            Ok(()) if same => Verdict::right(),
            Ok(()) => Verdict::wrong("a command with other actions"),
        }
    }
}
