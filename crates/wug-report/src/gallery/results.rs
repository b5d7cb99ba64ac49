//! Our results: the tables of `docs/results`, read as data. The documents are where they stand; pages, plots and
//! `results.json` show them.

use std::fmt::Write;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::Serialize;

use super::docs;
use crate::plot::{BarPlot, BarSeries, Estimate, Paper, escaped};

/// Version of `results.json`.
const SCHEMA: u32 = 1;
/// Plots with more bars are left out.
const MOST_BARS: usize = 60;

/// All documents of results.
#[derive(Debug, Serialize)]
pub(super) struct Results {
    schema: u32,
    documents: Vec<Document>,
}

/// The tables and figures of a document.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    /// `results/hint`.
    name: String,
    /// The page with all of it.
    page: String,
    tables: Vec<Table>,
    figures: Vec<Figure>,
}

/// A table.
#[derive(Debug, Default, Serialize)]
struct Table {
    /// The heading that it stands under.
    heading: String,
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// A figure.
#[derive(Debug, Serialize)]
struct Figure {
    heading: String,
    file: String,
    caption: String,
}

/// A cell of a table.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Cell {
    text: String,
    /// The number that it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// `(79.4 to 81.0)` or `± 0.3` behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<(f64, f64)>,
}

impl Cell {
    fn new(text: &str) -> Self {
        let estimate = estimate(text);
        Self {
            text: text.to_owned(),
            value: estimate.map(|estimate| estimate.value),
            interval: estimate.and_then(|estimate| estimate.interval),
        }
    }

    fn estimate(&self) -> Option<Estimate> {
        self.value.map(|value| Estimate { value, interval: self.interval })
    }
}

/// Reads `80.2`, `80.2 (79.4 to 81.0)` and `98.0 ± 0.3`.
fn estimate(text: &str) -> Option<Estimate> {
    let number = |text: &str| text.trim().trim_end_matches('%').parse::<f64>().ok().filter(|x| x.is_finite());
    if let Some((value, spread)) = text.split_once('±') {
        return Some(Estimate::around(number(value)?, number(spread)?));
    }
    let Some((value, rest)) = text.split_once('(') else {
        return Some(Estimate { value: number(text)?, interval: None });
    };
    let (low, high) = rest.trim_end().strip_suffix(')')?.split_once(" to ")?;
    Some(Estimate { value: number(value)?, interval: Some((number(low)?, number(high)?)) })
}

impl Results {
    /// Reads all of them.
    pub(super) fn read() -> Self {
        let documents = docs::DOCS.iter().filter(|(name, _)| name.starts_with("results/"));
        Self { schema: SCHEMA, documents: documents.map(|(name, text)| Document::read(name, text)).collect() }
    }

    /// Those of a benchmark.
    pub(super) fn of(&self, benchmark: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.name.strip_prefix("results/") == Some(benchmark))
    }
}

