//! The page of a report: one HTML file with everything in it.
//!
//! Text from runs goes through [`escaped`] or, for examples, into a JSON document from which the script makes text nodes.

use std::fmt::Write;
use std::time::Duration;
use wug_data::{format_duration, thousands};

use wug_run::{Groups, Status, Symbols, Tally};

use super::{ExperimentReport, PartReport, Report, RunReport, SummaryRow, Training};
use crate::plot::{BarPlot, BarSeries, Estimate, HeatMap, LinePlot, LineSeries, Paper, Point, escaped};
use crate::{Change, Comparison, Measured, Pair};

/// What all pages look like.
pub(crate) const STYLE: &str = include_str!("page.css");
/// Sorting and filtering of tables, zoom of plots.
pub(crate) const TABLES: &str = include_str!("tables.js");
const EXAMPLES: &str = include_str!("examples.js");
const WATCH: &str = include_str!("watch.js");

impl Report {
    /// The page, for a file.
    pub fn html(&self) -> String {
        self.page(&format!("{TABLES}{EXAMPLES}"))
    }

    /// The page, for a server that changes it: it asks for a newer one every two seconds.
    pub fn live_html(&self) -> String {
        self.page(&format!("{TABLES}{EXAMPLES}{WATCH}"))
    }

    fn page(&self, script: &str) -> String {
        let mut main = String::new();
        self.write_problems(&mut main);
        self.write_summary(&mut main);
        for experiment in &self.experiments {
            write_experiment(&mut main, experiment);
        }
        for comparison in &self.comparisons {
            write_comparison(&mut main, comparison);
        }
        self.write_browser(&mut main);
        for (i, run) in self.runs.iter().enumerate() {
            write_run(&mut main, i, run);
        }
        let title = match self.runs.as_slice() {
            [run] => format!("{} on {}", run.learner, run.dataset),
            runs => format!("{} runs", runs.len()),
        };
        let data = embedded(&serde_json::to_string(&self.browsable()).unwrap_or_default());
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'unsafe-inline'; img-src data:; connect-src 'self'\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>wug report: {}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <header><h1>wug report</h1>{}</header>\n<main>\n{main}</main>\n\
             <footer>wug {}</footer>\n\
             <script type=\"application/json\" id=\"examples-data\">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n",
            escaped(&title),
            self.navigation(),
            escaped(&self.wug),
        )
    }

    fn navigation(&self) -> String {
        let mut nav = String::from("<nav>");
        let mut link = |id: &str, name: &str| {
            let _ = write!(nav, "<a href=\"#{id}\">{}</a> ", escaped(name));
        };
        link("summary", "summary");
        for experiment in &self.experiments {
            link(&anchor("experiment", &experiment.table.experiment), &experiment.table.experiment);
        }
        for comparison in &self.comparisons {
            link(&anchor("compare", &comparison.dataset), &format!("compare {}", comparison.dataset));
        }
        if !self.tables.is_empty() {
            link("examples", "examples");
        }
        if self.runs.len() <= 12 {
            for (i, run) in self.runs.iter().enumerate() {
                link(&format!("run-{i}"), &format!("{} on {}", run.learner, run.dataset));
            }
        } else {
            link("run-0", &format!("{} runs", self.runs.len()));
        }
        nav.push_str("</nav>");
        nav
    }

    /// What the script needs of the document.
    fn browsable(&self) -> serde_json::Value {
        let mut runs = Vec::new();
        for (i, run) in self.runs.iter().enumerate() {
            for part in &run.parts {
                if let Some(examples) = &part.examples {
                    let seed = run.provenance.learner_seed;
                    let name =
                        format!("{} on {}#{}, seed {seed}", self.learner_of(run), run.dataset, part.part);
                    runs.push(serde_json::json!({ "name": name, "run": i, "folder": run.folder, "examples": examples }));
                }
            }
        }
        let first = super::examples::FIRST_CODE;
        serde_json::json!({ "first": first, "tables": self.tables, "runs": runs })
    }

    /// The learner of a run, with its settings where another run has the same one with others.
    fn learner_of(&self, run: &RunReport) -> String {
        let chosen = &run.provenance.chosen;
        let rival = |other: &RunReport| {
            (&other.learner, &other.dataset) == (&run.learner, &run.dataset)
                && other.provenance.chosen != *chosen
        };
        if chosen.is_empty() || !self.runs.iter().any(rival) {
            return run.learner.clone();
        }
        format!("{} {}", run.learner, chosen.join(" "))
    }

    fn write_problems(&self, out: &mut String) {
        if self.problems.is_empty() {
            return;
        }
        out.push_str("<section id=\"problems\"><h2>Not shown</h2><ul>");
        for problem in &self.problems {
            let _ =
                write!(out, "<li><code>{}</code>: {}</li>", escaped(&problem.folder), escaped(&problem.what));
        }
        out.push_str("</ul></section>\n");
    }

    fn write_summary(&self, out: &mut String) {
        out.push_str("<section id=\"summary\"><h2>Summary</h2>");
        if self.summary.is_empty() {
            out.push_str("<p>No run has its scores yet.</p></section>\n");
            return;
        }
        out.push_str(
            "<input type=\"search\" class=\"filter\" placeholder=\"filter rows\" aria-label=\"filter rows\">\
             <table class=\"sortable\"><thead><tr><th>learner<th>dataset<th>part<th class=\"n\">n<th class=\"n\">runs\
             <th class=\"n\">accuracy<th class=\"n\">95% interval<th><th>published<th>best published</tr></thead><tbody>",
        );
        for row in &self.summary {
            write_summary_row(out, row);
        }
        out.push_str(
            "</tbody></table><p class=\"note\">Percent right. The interval of one run is Wilson's over examples, that of several \
             seeds Student's t over seeds. Published numbers are of the same learner; the best one is given where it is of \
             another.</p></section>\n",
        );
    }

    fn write_browser(&self, out: &mut String) {
        if self.tables.is_empty() {
            return;
        }
        out.push_str(
            "<section id=\"examples\"><h2>Examples</h2><div class=\"controls\">\
             <label>run <select id=\"e-run\"></select></label>\
             <label>verdict <select id=\"e-verdict\"><option value=\"\">all<option value=\"wrong\">wrong<option value=\"right\">right</select></label>\
             <label>reason <select id=\"e-reason\"></select></label>\
             <label>fact <select id=\"e-fact\"></select></label>\
             <label>value <select id=\"e-value\"></select></label>\
             <label>tokens <input type=\"search\" id=\"e-text\" placeholder=\"in input, target or prediction\"></label>\
             <span id=\"e-count\" role=\"status\"></span></div>\
             <div id=\"e-list\" tabindex=\"0\" role=\"listbox\" aria-label=\"examples\"><div id=\"e-space\"></div></div>\
             <div id=\"e-detail\"></div><p class=\"note\">Pictures are embedded for the first 40 examples of a part and the first 40 \
             wrong ones of each run; derivations for up to 500 right and 500 wrong predictions of a run, as trees for up to 30 \
             each.</p></section>\n",
        );
    }
}

