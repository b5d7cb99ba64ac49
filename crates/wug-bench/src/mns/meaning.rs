//! What it means: expressions over the numbers of a group.

use std::fmt;

/// The most numbers that one expression has.
pub const MOST_LEAVES: usize = 8;

/// An arithmetic operator on positive whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Operator {
    /// All operators.
    pub const ALL: [Self; 4] = [Self::Add, Self::Subtract, Self::Multiply, Self::Divide];

    /// The sign, as in files.
    pub fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
        }
    }

    /// The operator with this sign.
    pub fn with_sign(sign: char) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.sign() == sign)
    }

    /// Whether it is `+` or `-`.
    pub fn is_sum(self) -> bool {
        matches!(self, Self::Add | Self::Subtract)
    }

    /// The value: a difference must be positive, a quotient whole.
    #[inline]
    pub fn apply(self, left: i64, right: i64) -> Option<i64> {
        match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => (left > right).then(|| left - right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide => (left % right == 0).then(|| left / right),
        }
    }

    /// The left operand for which the value comes out.
    #[inline]
    pub fn left(self, value: i64, right: i64) -> Option<i64> {
        match self {
            Self::Add => (value > right).then(|| value - right),
            Self::Subtract => value.checked_add(right),
            Self::Multiply => (value % right == 0).then(|| value / right),
            Self::Divide => value.checked_mul(right),
        }
    }

    /// The right operand for which the value comes out.
    #[inline]
    pub fn right(self, value: i64, left: i64) -> Option<i64> {
        match self {
            Self::Add | Self::Subtract => {
                let (more, less) = if self == Self::Add { (value, left) } else { (left, value) };
                (more > less).then(|| more - less)
            }
            Self::Multiply => (value % left == 0).then(|| value / left),
            Self::Divide => (left % value == 0).then(|| left / value),
        }
    }
}

/// Operators between the numbers of a group, and at most one pair of parentheses around two neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Expression {
    operators: [Operator; MOST_LEAVES - 1],
    length: u8,
    parenthesis: Option<u8>,
}

impl Expression {
    /// An expression; `parenthesis` is the operator in parentheses.
    ///
    /// # Panics
    /// If there are more than seven operators, or none, or the parenthesis is at none of them.
    pub fn new(operators: &[Operator], parenthesis: Option<u8>) -> Self {
        assert!((1..MOST_LEAVES).contains(&operators.len()), "one to seven operators");
        assert!(parenthesis.is_none_or(|at| usize::from(at) < operators.len()));
        let mut all = [Operator::Add; MOST_LEAVES - 1];
        all[..operators.len()].copy_from_slice(operators);
        Self { operators: all, length: operators.len() as u8, parenthesis }
    }

    /// The operators.
    pub fn operators(&self) -> &[Operator] {
        &self.operators[..self.length.into()]
    }

    /// The operator that stands in parentheses.
    pub fn parenthesis(&self) -> Option<u8> {
        self.parenthesis
    }

    /// The binary tree: parentheses first, then `*` and `/`, then `+` and `-`, each from the left.
    pub fn tree(&self) -> Tree {
        let operators = self.operators();
        let mut tree = Tree::of_leaves(operators.len() + 1);
        let mut sum: Option<(u8, Operator)> = None;
        let mut term: Option<(u8, Operator)> = None;
        let mut leaf = 0;
        loop {
            let mut factor = leaf as u8;
            if self.parenthesis == Some(leaf as u8) {
                factor = tree.join(operators[leaf], factor, factor + 1);
                leaf += 1;
            }
            if let Some((left, operator)) = term.take() {
                factor = tree.join(operator, left, factor);
            }
            let Some(&next) = operators.get(leaf) else {
                if let Some((left, operator)) = sum {
                    tree.join(operator, left, factor);
                }
                return tree;
            };
            if next.is_sum() {
                if let Some((left, operator)) = sum {
                    factor = tree.join(operator, left, factor);
                }
                sum = Some((factor, next));
            } else {
                term = Some((factor, next));
            }
            leaf += 1;
        }
    }
}

/// A node that computes: an operator and its operands. Operands below the number of leaves are leaves, others nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node {
    /// What it does.
    pub operator: Operator,
    /// Its left operand.
    pub left: u8,
    /// Its right operand.
    pub right: u8,
}

/// A calculation tree: operands come before their node, the root is last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tree {
    leaves: u8,
    inner: u8,
    nodes: [Node; MOST_LEAVES - 1],
}

