//! A table as a picture: ours in full colour, theirs beside it, dashed or paler.

use super::{Figure, Line, Outcome};
use crate::plot::{
    BarPlot, BarSeries, Estimate, FittedLine, LinePlot, LineSeries, Paper, Point, ScatterPlot, ScatterSeries,
};

/// One line or colour of bars.
struct Series {
    name: String,
    style: usize,
    is_published: bool,
    /// A value for each column.
    values: Vec<Option<Estimate>>,
}

/// The picture of an experiment that has one, as an SVG file.
pub fn figure(outcome: &Outcome) -> Option<String> {
    figure_on(outcome, Paper::White)
}

/// The same for a page.
pub(crate) fn figure_on(outcome: &Outcome, paper: Paper) -> Option<String> {
    let experiment = &outcome.experiment;
    let title = experiment.title.clone();
    let warning = outcome.warning().map(str::to_owned);
    let x_label = experiment.axis.clone().unwrap_or_default();
    let is_importance = experiment.columns.iter().any(|column| column.importance.is_some());
    let y_label = if is_importance { "percent of all importance" } else { "percent right" }.to_owned();
    let names = || experiment.columns.iter().map(|column| column.name.clone()).collect();
    match experiment.figure? {
        Figure::Fit => scatter(outcome)?.svg(paper),
        Figure::Lines => {
            let series = series(outcome).into_iter().map(Series::line).collect();
            let (x_names, y_range) = (names(), Some((0.0, 100.0)));
            Some(LinePlot { title, warning, x_label, y_label, x_names, y_range, series }.svg(paper))
        }
        Figure::Bars => {
            let series = series(outcome).into_iter().map(Series::bars).collect();
            let top = Some(100.0);
            let plot = BarPlot {
                title,
                warning,
                x_label,
                y_label,
                top,
                names: names(),
                series,
                ..BarPlot::default()
            };
            Some(plot.svg(paper))
        }
    }
}

impl Series {
    fn line(self) -> LineSeries {
        let point = |(x, estimate): (usize, &Option<Estimate>)| {
            estimate.map(|Estimate { value, interval }| Point { x: x as f64, y: value, interval })
        };
        LineSeries {
            points: self.values.iter().enumerate().map(point).collect(),
            name: self.name,
            style: self.style,
            is_published: self.is_published,
        }
    }

    fn bars(self) -> BarSeries {
        let Self { name, style, is_published, values } = self;
        BarSeries { name, style, is_published, values }
    }
}

/// What there is to draw: rows that were run, and the paper's.
fn series(outcome: &Outcome) -> Vec<Series> {
    let mut all = Vec::new();
    for (style, (row, ours)) in outcome.experiment.rows.iter().zip(&outcome.ours).enumerate() {
        let values: Vec<_> = ours
            .iter()
            .map(|ours| Some(Estimate::around(ours.mean()?, ours.spread().unwrap_or_default())))
            .collect();
        if values.iter().any(Option::is_some) {
            all.push(Series { name: row.name.clone(), style, is_published: false, values });
        }
        let theirs = row.theirs.iter().map(|theirs| {
            let theirs = theirs.as_ref()?;
            Some(Estimate::around(theirs.value, theirs.spread.unwrap_or_default()))
        });
        let values: Vec<_> = theirs.collect();
        if values.iter().any(Option::is_some) {
            all.push(Series { name: format!("{}, published", row.name), style, is_published: true, values });
        }
    }
    all
}

/// Numbers by size, with the lines that are fitted to them and the paper's.
fn scatter(outcome: &Outcome) -> Option<ScatterPlot> {
    let fit = outcome.experiment.fit.as_ref()?;
    let fitted = |name: &str, line: Line| FittedLine {
        name: format!("{name}: {}", fit.leads(line)),
        slope: line.slope,
        intercept: line.intercept,
    };
    let series = outcome.experiment.rows.iter().zip(&outcome.points).map(|(row, points)| ScatterSeries {
        name: row.name.clone(),
        points: points.clone(),
        fit: Line::fitted(points).map(|line| fitted(&row.name, line)),
    });
    Some(ScatterPlot {
        title: outcome.experiment.title.clone(),
        warning: outcome.warning().map(str::to_owned),
        x_label: fit.by.name().to_owned(),
        y_label: "percent right".to_owned(),
        series: series.collect(),
        published: Some(fitted("published", fit.theirs)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, Measured, Scale};

    #[test]
    fn a_table_becomes_a_picture() {
        let text = r#"
            title = "steps & accuracy"
            paper = "P"
            source = "Figure 1"
            dataset = "mns/circle"
            vary = { steps = [1, 2] }
            figure = "lines"
            scale = { smoke = {}, cpu = {}, paper = {} }
            [[row]]
            name = "search"
            run = { learner = "search-pure" }
            published = [10, 20]
        "#;
        for (kind, marks) in [("lines", 4 + 2), ("bars", 4 + 1)] {
            let text = text.replace("\"lines\"", &format!("\"{kind}\""));
            let experiment = Experiment::read("x", &text, Scale::Cpu).unwrap();
            let ours = vec![vec![Measured::Runs(vec![5.0, 7.0]), Measured::Runs(vec![50.0])]];
            let drawn = figure(&Outcome { experiment, ours, points: Vec::new() }).unwrap();
            assert!(drawn.contains("steps &amp; accuracy") && drawn.contains("search, published"));
            // Points and those of the legend; bars and the background, but no bars of the paper.
            let mark = if kind == "lines" { "<circle" } else { "<rect x=" };
            assert_eq!(drawn.matches(mark).count(), marks, "{drawn}");
            assert_eq!(drawn.matches("rotate(").count(), 1, "the axis alone");
        }
        let gap = text.replace("[1, 2]", "[1, 2, 3, 4]").replace("published = [10, 20]", "");
        let experiment = Experiment::read("x", &gap, Scale::Cpu).unwrap();
        let known = Measured::Runs(vec![5.0]);
        let ours = vec![vec![known.clone(), Measured::Runs(Vec::new()), known.clone(), known]];
        let drawn = figure(&Outcome { experiment, ours, points: Vec::new() }).unwrap();
        assert_eq!(
            (drawn.matches("<circle").count(), drawn.matches("<polyline").count()),
            (3 + 1, 1),
            "{drawn}"
        );
    }

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
        let ours = vec![vec![Measured::Runs(vec![5.0]), Measured::Runs(vec![12.0])]];
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
