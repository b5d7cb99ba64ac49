//! The functions that programs are made of.

use serde::{Deserialize, Serialize};

use super::order::Order;
use super::value::{LARGEST, LONGEST, Token, Value};

/// Functions from strings to strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum StrFunction {
    Identity,
    Reverse,
    First,
    Last,
    Tail,
    Init,
    Middle,
    FirstTwo,
    WithoutTwo,
    LastTwo,
    FirstHalf,
    SecondHalf,
    OddPlaces,
    EvenPlaces,
    EachTwice,
    Distinct,
    Unrepeated,
    SwappedPairs,
    Sorted,
}

impl StrFunction {
    pub(crate) const ALL: [Self; 19] = [
        Self::Identity,
        Self::Reverse,
        Self::First,
        Self::Last,
        Self::Tail,
        Self::Init,
        Self::Middle,
        Self::FirstTwo,
        Self::WithoutTwo,
        Self::LastTwo,
        Self::FirstHalf,
        Self::SecondHalf,
        Self::OddPlaces,
        Self::EvenPlaces,
        Self::EachTwice,
        Self::Distinct,
        Self::Unrepeated,
        Self::SwappedPairs,
        Self::Sorted,
    ];

    pub(crate) fn append(self, text: &[Token], out: &mut Vec<Token>) {
        let n = text.len();
        match self {
            Self::Identity => out.extend_from_slice(text),
            Self::Reverse => out.extend(text.iter().rev()),
            Self::First => out.extend(text.first()),
            Self::Last => out.extend(text.last()),
            Self::Tail => out.extend(text.iter().skip(1)),
            Self::Init => out.extend(&text[..n.saturating_sub(1)]),
            Self::Middle => out.extend(text.get(1..n.saturating_sub(1)).unwrap_or(&[])),
            Self::FirstTwo => out.extend(text.iter().take(2)),
            Self::WithoutTwo => out.extend(text.iter().skip(2)),
            Self::LastTwo => out.extend(&text[n.saturating_sub(2)..]),
            Self::FirstHalf => out.extend(&text[..n.div_ceil(2)]),
            Self::SecondHalf => out.extend(&text[n.div_ceil(2)..]),
            Self::OddPlaces => out.extend(text.iter().step_by(2)),
            Self::EvenPlaces => out.extend(text.iter().skip(1).step_by(2)),
            Self::EachTwice => out.extend(text.iter().flat_map(|&token| [token, token])),
            Self::Distinct => {
                let from = out.len();
                for &token in text.iter().take(LONGEST) {
                    if !out[from..].contains(&token) {
                        out.push(token);
                    }
                }
            }
            Self::Unrepeated => {
                let new = |i: &usize| *i == 0 || text[*i] != text[*i - 1];
                out.extend((0..n).filter(new).map(|i| text[i]));
            }
            Self::SwappedPairs => {
                out.extend(text.chunks(2).flat_map(|pair| pair.iter().rev()));
            }
            Self::Sorted => {
                let from = out.len();
                out.extend_from_slice(text);
                out[from..].sort_unstable();
            }
        }
    }

    pub(crate) fn bits(self) -> f64 {
        match self {
            Self::Identity => 2.0,
            Self::Reverse | Self::First | Self::Last => 4.0,
            Self::Tail | Self::Init => 4.5,
            Self::Middle => 5.0,
            _ => 6.0,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Reverse => "reverse",
            Self::First => "first",
            Self::Last => "last",
            Self::Tail => "tail",
            Self::Init => "init",
            Self::Middle => "middle",
            Self::FirstTwo => "take 2",
            Self::WithoutTwo => "drop 2",
            Self::LastTwo => "last 2",
            Self::FirstHalf => "first half",
            Self::SecondHalf => "second half",
            Self::OddPlaces => "odd places",
            Self::EvenPlaces => "even places",
            Self::EachTwice => "each twice",
            Self::Distinct => "distinct",
            Self::Unrepeated => "without adjacent repeats",
            Self::SwappedPairs => "swap pairs",
            Self::Sorted => "sort",
        }
    }
}

/// Functions of two leaves that make a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Pairwise {
    Interleave,
    /// The tokens of the first that are not in the second, and those that are.
    Without,
    Within,
    /// From the first to the second, in the order of the tokens.
    Range,
    /// The first as often as the second, an integer, says.
    Repeat,
    Take,
    Drop,
    Nth,
}

impl Pairwise {
    pub(crate) const ALL: [Self; 8] = [
        Self::Interleave,
        Self::Without,
        Self::Within,
        Self::Range,
        Self::Repeat,
        Self::Take,
        Self::Drop,
        Self::Nth,
    ];

