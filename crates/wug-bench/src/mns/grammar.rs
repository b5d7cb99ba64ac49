//! What can be asked: an And-Or graph from the problem type down to the interpretation.

use std::sync::LazyLock;

use wug_grammar::{Arena, Grammar, Space};

/// The And-Or graph. A sort with several rules is an Or-node, a rule with several sorts an And-node; a derivation reads
/// as `composition circle cross analytic 4`: type, shape, layout, interpretation.
const AND_OR_GRAPH: &str = "
    combination: PROBLEM -> combination COMBINED
    composition: PROBLEM -> composition COMPOSED
    partition:   PROBLEM -> partition PARTED

    COMBINED -> FIVE overlap WHOLE | FIVE include EIGHT | FIVE tangent WHOLE
    COMPOSED -> THREE line FOUR | THREE cross EIGHT | THREE triangle SIX | THREE square EIGHT | THREE circle EIGHT
    PARTED   -> ROUND 2 WHOLE | ROUND 4 FOUR | ROUND 6 SIX | ROUND 8 EIGHT

    all-triangle:  FIVE  -> TRIANGLE
    all-square:    FIVE  -> SQUARE
    all-circle:    FIVE  -> CIRCLE
    all-hexagon:   FIVE  -> HEXAGON
    all-rectangle: FIVE  -> RECTANGLE
    small-triangle: THREE -> TRIANGLE
    small-square:   THREE -> SQUARE
    small-circle:   THREE -> CIRCLE
    cut-square:    ROUND -> SQUARE
    cut-circle:    ROUND -> CIRCLE
    cut-hexagon:   ROUND -> HEXAGON
    TRIANGLE -> triangle
    SQUARE -> square
    CIRCLE -> circle
    HEXAGON -> hexagon
    RECTANGLE -> rectangle

    four-whole:     FOUR  -> WHOLE
    four-halves:    FOUR  -> HALVES
    six-whole:      SIX   -> WHOLE
    six-halves:     SIX   -> HALVES
    six-thirds:     SIX   -> THIRDS
    eight-whole:    EIGHT -> WHOLE
    eight-halves:   EIGHT -> HALVES
    eight-quarters: EIGHT -> QUARTERS
    WHOLE    -> holistic
    HALVES   -> analytic 2
    THIRDS   -> analytic 3
    QUARTERS -> analytic 4
";

/// The problem type: how shapes make up the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Two or three large shapes.
    Combination,
    /// Small shapes that outline a larger one.
    Composition,
    /// One shape cut into parts.
    Partition,
}

impl Kind {
    /// All types.
    pub const ALL: [Self; 3] = [Self::Combination, Self::Composition, Self::Partition];

    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Combination => "combination",
            Self::Composition => "composition",
            Self::Partition => "partition",
        }
    }

    /// Its layouts.
    pub fn layouts(self) -> impl Iterator<Item = Layout> {
        Layout::ALL.into_iter().filter(move |layout| layout.kind() == self)
    }
}

/// The shape that figures are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Shape {
    Triangle,
    Square,
    Circle,
    Hexagon,
    Rectangle,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 5] = [Self::Triangle, Self::Square, Self::Circle, Self::Hexagon, Self::Rectangle];

    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Triangle => "triangle",
            Self::Square => "square",
            Self::Circle => "circle",
            Self::Hexagon => "hexagon",
            Self::Rectangle => "rectangle",
        }
    }

    /// The shape with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.name() == name)
    }
}

/// Where shapes and numbers stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Layout {
    Overlap,
    Include,
    Tangent,
    Line,
    Cross,
    Triangle,
    Square,
    Circle,
    Parts2,
    Parts4,
    Parts6,
    Parts8,
}

impl Layout {
    /// All layouts, type by type.
    pub const ALL: [Self; 12] = [
        Self::Overlap,
        Self::Include,
        Self::Tangent,
        Self::Line,
        Self::Cross,
        Self::Triangle,
        Self::Square,
        Self::Circle,
        Self::Parts2,
        Self::Parts4,
        Self::Parts6,
        Self::Parts8,
    ];

    /// The problem type it belongs to.
    pub fn kind(self) -> Kind {
        match self {
            Self::Overlap | Self::Include | Self::Tangent => Kind::Combination,
            Self::Line | Self::Cross | Self::Triangle | Self::Square | Self::Circle => Kind::Composition,
            Self::Parts2 | Self::Parts4 | Self::Parts6 | Self::Parts8 => Kind::Partition,
        }
    }

