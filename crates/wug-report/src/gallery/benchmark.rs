//! The page of a benchmark.

use std::fmt::Write;

use base64::Engine;

use wug_bench::{Availability, Benchmark, Family, Metric, Source};
use wug_data::{Dataset, Part, Result, Selection, thousands};

use super::results::Results;
use super::{Page, inline_code};
use crate::plot::{BarPlot, BarSeries, Estimate, Paper, Tree, escaped};
use crate::{Number, published};

/// Examples that a page shows.
const EXAMPLES: usize = 4;
/// Tables with more numbers are not drawn.
const MOST_PLOTTED: usize = 30;

pub(super) fn page(benchmark: &dyn Benchmark, results: &Results) -> Result<Page> {
    let about = benchmark.about();
    let mut body = format!("<p>{}</p>", inline_code(about.summary));
    let families = benchmark.families();
    let made: Vec<Option<Dataset>> =
        families.iter().map(|family| first(benchmark, family)).collect::<Result<_>>()?;
    write_families(&mut body, about.name, &families, &made);
    let here = || families.iter().zip(&made).filter_map(|(family, made)| Some((family, made.as_ref()?)));
    let with_pictures = || here().find(|(_, made)| made.pictures.is_some());
    if let Some((family, dataset)) = with_pictures().or_else(|| here().next()) {
        write_examples(&mut body, benchmark, family, dataset)?;
        write_metrics(&mut body, benchmark, family, dataset)?;
    }
    write_published(&mut body, about.name);
    if let Some(document) = results.of(about.name) {
        let _ = write!(body, "<h2>Our results</h2>{}", document.html());
    }
    body.push_str("<h2>Source</h2>");
    if !about.homepage.is_empty() {
        let _ = write!(body, "<p>{}</p>", super::docs::reference(about.homepage));
    }
    let _ = write!(body, "<p>Licence: {}</p>", escaped(about.licence));
    if !about.citation.is_empty() {
        let lines: Vec<String> = about.citation.lines().map(escaped).collect();
        let _ = write!(body, "<pre>{}</pre>", lines.join("\n"));
    }
    Ok(Page::new(format!("benchmark-{}.html", about.name), about.title, body))
}

/// The first dataset of a family, where it is not read from files.
fn first(benchmark: &dyn Benchmark, family: &Family) -> Result<Option<Dataset>> {
    if family.origin == Availability::Imported {
        return Ok(None);
    }
    benchmark.make(&family.names[0], &Source::Seed(0)).map(Some)
}

/// The families of datasets, with the sizes of the parts of the first of each.
fn write_families(out: &mut String, name: &str, families: &[Family], made: &[Option<Dataset>]) {
    out.push_str(
        "<h2>Datasets</h2><table class=\"sortable\"><thead><tr><th>dataset<th class=\"n\">number<th>rows<th>asks\
         <th>examples of the first</tr></thead><tbody>",
    );
    for (family, made) in families.iter().zip(made) {
        let size = |part: &Part| format!("{} {}", escaped(&part.name), thousands(part.rows.len()));
        let sizes: Vec<String> = made.iter().flat_map(|made| &made.parts).map(size).collect();
        let rows = match family.origin {
            Availability::Rule => "from the grammar",
            Availability::Drawn => "drawn",
            Availability::Imported => "read with --data",
        };
        let _ = write!(
            out,
            "<tr><td><code>{}/{}</code><td class=\"n\">{}<td>{rows}<td>{}<td>{}</tr>",
            escaped(name),
            escaped(family.pattern),
            family.names.len(),
            inline_code(family.about),
            sizes.join(", ")
        );
    }
    out.push_str("</tbody></table>");
}

/// Some examples of the part that is asked for, spread over it: the first ones are often the simplest.
fn spread<'a>(
    benchmark: &dyn Benchmark,
    family: &Family,
    dataset: &'a Dataset,
    number: usize,
) -> Result<Selection<'a>> {
    let mut selection = dataset.select(benchmark.default_part(&family.names[0]))?;
    let all = std::mem::take(&mut selection.positions);
    let number = number.min(all.len());
    selection.positions = (0..number).map(|i| all[(2 * i + 1) * all.len() / (2 * number)]).collect();
    Ok(selection)
}

fn write_examples(
    out: &mut String,
    benchmark: &dyn Benchmark,
    family: &Family,
    dataset: &Dataset,
) -> Result<()> {
    let _ = write!(
        out,
        "<h2>Examples of <code>{}</code></h2><table class=\"sortable\"><thead><tr><th>part<th class=\"n\">examples</tr></thead><tbody>",
        escaped(&dataset.name)
    );
    for part in &dataset.parts {
        let _ =
            write!(out, "<tr><td>{}<td class=\"n\">{}</tr>", escaped(&part.name), thousands(part.rows.len()));
    }
    out.push_str("</tbody></table>");
    let selection = spread(benchmark, family, dataset, EXAMPLES)?;
    for ((id, row), &position) in selection.examples().zip(&selection.positions) {
        let example = dataset.table.example(row);
        let _ = write!(out, "<h3>{}</h3><table class=\"facts\"><tbody>", escaped(&id));
        let mut line = |name: &str, value: &str| {
            let _ = write!(out, "<tr><th>{}<td><code>{}</code></tr>", escaped(name), escaped(value));
        };
        line("input", &example.input.to_string());
        line("target", &example.target.to_string());
        for fact in dataset.table.facts.columns() {
            line(fact.name(), &fact.value(row).to_string());
        }
        let derivation = benchmark.explain(dataset, row);
        if let Some(derivation) = &derivation {
            line("derivation", derivation);
        }
        out.push_str("</tbody></table>");
        if let Some(tree) = derivation.as_deref().and_then(Tree::read) {
            let _ = write!(out, "<figure>{}</figure>", tree.svg(Paper::Page));
        }
        let picture = match (benchmark.svg(dataset, &[row]), &dataset.pictures) {
            (Some(svg), _) => Some(("svg+xml", svg.into_bytes())),
            (None, Some(pictures)) => {
                pictures.picture(&selection.part.name, position).png().ok().map(|png| ("png", png))
            }
            (None, None) => None,
        };
        if let Some((kind, bytes)) = picture {
            let data = base64::engine::general_purpose::STANDARD.encode(bytes);
            let _ = write!(
                out,
                "<figure><img alt=\"{}\" style=\"background:#fff;max-width:100%\" src=\"data:image/{kind};base64,{data}\"></figure>",
                escaped(&id)
            );
        }
    }
    Ok(())
}

