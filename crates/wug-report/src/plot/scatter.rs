use super::{Anchor, Frame, LEFT, Paper, Svg, TOP, colour, dashes, marker, number, ticks};

const WIDTH: f64 = 580.0;
const HEIGHT: f64 = 260.0;

/// Points by size on a logarithmic axis, with the lines that are fitted to them.
#[derive(Debug, Clone, Default)]
pub struct ScatterPlot {
    /// What it shows.
    pub title: String,
    /// What is to be said before anything else.
    pub warning: Option<String>,
    /// What the sizes are.
    pub x_label: String,
    /// What the numbers are.
    pub y_label: String,
    /// The points.
    pub series: Vec<ScatterSeries>,
    /// A published line.
    pub published: Option<FittedLine>,
}

/// Points that belong together.
#[derive(Debug, Clone)]
pub struct ScatterSeries {
    /// What they are; shown if a line is fitted.
    pub name: String,
    /// Sizes and numbers.
    pub points: Vec<(f64, f64)>,
    /// The line through them.
    pub fit: Option<FittedLine>,
}

/// A line over the decimal logarithm of the size.
#[derive(Debug, Clone)]
pub struct FittedLine {
    /// What it says.
    pub name: String,
    /// Rise by decade.
    pub slope: f64,
    /// Where the size is 1.
    pub intercept: f64,
}

impl ScatterPlot {
    /// Draws it; nothing if there is no point.
    pub fn svg(&self, paper: Paper) -> Option<String> {
        let points = || self.series.iter().flat_map(|series| series.points.iter().copied());
        let powers = || points().map(|(size, _)| size.log10()).filter(|power| power.is_finite());
        let (least, most) = (powers().reduce(f64::min)?, powers().reduce(f64::max)?);
        let published = self.published.iter().map(|line| line.slope * most + line.intercept);
        let largest = points().map(|(_, number)| number).chain(published).fold(0.0, f64::max);
        let high = ((largest / 10.0).floor() * 10.0 + 10.0).min(100.0);
        let (from, to) = (least.floor(), most.ceil().max(least.floor() + 1.0));
        let frame = Frame { left: LEFT, right: LEFT + WIDTH, top: TOP, bottom: TOP + HEIGHT, low: 0.0, high };
        let x = |power: f64| frame.left + WIDTH * (power - from) / (to - from);

        let mut svg = Svg::new();
        svg.reach(frame.right, frame.bottom);
        svg.title(&self.title, self.warning.as_deref());
        svg.y_axis(&frame, &ticks(0.0, high, false), "", &self.y_label);
        for power in from as i32..=to as i32 {
            let name = if power < 4 { number(10_f64.powi(power)) } else { format!("10^{power}") };
            svg.text(x(f64::from(power)), frame.bottom + 16.0, Anchor::Middle, &name);
        }
        let below = svg.x_label(&frame, frame.bottom + 16.0, &self.x_label);
        let mut entries = Vec::new();
        let mut line = |svg: &mut Svg, line: &FittedLine, stroke: String| {
            let (mut first, mut last) = (from, to);
            if line.slope != 0.0 {
                let [bottom, top] = [0.0, high].map(|number| (number - line.intercept) / line.slope);
                (first, last) = (first.max(bottom.min(top)), last.min(bottom.max(top)));
            }
            if first < last {
                let ends = [first, last].map(|power| {
                    format!("{:.1},{:.1}", x(power), frame.y(line.slope * power + line.intercept))
                });
                let ends = ends.join(" ");
                svg.raw(format!("<polyline points=\"{ends}\" fill=\"none\" {stroke} stroke-width=\"1.8\"/>"));
            }
            entries.push((format!("<path d=\"M0 0h22\" {stroke} stroke-width=\"2\"/>"), line.name.clone()));
        };
        if let Some(published) = &self.published {
            let grey = "stroke=\"currentColor\" stroke-opacity=\"0.6\" stroke-dasharray=\"5 4\"";
            line(&mut svg, published, grey.to_owned());
        }
        for (i, series) in self.series.iter().enumerate() {
            for &(size, number) in &series.points {
                svg.raw(marker(i, (x(size.log10()), frame.y(number)), false));
            }
            if let Some(fit) = &series.fit {
                line(&mut svg, fit, format!("stroke=\"{}\"{}", colour(i), dashes(i)));
            }
        }
        svg.legend(&frame, below, &entries);
        Some(svg.finish(paper))
    }
}
