use std::fmt::Write;

use super::{Estimate, Frame, LEFT, Paper, Svg, TOP, colour, ticks, whisker};

const HEIGHT: f64 = 220.0;

/// Bars in groups, with intervals.
#[derive(Debug, Clone, Default)]
pub struct BarPlot {
    /// What it shows.
    pub title: String,
    /// What is to be said before anything else.
    pub warning: Option<String>,
    /// What the groups are.
    pub x_label: String,
    /// What the bars measure.
    pub y_label: String,
    /// Behind each number of the vertical axis.
    pub unit: &'static str,
    /// The top of the vertical axis, if not that of the values.
    pub top: Option<f64>,
    /// Whether the numbers of the vertical axis are whole.
    pub is_count: bool,
    /// The names of the groups.
    pub names: Vec<String>,
    /// A bar for each in every group.
    pub series: Vec<BarSeries>,
    /// What follows from the plot.
    pub note: String,
}

/// Bars of one colour and hatching.
#[derive(Debug, Clone)]
pub struct BarSeries {
    /// What they are.
    pub name: String,
    /// Which colour and hatching they have.
    pub style: usize,
    /// Whether they are published rather than measured: paler.
    pub is_published: bool,
    /// A value for each group, where there is one.
    pub values: Vec<Option<Estimate>>,
}

impl BarPlot {
    /// Draws it.
    pub fn svg(&self, paper: Paper) -> String {
        let (groups, count) = (self.names.len().max(1), self.series.len().max(1));
        let bar = (640.0 / (groups * (count + 1)) as f64).clamp(1.5, 24.0);
        let group = (bar * (count as f64 + 0.7)).max(14.0).max(180.0 / groups as f64);
        let largest = self.series.iter().flat_map(|series| series.values.iter().flatten());
        let largest = largest.map(|estimate| estimate.value).fold(0.0, f64::max);
        let marks = ticks(0.0, self.top.unwrap_or(largest), self.is_count);
        let high = marks[marks.len() - 1];
        let top = if self.title.is_empty() && self.warning.is_none() { 12.0 } else { TOP };
        let frame = Frame {
            left: LEFT,
            right: LEFT + group * groups as f64,
            top,
            bottom: top + HEIGHT,
            low: 0.0,
            high,
        };
        let frame = Frame { right: frame.right.max(LEFT + 60.0), ..frame };
        let mut svg = Svg::new();
        svg.reach(frame.right, frame.bottom);
        svg.title(&self.title, self.warning.as_deref());
        svg.y_axis(&frame, &marks, self.unit, &self.y_label);
        let step = (frame.right - frame.left) / groups as f64;
        for (i, series) in self.series.iter().enumerate() {
            for (place, estimate) in series.values.iter().enumerate() {
                let Some(estimate) = estimate else { continue };
                let middle =
                    frame.left + step * (place as f64 + 0.5) + bar * (i as f64 + 0.5 - count as f64 / 2.0);
                series.bar(&mut svg, &frame, middle, bar, *estimate);
            }
        }
        let below = svg.x_names(&frame, &self.names);
        let below = svg.x_label(&frame, below, &self.x_label);
        let legend = Frame { right: frame.right.max(LEFT + 560.0), ..frame };
        if self.series.len() > 1 || !self.note.is_empty() {
            let swatch = |series: &BarSeries| {
                let (colour, opacity) = (colour(series.style), series.opacity());
                let swatch = format!(
                    "<path d=\"M6 -6h12v12h-12z\" fill=\"{colour}\" fill-opacity=\"{opacity}\" stroke=\"{colour}\"/>{}",
                    hatching(series.style, (6.0, -6.0), (12.0, 12.0))
                );
                (swatch, series.name.clone())
            };
            let entries: Vec<(String, String)> = self.series.iter().map(swatch).collect();
            svg.legend(&legend, below, &entries);
        }
        if !self.note.is_empty() {
            let y = svg.height + 14.0;
            svg.text(LEFT, y, super::Anchor::Start, &self.note);
        }
        svg.finish(paper)
    }
}

/// White lines across a rectangle by which series can be told apart without colours: none, horizontal, vertical, both.
fn hatching(style: usize, (x, y): (f64, f64), (width, height): (f64, f64)) -> String {
    const STEP: f64 = 4.0;
    let mut path = String::new();
    let steps = |length: f64| (1..).map(|i| STEP * f64::from(i)).take_while(move |&at| at < length);
    if style % 4 % 2 == 1 {
        for at in steps(height) {
            let _ = write!(path, "M{x:.1} {:.1}h{width:.1}", y + height - at);
        }
    }
    if style % 4 >= 2 {
        for at in steps(width) {
            let _ = write!(path, "M{:.1} {y:.1}v{height:.1}", x + at);
        }
    }
    if path.is_empty() {
        return path;
    }
    format!("<path d=\"{path}\" stroke=\"#fff\" stroke-opacity=\"0.7\" fill=\"none\"/>")
}

impl BarSeries {
    fn opacity(&self) -> &'static str {
        if self.is_published { "0.35" } else { "1" }
    }

    fn bar(&self, svg: &mut Svg, frame: &Frame, middle: f64, width: f64, estimate: Estimate) {
        let (x, y) = (middle - width / 2.0, frame.y(estimate.value));
        let (tall, colour, opacity) = (frame.bottom - y, colour(self.style), self.opacity());
        svg.raw(format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{tall:.1}\" fill=\"{colour}\" \
             fill-opacity=\"{opacity}\" stroke=\"{colour}\"/>"
        ));
        svg.raw(hatching(self.style, (x, y), (width, tall)));
        if let Some((low, high)) = estimate.interval.filter(|_| width > 4.0) {
            svg.raw(whisker(middle, frame.y(high), frame.y(low)));
        }
    }
}
