//! Text to tokens with their places.

use super::ParseError;

/// A token and the byte where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
}

/// Characters that are tokens of their own, with or without spaces around them.
const MARKS: [u8; 7] = *b"(),;.*=";

/// Walks over the tokens of a text.
pub(super) struct Tokens<'t> {
    text: &'t str,
    position: usize,
    ahead: Option<Token<'t>>,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut tokens = Self { text, position: 0, ahead: None };
        tokens.ahead = tokens.read();
        tokens
    }

    fn read(&mut self) -> Option<Token<'t>> {
        let rest = &self.text[self.position..];
        let start = self.position + (rest.len() - rest.trim_start().len());
        let rest = &self.text[start..];
        let length = match rest.as_bytes().first()? {
            byte if MARKS.contains(byte) => 1,
            _ => rest
                .find(|c: char| c.is_whitespace() || (c.is_ascii() && MARKS.contains(&(c as u8))))
                .unwrap_or(rest.len()),
        };
        self.position = start + length;
        Some(Token { text: &rest[..length], start })
    }

    /// The next token, without taking it.
    pub(super) fn peek(&self) -> Option<&'t str> {
        self.ahead.map(|token| token.text)
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Option<Token<'t>> {
        let token = self.ahead;
        self.ahead = self.read();
        token
    }

    /// Takes the next token if it is this one.
    pub(super) fn take(&mut self, wanted: &str) -> bool {
        let is_wanted = self.peek() == Some(wanted);
        if is_wanted {
            self.next();
        }
        is_wanted
    }

    /// Takes the next token, which must be a word.
    pub(super) fn word(&mut self, what: &str) -> Result<&'t str, ParseError> {
        match self.peek() {
            Some(text) if is_word(text) => {
                self.next();
                Ok(text)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Says what should stand where the next token is.
    pub(super) fn expected(&self, what: &str) -> ParseError {
        let start = self.ahead.map_or(self.text.len(), |token| token.start);
        let found = match self.ahead {
            None => "the end".to_owned(),
            Some(token) => {
                let shown: String = token.text.chars().take(40).collect();
                format!("`{shown}`")
            }
        };
        let column = self.text[..start].chars().count() + 1;
        ParseError { column, what: format!("expected {what}, found {found}") }
    }
}

/// Whether a token is a word: no mark, and none of the two words that join and bind.
pub(super) fn is_word(token: &str) -> bool {
    !MARKS.contains(&token.as_bytes()[0]) && token != "AND" && token != "LAMBDA"
}
