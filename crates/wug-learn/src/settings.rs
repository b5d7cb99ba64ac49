//! The settings of a learner: defaults, presets and what `--set NAME=VALUE` gives. How one is read and validated is in
//! `wug_data::settings`.

use std::collections::BTreeMap;

use serde_json::Value;

use wug_data::{Error, Result, Setting, SettingKind, read_setting};

use crate::LearnerInfo;

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
    pub fn read(about: &LearnerInfo, given: &[String]) -> Result<Self> {
        Self::read_over(about, &BTreeMap::new(), given)
    }

    /// The same where what is not given is as in `base`, the settings of another run of the learner.
    pub fn read_over(about: &LearnerInfo, base: &BTreeMap<String, Value>, given: &[String]) -> Result<Self> {
        let Self { mut values, defaults } = Self::from_map(about, base)?;
        let mut read = Vec::new();
        for text in given {
            let (setting, value) = read_setting(about.name, about.settings, text)?;
            if read.iter().any(|(known, _): &(&Setting, Value)| known.name == setting.name) {
                return Err(Error::usage(format!("`{}` is set twice", setting.name)));
            }
            read.push((setting, value));
        }
        for (setting, value) in &read {
            if let SettingKind::Preset(presets) = setting.default {
                let preset = presets().iter().find(|preset| *value == preset.name);
                for text in preset.map_or(&[][..], |preset| &preset.stands_for) {
                    let (setting, value) = read_setting(about.name, about.settings, text)?;
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
    pub fn from_map(about: &LearnerInfo, map: &BTreeMap<String, Value>) -> Result<Self> {
        let defaults: BTreeMap<&'static str, Value> =
            about.settings.iter().map(|setting| (setting.name, setting.default.value())).collect();
        let mut settings = Self { values: defaults.clone(), defaults };
        for (name, value) in map {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let (setting, value) = read_setting(about.name, about.settings, &format!("{name}={text}"))?;
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
