//! Drawing sentences: distinct, obeying what the data obey.

use std::collections::HashSet;

use rayon::prelude::*;
use wug_data::{Stream, Streams};
use wug_grammar::{Arena, NodeId, RuleId, Sort};

use super::files::Row;
use super::grammar::{LANGUAGE, Language, ONCE, PP};
use super::lf::Notation;
use super::meaning::meaning;
use super::sentence::{Clause, Frame, NounPhrase, Sentence};

/// The maximum number of `that`, and of prepositions, in a sentence of the training distribution.
pub const MOST_EMBEDDED: usize = 2;

/// A sentence that was drawn.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// As text.
    pub text: String,
    /// Taken apart.
    pub sentence: Sentence<'static>,
}

impl Drawn {
    fn new(language: &Language, arena: &Arena, tree: NodeId) -> Self {
        Self { text: language.text(arena, tree), sentence: language.sentence(arena, tree) }
    }

    /// As a row with its logical form.
    pub fn row(&self, kind: &str) -> Row {
        let form = meaning(&self.sentence).print(Notation::Cogs);
        Row { sentence: self.text.clone(), form, kind: kind.to_owned() }
    }
}

/// Draws `number` distinct sentences of a sort: candidate `j` comes from stream `j`, and is taken if it obeys the
/// filters and is new. Fewer if a great many candidates in a row bring nothing new.
pub fn distinct(sort: &str, streams: &Streams, number: usize) -> Vec<Drawn> {
    accept(number, |j| sample(sort, &mut streams.item(j)))
}

/// Draws a sentence of a sort, if it obeys the filters.
pub fn sample(sort: &str, stream: &mut Stream) -> Option<Drawn> {
    let language = &*LANGUAGE;
    let sort = language.grammar.sort(sort).expect("a sort of the grammar");
    let mut arena = Arena::new();
    let tree = language.grammar.sample(sort, &mut arena, stream, 500)?;
    let sentence = language.sentence(&arena, tree);
    let counts = Counts::of(&sentence);
    let is_fit = !counts.repeats && counts.that <= MOST_EMBEDDED && counts.prepositions <= MOST_EMBEDDED;
    is_fit.then(|| Drawn { text: language.text(&arena, tree), sentence })
}

/// Takes candidates in order until there are enough that differ.
fn accept(number: usize, candidate: impl Fn(u64) -> Option<Drawn> + Sync) -> Vec<Drawn> {
    /// Candidates that are drawn at a time.
    const CHUNK: u64 = 4096;
    /// After this number of candidates without a new one there is nothing left to find.
    const PATIENCE: u64 = 64 * CHUNK;
    let mut taken: Vec<Drawn> = Vec::with_capacity(number);
    let mut seen: HashSet<String> = HashSet::with_capacity(number);
    let (mut next, mut last_new) = (0, 0);
    while taken.len() < number && next - last_new < PATIENCE {
        // As many as it will take if they are taken as often as so far: what is drawn beyond is drawn in vain.
        let missing = (number - taken.len()) as u64;
        let chunk = (missing * next.max(1)).div_ceil(taken.len().max(1) as u64) + 16;
        let chunk = chunk.min(CHUNK).min(PATIENCE - (next - last_new));
        let drawn: Vec<Option<Drawn>> = (next..next + chunk).into_par_iter().map(&candidate).collect();
        for (j, drawn) in (next..).zip(drawn) {
            let is_new = |drawn: &Drawn| taken.len() < number && seen.insert(drawn.text.clone());
            if let Some(drawn) = drawn.filter(is_new) {
                taken.push(drawn);
                last_new = j + 1;
            }
        }
        next += chunk;
    }
    taken
}

/// What recurs in a recursion set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recursion {
    /// Clauses with `that`.
    Clauses,
    /// Prepositional phrases.
    Phrases,
}

/// Draws `number` distinct sentences in which exactly `depth` clauses are embedded, or prepositional phrases nested.
///
/// No noun and no name occurs twice. Drawing until that happens would take for ever at great depths, so here each noun
/// is drawn from those that are left.
pub fn recursive(recursion: Recursion, depth: usize, streams: &Streams, number: usize) -> Vec<Drawn> {
    accept(number, |j| sample_recursive(recursion, depth, &mut streams.item(j)))
}

/// Draws one such sentence, if the words suffice.
pub fn sample_recursive(recursion: Recursion, depth: usize, stream: &mut Stream) -> Option<Drawn> {
    let language = &*LANGUAGE;
    let (start, recursive) = match recursion {
        Recursion::Clauses => ("CP-RECURSION", "CP-RECURSION"),
        Recursion::Phrases => ("PP-RECURSION", PP),
    };
    let start = language.grammar.sort(start).expect("a sort of the grammar");
    let recursive = language.grammar.sort(recursive).expect("a sort of the grammar");
    let once = ONCE.map(|sort| language.grammar.sort(sort).expect("a sort of the grammar"));
    let mut drawer = Drawer {
        language,
        once: &once,
        recursive,
        // The first prepositional phrase is there without recursion.
        left: if recursion == Recursion::Phrases { depth - 1 } else { depth },
        used: vec![false; language.grammar.rules().len()],
        choice: Vec::new(),
        arena: Arena::new(),
        stream,
    };
    let tree = drawer.draw(start)?;
    let drawn = Drawn::new(language, &drawer.arena, tree);
    let counts = Counts::of(&drawn.sentence);
    let is_fit = match recursion {
        Recursion::Clauses => counts.that == depth && counts.prepositions <= MOST_EMBEDDED,
        Recursion::Phrases => counts.prepositions == depth,
    };
    is_fit.then_some(drawn)
}

