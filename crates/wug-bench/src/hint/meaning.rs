//! What it means: whole numbers from 0 up.
//!
//! Subtraction stops at 0 and division rounds up, so results are never negative and never broken; only division by 0
//! is undefined, and so is every expression with an undefined part.

use super::grammar::Symbol;

/// The value of an operator; `None` if it is undefined or does not fit.
///
/// ```
/// use wug_bench::hint::{grammar::Symbol, meaning::apply};
///
/// assert_eq!(apply(Symbol::MINUS, 3, 5), Some(0));
/// assert_eq!(apply(Symbol::DIVIDED, 7, 2), Some(4));
/// assert_eq!(apply(Symbol::DIVIDED, 7, 0), None);
/// ```
pub fn apply(operator: Symbol, left: u64, right: u64) -> Option<u64> {
    match operator.0 {
        10 => left.checked_add(right),
        11 => Some(left.saturating_sub(right)),
        12 => left.checked_mul(right),
        13 => (right != 0).then(|| left.div_ceil(right)),
        18 => Some(left.max(right)),
        19 => Some(left.min(right)),
        // The paper prints the means without rounding; the release rounds up.
        20 => left.checked_add(right).map(|sum| sum.div_ceil(2)),
        21 => {
            let sum = left.checked_add(right).filter(|&sum| sum > 0)?;
            left.checked_mul(right)?.checked_mul(2).map(|product| product.div_ceil(sum))
        }
        _ => None,
    }
}

/// The value of a prefix expression and the largest value of any part of it; `None` where one is undefined or does
/// not fit.
pub fn evaluate(prefix: &[u8]) -> Option<(u64, u64)> {
    let mut done: Vec<u64> = Vec::with_capacity(8);
    let mut largest = 0;
    for &token in prefix.iter().rev() {
        let symbol = Symbol(token);
        let value = if let Some(value) = symbol.leaf() {
            value
        } else {
            let (left, right) = (done.pop()?, done.pop()?);
            apply(symbol, left, right)?
        };
        largest = largest.max(value);
        done.push(value);
    }
    let value = done.pop()?;
    done.is_empty().then_some((value, largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_mean_what_the_release_says() {
        let cases = [
            ('+', 3, 4, Some(7)),
            ('-', 3, 5, Some(0)),
            ('-', 5, 3, Some(2)),
            ('*', 9, 9, Some(81)),
            ('/', 7, 2, Some(4)),
            ('/', 6, 3, Some(2)),
            ('/', 0, 5, Some(0)),
            ('/', 1, 9, Some(1)),
            ('/', 5, 0, None),
            ('/', 0, 0, None),
            ('a', 3, 8, Some(8)),
            ('b', 3, 8, Some(3)),
            ('c', 4, 5, Some(5)),
            ('c', 0, 1, Some(1)),
            ('d', 5, 3, Some(4)),
            ('d', 1, 9, Some(2)),
            ('d', 4, 0, Some(0)),
            ('d', 0, 0, None),
            ('d', 6, 6, Some(6)),
        ];
        for (operator, left, right, value) in cases {
            let symbol = Symbol::of(operator).unwrap();
            assert_eq!(apply(symbol, left, right), value, "{left} {operator} {right}");
        }
        assert_eq!(apply(Symbol::TIMES, u64::MAX, 2), None, "an overflow is no value, not a wrong one");
    }
}
