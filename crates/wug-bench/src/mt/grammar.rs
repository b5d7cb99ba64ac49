//! What can be said: short sentences that begin with `i am`, `he is`, `they are` or a contraction, in both languages.

use std::fmt::Write;
use std::sync::LazyLock;

use wug_grammar::{Arena, Grammar, NodeId, Sort, Strings};

use super::lexicon::{Agreement, Forms, Kind, predicates};

/// Trees that are read as English and as French.
pub struct Language {
    /// The trees.
    pub grammar: Grammar,
    /// Read as English.
    pub english: Strings,
    /// Read as French.
    pub french: Strings,
    /// The sort of sentences.
    pub sentence: Sort,
}

/// An English subject with its verb, affirmed and denied, and the French subjects it may stand for: pronoun, verb, denied
/// verb, agreement, weight. The first is the one that the eight test sentences take: a man speaks, to a friend.
struct Subject {
    affirmed: &'static [(&'static str, f64)],
    denied: &'static [(&'static str, f64)],
    french: &'static [(&'static str, &'static str, &'static str, Agreement, f64)],
    weight: f64,
}

const SUBJECTS: &[Subject] = &[
    Subject {
        affirmed: &[("i am", 0.5), ("i m", 0.5)],
        denied: &[("i am not", 0.5), ("i m not", 0.5)],
        french: &[
            ("je", "suis", "ne suis pas", Agreement::Ms, 0.75),
            ("je", "suis", "ne suis pas", Agreement::Fs, 0.25),
        ],
        weight: 0.28,
    },
    Subject {
        affirmed: &[("you are", 0.5), ("you re", 0.5)],
        denied: &[("you are not", 0.5), ("you re not", 0.3), ("you aren t", 0.2)],
        french: &[
            ("tu", "es", "n es pas", Agreement::Ms, 0.55),
            ("tu", "es", "n es pas", Agreement::Fs, 0.15),
            ("vous", "etes", "n etes pas", Agreement::Mp, 0.2),
            ("vous", "etes", "n etes pas", Agreement::Fp, 0.1),
        ],
        weight: 0.24,
    },
    Subject {
        affirmed: &[("he is", 0.6), ("he s", 0.4)],
        denied: &[("he is not", 0.5), ("he s not", 0.3), ("he isn t", 0.2)],
        french: &[("il", "est", "n est pas", Agreement::Ms, 1.0)],
        weight: 0.18,
    },
    Subject {
        affirmed: &[("she is", 0.6), ("she s", 0.4)],
        denied: &[("she is not", 0.5), ("she s not", 0.3), ("she isn t", 0.2)],
        french: &[("elle", "est", "n est pas", Agreement::Fs, 1.0)],
        weight: 0.12,
    },
    Subject {
        affirmed: &[("we are", 0.5), ("we re", 0.5)],
        denied: &[("we are not", 0.5), ("we re not", 0.3), ("we aren t", 0.2)],
        french: &[
            ("nous", "sommes", "ne sommes pas", Agreement::Mp, 0.8),
            ("nous", "sommes", "ne sommes pas", Agreement::Fp, 0.2),
        ],
        weight: 0.1,
    },
    Subject {
        affirmed: &[("they are", 0.5), ("they re", 0.5)],
        denied: &[("they are not", 0.5), ("they re not", 0.3), ("they aren t", 0.2)],
        french: &[
            ("ils", "sont", "ne sont pas", Agreement::Mp, 0.7),
            ("elles", "sont", "ne sont pas", Agreement::Fp, 0.3),
        ],
        weight: 0.08,
    },
];

/// The share of sentences that are denied.
const DENIED: f64 = 0.25;

/// Words before an adjective that takes them, with the French and whether they stand behind `not` as well.
const DEGREES: &[(&str, &str, bool)] = &[
    ("very", "tres", true),
    ("so", "si", true),
    ("too", "trop", true),
    ("really", "vraiment", true),
    ("quite", "assez", false),
    ("a little", "un peu", false),
    ("extremely", "extremement", false),
    ("incredibly", "incroyablement", false),
];

/// Words before any predicate but a noun.
const TIMES: &[(&str, &str, bool)] = &[
    ("always", "toujours", true),
    ("often", "souvent", true),
    ("still", "encore", false),
    ("already", "deja", false),
];

/// The language, built once.
pub static LANGUAGE: LazyLock<Language> = LazyLock::new(Language::new);

/// The two readings while they are written down.
#[derive(Default)]
struct Draft {
    english: String,
    french: String,
    rules: usize,
}

impl Draft {
    fn rule(&mut self, sort: &str, english: &str, french: &str, weight: f64) {
        // Names only have to be unique.
        let name = self.rules;
        self.rules += 1;
        let _ = writeln!(self.english, "r{name}: {sort} -> {english} [{weight}]");
        let _ = writeln!(self.french, "r{name}: {french}");
    }