    pub(crate) fn append(self, a: &Value, b: &Value, order: &Order, out: &mut Vec<Token>) -> Option<()> {
        let number = || usize::try_from(b.as_int()?).ok().filter(|&number| number <= LONGEST);
        match self {
            Self::Interleave => {
                let (a, b) = (a.as_str()?, b.as_str()?);
                if a.len() != b.len() {
                    return None;
                }
                out.extend(a.iter().zip(b).flat_map(|(&a, &b)| [a, b]));
            }
            Self::Without | Self::Within => {
                let (a, b) = (a.as_str()?, b.as_str()?);
                if b.len() > 50 {
                    return None;
                }
                out.extend(a.iter().filter(|token| b.contains(token) == (self == Self::Within)));
            }
            Self::Range => {
                let ([a], [b]) = (a.as_str()?, b.as_str()?) else { return None };
                order.range(*a, *b, out)?;
            }
            Self::Repeat => {
                let a = a.as_str()?;
                let number = number()?;
                if a.len() * number > LONGEST {
                    return None;
                }
                (0..number).for_each(|_| out.extend_from_slice(a));
            }
            Self::Take => out.extend(a.as_str()?.iter().take(number()?)),
            Self::Drop => out.extend(a.as_str()?.iter().skip(number()?)),
            Self::Nth => out.push(*a.as_str()?.get(number()?.checked_sub(1)?)?),
        }
        Some(())
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Interleave => "interleave",
            Self::Without => "without",
            Self::Within => "within",
            Self::Range => "range",
            Self::Repeat => "repeat",
            Self::Take => "take",
            Self::Drop => "drop",
            Self::Nth => "nth",
        }
    }
}

/// Functions from values to integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum IntFunction {
    Value,
    Length,
    Distinct,
    Sum,
    Product,
    Max,
    Min,
    First,
    Last,
    Median,
    Alternating,
}

impl IntFunction {
    /// The functions of a string.
    pub(crate) const OF_STRINGS: [Self; 2] = [Self::Length, Self::Distinct];
    /// The functions of a list of integers.
    pub(crate) const OF_LISTS: [Self; 9] = [
        Self::Sum,
        Self::Max,
        Self::Min,
        Self::Length,
        Self::Product,
        Self::First,
        Self::Last,
        Self::Median,
        Self::Alternating,
    ];

    pub(crate) fn eval(self, value: &Value) -> Option<i64> {
        match (self, value) {
            (Self::Value, value) => value.as_int(),
            (Self::Length, Value::Str(text)) => Some(text.len() as i64),
            (Self::Length, Value::List(list)) => Some(list.len() as i64),
            (Self::Distinct, Value::Str(text)) => {
                let mut all = text.to_vec();
                all.sort_unstable();
                all.dedup();
                Some(all.len() as i64)
            }
            (_, Value::List(list)) => {
                let mut list: Vec<i64> = list.iter().map(Value::as_int).collect::<Option<_>>()?;
                let first = *list.first()?;
                let fold = |f: fn(i64, i64) -> Option<i64>| {
                    list[1..].iter().try_fold(first, |a, &b| f(a, b).filter(|value| value.abs() < LARGEST))
                };
                match self {
                    Self::Sum => fold(i64::checked_add),
                    Self::Product => fold(i64::checked_mul),
                    Self::Max => fold(|a, b| Some(a.max(b))),
                    Self::Min => fold(|a, b| Some(a.min(b))),
                    Self::First => Some(first),
                    Self::Last => list.last().copied(),
                    Self::Median => {
                        list.sort_unstable();
                        Some(i64::midpoint(list[list.len() / 2], list[(list.len() - 1) / 2]))
                    }
                    Self::Alternating => {
                        let signed = list.iter().enumerate().map(|(i, &v)| if i % 2 == 0 { v } else { -v });
                        Some(signed.sum())
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Length => "length",
            Self::Distinct => "distinct",
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Max => "max",
            Self::Min => "min",
            Self::First => "first",
            Self::Last => "last",
            Self::Median => "median",
            Self::Alternating => "alternating sum",
        }
    }
}

/// Operators on integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Operator {
    Add,
    Subtract,
    /// Subtraction, not below zero.
    Monus,
    Multiply,
    /// Division, rounded down, and rounded up.
    Divide,
    DivideUp,
    Modulo,
    Max,
    Min,
    Distance,
}

impl Operator {
    pub(crate) const ALL: [Self; 10] = [
        Self::Add,
        Self::Subtract,
        Self::Monus,
        Self::Multiply,
        Self::Divide,
        Self::DivideUp,
        Self::Modulo,
        Self::Max,
        Self::Min,
        Self::Distance,
    ];

    pub(crate) fn eval(self, a: i64, b: i64) -> Option<i64> {
        let value = match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Monus => (a - b).max(0),
            Self::Multiply => a.checked_mul(b)?,
            Self::Divide if b != 0 => a.div_euclid(b),
            Self::DivideUp if b > 0 => -(-a).div_euclid(b),
            Self::Modulo if b > 0 => a.rem_euclid(b),
            Self::Divide | Self::DivideUp | Self::Modulo => return None,
            Self::Max => a.max(b),
            Self::Min => a.min(b),
            Self::Distance => (a - b).abs(),
        };
        (value.abs() < LARGEST).then_some(value)
    }

    pub(crate) fn commutes(self) -> bool {
        matches!(self, Self::Add | Self::Multiply | Self::Max | Self::Min | Self::Distance)
    }

    pub(crate) fn show(self, a: &str, b: &str) -> String {
        match self {
            Self::Add => format!("({a} + {b})"),
            Self::Subtract => format!("({a} - {b})"),
            Self::Monus => format!("max(0, {a} - {b})"),
            Self::Multiply => format!("({a} * {b})"),
            Self::Divide => format!("floor({a} / {b})"),
            Self::DivideUp => format!("ceil({a} / {b})"),
            Self::Modulo => format!("({a} mod {b})"),
            Self::Max => format!("max({a}, {b})"),
            Self::Min => format!("min({a}, {b})"),
            Self::Distance => format!("|{a} - {b}|"),
        }
    }
}
