//! Statistics of paired verdicts: the exact McNemar test and bootstrap intervals of a difference in accuracy.

use rayon::prelude::*;

use wug_data::{Stream, Streams};

/// Both ends of a 95% interval.
const TAILS: (f64, f64) = (0.025, 0.975);

/// Probabilities beyond this many standard deviations are left out of sums.
const WINDOW: f64 = 8.0;

/// Resamples where an interval cannot be computed exactly.
const RESAMPLES: u64 = 2000;

/// The two-sided exact McNemar test: the probability that `gained` and `lost` examples are split at least as unevenly if
/// both are equally likely.
///
/// ```
/// // statsmodels.stats.contingency_tables.mcnemar([[10, 2], [9, 5]], exact=True)
/// assert!((wug_report::mcnemar(9, 2) - 0.065429688).abs() < 1e-8);
/// assert_eq!(wug_report::mcnemar(0, 0), 1.0);
/// ```
pub fn mcnemar(gained: usize, lost: usize) -> f64 {
    let (n, least) = (gained + lost, gained.min(lost));
    if n == 0 {
        return 1.0;
    }
    let log_choose = ln_factorial(n) - ln_factorial(least) - ln_factorial(n - least);
    // From the largest term down: each is the one before times k / (n - k + 1).
    let mut term = (log_choose - n as f64 * std::f64::consts::LN_2).exp();
    let mut sum = 0.0;
    for k in (0..=least).rev() {
        sum += term;
        term *= k as f64 / (n - k + 1) as f64;
        if term < sum * 1e-18 {
            break;
        }
    }
    (2.0 * sum).min(1.0)
}

/// The natural logarithm of `n!`.
fn ln_factorial(n: usize) -> f64 {
    if n < 32 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    // Stirling's series; the first term that is left out is below 1e-14 from 32 on.
    let x = n as f64;
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + series
}

/// The 95% interval of the difference in accuracy of two systems on the same `n` examples, of which the second gained and
/// lost some: the percentile interval of the paired bootstrap in the limit of infinitely many resamples.
///
/// A resample of the pairs has binomially many that changed, of which binomially many are gains, so the distribution of the
/// difference can be summed instead of drawn.
pub fn paired_interval(n: usize, gained: usize, lost: usize) -> (f64, f64) {
    if n == 0 {
        return (-1.0, 1.0);
    }
    let changed = gained + lost;
    if changed == 0 {
        return (0.0, 0.0);
    }
    let share = gained as f64 / changed as f64;
    // The probability of each difference from -n to n, in examples.
    let (first, last) = window(n, changed as f64 / n as f64);
    let mut differences = vec![0.0; 2 * last + 1];
    for (changed, probability) in binomial(n, changed as f64 / n as f64, first, last) {
        let (from, to) = window(changed, share);
        for (gained, conditional) in binomial(changed, share, from, to) {
            differences[last + 2 * gained - changed] += probability * conditional;
        }
    }
    let quantile = |tail: f64| {
        let total: f64 = differences.iter().sum();
        let mut cumulated = 0.0;
        let at = differences.iter().position(|probability| {
            cumulated += probability;
            cumulated >= tail * total
        });
        (at.unwrap_or(differences.len() - 1) as f64 - last as f64) / n as f64
    };
    (quantile(TAILS.0), quantile(TAILS.1))
}

/// The numbers of successes that a binomial distribution has with a probability worth counting.
fn window(n: usize, p: f64) -> (usize, usize) {
    let (mean, reach) = (n as f64 * p, WINDOW * (n as f64 * p * (1.0 - p)).sqrt() + WINDOW);
    ((mean - reach).max(0.0) as usize, ((mean + reach).ceil() as usize).min(n))
}

/// The numbers of successes from `first` to `last` with their probabilities.
fn binomial(n: usize, p: f64, first: usize, last: usize) -> Vec<(usize, f64)> {
    if p <= 0.0 || p >= 1.0 {
        return vec![(if p <= 0.0 { 0 } else { n }, 1.0)];
    }
    // From the most likely number outwards, so that nothing underflows before it may.
    let mode = (((n + 1) as f64 * p) as usize).clamp(first, last);
    let odds = p / (1.0 - p);
    let mut weights = vec![0.0; last - first + 1];
    weights[mode - first] = 1.0;
    for k in mode..last {
        weights[k + 1 - first] = weights[k - first] * odds * (n - k) as f64 / (k + 1) as f64;
    }
    for k in (first..mode).rev() {
        weights[k - first] = weights[k + 1 - first] * (k + 1) as f64 / (odds * (n - k) as f64);
    }
    let total: f64 = weights.iter().sum();
    weights.into_iter().enumerate().map(|(i, weight)| (first + i, weight / total)).collect()
}

