//! Numbers by size on a logarithmic axis, with the line that is fitted to them and the paper's.

use std::fmt::Write;

use super::figure::{COLOURS, escaped, heading};
use super::{Fit, Line, Outcome};

const LEFT: f64 = 60.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 44.0;
const HEIGHT: f64 = 260.0;

/// Where sizes and numbers lie in the picture.
struct Axes {
    /// Powers of ten at the left and right end.
    decades: (f64, f64),
    /// The number at the top.
    top: f64,
}

impl Axes {
    /// Whole decades and tens around all points.
    fn around(points: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let (mut least, mut most, mut top) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
        for (size, number) in points {
            (least, most, top) = (least.min(size.log10()), most.max(size.log10()), top.max(number));
        }
        let decades = (least.floor(), most.ceil().max(least.floor() + 1.0));
        least.is_finite().then(|| Self { decades, top: ((top / 10.0).floor() * 10.0 + 10.0).min(100.0) })
    }

    fn x(&self, size: f64) -> f64 {
        let (from, to) = self.decades;
        LEFT + (RIGHT - LEFT) * (size.log10() - from) / (to - from)
    }

    fn y(&self, number: f64) -> f64 {
        TOP + HEIGHT * (1.0 - number.clamp(0.0, self.top) / self.top)
    }

    fn write(&self, out: &mut String, fit: &Fit) {
        for tick in 0..=5 {
            let number = self.top * f64::from(tick) / 5.0;
            let y = self.y(number);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>"
            );
            let (x, y) = (LEFT - 6.0, y + 4.0);
            let _ = writeln!(out, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{number:.0}</text>");
        }
        let (from, to) = (self.decades.0 as i32, self.decades.1 as i32);
        for power in from..=to {
            let (x, y) = (self.x(10_f64.powi(power)), TOP + HEIGHT + 16.0);
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">10^{power}</text>");
        }
        let (x, y, middle) = (f64::midpoint(LEFT, RIGHT), TOP + HEIGHT + 34.0, TOP + HEIGHT / 2.0);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", fit.by.name());
        let _ = writeln!(
            out,
            "<text x=\"16\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {middle})\">percent right</text>"
        );
    }

    /// A line as far as it is in the picture.
    fn line(&self, out: &mut String, line: Line, colour: &str, dash: &str) {
        let (mut from, mut to) = self.decades;
        if line.slope != 0.0 {
            let [bottom, top] = [0.0, self.top].map(|number| (number - line.intercept) / line.slope);
            (from, to) = (from.max(bottom.min(top)), to.min(bottom.max(top)));
        }
        if from >= to {
            return;
        }
        let ends = [from, to].map(|power| {
            let size = 10_f64.powf(power);
            format!("{:.1},{:.1}", self.x(size), self.y(line.at(size)))
        });
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dash}/>",
            ends.join(" ")
        );
    }
}

/// The picture; none if there is no fit, or nothing to draw yet.
pub(super) fn scatter(outcome: &Outcome) -> Option<String> {
    let fit = outcome.experiment.fit.as_ref()?;
    let points = || outcome.points.iter().flatten().copied();
    let most = points().map(|(size, _)| size).reduce(f64::max)?;
    let axes = Axes::around(points().chain([(most, fit.theirs.at(most))]))?;
    let total = TOP + HEIGHT + 56.0 + 18.0 * (1 + outcome.points.len()) as f64;
    let mut out = heading(outcome, RIGHT + 20.0, total);
    axes.write(&mut out, fit);
    let (grey, dash) = ("#555", " stroke-dasharray=\"5 4\"");
    axes.line(&mut out, fit.theirs, grey, dash);
    legend(&mut out, 0, grey, dash, &format!("published: {}", fit.leads(fit.theirs)));
    for (i, (row, points)) in outcome.experiment.rows.iter().zip(&outcome.points).enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        for &(size, number) in points {
            let (x, y) = (axes.x(size), axes.y(number));
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>");
        }
        if let Some(line) = Line::fitted(points) {
            axes.line(&mut out, line, colour, "");
            legend(&mut out, i + 1, colour, "", &format!("{}: {}", row.name, fit.leads(line)));
        }
    }
    out.push_str("</svg>\n");
    Some(out)
}

/// What a line is, below the picture.
fn legend(out: &mut String, i: usize, colour: &str, dash: &str, said: &str) {
    let y = TOP + HEIGHT + 56.0 + 18.0 * i as f64;
    let (end, middle, x) = (LEFT + 22.0, y - 4.0, LEFT + 28.0);
    let _ = writeln!(
        out,
        "<line x1=\"{LEFT}\" x2=\"{end}\" y1=\"{middle}\" y2=\"{middle}\" stroke=\"{colour}\" \
         stroke-width=\"2\"{dash}/>"
    );
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(said));
}

#[cfg(test)]
mod tests {
    use crate::{Experiment, Ours, Outcome, Scale, figure};

    #[test]
    fn points_and_lines_are_drawn() {
        let text = r#"
            title = "Scaling"
            paper = "P"
            source = "Figure 3"
            dataset = "hint/symbol"
            vary = { share = [0.1, 1.0] }
            figure = "fit"
            fit = { by = "examples", theirs = { slope = 7.42, intercept = -20.91 }, target = 90 }
            scale = { smoke = {}, cpu = {}, paper = {} }
            row = [{ name = "a", run = { learner = "gru" } }]
        "#;
        let experiment = Experiment::read("x", text, Scale::Cpu).unwrap();
        let ours = vec![vec![Ours::Runs(vec![5.0]), Ours::Runs(vec![12.0])]];
        let mut outcome = Outcome { experiment, ours, points: vec![vec![(1e4, 5.0), (1e5, 12.0)]] };
        let drawn = figure(&outcome).unwrap();
        assert_eq!((drawn.matches("<circle").count(), drawn.matches("<polyline").count()), (2, 2), "{drawn}");
        assert!(
            drawn.contains("a: 7.00 log10 - 23.00; 90% at 10^16.1<") && drawn.contains(">10^5<"),
            "{drawn}"
        );
        assert!(drawn.contains("published: 7.42 log10 - 20.91; 90% at 10^14.9<"), "{drawn}");
        assert!(
            drawn.contains(">20<"),
            "the published line has 16.2 at the last point, so the axis has 20: {drawn}"
        );
        outcome.points.clear();
        assert_eq!(figure(&outcome), None, "nothing was run");
    }
}
