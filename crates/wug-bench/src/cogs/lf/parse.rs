//! Text to logical forms.

use std::borrow::Cow;

use super::tokens::{AND, LAMBDA, Tokens};
use super::{Conjunct, Form, Join, Notation, ParseError, Term, tree};

/// What is read of a logical form, one after the other.
pub(crate) enum Read<'r, 't> {
    /// A variable that a `LAMBDA` binds.
    Lambda(&'t str),
    /// A `;` before anything else.
    Semicolon,
    /// A conjunct.
    Conjunct { join: Join, definite: bool, words: &'r [&'t str], arguments: &'r [Argument<'t>] },
}

/// An argument as it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument<'t> {
    /// A variable.
    Variable(&'t str),
    /// A variable that a `LAMBDA` binds, and which of them; the inner one where two bind the same name.
    Bound(usize, &'t str),
    /// A constant.
    Constant(&'t str),
    /// A place in a tree, which is a variable by its number.
    Node(usize),
}

impl<'t> Argument<'t> {
    fn term(self) -> Term<'t> {
        match self {
            Self::Variable(name) => Term::Variable(Cow::Borrowed(name)),
            Self::Bound(_, name) => Term::Bound(Cow::Borrowed(name)),
            Self::Constant(name) => Term::Constant(Cow::Borrowed(name)),
            Self::Node(number) => Term::numbered(number),
        }
    }
}

/// Reads a logical form piece by piece, for whoever has no need of all of it at once.
pub(crate) fn read<'t>(
    text: &'t str,
    notation: Notation,
    each: &mut impl FnMut(Read<'_, 't>),
) -> Result<(), ParseError> {
    let mut tokens = Tokens::new(text);
    let mut lambdas: Vec<&'t str> = Vec::new();
    while tokens.take(LAMBDA) {
        let name = tokens.word("a variable")?;
        lambdas.push(name);
        each(Read::Lambda(name));
        if !tokens.take(b'.') {
            return Err(tokens.expected("`.`"));
        }
    }
    if notation == Notation::VariableFree && lambdas.is_empty() {
        tree::parse(&mut tokens, each)?;
    } else {
        if tokens.take(b';') {
            each(Read::Semicolon);
        }
        let mut join = Join::And;
        let (mut words, mut terms) = (Vec::with_capacity(4), Vec::with_capacity(4));
        loop {
            let definite = tokens.take(b'*');
            words.clear();
            words.push(tokens.word("a predicate")?);
            while tokens.take(b'.') {
                words.push(tokens.word("a word of the predicate")?);
            }
            terms.clear();
            if !notation.has_parentheses() {
                bare_arguments(&mut tokens, notation, &lambdas, &mut terms)?;
            } else if tokens.take(b'(') {
                arguments(&mut tokens, notation, &lambdas, &mut terms)?;
            }
            each(Read::Conjunct { join, definite, words: &words, arguments: &terms });
            join = match tokens.peek() {
                b';' => Join::Semicolon,
                AND => Join::And,
                _ => break,
            };
            tokens.next();
        }
    }
    if tokens.at_end() {
        return Ok(());
    }
    Err(tokens.expected(if notation == Notation::VariableFree { "the end" } else { "`;`, `AND` or the end" }))
}

impl<'t> Form<'t> {
    /// Reads a logical form. White space between tokens is free; everything else is as in the releases.
    pub fn parse(text: &'t str, notation: Notation) -> Result<Self, ParseError> {
        let mut form = Self::default();
        read(text, notation, &mut |what| match what {
            Read::Lambda(name) => form.lambdas.push(Cow::Borrowed(name)),
            Read::Semicolon => form.opens_with_semicolon = true,
            Read::Conjunct { join, definite, words, arguments } => {
                // ReCOGS has the head of a relation in a conjunct of its own, and so has a tree.
                let is_tree = notation == Notation::VariableFree && form.lambdas.is_empty();
                let is_relation =
                    arguments.len() >= 2 && (words.len() == 1 || notation == Notation::Recogs || is_tree);
                let (head, relation) = words.split_at(usize::from(!is_relation));
                form.conjuncts.push(Conjunct {
                    join,
                    definite,
                    head: head.first().map(|&word| Cow::Borrowed(word)),
                    relation: relation.iter().map(|&word| Cow::Borrowed(word)).collect(),
                    arguments: arguments.iter().map(|argument| argument.term()).collect(),
                });
            }
        })?;
        Ok(form)
    }
}

fn arguments<'t>(
    tokens: &mut Tokens<'t>,
    notation: Notation,
    lambdas: &[&'t str],
    arguments: &mut Vec<Argument<'t>>,
) -> Result<(), ParseError> {
    loop {
        arguments.push(term(tokens, notation, lambdas)?);
        if tokens.take(b')') {
            return Ok(());
        }
        if !tokens.take(b',') {
            return Err(tokens.expected("`,` or `)`"));
        }
    }
}

/// Arguments without parentheses: as many terms as there are before the next `;` or `AND`.
fn bare_arguments<'t>(
    tokens: &mut Tokens<'t>,
    notation: Notation,
    lambdas: &[&'t str],
    arguments: &mut Vec<Argument<'t>>,
) -> Result<(), ParseError> {
    if !tokens.at_word() {
        return Ok(());
    }
    arguments.push(term(tokens, notation, lambdas)?);
    loop {
        if notation.has_commas() {
            if !tokens.take(b',') {
                return Ok(());
            }
        } else if !tokens.at_word() {
            return Ok(());
        }
        arguments.push(term(tokens, notation, lambdas)?);
    }
}

fn term<'t>(
    tokens: &mut Tokens<'t>,
    notation: Notation,
    lambdas: &[&'t str],
) -> Result<Argument<'t>, ParseError> {
    let word = tokens.word("an argument")?;
    if let Some(bound) = lambdas.iter().rposition(|bound| *bound == word) {
        return Ok(Argument::Bound(bound, word));
    }
    Ok(match notation {
        Notation::Cogs | Notation::VariableFree => {
            if word == "x" && tokens.next_is("_") {
                tokens.next();
                Argument::Variable(tokens.word("the number of the variable")?)
            } else if let Some(name) = word.strip_prefix("x_").filter(|name| !name.is_empty()) {
                Argument::Variable(name)
            } else {
                Argument::Constant(word)
            }
        }
        Notation::Reduced(_) if word.bytes().all(|byte| byte.is_ascii_digit()) => Argument::Variable(word),
        Notation::Reduced(_) => Argument::Constant(word),
        Notation::Recogs => Argument::Variable(word),
    })
}
