//! When a prediction is right: it is a command, and it means the input.

use std::collections::HashMap;
use std::sync::LazyLock;

use wug_data::Example;

use crate::scan::language::LANGUAGE;
use crate::scan::meaning::with_actions;
use crate::{Judge, Metric, Verdict};

/// Back-mapping accuracy.
pub const MEANING: Metric = Metric {
    name: "meaning",
    about: "the prediction is a command whose actions are the input",
    judge: || Box::new(Meaning),
};

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
            Ok(()) if same => Verdict::right(),
            _ if is_mixture(&example.input.to_string(), prediction) => Verdict::wrong(
                "a mixture: each word is at its place in a right command, but not in the same one",
            ),
            Ok(()) => Verdict::wrong("a command with other actions"),
            Err(reason) => Verdict::wrong(reason),
        }
    }
}

/// The rows of the commands with these actions.
static COMMANDS: LazyLock<HashMap<String, Vec<u32>>> = LazyLock::new(|| {
    let mut commands: HashMap<String, Vec<u32>> = HashMap::new();
    for row in 0..LANGUAGE.size() {
        commands.entry(LANGUAGE.table.targets.get(row).to_string()).or_default().push(row);
    }
    commands
});

/// Whether every word of a prediction, and its end, is at its place in some command with these actions: what a decoder says
/// that knows the right commands and not which of them it has begun.
fn is_mixture(actions: &str, prediction: &str) -> bool {
    let rows = COMMANDS.get(actions).map_or(&[][..], Vec::as_slice);
    let word_at = |row: u32, i: usize| LANGUAGE.table.inputs.get(row).words().nth(i);
    let words = prediction.split_whitespace().map(Some).chain([None]);
    words.enumerate().all(|(i, word)| rows.iter().any(|&row| word_at(row, i) == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_has_each_word_at_its_place() {
        for (prediction, mixed) in [
            ("jump after walk", true),
            ("walk and walk", true),
            ("walk and jump twice", false),
            ("walk and", false),
            ("walk look jump", false),
            ("", false),
        ] {
            // `jump and walk` and `walk after jump`.
            assert_eq!(is_mixture("I_JUMP I_WALK", prediction), mixed, "{prediction}");
        }
        assert!(!is_mixture("I_DAB", "dab"), "no command of SCAN");
        assert!(!is_mixture("I_JUMP I_WALK", &"jump ".repeat(100_000)));
    }
}
