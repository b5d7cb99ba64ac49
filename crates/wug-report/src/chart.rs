//! Statistics as files: CSV for machines, SVG for people.

use wug_bench::Statistic;

use crate::plot::{BarPlot, BarSeries, Estimate, Paper};

/// The table as CSV: a header, then a line for each value.
pub fn csv(statistic: &Statistic) -> String {
    let header = [&statistic.name].into_iter().chain(&statistic.columns).cloned().collect();
    let line = |(value, numbers): &(String, Vec<f64>)| {
        [value.clone()].into_iter().chain(numbers.iter().map(f64::to_string)).collect()
    };
    write_csv([header].into_iter().chain(statistic.rows.iter().map(line)))
}

/// Lines as CSV.
pub(crate) fn write_csv(lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(line).expect("lines of one length, written to memory");
    }
    let bytes = writer.into_inner().expect("writing to memory succeeds");
    String::from_utf8(bytes).expect("made of text")
}

/// The table as bars, a group for each value and a colour for each column.
pub fn svg(statistic: &Statistic) -> String {
    let scale = if statistic.shares { 100.0 } else { 1.0 };
    let series = statistic.columns.iter().enumerate().map(|(i, column)| {
        let value = |numbers: &Vec<f64>| numbers.get(i).map(|number| Estimate::around(number * scale, 0.0));
        let values = statistic.rows.iter().map(|(_, numbers)| value(numbers)).collect();
        BarSeries { name: column.clone(), style: i, is_published: false, values }
    });
    let plot = BarPlot {
        title: statistic.title.clone(),
        unit: if statistic.shares { "%" } else { "" },
        is_count: !statistic.shares,
        names: statistic.rows.iter().map(|(value, _)| value.clone()).collect(),
        series: series.collect(),
        note: statistic.notes.join("; "),
        ..BarPlot::default()
    };
    plot.svg(Paper::White)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let place = |name: &str| -> f64 {
            let end = svg.find(&format!(">{name}<")).expect("a name");
            let x = svg[..end].rfind("<text x=\"").expect("its place") + 9;
            svg[x..].split('"').next().expect("a number").parse().expect("a number")
        };
        let places = [place("train-wo-random-wo-length"), place("val-random-wo-length")];
        assert!(places[1] - places[0] > 25.0 * 6.0, "{places:?}");
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
        assert_eq!(svg.matches("<rect").count(), 1 + 4, "paper and bars");
    }
}
