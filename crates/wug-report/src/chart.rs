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

/// How wide a character is, about.
const LETTER: f64 = 6.5;

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
    let ticks = ticks(if statistic.shares { largest * 100.0 } else { largest }, !statistic.shares);
    let top = ticks[ticks.len() - 1];
    let length = |text: &str| LETTER * text.chars().count() as f64;
    let legend: Vec<f64> = statistic
        .columns
        .iter()
        .scan(LEFT, |x, column| {
            let place = *x;
            *x += 30.0 + length(column);
            Some(place)
        })
        .collect();
    let notes = statistic.notes.join("; ");
    let legend_end =
        legend.last().zip(statistic.columns.last()).map_or(0.0, |(x, name)| x + 20.0 + length(name));
    let title_end = LEFT + 1.3 * length(&statistic.title);
    let total_width =
        [width, legend_end, title_end, LEFT + length(&notes), 360.0].into_iter().fold(0.0, f64::max);
    // Labels that would run into each other are left out; names, which do not follow from their neighbours, are tilted.
    let longest = statistic.rows.iter().map(|(value, _)| length(value)).fold(0.0, f64::max);
    let is_named = statistic.rows.iter().any(|(value, _)| value.parse::<f64>().is_err());
    let is_tilted = is_named && group >= 12.0 && longest + 8.0 > group;
    let every = if is_tilted { 1 } else { ((longest + 8.0) / group).ceil().max(1.0) as usize };
    let foot = TOP + HEIGHT + if is_tilted { 0.6 * longest } else { 0.0 };
    let total_height = foot + 60.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total_width:.0} {total_height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let _ =
        writeln!(out, "<text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{}</text>", escaped(&statistic.title));
    for (i, (column, x)) in statistic.columns.iter().zip(&legend).enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let _ = writeln!(out, "<rect x=\"{x:.1}\" y=\"27\" width=\"10\" height=\"10\" fill=\"{colour}\"/>");
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"36\">{}</text>", x + 14.0, escaped(column));
    }
    for &tick in &ticks {
        let y = TOP + HEIGHT * (1.0 - tick / top);
        let unit = if statistic.shares { "%" } else { "" };
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{width:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>"
        );
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}{unit}</text>",
            LEFT - 6.0,
            y + 4.0,
            (tick * 1e6).round() / 1e6
        );
    }
    for (i, (value, numbers)) in statistic.rows.iter().enumerate() {
        let x = LEFT + group * i as f64;
        for (j, number) in numbers.iter().enumerate() {
            let height = HEIGHT * if statistic.shares { number * 100.0 } else { *number } / top;
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
            let how = if is_tilted {
                format!("text-anchor=\"end\" transform=\"rotate(-35 {x:.1} {y})\"")
            } else {
                "text-anchor=\"middle\"".to_owned()
            };
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y}\" {how}>{}</text>", escaped(value));
        }
    }
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{}\" fill=\"#555\">{}</text>\n</svg>",
        foot + 44.0,
        escaped(&notes)
    );
    out
}

/// Round numbers from 0 to at least `largest`, three to six of them: 1, 2 or 5 times a power of ten apart.
fn ticks(largest: f64, whole: bool) -> Vec<f64> {
    if largest <= 0.0 || !largest.is_finite() {
        return vec![0.0, 1.0];
    }
    let power = 10f64.powf((largest / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| largest / step <= 5.0).unwrap_or(steps[3]);
    let step = if whole { step.max(1.0) } else { step };
    (0..=(largest / step - 1e-9).ceil() as u32).map(|i| f64::from(i) * step).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(37.0, true), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(ticks(3.0, true), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(ticks(100.0, false), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(1.0, true), [0.0, 1.0]);
        assert_eq!(ticks(0.0, true), [0.0, 1.0]);
        assert_eq!(ticks(16_990.0, true), [0.0, 5000.0, 10_000.0, 15_000.0, 20_000.0]);
    }

    #[test]
    fn names_in_the_legend_do_not_overlap() {
        let columns = ["train-wo-random-wo-length", "val-random-wo-length"].map(str::to_owned).to_vec();
        let rows = vec![("1".to_owned(), vec![3.0, 4.0])];
        let statistic = Statistic {
            name: "x".to_owned(),
            title: "x".to_owned(),
            columns,
            rows,
            shares: false,
            notes: Vec::new(),
        };
        let svg = svg(&statistic);
        let legend = svg.lines().filter(|line| line.contains("y=\"36\""));
        let places: Vec<f64> = legend.map(|line| line.split('"').nth(1).unwrap().parse().unwrap()).collect();
        assert!(places[1] - places[0] > LETTER * 25.0, "{places:?}");
    }

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