/// JSON within a script element: no `<` is left that could end it.
fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// An id of a section.
fn anchor(kind: &str, name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("{kind}-{name}")
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

fn learner(name: &str, reads: Option<Symbols>) -> String {
    match reads {
        Some(Symbols::Symbols) => format!("{} (reads symbols)", escaped(name)),
        None => escaped(name),
    }
}

/// A bar of a share, for tables.
fn bar(share: f64) -> String {
    format!(
        "<svg class=\"bar\" width=\"100\" height=\"10\" role=\"img\" aria-label=\"{0:.0} percent\"><rect width=\"100\" height=\"10\" \
         fill=\"currentColor\" fill-opacity=\"0.1\"/><rect width=\"{0:.1}\" height=\"10\" fill=\"#4477aa\"/></svg>",
        100.0 * share
    )
}

/// Settings in small print below a learner.
fn settings(chosen: &[String]) -> String {
    match chosen {
        [] => String::new(),
        chosen => format!("<br><span class=\"note\">{}</span>", escaped(&chosen.join(" "))),
    }
}

fn write_summary_row(out: &mut String, row: &SummaryRow) {
    let published: Vec<String> = row
        .published
        .iter()
        .map(|number| {
            format!("<span title=\"{}\">{}</span>", escaped(&number.source), escaped(&number.printed))
        })
        .collect();
    let best = row.best_published.as_ref().map_or(String::new(), |number| {
        let source = escaped(&number.source);
        format!("<span title=\"{source}\">{} ({})</span>", escaped(&number.printed), escaped(&number.learner))
    });
    let each: Vec<String> = row.accuracies.iter().map(|&accuracy| percent(accuracy)).collect();
    let _ = write!(
        out,
        "<tr><td>{}{}<td>{}<td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\" title=\"{}\">{}<td class=\"n\">{} to {}<td>{}<td>{}<td>{best}</tr>",
        learner(&row.learner, row.reads),
        settings(&row.settings),
        escaped(&row.dataset),
        escaped(&row.part),
        thousands(row.n),
        row.accuracies.len(),
        escaped(&each.join(" ")),
        percent(row.mean),
        percent(row.interval.0),
        percent(row.interval.1),
        bar(row.mean),
        published.join("; "),
    );
}

fn write_experiment(out: &mut String, experiment: &ExperimentReport) {
    let table = &experiment.table;
    let _ = write!(
        out,
        "<section id=\"{}\"><h2>{}</h2><p>{}, {}; scale {}",
        anchor("experiment", &table.experiment),
        escaped(&table.title),
        escaped(&table.paper),
        escaped(&table.source),
        table.scale.name()
    );
    if let Some((done, of)) = experiment.progress {
        let _ = write!(out, "; {done} of {of} runs done");
    }
    out.push_str("</p>");
    if !table.is_result {
        out.push_str("<p class=\"warning\">Smoke test: this shows that the experiment runs; its numbers are no results.</p>");
    }
    if let Some(figure) = &experiment.figure {
        let _ = write!(out, "<figure>{figure}</figure>");
    }
    out.push_str("<div class=\"wide\"><table class=\"sortable\"><thead><tr><th>learner<th>whose");
    for column in table.rows.first().map_or(&[][..], |row| &row.columns) {
        let _ = write!(out, "<th class=\"n\">{}", escaped(&column.column));
    }
    out.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        if row.learner.is_some() {
            let _ = write!(out, "<tr><td>{}<td>ours", learner(&row.row, row.reads));
            for cell in &row.columns {
                let title = match &cell.ours {
                    Measured::Failed(why) => why.clone(),
                    Measured::Runs(values) => format!("{} runs", values.len()),
                    _ => String::new(),
                };
                let _ = write!(
                    out,
                    "<td class=\"n\" title=\"{}\">{}",
                    escaped(&title),
                    escaped(&cell.ours.printed())
                );
            }
            out.push_str("</tr>");
        }
        if row.columns.iter().any(|cell| cell.theirs_printed.is_some()) {
            let _ = write!(out, "<tr class=\"published\"><td>{}<td>published", escaped(&row.row));
            for cell in &row.columns {
                let _ = write!(
                    out,
                    "<td class=\"n\">{}",
                    escaped(cell.theirs_printed.as_deref().unwrap_or_default())
                );
            }
            out.push_str("</tr>");
        }
    }
    out.push_str("</tbody></table></div><p class=\"note\">Percent right, or BLEU; ± is the standard deviation over runs.</p></section>\n");
}

