//! What it means: logical forms.
//!
//! A common noun is a variable, numbered by its place in the sentence; so is a verb, as the event that it names. Names
//! are constants. Definite nouns come first, in order; the rest is sorted by the number of the first argument and then
//! by the place of the second.

use std::borrow::Cow;

use super::convert::positions::rejoin;
use super::lexicon;
use super::lf::{Conjunct, Form, Name, Term};
use super::sentence::{Clause, Frame, NounPhrase, Sentence, SentenceError};

/// The logical form of a sentence of COGS.
///
/// ```
/// use wug_bench::cogs::{lf::Notation, meaning::meaning, sentence::Sentence};
///
/// let sentence = Sentence::parse("The girl gave Emma a cake on the table .")?;
/// assert_eq!(
///     meaning(&sentence).print(Notation::Cogs),
///     "* girl ( x _ 1 ) ; * table ( x _ 8 ) ; give . agent ( x _ 2 , x _ 1 ) AND give . recipient ( x _ 2 , Emma ) \
///      AND give . theme ( x _ 2 , x _ 5 ) AND cake ( x _ 5 ) AND cake . nmod . on ( x _ 5 , x _ 8 )"
/// );
/// # Ok::<(), wug_bench::cogs::sentence::SentenceError>(())
/// ```
pub fn meaning<'t>(sentence: &Sentence<'t>) -> Form<'t> {
    let mut builder = Builder::default();
    for clause in &sentence.clauses {
        builder.clause(clause);
    }
    builder.finish()
}

/// The logical form of a sentence or a primitive (a single word without full stop), as COGS writes it.
pub fn meaning_of(text: &str) -> Result<Form<'_>, SentenceError> {
    if let Some(primitive) = primitive(text) {
        return Ok(primitive);
    }
    Sentence::parse(text).map(|sentence| meaning(&sentence))
}

/// What a word means on its own: `LAMBDA a . girl ( a )`, `Emma`, `LAMBDA a . LAMBDA e . sleep . agent ( e , a )`.
/// `None` if the text is not one word.
pub fn primitive(word: &str) -> Option<Form<'_>> {
    if word.is_empty() || word == "." || word.contains(char::is_whitespace) {
        return None;
    }
    let bound = |name: &'static str| Term::Bound(Cow::Borrowed(name));
    let role = |role: &'static str, argument| {
        Conjunct::two_place(Some(Cow::Borrowed(word)), vec![role.into()], bound("e"), bound(argument))
    };
    let (lambdas, conjuncts): (&[&'static str], _) = match verb_class(word) {
        Some(VerbClass::Unergative) => (&["a", "e"], vec![role("agent", "a")]),
        Some(VerbClass::Unaccusative) => (&["a", "e"], vec![role("theme", "a")]),
        Some(VerbClass::Transitive) => (&["a", "b", "e"], vec![role("agent", "b"), role("theme", "a")]),
        None if word.starts_with(|c: char| c.is_ascii_uppercase()) => {
            (&[], vec![Conjunct { arguments: Vec::new(), ..Conjunct::one_place(word, bound("a")) }])
        }
        None => (&["a"], vec![Conjunct::one_place(word, bound("a"))]),
    };
    let lambdas = lambdas.iter().map(|name| Cow::Borrowed(*name)).collect();
    Some(Form { lambdas, opens_with_semicolon: false, conjuncts })
}

/// What a verb takes, as its primitive says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VerbClass {
    Unergative,
    Unaccusative,
    Transitive,
}

fn verb_class(lemma: &str) -> Option<VerbClass> {
    let has = |forms: &[&str]| forms.iter().any(|form| lexicon::lemma(form) == Some(lemma));
    if lemma == "crawl" || has(&lexicon::UNERGATIVE) {
        Some(VerbClass::Unergative)
    } else if has(&lexicon::UNACCUSATIVE) {
        Some(VerbClass::Unaccusative)
    } else if has(&lexicon::OPTIONAL) || has(&lexicon::OBLIGATORY) {
        Some(VerbClass::Transitive)
    } else {
        None
    }
}

/// Places conjuncts while it walks over the words.
#[derive(Default)]
struct Builder<'t> {
    /// The place of the next word.
    place: usize,
    definites: Vec<Conjunct<'t>>,
    /// With the key they are sorted by.
    others: Vec<((usize, usize), Conjunct<'t>)>,
    /// The event that waits for the event of its clause.
    embedding: Option<(&'t str, usize)>,
}

/// What a noun phrase or an event is to a verb.
#[derive(Clone)]
struct Argument<'t> {
    term: Term<'t>,
    place: usize,
}

