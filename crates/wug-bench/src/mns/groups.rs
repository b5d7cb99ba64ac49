//! Which numbers of a panel are calculated together, and in which order.

use super::grammar::{Interpretation, Kind, Layout};
use super::meaning::MOST_LEAVES;

/// How the positions of a panel fall into groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// All positions in order.
    Whole,
    /// Neighbours: consecutive blocks (mode 1 of the release).
    Neighbours,
    /// Symmetry: every so manieth position (mode 2).
    Symmetry,
    /// Neighbours, the last block backwards (mode 3): mirror images in a partition.
    Mirrored,
    /// Symmetry along an axis of four (mode 4): from one end of the axis to the other.
    Axis,
}

impl Mode {
    /// The mode as the release numbers it.
    pub fn number(self) -> u8 {
        match self {
            Self::Whole => 0,
            Self::Neighbours => 1,
            Self::Symmetry => 2,
            Self::Mirrored => 3,
            Self::Axis => 4,
        }
    }

    /// The modes that the generator draws from, all equally likely.
    pub fn drawn(layout: Layout, interpretation: Interpretation) -> &'static [Self] {
        let Interpretation::Analytic(groups) = interpretation else { return &[Self::Whole] };
        match (layout, groups) {
            (Layout::Circle | Layout::Square | Layout::Triangle, _) => &[Self::Symmetry],
            (Layout::Include | Layout::Cross, 2) => &[Self::Neighbours, Self::Axis],
            (Layout::Parts6 | Layout::Parts8, 2) => &[Self::Mirrored, Self::Symmetry],
            _ => &[Self::Neighbours, Self::Symmetry],
        }
    }

    /// The positions of each group, in the order of calculation: `groups` rows of equal length.
    ///
    /// # Panics
    /// If the groups do not divide the positions.
    pub fn groups(self, integers: usize, groups: usize) -> Vec<Vec<u8>> {
        let order = self.order(integers, groups);
        order[..integers].chunks(integers / groups).map(<[u8]>::to_vec).collect()
    }

    /// The positions of all groups, one group behind the other.
    pub(crate) fn order(self, integers: usize, groups: usize) -> [u8; MOST_LEAVES] {
        assert!(groups > 0 && integers.is_multiple_of(groups), "{groups} groups of {integers} numbers");
        let size = integers / groups;
        let mut order = [0; MOST_LEAVES];
        for (group, positions) in order[..integers].chunks_mut(size).enumerate() {
            for (i, position) in positions.iter_mut().enumerate() {
                *position = match self {
                    Self::Whole | Self::Neighbours | Self::Mirrored => group * size + i,
                    Self::Symmetry | Self::Axis => group + groups * i,
                } as u8;
            }
            match self {
                Self::Mirrored if group == groups - 1 => positions.reverse(),
                // Outer, outer, inner, inner becomes outer, inner, inner, outer.
                Self::Axis if size == 4 => positions[1..].rotate_left(1),
                _ => {}
            }
        }
        order
    }
}

/// Whether the generator may show the constant at the centre of a panel.
pub fn has_room_at_the_centre(layout: Layout) -> bool {
    layout.kind() == Kind::Composition
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_the_release() {
        assert_eq!(Mode::Neighbours.groups(8, 4), [[0, 1], [2, 3], [4, 5], [6, 7]]);
        assert_eq!(Mode::Symmetry.groups(6, 2), [[0, 2, 4], [1, 3, 5]]);
        assert_eq!(Mode::Symmetry.groups(8, 4), [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(Mode::Mirrored.groups(6, 2), [[0, 1, 2], [5, 4, 3]]);
        assert_eq!(Mode::Axis.groups(8, 2), [[0, 4, 6, 2], [1, 5, 7, 3]]);
        assert_eq!(Mode::Whole.groups(3, 1), [[0, 1, 2]]);
    }

    #[test]
    fn composition_rings_have_symmetry_only() {
        for layout in [Layout::Circle, Layout::Square, Layout::Triangle] {
            for interpretation in layout.interpretations().skip(1) {
                assert_eq!(Mode::drawn(layout, interpretation), [Mode::Symmetry]);
            }
        }
    }
}
