//! How targets that are predications are written: `give . agent ( x _ 1 , Ava )`, the same without brackets, or as a
//! tree, `give ( agent = Ava , theme = * cake ( nmod . on = plate ) )`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pairs::Pairs;

/// A predication as it is written: tokens of the label, tokens of each argument.
///
/// A tree is read as predications, too: a node is said of its own symbol, and a role of the symbols of two nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub label: Vec<u32>,
    pub arguments: Option<Vec<Vec<u32>>>,
    /// The token between it and the next one.
    pub separator: Option<u32>,
}

/// The tokens that structure predications.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    pub open: Option<u32>,
    pub close: Option<u32>,
    pub comma: Option<u32>,
    /// Tokens between predications whose arguments have no brackets and begin with a number.
    #[serde(default)]
    pub separators: Vec<u32>,
    /// In trees, the token between a role and the node that has it.
    #[serde(default)]
    pub role: Option<u32>,
}

impl Marks {
    /// The marks by which nearly all targets can be read; none if targets are no predications.
    pub(crate) fn find(pairs: &Pairs) -> Option<Self> {
        let (open, close) = (pairs.target.get("("), pairs.target.get(")"));
        let comma = pairs.target.get(",");
        let brackets = Self { open, close, comma, ..Self::default() };
        if open.is_some() && brackets.reads_most(pairs) {
            return Some(brackets);
        }
        if open.is_some() && close.is_some() {
            let role = brackets.find_role(pairs)?;
            return Some(Self { role: Some(role), ..brackets }).filter(|marks| marks.reads_most(pairs));
        }
        let numbers = Numbers::new(pairs);
        let separators = numbers.separators(pairs);
        let bare = Self {
            separators,
            comma: comma.filter(|&comma| numbers.is_comma(pairs, comma)),
            ..Self::default()
        };
        let is_positional = numbers.are_positions(pairs);
        Some(bare).filter(|marks| is_positional && !marks.separators.is_empty() && marks.reads_most(pairs))
    }

    /// Whether arguments stand in brackets.
    pub(crate) fn has_brackets(&self) -> bool {
        self.open.is_some()
    }

    /// Whether targets are trees.
    pub(crate) fn is_tree(&self) -> bool {
        self.role.is_some()
    }

    fn reads_most(&self, pairs: &Pairs) -> bool {
        let numbers = Numbers::new(pairs);
        let fits = |target: &[u32]| {
            self.read(target, &numbers).is_some_and(|atoms| atoms.iter().all(|atom| atom.arguments.is_some()))
        };
        10 * pairs.rows.iter().filter(|(_, target, _)| fits(target)).count() > 9 * pairs.rows.len()
    }

    /// The predications of a target. In trees, a node alone is no more than a label.
    pub(crate) fn read(&self, target: &[u32], numbers: &Numbers) -> Option<Vec<Written>> {
        if !self.has_brackets() {
            return self.read_bare(target, numbers);
        }
        let is_tree = self.role.is_some_and(|role| target.contains(&role));
        is_tree.then(|| self.read_tree(target)).flatten().or_else(|| self.read_brackets(target))
    }

    fn read_brackets(&self, target: &[u32]) -> Option<Vec<Written>> {
        let mut written = Vec::new();
        let mut at = 0;
        while at < target.len() {
            let rest = &target[at..];
            let Some(open) = rest.iter().position(|token| Some(*token) == self.open) else {
                if written.is_empty() && !rest.iter().any(|token| Some(*token) == self.close) {
                    written.push(Written { label: rest.to_vec(), arguments: None, separator: None });
                    return Some(written);
                }
                return None;
            };
            let close = open + rest[open..].iter().position(|token| Some(*token) == self.close)?;
            let inner = &rest[open + 1..close];
            if inner.iter().any(|token| Some(*token) == self.open) || open == 0 {
                return None;
            }
            let arguments: Vec<Vec<u32>> =
                inner.split(|token| Some(*token) == self.comma).map(<[u32]>::to_vec).collect();
            if arguments.iter().any(Vec::is_empty) {
                return None;
            }
            let separator = rest.get(close + 1).copied();
            written.push(Written { label: rest[..open].to_vec(), arguments: Some(arguments), separator });
            at += close + 2;
        }
        (!written.is_empty()).then_some(written)
    }

