//! A random small language: a tree grammar read as words and as symbols.

use std::fmt::Write as _;

use wug_data::{Stream, Streams};
use wug_grammar::{Grammar, Strings};

/// A language with the words that training shows in one frame only.
pub(crate) struct Language {
    pub grammar: Grammar,
    pub words: Strings,
    pub symbols: Strings,
    /// Words of the source that training shows only in the plainest sentences.
    pub shy: Vec<String>,
    /// Names of the rules that make a sentence more than plain.
    pub rich: Vec<&'static str>,
}

/// Words that sound like words, each once.
struct Words {
    stream: Stream,
    used: Vec<String>,
}

impl Words {
    fn next(&mut self) -> String {
        loop {
            let syllables = 1 + self.stream.below(2);
            let mut word = String::new();
            for _ in 0..=syllables {
                word.push(*self.stream.choose(&['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 't', 'w', 'z']));
                word.push(*self.stream.choose(&['a', 'e', 'i', 'o', 'u']));
            }
            if !self.used.contains(&word) {
                self.used.push(word.clone());
                return word;
            }
        }
    }
}

/// The two readings of a language while it is drawn.
struct Draft {
    words: Words,
    rules: String,
    symbols: String,
}

impl Draft {
    /// A rule with its source and its target.
    fn rule(&mut self, name: &str, sort: &str, source: &str, target: &str, weight: f64) {
        let _ = writeln!(self.rules, "{name}: {sort} -> {source} [{weight}]");
        let _ = writeln!(self.symbols, "{name}: {target}");
    }

    /// Content words of a sort; each has a symbol that is spelled unlike it.
    fn content(&mut self, sort: &str, number: u64) -> Vec<String> {
        let mut all = Vec::new();
        for _ in 0..number {
            let (word, symbol) = (self.words.next(), self.words.next().to_uppercase());
            self.rule(&word, sort, &word, &symbol, 1.0);
            all.push(word);
        }
        all
    }
}

/// Draws the language of a seed.
pub(crate) fn draw(seed: u64) -> wug_grammar::Result<Language> {
    let streams = Streams::new("toy/random", "language", seed);
    let mut stream = streams.item(0);
    let words = Words { stream: streams.item(1), used: Vec::new() };
    let mut draft = Draft { words, rules: String::new(), symbols: String::new() };
    let mut rich = Vec::new();

    sentences(&mut draft, &mut stream, &mut rich);
    clauses(&mut draft, &mut stream);
    let genders = phrases(&mut draft, &mut stream, &mut rich);

    let mut shy = Vec::new();
    // With agreement a plain sentence does not tell the gender of a noun, so none of them is shy.
    let no_agreement = genders.len() == 1;
    for sort in genders {
        let nouns = draft.content(sort, 4 + stream.below(3));
        shy.extend(nouns.into_iter().take(usize::from(no_agreement)));
    }
    let verbs = draft.content("Vi", 3 + stream.below(3));
    shy.extend(verbs.into_iter().take(1));
    draft.content("Vt", 3 + stream.below(3));
    let (grammar, words) = Grammar::parse(&draft.rules)?;
    let symbols = Strings::parse(&grammar, &draft.symbols)?;
    Ok(Language { grammar, words, symbols, shy, rich })
}

/// Whole sentences: conjunctions in order or reversed, over clauses repeated by a modifier before or behind.
fn sentences(draft: &mut Draft, stream: &mut Stream, rich: &mut Vec<&'static str>) {
    draft.rule("plain", "S", "R", "$1", 2.0);
    for name in ["join", "link"].into_iter().take(1 + stream.below(2) as usize) {
        let word = draft.words.next();
        let target = *stream.choose(&["$1 $2", "$2 $1", "$2 $1 $2"]);
        draft.rule(name, "S", &format!("R {word} R"), target, 1.0);
        rich.push(name);
    }
    draft.rule("once", "R", "C", "$1", 2.0);
    for name in ["repeat", "echo"].into_iter().take(1 + stream.below(2) as usize) {
        let word = draft.words.next();
        let source = if stream.coin(0.5) { format!("C {word}") } else { format!("{word} C") };
        let target = *stream.choose(&["$1 $1", "$1 $1 $1", "$1 $1 $1 $1"]);
        draft.rule(name, "R", &source, target, 0.7);
        rich.push(name);
    }
}

/// Clauses: any order of subject, verb and object on either side.
fn clauses(draft: &mut Draft, stream: &mut Stream) {
    let intransitive = stream.coin(0.5);
    let source = if intransitive { "P Vi" } else { "Vi P" };
    let target = *stream.choose(&["$1 $2", "$2 $1"]);
    draft.rule("act", "C", source, target, 1.0);
    let source = *stream.choose(&["P Vt P", "Vt P P", "P P Vt"]);
    let target = *stream.choose(&["$1 $2 $3", "$1 $3 $2", "$2 $1 $3", "$2 $3 $1", "$3 $1 $2", "$3 $2 $1"]);
    draft.rule("affect", "C", source, target, 1.0);
}

/// Noun phrases: a modifier that may agree with the gender of its noun, and a recursive chain. Returns the genders.
fn phrases(draft: &mut Draft, stream: &mut Stream, rich: &mut Vec<&'static str>) -> Vec<&'static str> {
    draft.rule("phrase", "P", "M", "$1", 3.0);
    if stream.coin(0.7) {
        let word = draft.words.next();
        let target = *stream.choose(&["$1 $2", "$2 $1"]);
        draft.rule("chain", "P", &format!("M {word} P"), target, 1.0);
        rich.push("chain");
    }
    let agreement = stream.coin(0.4);
    let genders = if agreement { vec!["Na", "Nb"] } else { vec!["Na"] };
    let modifier = stream.coin(0.7);
    let before = stream.coin(0.5);
    let target = *stream.choose(&["$1 $2", "$2 $1"]);
    for (gender, (bare, modified)) in genders.iter().zip([("bare", "modified"), ("bare-b", "modified-b")]) {
        draft.rule(bare, "M", gender, "$1", 1.5);
        if modifier {
            let marker =
                if agreement { format!(" {}", draft.words.next().to_uppercase()) } else { String::new() };
            let source = if before { format!("A {gender}") } else { format!("{gender} A") };
            draft.rule(modified, "M", &source, &format!("{target}{marker}"), 1.0);
            rich.push(modified);
        }
    }
    if modifier {
        draft.content("A", 3);
    }
    genders
}
