//! How often answers are right, by how they were derived.

use serde::{Deserialize, Serialize};

/// Kinds of answers, the surest first: how many fillers of slots were never seen there (0, 1, 2, more), or a word that
/// training does not have.
const KINDS: usize = 5;

/// Right answers and all answers of each kind, among rows that were not learned from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calibration {
    counts: [(f64, f64); KINDS],
}

/// How an answer was derived, as far as it bears on whether it is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// How many fillers of slots were never seen there.
    pub unseen: usize,
    /// Whether the source has a word that training does not have.
    pub new_word: bool,
}

impl Doubt {
    fn kind(self) -> usize {
        if self.new_word { KINDS - 1 } else { self.unseen.min(KINDS - 2) }
    }
}

impl Calibration {
    /// Adds an answer.
    pub(crate) fn add(&mut self, doubt: Doubt, is_right: bool) {
        let (right, all) = &mut self.counts[doubt.kind()];
        *right += f64::from(u8::from(is_right));
        *all += 1.0;
    }

    /// Whether its numbers can be counts of right and of all answers.
    pub(crate) fn is_sound(&self) -> bool {
        self.counts.iter().all(|&(right, all)| right >= 0.0 && right <= all && all.is_finite())
    }

    /// The probability that an answer is right: the share among the answers of its kind, where kinds are joined until a
    /// less sure one has no greater share than a surer one (isotonic regression), with one right and one wrong answer of
    /// each kind added in the proportion of all answers. `None` if no answers were seen.
    pub(crate) fn probability(&self, doubt: Doubt) -> Option<f64> {
        let (right, all) = self.counts.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        if all == 0.0 {
            return None;
        }
        let prior = (right + 1.0) / (all + 2.0);
        // Groups of neighbouring kinds: right answers, all answers, how many kinds.
        let mut groups: Vec<(f64, f64, usize)> = Vec::new();
        for &(right, all) in &self.counts {
            let mut group = (right + 2.0 * prior, all + 2.0, 1);
            while let Some(&before) = groups.last()
                && before.0 * group.1 <= group.0 * before.1
            {
                groups.pop();
                group = (group.0 + before.0, group.1 + before.1, group.2 + before.2);
            }
            groups.push(group);
        }
        let mut kinds =
            groups.iter().flat_map(|&(right, all, kinds)| std::iter::repeat_n(right / all, kinds));
        kinds.nth(doubt.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_sure_answers_are_never_more_probable() {
        let doubt = |unseen| Doubt { unseen, new_word: false };
        let mut calibration = Calibration::default();
        assert_eq!(calibration.probability(doubt(0)), None);
        for i in 0..100 {
            calibration.add(doubt(0), i % 10 > 0);
            calibration.add(doubt(1), i % 5 > 0);
            calibration.add(doubt(2), i % 20 > 0);
        }
        let of = |doubt| calibration.probability(doubt).unwrap();
        assert!((of(doubt(0)) - 0.9).abs() < 0.01, "{}", of(doubt(0)));
        // Kinds 1 and 2 are in the wrong order, and kinds without answers are no surer than they.
        assert_eq!(of(doubt(1)), of(doubt(2)));
        assert!((of(doubt(2)) - 0.875).abs() < 0.01, "{}", of(doubt(2)));
        assert!(of(Doubt { unseen: 0, new_word: true }) <= of(doubt(7)));
        assert!(calibration.is_sound());
    }
}