/// The 95% interval of the difference in mean accuracy of two systems that were run with several seeds: seeds of both and
/// examples are resampled, so that both are sources of variance. `right` has, for each seed, a verdict for each example.
pub fn seeded_interval(baseline: &[&[bool]], other: &[&[bool]]) -> (f64, f64) {
    let n = baseline.first().map_or(0, |right| right.len());
    if n == 0 || other.is_empty() {
        return (-1.0, 1.0);
    }
    let streams = Streams::new("compare", "seeds", 0);
    let mut differences: Vec<f64> = (0..RESAMPLES)
        .into_par_iter()
        .map(|resample| {
            let mut stream = streams.item(resample);
            let (minus, plus) = (resampled(baseline, &mut stream), resampled(other, &mut stream));
            let values: Vec<f32> = plus.iter().zip(&minus).map(|(plus, minus)| plus - minus).collect();
            let sum: f64 = (0..n).map(|_| f64::from(values[stream.below(n as u64) as usize])).sum();
            sum / n as f64
        })
        .collect();
    differences.sort_by(f64::total_cmp);
    let quantile = |tail: f64| differences[(tail * (RESAMPLES - 1) as f64).round() as usize];
    (quantile(TAILS.0), quantile(TAILS.1))
}

/// For each example the share of right verdicts among seeds that are drawn with replacement.
fn resampled(seeds: &[&[bool]], stream: &mut Stream) -> Vec<f32> {
    let mut shares = vec![0.0; seeds[0].len()];
    for _ in seeds {
        let seed = stream.choose(seeds);
        for (share, &right) in shares.iter_mut().zip(*seed) {
            *share += f32::from(u8::from(right));
        }
    }
    for share in &mut shares {
        *share /= seeds.len() as f32;
    }
    shares
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// A table of paired verdicts with what scipy and statsmodels say of it (scripts/fixtures/compare_fixtures.py).
    #[derive(Deserialize)]
    struct Fixture {
        n: usize,
        gained: usize,
        lost: usize,
        p: f64,
        low: f64,
        high: f64,
    }

    /// The probability of a difference of at most `most` examples.
    fn cumulated(n: usize, gained: usize, lost: usize, most: f64) -> f64 {
        let changed = gained + lost;
        let mut sum = 0.0;
        for (m, p) in binomial(n, changed as f64 / n as f64, 0, n) {
            let share = if changed == 0 { 0.5 } else { gained as f64 / changed as f64 };
            let gains = binomial(m, share, 0, m).into_iter();
            sum += p * gains
                .filter(|(g, _)| 2.0 * *g as f64 - m as f64 <= most + 0.5)
                .map(|(_, p)| p)
                .sum::<f64>();
        }
        sum
    }

    #[test]
    fn agrees_with_scipy_and_statsmodels_on_a_thousand_tables() {
        let fixtures: Vec<Fixture> =
            serde_json::from_str(include_str!("../../testdata/paired-tables.json")).unwrap();
        assert_eq!(fixtures.len(), 1000);
        // Four standard errors of a 2.5% quantile of 9,999 resamples.
        let noise = 4.0 * (0.025_f64 * 0.975 / 9999.0).sqrt();
        for Fixture { n, gained, lost, p, low, high } in fixtures {
            let ours = mcnemar(gained, lost);
            assert!((ours - p).abs() <= 1e-9 + 1e-9 * p, "{n} {gained} {lost}: {ours}, not {p}");
            let (from, to) = paired_interval(n, gained, lost);
            for (tail, ours, theirs) in [(0.025, from, low), (0.975, to, high)] {
                // Theirs is a quantile of the distribution that ours is the quantile of, up to their resampling.
                // A millionth is room for rounding: differences are whole examples.
                let at = theirs * n as f64;
                let below = cumulated(n, gained, lost, (at - 1e-6).ceil() - 1.0);
                let upto = cumulated(n, gained, lost, (at + 1e-6).floor());
                let what = format!("{n} {gained} {lost}: {ours}, not {theirs}");
                assert!(below <= tail + noise && upto >= tail - noise, "{what}: {below} to {upto}");
                assert!((ours - theirs).abs() <= 2.0 / n as f64 + 0.12 * (high - low), "{what}");
            }
        }
    }

    #[test]
    fn nothing_and_everything_are_no_exceptions() {
        assert_eq!(paired_interval(0, 0, 0), (-1.0, 1.0));
        assert_eq!(paired_interval(10, 0, 0), (0.0, 0.0));
        assert_eq!(paired_interval(10, 10, 0), (1.0, 1.0));
        assert_eq!(paired_interval(10, 0, 10), (-1.0, -1.0));
        // scipy.stats.binomtest(40000, 100000).pvalue underflows to 0 as well.
        assert_eq!(mcnemar(60_000, 40_000), 0.0);
        assert!((mcnemar(50_000, 50_000) - 1.0).abs() < 1e-12);
        assert_eq!(seeded_interval(&[], &[]), (-1.0, 1.0));
    }

    #[test]
    fn one_seed_each_is_the_paired_bootstrap() {
        let a: Vec<bool> = (0..400).map(|i| i % 4 != 0).collect();
        let b: Vec<bool> = (0..400).map(|i| i % 5 != 0).collect();
        let gained = a.iter().zip(&b).filter(|(a, b)| !**a && **b).count();
        let lost = a.iter().zip(&b).filter(|(a, b)| **a && !**b).count();
        let exact = paired_interval(400, gained, lost);
        let drawn = seeded_interval(&[&a], &[&b]);
        assert!(
            (exact.0 - drawn.0).abs() < 0.006 && (exact.1 - drawn.1).abs() < 0.006,
            "{exact:?} {drawn:?}"
        );
        // A second seed that differs a lot makes the interval wider.
        let worse = vec![false; 400];
        let wide = seeded_interval(&[&a], &[&b, &worse]);
        assert!(wide.1 - wide.0 > 2.0 * (exact.1 - exact.0), "{wide:?}");
    }
}
