//! How an answer is read out of a reply. Nothing is ever executed.

use serde::Deserialize;

/// Rules by which a reply becomes an answer: the first of `read` that finds one wins.
///
/// | rule | finds |
/// |---|---|
/// | `marker` | what follows the last marker (`Answer:`, case ignored): the rest of its line, else the code fence or line below |
/// | `boxed` | the content of the last `\boxed{...}` |
/// | `fence` | the content of the last code fence |
/// | `last-line` | the last line that is not empty |
/// | `whole` | all of it |
/// | `last-float` | the last word that Python's `float()` accepts, as in the notebook of HINT's GPT-3 rows |
///
/// Surrounding Markdown (`**`, backticks, quotes, `$`) is stripped and runs of white space become one space. With
/// `form = "integer"` an answer is the last whole number in what was found (`1,234` and `= 12.` count, `3.5` does not).
/// A text in which no rule finds anything is unparsable.
///
/// A reply that ended at the maximum number of tokens is [cut off](crate::State::CutOff), unless `cut-off = "read"`.
///
/// ```
/// use wug_llm::Reading;
///
/// let reading = Reading::default();
/// let reply = "Jumping twice is two actions.\n\n**Answer:** `I_JUMP  I_JUMP`";
/// assert_eq!(reading.read(reply).as_deref(), Some("I_JUMP I_JUMP"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Reading {
    read: Vec<Rule>,
    markers: Vec<String>,
    form: Form,
    cut_off: CutOff,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rule {
    Marker,
    Boxed,
    Fence,
    LastLine,
    Whole,
    LastFloat,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Form {
    #[default]
    Text,
    Integer,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CutOff {
    #[default]
    State,
    Read,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            read: vec![Rule::Marker, Rule::Fence, Rule::LastLine],
            markers: vec!["Answer:".to_owned()],
            form: Form::Text,
            cut_off: CutOff::State,
        }
    }
}

/// Longer answers are no answers: the longest ground truth of any benchmark has a few kilobytes.
const MAX_ANSWER: usize = 64 << 10;

impl Reading {
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.read.is_empty() {
            return Err("[answer] read: no rule".to_owned());
        }
        if self.read.contains(&Rule::Marker) && self.markers.iter().all(|marker| marker.trim().is_empty()) {
            return Err("[answer] markers: none".to_owned());
        }
        Ok(())
    }

    /// Whether a reply that ended at the maximum number of tokens is read all the same.
    pub fn reads_cut_off(&self) -> bool {
        self.cut_off == CutOff::Read
    }

    /// The answer in a reply's text (without its thinking), if there is one.
    pub fn read(&self, reply: &str) -> Option<String> {
        self.read.iter().find_map(|rule| {
            let found = match rule {
                Rule::Marker => self.after_marker(reply),
                Rule::Boxed => boxed(reply),
                Rule::Fence => last_fence(reply),
                Rule::LastLine => reply.lines().map(strip).rfind(|line| !line.is_empty()),
                Rule::Whole => Some(reply),
                Rule::LastFloat => return last_float(reply),
            };
            let clean = strip(found?);
            let answer = match self.form {
                Form::Text => clean.split_whitespace().collect::<Vec<_>>().join(" "),
                Form::Integer => last_integer(clean)?,
            };
            (!answer.is_empty() && answer.len() <= MAX_ANSWER).then_some(answer)
        })
    }

    /// What follows the last marker: on its line, or if nothing is there, in the fence or on the line below.
    fn after_marker<'a>(&self, reply: &'a str) -> Option<&'a str> {
        let markers = self.markers.iter().filter(|marker| !marker.trim().is_empty());
        let end = markers.filter_map(|marker| rfind_ignoring_case(reply, marker)).max()?;
        let rest = &reply[end..];
        let line = rest.lines().next().unwrap_or("");
        if !strip(line).is_empty() {
            return Some(line);
        }
        let below = rest.get(line.len()..)?;
        if below.trim_start().starts_with("```") || rest.trim_start().starts_with("```") {
            return last_fence(rest);
        }
        below.lines().find(|line| !strip(line).is_empty())
    }
}

