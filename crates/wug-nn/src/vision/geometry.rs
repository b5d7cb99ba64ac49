use serde::{Deserialize, Serialize};

/// Rows and columns of an image or a feature map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Size {
    /// The number of places.
    pub(super) fn places(self) -> usize {
        self.height * self.width
    }
}

/// What slides over a feature map: a square kernel, how far it moves at a time, and the zeros around the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) kernel: usize,
    pub(super) stride: usize,
    pub(super) padding: usize,
}

impl Window {
    /// The size of what comes out; `None` if the window does not fit.
    pub(super) fn output(self, input: Size) -> Option<Size> {
        let side = |side: usize| {
            let slack = (side + 2 * self.padding).checked_sub(self.kernel)?;
            Some(slack / self.stride + 1)
        };
        Some(Size { height: side(input.height)?, width: side(input.width)? })
    }

    /// All places of the input that a place of the output sees, with the tap they are seen through: for each place of the
    /// output, in order, those that lie in the map.
    pub(super) fn seen(self, input: Size, output: Size) -> impl Iterator<Item = Vec<(usize, usize)>> {
        let inside = move |out: usize, tap: usize, side: usize| {
            (out * self.stride + tap).checked_sub(self.padding).filter(|&at| at < side)
        };
        (0..output.places()).map(move |place| {
            let (y, x) = (place / output.width, place % output.width);
            let taps = (0..self.kernel).flat_map(|down| (0..self.kernel).map(move |across| (down, across)));
            taps.filter_map(|(down, across)| {
                let (y, x) = (inside(y, down, input.height)?, inside(x, across, input.width)?);
                Some((y * input.width + x, down * self.kernel + across))
            })
            .collect()
        })
    }
}

/// A list for each place, all in one buffer.
#[derive(Debug, Clone)]
pub(super) struct Lists<E> {
    starts: Vec<usize>,
    entries: Vec<E>,
}

impl<E> Lists<E> {
    pub(super) fn new(lists: impl Iterator<Item = Vec<E>>) -> Self {
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for list in lists {
            entries.extend(list);
            starts.push(entries.len());
        }
        Self { starts, entries }
    }

    /// The list of a place.
    pub(super) fn of(&self, place: usize) -> &[E] {
        &self.entries[self.starts[place]..self.starts[place + 1]]
    }

    /// The number of lists.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

/// The same relation from the other side: for each place of the input, the places of the output that see it.
pub(super) fn seen_by(seen: &Lists<(usize, usize)>, places: usize) -> Lists<(usize, usize)> {
    let mut lists = vec![Vec::new(); places];
    for place in 0..seen.len() {
        for &(from, tap) in seen.of(place) {
            lists[from].push((place, tap));
        }
    }
    Lists::new(lists.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_sees_what_lies_in_the_map() {
        let size = |side| Size { height: side, width: side };
        let stem = Window { kernel: 7, stride: 2, padding: 3 };
        assert_eq!(stem.output(size(32)), Some(size(16)));
        assert_eq!(Window { kernel: 3, stride: 2, padding: 0 }.output(size(80)), Some(size(39)));
        assert_eq!(Window { kernel: 3, stride: 1, padding: 0 }.output(size(2)), None);
        let window = Window { kernel: 3, stride: 1, padding: 1 };
        let seen = Lists::new(window.seen(size(1), size(1)));
        assert_eq!(seen.of(0), [(0, 4)], "only the middle of the kernel meets the only place");
        let seen = Lists::new(window.seen(size(2), size(2)));
        assert_eq!(seen.of(0), [(0, 4), (1, 5), (2, 7), (3, 8)]);
        let by = seen_by(&seen, 4);
        assert_eq!(by.of(0), [(0, 4), (1, 3), (2, 1), (3, 0)]);
    }
}
