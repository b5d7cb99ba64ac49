use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use wug_data::{Manifest, Result};

use crate::Source;

/// The fewest digits of a hash that name a draw.
const LEAST_DIGITS: usize = 8;

/// Which draw of a dataset examples are of: ids say where an example stands in its part, not of which draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    /// The seed, or `official`; absent where data were read that do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<Value>,
    /// The folder or file that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
}

impl Draw {
    /// The draw that a source gives. A folder that wug wrote says which one it has.
    pub fn of(source: &Source) -> Result<Self> {
        Ok(match source {
            Source::Seed(seed) => Self { seed: Some((*seed).into()), data: None },
            Source::Official => Self { seed: Some("official".into()), data: None },
            Source::Folder(folder, _) => {
                let manifest = if folder.is_dir() { Manifest::read(folder)? } else { None };
                Self { seed: manifest.and_then(|manifest| manifest.seed), data: Some(folder.clone()) }
            }
        })
    }

    /// Examples of a file.
    pub fn of_file(file: &Path) -> Self {
        Self { seed: None, data: Some(file.to_owned()) }
    }

    /// Checks what predictions say about their draw: a seed, `official`, or the beginning of the hash of their part.
    pub fn check(&self, said: &str, part: &str, sha256: &str) -> std::result::Result<(), String> {
        if let Some(digits) = said.strip_prefix("sha256:") {
            let fits =
                digits.len() >= LEAST_DIGITS && sha256.trim_start_matches("sha256:").starts_with(digits);
            return if fits {
                Ok(())
            } else {
                Err(format!("is of the draw {said}, but {part} of {self} is {sha256}"))
            };
        }
        let seed = said.parse::<u64>().map_or_else(|_| Value::from(said), Value::from);
        if !seed.is_u64() && said != "official" {
            return Err(format!("the draw `{said}` is no seed, `official` or `sha256:...`"));
        }
        match &self.seed {
            Some(own) if *own == seed => Ok(()),
            Some(_) => Err(format!("is of seed {said}, but scored against {self}: give --seed {said}")),
            None => Err(format!("is of seed {said}, but scored against {self}, which has none")),
        }
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = match &self.seed {
            Some(Value::String(word)) => format!("seed {word}"),
            Some(seed) => format!("seed {seed}"),
            None => String::new(),
        };
        match (&self.data, seed.is_empty()) {
            (Some(data), true) => write!(f, "{}", data.display()),
            (Some(data), false) => write!(f, "{} ({seed})", data.display()),
            (None, _) => f.write_str(&seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_of_another_draw_are_refused() {
        let draw = Draw::of(&Source::Seed(3)).unwrap();
        let check = |said: &str| draw.check(said, "test", "sha256:0123456789abcdef");
        assert_eq!(check("3"), Ok(()));
        assert_eq!(check("sha256:01234567"), Ok(()));
        assert!(check("0").unwrap_err().contains("is of seed 0, but scored against seed 3: give --seed 0"));
        assert!(check("sha256:0123").unwrap_err().contains("but test of seed 3 is sha256:0123456789abcdef"));
        assert!(check("sha256:1123456789abcdef").is_err() && check("official").is_err());
        assert!(check("three").unwrap_err().contains("is no seed"));
    }
}