/// The end of the last occurrence of an ASCII marker, whatever its case.
fn rfind_ignoring_case(text: &str, marker: &str) -> Option<usize> {
    let (text, marker) = (text.as_bytes(), marker.as_bytes());
    let windows = text.windows(marker.len());
    windows.rev().position(|window| window.eq_ignore_ascii_case(marker)).map(|from_end| text.len() - from_end)
}

/// The inside of the last code fence; one that is not closed reaches to the end.
fn last_fence(text: &str) -> Option<&str> {
    let fences: Vec<usize> = text.match_indices("```").map(|(at, _)| at).collect();
    // Fences come in pairs; an odd one at the end opens what is not closed.
    let open = fences.len().checked_sub(2 - fences.len() % 2)?;
    let inside = &text[fences[open] + 3..fences.get(open + 1).copied().unwrap_or(text.len())];
    // The rest of the opening line names a language, unless it is all there is.
    match inside.split_once('\n') {
        Some((_, below)) => Some(below),
        None => Some(inside),
    }
}

/// The inside of the last `\boxed{...}`, braces within it balanced.
fn boxed(text: &str) -> Option<&str> {
    let inside = &text[text.rfind("\\boxed{")? + "\\boxed{".len()..];
    let mut depth = 1;
    for (at, character) in inside.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            return Some(&inside[..at]);
        }
    }
    None
}

/// Without surrounding white space and Markdown. A single asterisk at the beginning stays: logical forms of COGS begin
/// with one.
fn strip(text: &str) -> &str {
    let mut text = text;
    loop {
        let mut rest = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '$'));
        rest = rest.strip_prefix("**").unwrap_or(rest);
        rest = rest.strip_suffix("**").unwrap_or(rest);
        let italic = rest.strip_prefix('*').and_then(|rest| rest.strip_suffix('*'));
        rest = italic.filter(|inner| !inner.starts_with(' ')).unwrap_or(rest);
        if rest.len() == text.len() {
            return rest;
        }
        text = rest;
    }
}

/// The last whole number: digits with an optional sign, perhaps grouped by commas, not part of a word or a fraction.
fn last_integer(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '-' | '_');
    text.split(|c: char| !is_part(c)).rev().find_map(|word| {
        let word = word.trim_end_matches(['.', ',']);
        let (sign, digits) = word.strip_prefix('-').map_or(("", word), |digits| ("-", digits));
        let grouped = digits.split(',').enumerate().all(|(i, group)| {
            let long_enough =
                if digits.contains(',') && i > 0 { group.len() == 3 } else { !group.is_empty() };
            long_enough && group.bytes().all(|byte| byte.is_ascii_digit())
        });
        grouped.then(|| format!("{sign}{}", digits.replace(',', "")))
    })
}

/// The rule of HINT's notebook: strip spaces and full stops, newlines to spaces, the last word that `float()` accepts.
/// A whole value is written without its fraction, as the scores of HINT want it.
fn last_float(text: &str) -> Option<String> {
    let text = text.trim_matches([' ', '.']).replace('\n', " ");
    let value = text.split(' ').rev().find_map(python_float)?;
    Some(if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value}") })
}

