//! Scores of several samples per item, and of runs in which some items have no answer.

use std::collections::HashMap;

/// The probability that at least one of `k` samples is right, estimated without bias from `correct` right ones among
/// `n` (Chen et al. 2021): `1 - C(n - correct, k) / C(n, k)`. `None` if there are fewer than `k` samples.
///
/// ```
/// use wug_llm::pass_at_k;
///
/// assert_eq!(pass_at_k(5, 2, 1), Some(0.4));
/// assert_eq!(pass_at_k(5, 2, 4), Some(1.0));
/// assert_eq!(pass_at_k(5, 2, 6), None);
/// ```
pub fn pass_at_k(n: usize, correct: usize, k: usize) -> Option<f64> {
    if k == 0 || k > n || correct > n {
        return None;
    }
    if k == 1 {
        return Some(correct as f64 / n as f64);
    }
    if n - correct < k {
        return Some(1.0);
    }
    // C(n - c, k) / C(n, k) as a product of fractions below 1, which neither overflows nor cancels.
    let all_wrong: f64 = (n - correct + 1..=n).map(|i| 1.0 - k as f64 / i as f64).product();
    Some(1.0 - all_wrong)
}

/// The most frequent answer; the earliest of those that are equally frequent. Samples without an answer do not vote.
///
/// ```
/// use wug_llm::majority_vote;
///
/// assert_eq!(majority_vote([Some("4"), None, Some("5"), Some("5")]), Some("5"));
/// assert_eq!(majority_vote([Some("4"), Some("5")]), Some("4"));
/// assert_eq!(majority_vote([None, None]), None);
/// ```
pub fn majority_vote<'a>(answers: impl IntoIterator<Item = Option<&'a str>>) -> Option<&'a str> {
    let mut votes: HashMap<&str, (usize, usize)> = HashMap::new();
    for (place, answer) in answers.into_iter().flatten().enumerate() {
        votes.entry(answer).or_insert((0, place)).0 += 1;
    }
    let most = |(_, (count, place)): &(&str, (usize, usize))| (*count, std::cmp::Reverse(*place));
    votes.into_iter().max_by_key(most).map(|(answer, _)| answer)
}

/// The mean of a score from 0 to 1 over items, with a 95% interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The mean of values from 0 to 1, one per item (such as pass@k), with a Wilson interval. It is exact for values of 0
/// and 1 and wider than needed for others, whose variance is smaller. `None` without items.
///
/// ```
/// let estimate = wug_llm::mean_interval(&[1.0, 0.5, 0.0, 0.5]).unwrap();
/// assert_eq!(estimate.mean, 0.5);
/// assert!(estimate.low > 0.1 && estimate.high < 0.9);
/// ```
pub fn mean_interval(values: &[f64]) -> Option<Estimate> {
    /// The 97.5% point of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = (values.iter().sum::<f64>() / n).clamp(0.0, 1.0);
    let centre = mean + Z * Z / (2.0 * n);
    let spread = Z * (mean * (1.0 - mean) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    Some(Estimate {
        mean,
        low: if mean == 0.0 { 0.0 } else { (centre - spread) / scale },
        high: if mean == 1.0 { 1.0 } else { (centre + spread) / scale },
    })
}

/// The accuracy of a run of which some items are unanswered: what is certain, and both ends of what is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Items that were answered right.
    pub correct: usize,
    /// Items without an answer, through no fault of the model.
    pub unanswered: usize,
    /// All items.
    pub n: usize,
}

impl Bounds {
    /// The accuracy if every unanswered item would have been wrong.
    ///
    /// ```
    /// let bounds = wug_llm::Bounds { correct: 6, unanswered: 2, n: 10 };
    /// assert_eq!((bounds.lower(), bounds.upper(), bounds.among_answered()), (Some(0.6), Some(0.8), Some(0.75)));
    /// ```
    pub fn lower(&self) -> Option<f64> {
        ratio(self.correct, self.n)
    }

    /// The accuracy if every unanswered item would have been right.
    pub fn upper(&self) -> Option<f64> {
        ratio(self.correct + self.unanswered, self.n)
    }

    /// The accuracy among the answered items.
    pub fn among_answered(&self) -> Option<f64> {
        ratio(self.correct, self.n.saturating_sub(self.unanswered))
    }
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, by counting subsets.
    fn by_enumeration(n: usize, correct: usize, k: usize) -> f64 {
        let subsets = (0u32..1 << n).filter(|set| set.count_ones() as usize == k);
        let (mut all, mut hit) = (0, 0);
        for set in subsets {
            all += 1;
            hit += usize::from(set & ((1 << correct) - 1) != 0);
        }
        hit as f64 / f64::from(all)
    }

    #[test]
    fn pass_at_k_counts_subsets() {
        for n in 1..9 {
            for correct in 0..=n {
                for k in 1..=n {
                    let estimate = pass_at_k(n, correct, k).unwrap();
                    assert!((estimate - by_enumeration(n, correct, k)).abs() < 1e-12, "{n} {correct} {k}");
                }
            }
        }
        assert_eq!(pass_at_k(3, 1, 0), None);
        assert!(pass_at_k(100_000, 3, 50_000).unwrap() < 1.0);
    }

    #[test]
    fn intervals_of_certain_means_are_not_empty() {
        let estimate = mean_interval(&[1.0; 20]).unwrap();
        assert!(estimate.high == 1.0 && estimate.low < 0.9);
        assert_eq!(mean_interval(&[]), None);
    }
}
