//! The API key, in a type that cannot be printed.

use std::fmt;

use wug_data::{Error, Result};

/// An API key, read from the environment and never written anywhere: it has no `Display`, no `Serialize`, its `Debug`
/// hides it, and it is removed from whatever a server sends back.
///
/// ```
/// let key = wug_llm::Key::from_env("WUG_LLM_NO_SUCH_VARIABLE")?;
/// assert_eq!(format!("{key:?}"), "Key(none)");
/// # Ok::<(), wug_data::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Key(Option<String>);

/// Shorter keys are placeholders for local servers; redacting `x` would destroy replies.
const SHORTEST_SECRET: usize = 6;

impl Key {
    /// No key, for servers that want none.
    pub fn none() -> Self {
        Self(None)
    }

    /// The key in this environment variable; none if it is not set or empty.
    pub fn from_env(variable: &str) -> Result<Self> {
        let unusable = |what| Error::usage(format!("the key in the environment variable {variable} {what}"));
        let value = match std::env::var(variable) {
            Ok(value) => value.trim().to_owned(),
            Err(std::env::VarError::NotPresent) => return Ok(Self(None)),
            Err(std::env::VarError::NotUnicode(_)) => return Err(unusable("is not UTF-8")),
        };
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unusable("has characters that no HTTP header can carry; is it a key?"));
        }
        Ok(Self((!value.is_empty()).then_some(value)))
    }

    /// Whether there is one.
    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// The value of the `Authorization` header.
    pub(crate) fn authorization(&self) -> Option<String> {
        self.0.as_ref().map(|key| format!("Bearer {key}"))
    }

    /// The text without the key, in case a server echoes it.
    pub(crate) fn redact(&self, text: String) -> String {
        match &self.0 {
            Some(key) if key.len() >= SHORTEST_SECRET && text.contains(key.as_str()) => {
                text.replace(key.as_str(), "[key]")
            }
            _ => text,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_some() { "Key(hidden)" } else { "Key(none)" })
    }
}

#[cfg(test)]
impl Key {
    pub(crate) fn secret(key: &str) -> Self {
        Self(Some(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_hides() {
        let key = Key::secret("sk-very-secret");
        assert_eq!(format!("{key:?}"), "Key(hidden)");
        assert_eq!(key.redact("Incorrect key sk-very-secret!".to_owned()), "Incorrect key [key]!");
        assert_eq!(Key::secret("x").redact("exact".to_owned()), "exact");
    }
}
