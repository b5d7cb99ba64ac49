use crate::{Arena, NodeId, RuleId};

/// An interpretation of trees: a rule, applied to the values of the subtrees, gives the value of the tree.
///
/// ```
/// use wug_grammar::{Algebra, Arena, Grammar, RuleId, Space};
///
/// struct Size;
/// impl Algebra for Size {
///     type Value = usize;
///     fn apply(&mut self, _: RuleId, children: &[usize]) -> usize {
///         1 + children.iter().sum::<usize>()
///     }
/// }
///
/// let (grammar, _) = Grammar::parse("plus: E -> E + E\nE -> 1 | 2")?;
/// let mut arena = Arena::new();
/// let trees = Space::of_size(&grammar, grammar.sort("E")?, 3)?.enumerate(&mut arena)?;
/// assert!(trees.iter().all(|&tree| Size.evaluate(&arena, tree) == 3));
/// # Ok::<(), wug_grammar::Error>(())
/// ```
pub trait Algebra {
    /// What a tree means.
    type Value: Clone;

    /// The value of `rule(children...)` from the values of its children.
    fn apply(&mut self, rule: RuleId, children: &[Self::Value]) -> Self::Value;

    /// The value of one tree.
    fn evaluate(&mut self, arena: &Arena, tree: NodeId) -> Self::Value {
        // Values of finished subtrees wait on a stack, so deep trees need no deep recursion.
        let mut open = vec![(tree, false)];
        let mut values: Vec<Self::Value> = Vec::new();
        while let Some((node, children_done)) = open.pop() {
            let children = arena.children(node);
            if children_done || children.is_empty() {
                let first = values.len() - children.len();
                let value = self.apply(arena.rule(node), &values[first..]);
                values.truncate(first);
                values.push(value);
            } else {
                open.push((node, true));
                open.extend(children.iter().rev().map(|&child| (child, false)));
            }
        }
        values.pop().expect("a tree has a root")
    }

    /// The values of all nodes of an arena, each computed once however many trees share it.
    fn evaluate_all(&mut self, arena: &Arena) -> Vec<Self::Value> {
        let mut values: Vec<Self::Value> = Vec::with_capacity(arena.len());
        let mut arguments = Vec::new();
        for node in arena.nodes() {
            arguments.clear();
            arguments.extend(arena.children(node).iter().map(|child| values[child.index()].clone()));
            let value = self.apply(arena.rule(node), &arguments);
            values.push(value);
        }
        values
    }
}
