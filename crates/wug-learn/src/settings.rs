//! Settings of learners: how `--set NAME=VALUE` is read and validated.

use std::collections::BTreeMap;

use serde_json::Value;

use wug_data::{Error, Result, parse_duration};

use crate::About;

/// Something that may be set, `--set NAME=VALUE`.
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

/// Settings that say how to execute a run and do not change its result.
pub const EXECUTION_SETTINGS: &[&str] = &[
    "cache",
    "checkpoint",
    "concurrency",
    "device",
    "key-from",
    "max-cost",
    "max-tokens",
    "price-in",
    "price-out",
    "retries",
    "timeout",
];

/// Two ways to say one thing. Who gives one of them means it: a preset's value of the other no longer counts.
const ALTERNATIVES: &[(&str, &str)] =
    &[("steps", "epochs"), ("validate", "validate-epochs"), ("warmup", "warmup-share")];

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

    fn read(&self, text: &str) -> Option<Value> {
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

/// The value of every setting of a learner.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    values: BTreeMap<&'static str, Value>,
    defaults: BTreeMap<&'static str, Value>,
}

impl Settings {
    /// Reads `name=value` texts; what is not given has its default.
    ///
    /// ```
    /// let about = wug_learn::learner("search-pure")?.about();
    /// let settings = wug_learn::Settings::read(about, &["steps=500".to_owned()])?;
    /// assert_eq!(settings.whole("steps"), 500);
    ///
    /// let error = wug_learn::Settings::read(about, &["step=500".to_owned()]).unwrap_err();
    /// assert_eq!(error.to_string(), "search-pure has no setting `step`; there is: steps");
    /// # Ok::<(), wug_data::Error>(())
    /// ```
    pub fn read(about: &About, given: &[String]) -> Result<Self> {
        Self::read_over(about, &BTreeMap::new(), given)
    }

    /// The same where what is not given is as in `base`, the settings of another run of the learner.
    pub fn read_over(about: &About, base: &BTreeMap<String, Value>, given: &[String]) -> Result<Self> {
        let Self { mut values, defaults } = Self::from_map(about, base)?;
        let mut read = Vec::new();
        for text in given {
            let (setting, value) = one(about, text)?;
            if read.iter().any(|(known, _): &(&Setting, Value)| known.name == setting.name) {
                return Err(Error::usage(format!("`{}` is set twice", setting.name)));
            }
            read.push((setting, value));
        }
        for (setting, value) in &read {
            if let SettingKind::Preset(presets) = setting.default {
                let preset = presets().iter().find(|preset| *value == preset.name);
                for text in preset.map_or(&[][..], |preset| &preset.stands_for) {
                    let (setting, value) = one(about, text)?;
                    values.insert(setting.name, value);
                }
            }
        }
        let is_given = |name: &str| read.iter().any(|(setting, _)| setting.name == name);
        let both_ways = ALTERNATIVES.iter().flat_map(|&(one, other)| [(one, other), (other, one)]);
        for (given, other) in both_ways.filter(|(given, other)| is_given(given) && !is_given(other)) {
            debug_assert!(values.contains_key(given));
            if let Some(default) = defaults.get(other) {
                values.insert(about.setting(other).expect("it has a default").name, default.clone());
            }
        }
        for (setting, value) in read {
            values.insert(setting.name, value);
        }
        Ok(Self { values, defaults })
    }

    /// Reads values as [`Settings::to_map`] gives them; what is absent has its default.
    pub fn from_map(about: &About, map: &BTreeMap<String, Value>) -> Result<Self> {
        let defaults: BTreeMap<&'static str, Value> =
            about.settings.iter().map(|setting| (setting.name, setting.default.value())).collect();
        let mut settings = Self { values: defaults.clone(), defaults };
        for (name, value) in map {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let (setting, value) = one(about, &format!("{name}={text}"))?;
            settings.values.insert(setting.name, value);
        }
        Ok(settings)
    }

    /// Every setting with its value.
    pub fn to_map(&self) -> BTreeMap<String, Value> {
        self.values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    /// Every setting with its value.
    pub fn values(&self) -> &BTreeMap<&'static str, Value> {
        &self.values
    }

