use std::fmt::Write;

use super::{Anchor, Frame, LEFT, Paper, Svg, TOP, colour, dashes, marker, number, ticks, whisker};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 240.0;
/// From here on points are not marked: they would hide the line.
const MARKED: usize = 60;

/// Lines through values, with bands or whiskers for their intervals.
#[derive(Debug, Clone, Default)]
pub struct LinePlot {
    /// What it shows.
    pub title: String,
    /// What is to be said before anything else.
    pub warning: Option<String>,
    /// What the horizontal axis is.
    pub x_label: String,
    /// What the vertical axis is.
    pub y_label: String,
    /// The names of columns at 0, 1, 2 ...; without them the axis has numbers.
    pub x_names: Vec<String>,
    /// The ends of the vertical axis, if not those of the values.
    pub y_range: Option<(f64, f64)>,
    /// The lines.
    pub series: Vec<LineSeries>,
}

/// One line.
#[derive(Debug, Clone)]
pub struct LineSeries {
    /// What it is.
    pub name: String,
    /// Which colour and shape it has: lines of one number belong together.
    pub style: usize,
    /// Whether it is published rather than measured: dashed, with hollow points.
    pub is_published: bool,
    /// Its points; the line is broken where there is none.
    pub points: Vec<Option<Point>>,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Both ends of its interval.
    pub interval: Option<(f64, f64)>,
}

impl LinePlot {
    /// Draws it. The lines are in an inner drawing of the class `zoom`, whose `data-x` says which numbers its sides are.
    pub fn svg(&self, paper: Paper) -> String {
        let columns = self.x_names.len();
        let width = WIDTH.max(26.0 * columns as f64);
        let points = || self.series.iter().flat_map(|series| series.points.iter().flatten());
        let spans = points().flat_map(|point| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            [point.y, low, high]
        });
        let (low, high) = self.y_range.unwrap_or_else(|| range(spans));
        let marks = ticks(low, high, false);
        let (low, high) = match self.y_range {
            Some(range) => range,
            None => (marks[0], marks[marks.len() - 1]),
        };
        let top = if self.title.is_empty() && self.warning.is_none() { 12.0 } else { TOP };
        let frame = Frame { left: LEFT, right: LEFT + width, top, bottom: top + HEIGHT, low, high };
        let (from, to) =
            if columns > 0 { (-0.5, columns as f64 - 0.5) } else { range(points().map(|point| point.x)) };
        let x = |value: f64| frame.left + width * (value - from) / (to - from).max(f64::MIN_POSITIVE);

        let mut svg = Svg::new();
        svg.reach(frame.right, frame.bottom);
        svg.title(&self.title, self.warning.as_deref());
        svg.y_axis(&frame, &marks, "", &self.y_label);
        let below = if columns > 0 {
            svg.x_names(&frame, &self.x_names)
        } else {
            let numbers: Vec<f64> =
                ticks(from, to, false).into_iter().filter(|tick| (from..=to).contains(tick)).collect();
            svg.raw("<g class=\"ticks\">");
            for tick in numbers {
                svg.text(x(tick), frame.bottom + 16.0, Anchor::Middle, &number(tick));
            }
            svg.raw("</g>");
            frame.bottom + 16.0
        };
        let below = svg.x_label(&frame, below, &self.x_label);
        svg.raw(format!(
            "<svg class=\"zoom\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" \
             viewBox=\"{:.1} {:.1} {width:.1} {HEIGHT}\" preserveAspectRatio=\"none\" data-x=\"{from} {to}\">",
            frame.left, frame.top, frame.left, frame.top
        ));
        for series in &self.series {
            series.draw(&mut svg, &frame, &x);
        }
        svg.raw("</svg>");
        let entries: Vec<(String, String)> =
            self.series.iter().map(|series| (series.mark(), series.name.clone())).collect();
        svg.legend(&frame, below, &entries);
        svg.finish(paper)
    }
}

/// The least and the greatest of some numbers.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low < high {
        (low, high)
    } else if low.is_finite() {
        (low, low + 1.0)
    } else {
        (0.0, 1.0)
    }
}

impl LineSeries {
    fn stroke(&self) -> String {
        let dashes =
            if self.is_published { " stroke-dasharray=\"5 4\"".to_owned() } else { dashes(self.style) };
        format!("stroke=\"{}\"{dashes}", colour(self.style))
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame, x: &dyn Fn(f64) -> f64) {
        for known in self.points.split(Option::is_none) {
            let known: Vec<Point> = known.iter().flatten().copied().collect();
            let place = |(x, y): (f64, f64)| format!("{x:.1},{y:.1}");
            let is_band = known.len() > MARKED && known.iter().any(|point| point.interval.is_some());
            if is_band {
                let end = |point: &Point, pick: fn((f64, f64)) -> f64| {
                    (x(point.x), frame.y(pick(point.interval.unwrap_or((point.y, point.y)))))
                };
                let upper = known.iter().map(|point| place(end(point, |(_, high)| high)));
                let lower = known.iter().rev().map(|point| place(end(point, |(low, _)| low)));
                let outline: Vec<String> = upper.chain(lower).collect();
                let (outline, colour) = (outline.join(" "), colour(self.style));
                svg.raw(format!("<polygon points=\"{outline}\" fill=\"{colour}\" fill-opacity=\"0.18\"/>"));
            }
            if known.len() > 1 {
                let path: Vec<String> =
                    known.iter().map(|point| place((x(point.x), frame.y(point.y)))).collect();
                svg.raw(format!(
                    "<polyline points=\"{}\" fill=\"none\" {} stroke-width=\"1.8\" vector-effect=\"non-scaling-stroke\"/>",
                    path.join(" "),
                    self.stroke()
                ));
            }
            if known.len() <= MARKED {
                for point in &known {
                    if let Some((low, high)) = point.interval {
                        svg.raw(whisker(x(point.x), frame.y(high), frame.y(low)));
                    }
                    svg.raw(marker(self.style, (x(point.x), frame.y(point.y)), self.is_published));
                }
            }
        }
    }

    fn mark(&self) -> String {
        let mut mark = String::new();
        let _ = write!(mark, "<path d=\"M0 0h22\" {} stroke-width=\"2\"/>", self.stroke());
        mark + &marker(self.style, (11.0, 0.0), self.is_published)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_where_nothing_is_known() {
        let point = |x, y| Some(Point { x, y, interval: None });
        let points = vec![point(0.0, 1.0), point(1.0, 2.0), None, point(3.0, f64::NAN), point(4.0, 1.0)];
        let series = vec![LineSeries { name: "<a>".to_owned(), style: 0, is_published: false, points }];
        let drawn = LinePlot { series, ..LinePlot::default() }.svg(Paper::Page);
        assert_eq!(drawn.matches("<polyline").count(), 2, "{drawn}");
        assert!(drawn.contains("&lt;a&gt;") && drawn.contains("data-x=\"0 4\""), "{drawn}");
        assert!(
            LinePlot::default().svg(Paper::White).contains("fill=\"white\""),
            "nothing is drawn, not a panic"
        );
    }
}
