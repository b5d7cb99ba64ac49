//! `cargo +nightly fuzz run grammar`: any text is a grammar or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wug_grammar::{Grammar, Parser, Space, Strings};

fuzz_target!(|text: &str| {
    if text.len() < 2000
        && let Ok((grammar, words)) = Grammar::parse(text)
    {
        let _ = Strings::parse(&grammar, text);
        let Some(rule) = grammar.rules().first() else { return };
        let _ = Space::all(&grammar, rule.sort()).map(|space| space.count());
        if let Ok(parser) = Parser::new(&grammar, &words)
            && let Ok(sentence) = parser.words(text.get(..20).unwrap_or(text))
        {
            let _ = parser.parse(rule.sort(), &sentence).count();
        }
    }
});
