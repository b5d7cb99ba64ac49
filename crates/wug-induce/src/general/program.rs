//! Programs: the target side of a rule, over the values of its holes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::functions::{IntFunction, Operator, Pairwise, StrFunction};
use super::order::Order;
use super::pairs;
use super::value::{LARGEST, LONGEST, Leaf, Token, Value, int_token, token_int};

/// What a rule is applied to.
pub(crate) struct Input<'a> {
    /// The values of the holes.
    pub values: &'a [Value],
    /// Where each symbol of the pattern begins, from the start of the span.
    pub starts: &'a [u16],
    /// The order of tokens that the targets show.
    pub order: &'a Order,
}

/// What a lookup goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Key {
    Whole(Leaf),
    First(Leaf),
    Last(Leaf),
    /// The last token that the table has.
    LastKnown(Leaf),
    /// The first token that the table has.
    FirstKnown(Leaf),
    Both(Leaf, Leaf),
}

pub(crate) type Table = BTreeMap<Value, Token>;

/// A piece of a string.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Atom {
    Constant(Token),
    Apply(StrFunction, Leaf),
    Pair(Pairwise, Leaf, Leaf),
    /// The first leaf with each occurrence of the token of the second replaced by the third.
    Substitute(Leaf, Leaf, Leaf),
    Lookup(Key, #[serde(with = "pairs")] Table),
    /// Token by token, of the leaf after the function.
    Map(StrFunction, Leaf, #[serde(with = "pairs")] BTreeMap<Token, Token>),
    /// The position at which a symbol of the pattern begins.
    Start(u8),
    /// The first (last) integer in a leaf: the position that a phrase is known by.
    FirstInt(Leaf),
    LastInt(Leaf),
}

/// An integer expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum IntExpr {
    Constant(i64),
    Apply(IntFunction, Leaf),
    /// How often a token is in a leaf.
    CountOf(Token, Leaf),
    /// How often the token of the first leaf is in the second, and where it first is.
    Count(Leaf, Leaf),
    Index(Leaf, Leaf),
    Binary(Operator, Box<IntExpr>, Box<IntExpr>),
    Lookup(Key, #[serde(with = "pairs")] BTreeMap<Value, i64>),
}

/// What tells the branches of a [`Program::Case`] apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Test {
    Key(Key),
    /// The sign of the difference.
    Compare(IntExpr, IntExpr),
    Parity(IntExpr),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Program {
    Concat(Vec<Atom>),
    Int(IntExpr),
    Record(Vec<Program>),
    Case(Test, #[serde(with = "pairs")] BTreeMap<Value, Program>),
}

impl Key {
    /// The key of an input, given which keys the table has.
    pub(crate) fn of(self, values: &[Value], has: impl Fn(&Value) -> bool) -> Option<Value> {
        let one = |token: &Token| Value::string(&[*token]);
        match self {
            Self::Whole(leaf) => leaf.of(values).cloned(),
            Self::First(leaf) => leaf.of(values)?.as_str()?.first().map(one),
            Self::Last(leaf) => leaf.of(values)?.as_str()?.last().map(one),
            Self::LastKnown(leaf) => leaf.of(values)?.as_str()?.iter().rev().map(one).find(has),
            Self::FirstKnown(leaf) => leaf.of(values)?.as_str()?.iter().map(one).find(has),
            Self::Both(a, b) => Some(Value::Record([a.of(values)?.clone(), b.of(values)?.clone()].into())),
        }
    }

    fn show(self) -> String {
        match self {
            Self::Whole(leaf) => leaf.show(),
            Self::First(leaf) => format!("first {}", leaf.show()),
            Self::Last(leaf) => format!("last {}", leaf.show()),
            Self::LastKnown(leaf) => format!("last of these in {}", leaf.show()),
            Self::FirstKnown(leaf) => format!("first of these in {}", leaf.show()),
            Self::Both(a, b) => format!("{}, {}", a.show(), b.show()),
        }
    }

    pub(crate) fn leaves(self) -> Vec<Leaf> {
        match self {
            Self::Whole(leaf)
            | Self::First(leaf)
            | Self::Last(leaf)
            | Self::LastKnown(leaf)
            | Self::FirstKnown(leaf) => vec![leaf],
            Self::Both(a, b) => vec![a, b],
        }
    }
}

impl Atom {
    /// Appends its tokens; `None` where it has none.
    pub(crate) fn append(&self, input: &Input<'_>, out: &mut Vec<Token>) -> Option<()> {
        let text = |leaf: &Leaf| leaf.of(input.values)?.as_str();
        match self {
            Self::Constant(token) => out.push(*token),
            Self::Apply(function, leaf) => match leaf.of(input.values)? {
                Value::Int(value) => out.push(int_token(*value)?),
                value => function.append(value.as_str()?, out),
            },
            Self::Pair(function, a, b) => {
                function.append(a.of(input.values)?, b.of(input.values)?, input.order, out)?;
            }
            Self::Substitute(main, name, body) => {
                let (main, name, body) = (text(main)?, text(name)?, text(body)?);
                let [name] = name else { return None };
                for token in main {
                    if token == name {
                        out.extend_from_slice(body);
                    } else {
                        out.push(*token);
                    }
                }
            }
            Self::Lookup(key, table) => {
                let key = key.of(input.values, |key| table.contains_key(key))?;
                out.push(*table.get(&key)?);
            }
            Self::Map(function, leaf, table) => {
                let from = out.len();
                function.append(text(leaf)?, out);
                for token in &mut out[from..] {
                    *token = *table.get(token)?;
                }
            }
            Self::Start(symbol) => out.push(int_token(i64::from(*input.starts.get(*symbol as usize)?))?),
            Self::FirstInt(leaf) => {
                out.push(*text(leaf)?.iter().find(|&&token| token_int(token).is_some())?);
            }
            Self::LastInt(leaf) => {
                out.push(*text(leaf)?.iter().rev().find(|&&token| token_int(token).is_some())?);
            }
        }
        (out.len() <= LONGEST).then_some(())
    }

    fn leaves(&self) -> Vec<Leaf> {
        match self {
            Self::Constant(_) | Self::Start(_) => Vec::new(),
            Self::Apply(_, leaf) | Self::Map(_, leaf, _) | Self::FirstInt(leaf) | Self::LastInt(leaf) => {
                vec![*leaf]
            }
            Self::Pair(_, a, b) => vec![*a, *b],
            Self::Substitute(a, b, c) => vec![*a, *b, *c],
            Self::Lookup(key, _) => key.leaves(),
        }
    }

    fn show(&self, names: &dyn Fn(Token) -> String) -> String {
        match self {
            Self::Constant(token) => names(*token),
            Self::Apply(StrFunction::Identity, leaf) => leaf.show(),
            Self::Apply(function, leaf) => format!("{}({})", function.name(), leaf.show()),
            Self::Pair(function, a, b) => format!("{}({}, {})", function.name(), a.show(), b.show()),
            Self::Substitute(main, name, body) => {
                format!("{}[{} := {}]", main.show(), name.show(), body.show())
            }
            Self::Lookup(key, table) => {
                let entries: Vec<String> = table
                    .iter()
                    .take(12)
                    .map(|(key, token)| format!("{}: {}", show_value(key, names), names(*token)))
                    .collect();
                let more = if table.len() > 12 { ", ..." } else { "" };
                format!("{{{}{more}}}[{}]", entries.join(", "), key.show())
            }
            Self::Map(function, leaf, table) => {
                let of = Self::Apply(*function, *leaf).show(names);
                format!("map of {} tokens({of})", table.len())
            }
            Self::Start(symbol) => format!("@{}", symbol + 1),
            Self::FirstInt(leaf) => format!("@first({})", leaf.show()),
            Self::LastInt(leaf) => format!("@last({})", leaf.show()),
        }
    }
}

/// A value as a person reads it.
pub(crate) fn show_value(value: &Value, names: &dyn Fn(Token) -> String) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        Value::Str(tokens) => tokens.iter().map(|&token| names(token)).collect::<Vec<_>>().join(" "),
        Value::Record(parts) | Value::List(parts) => {
            parts.iter().map(|part| show_value(part, names)).collect::<Vec<_>>().join(" | ")
        }
    }
}

