//! One expression with everything that is known of it: its tokens, the value and the head of each, and the properties
//! that the paper analyses by.

use std::fmt::Write;

use super::grammar::{SYMBOLS, Symbol};
use super::meaning::apply;

/// The longest expression that is read, in tokens. Recursion is as deep as an expression is nested.
pub const MAX_TOKENS: usize = 4096;

/// An infix expression. Reused for one expression after another, so that a million cost no allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expression {
    /// The symbols, as places in [`SYMBOLS`].
    pub tokens: Vec<u8>,
    /// For each token the position of the operator it belongs to, -1 for the root. Both parentheses belong to the top
    /// operator of what they enclose.
    pub heads: Vec<i32>,
    /// The value of each token: of a leaf its own, of an operator that of its subtree, of a parenthesis -1.
    pub values: Vec<i64>,
    /// The value of the whole.
    pub result: u64,
    /// The largest value of any part.
    pub largest: u64,
    /// Tokens on the longest path from the root, itself included.
    pub depth: u32,
    /// The longest distance of a token from its head.
    pub dependency: u32,
    /// How deep parentheses nest.
    pub parenthesis_depth: u32,
}

/// What a subtree says to its parent.
struct Subtree {
    top: usize,
    value: u64,
    depth: u32,
}

impl Expression {
    /// Sets this to a prefix expression, which must be well formed. `None` if a value is undefined or above `i64`.
    pub fn set(&mut self, prefix: &[u8]) -> Option<()> {
        self.tokens.clear();
        self.heads.clear();
        self.values.clear();
        (self.largest, self.dependency, self.parenthesis_depth) = (0, 0, 0);
        let mut rest = prefix.iter();
        let root = self.write(&mut rest, 0, 0)?;
        (self.result, self.depth) = (root.value, root.depth);
        Some(())
    }

    /// Writes the next subtree of `rest`, in parentheses if its top operator binds weaker than `least`.
    fn write(&mut self, rest: &mut std::slice::Iter<'_, u8>, least: u8, parentheses: u32) -> Option<Subtree> {
        let symbol = Symbol(*rest.next()?);
        let Some(precedence) = symbol.precedence() else {
            let value = symbol.leaf()?;
            let top = self.push(symbol, value as i64);
            self.largest = self.largest.max(value);
            return Some(Subtree { top, value, depth: 1 });
        };
        let enclosed = precedence < least;
        let parentheses = parentheses + u32::from(enclosed);
        self.parenthesis_depth = self.parenthesis_depth.max(parentheses);
        let open = enclosed.then(|| self.push(Symbol::OPEN, -1));
        // Operators of one precedence associate to the left.
        let left = self.write(rest, precedence, parentheses)?;
        let top = self.push(symbol, 0);
        let right = self.write(rest, precedence + 1, parentheses)?;
        let close = enclosed.then(|| self.push(Symbol::CLOSE, -1));
        for dependent in [Some(left.top), Some(right.top), open, close].into_iter().flatten() {
            self.heads[dependent] = top as i32;
            self.dependency = self.dependency.max(dependent.abs_diff(top) as u32);
        }
        let value = apply(symbol, left.value, right.value)?;
        self.values[top] = i64::try_from(value).ok()?;
        self.largest = self.largest.max(value);
        Some(Subtree { top, value, depth: 1 + left.depth.max(right.depth) })
    }

    fn push(&mut self, symbol: Symbol, value: i64) -> usize {
        self.tokens.push(symbol.0);
        self.heads.push(-1);
        self.values.push(value);
        self.tokens.len() - 1
    }

    /// Operators among the tokens.
    pub fn operators(&self) -> usize {
        self.tokens.iter().filter(|&&token| Symbol(token).precedence().is_some()).count()
    }

    /// The characters of the expression as it is written, which are ASCII.
    pub fn characters(&self) -> impl Iterator<Item = u8> {
        self.tokens.iter().map(|&token| SYMBOLS.as_bytes()[token as usize])
    }

    /// The expression as it is written.
    pub fn text(&self) -> String {
        self.characters().map(char::from).collect()
    }
}

