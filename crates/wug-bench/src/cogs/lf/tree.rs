//! The variable-free notation: `see ( agent = * girl , theme = cake ( nmod . on = table ) )`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::tokens::Tokens;
use super::{Conjunct, Form, Name, ParseError, Term};

/// Reads a tree as predications: each node is a variable, numbered as it is met, with a label and edges.
pub(super) fn parse<'t>(tokens: &mut Tokens<'t>) -> Result<Vec<Conjunct<'t>>, ParseError> {
    let mut conjuncts = Vec::new();
    // Nodes whose edges are being read; text may nest as deep as it likes.
    let mut open: Vec<usize> = Vec::new();
    let mut nodes = 0;
    loop {
        let node = nodes;
        nodes += 1;
        let definite = tokens.take("*");
        let label = tokens.word("a node")?;
        conjuncts.push(Conjunct { definite, ..Conjunct::one_place(label, Term::numbered(node)) });
        if tokens.take("(") {
            open.push(node);
        } else {
            loop {
                match open.last() {
                    None => return Ok(conjuncts),
                    Some(_) if tokens.take(")") => {
                        open.pop();
                    }
                    Some(_) if tokens.take(",") => break,
                    Some(_) => return Err(tokens.expected("`,` or `)`")),
                }
            }
        }
        let Some(&parent) = open.last() else { return Ok(conjuncts) };
        let mut relation = vec![Cow::Borrowed(tokens.word("a role")?)];
        while tokens.take(".") {
            relation.push(Cow::Borrowed(tokens.word("a word of the role")?));
        }
        if !tokens.take("=") {
            return Err(tokens.expected("`=`"));
        }
        conjuncts.push(Conjunct::two_place(None, relation, Term::numbered(parent), Term::numbered(nodes)));
    }
}

/// What is known of a node.
#[derive(Default)]
struct Node<'f> {
    label: Option<(bool, &'f str)>,
    edges: Vec<(&'f [Name<'f>], &'f Term<'f>)>,
}

/// Writes a form as a tree, depth first, edges in the order of the form. Shared nodes are written again; an edge back
/// to a node above is written as its label alone, so that no form makes this endless.
pub(super) fn print(form: &Form<'_>, out: &mut String) {
    let mut nodes: HashMap<&Term<'_>, Node<'_>> = HashMap::new();
    let mut below: HashSet<&Term<'_>> = HashSet::new();
    let mut order: Vec<&Term<'_>> = Vec::new();
    for conjunct in &form.conjuncts {
        let Some(first) = conjunct.arguments.first() else { continue };
        order.push(first);
        let node = nodes.entry(first).or_default();
        if let Some(head) = &conjunct.head {
            node.label.get_or_insert((conjunct.definite, head));
        }
        if let Some(second) = conjunct.arguments.get(1) {
            node.edges.push((&conjunct.relation, second));
            below.insert(second);
        }
    }
    let root = order.iter().find(|term| !below.contains(**term)).or(order.first());
    match root {
        Some(root) => write_tree(root, &nodes, out),
        // A primitive that is one word.
        None => {
            out.push_str(form.conjuncts.first().and_then(|bare| bare.head.as_deref()).unwrap_or_default());
        }
    }
}

/// A tree that shares nodes again and again could be exponentially long.
const MOST_NODES: usize = 100_000;

fn write_tree<'f>(root: &'f Term<'f>, nodes: &HashMap<&'f Term<'f>, Node<'f>>, out: &mut String) {
    enum Step<'f> {
        Enter(&'f Term<'f>),
        Edge(&'f [Name<'f>], bool),
        Leave(&'f Term<'f>),
    }
    let mut open = vec![Step::Enter(root)];
    let mut above: HashSet<&Term<'_>> = HashSet::new();
    let mut written = 0;
    while let Some(step) = open.pop() {
        match step {
            Step::Enter(term) => {
                written += 1;
                let node = nodes.get(term);
                let (definite, label) = node.and_then(|node| node.label).unwrap_or((false, term.name()));
                if definite {
                    out.push_str("* ");
                }
                out.push_str(label);
                let edges = node.map_or(&[][..], |node| &node.edges);
                if edges.is_empty() || written > MOST_NODES || !above.insert(term) {
                    continue;
                }
                out.push_str(" ( ");
                open.push(Step::Leave(term));
                for (i, (relation, child)) in edges.iter().enumerate().rev() {
                    open.push(Step::Enter(child));
                    open.push(Step::Edge(relation, i == 0));
                }
            }
            Step::Edge(relation, is_first) => {
                if !is_first {
                    out.push_str(" , ");
                }
                out.push_str(&relation.join(" . "));
                out.push_str(" = ");
            }
            Step::Leave(term) => {
                above.remove(term);
                out.push_str(" )");
            }
        }
    }
}
