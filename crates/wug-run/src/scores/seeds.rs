use serde::{Deserialize, Serialize};

use super::Scores;

/// The scores of one learner with several seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeedScores {
    /// Version of this format.
    pub schema: u32,
    /// Each part over all seeds.
    pub parts: Vec<SeedSummary>,
    /// The scores of each seed.
    pub runs: Vec<Scores>,
}

/// Accuracy on a part over seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeedSummary {
    /// The part.
    pub part: String,
    /// The accuracy of each seed, from 0 to 1.
    pub accuracies: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with one less than their number as the divisor.
    pub std: f64,
    /// The 95% confidence interval of the mean over seeds (Student's t).
    pub interval: (f64, f64),
}

impl SeedScores {
    /// Summarises runs that differ by their seeds alone.
    pub fn new(runs: Vec<Scores>) -> Self {
        let part = |i: usize| {
            let accuracies =
                runs.iter().map(|run| run.parts[i].tally.accuracy().unwrap_or_default()).collect();
            SeedSummary::new(runs[0].parts[i].part.clone(), accuracies)
        };
        let parts = (0..runs.first().map_or(0, |run| run.parts.len())).map(part).collect();
        Self { schema: 1, parts, runs }
    }
}

impl SeedSummary {
    fn new(part: String, accuracies: Vec<f64>) -> Self {
        let n = accuracies.len() as f64;
        let mean = accuracies.iter().sum::<f64>() / n.max(1.0);
        let squares = accuracies.iter().map(|accuracy| (accuracy - mean) * (accuracy - mean)).sum::<f64>();
        let std = if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
        // Of one seed nothing is known about the others.
        let reach = match accuracies.len() {
            0 | 1 => f64::INFINITY,
            seeds => t_quantile(seeds - 1) * std / n.sqrt(),
        };
        let interval = ((mean - reach).max(0.0), (mean + reach).min(1.0));
        Self { part, accuracies, mean, std, interval }
    }
}

/// The 97.5% quantile of Student's t distribution.
fn t_quantile(degrees_of_freedom: usize) -> f64 {
    /// For 1 to 30 degrees of freedom, from any table.
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    let normal = 1.959_964;
    // Beyond the table, the first term of its expansion is exact to three digits.
    let expansion = |df: f64| normal + (normal * normal * normal + normal) / (4.0 * df);
    TABLE.get(degrees_of_freedom - 1).copied().unwrap_or_else(|| expansion(degrees_of_freedom as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // scipy.stats.t.interval(0.95, 4, loc=0.3, scale=scipy.stats.sem([0.1, 0.2, 0.3, 0.4, 0.5]))
        let summary = SeedSummary::new("test".to_owned(), vec![0.1, 0.2, 0.3, 0.4, 0.5]);
        assert!((summary.mean - 0.3).abs() < 1e-12 && (summary.std - 0.158_114).abs() < 1e-6);
        assert!(
            (summary.interval.0 - 0.103_676).abs() < 1e-4 && (summary.interval.1 - 0.496_324).abs() < 1e-4
        );
        assert_eq!(SeedSummary::new("test".to_owned(), vec![0.5]).interval, (0.0, 1.0));
        // scipy.stats.t.ppf(0.975, 40)
        assert!((t_quantile(40) - 2.0211).abs() < 2e-3);
    }
}
