use std::fmt::Write;

use super::layouts::{Figure, SIZE, Stroke};
use super::text::Label;
use super::{OFFSET, labels};
use crate::mns::problem::Problem;

/// Problems as one SVG document, below each other.
pub fn svg_sheet(problems: &[Problem]) -> String {
    /// Around each problem.
    const MARGIN: usize = 8;
    if let [problem] = problems {
        return svg(problem);
    }
    let panels = problems.iter().map(|problem| problem.panels.len()).max().unwrap_or(1);
    let line = SIZE + MARGIN;
    let (width, height) = (panels * SIZE + 2 * MARGIN, problems.len().max(1) * line + MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (i, problem) in problems.iter().enumerate() {
        let top = MARGIN + i * line;
        text.push_str(&svg(problem).replacen("<svg ", &format!("<svg x=\"{MARGIN}\" y=\"{top}\" "), 1));
        let _ = writeln!(
            text,
            "<rect x=\"{MARGIN}\" y=\"{top}\" width=\"{}\" height=\"{SIZE}\" fill=\"none\" stroke=\"#888\"/>",
            problem.panels.len() * SIZE
        );
    }
    text.push_str("</svg>\n");
    text
}

/// A problem as an SVG document, its panels side by side, with the same shapes and strokes as the pixels.
pub fn svg(problem: &Problem) -> String {
    let figure = Figure::new(problem.layout, problem.shape);
    let width = problem.panels.len() * SIZE;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {SIZE}\" width=\"{width}\" \
         height=\"{SIZE}\" fill=\"none\" stroke=\"black\" stroke-width=\"2\" stroke-linecap=\"round\" \
         stroke-linejoin=\"round\">\n<title>{problem}</title>\n<rect width=\"{width}\" height=\"{SIZE}\" \
         fill=\"white\" stroke=\"none\"/>\n"
    );
    for (i, panel) in problem.panels.iter().enumerate() {
        let _ = writeln!(text, "<g transform=\"translate({} 0)\">", i * SIZE);
        for stroke in &figure.strokes {
            let _ = match stroke {
                Stroke::Circle { x, y, radius } => {
                    writeln!(text, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>")
                }
                Stroke::Polygon(corners) => {
                    let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{x},{y}")).collect();
                    writeln!(text, "<polygon points=\"{}\"/>", corners.join(" "))
                }
                Stroke::Line((a, b), (c, d)) => {
                    writeln!(text, "<line x1=\"{a}\" y1=\"{b}\" x2=\"{c}\" y2=\"{d}\"/>")
                }
            };
        }
        for (label, at) in labels(panel, &figure) {
            write_label(&mut text, label, at, figure.scale);
        }
        text.push_str("</g>\n");
    }
    text.push_str("</svg>\n");
    text
}

/// A label as one path.
fn write_label(text: &mut String, label: Label, (x, y): (i32, i32), scale: i64) {
    text.push_str("<path d=\"");
    for line in label.lines(x + OFFSET.0, y + OFFSET.1, scale) {
        for (i, point) in line.iter().enumerate() {
            let command = if i == 0 { 'M' } else { 'L' };
            let (x, y) = (point.x as f64 / 65_536.0, point.y as f64 / 65_536.0);
            let _ = write!(text, "{command}{x:.1} {y:.1}");
        }
    }
    text.push_str("\"/>\n");
}
