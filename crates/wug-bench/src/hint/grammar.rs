//! What can be said: arithmetic on single digits.
//!
//! An expression is a binary tree. It is drawn and kept in prefix form, which needs no parentheses, and written in
//! infix form with the parentheses that are necessary, so that trees and strings are one-to-one: `1+(2+3)` keeps its
//! parentheses, `(1+2)+3` is written `1+2+3`.

use std::sync::LazyLock;

use num_bigint::BigUint;
use wug_data::{PythonRandom, Stream};
use wug_grammar::{Arena, Grammar, NodeId, Space, Strings};

/// The 22 symbols, each a token; those behind the parentheses are the ones to learn from a few examples.
pub use wug_ink::SYMBOLS;
/// The symbols of the main datasets: the first 16.
pub const MAIN_SYMBOLS: usize = 16;

/// A symbol, as its place in [`SYMBOLS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u8);

impl Symbol {
    /// `+`.
    pub const PLUS: Self = Self(10);
    /// `-`.
    pub const MINUS: Self = Self(11);
    /// `*`.
    pub const TIMES: Self = Self(12);
    /// `/`.
    pub const DIVIDED: Self = Self(13);
    /// `(`.
    pub const OPEN: Self = Self(14);
    /// `)`.
    pub const CLOSE: Self = Self(15);

    /// The symbol that a character stands for.
    pub fn of(character: char) -> Option<Self> {
        SYMBOLS.find(character).map(|place| Self(place as u8))
    }

    /// All symbols.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..SYMBOLS.len() as u8).map(Self)
    }

    /// The character.
    pub fn character(self) -> char {
        SYMBOLS.as_bytes()[self.0 as usize] as char
    }

    /// How tightly an operator binds; `None` for what is no operator.
    pub fn precedence(self) -> Option<u8> {
        // By number rather than by character: this is asked a billion times.
        match self.0 {
            10 | 11 | 18 | 19 => Some(1),
            12 | 13 | 20 | 21 => Some(2),
            _ => None,
        }
    }

    /// What a leaf is worth; `None` for what is no leaf.
    pub fn leaf(self) -> Option<u64> {
        match self.0 {
            digit @ 0..10 => Some(u64::from(digit)),
            16 => Some(11),
            17 => Some(12),
            _ => None,
        }
    }

    /// The symbol whose images are in a folder of this name.
    pub fn of_folder(name: &str) -> Option<Self> {
        Self::all().find(|symbol| wug_ink::folder_name(symbol.0 as usize) == name)
    }
}

/// The leaves and operators that a dataset draws from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alphabet {
    /// Digits, and perhaps a new symbol for a number.
    pub leaves: Vec<Symbol>,
    /// Operators, and perhaps a new one.
    pub operators: Vec<Symbol>,
}

impl Alphabet {
    /// `0` to `9` and `+ - * /`.
    pub fn main() -> Self {
        Self { leaves: (0..10).map(Symbol).collect(), operators: (10..14).map(Symbol).collect() }
    }

    /// The main alphabet and one new symbol, as the last of its kind.
    pub fn with(new: Symbol) -> Self {
        let mut alphabet = Self::main();
        let kind = if new.leaf().is_some() { &mut alphabet.leaves } else { &mut alphabet.operators };
        kind.push(new);
        alphabet
    }
}

/// Where random choices come from.
pub trait Draw {
    /// Whether an expression that is bad already may be left unfinished; the release never did.
    const MAY_STOP: bool;

    /// Uniform in `0..n`.
    fn below(&mut self, n: u32) -> u32;

    /// The number of operators to draw from, then the number of sizes.
    fn node(&mut self, operators: u32, sizes: u32) -> (u32, u32) {
        (self.below(operators), self.below(sizes))
    }
}

/// Draws what the release drew; one sequence for all expressions.
impl Draw for PythonRandom {
    const MAY_STOP: bool = false;

    fn below(&mut self, n: u32) -> u32 {
        Self::below(self, n)
    }
}

/// Takes as few random numbers as it can.
impl Draw for Stream {
    const MAY_STOP: bool = true;

    fn below(&mut self, n: u32) -> u32 {
        Self::below(self, u64::from(n)) as u32
    }

    fn node(&mut self, operators: u32, sizes: u32) -> (u32, u32) {
        let both = Self::below(self, u64::from(operators) * u64::from(sizes)) as u32;
        (both / sizes, both % sizes)
    }
}

/// Every expression with this many operators, in prefix form: operator slowest, then the size of the left side, then
/// the left side, then the right.
pub fn enumerate(alphabet: &Alphabet, operators: usize) -> Vec<Vec<u8>> {
    if operators == 0 {
        return alphabet.leaves.iter().map(|leaf| vec![leaf.0]).collect();
    }
    let mut all = Vec::new();
    for operator in &alphabet.operators {
        for left_size in 0..operators {
            let rights = enumerate(alphabet, operators - 1 - left_size);
            for left in enumerate(alphabet, left_size) {
                all.extend(rights.iter().map(|right| [&[operator.0], left.as_slice(), right].concat()));
            }
        }
    }
    all
}

/// The language as a tree grammar: the same trees that are drawn in prefix form.
pub static GRAMMAR: LazyLock<(Grammar, Strings)> = LazyLock::new(|| {
    let rules = "\
        E -> 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | x | y
        +: E -> E + E
        -: E -> E - E
        *: E -> E * E
        /: E -> E / E
        a: E -> E a E
        b: E -> E b E
        c: E -> E c E
        d: E -> E d E";
    Grammar::parse(rules).expect("the grammar of HINT is written correctly")
});

/// How many expressions have this many operators.
pub fn count(alphabet: &Alphabet, operators: usize) -> BigUint {
    // Every tree shape has the same number of leaves and operators, so the shapes are counted once.
    let (shapes, _) = Grammar::parse("pair: T -> T T\nT -> leaf").expect("a grammar of shapes");
    let sort = shapes.sort("T").expect("the sort of the line above");
    let space = Space::of_size(&shapes, sort, 2 * operators + 1).expect("a finite space");
    let mut count = space.count().clone();
    for _ in 0..operators {
        count *= alphabet.operators.len() as u32;
    }
    for _ in 0..=operators {
        count *= alphabet.leaves.len() as u32;
    }
    count
}

/// A prefix expression as a tree of [`GRAMMAR`].
pub fn tree(arena: &mut Arena, prefix: &[u8]) -> NodeId {
    let mut done: Vec<NodeId> = Vec::new();
    for &token in prefix.iter().rev() {
        let symbol = Symbol(token);
        let rule = GRAMMAR.0.rule_named(&symbol.character().to_string()).expect("a rule for every symbol");
        let children: Vec<NodeId> = match symbol.leaf() {
            Some(_) => Vec::new(),
            None => (0..2).map(|_| done.pop().expect("two operands")).collect(),
        };
        done.push(arena.add(rule, &children));
    }
    done.pop().expect("a prefix expression is one tree")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_expressions_as_the_grammar_has() {
        let alphabet = Alphabet::main();
        for operators in 0..3 {
            assert_eq!(BigUint::from(enumerate(&alphabet, operators).len()), count(&alphabet, operators));
        }
        assert_eq!(count(&alphabet, 3), BigUint::from(5u32 * 64 * 10_000));
    }

    #[test]
    fn a_new_symbol_joins_its_kind() {
        assert_eq!(Alphabet::with(Symbol::of('y').unwrap()).leaves.len(), 11);
        assert_eq!(Alphabet::with(Symbol::of('d').unwrap()).operators.len(), 5);
    }
}
