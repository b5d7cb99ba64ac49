use crate::{Grammar, RuleId};

/// A tree of an [`Arena`], named by its root node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Position in the arena: children come before their parents.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Many derivation trees in two flat buffers. A node may be a child of several parents, so trees share what they have
/// in common, and a child always comes before its parents.
///
/// ```
/// # use wug_grammar::{Arena, Grammar};
/// let (grammar, _) = Grammar::parse("twice: S -> V twice\nV -> jump")?;
/// let mut arena = Arena::new();
/// let jump = arena.add(grammar.rule_named("jump").unwrap(), &[]);
/// let twice = arena.add(grammar.rule_named("twice").unwrap(), &[jump]);
/// assert_eq!(arena.display(&grammar, twice), "twice(jump)");
/// # Ok::<(), wug_grammar::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Arena {
    nodes: Vec<Node>,
    children: Vec<NodeId>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    rule: RuleId,
    first_child: u32,
    end_child: u32,
}

impl Arena {
    /// An arena without trees.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the tree `rule(children...)`.
    ///
    /// # Panics
    /// If a child is not in this arena, or the arena has 2^32 nodes already.
    pub fn add(&mut self, rule: RuleId, children: &[NodeId]) -> NodeId {
        assert!(children.iter().all(|child| child.index() < self.nodes.len()), "child of another arena");
        let id = NodeId(u32::try_from(self.nodes.len()).expect("arena is full"));
        let first_child = self.children.len() as u32;
        self.children.extend_from_slice(children);
        self.nodes.push(Node { rule, first_child, end_child: self.children.len() as u32 });
        id
    }

    /// The rule at the root of a tree.
    pub fn rule(&self, tree: NodeId) -> RuleId {
        self.nodes[tree.index()].rule
    }

    /// The subtrees right below the root.
    pub fn children(&self, tree: NodeId) -> &[NodeId] {
        let node = self.nodes[tree.index()];
        &self.children[node.first_child as usize..node.end_child as usize]
    }

    /// Every node, children before parents.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// How many nodes the arena holds.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the arena holds no tree.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether two trees, of this and another arena, are equal.
    pub fn same(&self, tree: NodeId, other: &Arena, theirs: NodeId) -> bool {
        let mut open = vec![(tree, theirs)];
        while let Some((a, b)) = open.pop() {
            if self.rule(a) != other.rule(b) {
                return false;
            }
            open.extend(self.children(a).iter().copied().zip(other.children(b).iter().copied()));
        }
        true
    }

    /// The tree with the names of its rules: `and(once(jump), twice(walk))`.
    pub fn display(&self, grammar: &Grammar, tree: NodeId) -> String {
        enum Step<'a> {
            Tree(NodeId),
            Text(&'a str),
        }
        let mut text = String::new();
        let mut open = vec![Step::Tree(tree)];
        while let Some(step) = open.pop() {
            match step {
                Step::Text(piece) => text.push_str(piece),
                Step::Tree(tree) => {
                    text.push_str(grammar.rule(self.rule(tree)).name());
                    let children = self.children(tree);
                    if !children.is_empty() {
                        text.push('(');
                        open.push(Step::Text(")"));
                        for (i, &child) in children.iter().enumerate().rev() {
                            open.push(Step::Tree(child));
                            if i > 0 {
                                open.push(Step::Text(", "));
                            }
                        }
                    }
                }
            }
        }
        text
    }
}