fn write_comparison(out: &mut String, comparison: &Comparison) {
    let _ = write!(
        out,
        "<section id=\"{}\"><h2>Comparison on {}</h2>",
        anchor("compare", &comparison.dataset),
        escaped(&comparison.dataset)
    );
    for part in &comparison.parts {
        let _ = write!(out, "<h3>{}, {} examples</h3>", escaped(&part.part), thousands(part.n));
        write_changes(
            out,
            part.pairs.iter().map(|pair| (format!("{} less {}", pair.other, pair.baseline), &pair.change)),
            "systems",
        );
        for pair in &part.pairs {
            write_pair(out, pair);
        }
    }
    out.push_str(
        "<p class=\"note\">Differences in points of percent, with 95% intervals of the paired bootstrap (with several seeds, over \
         seeds and examples). p is the exact McNemar test, not corrected for several tests.</p></section>\n",
    );
}

fn write_changes<'a>(out: &mut String, rows: impl Iterator<Item = (String, &'a Change)>, what: &str) {
    let _ = write!(
        out,
        "<table class=\"sortable\"><thead><tr><th>{}<th class=\"n\">n<th class=\"n\">both right<th class=\"n\">gained<th class=\"n\">lost\
         <th class=\"n\">both wrong<th class=\"n\">difference<th class=\"n\">95% interval<th class=\"n\">p</tr></thead><tbody>",
        escaped(what)
    );
    for (name, change) in rows {
        let p = escaped(&change.printed_p());
        let _ = write!(
            out,
            "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{:+.2}\
             <td class=\"n\">{:+.2} to {:+.2}<td class=\"n\">{p}</tr>",
            escaped(&name),
            thousands(change.n),
            thousands(change.both),
            thousands(change.gained),
            thousands(change.lost),
            thousands(change.neither),
            100.0 * change.difference,
            100.0 * change.interval.0,
            100.0 * change.interval.1,
        );
    }
    out.push_str("</tbody></table>");
}