impl Tree {
    /// Leaves that are not joined yet: a tree once [`Tree::join`] has been called for every operator.
    ///
    /// # Panics
    /// If there are fewer than two or more than eight.
    pub fn of_leaves(leaves: usize) -> Self {
        assert!((2..=MOST_LEAVES).contains(&leaves));
        let nodes = [Node { operator: Operator::Add, left: 0, right: 0 }; MOST_LEAVES - 1];
        Self { leaves: leaves as u8, inner: 0, nodes }
    }

    /// Adds a node over two leaves or nodes that have none yet, and gives its number.
    pub fn join(&mut self, operator: Operator, left: u8, right: u8) -> u8 {
        self.nodes[usize::from(self.inner)] = Node { operator, left, right };
        self.inner += 1;
        self.leaves + self.inner - 1
    }

    /// The same tree with other operators, given in the order of the nodes.
    #[inline]
    pub fn set_operators(&mut self, operators: impl IntoIterator<Item = Operator>) {
        for (node, operator) in self.nodes.iter_mut().zip(operators) {
            node.operator = operator;
        }
    }

    /// How many leaves it has.
    pub fn leaves(&self) -> usize {
        self.leaves.into()
    }

    /// The nodes, operands first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes[..self.inner.into()]
    }

    /// The calculation with these operands in it, and parentheses where the usual precedence needs them.
    pub fn with<T: fmt::Display>(&self, leaves: impl IntoIterator<Item = T>) -> String {
        let leaves: Vec<T> = leaves.into_iter().collect();
        let mut text = String::with_capacity(48);
        self.write_operand(2 * self.leaves() - 2, &leaves, &mut text);
        text
    }

    fn write_operand<T: fmt::Display>(&self, at: usize, leaves: &[T], text: &mut String) {
        use fmt::Write;
        let Some(inner) = at.checked_sub(self.leaves()) else {
            let _ = write!(text, "{}", leaves[at]);
            return;
        };
        let node = self.nodes[inner];
        for (operand, is_right) in [(usize::from(node.left), false), (usize::from(node.right), true)] {
            if is_right {
                text.extend([' ', node.operator.sign(), ' ']);
            }
            let top = operand.checked_sub(self.leaves()).map(|inner| self.nodes[inner].operator);
            let looser = |top: Operator| {
                if is_right {
                    top.is_sum() || !node.operator.is_sum()
                } else {
                    top.is_sum() && !node.operator.is_sum()
                }
            };
            let parentheses = top.is_some_and(looser);
            text.extend(parentheses.then_some('('));
            self.write_operand(operand, leaves, text);
            text.extend(parentheses.then_some(')'));
        }
    }

    /// Computes every node; `None` if a value is not whole, not positive, or above `largest`.
    #[inline]
    pub fn values(&self, leaves: &[i64], largest: i64) -> Option<[i64; 2 * MOST_LEAVES - 1]> {
        let mut values = [0; 2 * MOST_LEAVES - 1];
        let first = leaves.len();
        values[..first].copy_from_slice(leaves);
        for (i, node) in self.nodes().iter().enumerate() {
            let (left, right) = (values[usize::from(node.left)], values[usize::from(node.right)]);
            let value = node.operator.apply(left, right)?;
            if value > largest {
                return None;
            }
            values[first + i] = value;
        }
        Some(values)
    }

    /// The value of the root.
    #[inline]
    pub fn value(&self, leaves: &[i64], largest: i64) -> Option<i64> {
        self.values(leaves, largest).map(|values| values[2 * self.leaves() - 2])
    }

    /// The number that must stand at leaf `asked` for the root to have this value, where there is one such that no
    /// value in the tree is above `largest`.
    pub fn solve(&self, leaves: &[i64], asked: usize, value: i64, largest: i64) -> Option<i64> {
        // Bottom-up, all that does not depend on the asked leaf.
        let mut values = [0; 2 * MOST_LEAVES - 1];
        let mut depends = [false; 2 * MOST_LEAVES - 1];
        let first = self.leaves();
        values[..first].copy_from_slice(leaves);
        depends[asked] = true;
        for (i, node) in self.nodes().iter().enumerate() {
            let (left, right) = (usize::from(node.left), usize::from(node.right));
            depends[first + i] = depends[left] || depends[right];
            if !depends[first + i] {
                values[first + i] = node.operator.apply(values[left], values[right])?;
                if values[first + i] > largest {
                    return None;
                }
            }
        }
        // Top-down along the path to it.
        let mut at = 2 * first - 2;
        let mut wanted = value;
        while at >= first {
            let node = self.nodes[at - first];
            let (left, right) = (usize::from(node.left), usize::from(node.right));
            (at, wanted) = if depends[left] {
                (left, node.operator.left(wanted, values[right])?)
            } else {
                (right, node.operator.right(wanted, values[left])?)
            };
            if !(1..=largest).contains(&wanted) {
                return None;
            }
        }
        Some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expression(text: &str, parenthesis: Option<u8>) -> Expression {
        let operators: Vec<Operator> = text.chars().filter_map(Operator::with_sign).collect();
        Expression::new(&operators, parenthesis)
    }

    #[test]
    fn precedence_is_the_usual_one() {
        // The paper's Figure 5.
        let figure = expression("*-*+", Some(3));
        let leaves = [4, 7, 5, 3, 2];
        assert_eq!(figure.tree().with(leaves), "4 * 7 - 5 * (3 + 2)");
        assert_eq!(figure.tree().value(&leaves, 99), Some(3));
        for (operators, parenthesis, leaves, value) in [
            ("+*", None, vec![1, 2, 3], 7),
            ("+*", Some(0), vec![1, 2, 3], 9),
            ("--", None, vec![9, 4, 3], 2),
            ("--", Some(1), vec![9, 4, 3], 8),
            ("*/", None, vec![6, 4, 8], 3),
        ] {
            assert_eq!(
                expression(operators, parenthesis).tree().value(&leaves, 99),
                Some(value),
                "{operators}"
            );
        }
        for (operators, parenthesis, text) in [
            ("+*", Some(0), "(1 + 2) * 3"),
            ("--", None, "1 - 2 - 3"),
            ("--", Some(1), "1 - (2 - 3)"),
            ("+-*", None, "1 + 2 - 3 * 4"),
            ("/+*", Some(1), "1 / (2 + 3) * 4"),
        ] {
            assert_eq!(expression(operators, parenthesis).tree().with(1..=operators.len() + 1), text);
        }
        assert_eq!(expression("+-", Some(1)).tree().value(&[20, 4, 5], 99), None, "4 - 5 is not positive");
        assert_eq!(expression("*/", None).tree().value(&[50, 2, 4], 99), None, "100 is too large");
        assert_eq!(expression("/", None).tree().value(&[50, 4], 99), None, "not whole");
    }

    #[test]
    fn distinct_trees_are_as_many_as_they_should_be() {
        for (leaves, number) in [(2, 4), (3, 20), (4, 112), (6, 2816)] {
            let mut trees = std::collections::HashSet::new();
            let operators = leaves - 1;
            for code in 0..4usize.pow(operators as u32) {
                let all: Vec<Operator> = (0..operators).map(|i| Operator::ALL[code >> (2 * i) & 3]).collect();
                trees.insert(shape(&Expression::new(&all, None).tree()));
                for at in (0..operators - 1).filter(|&at| all[at].is_sum()) {
                    trees.insert(shape(&Expression::new(&all, Some(at as u8)).tree()));
                }
            }
            assert_eq!(trees.len(), number);
        }
    }

    /// A tree as text, whatever the order of its nodes.
    fn shape(tree: &Tree) -> String {
        let mut texts: Vec<String> = (0..tree.leaves()).map(|leaf| leaf.to_string()).collect();
        for node in tree.nodes() {
            let (left, right) = (&texts[usize::from(node.left)], &texts[usize::from(node.right)]);
            texts.push(format!("({left}{}{right})", node.operator.sign()));
        }
        texts.pop().unwrap()
    }

    proptest! {
        #[test]
        fn solving_inverts_computing(
            code in 0usize..4usize.pow(7), parenthesis in 0u8..8, leaves in proptest::array::uniform8(1i64..100),
            asked in 0usize..8,
        ) {
            let operators: Vec<Operator> = (0..7).map(|i| Operator::ALL[code >> (2 * i) & 3]).collect();
            let tree = Expression::new(&operators, (parenthesis < 7).then_some(parenthesis)).tree();
            let most = i64::MAX;
            if let Some(value) = tree.value(&leaves, most) {
                let mut unknown = leaves;
                unknown[asked] = -1;
                prop_assert_eq!(tree.solve(&unknown, asked, value, most), Some(leaves[asked]));
            }
        }
    }
}
