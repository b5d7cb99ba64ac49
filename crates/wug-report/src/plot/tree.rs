use super::{Anchor, LETTER, Paper, Svg};

const LEVEL: f64 = 34.0;
const GAP: f64 = 10.0;
/// Trees beyond this are not drawn: nobody could read them.
const MOST_NODES: usize = 400;

/// A tree with labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// What stands at the root.
    pub label: String,
    /// What hangs below it.
    pub children: Vec<Tree>,
}

impl Tree {
    /// Reads a term such as `r9(r3(look left) r4(jump))`: labels, with their children in parentheses behind them.
    ///
    /// Returns none where the text is no term with at least one pair of parentheses, or too large to be drawn.
    pub fn read(text: &str) -> Option<Self> {
        let mut open: Vec<Self> = vec![Self::default()];
        let (mut label, mut nodes) = (String::new(), 0);
        let mut take = |label: &mut String, open: &mut Vec<Self>| -> Option<()> {
            if !label.is_empty() {
                nodes += 1;
                open.last_mut()?.children.push(Self { label: std::mem::take(label), children: Vec::new() });
            }
            (nodes <= MOST_NODES).then_some(())
        };
        for c in text.chars() {
            match c {
                '(' if !label.is_empty() => {
                    take(&mut label, &mut open)?;
                    let inner = open.last_mut()?.children.pop()?;
                    open.push(inner);
                }
                ')' if open.len() > 1 => {
                    take(&mut label, &mut open)?;
                    let done = open.pop()?;
                    open.last_mut()?.children.push(done);
                }
                '(' | ')' => return None,
                ' ' | ',' => take(&mut label, &mut open)?,
                c => label.push(c),
            }
        }
        take(&mut label, &mut open)?;
        let mut roots = open.pop().filter(|_| open.is_empty())?.children;
        let root = roots.pop().filter(|_| roots.is_empty())?;
        (!root.children.is_empty()).then_some(root)
    }

    /// Draws it.
    pub fn svg(&self, paper: Paper) -> String {
        let mut svg = Svg::new();
        let mut next = 4.0;
        self.draw(&mut svg, &mut next, 0);
        svg.finish(paper)
    }

    /// Draws the children from `next` on, then the label above their middle; returns where that is.
    fn draw(&self, svg: &mut Svg, next: &mut f64, depth: usize) -> f64 {
        let y = 16.0 + LEVEL * depth as f64;
        let width = LETTER * self.label.chars().count() as f64;
        let start = *next;
        let places: Vec<f64> = self.children.iter().map(|child| child.draw(svg, next, depth + 1)).collect();
        let middle = match (places.first(), places.last()) {
            (Some(first), Some(last)) => f64::midpoint(*first, *last).max(start + width / 2.0),
            _ => start + width / 2.0,
        };
        *next = next.max(middle + width / 2.0 + GAP);
        for place in places {
            svg.rule((middle, y + 4.0), (place, y + LEVEL - 12.0), 0.5);
        }
        svg.text(middle, y, Anchor::Middle, &self.label);
        middle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_a_tree() {
        let tree = Tree::read("r9(r3(look left) r4(r5(?jump)))").unwrap();
        assert_eq!((tree.label.as_str(), tree.children.len()), ("r9", 2));
        assert_eq!(tree.children[0].children[1].label, "left");
        assert_eq!(Tree::read("r9(r3(look, left), r4(r5(?jump)))"), Some(tree.clone()));
        let drawn = tree.svg(Paper::Page);
        assert_eq!((drawn.matches("<text").count(), drawn.matches("<line").count()), (7, 6));
        for other in ["", "a", "a b", "a(b", "a)b", "(a)", "a(b) c", "a(b))", "54 + 22 = 76 -> 59"] {
            assert_eq!(Tree::read(other), None, "{other}");
        }
        // Deep ones are refused before drawing them could need a deep stack.
        assert_eq!(Tree::read(&"a(".repeat(100_000)), None);
        assert_eq!(Tree::read(&format!("{}b{}", "a(".repeat(1000), ")".repeat(1000))), None);
    }
}