impl<'t> Builder<'t> {
    fn noun_phrase(&mut self, phrase: &NounPhrase<'t>) -> Argument<'t> {
        match phrase {
            NounPhrase::Name(name) => {
                let place = self.place;
                self.place += 1;
                Argument { term: Term::Constant(Cow::Borrowed(name)), place }
            }
            NounPhrase::Common(links) => {
                let mut first = None;
                let mut above: Option<(&'t str, usize)> = None;
                for link in links {
                    // The preposition, the article, the noun.
                    let place = self.place + usize::from(link.preposition.is_some()) + 1;
                    self.place = place + 1;
                    let noun = lexicon::predicate(link.noun);
                    let conjunct = Conjunct::one_place(noun, Term::numbered(place));
                    if link.definite {
                        self.definites.push(Conjunct { definite: true, ..conjunct });
                    } else {
                        self.others.push(((place, 0), conjunct));
                    }
                    if let (Some((head, above)), Some(preposition)) = (above, link.preposition) {
                        let relation: Vec<Name<'t>> = vec!["nmod".into(), preposition.into()];
                        let below = Argument { term: Term::numbered(place), place };
                        self.relate(head, relation, above, below);
                    }
                    above = Some((noun, place));
                    first.get_or_insert(place);
                }
                let place = first.unwrap_or(self.place);
                Argument { term: Term::numbered(place), place }
            }
        }
    }

    fn relate(&mut self, head: &'t str, relation: Vec<Name<'t>>, first: usize, second: Argument<'t>) {
        // One-place conjuncts of the same variable come before, so places count from 1 here.
        let key = (first, second.place + 1);
        let conjunct = Conjunct::two_place(Some(head.into()), relation, Term::numbered(first), second.term);
        self.others.push((key, conjunct));
    }

    fn clause(&mut self, clause: &Clause<'t>) {
        let subject = self.noun_phrase(&clause.subject);
        let is_passive = matches!(clause.frame, Frame::Passive { .. });
        self.place += usize::from(is_passive); // `was`
        let event = self.place;
        self.place += 1;
        let verb = lexicon::lemma(clause.verb).unwrap_or(clause.verb);
        if let Some((above, outer)) = self.embedding.take() {
            let inner = Argument { term: Term::numbered(event), place: event };
            self.relate(above, vec!["ccomp".into()], outer, inner);
        }
        let role = |builder: &mut Self, role: &'static str, argument: Argument<'t>| {
            builder.relate(verb, vec![role.into()], event, argument);
        };
        match &clause.frame {
            Frame::Bare if lexicon::is_unaccusative(clause.verb) => role(self, "theme", subject),
            Frame::Bare => role(self, "agent", subject),
            Frame::Object(object) => {
                role(self, "agent", subject);
                let theme = self.noun_phrase(object);
                role(self, "theme", theme);
            }
            Frame::ToRecipient(theme, recipient) => {
                role(self, "agent", subject);
                let theme = self.noun_phrase(theme);
                role(self, "theme", theme);
                self.place += 1; // `to`
                let recipient = self.noun_phrase(recipient);
                role(self, "recipient", recipient);
            }
            Frame::TwoObjects(recipient, theme) => {
                role(self, "agent", subject);
                let recipient = self.noun_phrase(recipient);
                role(self, "recipient", recipient);
                let theme = self.noun_phrase(theme);
                role(self, "theme", theme);
            }
            Frame::Infinitive(infinitive) => {
                role(self, "agent", subject.clone());
                let inner = self.place + 1; // behind `to`
                self.place += 2;
                role(self, "xcomp", Argument { term: Term::numbered(inner), place: inner });
                let infinitive = lexicon::lemma(infinitive).unwrap_or(infinitive);
                self.relate(infinitive, vec!["agent".into()], inner, subject);
            }
            Frame::That => {
                role(self, "agent", subject);
                self.place += 1; // `that`
                self.embedding = Some((verb, event));
            }
            Frame::Passive { recipient, theme, agent } => {
                role(self, if theme.is_some() { "recipient" } else { "theme" }, subject);
                if let Some(recipient) = recipient {
                    self.place += 1; // `to`
                    let recipient = self.noun_phrase(recipient);
                    role(self, "recipient", recipient);
                }
                if let Some(theme) = theme {
                    let theme = self.noun_phrase(theme);
                    role(self, "theme", theme);
                }
                if let Some(agent) = agent {
                    self.place += 1; // `by`
                    let agent = self.noun_phrase(agent);
                    role(self, "agent", agent);
                }
            }
        }
    }

    fn finish(mut self) -> Form<'t> {
        // Definites were met in order.
        self.others.sort_by_key(|(key, _)| *key);
        let mut conjuncts = self.definites;
        let definites = conjuncts.len();
        conjuncts.extend(self.others.into_iter().map(|(_, conjunct)| conjunct));
        rejoin(&mut conjuncts, definites);
        Form { lambdas: Vec::new(), opens_with_semicolon: false, conjuncts }
    }
}

#[cfg(test)]
mod tests;