impl IntExpr {
    pub(crate) fn eval(&self, values: &[Value]) -> Option<i64> {
        let result = match self {
            Self::Constant(value) => *value,
            Self::Apply(function, leaf) => function.eval(leaf.of(values)?)?,
            Self::CountOf(token, leaf) => count(leaf.of(values)?, *token)?,
            Self::Count(token, leaf) => {
                let [token] = token.of(values)?.as_str()? else { return None };
                count(leaf.of(values)?, *token)?
            }
            Self::Index(token, leaf) => {
                let [token] = token.of(values)?.as_str()? else { return None };
                leaf.of(values)?.as_str()?.iter().position(|other| other == token)? as i64 + 1
            }
            Self::Binary(operator, a, b) => operator.eval(a.eval(values)?, b.eval(values)?)?,
            Self::Lookup(key, table) => *table.get(&key.of(values, |key| table.contains_key(key))?)?,
        };
        (result.abs() < LARGEST).then_some(result)
    }

    fn leaves(&self) -> Vec<Leaf> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Apply(_, leaf) | Self::CountOf(_, leaf) => vec![*leaf],
            Self::Count(a, b) | Self::Index(a, b) => vec![*a, *b],
            Self::Binary(_, a, b) => [a.leaves(), b.leaves()].concat(),
            Self::Lookup(key, _) => key.leaves(),
        }
    }

    fn show(&self, names: &dyn Fn(Token) -> String) -> String {
        match self {
            Self::Constant(value) => value.to_string(),
            Self::Apply(IntFunction::Value, leaf) => leaf.show(),
            Self::Apply(function, leaf) => format!("{}({})", function.name(), leaf.show()),
            Self::CountOf(token, leaf) => format!("count({}, {})", names(*token), leaf.show()),
            Self::Count(a, b) => format!("count({}, {})", a.show(), b.show()),
            Self::Index(a, b) => format!("index({}, {})", a.show(), b.show()),
            Self::Binary(operator, a, b) => operator.show(&a.show(names), &b.show(names)),
            Self::Lookup(key, table) => format!("table of {}[{}]", table.len(), key.show()),
        }
    }
}

