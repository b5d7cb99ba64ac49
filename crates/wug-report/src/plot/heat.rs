use super::{Anchor, Frame, LETTER, Paper, Svg, escaped};

const ROW: f64 = 20.0;

/// Counts or shares in cells; the larger, the darker, with the number written in it.
#[derive(Debug, Clone, Default)]
pub struct HeatMap {
    /// What the columns are.
    pub x_label: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows: a name and a number for each column.
    pub rows: Vec<(String, Vec<f64>)>,
}

impl HeatMap {
    /// Draws it.
    pub fn svg(&self, paper: Paper) -> String {
        const LONGEST: usize = 36;
        let name = |name: &String| match name.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}...", &name[..end]),
            None => name.clone(),
        };
        let names: Vec<String> = self.rows.iter().map(|(row, _)| name(row)).collect();
        let left = 12.0 + LETTER * names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
        let cell = (640.0 / self.columns.len().max(1) as f64).clamp(14.0, 64.0);
        let right = left + cell * self.columns.len() as f64;
        let bottom = 8.0 + ROW * self.rows.len() as f64;
        let frame = Frame { left, right, top: 8.0, bottom, low: 0.0, high: 1.0 };
        let largest = self.rows.iter().flat_map(|(_, numbers)| numbers).copied().fold(0.0, f64::max);
        let mut svg = Svg::new();
        svg.reach(right, bottom);
        for (i, ((full, numbers), name)) in self.rows.iter().zip(&names).enumerate() {
            let y = 8.0 + ROW * i as f64;
            svg.text(left - 6.0, y + 14.0, Anchor::End, name);
            for (j, &number) in numbers.iter().enumerate().filter(|(_, number)| **number > 0.0) {
                let x = left + cell * j as f64;
                let share = (number / largest.max(f64::MIN_POSITIVE)).sqrt();
                let column = self.columns.get(j).map_or("", String::as_str);
                svg.raw(format!(
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#4477aa\" \
                     fill-opacity=\"{:.2}\"><title>{}: {number}, {}</title></rect>",
                    x + 0.5,
                    y + 0.5,
                    cell - 1.0,
                    ROW - 1.0,
                    0.08 + 0.62 * share,
                    escaped(column),
                    escaped(full)
                ));
                let shown = number.to_string();
                if LETTER * shown.len() as f64 <= cell {
                    svg.text(x + cell / 2.0, y + 14.0, Anchor::Middle, &shown);
                }
            }
        }
        let columns: Vec<String> = self.columns.iter().map(name).collect();
        let below = svg.x_names(&frame, &columns);
        svg.x_label(&frame, below, &self.x_label);
        svg.finish(paper)
    }
}