/// Reads an infix expression into prefix form. The error says what is wrong and where.
pub fn parse(text: &str) -> Result<Vec<u8>, String> {
    enum Waiting {
        Operator(Symbol, u8),
        Open,
    }
    /// Puts the operator before its two operands, which are the last ones and stand side by side.
    fn build(prefix: &mut Vec<u8>, starts: &mut Vec<usize>, operator: Symbol) {
        starts.pop();
        prefix.insert(starts.last().copied().unwrap_or(0), operator.0);
    }
    let mut waiting: Vec<Waiting> = Vec::new();
    // Operands so far, one behind the other, and where each starts.
    let (mut prefix, mut starts) = (Vec::with_capacity(text.len()), Vec::new());
    let mut operand_next = true;
    for (i, character) in text.chars().enumerate() {
        let place = i + 1;
        if i >= MAX_TOKENS {
            return Err(format!("has more than {MAX_TOKENS} symbols"));
        }
        let symbol = Symbol::of(character)
            .ok_or_else(|| format!("`{character}` (symbol {place}) is none of {SYMBOLS}"))?;
        match (symbol.leaf(), symbol.precedence()) {
            (Some(_), _) if operand_next => {
                starts.push(prefix.len());
                prefix.push(symbol.0);
                operand_next = false;
            }
            (_, Some(precedence)) if !operand_next => {
                while let Some(&Waiting::Operator(earlier, binds)) = waiting.last()
                    && binds >= precedence
                {
                    waiting.pop();
                    build(&mut prefix, &mut starts, earlier);
                }
                waiting.push(Waiting::Operator(symbol, precedence));
                operand_next = true;
            }
            (None, None) if symbol == Symbol::OPEN && operand_next => waiting.push(Waiting::Open),
            (None, None) if symbol == Symbol::CLOSE && !operand_next => loop {
                match waiting.pop() {
                    Some(Waiting::Operator(earlier, _)) => build(&mut prefix, &mut starts, earlier),
                    Some(Waiting::Open) => break,
                    None => return Err(format!("`)` at symbol {place} closes nothing")),
                }
            },
            _ => {
                let wanted = if operand_next { "a number or `(`" } else { "an operator or `)`" };
                return Err(format!("expected {wanted} at symbol {place}, found `{character}`"));
            }
        }
    }
    if operand_next {
        return Err("ends where a number is expected".to_owned());
    }
    while let Some(earlier) = waiting.pop() {
        match earlier {
            Waiting::Operator(earlier, _) => build(&mut prefix, &mut starts, earlier),
            Waiting::Open => return Err("a `(` is never closed".to_owned()),
        }
    }
    Ok(prefix)
}