    /// The word; for a partition the number of parts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlap => "overlap",
            Self::Include => "include",
            Self::Tangent => "tangent",
            Self::Line => "line",
            Self::Cross => "cross",
            Self::Triangle => "triangle",
            Self::Square => "square",
            Self::Circle => "circle",
            Self::Parts2 => "2",
            Self::Parts4 => "4",
            Self::Parts6 => "6",
            Self::Parts8 => "8",
        }
    }

    /// The layout of a type with this name.
    pub fn named(kind: Kind, name: &str) -> Option<Self> {
        kind.layouts().find(|layout| layout.name() == name)
    }

    /// How many numbers a panel has, its centre aside.
    pub fn integers(self) -> usize {
        match self {
            Self::Overlap | Self::Parts2 => 2,
            Self::Tangent => 3,
            Self::Line | Self::Parts4 => 4,
            Self::Triangle | Self::Parts6 => 6,
            Self::Include | Self::Cross | Self::Square | Self::Circle | Self::Parts8 => 8,
        }
    }

    /// The interpretations it allows, all equally likely.
    pub fn interpretations(self) -> impl Iterator<Item = Interpretation> {
        let circles = conditions().iter().filter(move |it| it.layout == self && it.shape == Shape::Circle);
        circles.map(|condition| condition.interpretation)
    }
}

/// How many groups the numbers of a panel fall into, each calculated by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Interpretation {
    /// All numbers in one calculation.
    Holistic,
    /// 2, 3 or 4 groups.
    Analytic(u8),
}

impl Interpretation {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holistic => "holistic",
            Self::Analytic(_) => "analytic",
        }
    }

    /// How many groups a panel has.
    pub fn groups(self) -> usize {
        match self {
            Self::Holistic => 1,
            Self::Analytic(groups) => groups.into(),
        }
    }

    /// The number in file names and facts: 0 for holistic.
    pub fn parts(self) -> u8 {
        match self {
            Self::Holistic => 0,
            Self::Analytic(groups) => groups,
        }
    }
}

/// One way through the And-Or graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Condition {
    /// What figures are made of.
    pub shape: Shape,
    /// Where they stand.
    pub layout: Layout,
    /// How the numbers are read.
    pub interpretation: Interpretation,
}

impl Condition {
    /// The cell of the paper's Table 1: `combination-holistic`.
    pub fn cell(self) -> String {
        cell(self.layout, self.interpretation.name())
    }

    fn read(words: &str) -> Option<Self> {
        let words: Vec<&str> = words.split(' ').collect();
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == words[0])?;
        let interpretation = match words[3..] {
            ["analytic", groups] => Interpretation::Analytic(groups.parse().ok()?),
            _ => Interpretation::Holistic,
        };
        Some(Self { shape: Shape::named(words[1])?, layout: Layout::named(kind, words[2])?, interpretation })
    }
}

/// The cell of Table 1 for a layout and the word for an interpretation.
pub(crate) fn cell(layout: Layout, interpretation: &str) -> String {
    format!("{}-{interpretation}", layout.kind().name())
}

/// Every way through the And-Or graph: 94 with all shapes, 28 of them with circles.
pub fn conditions() -> &'static [Condition] {
    static CONDITIONS: LazyLock<Vec<Condition>> = LazyLock::new(|| {
        let (grammar, words) = Grammar::parse(AND_OR_GRAPH).expect("the graph is well formed");
        let root = grammar.sort("PROBLEM").expect("the graph has a root");
        let space = Space::all(&grammar, root).expect("the graph is finite");
        let number: u32 = space.count().to_string().parse().expect("the graph is small");
        let mut arena = Arena::new();
        let read = |i: u32| {
            let tree = space.unrank(&mut arena, &i.into()).expect("a derivation for every number");
            Condition::read(&words.text(&arena, tree)).expect("every derivation is a condition")
        };
        (0..number).map(read).collect()
    });
    &CONDITIONS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_graph_has_the_papers_layouts() {
        let figures: HashSet<(Shape, Layout)> = conditions().iter().map(|it| (it.shape, it.layout)).collect();
        let of = |kind| figures.iter().filter(|(_, layout)| layout.kind() == kind).count();
        assert_eq!(Kind::ALL.map(of), [5 * 3, 3 * 5, 3 * 4]);
        assert_eq!(conditions().len(), 94);
    }

    #[test]
    fn the_release_has_28_conditions() {
        let circles: Vec<_> = conditions().iter().filter(|it| it.shape == Shape::Circle).collect();
        assert_eq!(circles.len(), 28);
        for layout in Layout::ALL {
            // Groups divide the numbers and have two at least.
            for interpretation in layout.interpretations() {
                let groups = interpretation.groups();
                assert!(layout.integers() % groups == 0 && layout.integers() / groups >= 2);
            }
        }
        let mut cells: Vec<(String, usize)> = Vec::new();
        for condition in circles {
            match cells.iter_mut().find(|(cell, _)| *cell == condition.cell()) {
                Some((_, number)) => *number += 1,
                None => cells.push((condition.cell(), 1)),
            }
        }
        let sizes: Vec<usize> = cells.iter().map(|(_, number)| *number).collect();
        // Times 2,000: the sizes of the test sets in the official table of results.
        assert_eq!(sizes, [3, 2, 5, 9, 4, 5]);
    }
}