fn write_pair(out: &mut String, pair: &Pair) {
    let _ = write!(
        out,
        "<details><summary>{} less {}, by fact; {} flipped examples</summary>",
        escaped(&pair.other),
        escaped(&pair.baseline),
        thousands(pair.change.gained + pair.change.lost)
    );
    for by in &pair.by {
        write_changes(out, by.groups.iter().map(|group| (group.value.to_string(), &group.change)), &by.fact);
    }
    if !pair.flips.is_empty() {
        out.push_str("<details><summary>flipped examples</summary><div class=\"wide\"><table class=\"sortable\"><thead><tr><th>id<th>change<th>input<th>target<th>baseline<th>other</tr></thead><tbody>");
        for flip in pair.flips.iter().take(50) {
            let short = |text: &str| escaped(&wug_data::truncate(text, 200));
            let _ = write!(
                out,
                "<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
                escaped(&flip.id),
                if flip.gained { "gained" } else { "lost" },
                short(&flip.input),
                short(&flip.target),
                short(&flip.baseline),
                short(&flip.other)
            );
        }
        out.push_str(
            "</tbody></table></div><p class=\"note\">At most 50; `wug compare --json` has all.</p></details>",
        );
    }
    out.push_str("</details>");
}

fn write_run(out: &mut String, number: usize, run: &RunReport) {
    let _ = write!(
        out,
        "<section id=\"run-{number}\" class=\"run\"><h2>{} on {}, seed {}{}</h2>",
        learner(&run.learner, run.reads),
        escaped(&run.dataset),
        run.provenance.learner_seed,
        settings(&run.provenance.chosen)
    );
    if run.status == Status::Unfinished {
        let _ =
            write!(out, "<p class=\"warning\">Unfinished{}</p>", run.progress.map_or(String::new(), left));
    }
    for part in &run.parts {
        write_part_head(out, part);
    }
    write_curves(out, run);
    for part in &run.parts {
        write_part(out, part);
    }
    write_provenance(out, run);
    out.push_str("</section>\n");
}

/// How far training has come, in words.
fn left(training: Training) -> String {
    let of = training.steps.map_or(String::new(), |steps| format!(" of {steps}"));
    let left =
        training.seconds_left.map_or(String::new(), |seconds| format!(", about {} left", duration(seconds)));
    format!(": update {}{of}{left}", training.step)
}

fn duration(seconds: f64) -> String {
    format_duration(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default())
}

fn tally_text(tally: &Tally) -> String {
    let (low, high) = tally.interval();
    let accuracy = tally.accuracy().map_or("-".to_owned(), percent);
    format!(
        "{accuracy}% ({} to {}), {} of {}",
        percent(low),
        percent(high),
        thousands(tally.correct),
        thousands(tally.n)
    )
}

fn write_part_head(out: &mut String, part: &PartReport) {
    let _ = write!(
        out,
        "<p class=\"score\"><b>{}</b> {}: {}",
        escaped(&part.part),
        escaped(&part.metric),
        tally_text(&part.tally)
    );
    if let Some(score) = part.score {
        let _ = write!(out, "; corpus-level score {score:.2}");
    }
    if part.tally.undecided > 0 {
        let _ = write!(out, "; {} undecided (scored as wrong)", part.tally.undecided);
    }
    out.push_str("</p>");
    for slice in &part.slices {
        let _ = write!(out, "<p class=\"slice\">{}: {}</p>", escaped(&slice.slice), tally_text(&slice.tally));
    }
}

fn write_curves(out: &mut String, run: &RunReport) {
    let plots = [("loss", "loss"), ("accuracy", "accuracy"), ("learning rate", "rate")];
    let mut drawn = String::new();
    for (label, word) in plots {
        let curves = run.curves.iter().filter(|curve| curve.name.contains(word) && curve.points.len() > 1);
        let series: Vec<LineSeries> = curves
            .enumerate()
            .map(|(style, curve)| {
                let point = |&(x, y): &(f64, f64)| y.is_finite().then_some(Point { x, y, interval: None });
                let points = curve.points.iter().map(point).collect();
                LineSeries { name: curve.name.clone(), style, is_published: false, points }
            })
            .collect();
        if series.is_empty() {
            continue;
        }
        let y_range = (label == "accuracy").then_some((0.0, 1.0));
        let plot = LinePlot {
            x_label: "update".to_owned(),
            y_label: label.to_owned(),
            y_range,
            series,
            ..LinePlot::default()
        };
        let _ = write!(drawn, "<figure>{}</figure>", plot.svg(Paper::Page));
    }
    if !drawn.is_empty() {
        let _ = write!(
            out,
            "<details open><summary>Learning curves</summary><p class=\"note\">Drag across a plot to zoom, double-click to zoom out.</p>\
             <div class=\"plots\">{drawn}</div></details>"
        );
    }
}

