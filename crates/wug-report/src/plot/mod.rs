//! Plots as SVG: lines with bands, bars with intervals, scatter with fits, heat maps and trees.
//!
//! Text is text, in the colour of the text around it (`currentColor`), so that a plot fits a light page, a dark one and
//! paper. Series differ by colour, dashes or hatching and the shape of their points: colours are Paul Tol's bright scheme, which
//! colour-blind people can tell apart.

mod bars;
mod heat;
mod lines;
mod map;
mod scatter;
mod tree;

use std::fmt::Write;

pub use bars::{BarPlot, BarSeries};
pub use heat::HeatMap;
pub use lines::{LinePlot, LineSeries, Point};
pub use map::MapPlot;
pub use scatter::{FittedLine, ScatterPlot, ScatterSeries};
pub use tree::Tree;

/// The colours of series, in order.
pub(crate) const COLOURS: [&str; 8] =
    ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888", "#bb5500"];
const DASHES: [&str; 4] = ["", "7 3", "2 3", "8 3 2 3"];
/// About how wide a character is.
const LETTER: f64 = 6.3;
/// The height of a line of the legend.
const LINE: f64 = 17.0;

/// What a plot is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paper {
    /// White paper: a file of its own.
    White,
    /// The page around it.
    Page,
}

/// A value with the interval around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower and upper end of its interval, if it has one.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// A value with plus and minus; none if that is 0.
    pub fn around(value: f64, spread: f64) -> Self {
        Self { value, interval: (spread > 0.0).then_some((value - spread, value + spread)) }
    }
}

/// A drawing in the making.
struct Svg {
    out: String,
    /// What is left of 0.
    left: f64,
    width: f64,
    height: f64,
}

/// Where a text stands at its place.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

impl Svg {
    fn new() -> Self {
        Self { out: String::new(), left: 0.0, width: 0.0, height: 0.0 }
    }

    /// Makes room for what is drawn at this place.
    fn reach(&mut self, x: f64, y: f64) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    /// Adds markup that is safe.
    fn raw(&mut self, markup: impl AsRef<str>) {
        self.out.push_str(markup.as_ref());
        self.out.push('\n');
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        let width = LETTER * text.chars().count() as f64;
        let end = match anchor {
            Anchor::Start => x + width,
            Anchor::Middle => x + width / 2.0,
            Anchor::End => x,
        };
        self.reach(end, y + 4.0);
        let (anchor, text) = (anchor.name(), escaped(text));
        let _ = writeln!(self.out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    }

    /// A text that is turned around its end.
    fn turned(&mut self, (x, y): (f64, f64), degrees: f64, anchor: Anchor, text: &str) {
        let (anchor, text) = (anchor.name(), escaped(text));
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" transform=\"rotate({degrees} {x:.1} {y:.1})\">{text}</text>"
        );
    }

    fn title(&mut self, title: &str, warning: Option<&str>) {
        if !title.is_empty() {
            self.reach(LEFT + 1.3 * LETTER * title.chars().count() as f64, 0.0);
            let title = escaped(title);
            let _ = writeln!(self.out, "<text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{title}</text>");
        }
        if let Some(warning) = warning {
            let warning = escaped(warning);
            let _ = writeln!(self.out, "<text x=\"{LEFT}\" y=\"34\" fill=\"#cc3311\">{warning}</text>");
        }
    }

    fn rule(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), opacity: f64) {
        let _ = writeln!(
            self.out,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"currentColor\" stroke-opacity=\"{opacity}\"/>"
        );
    }

    /// Horizontal lines with their numbers.
    fn y_axis(&mut self, frame: &Frame, ticks: &[f64], unit: &str, label: &str) {
        for &tick in ticks {
            let y = frame.y(tick);
            self.rule((frame.left, y), (frame.right, y), 0.16);
            self.text(frame.left - 6.0, y + 4.0, Anchor::End, &format!("{}{unit}", number(tick)));
        }
        if !label.is_empty() {
            let middle = f64::midpoint(frame.top, frame.bottom);
            self.turned((14.0, middle), -90.0, Anchor::Middle, label);
        }
    }

    /// The names of columns below the frame, tilted where they would run into each other; of numbers, which follow from
    /// their neighbours, some are left out instead. Returns where the next text may stand.
    fn x_names(&mut self, frame: &Frame, names: &[String]) -> f64 {
        let step = (frame.right - frame.left) / names.len().max(1) as f64;
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        let longest = LETTER * longest as f64;
        let is_named = names.iter().any(|name| name.trim_end_matches(['%', '+']).parse::<f64>().is_err());
        let is_tilted = is_named && longest + 6.0 > step;
        let every = match (is_tilted, step >= 12.0) {
            (true, true) => 1,
            (true, false) => (12.0 / step).ceil() as usize,
            (false, _) => ((longest + 8.0) / step).ceil().max(1.0) as usize,
        };
        for (i, name) in names.iter().enumerate().filter(|(i, _)| i % every == 0) {
            let x = frame.left + step * (i as f64 + 0.5);
            if is_tilted {
                let end = x + 4.0;
                self.left = self.left.min(end - 0.78 * LETTER * name.chars().count() as f64);
                self.turned((end, frame.bottom + 12.0), -40.0, Anchor::End, name);
            } else {
                self.text(x, frame.bottom + 16.0, Anchor::Middle, name);
            }
        }
        let deep = if is_tilted { 0.65 * longest + 10.0 } else { 16.0 };
        self.reach(0.0, frame.bottom + deep + 4.0);
        frame.bottom + deep
    }

    fn x_label(&mut self, frame: &Frame, y: f64, label: &str) -> f64 {
        if label.is_empty() {
            return y;
        }
        self.text(f64::midpoint(frame.left, frame.right), y + 18.0, Anchor::Middle, label);
        y + 18.0
    }

    /// What each series is, in as many columns as fit.
    fn legend(&mut self, frame: &Frame, y: f64, entries: &[(String, String)]) {
        let longest = entries.iter().map(|(_, name)| name.chars().count()).max().unwrap_or_default();
        let cell = LETTER * longest as f64 + 44.0;
        let columns = ((frame.right - frame.left) / cell).floor().max(1.0) as usize;
        for (i, (mark, name)) in entries.iter().enumerate() {
            let x = frame.left + cell * (i % columns) as f64;
            let y = y + 20.0 + LINE * (i / columns) as f64;
            let _ = writeln!(self.out, "<g transform=\"translate({x:.1} {:.1})\">{mark}</g>", y - 4.0);
            self.text(x + 28.0, y, Anchor::Start, name);
        }
    }

    /// The whole document.
    fn finish(self, paper: Paper) -> String {
        let left = self.left.floor();
        let (width, height) = ((self.width - left).ceil() + 8.0, self.height.ceil() + 8.0);
        let white = match paper {
            Paper::White => {
                format!("<rect x=\"{left:.0}\" width=\"100%\" height=\"100%\" fill=\"white\"/>\n")
            }
            Paper::Page => String::new(),
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{left:.0} 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\" fill=\"currentColor\">\n\
             {white}{}</svg>\n",
            self.out
        )
    }
}