    /// Arguments without brackets: a number, and what stands behind it, a token each.
    fn read_bare(&self, target: &[u32], numbers: &Numbers) -> Option<Vec<Written>> {
        let mut written = Vec::new();
        let pieces = target.split_inclusive(|token| self.separators.contains(token));
        for piece in pieces {
            let separator = piece.last().copied().filter(|token| self.separators.contains(token));
            let piece = &piece[..piece.len() - usize::from(separator.is_some())];
            let first = piece.iter().position(|&token| numbers.of(token).is_some()).unwrap_or(piece.len());
            let (label, rest) = piece.split_at(first);
            if label.is_empty() {
                return None;
            }
            let arguments = rest.iter().filter(|&&token| Some(token) != self.comma).map(|&token| vec![token]);
            let arguments = (!rest.is_empty()).then(|| arguments.collect());
            written.push(Written { label: label.to_vec(), arguments, separator });
        }
        (!written.is_empty()).then_some(written)
    }

    /// A tree: the predications of its nodes and roles, depth first.
    fn read_tree(&self, target: &[u32]) -> Option<Vec<Written>> {
        let role_mark = self.role?;
        let mut written = Vec::new();
        let mut above: Vec<u32> = Vec::new();
        let mut at = 0;
        loop {
            let is_end = |token: &u32| [self.open, self.close, self.comma].contains(&Some(*token));
            let end = target[at..].iter().position(is_end).map_or(target.len(), |end| at + end);
            let mut node = &target[at..end];
            let symbol = *node.last()?;
            if let Some(&parent) = above.last() {
                let mark = node.iter().position(|&token| token == role_mark)?;
                let (role, rest) = (&node[..mark], &node[mark + 1..]);
                if role.is_empty() || rest.is_empty() {
                    return None;
                }
                let arguments = Some(vec![vec![parent], vec![symbol]]);
                written.push(Written { label: role.to_vec(), arguments, separator: None });
                node = rest;
            }
            if node.contains(&role_mark) {
                return None;
            }
            written.push(Written {
                label: node.to_vec(),
                arguments: Some(vec![vec![symbol]]),
                separator: None,
            });
            at = end;
            if target.get(at).copied() == self.open && at < target.len() {
                above.push(symbol);
            } else {
                while at < target.len() && Some(target[at]) == self.close {
                    above.pop()?;
                    at += 1;
                }
                if at == target.len() {
                    return above.is_empty().then_some(written);
                }
                if Some(target[at]) != self.comma || above.is_empty() {
                    return None;
                }
            }
            at += 1;
        }
    }

    /// The token that nearly every part within brackets has exactly once, outside deeper brackets.
    fn find_role(&self, pairs: &Pairs) -> Option<u32> {
        let mut parts = 0.0;
        let mut once: BTreeMap<u32, f64> = BTreeMap::new();
        for (_, target, _) in &pairs.rows {
            // What stands between two of the marks is the beginning of a part, unless it stands first or behind `)`.
            let mut before = None;
            for part in
                target.split_inclusive(|token| [self.open, self.close, self.comma].contains(&Some(*token)))
            {
                let here = before;
                before = part.last().copied();
                let is_mark = |token: &&u32| [self.open, self.close, self.comma].contains(&Some(**token));
                let tokens: Vec<u32> = part.iter().filter(|token| !is_mark(token)).copied().collect();
                if here.is_none() || here == self.close || tokens.is_empty() {
                    continue;
                }
                parts += 1.0;
                for &token in &tokens {
                    if tokens.iter().filter(|other| **other == token).count() == 1 {
                        *once.entry(token).or_default() += 1.0;
                    }
                }
            }
        }
        let (token, n) = once.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
        (n > 0.9 * parts).then_some(token)
    }
}