/// Draws a tree in which a sort recurs exactly `left` times and no noun is used twice.
struct Drawer<'l> {
    language: &'l Language,
    /// Sorts whose words are used once.
    once: &'l [Sort],
    recursive: Sort,
    /// How often it still recurs.
    left: usize,
    /// For each rule whether its word was used.
    used: Vec<bool>,
    /// The rules to choose from, with their weights.
    choice: Vec<(RuleId, f64)>,
    arena: Arena,
    stream: &'l mut Stream,
}

impl Drawer<'_> {
    fn draw(&mut self, sort: Sort) -> Option<NodeId> {
        let rule = self.choose(sort)?;
        if let (Some(word), true) = (self.language.word(rule), self.once.contains(&sort)) {
            self.mark_used(word);
        }
        let grammar = &self.language.grammar;
        let children: Vec<NodeId> =
            grammar.rule(rule).arguments().iter().map(|&sort| self.draw(sort)).collect::<Option<_>>()?;
        Some(self.arena.add(rule, &children))
    }

    /// Closes the rules of all sorts that make a word.
    fn mark_used(&mut self, word: &str) {
        for &sort in self.once {
            for &rule in self.language.grammar.rules_of(sort) {
                self.used[rule.index()] |= self.language.word(rule) == Some(word);
            }
        }
    }

    /// A rule of the sort by weight, among those that may be used now.
    fn choose(&mut self, sort: Sort) -> Option<RuleId> {
        let goes_on = (sort == self.recursive).then(|| {
            let goes_on = self.left > 0;
            self.left = self.left.saturating_sub(1);
            goes_on
        });
        let mut choice = std::mem::take(&mut self.choice);
        choice.clear();
        let rules = self.language.grammar.rules_of(sort).iter().copied();
        choice.extend(
            rules
                .filter(|&rule| !self.used[rule.index()])
                .filter(|&rule| goes_on.is_none_or(|goes_on| self.recurs(rule) == goes_on))
                .map(|rule| (rule, self.language.grammar.rule(rule).weight())),
        );
        let total: f64 = choice.iter().map(|(_, weight)| weight).sum();
        let mut left = self.stream.unit() * total;
        let mut chosen = choice.last().map(|(rule, _)| *rule);
        for &(rule, weight) in &choice {
            if left < weight {
                chosen = Some(rule);
                break;
            }
            left -= weight;
        }
        self.choice = choice;
        chosen
    }

    /// Whether a rule of the recursive sort leads back to it, directly or by one rule.
    fn recurs(&self, rule: RuleId) -> bool {
        let grammar = &self.language.grammar;
        grammar.rule(rule).arguments().iter().any(|&sort| {
            sort == self.recursive
                || grammar.rules_of(sort).iter().any(|&rule| {
                    let name = grammar.sort_name(sort);
                    name.ends_with("-MATRIX") && grammar.rule(rule).arguments().contains(&self.recursive)
                })
        })
    }
}

/// What the filters look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// How many clauses are embedded.
    pub that: usize,
    /// How many prepositions there are.
    pub prepositions: usize,
    /// Whether a noun or a name occurs twice.
    pub repeats: bool,
}

impl Counts {
    /// Counts.
    pub fn of(sentence: &Sentence<'_>) -> Self {
        let mut seen: Vec<&str> = Vec::new();
        let mut prepositions = 0;
        for phrase in sentence.clauses.iter().flat_map(|clause| noun_phrases(clause)) {
            match phrase {
                NounPhrase::Name(name) => seen.push(name),
                NounPhrase::Common(links) => {
                    prepositions += links.len() - 1;
                    seen.extend(links.iter().map(|link| link.noun));
                }
            }
        }
        seen.sort_unstable();
        let repeats = seen.windows(2).any(|pair| pair[0] == pair[1]);
        Self { that: sentence.clauses.len() - 1, prepositions, repeats }
    }
}

/// Every noun phrase of a clause.
pub fn noun_phrases<'c, 't>(clause: &'c Clause<'t>) -> impl Iterator<Item = &'c NounPhrase<'t>> {
    let behind: [Option<&NounPhrase<'t>>; 3] = match &clause.frame {
        Frame::Bare | Frame::Infinitive(_) | Frame::That => [None, None, None],
        Frame::Object(object) => [Some(object), None, None],
        Frame::ToRecipient(first, second) | Frame::TwoObjects(first, second) => {
            [Some(first), Some(second), None]
        }
        Frame::Passive { recipient, theme, agent } => [recipient.as_ref(), theme.as_ref(), agent.as_ref()],
    };
    std::iter::once(&clause.subject).chain(behind.into_iter().flatten())
}