/// The tree of an expression as a term, with the value of every part: `*=100(5, *=20(5, 4))`. None of what has no value.
pub fn derivation(text: &str) -> Option<String> {
    fn add(expression: &Expression, top: usize, out: &mut String) {
        let token = |at: usize| SYMBOLS.as_bytes()[expression.tokens[at] as usize] as char;
        out.push(token(top));
        // A digit is its own value, a new number is not.
        if !token(top).is_ascii_digit() {
            let _ = write!(out, "={}", expression.values[top]);
        }
        let is_child = |at: &usize| expression.heads[*at] == top as i32 && !matches!(token(*at), '(' | ')');
        let children: Vec<usize> = (0..expression.tokens.len()).filter(is_child).collect();
        for (i, child) in children.iter().enumerate() {
            out.push_str(if i == 0 { "(" } else { ", " });
            add(expression, *child, out);
        }
        if !children.is_empty() {
            out.push(')');
        }
    }
    let mut expression = Expression::default();
    expression.set(&parse(text).ok()?)?;
    let top = expression.heads.iter().position(|&head| head == -1)?;
    let mut out = String::new();
    add(&expression, top, &mut out);
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::independent;
    use super::*;

    fn expression(text: &str) -> Expression {
        let mut expression = Expression::default();
        expression.set(&parse(text).unwrap()).unwrap();
        assert_eq!(expression.text(), text);
        expression
    }

    #[test]
    fn heads_and_values_are_those_of_the_release() {
        let long = expression("5*(5*4)");
        assert_eq!(long.heads, [1, -1, 4, 4, 1, 4, 4]);
        assert_eq!(long.values, [5, 100, -1, 5, 20, 4, -1]);
        assert_eq!((long.result, long.largest, long.depth, long.dependency), (100, 100, 3, 3));
        assert_eq!(derivation("5*(5*4)").unwrap(), "*=100(5, *=20(5, 4))");
        assert_eq!(derivation("x-1*2").unwrap(), "-=9(x=11, *=2(1, 2))");
        assert_eq!(derivation("5*"), None);
        let left = expression("4*5*5");
        assert_eq!(left.heads, [1, 3, 1, -1, 3]);
        assert_eq!(left.values, [4, 20, 5, 100, 5]);
        let single = expression("7");
        assert_eq!((single.heads, single.values, single.depth, single.dependency), (vec![-1], vec![7], 1, 0));
    }

    #[test]
    fn values_are_those_of_the_release() {
        for (text, value) in [
            ("(8-(3-8)-(0-0))/((5+4)*6)*(7+8-7)", 8),
            ("6*((9+(3-6))/(7/9*(7-8/4))+5/6)", 18),
            ("3+9*3*(4+8/5+3)-(1/2+(0-8+0)+(2+0+(8-9)/(6+(6-4/9))-0))", 243),
            ("(1*(6/5)/(8*2*((4-8/5)/(0+2)))+(9+4/(3*4))*9)*(1+(9-2+8-2+4))", 1638),
            ("9*4c5", 21),
            ("5*7c9", 22),
            ("8-6d8", 1),
            ("x/1/(5/1)", 3),
            ("4*8a(1-5)", 32),
        ] {
            assert_eq!(expression(text).result, value, "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for (text, error) in [
            ("", "ends where a number is expected"),
            ("1+", "ends where a number is expected"),
            ("12", "expected an operator or `)` at symbol 2, found `2`"),
            ("(1", "a `(` is never closed"),
            ("1)", "`)` at symbol 2 closes nothing"),
            ("1+?", "`?` (symbol 3) is none of 0123456789+-*/()xyabcd"),
            ("()", "expected a number or `(` at symbol 2, found `)`"),
        ] {
            assert_eq!(parse(text).unwrap_err(), error, "{text}");
        }
        assert!(parse(&"(".repeat(1 << 20)).is_err());
    }

    fn prefix() -> impl Strategy<Value = Vec<u8>> {
        let leaf = prop_oneof![0u8..10, 16u8..18].prop_map(|leaf| vec![leaf]);
        leaf.prop_recursive(6, 40, 2, |inner| {
            (prop_oneof![10u8..14, 18u8..22], inner.clone(), inner)
                .prop_map(|(operator, left, right)| [vec![operator], left, right].concat())
        })
    }

    proptest! {
        #[test]
        fn writing_and_reading_are_inverse(prefix in prefix()) {
            let mut expression = Expression::default();
            let defined = expression.set(&prefix).is_some();
            let values = independent(&prefix);
            // A part that is undefined or too large leaves no value to the whole.
            let fits = |value: &Option<i128>| value.is_some_and(|value| value <= i128::from(i64::MAX));
            if defined {
                prop_assert_eq!(parse(&expression.text()).unwrap(), prefix);
                prop_assert_eq!(values.last().copied().flatten(), Some(i128::from(expression.result)));
                prop_assert_eq!(expression.heads.iter().filter(|&&head| head < 0).count(), 1);
            } else {
                // The harmonic mean may overflow on the way to a value that would fit.
                prop_assert!(!values.iter().all(fits) || prefix.contains(&21));
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9x()+*/-]{0,40}") {
            if let Ok(prefix) = parse(&text) {
                let mut expression = Expression::default();
                if expression.set(&prefix).is_some() {
                    prop_assert_eq!(parse(&expression.text()).unwrap(), prefix);
                }
            }
        }
    }
}
