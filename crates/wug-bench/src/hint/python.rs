//! The value of an expression in Python, without running Python.

use super::grammar::Symbol;

/// A number as Python has them: whole numbers are exact, and division makes a float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// `int`.
    Int(i128),
    /// `float`.
    Float(f64),
}

impl Number {
    /// What `int()` makes of it; `None` for what is not finite or too large.
    pub fn truncated(self) -> Option<i128> {
        match self {
            Self::Int(value) => Some(value),
            Self::Float(value) => (value.abs() < 1e30).then(|| value.trunc() as i128),
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// The value of a prefix expression in Python; `None` where it divides by zero, where a number does not fit, and for
/// symbols that Python does not know.
///
/// ```
/// use wug_bench::hint::{expression::parse, python};
///
/// let value = |text: &str| python::evaluate(&parse(text)?).and_then(python::Number::truncated).ok_or("none".to_owned());
/// assert_eq!(value("7/2")?, 3);
/// assert_eq!(value("3-5")?, -2);
/// # Ok::<(), String>(())
/// ```
pub fn evaluate(prefix: &[u8]) -> Option<Number> {
    let mut done: Vec<Number> = Vec::with_capacity(8);
    for &token in prefix.iter().rev() {
        let symbol = Symbol(token);
        let value = if token < 10 {
            Number::Int(token.into())
        } else {
            let (left, right) = (done.pop()?, done.pop()?);
            apply(symbol, left, right)?
        };
        done.push(value);
    }
    let value = done.pop()?;
    done.is_empty().then_some(value)
}

fn apply(operator: Symbol, left: Number, right: Number) -> Option<Number> {
    if operator == Symbol::DIVIDED {
        return (right.float() != 0.0).then(|| Number::Float(left.float() / right.float()));
    }
    if let (Number::Int(left), Number::Int(right)) = (left, right) {
        return match operator {
            Symbol::PLUS => left.checked_add(right),
            Symbol::MINUS => left.checked_sub(right),
            Symbol::TIMES => left.checked_mul(right),
            _ => None,
        }
        .map(Number::Int);
    }
    let (left, right) = (left.float(), right.float());
    match operator {
        Symbol::PLUS => Some(left + right),
        Symbol::MINUS => Some(left - right),
        Symbol::TIMES => Some(left * right),
        _ => None,
    }
    .map(Number::Float)
}