/// What each metric says of the target, and of predictions that are a little worse.
fn write_metrics(
    out: &mut String,
    benchmark: &dyn Benchmark,
    family: &Family,
    dataset: &Dataset,
) -> Result<()> {
    let selection = spread(benchmark, family, dataset, 2)?;
    let rows: Vec<u32> = selection.examples().map(|(_, row)| row).collect();
    let Some(&first) = rows.first() else { return Ok(()) };
    let example = dataset.table.example(first);
    let target = example.target.to_string();
    let words: Vec<&str> = example.target.words().collect();
    let joined = |words: &[&str]| if target.contains(' ') { words.join(" ") } else { words.concat() };
    let mut predictions = vec![("the target", target.clone())];
    if words.len() > 1 {
        predictions.push(("without its last token", joined(&words[..words.len() - 1])));
    }
    if let Some(other) = rows.get(1) {
        predictions.push(("the target of the next example", dataset.table.targets.get(*other).to_string()));
    }
    predictions.push(("nothing", String::new()));
    out.push_str("<h2>Metrics</h2>");
    let _ = write!(
        out,
        "<p>What they say of predictions for <code>{}</code>:</p>",
        escaped(&example.input.to_string())
    );
    for Metric { name, about, judge } in benchmark.metrics() {
        let judge = judge();
        let _ = write!(
            out,
            "<h3><code>{}</code>: {}</h3><table><thead><tr><th>prediction<th>verdict</tr></thead><tbody>",
            escaped(name),
            inline_code(about)
        );
        for (what, prediction) in &predictions {
            let verdict = judge.judge(&example, prediction);
            let said =
                if verdict.correct { "right".to_owned() } else { format!("wrong: {}", verdict.reason) };
            let shown = if prediction.is_empty() {
                String::new()
            } else {
                format!("<br><code>{}</code>", escaped(prediction))
            };
            let _ = write!(out, "<tr><td>{what}{shown}<td>{}</tr>", inline_code(&said));
        }
        out.push_str("</tbody></table>");
    }
    Ok(())
}

fn write_published(out: &mut String, name: &str) {
    let is_here = |number: &&Number| {
        number.dataset.split('/').next().is_some_and(|own| own.split('-').next() == Some(name))
    };
    let numbers: Vec<&Number> = published().iter().filter(is_here).collect();
    if numbers.is_empty() {
        return;
    }
    out.push_str("<h2>Published results</h2>");
    let mut sources: Vec<(&str, &str)> = Vec::new();
    for number in &numbers {
        if !sources.contains(&(number.paper, number.source.as_str())) {
            sources.push((number.paper, &number.source));
        }
    }
    for (paper, source) in sources {
        let of: Vec<&&Number> = numbers
            .iter()
            .filter(|number| (number.paper, number.source.as_str()) == (paper, source))
            .collect();
        let _ = write!(
            out,
            "<details><summary>{}, {}: {} numbers</summary>",
            escaped(paper),
            escaped(source),
            of.len()
        );
        if of.len() <= MOST_PLOTTED && of.len() > 1 {
            let name = |number: &Number| format!("{} {}", number.learner, number.part);
            let values = of
                .iter()
                .map(|number| Some(Estimate::around(number.value, number.spread.unwrap_or_default())));
            let plot = BarPlot {
                y_label: of[0].metric.clone(),
                top: Some(100.0),
                names: of.iter().map(|number| name(number)).collect(),
                series: vec![BarSeries {
                    name: source.to_owned(),
                    style: 0,
                    is_published: false,
                    values: values.collect(),
                }],
                ..BarPlot::default()
            };
            let _ = write!(out, "<figure>{}</figure>", plot.svg(Paper::Page));
        }
        out.push_str("<table class=\"sortable\"><thead><tr><th>dataset<th>part<th>learner<th>metric<th class=\"n\">published<th class=\"n\">runs<th>note</tr></thead><tbody>");
        for number in of {
            let _ = write!(
                out,
                "<tr><td>{}<td>{}<td>{}<td>{}<td class=\"n\">{}<td class=\"n\">{}<td>{}</tr>",
                escaped(&number.dataset),
                escaped(&number.part),
                escaped(&number.learner),
                escaped(&number.metric),
                escaped(&number.printed()),
                number.runs.map_or(String::new(), |runs| runs.to_string()),
                escaped(&number.note)
            );
        }
        out.push_str("</tbody></table></details>");
    }
}