fn count(value: &Value, token: Token) -> Option<i64> {
    Some(value.as_str()?.iter().filter(|&&other| other == token).count() as i64)
}

impl Test {
    pub(crate) fn of(&self, values: &[Value], has: impl Fn(&Value) -> bool) -> Option<Value> {
        match self {
            Self::Key(key) => key.of(values, has),
            Self::Compare(a, b) => Some(Value::Int((a.eval(values)? - b.eval(values)?).signum())),
            Self::Parity(a) => Some(Value::Int(a.eval(values)?.rem_euclid(2))),
        }
    }

    fn leaves(&self) -> Vec<Leaf> {
        match self {
            Self::Key(key) => key.leaves(),
            Self::Compare(a, b) => [a.leaves(), b.leaves()].concat(),
            Self::Parity(a) => a.leaves(),
        }
    }

    fn show(&self, names: &dyn Fn(Token) -> String) -> String {
        match self {
            Self::Key(key) => key.show(),
            Self::Compare(a, b) => format!("sign({} - {})", a.show(names), b.show(names)),
            Self::Parity(a) => format!("{} mod 2", a.show(names)),
        }
    }
}

impl Program {
    /// The value of an input; `None` where it has none.
    pub(crate) fn eval(&self, input: &Input<'_>) -> Option<Value> {
        match self {
            Self::Concat(atoms) => {
                let mut out = Vec::new();
                for atom in atoms {
                    atom.append(input, &mut out)?;
                }
                Some(Value::Str(out.into()))
            }
            Self::Int(expr) => expr.eval(input.values).map(Value::Int),
            Self::Record(parts) => parts
                .iter()
                .map(|part| part.eval(input))
                .collect::<Option<Vec<_>>>()
                .map(|parts| Value::Record(parts.into())),
            Self::Case(test, branches) => {
                branches.get(&test.of(input.values, |key| branches.contains_key(key))?)?.eval(input)
            }
        }
    }

