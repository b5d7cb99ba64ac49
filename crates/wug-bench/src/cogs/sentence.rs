//! Sentences, taken apart: who does what to whom.
//!
//! The grammar of COGS needs no search: the next word always says which construction it is. So a sentence of any
//! origin is read from left to right in one pass; sentences that the grammar draws come apart from their tree (see
//! [`super::grammar`]), with the same result.

use std::fmt;
use wug_data::truncate;

use super::lexicon;

/// A sentence: each clause but the last is followed by `that` and the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence<'t> {
    /// The outermost clause first; never empty.
    pub clauses: Vec<Clause<'t>>,
}

/// A subject, a verb and what the verb takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause<'t> {
    /// Who or what stands before the verb.
    pub subject: NounPhrase<'t>,
    /// The form of the verb: finite, or the participle behind `was`.
    pub verb: &'t str,
    /// What stands behind it.
    pub frame: Frame<'t>,
}

/// What stands behind a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame<'t> {
    /// Nothing: `slept`.
    Bare,
    /// `ate the cake`.
    Object(NounPhrase<'t>),
    /// `gave the cake to Emma`.
    ToRecipient(NounPhrase<'t>, NounPhrase<'t>),
    /// `gave Emma the cake`: the recipient, then the theme.
    TwoObjects(NounPhrase<'t>, NounPhrase<'t>),
    /// `wanted to sleep`.
    Infinitive(&'t str),
    /// `said that` and the next clause.
    That,
    /// `was given`, with any of `to Emma`, `the cake` and `by Liam`.
    Passive {
        /// Behind `to`.
        recipient: Option<NounPhrase<'t>>,
        /// Right behind the participle.
        theme: Option<NounPhrase<'t>>,
        /// Behind `by`.
        agent: Option<NounPhrase<'t>>,
    },
}

/// `Emma`, `the cake`, `a cake on the table`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NounPhrase<'t> {
    /// A name.
    Name(&'t str),
    /// A noun and the prepositional phrases behind it, each of which modifies the noun before it; never empty.
    Common(Vec<Link<'t>>),
}

/// A noun with its article, and the preposition by which it hangs on the noun before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link<'t> {
    /// `on`, `in`, `beside`; none for the first noun.
    pub preposition: Option<&'t str>,
    /// `the` rather than `a`.
    pub definite: bool,
    /// The noun.
    pub noun: &'t str,
}

/// Where a text stops being a sentence of COGS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceError {
    /// The word, from 1.
    pub word: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for SentenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "word {}: {}", self.word, self.what)
    }
}

impl std::error::Error for SentenceError {}

impl<'t> Sentence<'t> {
    /// Takes a sentence apart: `The girl slept .`
    pub fn parse(text: &'t str) -> Result<Self, SentenceError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut reader = Reader { words: &words, position: 0 };
        let mut clauses = Vec::new();
        loop {
            let clause = reader.clause()?;
            let is_last = clause.frame != Frame::That;
            clauses.push(clause);
            if is_last {
                break;
            }
        }
        if !reader.take(".") {
            return Err(reader.expected("`.`"));
        }
        if reader.position < words.len() {
            return Err(reader.expected("the end of the sentence"));
        }
        Ok(Self { clauses })
    }
}

impl Sentence<'_> {
    /// What hangs on what, as a term: verbs with their arguments, nouns with their articles and modifiers.
    ///
    /// ```
    /// use wug_bench::cogs::sentence::Sentence;
    ///
    /// let sentence = Sentence::parse("Emma said that the girl on a chair slept .").unwrap();
    /// assert_eq!(sentence.term(), "said(Emma, that(slept(girl(the, on(chair(a))))))");
    /// ```
    pub fn term(&self) -> String {
        self.clauses.iter().rev().fold(String::new(), |inner, clause| clause.term(&inner))
    }
}

impl Clause<'_> {
    /// `inner` is the term of the clause behind `that`.
    fn term(&self, inner: &str) -> String {
        let mut parts = vec![self.subject.term()];
        match &self.frame {
            Frame::Bare => {}
            Frame::Object(theme) => parts.push(theme.term()),
            Frame::ToRecipient(theme, recipient) => {
                parts.extend([theme.term(), format!("to({})", recipient.term())]);
            }
            Frame::TwoObjects(recipient, theme) => parts.extend([recipient.term(), theme.term()]),
            Frame::Infinitive(verb) => parts.push(format!("to({verb})")),
            Frame::That => parts.push(format!("that({inner})")),
            Frame::Passive { recipient, theme, agent } => {
                parts.push("was".to_owned());
                parts.extend(theme.as_ref().map(NounPhrase::term));
                parts.extend(recipient.as_ref().map(|recipient| format!("to({})", recipient.term())));
                parts.extend(agent.as_ref().map(|agent| format!("by({})", agent.term())));
            }
        }
        format!("{}({})", self.verb, parts.join(", "))
    }
}

