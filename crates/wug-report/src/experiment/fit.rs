//! Lines through numbers by size: how accuracy grows with the logarithm of data or parameters.

use serde::Deserialize;

use wug_run::Scores;

/// What is fitted to the numbers of a row.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// What the numbers grow with.
    pub by: Of,
    /// The paper's line.
    pub theirs: Line,
    /// The percentage that the line is extrapolated to.
    pub target: f64,
}

/// A size of a trained model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// Examples that it was trained on.
    Examples,
    /// Its parameters.
    Parameters,
}

impl Of {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Examples => "examples",
            Self::Parameters => "parameters",
        }
    }
}

/// `slope` for each tenfold size, and `intercept` at size 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Points for ten times the size.
    pub slope: f64,
    /// Points at size 1.
    pub intercept: f64,
}

impl Line {
    /// The line with the least squares through points of size and number; none if there are not two sizes.
    pub fn fitted(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let (mean_x, mean_y) =
            points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0.log10() / n, y + point.1 / n));
        let (mut squares, mut products) = (0.0, 0.0);
        for (size, number) in points {
            let x = size.log10() - mean_x;
            squares += x * x;
            products += x * (number - mean_y);
        }
        let slope = products / squares;
        (squares > 1e-9).then_some(Self { slope, intercept: mean_y - slope * mean_x })
    }

    /// The number at a size.
    pub fn at(self, size: f64) -> f64 {
        self.slope * size.log10() + self.intercept
    }

    /// As people write it.
    fn said(self) -> String {
        let (sign, intercept) =
            if self.intercept < 0.0 { ('-', -self.intercept) } else { ('+', self.intercept) };
        format!("{:.2} log10 {sign} {intercept:.2}", self.slope)
    }

    /// The size at which the line reaches a number.
    fn reach(self, number: f64) -> String {
        let power = (number - self.intercept) / self.slope;
        if self.slope > 0.0 { format!("at 10^{power:.1}") } else { "never".to_owned() }
    }
}

impl Fit {
    /// The size of the run with these scores.
    pub fn size(&self, scores: &Scores) -> Option<f64> {
        let learned = scores.learned?;
        let size = match self.by {
            Of::Examples => learned.examples,
            Of::Parameters => learned.parameters,
        };
        (size > 0).then_some(size as f64)
    }

    /// A line and where it leads.
    pub(super) fn leads(&self, line: Line) -> String {
        format!("{}; {}% {}", line.said(), self.target, line.reach(self.target))
    }

    /// The same beside the paper's.
    pub(super) fn said(&self, line: Line) -> String {
        let (of, target, theirs) = (self.by.name(), self.target, self.theirs);
        format!(
            "{} of {of} (theirs {}); {target}% {} (theirs {})",
            line.said(),
            theirs.said(),
            line.reach(target),
            theirs.reach(target)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_fitted_and_extrapolated() {
        let line = Line { slope: 7.5, intercept: -21.0 };
        let points: Vec<(f64, f64)> = [1e3, 1e4, 1e6].map(|size| (size, line.at(size))).to_vec();
        let fitted = Line::fitted(&points).unwrap();
        assert!((fitted.slope - 7.5).abs() < 1e-9 && (fitted.intercept + 21.0).abs() < 1e-9, "{fitted:?}");
        let fit = Fit { by: Of::Examples, theirs: Line { slope: 7.42, intercept: -20.91 }, target: 90.0 };
        assert_eq!(
            fit.said(fitted),
            "7.50 log10 - 21.00 of examples (theirs 7.42 log10 - 20.91); 90% at 10^14.8 (theirs at 10^14.9)"
        );
        assert_eq!(Line::fitted(&points[..1]), None);
        assert_eq!(Line::fitted(&[(10.0, 1.0), (10.0, 2.0)]), None);
        assert_eq!(Line { slope: -1.0, intercept: 5.0 }.reach(90.0), "never");
    }
}
