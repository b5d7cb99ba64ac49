//! Settings of learners and of datasets: their types, and how `NAME=VALUE` is read and validated.

use serde_json::Value;

use crate::{Error, Result, parse_duration};

/// Something that may be set: `--set NAME=VALUE` of a learner, `--with NAME=VALUE` of a dataset.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Lower-case name with dashes.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its type and what it is unless it is set.
    pub default: SettingKind,
}

/// The type of a setting and its value unless it is set.
#[derive(Debug, Clone, Copy)]
pub enum SettingKind {
    /// A whole number.
    Whole {
        /// Unless set.
        default: u64,
        /// The least that makes sense.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A number.
    Number {
        /// Unless set.
        default: f64,
        /// The least that makes sense.
        least: f64,
        /// The most.
        most: f64,
    },
    /// A time in whole seconds: `90`, `90s`, `5m`, `2h` or `1h30m`.
    Seconds {
        /// Unless set.
        default: u64,
        /// The least that makes sense.
        least: u64,
        /// The most.
        most: u64,
    },
    /// `true` or `false`; false unless set.
    Flag,
    /// Any text.
    Text(&'static str),
    /// One of some words, the first unless set.
    Word(&'static [&'static str]),
    /// One of some words, each of which stands for values of other settings; none unless set. What is set beside it has
    /// precedence.
    Preset(fn() -> &'static [Preset]),
}

/// A name for values of several settings: the protocol of a paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    /// What is written.
    pub name: String,
    /// The values that it stands for, as they would be written, `steps=100000`.
    pub stands_for: Vec<String>,
}

/// No preset: what is recorded of a run can be given again.
const NONE: &str = "none";

impl SettingKind {
    /// The value.
    pub fn value(&self) -> Value {
        match self {
            Self::Whole { default, .. } | Self::Seconds { default, .. } => (*default).into(),
            Self::Number { default, .. } => (*default).into(),
            Self::Flag => false.into(),
            Self::Text(default) => (*default).into(),
            Self::Word(words) => words[0].into(),
            Self::Preset(_) => NONE.into(),
        }
    }

    /// What may be written, for a message.
    pub fn expects(&self) -> String {
        match self {
            Self::Whole { least, most: u64::MAX, .. } => format!("a whole number from {least}"),
            Self::Whole { least, most, .. } => format!("a whole number from {least} to {most}"),
            Self::Number { least, most, .. } => format!("a number from {least} to {most}"),
            Self::Seconds { least, most, .. } => {
                format!("a time from {least}s to {most}s (such as 90, 90s, 5m or 2h)")
            }
            Self::Flag => "true or false".to_owned(),
            Self::Text(_) => "a text".to_owned(),
            Self::Word(words) => either(words),
            Self::Preset(presets) => either(&names(presets()).collect::<Vec<_>>()),
        }
    }

    /// Reads what was written; `None` if it is not what this kind expects.
    pub fn read(&self, text: &str) -> Option<Value> {
        match self {
            Self::Whole { least, most, .. } => text
                .parse()
                .ok()
                .filter(|number| (least..=most).contains(&number))
                .map(|number: u64| number.into()),
            Self::Number { least, most, .. } => {
                let fits = |number: &f64| (least..=most).contains(&number);
                text.parse().ok().filter(fits).map(|number: f64| number.into())
            }
            Self::Seconds { least, most, .. } => {
                let seconds = parse_duration(text).map(|time| time.as_secs());
                seconds.filter(|seconds| (least..=most).contains(&seconds)).map(Value::from)
            }
            Self::Flag => text.parse().ok().map(|flag: bool| flag.into()),
            Self::Text(_) => Some(text.into()),
            Self::Word(words) => words.iter().find(|word| **word == text).map(|word| (*word).into()),
            Self::Preset(presets) => names(presets()).find(|name| *name == text).map(Value::from),
        }
    }
}

/// What may be written for a preset.
fn names(presets: &'static [Preset]) -> impl Iterator<Item = &'static str> {
    presets.iter().map(|preset| preset.name.as_str()).chain([NONE])
}

/// `a, b or c`.
fn either(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Reads one `name=value` of `owner`, which has these settings.
///
/// ```
/// use wug_data::{Setting, SettingKind, read_setting};
///
/// let kind = SettingKind::Whole { default: 64, least: 1, most: 4096 };
/// let settings = [Setting { name: "batch", about: "examples of an update", default: kind }];
/// assert_eq!(read_setting("lstm", &settings, "batch=32")?.1, 32);
/// let error = read_setting("lstm", &settings, "batch=0").unwrap_err();
/// assert_eq!(error.to_string(), "`batch=0`: expected a whole number from 1 to 4096 for batch");
/// # Ok::<(), wug_data::Error>(())
/// ```
pub fn read_setting<'a>(owner: &str, settings: &'a [Setting], text: &str) -> Result<(&'a Setting, Value)> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| Error::usage(format!("`{text}` is no setting: expected name=value")))?;
    let Some(setting) = settings.iter().find(|setting| setting.name == name) else {
        let known: Vec<&str> = settings.iter().map(|setting| setting.name).collect();
        let nearest = known.iter().min_by_key(|known| strsim::osa_distance(known, name));
        let nearest = nearest.filter(|known| strsim::osa_distance(known, name) <= 1 + name.len() / 3);
        let hint = nearest.map_or_else(String::new, |known| format!("; did you mean {known}?"));
        let known = match known.as_slice() {
            [] => "; it has none".to_owned(),
            [one] => format!("; there is: {one}"),
            all => format!("{hint} (there are: {})", all.join(", ")),
        };
        return Err(Error::usage(format!("{owner} has no setting `{name}`{known}")));
    };
    let value = setting.default.read(value).ok_or_else(|| {
        Error::usage(format!("`{text}`: expected {} for {name}", setting.default.expects()))
    })?;
    Ok((setting, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_listed() {
        assert_eq!(either(&["a", "b", "c"]), "a, b or c");
    }
}