impl Document {
    fn read(name: &str, text: &str) -> Self {
        let (mut tables, mut figures) = (Vec::<Table>::new(), Vec::new());
        let (mut heading, mut text_of) = (String::new(), String::new());
        let (mut table, mut row, mut file) = (Table::default(), Vec::new(), String::new());
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. } | Tag::TableCell) => text_of.clear(),
                Event::Text(text) | Event::Code(text) => text_of.push_str(&text),
                Event::SoftBreak | Event::HardBreak => text_of.push(' '),
                Event::End(TagEnd::Heading(_)) => text_of.trim().clone_into(&mut heading),
                Event::Start(Tag::Table(_)) => {
                    table = Table { heading: heading.clone(), ..Table::default() };
                }
                Event::End(TagEnd::TableCell) => row.push(Cell::new(text_of.trim())),
                Event::End(TagEnd::TableHead) => {
                    table.columns = row.drain(..).map(|cell| cell.text).collect();
                }
                Event::End(TagEnd::TableRow) => table.rows.push(std::mem::take(&mut row)),
                Event::End(TagEnd::Table) => tables.push(std::mem::take(&mut table)),
                Event::Start(Tag::Image { dest_url, .. }) => {
                    text_of.clear();
                    file = dest_url.into_string();
                }
                Event::End(TagEnd::Image) => figures.push(Figure {
                    heading: heading.clone(),
                    file: std::mem::take(&mut file),
                    caption: text_of.trim().to_owned(),
                }),
                _ => {}
            }
        }
        Self { name: name.to_owned(), page: docs::file(name), tables, figures }
    }

    /// The tables with their plots, and the figures, under their headings.
    pub(super) fn html(&self) -> String {
        let mut out =
            format!("<p><a href=\"{}\">How they were obtained, and what follows</a></p>", self.page);
        let mut headings: Vec<&str> = Vec::new();
        for heading in
            self.tables.iter().map(|table| &table.heading).chain(self.figures.iter().map(|one| &one.heading))
        {
            if !headings.contains(&heading.as_str()) {
                headings.push(heading);
            }
        }
        for heading in headings {
            let _ = write!(out, "<h3>{}</h3>", escaped(heading));
            for table in self.tables.iter().filter(|table| table.heading == heading) {
                table.write(&mut out);
            }
            out.push_str("<div class=\"plots\">");
            for figure in self.figures.iter().filter(|figure| figure.heading == heading) {
                let (file, caption) = (escaped(&figure.file), escaped(&figure.caption));
                let _ = write!(
                    out,
                    "<figure><figcaption>{caption}</figcaption><img class=\"paper\" src=\"{file}\" alt=\"{caption}\"></figure>"
                );
            }
            out.push_str("</div>");
        }
        out
    }
}

