//! Statistics as files: CSV for machines, SVG for people.

use std::fmt::Write;

use wug_bench::Statistic;

const COLOURS: [&str; 6] = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"];

/// The table as CSV: a header, then a line for each value.
pub fn csv(statistic: &Statistic) -> String {
    let field = |text: &str| {
        let plain = !text.contains([',', '"', '\n', '\r']);
        if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
    };
    let mut text = field(&statistic.name);
    for column in &statistic.columns {
        let _ = write!(text, ",{}", field(column));
    }
    text.push('\n');
    for (value, numbers) in &statistic.rows {
        text.push_str(&field(value));
        for number in numbers {
            let _ = write!(text, ",{number}");
        }
        text.push('\n');
    }
    text
}

/// The table as bars, a group for each value and a colour for each column.
pub fn svg(statistic: &Statistic) -> String {
    const HEIGHT: f64 = 240.0;
    const TOP: f64 = 46.0;
    const LEFT: f64 = 64.0;
    let columns = statistic.columns.len().max(1);
    let bar = (720.0 / (statistic.rows.len().max(1) * (columns + 1)) as f64).clamp(1.5, 14.0);
    let group = bar * (columns as f64 + 1.0);
    let width = LEFT + group * statistic.rows.len() as f64 + 20.0;
    let largest = statistic.rows.iter().flat_map(|(_, numbers)| numbers).copied().fold(0.0, f64::max);
    let largest = if largest > 0.0 { largest } else { 1.0 };
    let (total_width, total_height) = (width.max(360.0), TOP + HEIGHT + 60.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total_width:.0} {total_height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let _ =
        writeln!(out, "<text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{}</text>", escaped(&statistic.title));
    for (i, column) in statistic.columns.iter().enumerate() {
        let (x, colour) = (LEFT + 80.0 * i as f64, COLOURS[i % COLOURS.len()]);
        let _ = writeln!(out, "<rect x=\"{x}\" y=\"27\" width=\"10\" height=\"10\" fill=\"{colour}\"/>");
        let _ = writeln!(out, "<text x=\"{}\" y=\"36\">{}</text>", x + 14.0, escaped(column));
    }
    for tick in 0..=4 {
        let value = largest * f64::from(tick) / 4.0;
        let y = TOP + HEIGHT * (1.0 - f64::from(tick) / 4.0);
        let label = if statistic.shares { format!("{:.1}%", value * 100.0) } else { format!("{value:.0}") };
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{width:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>"
        );
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    // Labels that would run into each other are left out.
    let every = (26.0 / group).ceil().max(1.0) as usize;
    for (i, (value, numbers)) in statistic.rows.iter().enumerate() {
        let x = LEFT + group * i as f64;
        for (j, number) in numbers.iter().enumerate() {
            let height = HEIGHT * number / largest;
            let _ = writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{bar:.1}\" height=\"{height:.1}\" fill=\"{}\"/>",
                x + bar * j as f64,
                TOP + HEIGHT - height,
                COLOURS[j % COLOURS.len()]
            );
        }
        if i % every == 0 {
            let (x, y) = (x + group / 2.0 - bar / 2.0, TOP + HEIGHT + 16.0);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
                escaped(value)
            );
        }
    }
    let notes = escaped(&statistic.notes.join("; "));
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{}\" fill=\"#555\">{notes}</text>\n</svg>",
        TOP + HEIGHT + 44.0
    );
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_files() {
        let statistic = Statistic {
            name: "symbol".to_owned(),
            title: "symbol <&>".to_owned(),
            columns: vec!["train".to_owned(), "test".to_owned()],
            rows: vec![(",".to_owned(), vec![0.25, 0.5]), ("8".to_owned(), vec![0.75, 0.5])],
            shares: true,
            notes: vec!["KL = 0.1".to_owned()],
        };
        assert_eq!(csv(&statistic), "symbol,train,test\n\",\",0.25,0.5\n8,0.75,0.5\n");
        let svg = svg(&statistic);
        assert!(svg.contains("symbol &lt;&amp;&gt;") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<rect").count(), 1 + 2 + 4, "paper, legend and bars");
    }
}