/// Accuracy by the values of a fact.
fn accuracy_plot(groups: &Groups) -> String {
    let estimate = |tally: &Tally| {
        let (low, high) = tally.interval();
        let value = tally.accuracy()?;
        Some(Estimate { value: 100.0 * value, interval: Some((100.0 * low, 100.0 * high)) })
    };
    let values = groups.groups.iter().map(|group| estimate(&group.tally)).collect();
    let name = |value: String| match value.char_indices().nth(28) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value,
    };
    let plot = BarPlot {
        y_label: "percent right".to_owned(),
        x_label: groups.fact.clone(),
        top: Some(100.0),
        names: groups.groups.iter().map(|group| name(group.value.to_string())).collect(),
        series: vec![BarSeries { name: groups.fact.clone(), style: 0, is_published: false, values }],
        ..BarPlot::default()
    };
    plot.svg(Paper::Page)
}

fn write_part(out: &mut String, part: &PartReport) {
    if part.by.is_empty() {
        return;
    }
    let _ = write!(out, "<details><summary>{}: accuracy and reasons by fact</summary>", escaped(&part.part));
    for groups in &part.by {
        let _ = write!(
            out,
            "<h3>by {}</h3><div class=\"plots\"><figure>{}</figure>",
            escaped(&groups.fact),
            accuracy_plot(groups)
        );
        if let Some(reasons) = part.reasons.iter().find(|reasons| reasons.fact == groups.fact) {
            let mut rows: Vec<(String, Vec<f64>)> = reasons
                .reasons
                .iter()
                .map(|(reason, counts)| (reason.clone(), counts.iter().map(|&count| count as f64).collect()))
                .collect();
            rows.sort_by(|(_, a), (_, b)| b.iter().sum::<f64>().total_cmp(&a.iter().sum()));
            let map = HeatMap { x_label: groups.fact.clone(), columns: reasons.values.clone(), rows };
            let _ = write!(
                out,
                "<figure><figcaption>wrong predictions by reason (# stands for a number)</figcaption>{}</figure>",
                map.svg(Paper::Page)
            );
        }
        out.push_str("</div><details><summary>numbers</summary><table class=\"sortable\"><thead><tr>");
        let _ = write!(
            out,
            "<th>{}<th class=\"n\">n<th class=\"n\">correct<th class=\"n\">accuracy<th class=\"n\">95% interval</tr></thead><tbody>",
            escaped(&groups.fact)
        );
        for group in &groups.groups {
            let (low, high) = group.tally.interval();
            let _ = write!(
                out,
                "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{} to {}</tr>",
                escaped(&group.value.to_string()),
                thousands(group.tally.n),
                thousands(group.tally.correct),
                group.tally.accuracy().map_or("-".to_owned(), percent),
                percent(low),
                percent(high)
            );
        }
        out.push_str("</tbody></table></details>");
    }
    out.push_str("</details>");
}

fn write_provenance(out: &mut String, run: &RunReport) {
    let provenance = &run.provenance;
    out.push_str("<details><summary>Provenance</summary><table class=\"facts\"><tbody>");
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = write!(out, "<tr><th>{}<td><code>{}</code></tr>", escaped(name), escaped(value));
        }
    };
    row("command", &provenance.command);
    row("folder", &run.folder);
    row("data", &provenance.data);
    for (part, hash) in &provenance.hashes {
        row(&format!("hash of {part}"), hash);
    }
    row("learner seed", &provenance.learner_seed.to_string());
    row("duration", &duration(provenance.seconds));
    if let Some(machine) = &provenance.machine {
        let processor = machine.processor.as_deref().unwrap_or(&machine.architecture);
        row(
            "machine",
            &format!("{processor}, {} cores, {} {}", machine.cores, machine.system, machine.architecture),
        );
    }
    row("wug", &provenance.wug);
    if let Some(size) = run.learned {
        row("parameters", &thousands(size.parameters));
        row("training examples", &thousands(size.examples));
    }
    let settings = provenance.settings.iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name}={value}")
    });
    row("settings", &settings.collect::<Vec<_>>().join(" "));
    out.push_str("</tbody></table></details>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_json_cannot_end_its_element() {
        let json = serde_json::to_string(&["</script><!--", "\u{2028}"]).unwrap();
        let safe = embedded(&json);
        assert!(!safe.contains('<'), "{safe}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&safe).unwrap()[0], "</script><!--");
    }
}
