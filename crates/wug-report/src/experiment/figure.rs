//! A table as a picture: ours in full colour, theirs beside it, paler.

use std::fmt::Write;

use super::{Figure, Outcome};

pub(super) const COLOURS: [&str; 9] =
    ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#000000", "#994455"];
const LEFT: f64 = 60.0;
const TOP: f64 = 44.0;
const HEIGHT: f64 = 260.0;
/// About how wide a letter is.
const LETTER: f64 = 6.0;

/// One line or colour of bars.
struct Series {
    name: String,
    colour: &'static str,
    is_theirs: bool,
    /// For each column the value and its spread.
    points: Vec<Option<(f64, f64)>>,
}

/// The picture of an experiment that has one, as SVG.
pub fn figure(outcome: &Outcome) -> Option<String> {
    let kind = outcome.experiment.figure?;
    if kind == Figure::Fit {
        return super::scatter::scatter(outcome);
    }
    let series = series(outcome);
    let columns = outcome.experiment.columns.len().max(1);
    let step = (640.0 / columns as f64).max(26.0);
    let width = LEFT + step * columns as f64 + 20.0;
    let rows = series.len().div_ceil(2) as f64;
    // Names that would run into each other are written downwards.
    let longest = outcome.experiment.columns.iter().map(|column| column.name.chars().count()).max();
    let label = LETTER * longest.unwrap_or_default() as f64;
    let bottom = TOP + HEIGHT + if label > step { label - 10.0 } else { 0.0 };
    let mut out = heading(outcome, width, bottom + 62.0 + 18.0 * rows);
    axes(&mut out, outcome, (step, width), bottom, label > step);
    for (i, one) in series.iter().enumerate() {
        match kind {
            Figure::Lines | Figure::Fit => line(&mut out, one, step),
            Figure::Bars => bars(&mut out, one, (i, series.len()), step),
        }
    }
    legend(&mut out, &series, kind, width, bottom);
    out.push_str("</svg>\n");
    Some(out)
}

/// The beginning of a picture: its size, its title and what is to be said first.
pub(super) fn heading(outcome: &Outcome, width: f64, total: f64) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {total:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{}</text>",
        escaped(&outcome.experiment.title)
    );
    if let Some(warning) = outcome.warning() {
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"34\" fill=\"#cc0000\">{warning}</text>");
    }
    out
}

/// What there is to draw: rows that were run, and the paper's.
fn series(outcome: &Outcome) -> Vec<Series> {
    let mut all = Vec::new();
    for (i, (row, ours)) in outcome.experiment.rows.iter().zip(&outcome.ours).enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let points: Vec<_> =
            ours.iter().map(|ours| Some((ours.mean()?, ours.spread().unwrap_or_default()))).collect();
        if points.iter().any(Option::is_some) {
            all.push(Series { name: row.name.clone(), colour, is_theirs: false, points });
        }
        let points: Vec<_> = row
            .theirs
            .iter()
            .map(|theirs| theirs.as_ref().map(|theirs| (theirs.value, theirs.spread.unwrap_or_default())))
            .collect();
        if points.iter().any(Option::is_some) {
            all.push(Series { name: format!("{}, published", row.name), colour, is_theirs: true, points });
        }
    }
    all
}

fn height(value: f64) -> f64 {
    TOP + HEIGHT * (1.0 - value.clamp(0.0, 100.0) / 100.0)
}

fn axes(out: &mut String, outcome: &Outcome, (step, width): (f64, f64), bottom: f64, downwards: bool) {
    for tick in 0..=5 {
        let value = f64::from(tick) * 20.0;
        let (y, right) = (height(value), width - 20.0);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{right:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>"
        );
        let (x, y) = (LEFT - 6.0, y + 4.0);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{value:.0}</text>");
    }
    let middle = TOP + HEIGHT / 2.0;
    let is_importance = outcome.experiment.columns.iter().any(|column| column.importance.is_some());
    let measured = if is_importance { "percent of all importance" } else { "percent right" };
    let _ = writeln!(
        out,
        "<text x=\"16\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {middle})\">{measured}</text>"
    );
    for (i, column) in outcome.experiment.columns.iter().enumerate() {
        let (x, name) = (LEFT + step * (i as f64 + 0.5), escaped(&column.name));
        let _ = if downwards {
            let (x, y) = (x + 4.0, TOP + HEIGHT + 8.0);
            writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"end\" transform=\"rotate(-90 {x:.1} {y})\">{name}</text>"
            )
        } else {
            writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{name}</text>",
                TOP + HEIGHT + 16.0
            )
        };
    }
    if let Some(axis) = &outcome.experiment.axis {
        let (x, y) = ((LEFT + width - 20.0) / 2.0, bottom + 34.0);
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", escaped(axis));
    }
}