/// What Python's `float()` makes of a text: underscores between digits are allowed, hexadecimal is not.
fn python_float(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let named = ["inf", "infinity", "nan"].iter().any(|name| unsigned.eq_ignore_ascii_case(name));
    let bytes = text.as_bytes();
    let underscores_separate = bytes.iter().enumerate().all(|(i, &byte)| {
        let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        byte != b'_' || (digit(i.checked_sub(1)) && digit(Some(i + 1)))
    });
    let numeric = bytes.iter().all(|byte| byte.is_ascii_digit() || b"+-._eE".contains(byte));
    if named || (numeric && underscores_separate) { text.replace('_', "").parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reading(rules: &str) -> Reading {
        toml::from_str(rules).unwrap()
    }

    #[test]
    fn text_answers_are_found_where_models_put_them() {
        let default = Reading::default();
        for (reply, answer) in [
            ("I_JUMP", "I_JUMP"),
            ("Sure!\n\nI_JUMP I_RUN\n", "I_JUMP I_RUN"),
            ("Answer: I_JUMP", "I_JUMP"),
            ("ANSWER: I_JUMP\nHope this helps!", "I_JUMP"),
            ("Answer: I_RUN? No.\nFinal answer: I_JUMP", "I_JUMP"),
            ("**Answer:** I_JUMP", "I_JUMP"),
            ("**Answer: I_JUMP**", "I_JUMP"),
            ("Answer:\n```\nI_JUMP\nI_RUN\n```\nDone.", "I_JUMP I_RUN"),
            ("Answer: ```I_JUMP```", "I_JUMP"),
            ("Answer:\n\nI_JUMP\n", "I_JUMP"),
            ("Here:\n```text\nI_JUMP\n```\nThat is it.", "I_JUMP"),
            ("```\nI_RUN\n```\nrather\n```\nI_JUMP", "I_JUMP"),
            ("`I_JUMP`", "I_JUMP"),
            ("*I_JUMP*", "I_JUMP"),
            ("**Answer:** * girl ( x _ 1 ) ; run", "* girl ( x _ 1 ) ; run"),
            ("* girl ( x _ 1 )", "* girl ( x _ 1 )"),
            ("Größe — Answer: é", "é"),
        ] {
            assert_eq!(default.read(reply).as_deref(), Some(answer), "{reply}");
        }
        for reply in ["", " \n\t", "Answer:", "Answer:\n\n", "``` ```", "**"] {
            assert_eq!(default.read(reply).filter(|answer| answer != "Answer:"), None, "{reply:?}");
        }
        assert_eq!(default.read(&"x".repeat(MAX_ANSWER + 1)), None);
    }

    #[test]
    fn integers_are_found_among_words() {
        let reading = reading("read = ['marker', 'boxed', 'last-line']\nform = 'integer'");
        for (reply, answer) in [
            ("Answer: 12", Some("12")),
            ("Answer: 3 * 4 = 12.", Some("12")),
            ("Answer: 1,234", Some("1234")),
            ("So we get \\boxed{12}.", Some("12")),
            ("\\boxed{\\text{x}{ 7 }}", Some("7")),
            ("The result is -3", Some("-3")),
            ("Answer: 3.5", None),
            ("Answer: twelve", None),
            ("Answer: 12a", None),
            ("Answer: 1,23", None),
        ] {
            assert_eq!(reading.read(reply).as_deref(), answer, "{reply}");
        }
    }

    #[test]
    fn the_notebook_takes_the_last_float() {
        let reading = reading("read = ['last-float']\ncut-off = 'read'");
        assert!(reading.reads_cut_off());
        for (reply, answer) in [
            (" 12.", Some("12")),
            (" 6\n\nThe answer is 7", Some("7")),
            ("7. That is all", Some("7")),
            (" 3.75 apples", Some("3.75")),
            (" 1e3", Some("1000")),
            (" 1_000", Some("1000")),
            (" _1", None),
            (" 1,000", None),
            (" 0x10", None),
            (" -4.", Some("-4")),
            (" +.5", Some("0.5")),
            ("", None),
        ] {
            assert_eq!(reading.read(reply).as_deref(), answer, "{reply}");
        }
    }

    proptest! {
        #[test]
        fn no_reply_panics(reply in "(Answer:|\\\\boxed\\{|```|\\{|\\}|\n| |[0-9,.-]|é|[a-z*`$]){0,40}") {
            for rules in ["", "read = ['boxed', 'fence', 'whole', 'last-float']", "form = 'integer'"] {
                if let Some(answer) = reading(rules).read(&reply) {
                    prop_assert!(!answer.is_empty());
                }
            }
        }
    }
}