    /// The holes that it reads.
    pub(crate) fn holes(&self) -> Vec<u8> {
        fn collect(program: &Program, out: &mut Vec<u8>) {
            match program {
                Program::Concat(atoms) => {
                    out.extend(atoms.iter().flat_map(Atom::leaves).map(|leaf| leaf.hole));
                }
                Program::Int(expr) => out.extend(expr.leaves().iter().map(|leaf| leaf.hole)),
                Program::Record(parts) => parts.iter().for_each(|part| collect(part, out)),
                Program::Case(test, branches) => {
                    out.extend(test.leaves().iter().map(|leaf| leaf.hole));
                    for branch in branches.values() {
                        collect(branch, out);
                    }
                }
            }
        }
        let mut out = Vec::new();
        collect(self, &mut out);
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Whether it has lookup tables or branches, which grow with the rows they are made from.
    pub(crate) fn has_tables(&self) -> bool {
        match self {
            Self::Concat(atoms) => atoms.iter().any(|atom| matches!(atom, Atom::Lookup(..) | Atom::Map(..))),
            Self::Int(expr) => matches!(expr, IntExpr::Lookup(..)),
            Self::Record(parts) => parts.iter().any(Self::has_tables),
            Self::Case(..) => true,
        }
    }

    pub(crate) fn show(&self, names: &dyn Fn(Token) -> String) -> String {
        match self {
            Self::Concat(atoms) => atoms.iter().map(|atom| atom.show(names)).collect::<Vec<_>>().join(" "),
            Self::Int(expr) => expr.show(names),
            Self::Record(parts) => parts.iter().map(|part| part.show(names)).collect::<Vec<_>>().join(" | "),
            Self::Case(test, branches) => {
                let branches: Vec<String> = branches
                    .iter()
                    .map(|(key, branch)| format!("{}: {}", show_value(key, names), branch.show(names)))
                    .collect();
                format!("case {} of {{{}}}", test.show(names), branches.join("; "))
            }
        }
    }

    /// Bits to write it down; `token` are the bits of a token.
    pub(crate) fn bits(&self, token: f64) -> f64 {
        match self {
            Self::Concat(atoms) => atoms.iter().map(|atom| atom.bits(token)).sum(),
            Self::Int(expr) => expr.bits(token),
            Self::Record(parts) => parts.iter().map(|part| part.bits(token)).sum(),
            Self::Case(test, branches) => {
                let test = match test {
                    Test::Key(_) => 6.0,
                    Test::Compare(a, b) => 4.0 + a.bits(token) + b.bits(token),
                    Test::Parity(a) => 4.0 + a.bits(token),
                };
                test + branches.values().map(|branch| token + branch.bits(token)).sum::<f64>()
            }
        }
    }
}

impl Atom {
    pub(crate) fn bits(&self, token: f64) -> f64 {
        match self {
            Self::Constant(_) => token + 1.0,
            Self::Apply(function, _) => function.bits(),
            Self::Pair(..) => 6.0,
            Self::Substitute(..) => 8.0,
            // An entry costs as much as the row of one token that it could remember.
            Self::Lookup(key, table) => {
                let key = match key {
                    Key::Whole(_) => 0.0,
                    Key::Both(..) => 3.0,
                    _ => 2.0,
                };
                let longer: usize = table.keys().map(|key| key_tokens(key) - 1).sum();
                6.0 + key + (token + 3.0) * table.len() as f64 + token * longer as f64
            }
            Self::Map(function, _, table) => 4.0 + function.bits() + (token + 2.0) * table.len() as f64,
            Self::Start(_) | Self::FirstInt(_) => 3.0,
            Self::LastInt(_) => 3.5,
        }
    }
}

/// Tokens that are written for a key; a pair of tokens counts as one.
fn key_tokens(key: &Value) -> usize {
    match key {
        Value::Str(tokens) => tokens.len().max(1),
        Value::Record(parts) => 1 + parts.iter().map(|part| key_tokens(part) - 1).sum::<usize>(),
        Value::Int(_) | Value::List(_) => 1,
    }
}

/// Bits of an integer constant.
pub(crate) fn int_bits(value: i64) -> f64 {
    2.0 + 2.0 * (1.0 + value.unsigned_abs() as f64).log2()
}

impl IntExpr {
    pub(crate) fn bits(&self, token: f64) -> f64 {
        match self {
            Self::Constant(value) => int_bits(*value),
            Self::Apply(IntFunction::Value, _) => 2.0,
            Self::Apply(..) => 4.0,
            Self::CountOf(..) => 4.0 + token,
            Self::Count(..) | Self::Index(..) => 5.0,
            Self::Binary(_, a, b) => 3.0 + a.bits(token) + b.bits(token),
            Self::Lookup(_, table) => 6.0 + table.values().map(|&value| 4.0 + int_bits(value)).sum::<f64>(),
        }
    }
}
