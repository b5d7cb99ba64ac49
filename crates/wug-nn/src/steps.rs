/// How sequences of different lengths lie in one buffer: step after step, and in each step only those sequences that are
/// long enough. The sequences are ordered from long to short, so those of a step are always the first ones.
///
/// Nothing is padded, so nothing is computed in vain and no mask is needed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Steps {
    /// Where each step begins, and the end.
    offsets: Vec<usize>,
}

impl Steps {
    /// The layout for these lengths.
    ///
    /// # Panics
    /// If a sequence is longer than the one before it.
    pub fn new(lengths: &[usize]) -> Self {
        assert!(lengths.is_sorted_by(|a, b| a >= b), "sequences must be ordered from long to short");
        let mut offsets = vec![0];
        for t in 0..lengths.first().copied().unwrap_or_default() {
            offsets.push(offsets[t] + lengths.partition_point(|&length| length > t));
        }
        Self { offsets }
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many sequences have this step.
    pub fn rows(&self, step: usize) -> usize {
        if step < self.len() { self.offsets[step + 1] - self.offsets[step] } else { 0 }
    }

    /// Where the rows of a step begin.
    pub fn start(&self, step: usize) -> usize {
        self.offsets[step]
    }

    /// All rows of all steps.
    pub fn total(&self) -> usize {
        self.offsets[self.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_long_enough_has_a_row() {
        let steps = Steps::new(&[3, 1, 1]);
        assert_eq!((steps.len(), steps.total()), (3, 5));
        assert_eq!([0, 1, 2, 3].map(|step| steps.rows(step)), [3, 1, 1, 0]);
        assert_eq!([0, 1, 2].map(|step| steps.start(step)), [0, 3, 4]);
        assert!(Steps::new(&[]).is_empty());
    }
}