impl NounPhrase<'_> {
    fn term(&self) -> String {
        let links = match self {
            Self::Name(name) => return (*name).to_owned(),
            Self::Common(links) => links,
        };
        links.iter().rev().fold(String::new(), |modifier, link| {
            let article = if link.definite { "the" } else { "a" };
            let modifier = if modifier.is_empty() { modifier } else { format!(", {modifier}") };
            let noun = format!("{}({article}{modifier})", link.noun);
            link.preposition.map_or(noun.clone(), |preposition| format!("{preposition}({noun})"))
        })
    }
}

struct Reader<'w, 't> {
    words: &'w [&'t str],
    position: usize,
}

impl<'t> Reader<'_, 't> {
    fn peek(&self) -> Option<&'t str> {
        self.words.get(self.position).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(word);
        self.position += usize::from(is_next);
        is_next
    }

    fn expected(&self, what: &str) -> SentenceError {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(word) => format!("`{}`", truncate(word, 40)),
        };
        SentenceError { word: self.position + 1, what: format!("expected {what}, found {found}") }
    }

    fn verb(&mut self, what: &str) -> Result<&'t str, SentenceError> {
        match self.peek() {
            Some(word) if lexicon::lemma(word).is_some() => {
                self.position += 1;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn clause(&mut self) -> Result<Clause<'t>, SentenceError> {
        let subject = self.noun_phrase()?;
        if self.take("was") {
            let verb = self.verb("a participle")?;
            let recipient = if self.take("to") { Some(self.noun_phrase()?) } else { None };
            let theme = match self.peek() {
                Some("by" | ".") | None => None,
                _ if recipient.is_some() => None,
                _ => Some(self.noun_phrase()?),
            };
            let agent = if self.take("by") { Some(self.noun_phrase()?) } else { None };
            return Ok(Clause { subject, verb, frame: Frame::Passive { recipient, theme, agent } });
        }
        let verb = self.verb("a verb")?;
        let frame = match self.peek() {
            Some(".") | None => Frame::Bare,
            Some("that") => {
                self.position += 1;
                Frame::That
            }
            Some("to") => {
                self.position += 1;
                Frame::Infinitive(self.verb("an infinitive")?)
            }
            Some(_) => {
                let first = self.noun_phrase()?;
                match self.peek() {
                    Some(".") | None => Frame::Object(first),
                    Some("to") => {
                        self.position += 1;
                        Frame::ToRecipient(first, self.noun_phrase()?)
                    }
                    Some(_) => Frame::TwoObjects(first, self.noun_phrase()?),
                }
            }
        };
        Ok(Clause { subject, verb, frame })
    }

    fn noun_phrase(&mut self) -> Result<NounPhrase<'t>, SentenceError> {
        // `A` and `The` only open a sentence; anything else with a capital is a name.
        let article = |reader: &Self| match reader.peek() {
            Some("the") => Some(true),
            Some("a") => Some(false),
            Some("The") if reader.position == 0 => Some(true),
            Some("A") if reader.position == 0 => Some(false),
            _ => None,
        };
        let Some(definite) = article(self) else {
            return match self.peek() {
                Some(name) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    self.position += 1;
                    Ok(NounPhrase::Name(name))
                }
                _ => Err(self.expected("an article or a name")),
            };
        };
        self.position += 1;
        let mut links = vec![Link { preposition: None, definite, noun: self.noun()? }];
        while let Some(preposition) = self.peek().filter(|word| lexicon::is_preposition(word)) {
            self.position += 1;
            let definite = article(self).ok_or_else(|| self.expected("`a` or `the`"))?;
            self.position += 1;
            links.push(Link { preposition: Some(preposition), definite, noun: self.noun()? });
        }
        Ok(NounPhrase::Common(links))
    }

    fn noun(&mut self) -> Result<&'t str, SentenceError> {
        match self.peek() {
            Some(word) if word != "." && !lexicon::is_preposition(word) => {
                self.position += 1;
                Ok(word)
            }
            _ => Err(self.expected("a noun")),
        }
    }
}
