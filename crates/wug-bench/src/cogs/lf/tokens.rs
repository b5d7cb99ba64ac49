//! Text to tokens with their places.

use super::ParseError;
use wug_data::truncate;

/// A token, the byte where it starts, and its kind.
#[derive(Debug, Clone, Copy)]
struct Token<'t> {
    text: &'t str,
    start: usize,
    kind: u8,
}

/// Characters that are tokens of their own, with or without spaces around them, and kinds of their own.
const MARKS: [u8; 7] = *b"(),;.*=";
/// The kind of a token that is a word,
const WORD: u8 = b'w';
/// of the word that joins conjuncts,
pub(super) const AND: u8 = b'A';
/// of the word that binds variables,
pub(super) const LAMBDA: u8 = b'L';
/// and of what comes behind the last token.
const END: u8 = b'E';

/// What a byte is to a reader of tokens: part of a word for certain, a mark, or something to look at more closely.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' {
            classes[byte] = WORD;
        }
        byte += 1;
    }
    let mut i = 0;
    while i < MARKS.len() {
        classes[MARKS[i] as usize] = MARKS[i];
        i += 1;
    }
    classes
};

/// Walks over the tokens of a text.
pub(super) struct Tokens<'t> {
    text: &'t str,
    position: usize,
    ahead: Token<'t>,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut tokens = Self { text, position: 0, ahead: Token { text: "", start: 0, kind: END } };
        tokens.next();
        tokens
    }

    /// Goes to the next token.
    #[inline]
    pub(super) fn next(&mut self) {
        // Almost all text is ASCII with single spaces: that much is read byte by byte.
        let bytes = self.text.as_bytes();
        let mut start = self.position;
        if bytes.get(start) == Some(&b' ') {
            start += 1;
        }
        let mut end = start;
        while bytes.get(end).is_some_and(|&byte| CLASSES[byte as usize] == WORD) {
            end += 1;
        }
        let kind = match bytes.get(end) {
            None | Some(b' ') if end > start => WORD,
            Some(&mark) if CLASSES[mark as usize] == mark => {
                if end == start {
                    end += 1;
                    mark
                } else {
                    WORD
                }
            }
            _ => return self.next_of_any_text(),
        };
        self.position = end;
        self.ahead = Token { text: &self.text[start..end], start, kind };
        if kind == WORD {
            self.ahead.kind = kind_of_word(self.ahead.text);
        }
    }

    /// [`Tokens::next`] for text of any kind.
    #[cold]
    fn next_of_any_text(&mut self) {
        let rest = &self.text[self.position..];
        let start = self.position + (rest.len() - rest.trim_start().len());
        let rest = &self.text[start..];
        let (length, kind) = match rest.as_bytes().first() {
            None => (0, END),
            Some(&mark) if MARKS.contains(&mark) => (1, mark),
            Some(_) => {
                let is_end =
                    |c: char| c.is_whitespace() || u8::try_from(c).is_ok_and(|byte| MARKS.contains(&byte));
                let length = rest.find(is_end).unwrap_or(rest.len());
                (length, kind_of_word(&rest[..length]))
            }
        };
        self.position = start + length;
        self.ahead = Token { text: &rest[..length], start, kind };
    }

    /// The kind of the next token: a mark itself, or one of the constants of this module.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.ahead.kind
    }

    /// Whether the next token is a word.
    pub(super) fn at_word(&self) -> bool {
        self.ahead.kind == WORD
    }

    /// Whether the next token is this word.
    pub(super) fn next_is(&self, word: &str) -> bool {
        self.ahead.text == word
    }

    /// Whether there is no other token.
    pub(super) fn at_end(&self) -> bool {
        self.ahead.kind == END
    }

    /// Takes the next token if it is of this kind.
    #[inline]
    pub(super) fn take(&mut self, wanted: u8) -> bool {
        let is_wanted = self.ahead.kind == wanted;
        if is_wanted {
            self.next();
        }
        is_wanted
    }

    /// Takes the next token, which must be a word.
    #[inline]
    pub(super) fn word(&mut self, what: &str) -> Result<&'t str, ParseError> {
        if self.ahead.kind != WORD {
            return Err(self.expected(what));
        }
        let text = self.ahead.text;
        self.next();
        Ok(text)
    }

    /// Says what should stand where the next token is.
    #[cold]
    pub(super) fn expected(&self, what: &str) -> ParseError {
        let Token { text, start, kind } = self.ahead;
        let found = if kind == END {
            "the end".to_owned()
        } else {
            let shown = truncate(text, 40);
            format!("`{shown}`")
        };
        let start = if kind == END { self.text.len() } else { start };
        let column = self.text[..start].chars().count() + 1;
        ParseError { column, what: format!("expected {what}, found {found}") }
    }
}

/// Two words join and bind.
fn kind_of_word(word: &str) -> u8 {
    match word {
        "AND" => AND,
        "LAMBDA" => LAMBDA,
        _ => WORD,
    }
}