    /// Every setting with the value that it has if nothing is given.
    pub fn defaults(&self) -> &BTreeMap<&'static str, Value> {
        &self.defaults
    }

    /// A whole number, or a time in seconds.
    ///
    /// # Panics
    /// If the learner has no such setting: a mistake in its code.
    pub fn whole(&self, name: &str) -> u64 {
        self.values[name].as_u64().expect("a whole number")
    }

    /// A number.
    ///
    /// # Panics
    /// If the learner has no such setting.
    pub fn number(&self, name: &str) -> f64 {
        self.values[name].as_f64().expect("a number")
    }

    /// A flag.
    ///
    /// # Panics
    /// If the learner has no such setting.
    pub fn flag(&self, name: &str) -> bool {
        self.values[name].as_bool().expect("a flag")
    }

    /// A word or a text.
    ///
    /// # Panics
    /// If the learner has no such setting.
    pub fn word(&self, name: &str) -> &str {
        self.values[name].as_str().expect("a word")
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

/// One `name=value`.
fn one<'a>(about: &'a About, text: &str) -> Result<(&'a Setting, Value)> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| Error::usage(format!("`{text}` is no setting: expected name=value")))?;
    let Some(setting) = about.setting(name) else {
        let known: Vec<&str> = about.settings.iter().map(|setting| setting.name).collect();
        let nearest = known.iter().min_by_key(|known| strsim::osa_distance(known, name));
        let nearest = nearest.filter(|known| strsim::osa_distance(known, name) <= 1 + name.len() / 3);
        let hint = nearest.map_or_else(String::new, |known| format!("; did you mean {known}?"));
        let known = match known.as_slice() {
            [] => "; it has none".to_owned(),
            [one] => format!("; there is: {one}"),
            all => format!("{hint} (there are: {})", all.join(", ")),
        };
        return Err(Error::usage(format!("{} has no setting `{name}`{known}", about.name)));
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
    fn times_may_have_a_unit() {
        let about = crate::learner("induced").unwrap().about();
        let budget = |text: &str| Settings::read(about, &[format!("budget={text}")]);
        for (text, seconds) in [("60", 60), ("60s", 60), ("5m", 300), ("1h", 3600)] {
            assert_eq!(budget(text).unwrap().whole("budget"), seconds, "{text}");
        }
        for text in ["", "s", "0", "-1s", "1.5s", "99h", "9999999999999999h", "1 s"] {
            let error = budget(text).unwrap_err().to_string();
            assert!(error.contains("such as 90, 90s, 5m or 2h"), "{error}");
        }
    }

    #[test]
    fn the_words_of_a_setting_are_listed_as_alternatives() {
        let about = crate::learner("transformer").unwrap().about();
        let error = |text: &str| Settings::read(about, &[text.to_owned()]).unwrap_err().to_string();
        assert_eq!(error("tied=maybe"), "`tied=maybe`: expected style or no for tied");
        assert!(error("style=none").contains(" or "), "{}", error("style=none"));
        assert_eq!(either(&["a", "b", "c"]), "a, b or c");
    }

    #[test]
    fn what_is_given_counts_before_a_protocol() {
        let read = |learner: &str, given: &[&str]| {
            let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
            Settings::read(crate::learner(learner).unwrap().about(), &given).unwrap()
        };
        // The protocol counts epochs, which otherwise take the place of steps.
        let settings = read("gru", &["protocol=nacs", "steps=10"]);
        assert_eq!((settings.whole("steps"), settings.whole("epochs")), (10, 0));
        let settings = read("gru", &["protocol=nacs"]);
        assert_eq!((settings.whole("epochs"), settings.whole("validate-epochs")), (50, 1));
        let settings = read("gru", &["protocol=nacs", "validate=7"]);
        assert_eq!((settings.whole("validate"), settings.whole("validate-epochs")), (7, 0));
        let settings = read("transformer", &["protocol=recogs", "warmup=3"]);
        assert_eq!((settings.whole("warmup"), settings.number("warmup-share")), (3, 0.0));
    }

    #[test]
    fn settings_come_back_from_their_record() {
        let about = crate::learner("lstm").unwrap().about();
        let settings = Settings::read(about, &["protocol=nacs".to_owned(), "steps=10".to_owned()]).unwrap();
        assert_eq!(Settings::from_map(about, &settings.to_map()).unwrap(), settings);
        let wrong = BTreeMap::from([("steps".to_owned(), Value::from(-3))]);
        assert!(Settings::from_map(about, &wrong).is_err());
    }

    #[test]
    fn no_preset_can_be_written() {
        let about = crate::learner("transformer").unwrap().about();
        let read = |given: &[String]| Settings::read(about, given).unwrap();
        assert_eq!(read(&["protocol=none".to_owned()]), read(&[]));
    }
}