const LEFT: f64 = 60.0;
const TOP: f64 = 44.0;

/// Where values lie in a drawing.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    low: f64,
    high: f64,
}

impl Frame {
    fn y(&self, value: f64) -> f64 {
        let share =
            (value.clamp(self.low, self.high) - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE);
        self.bottom - (self.bottom - self.top) * share
    }
}

fn colour(series: usize) -> &'static str {
    COLOURS[series % COLOURS.len()]
}

fn dashes(series: usize) -> String {
    match DASHES[series % DASHES.len()] {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    }
}

/// A point of a series; published ones are hollow.
fn marker(series: usize, (x, y): (f64, f64), is_hollow: bool) -> String {
    let colour = colour(series);
    let fill = if is_hollow { "none" } else { colour };
    let style = format!("fill=\"{fill}\" stroke=\"{colour}\"");
    match series % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" {style}/>"),
        1 => format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\" {style}/>", x - 3.0, y - 3.0),
        2 => format!("<path d=\"M{:.1} {:.1}l3.8 6.4h-7.6z\" {style}/>", x, y - 4.0),
        _ => format!("<path d=\"M{:.1} {:.1}l3.8 3.8 -3.8 3.8 -3.8 -3.8z\" {style}/>", x, y - 3.8),
    }
}

/// An interval as a line with ends.
fn whisker(x: f64, top: f64, bottom: f64) -> String {
    format!(
        "<path d=\"M{x:.1} {top:.1}V{bottom:.1}M{:.1} {top:.1}h5M{:.1} {bottom:.1}h5\" fill=\"none\" stroke=\"currentColor\"/>",
        x - 2.5,
        x - 2.5
    )
}

/// Round numbers around `low` to `high`, three to six of them: 1, 2 or 5 times a power of ten apart.
pub(crate) fn ticks(low: f64, high: f64, whole: bool) -> Vec<f64> {
    let reach = high - low;
    if reach <= 0.0 || !reach.is_finite() {
        let low = if low.is_finite() { low } else { 0.0 };
        return vec![low, low + 1.0];
    }
    let power = 10f64.powf((reach / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| reach / step <= 5.0).unwrap_or(steps[3]);
    let step = if whole { step.max(1.0) } else { step };
    let (first, last) = ((low / step + 1e-9).floor() as i64, (high / step - 1e-9).ceil() as i64);
    (first..=last.max(first + 1)).map(|i| i as f64 * step).collect()
}

/// A number without the noise of its last digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 || (size > 0.0 && size < 1e-4) => format!("{value:.0e}"),
        _ => ((value * 1e6).round() / 1e6).to_string(),
    }
}

/// A text within markup. Characters that XML does not allow are shown as a replacement character.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            // Marks that turn the direction of what follows would turn the page, too.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 37.0, true), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(ticks(0.0, 3.0, true), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(ticks(0.0, 100.0, false), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(0.0, 1.0, true), [0.0, 1.0]);
        assert_eq!(ticks(0.0, 0.0, true), [0.0, 1.0]);
        assert_eq!(ticks(0.0, 16_990.0, true), [0.0, 5000.0, 10_000.0, 15_000.0, 20_000.0]);
        assert_eq!(ticks(-3.0, 4.0, false), [-4.0, -2.0, 0.0, 2.0, 4.0]);
        assert_eq!(ticks(f64::NAN, f64::INFINITY, false).len(), 2);
    }

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(escaped("<b a=\"'\">&\0\u{202e}x"), "&lt;b a=&quot;&#39;&quot;&gt;&amp;\u{fffd}\u{fffd}x");
    }
}