/// The whole numbers among the target tokens.
#[derive(Debug)]
pub(crate) struct Numbers(Vec<Option<u32>>);

/// Rows that are looked at to find out how targets are written.
const SAMPLE: usize = 2000;

impl Numbers {
    pub(crate) fn new(pairs: &Pairs) -> Self {
        Self(pairs.target.words().iter().map(|word| number(word)).collect())
    }

    /// The number that a token is.
    pub(crate) fn of(&self, token: u32) -> Option<u32> {
        self.0[token as usize]
    }

    fn has_numbers(&self, target: &[u32]) -> bool {
        target.iter().any(|&token| self.of(token).is_some())
    }

    fn sample<'a>(&'a self, pairs: &'a Pairs) -> impl Iterator<Item = (&'a [u32], &'a [u32])> {
        let step = pairs.rows.len().div_ceil(SAMPLE).max(1);
        let rows = pairs.rows.iter().step_by(step).map(|row| (row.0.as_slice(), row.1.as_slice()));
        rows.filter(|(_, target)| self.has_numbers(target))
    }

    /// Whether numbers in targets can be places of words, nearly always, and are in most of the targets.
    fn are_positions(&self, pairs: &Pairs) -> bool {
        let (mut rows, mut fit) = (0, 0);
        for (source, target) in self.sample(pairs) {
            rows += 1;
            fit += usize::from(
                target.iter().all(|&token| self.of(token).is_none_or(|n| (n as usize) < source.len())),
            );
        }
        let step = pairs.rows.len().div_ceil(SAMPLE).max(1);
        10 * fit > 9 * rows && 2 * rows > pairs.rows.len() / step
    }

    /// Tokens that cut targets into pieces that end with numbers, or with a token or two behind one: the commonest first,
    /// as many as there are.
    fn separators(&self, pairs: &Pairs) -> Vec<u32> {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        let targets: Vec<&[u32]> = self.sample(pairs).map(|row| row.1).collect();
        for &token in targets.iter().copied().flatten().filter(|&&token| self.of(token).is_none()) {
            *counts.entry(token).or_default() += 1;
        }
        let mut order: Vec<(u32, usize)> = counts.into_iter().collect();
        order.sort_by_key(|&(token, n)| (std::cmp::Reverse(n), token));
        let mut separators = Vec::new();
        for (token, n) in order {
            if 100 * n < targets.len() {
                break;
            }
            separators.push(token);
            let is_piece = |piece: &[u32]| {
                let first = piece.iter().position(|&token| self.of(token).is_some());
                first.is_some_and(|first| first > 0)
            };
            let cut = |target: &&&[u32]| target.split(|token| separators.contains(token)).all(is_piece);
            let having: Vec<&&[u32]> = targets.iter().filter(|target| target.contains(&token)).collect();
            if 20 * having.iter().copied().filter(cut).count() < 19 * having.len() {
                separators.pop();
            }
        }
        separators
    }

    /// Whether a token mostly stands behind a number.
    fn is_comma(&self, pairs: &Pairs, comma: u32) -> bool {
        let (mut all, mut behind) = (0, 0);
        for (_, target) in self.sample(pairs) {
            for (at, _) in target.iter().enumerate().filter(|(_, token)| **token == comma) {
                all += 1;
                behind += usize::from(at > 0 && self.of(target[at - 1]).is_some());
            }
        }
        10 * behind > 9 * all
    }
}

/// A whole number without sign or leading zeros.
pub(crate) fn number(word: &str) -> Option<u32> {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit()) && (word.len() == 1 || !word.starts_with('0'));
    if plain { word.parse().ok() } else { None }
}
