use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use wug_data::{Error, Manifest, Result, Setting, read_setting};

/// What a user chose: `key=value`, in the order given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataSettings {
    chosen: Vec<(String, String)>,
}

impl DataSettings {
    /// The choices that a folder was written with, if wug wrote it.
    pub fn written_in(folder: &Path) -> Result<Self> {
        let manifest = if folder.is_dir() { Manifest::read(folder)? } else { None };
        let mut settings = Self::default();
        for chosen in manifest.into_iter().flat_map(|manifest| manifest.settings) {
            if let Some((key, value)) = chosen.split_once('=') {
                settings.set(key, value);
            }
        }
        Ok(settings)
    }

    /// Sets a key; a later value replaces an earlier one.
    pub fn set(&mut self, key: &str, value: &str) {
        self.chosen.retain(|(known, _)| known != key);
        self.chosen.push((key.to_owned(), value.to_owned()));
    }

    /// The value of a key, if it was chosen.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.chosen.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Replaces `value` by what was chosen for a key.
    pub fn apply<T: FromStr>(&self, key: &str, value: &mut T) -> Result<()> {
        if let Some(text) = self.get(key) {
            *value = text.parse().map_err(|_| {
                // Whole numbers do not read what has a point or is below 0.
                let is_whole = "0.5".parse::<T>().is_err();
                let expected = if is_whole { "a whole number, 0 or more" } else { "a number" };
                Error::usage(format!("{key}={text}: expected {expected}"))
            })?;
        }
        Ok(())
    }

    /// Each choice by its key.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.chosen.iter().cloned().collect()
    }

    /// Whether nothing was chosen.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Each choice as `key=value`.
    pub fn typed(&self) -> Vec<String> {
        self.chosen.iter().map(|(key, value)| format!("{key}={value}")).collect()
    }

    /// Fails if a key is none of these settings, or its value not one that it may have.
    pub fn check(&self, benchmark: &str, known: &[Setting]) -> Result<()> {
        self.typed().iter().try_for_each(|chosen| read_setting(benchmark, known, chosen).map(|_| ()))
    }
}