    /// Sentences: `S` from a complement that agrees, `Y` affirmed and `N` denied.
    fn sentences(&mut self) {
        for subject in SUBJECTS {
            for &(pronoun, verb, denied_verb, agreement, share) in subject.french {
                let weight = subject.weight * share;
                for (begin, of_form) in subject.affirmed {
                    let (english, french) =
                        (format!("{begin} Y{} .", agreement.name()), format!("{pronoun} {verb} $1 ."));
                    self.rule("S", &english, &french, weight * of_form * (1.0 - DENIED));
                }
                for (begin, of_form) in subject.denied {
                    let (english, french) =
                        (format!("{begin} N{} .", agreement.name()), format!("{pronoun} {denied_verb} $1 ."));
                    self.rule("S", &english, &french, weight * of_form * DENIED);
                }
            }
        }
    }

    /// Complements: any predicate alone, or behind a word that it takes.
    fn complements(&mut self, agreement: Agreement) {
        let form = agreement.name();
        for (sort, is_denied) in [("Y", false), ("N", true)] {
            let sort = format!("{sort}{form}");
            for (predicate, weight) in [("G", 0.34), ("A", 0.1), ("O", 0.12), ("P", 0.1)] {
                self.rule(&sort, &format!("{predicate}{form}"), "$1", weight);
            }
            for (i, &(english, french, denied_too)) in DEGREES.iter().enumerate() {
                if denied_too || !is_denied {
                    let weight = if i == 0 { 0.1 } else { 0.03 };
                    self.rule(&sort, &format!("{english} G{form}"), &format!("{french} $1"), weight);
                }
            }
            for &(english, french, denied_too) in TIMES {
                for (predicate, weight) in [("G", 0.015), ("P", 0.01)] {
                    if denied_too || !is_denied {
                        let english = format!("{english} {predicate}{form}");
                        self.rule(&sort, &english, &format!("{french} $1"), weight);
                    }
                }
            }
        }
    }

    fn predicate(&mut self, forms: &Forms, agreement: Agreement) {
        let sort = match forms.kind {
            Kind::Gradable => "G",
            Kind::Absolute => "A",
            Kind::Noun => "O",
            Kind::Phrase => "P",
        };
        let sort = format!("{sort}{}", agreement.name());
        self.rule(&sort, &forms.english(agreement), &forms.french(agreement), 1.0);
    }
}

impl Language {
    fn new() -> Self {
        let mut draft = Draft::default();
        draft.sentences();
        let predicates = predicates();
        for agreement in Agreement::ALL {
            draft.complements(agreement);
            for forms in &predicates {
                draft.predicate(forms, agreement);
            }
        }
        let (grammar, english) = Grammar::parse(&draft.english).expect("the grammar is well formed");
        let french = Strings::parse(&grammar, &draft.french).expect("every rule has its French");
        let sentence = grammar.sort("S").expect("there are sentences");
        Self { grammar, english, french, sentence }
    }

    /// What a sentence says of its subject, in English: the words of its last leaf.
    pub fn predicate(&self, arena: &Arena, tree: NodeId) -> String {
        let mut node = tree;
        while let Some(&last) = arena.children(node).last() {
            node = last;
        }
        self.english.text(arena, node)
    }
}

/// How the eight test sentences begin, in both languages.
pub const CONSTRUCTIONS: [(&str, &str); 8] = [
    ("you are", "tu es"),
    ("he is", "il est"),
    ("i am not", "je ne suis pas"),
    ("you are not", "tu n es pas"),
    ("he is not", "il n est pas"),
    ("i am very", "je suis tres"),
    ("you are very", "tu es tres"),
    ("he is very", "il est tres"),
];

#[cfg(test)]
mod tests {
    use wug_grammar::{Parser, Space};

    use super::*;

    fn translations(english: &str) -> Vec<String> {
        let language = &*LANGUAGE;
        let parser = Parser::new(&language.grammar, &language.english).unwrap();
        let space = parser.parse(language.sentence, &parser.words(english).unwrap());
        let mut arena = Arena::new();
        let trees = space.enumerate(&mut arena).unwrap();
        trees.iter().map(|&tree| language.french.text(&arena, tree)).collect()
    }

    #[test]
    fn sentences_are_correct_french() {
        assert_eq!(translations("i am very tired ."), ["je suis tres fatigue .", "je suis tres fatiguee ."]);
        assert_eq!(translations("she isn t a singer ."), ["elle n est pas chanteuse ."]);
        assert_eq!(
            translations("they re not always at home ."),
            ["ils ne sont pas toujours a la maison .", "elles ne sont pas toujours a la maison ."]
        );
        assert_eq!(translations("he is beautiful ."), ["il est beau ."]);
        assert_eq!(translations("you are bakers ."), ["vous etes boulangers .", "vous etes boulangeres ."]);
        assert_eq!(translations("you are a baker ."), ["tu es boulanger .", "tu es boulangere ."]);
        assert_eq!(translations("we are friendly ."), ["nous sommes amicaux .", "nous sommes amicales ."]);
    }

    #[test]
    fn the_eight_constructions_translate_as_the_test_sentences() {
        for (english, french) in CONSTRUCTIONS {
            let found = translations(&format!("{english} tired ."));
            assert_eq!(found[0], format!("{french} fatigue ."));
        }
    }

    #[test]
    fn there_is_more_to_say_than_is_drawn() {
        let count = Space::all(&LANGUAGE.grammar, LANGUAGE.sentence).unwrap().count().to_string();
        assert!(count.parse::<u64>().unwrap() > 100_000, "{count}");
    }
}
