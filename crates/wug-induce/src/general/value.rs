//! What a span of a source can be worth: an integer, a string of tokens, a record of such values, or a list of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A token of a string: the number of a word, or an integer (see [`int_token`]).
pub(crate) type Token = u32;

const INTEGER: u32 = 1 << 31;
const ZERO: i64 = 1 << 30;

/// Larger magnitudes are no values.
pub(crate) const LARGEST: i64 = 1_000_000_000_000_000;

/// Longer strings are no values.
pub(crate) const LONGEST: usize = 2000;

/// An integer as a token, where it is small enough.
pub(crate) fn int_token(value: i64) -> Option<Token> {
    (value.abs() < ZERO).then(|| INTEGER + (value + ZERO) as u32)
}

/// The integer that a token is.
pub(crate) fn token_int(token: Token) -> Option<i64> {
    (token >= INTEGER).then(|| i64::from(token - INTEGER) - ZERO)
}

/// The value of a span.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Value {
    Int(i64),
    Str(Arc<[Token]>),
    /// Components with a type of their own each, such as the coordinates of a place.
    Record(Arc<[Value]>),
    /// Adjacent values that a rule of any arity takes together.
    List(Arc<[Value]>),
}

impl Value {
    pub(crate) fn string(tokens: &[Token]) -> Self {
        Self::Str(tokens.into())
    }

    pub(crate) fn as_str(&self) -> Option<&[Token]> {
        if let Self::Str(tokens) = self { Some(tokens) } else { None }
    }

    /// The integer that it is, also where it is a string of one integer token.
    pub(crate) fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Str(tokens) if tokens.len() == 1 => token_int(tokens[0]),
            _ => None,
        }
    }

    /// The value with its positions moved: integers in strings are positions in the source where targets have such.
    pub(crate) fn shifted(&self, by: i64) -> Self {
        match self {
            _ if by == 0 => self.clone(),
            Self::Str(tokens) if tokens.iter().any(|&token| token >= INTEGER) => {
                let moved = |&token: &Token| {
                    token_int(token).and_then(|value| int_token(value + by)).unwrap_or(token)
                };
                Self::Str(tokens.iter().map(moved).collect())
            }
            Self::Record(parts) => Self::Record(parts.iter().map(|part| part.shifted(by)).collect()),
            _ => self.clone(),
        }
    }

    /// Which of the types it has; values of one table column agree in it.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Self::Int(_) => 0,
            Self::Str(_) => 1,
            Self::Record(_) => 2,
            Self::List(_) => 3,
        }
    }
}

/// A part of the values of a rule's holes: a hole, or a component of the record in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Leaf {
    pub hole: u8,
    pub component: Option<u8>,
}

impl Leaf {
    pub(crate) fn of(self, values: &[Value]) -> Option<&Value> {
        let value = values.get(self.hole as usize)?;
        match (self.component, value) {
            (None, value) => Some(value),
            (Some(component), Value::Record(parts)) => parts.get(component as usize),
            _ => None,
        }
    }

    pub(crate) fn show(self) -> String {
        match self.component {
            None => format!("${}", self.hole + 1),
            Some(component) => format!("${}.{}", self.hole + 1, component + 1),
        }
    }
}

/// The leaves of a list of values: each value that is no record, and the components of records.
pub(crate) fn leaves(values: &[Value]) -> Vec<Leaf> {
    let mut all = Vec::new();
    for (hole, value) in values.iter().enumerate() {
        let hole = hole as u8;
        match value {
            Value::Record(parts) => {
                all.extend((0..parts.len() as u8).map(|part| Leaf { hole, component: Some(part) }));
            }
            _ => all.push(Leaf { hole, component: None }),
        }
    }
    all
}