/// A line through columns that follow each other, and none across one that is not known; the paper's is dashed.
fn line(out: &mut String, series: &Series, step: f64) {
    let at = |i: usize| LEFT + step * (i as f64 + 0.5);
    let dash = if series.is_theirs { " stroke-dasharray=\"5 4\"" } else { "" };
    let colour = series.colour;
    let mut first = 0;
    for known in series.points.split(Option::is_none) {
        let places = known.iter().flatten().enumerate().map(|(i, point)| (at(first + i), height(point.0)));
        let path: Vec<String> = places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        first += known.len() + 1;
        if path.len() > 1 {
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dash}/>",
                path.join(" ")
            );
        }
    }
    for (i, (value, spread)) in
        series.points.iter().enumerate().filter_map(|(i, point)| point.map(|p| (i, p)))
    {
        let (x, y) = (at(i), height(value));
        whisker(out, x, value, spread, colour);
        let fill = if series.is_theirs { "white" } else { colour };
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{fill}\" stroke=\"{colour}\"/>"
        );
    }
}

/// A bar for each column; the paper's is paler.
fn bars(out: &mut String, series: &Series, (i, of): (usize, usize), step: f64) {
    let width = (step * 0.8 / of as f64).min(40.0);
    let opacity = opacity(series);
    for (column, point) in series.points.iter().enumerate() {
        let Some((value, spread)) = *point else { continue };
        let middle = LEFT + step * (column as f64 + 0.5) + width * (i as f64 + 0.5 - of as f64 / 2.0);
        let (x, y) = (middle - width / 2.0, height(value));
        let tall = TOP + HEIGHT - y;
        let colour = series.colour;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{tall:.1}\" fill=\"{colour}\" opacity=\"{opacity}\"/>"
        );
        whisker(out, middle, value, spread, "#333");
    }
}

/// The standard deviation, up and down.
fn whisker(out: &mut String, x: f64, value: f64, spread: f64, colour: &str) {
    if spread > 0.0 {
        let (top, bottom) = (height(value + spread), height(value - spread));
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\" stroke=\"{colour}\"/>"
        );
    }
}

fn legend(out: &mut String, series: &[Series], kind: Figure, width: f64, bottom: f64) {
    for (i, one) in series.iter().enumerate() {
        let x = LEFT + (i % 2) as f64 * (width - LEFT) / 2.0;
        let y = bottom + 54.0 + 18.0 * (i / 2) as f64;
        let colour = one.colour;
        match kind {
            Figure::Lines | Figure::Fit => {
                let dash = if one.is_theirs { " stroke-dasharray=\"5 4\"" } else { "" };
                let (end, middle) = (x + 22.0, y - 4.0);
                let _ = writeln!(
                    out,
                    "<line x1=\"{x:.1}\" x2=\"{end:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" stroke=\"{colour}\" \
                     stroke-width=\"2\"{dash}/>"
                );
            }
            Figure::Bars => {
                let (left, top) = (x + 6.0, y - 9.0);
                let opacity = opacity(one);
                let _ = writeln!(
                    out,
                    "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"11\" height=\"11\" fill=\"{colour}\" opacity=\"{opacity}\"/>"
                );
            }
        }
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x + 28.0, escaped(&one.name));
    }
}

/// The paper's bars are paler.
fn opacity(series: &Series) -> &'static str {
    if series.is_theirs { "0.4" } else { "1" }
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, Ours, Scale};

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
        for (kind, marks) in [("lines", 4), ("bars", 6)] {
            let text = text.replace("\"lines\"", &format!("\"{kind}\""));
            let experiment = Experiment::read("x", &text, Scale::Cpu).unwrap();
            let ours = vec![vec![Ours::Runs(vec![5.0, 7.0]), Ours::Runs(vec![50.0])]];
            let drawn = figure(&Outcome { experiment, ours, points: Vec::new() }).unwrap();
            assert!(drawn.contains("steps &amp; accuracy") && drawn.contains("search, published"));
            let mark = if kind == "lines" { "<circle" } else { "opacity=" };
            assert_eq!(drawn.matches(mark).count(), marks, "{drawn}");
            assert_eq!(drawn.matches("rotate(").count(), 1, "the axis alone");
        }
        let gap = text.replace("[1, 2]", "[1, 2, 3, 4]").replace("published = [10, 20]", "");
        let experiment = Experiment::read("x", &gap, Scale::Cpu).unwrap();
        let known = Ours::Runs(vec![5.0]);
        let ours = vec![vec![known.clone(), Ours::Runs(Vec::new()), known.clone(), known]];
        let drawn = figure(&Outcome { experiment, ours, points: Vec::new() }).unwrap();
        assert_eq!((drawn.matches("<circle").count(), drawn.matches("<polyline").count()), (3, 1), "{drawn}");
        let long = text.replace(
            "[1, 2]",
            &format!("[{}]", (100_000..100_040).map(|i| i.to_string()).collect::<Vec<_>>().join(",")),
        );
        let experiment =
            Experiment::read("x", &long.replace("published = [10, 20]", ""), Scale::Cpu).unwrap();
        let ours = vec![vec![Ours::Runs(vec![5.0]); 40]];
        let drawn = figure(&Outcome { experiment, ours, points: Vec::new() }).unwrap();
        assert_eq!(drawn.matches("rotate(").count(), 1 + 40, "names that are wider than their columns");
    }
}
