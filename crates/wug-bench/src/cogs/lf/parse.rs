//! Text to logical forms.

use std::borrow::Cow;

use super::tokens::{Tokens, is_word};
use super::{Conjunct, Form, Join, Name, Notation, ParseError, Term, tree};

impl<'t> Form<'t> {
    /// Reads a logical form. White space between tokens is free; everything else is as in the releases.
    pub fn parse(text: &'t str, notation: Notation) -> Result<Self, ParseError> {
        let mut tokens = Tokens::new(text);
        let mut form = Self::default();
        while tokens.take("LAMBDA") {
            form.lambdas.push(Cow::Borrowed(tokens.word("a variable")?));
            if !tokens.take(".") {
                return Err(tokens.expected("`.`"));
            }
        }
        if notation == Notation::VariableFree && form.lambdas.is_empty() {
            form.conjuncts = tree::parse(&mut tokens)?;
        } else {
            form.opens_with_semicolon = tokens.take(";");
            let mut join = Join::And;
            loop {
                let conjunct = conjunct(&mut tokens, notation, &form.lambdas, join)?;
                form.conjuncts.push(conjunct);
                join = match tokens.peek() {
                    Some(";") => Join::Semicolon,
                    Some("AND") => Join::And,
                    _ => break,
                };
                tokens.next();
            }
        }
        match tokens.peek() {
            None => Ok(form),
            Some(_) if notation == Notation::VariableFree => Err(tokens.expected("the end")),
            Some(_) => Err(tokens.expected("`;`, `AND` or the end")),
        }
    }
}

fn conjunct<'t>(
    tokens: &mut Tokens<'t>,
    notation: Notation,
    lambdas: &[Name<'t>],
    join: Join,
) -> Result<Conjunct<'t>, ParseError> {
    let definite = tokens.take("*");
    let mut predicate = vec![Cow::Borrowed(tokens.word("a predicate")?)];
    while tokens.take(".") {
        predicate.push(Cow::Borrowed(tokens.word("a word of the predicate")?));
    }
    let arguments = if notation.has_parentheses() {
        if tokens.take("(") { arguments(tokens, notation, lambdas)? } else { Vec::new() }
    } else {
        bare_arguments(tokens, notation, lambdas)?
    };
    // ReCOGS has the head of a relation in a conjunct of its own.
    let head = if arguments.len() >= 2 && (notation == Notation::Recogs || predicate.len() == 1) {
        None
    } else {
        Some(predicate.remove(0))
    };
    Ok(Conjunct { join, definite, head, relation: predicate, arguments })
}

fn arguments<'t>(
    tokens: &mut Tokens<'t>,
    notation: Notation,
    lambdas: &[Name<'t>],
) -> Result<Vec<Term<'t>>, ParseError> {
    let mut arguments = Vec::with_capacity(2);
    loop {
        arguments.push(term(tokens, notation, lambdas)?);
        if tokens.take(")") {
            return Ok(arguments);
        }
        if !tokens.take(",") {
            return Err(tokens.expected("`,` or `)`"));
        }
    }
}

/// Arguments without parentheses: as many terms as there are before the next `;` or `AND`.
fn bare_arguments<'t>(
    tokens: &mut Tokens<'t>,
    notation: Notation,
    lambdas: &[Name<'t>],
) -> Result<Vec<Term<'t>>, ParseError> {
    let mut arguments = Vec::with_capacity(2);
    if !tokens.peek().is_some_and(is_word) {
        return Ok(arguments);
    }
    arguments.push(term(tokens, notation, lambdas)?);
    loop {
        if notation.has_commas() {
            if !tokens.take(",") {
                return Ok(arguments);
            }
        } else if !tokens.peek().is_some_and(is_word) {
            return Ok(arguments);
        }
        arguments.push(term(tokens, notation, lambdas)?);
    }
}

fn term<'t>(
    tokens: &mut Tokens<'t>,
    notation: Notation,
    lambdas: &[Name<'t>],
) -> Result<Term<'t>, ParseError> {
    let word = tokens.word("an argument")?;
    if lambdas.iter().any(|bound| bound == word) {
        return Ok(Term::Bound(Cow::Borrowed(word)));
    }
    Ok(match notation {
        Notation::Cogs | Notation::VariableFree => {
            if word == "x" && tokens.take("_") {
                Term::Variable(Cow::Borrowed(tokens.word("the number of the variable")?))
            } else if let Some(name) = word.strip_prefix("x_").filter(|name| !name.is_empty()) {
                Term::Variable(Cow::Borrowed(name))
            } else {
                Term::Constant(Cow::Borrowed(word))
            }
        }
        Notation::Reduced(_) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
            Term::Variable(Cow::Borrowed(word))
        }
        Notation::Reduced(_) => Term::Constant(Cow::Borrowed(word)),
        Notation::Recogs => Term::Variable(Cow::Borrowed(word)),
    })
}
