use std::ops::Range;

use crate::{Algebra, Arena, Error, Grammar, NodeId, Result, RuleId, Vocab};

/// One piece of a rule's string: a word, or the string of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// The word with this number in the interpretation's vocabulary.
    Word(u32),
    /// The string of the argument with this index (from 0).
    Argument(u32),
}

/// An interpretation of trees as strings of words: each rule is a template over the strings of its arguments.
///
/// Arguments may be repeated, dropped and moved, which is all that SCAN's `twice`, `turn` and `after` do.
#[derive(Debug, Clone)]
pub struct Strings {
    vocab: Vocab,
    pieces: Vec<Piece>,
    templates: Vec<Range<usize>>,
}

impl Strings {
    pub(crate) fn new(vocab: Vocab, templates: Vec<Vec<Piece>>) -> Self {
        let mut pieces = Vec::new();
        let templates = templates
            .into_iter()
            .map(|template| {
                let start = pieces.len();
                pieces.extend(template);
                start..pieces.len()
            })
            .collect();
        Self { vocab, pieces, templates }
    }

    /// Reads an interpretation of `grammar`: a line per rule, `name: template`, where `$1` is the first argument.
    ///
    /// ```
    /// # use wug_grammar::{Grammar, Strings};
    /// # let (grammar, _) = Grammar::parse("after: C -> V after V\nV -> jump | walk")?;
    /// let actions = Strings::parse(&grammar, "after: $2 $1\njump: JUMP\nwalk: WALK")?;
    /// # let missing = Strings::parse(&grammar, "jump: JUMP\nwalk: WALK").unwrap_err();
    /// # assert_eq!(missing.to_string(), "rule `after` has no template");
    /// # Ok::<(), wug_grammar::Error>(())
    /// ```
    pub fn parse(grammar: &Grammar, text: &str) -> Result<Self> {
        let mut vocab = Vocab::default();
        let mut templates: Vec<Option<Vec<Piece>>> = vec![None; grammar.rules().len()];
        for (number, line) in text.lines().enumerate() {
            let fail = |what: String| Error::Text { line: number + 1, what };
            let line = line.split("# ").next().unwrap_or_default().trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, template) =
                line.split_once(':').ok_or_else(|| fail("expected `rule: template`".to_owned()))?;
            let rule = grammar
                .rule_named(name.trim())
                .ok_or_else(|| fail(format!("the grammar has no rule `{}`", name.trim())))?;
            let arity = grammar.rule(rule).arguments().len();
            let mut pieces = Vec::new();
            for word in template.split_whitespace() {
                pieces.push(match word.strip_prefix('$').map(str::parse::<usize>) {
                    Some(Ok(argument)) if (1..=arity).contains(&argument) => {
                        Piece::Argument(argument as u32 - 1)
                    }
                    Some(_) => return Err(fail(format!("`{word}`: rule `{name}` has {arity} arguments"))),
                    None => Piece::Word(vocab.add(word)),
                });
            }
            if templates[rule.index()].replace(pieces).is_some() {
                return Err(fail(format!("rule `{name}` has a template already")));
            }
        }
        let templates = templates
            .into_iter()
            .enumerate()
            .map(|(i, template)| {
                template.ok_or_else(|| {
                    Error::Grammar(format!("rule `{}` has no template", grammar.rules()[i].name()))
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self::new(vocab, templates))
    }

    /// The words that occur in templates.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// What a rule puts together.
    pub fn template(&self, rule: RuleId) -> &[Piece] {
        &self.pieces[self.templates[rule.index()].clone()]
    }

    /// An empty buffer to evaluate trees into.
    pub fn buffer(&self) -> StringBuffer<'_> {
        StringBuffer { strings: self, words: Vec::new() }
    }

    /// The string of one tree, words separated by spaces.
    pub fn text(&self, arena: &Arena, tree: NodeId) -> String {
        let mut buffer = self.buffer();
        let span = buffer.evaluate(arena, tree);
        let words: Vec<&str> = buffer.words(span).iter().map(|&word| self.vocab.word(word)).collect();
        words.join(" ")
    }
}

/// A stretch of a [`StringBuffer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    start: u32,
    end: u32,
}

/// The algebra of [`Strings`]: values are stretches of one growing buffer, so no tree allocates a string of its own.
#[derive(Debug, Clone)]
pub struct StringBuffer<'a> {
    strings: &'a Strings,
    words: Vec<u32>,
}

impl StringBuffer<'_> {
    /// The words of a value.
    pub fn words(&self, span: Span) -> &[u32] {
        &self.words[span.start as usize..span.end as usize]
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
    }
}

impl Algebra for StringBuffer<'_> {
    type Value = Span;

    fn apply(&mut self, rule: RuleId, children: &[Span]) -> Span {
        let template = self.strings.template(rule);
        if let [Piece::Argument(only)] = template {
            return children[*only as usize];
        }
        let start = self.words.len() as u32;
        for &piece in template {
            match piece {
                Piece::Word(word) => self.words.push(word),
                Piece::Argument(i) => {
                    let Span { start, end } = children[i as usize];
                    self.words.extend_from_within(start as usize..end as usize);
                }
            }
        }
        Span { start, end: self.words.len() as u32 }
    }
}
