//! An order of tokens that only the targets show: ranges list neighbours beside each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pairs;
use super::value::{LONGEST, Token, int_token, token_int};

/// Tokens in their order. Integers are ordered by themselves.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    line: Vec<Token>,
    #[serde(with = "pairs")]
    place: BTreeMap<Token, usize>,
}

/// More pairs of neighbours are no order of so few tokens that ranges could show it.
const MOST_PAIRS: usize = 20_000;

/// Fewer tokens in a line are no order.
const SHORTEST: usize = 4;

impl Order {
    /// The line that the most frequent pairs of neighbours in the targets make, where they make one.
    pub(crate) fn of<'a>(targets: impl Iterator<Item = &'a [Token]>) -> Self {
        let mut pairs: BTreeMap<(Token, Token), usize> = BTreeMap::new();
        let mut total = 0;
        for target in targets {
            for pair in target.windows(2).filter(|pair| pair[0] != pair[1]) {
                *pairs.entry((pair[0].min(pair[1]), pair[0].max(pair[1]))).or_default() += 1;
                total += 1;
            }
        }
        if pairs.len() > MOST_PAIRS {
            return Self::default();
        }
        let mut pairs: Vec<((Token, Token), usize)> = pairs.into_iter().collect();
        pairs.sort_by_key(|&(pair, n)| (std::cmp::Reverse(n), pair));
        let mut next: BTreeMap<Token, Vec<Token>> = BTreeMap::new();
        let mut kept = 0;
        for ((a, b), n) in pairs {
            let free = |token: Token| next.get(&token).is_none_or(|near| near.len() < 2);
            if free(a) && free(b) && end(&next, a) != b {
                next.entry(a).or_default().push(b);
                next.entry(b).or_default().push(a);
                kept += n;
            }
        }
        let Some(start) = next.iter().find(|(_, near)| near.len() == 1).map(|(&token, _)| token) else {
            return Self::default();
        };
        let line = walk(&next, start);
        if line.len() < SHORTEST || kept * 10 < total * 6 {
            return Self::default();
        }
        let place = line.iter().enumerate().map(|(i, &token)| (token, i)).collect();
        Self { line, place }
    }

    /// Appends the tokens from one to another, both included, in either direction.
    pub(crate) fn range(&self, from: Token, to: Token, out: &mut Vec<Token>) -> Option<()> {
        if let (Some(a), Some(b)) = (token_int(from), token_int(to)) {
            if a.abs_diff(b) as usize > LONGEST {
                return None;
            }
            let step = (b - a).signum();
            out.extend((0..=(b - a).abs()).filter_map(|i| int_token(a + step * i)));
            return Some(());
        }
        let (a, b) = (*self.place.get(&from)?, *self.place.get(&to)?);
        if a <= b {
            out.extend_from_slice(&self.line[a..=b]);
        } else {
            out.extend(self.line[b..=a].iter().rev());
        }
        Some(())
    }
}

/// The tokens of the line that begins with `start`.
fn walk(next: &BTreeMap<Token, Vec<Token>>, start: Token) -> Vec<Token> {
    let (mut line, mut last, mut at) = (vec![start], None, start);
    while let Some(&token) = next.get(&at).and_then(|near| near.iter().find(|&&token| Some(token) != last)) {
        (last, at) = (Some(at), token);
        line.push(token);
        if token == start {
            break;
        }
    }
    line
}

/// The other end of the line that a token ends.
fn end(next: &BTreeMap<Token, Vec<Token>>, start: Token) -> Token {
    *walk(next, start).last().expect("a line has a token")
}
