//! What can be said: a weighted grammar, with a start symbol for the training distribution and one for each kind of
//! generalization.
//!
//! A tree is read as words by the grammar's own strings, and as a [`Sentence`], from which
//! [`super::meaning`] makes the logical form.

use std::fmt::Write as _;
use std::sync::LazyLock;

use wug_grammar::{Algebra, Arena, Grammar, NodeId, RuleId, Strings};

use super::lexicon as words;
use super::sentence::{Clause, Frame, Link, NounPhrase, Sentence};
use super::types::HELD_OUT;

/// The sort of sentences of the training distribution.
pub const START: &str = "S";
/// The sort of prepositional phrases.
pub const PP: &str = "PP";

/// Sorts whose words may occur once in a sentence: nouns and names.
pub const ONCE: [&str; 6] = ["ANIMATE", "INANIMATE", "NAME", "ON", "IN", "BESIDE"];

/// The grammar with what its rules make.
pub struct Language {
    /// The rules.
    pub grammar: Grammar,
    /// The trees as words.
    pub words: Strings,
    operations: Vec<Operation>,
}

/// The language of COGS, held-out items included.
pub static LANGUAGE: LazyLock<Language> = LazyLock::new(Language::new);

/// What a rule makes of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// A word of the lexicon.
    Word(&'static str),
    /// `the` or `a`.
    Article(bool),
    /// Its only part.
    Same,
    /// A name alone.
    Name,
    /// Article and noun, perhaps with prepositional phrases.
    Noun,
    /// A preposition, article and noun, perhaps with more.
    Phrase(&'static str),
    /// A verb and what stands behind it.
    Verb(VerbPhrase),
    /// Subject and verb phrase.
    Clause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VerbPhrase {
    Bare,
    Object,
    ToRecipient,
    TwoObjects,
    Infinitive,
    That,
    Passive { recipient: bool, theme: bool, agent: bool },
}

impl VerbPhrase {
    fn passive(text: &str) -> Self {
        let (recipient, agent) = (text.contains(" to "), text.contains(" by "));
        let theme = !recipient && text.split(' ').nth(1).is_some_and(|word| word != "by");
        Self::Passive { recipient, theme, agent }
    }
}

/// Collects the text of the grammar, a line a rule.
#[derive(Default)]
struct Rules {
    text: String,
    operations: Vec<Operation>,
}

impl Rules {
    fn add(&mut self, operation: Operation, sort: &str, right: &str, weight: f64) {
        let number = self.operations.len();
        let _ = writeln!(self.text, "{number}: {sort} -> {right} [{weight}]");
        self.operations.push(operation);
    }

    /// The words of a class, by rank.
    fn class(&mut self, sort: &str, words: &'static [&'static str], weights: &[u32]) {
        for (word, weight) in words.iter().zip(weights) {
            self.add(Operation::Word(word), sort, word, f64::from(*weight));
        }
    }

    fn verb(&mut self, phrase: VerbPhrase, sort: &str, right: &str, weight: f64) {
        self.add(Operation::Verb(phrase), sort, right, weight);
    }

    /// Noun phrases with this noun: weights without and with prepositional phrases.
    fn noun(&mut self, sort: &str, noun: &str, plain: f64, modified: f64) {
        if plain > 0.0 {
            self.add(Operation::Noun, sort, &format!("DET {noun}"), plain);
        }
        if modified > 0.0 {
            self.add(Operation::Noun, sort, &format!("DET {noun} PP"), modified);
        }
    }

    /// A sort whose sentences are embedded under `that` with this probability for each clause.
    fn embedded(&mut self, sort: &str, share: f64) {
        self.verb(VerbPhrase::That, &format!("{sort}-MATRIX"), &format!("CLAUSAL that {sort}"), 1.0);
        self.add(Operation::Clause, sort, &format!("AGENT {sort}-MATRIX"), share);
    }

    fn lexicon(&mut self) {
        for (sort, class) in
            [("ANIMATE", &words::ANIMATE), ("INANIMATE", &words::INANIMATE), ("NAME", &words::NAMES)]
        {
            self.class(sort, class, &words::ZIPF_100);
        }
        for (sort, (_, class)) in ["ON", "IN", "BESIDE"].into_iter().zip(&words::PREPOSITIONS) {
            self.class(sort, *class, &words::ZIPF_100);
        }
        for (sort, class) in [
            ("OPTIONAL", &words::OPTIONAL),
            ("OBLIGATORY", &words::OBLIGATORY),
            ("CLAUSAL", &words::CLAUSAL),
            ("CONTROL", &words::CONTROL),
            ("UNACCUSATIVE", &words::UNACCUSATIVE),
            ("UNERGATIVE", &words::UNERGATIVE),
            ("INFINITIVE", &words::INFINITIVE),
            ("DATIVE", &words::DATIVE),
            ("OPTIONAL-PP", &words::OPTIONAL_PARTICIPLE),
            ("OBLIGATORY-PP", &words::OBLIGATORY_PARTICIPLE),
            ("UNACCUSATIVE-PP", &words::UNACCUSATIVE_PARTICIPLE),
            ("DATIVE-PP", &words::DATIVE_PARTICIPLE),
        ] {
            self.class(sort, class, &words::ZIPF_20);
        }
        for word in HELD_OUT {
            self.add(Operation::Word(word), &format!("HELD-{word}"), word, 1.0);
        }
    }

    fn noun_phrases(&mut self) {
        self.add(Operation::Article(true), "DET", "the", 0.5);
        self.add(Operation::Article(false), "DET", "a", 0.5);
        // Subjects, recipients and agents behind `by`: never modified.
        self.noun("AGENT", "ANIMATE", 0.5, 0.0);
        self.add(Operation::Name, "AGENT", "NAME", 0.5);
        self.noun("PATIENT", "INANIMATE", 1.0, 0.0);
        self.noun("UNACCUSATIVE-SUBJECT", "INANIMATE", 0.5, 0.0);
        self.noun("UNACCUSATIVE-SUBJECT", "ANIMATE", 0.25, 0.0);
        self.add(Operation::Name, "UNACCUSATIVE-SUBJECT", "NAME", 0.25);
        // Objects.
        self.noun("THING", "INANIMATE", 0.5, 0.5);
        self.add(Operation::Same, "OBJECT", "THING", 0.5);
        self.add(Operation::Same, "OBJECT", "BEING", 0.5);
        self.noun("BEING", "ANIMATE", 0.25, 0.25);
        self.add(Operation::Name, "BEING", "NAME", 0.5);
        for ((preposition, sort), share) in
            [("on", "ON"), ("in", "IN"), ("beside", "BESIDE")].into_iter().zip([333.0, 333.0, 334.0])
        {
            let phrase = format!("{preposition} DET {sort}");
            self.add(Operation::Phrase(preposition), PP, &phrase, share * 9.0);
            self.add(Operation::Phrase(preposition), PP, &format!("{phrase} PP"), share);
        }
    }

    /// The eight active verb phrases without `that`, each with this weight.
    fn active(&mut self, sort: &str, weight: f64) {
        self.verb(VerbPhrase::Bare, sort, "UNERGATIVE", weight);
        self.verb(VerbPhrase::Bare, sort, "OPTIONAL", weight);
        self.verb(VerbPhrase::Infinitive, sort, "CONTROL to INFINITIVE", weight);
        self.transitive(sort, "OBJECT", "THING", weight);
    }

    /// The five that have a theme as their object, each with this weight.
    fn transitive(&mut self, sort: &str, object: &str, dative_object: &str, weight: f64) {
        for verb in ["UNACCUSATIVE", "OPTIONAL", "OBLIGATORY"] {
            self.verb(VerbPhrase::Object, sort, &format!("{verb} {object}"), weight);
        }
        self.verb(VerbPhrase::ToRecipient, sort, &format!("DATIVE {dative_object} to AGENT"), weight);
        self.verb(VerbPhrase::TwoObjects, sort, &format!("DATIVE AGENT {dative_object}"), weight);
    }

    /// Passives whose subject is the theme (`theme`) and whose subject is the recipient (`recipient`).
    fn passives(&mut self, theme: &str, recipient: &str, agent: &str) {
        for verb in ["OBLIGATORY-PP", "OPTIONAL-PP", "UNACCUSATIVE-PP", "DATIVE-PP to AGENT"] {
            for text in [verb.to_owned(), format!("{verb} by {agent}")] {
                self.verb(VerbPhrase::passive(&text), theme, &text, 0.125);
            }
        }
        for text in ["DATIVE-PP THING".to_owned(), format!("DATIVE-PP THING by {agent}")] {
            self.verb(VerbPhrase::passive(&text), recipient, &text, 0.5);
        }
    }

    fn training(&mut self) {
        self.add(Operation::Clause, START, "AGENT EXTERNAL", 0.49);
        self.add(Operation::Clause, START, "UNACCUSATIVE-SUBJECT INTERNAL", 0.06);
        self.add(Operation::Clause, START, "PATIENT was PASSIVE", 0.375);
        self.add(Operation::Clause, START, "AGENT was DATIVE-PASSIVE", 0.075);
        self.active("EXTERNAL", 0.10525);
        self.verb(VerbPhrase::That, "EXTERNAL", "CLAUSAL that S", 0.158);
        self.verb(VerbPhrase::Bare, "INTERNAL", "UNACCUSATIVE", 1.0);
        self.passives("PASSIVE", "DATIVE-PASSIVE", "AGENT");
    }

    /// Sentences of one clause, each possibly embedded: held-out words in roles they were not seen in.
    fn lexical(&mut self) {
        self.noun("HEDGEHOG", "HELD-hedgehog", 0.5, 0.5);
        self.add(Operation::Name, "LINA", "HELD-Lina", 1.0);
        for (sort, object) in [("TO-OBJECT-COMMON", "HEDGEHOG"), ("TO-OBJECT-PROPER", "LINA")] {
            self.embedded(sort, 0.1);
            self.add(Operation::Clause, sort, &format!("AGENT {sort}-VERB"), 0.9);
            self.transitive(&format!("{sort}-VERB"), object, object, 1.0);
        }
        self.active("ACTIVE", 1.0);
        for (word, is_name) in [("cockroach", false), ("shark", false), ("Charlie", true), ("Paula", true)] {
            let (sort, subject) = (format!("SUBJECT-{word}"), format!("IS-{word}"));
            if is_name {
                self.add(Operation::Name, &subject, &format!("HELD-{word}"), 1.0);
            } else {
                self.noun(&subject, &format!("HELD-{word}"), 1.0, 0.0);
            }
            self.embedded(&sort, 0.077);
            self.add(Operation::Clause, &sort, &format!("{subject} ACTIVE"), 0.923);
        }
        let mut one = |sort: &str, share: f64, subject: &str, phrases: &[(VerbPhrase, &str)]| {
            self.embedded(sort, share);
            self.add(Operation::Clause, sort, &format!("{subject} {sort}-VERB"), 1.0 - share);
            for (phrase, right) in phrases {
                self.verb(*phrase, &format!("{sort}-VERB"), right, 1.0);
            }
        };
        let passive = VerbPhrase::passive;
        one("CRAWL", 0.04, "AGENT", &[(VerbPhrase::Infinitive, "CONTROL to HELD-crawl")]);
        one(
            "BLESSED",
            0.05,
            "PATIENT was",
            &[(passive("x"), "HELD-blessed"), (passive("x by y"), "HELD-blessed by AGENT")],
        );
        one("SQUEEZED", 0.1, "AGENT", &[(VerbPhrase::Object, "HELD-squeezed OBJECT")]);
        one("BAKED", 0.09, "AGENT", &[(VerbPhrase::Object, "HELD-baked OBJECT")]);
        one("TELEPORTED", 0.1, "AGENT", &[(VerbPhrase::ToRecipient, "HELD-teleported THING to AGENT")]);
        one("SHIPPED", 0.1, "AGENT", &[(VerbPhrase::TwoObjects, "HELD-shipped AGENT THING")]);
        one("COBRA", 0.055, "IS-cobra", &[(VerbPhrase::Bare, "UNACCUSATIVE")]);
        one("HIPPO-OPTIONAL", 0.043, "IS-hippo", &[(VerbPhrase::Bare, "OPTIONAL")]);
        one("HIPPO-UNERGATIVE", 0.043, "IS-hippo", &[(VerbPhrase::Bare, "UNERGATIVE")]);
        self.noun("IS-cobra", "HELD-cobra", 1.0, 0.0);
        self.noun("IS-hippo", "HELD-hippo", 1.0, 0.0);
    }

    /// Known words in structures that were not seen.
    fn structural(&mut self) {
        // Prepositional phrases on subjects and on agents behind `by`.
        self.noun("AGENT-PP", "ANIMATE", 0.0, 1.0);
        self.noun("PATIENT-PP", "INANIMATE", 0.0, 1.0);
        self.noun("UNACCUSATIVE-SUBJECT-PP", "INANIMATE", 0.0, 2.0);
        self.noun("UNACCUSATIVE-SUBJECT-PP", "ANIMATE", 0.0, 1.0);
        self.add(Operation::Clause, "SUBJECT-PP", "AGENT-PP EXTERNAL-PP", 0.55);
        self.add(Operation::Clause, "SUBJECT-PP", "UNACCUSATIVE-SUBJECT-PP INTERNAL", 0.05);
        self.add(Operation::Clause, "SUBJECT-PP", "PATIENT-PP was PASSIVE-PP", 0.2);
        self.add(Operation::Clause, "SUBJECT-PP", "AGENT-PP was DATIVE-PASSIVE-PP", 0.2);
        self.active("EXTERNAL-PP", 0.0875);
        self.verb(VerbPhrase::That, "EXTERNAL-PP", "CLAUSAL that SUBJECT-PP", 0.3);
        self.passives("PASSIVE-PP", "DATIVE-PASSIVE-PP", "AGENT-PP");
        // Clauses in clauses: the other four forms of a sentence end the chain.
        self.embedded("CP-RECURSION", 0.96);
        self.add(Operation::Clause, "CP-RECURSION", "AGENT ACTIVE", 0.01);
        self.add(Operation::Clause, "CP-RECURSION", "UNACCUSATIVE-SUBJECT INTERNAL", 0.01);
        self.add(Operation::Clause, "CP-RECURSION", "PATIENT was PASSIVE", 0.01);
        self.add(Operation::Clause, "CP-RECURSION", "AGENT was DATIVE-PASSIVE", 0.01);
        // Prepositional phrases in prepositional phrases; how many is up to who draws.
        self.embedded("PP-RECURSION", 0.1);
        self.add(Operation::Clause, "PP-RECURSION", "AGENT PP-RECURSION-VERB", 0.9);
        self.noun("MODIFIED", "INANIMATE", 0.0, 1.0);
        self.noun("MODIFIED", "ANIMATE", 0.0, 0.5);
        self.noun("MODIFIED-THING", "INANIMATE", 0.0, 1.0);
        self.transitive("PP-RECURSION-VERB", "MODIFIED", "MODIFIED-THING", 1.0);
    }
}

impl Language {
    fn new() -> Self {
        let mut rules = Rules::default();
        rules.training();
        rules.noun_phrases();
        rules.lexical();
        rules.structural();
        rules.lexicon();
        let (grammar, words) = Grammar::parse(&rules.text).expect("the grammar is well formed");
        Self { grammar, words, operations: rules.operations }
    }

    /// The sentence of a tree, taken apart.
    pub fn sentence(&self, arena: &Arena, tree: NodeId) -> Sentence<'static> {
        match (Reading { operations: &self.operations }).evaluate(arena, tree) {
            Phrase::Sentence(clauses) => Sentence { clauses },
            other => unreachable!("not a sentence: {other:?}"),
        }
    }

    /// The sentence of a tree as text, with its capital and full stop.
    pub fn text(&self, arena: &Arena, tree: NodeId) -> String {
        let mut text = self.words.text(arena, tree);
        if let Some(first) = text.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        text.push_str(" .");
        text
    }

    /// The word of the lexicon that a rule makes.
    pub fn word(&self, rule: RuleId) -> Option<&'static str> {
        match self.operations[rule.index()] {
            Operation::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// The algebra that takes sentences apart.
struct Reading<'l> {
    operations: &'l [Operation],
}

/// A part of a sentence.
#[derive(Debug, Clone)]
enum Phrase {
    Word(&'static str),
    Article(bool),
    Noun(NounPhrase<'static>),
    Links(Vec<Link<'static>>),
    Verb(&'static str, Frame<'static>, Vec<Clause<'static>>),
    Sentence(Vec<Clause<'static>>),
}

impl Phrase {
    fn word(&self) -> &'static str {
        if let Self::Word(word) = self { word } else { "" }
    }

    fn noun(&self) -> NounPhrase<'static> {
        if let Self::Noun(noun) = self { noun.clone() } else { NounPhrase::Common(Vec::new()) }
    }
}

/// Article, noun and further prepositional phrases as a chain.
fn links(preposition: Option<&'static str>, parts: &[Phrase]) -> Vec<Link<'static>> {
    let definite = matches!(parts[0], Phrase::Article(true));
    let mut links = vec![Link { preposition, definite, noun: parts[1].word() }];
    if let Some(Phrase::Links(more)) = parts.get(2) {
        links.extend(more);
    }
    links
}

impl Algebra for Reading<'_> {
    type Value = Phrase;

    fn apply(&mut self, rule: RuleId, parts: &[Phrase]) -> Phrase {
        match self.operations[rule.index()] {
            Operation::Word(word) => Phrase::Word(word),
            Operation::Article(definite) => Phrase::Article(definite),
            Operation::Same => parts[0].clone(),
            Operation::Name => Phrase::Noun(NounPhrase::Name(parts[0].word())),
            Operation::Noun => Phrase::Noun(NounPhrase::Common(links(None, parts))),
            Operation::Phrase(preposition) => Phrase::Links(links(Some(preposition), parts)),
            Operation::Verb(phrase) => {
                let (frame, clauses) = frame(phrase, &parts[1..]);
                Phrase::Verb(parts[0].word(), frame, clauses)
            }
            Operation::Clause => {
                let Phrase::Verb(verb, frame, inner) = &parts[1] else { unreachable!("a clause has a verb") };
                let mut clauses = vec![Clause { subject: parts[0].noun(), verb, frame: frame.clone() }];
                clauses.extend(inner.iter().cloned());
                Phrase::Sentence(clauses)
            }
        }
    }
}

/// What stands behind a verb, and the clauses of a sentence that does.
fn frame(phrase: VerbPhrase, parts: &[Phrase]) -> (Frame<'static>, Vec<Clause<'static>>) {
    let frame = match phrase {
        VerbPhrase::Bare => Frame::Bare,
        VerbPhrase::Object => Frame::Object(parts[0].noun()),
        VerbPhrase::ToRecipient => Frame::ToRecipient(parts[0].noun(), parts[1].noun()),
        VerbPhrase::TwoObjects => Frame::TwoObjects(parts[0].noun(), parts[1].noun()),
        VerbPhrase::Infinitive => Frame::Infinitive(parts[0].word()),
        VerbPhrase::That => {
            let Phrase::Sentence(clauses) = &parts[0] else { unreachable!("`that` takes a sentence") };
            return (Frame::That, clauses.clone());
        }
        VerbPhrase::Passive { recipient, theme, agent } => {
            let mut parts = parts.iter();
            let mut next = |is_there: bool| if is_there { parts.next().map(Phrase::noun) } else { None };
            let (recipient, theme) = (next(recipient), next(theme));
            Frame::Passive { recipient, theme, agent: next(agent) }
        }
    };
    (frame, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wug_data::Streams;

    #[test]
    fn a_tree_says_what_its_words_say() {
        let language = &*LANGUAGE;
        let streams = Streams::new("test", "grammar", 0);
        for sort in [START, "SUBJECT-PP", "TO-OBJECT-COMMON", "BLESSED", "SHIPPED", "COBRA", "PP-RECURSION"] {
            let sort = language.grammar.sort(sort).unwrap();
            for i in 0..500 {
                let mut arena = Arena::new();
                let tree = language.grammar.sample(sort, &mut arena, &mut streams.item(i), 2000);
                let Some(tree) = tree else { continue };
                let text = language.text(&arena, tree);
                let parsed = Sentence::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
                assert_eq!(parsed, language.sentence(&arena, tree), "{text}");
            }
        }
    }
}
