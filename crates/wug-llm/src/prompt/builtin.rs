//! The prompts that are part of the program, `prompts/*/*.toml`.

/// Styles that every benchmark has; HINT also has `gpt3-zero-shot` and `gpt3-zero-shot-cot`.
pub const STYLES: [&str; 3] = ["zero-shot", "few-shot", "chain-of-thought"];

macro_rules! prompts {
    ($($benchmark:literal: $($style:literal)*;)*) => {
        static PROMPTS: &[(&str, &str, &str)] = &[$($(
            ($benchmark, $style, include_str!(concat!("../../prompts/", $benchmark, "/", $style, ".toml"))),
        )*)*];
    };
}

prompts! {
    "scan": "zero-shot" "few-shot" "chain-of-thought";
    "nacs": "zero-shot" "few-shot" "chain-of-thought";
    "mt": "zero-shot" "few-shot" "chain-of-thought";
    "cogs": "zero-shot" "few-shot" "chain-of-thought";
    "recogs": "zero-shot" "few-shot" "chain-of-thought";
    "hint": "zero-shot" "few-shot" "chain-of-thought" "gpt3-zero-shot" "gpt3-zero-shot-cot";
    "hint-image": "zero-shot" "few-shot" "chain-of-thought";
    "mns": "zero-shot" "few-shot" "chain-of-thought";
    "any": "few-shot" "chain-of-thought";
}

/// The built-in prompts.
pub mod builtin_prompts {
    use wug_data::{Error, Result};

    use super::PROMPTS;
    use crate::Prompt;

    /// Benchmark, style and text of each. A benchmark whose inputs may be text or pictures has the name `NAME-image`
    /// for the latter; `any` is for benchmarks without prompts of their own.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        PROMPTS.iter().copied()
    }

    /// The prompt of a benchmark (`scan`, `hint-image`) in a style.
    ///
    /// ```
    /// let prompt = wug_llm::builtin_prompts::find("scan", "few-shot")?;
    /// assert!(prompt.examples.is_some());
    /// # Ok::<(), wug_data::Error>(())
    /// ```
    pub fn find(benchmark: &str, style: &str) -> Result<Prompt> {
        let home = if all().any(|(known, ..)| known == benchmark) { benchmark } else { "any" };
        if let Some((_, _, text)) = all().find(|(known, name, _)| *known == home && *name == style) {
            return Prompt::parse(&format!("{home}/{style}"), text);
        }
        let known: Vec<&str> = all().filter(|(known, ..)| *known == home).map(|(_, name, _)| name).collect();
        let shown = wug_data::truncate(style, 60);
        Err(Error::usage(format!(
            "{benchmark} has no prompt `{shown}`; there are: {}, or the path of a file ending in .toml",
            known.join(", ")
        )))
    }
}