impl Table {
    fn write(&self, out: &mut String) {
        out.push_str("<div class=\"wide\"><table><thead><tr>");
        let is_number = |column: usize| {
            self.rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.value.is_some()))
        };
        let class = |column: usize| if is_number(column) { " class=\"n\"" } else { "" };
        for (column, name) in self.columns.iter().enumerate() {
            let _ = write!(out, "<th{}>{}", class(column), escaped(name));
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let _ = write!(out, "<td{}>{}", class(column), escaped(&cell.text));
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div><div class=\"plots\">");
        for plot in self.plots() {
            let _ = write!(out, "<figure>{}</figure>", plot.svg(Paper::Page));
        }
        out.push_str("</div>");
    }

    /// Ours beside the published ones, where the table has both.
    fn plots(&self) -> Vec<BarPlot> {
        let plots = match self.columns.iter().position(|name| name == "whose") {
            Some(whose) => self.plots_of_rows(whose),
            None => self.plot_of_columns().into_iter().collect(),
        };
        let fits = |plot: &BarPlot| {
            let values = || plot.series.iter().flat_map(|series| series.values.iter().flatten());
            plot.series.len() > 1
                && plot.series.iter().any(|series| series.is_published)
                && plot.series.iter().any(|series| !series.is_published)
                && (1..=MOST_BARS).contains(&values().count())
                && values().all(|estimate| (0.0..=100.0).contains(&estimate.value))
        };
        plots.into_iter().filter(fits).collect()
    }

    /// A plot for each value of the first column; its rows are series.
    fn plots_of_rows(&self, whose: usize) -> Vec<BarPlot> {
        let mut groups: Vec<(&str, Vec<&Vec<Cell>>)> = Vec::new();
        for row in &self.rows {
            match (row[0].text.as_str(), groups.last_mut()) {
                (name, Some((known, rows))) if name.is_empty() || name == *known => rows.push(row),
                (name, _) => groups.push((name, vec![row])),
            }
        }
        let plot = |(title, rows): (&str, Vec<&Vec<Cell>>)| {
            // What only one side has cannot be compared.
            let columns: Vec<usize> = (whose + 1..self.columns.len())
                .filter(|&column| {
                    rows.iter().all(|row| row.get(column).is_some_and(|cell| cell.value.is_some()))
                })
                .collect();
            let series = rows.iter().enumerate().map(|(style, row)| {
                let name: Vec<&str> = row[1..=whose].iter().map(|cell| cell.text.as_str()).collect();
                BarSeries {
                    name: name.join(", "),
                    style,
                    is_published: row[whose].text != "ours",
                    values: columns.iter().map(|&column| row[column].estimate()).collect(),
                }
            });
            BarPlot {
                title: title.to_owned(),
                top: Some(100.0),
                unit: "%",
                names: columns.iter().map(|&column| self.columns[column].clone()).collect(),
                series: series.collect(),
                ..BarPlot::default()
            }
        };
        groups.into_iter().map(plot).collect()
    }

    /// A plot of all rows; its columns with numbers are series.
    fn plot_of_columns(&self) -> Option<BarPlot> {
        let is_number = |&column: &usize| {
            self.rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.value.is_some()))
        };
        let columns: Vec<usize> = (0..self.columns.len()).filter(is_number).collect();
        let first = *columns.first()?;
        let mut names = Vec::new();
        let mut group = "";
        for row in &self.rows {
            if !row[0].text.is_empty() {
                group = &row[0].text;
            }
            let labels = std::iter::once(group).chain(row[1..first].iter().map(|cell| cell.text.as_str()));
            names.push(labels.filter(|label| !label.is_empty()).collect::<Vec<_>>().join(", "));
        }
        let is_published =
            |name: &str| ["paper", "published", "cited", "logged"].iter().any(|word| name.contains(word));
        let series = columns.iter().enumerate().map(|(style, &column)| BarSeries {
            name: self.columns[column].clone(),
            style,
            is_published: is_published(&self.columns[column]),
            values: self.rows.iter().map(|row| row[column].estimate()).collect(),
        });
        Some(BarPlot { top: Some(100.0), unit: "%", names, series: series.collect(), ..BarPlot::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_with_intervals() {
        let read = |text| Cell::new(text);
        assert_eq!((read("80.2").value, read("80.2").interval), (Some(80.2), None));
        let with = read("0.0 (0.0 to 0.4)");
        assert_eq!((with.value, with.interval), (Some(0.0), Some((0.0, 0.4))));
        let (low, high) = read("98.0 ± 0.5").interval.unwrap();
        assert_eq!((low, high), (97.5, 98.5));
        for text in
            ["", "ours", "21,000", "847 of 861", "99.90, 99.35", "16 (8,797)", "94.4, from its other numbers"]
        {
            assert_eq!(read(text).value, None, "{text}");
        }
    }

    #[test]
    fn rows_of_two_sources_are_plotted_side_by_side() {
        let text = "# Title\n\n## Table 3\n\n| network | whose | I | LL | minutes |\n|---|---|---|---|---|\n\
                    | `lstm` | ours | 60.0 (59.1 to 61.0) | 13.9 | 33 |\n| | the paper's | 84.3 ± 5.2 | 22.1 | |\n\
                    | alone | ours | 1.0 | 2.0 | 3 |\n\n![a *map*](figures/a.svg)\n";
        let document = Document::read("results/hint", text);
        let plots = document.tables[0].plots();
        assert_eq!(document.tables[0].heading, "Table 3");
        assert_eq!(plots.len(), 1, "what stands alone is not compared");
        assert_eq!(plots[0].names, ["I", "LL"], "minutes are ours alone");
        assert_eq!(plots[0].series[0].values[0].unwrap().interval, Some((59.1, 61.0)));
        assert_eq!(plots[0].series.iter().map(|one| one.is_published).collect::<Vec<_>>(), [false, true]);
        assert_eq!(
            (document.figures[0].file.as_str(), document.figures[0].caption.as_str()),
            ("figures/a.svg", "a map")
        );
        let html = document.html();
        assert!(html.contains("<td>lstm<td>ours") && html.contains("<svg") && html.contains("figures/a.svg"));
    }

    #[test]
    fn all_documents_have_results() {
        let results = Results::read();
        assert!(results.documents.len() >= 8);
        for benchmark in ["scan", "cogs", "recogs", "hint", "mns"] {
            let document = results.of(benchmark).unwrap();
            let plots: usize = document.tables.iter().map(|table| table.plots().len()).sum();
            assert!(plots > 0, "{benchmark} has no plot");
            for table in &document.tables {
                assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.heading);
            }
        }
    }
}
