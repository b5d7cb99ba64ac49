//! The pages of learners and of experiments.

use std::fmt::Write;

use wug_data::Result;
use wug_learn::LEARNERS;

use super::{Page, inline_code};
use crate::plot::escaped;
use crate::{EXPERIMENTS, Experiment, Scale};

pub(super) fn learners() -> Page {
    let mut body = String::new();
    for learner in LEARNERS {
        let about = learner.about();
        let benchmarks = if about.benchmarks.is_empty() {
            "any benchmark".to_owned()
        } else {
            about.benchmarks.join(", ")
        };
        let _ = write!(
            body,
            "<h2 id=\"{0}\"><code>{0}</code></h2><p>{1}. For {2}.</p>",
            escaped(about.name),
            inline_code(about.title),
            escaped(&benchmarks)
        );
        if about.settings.is_empty() {
            continue;
        }
        body.push_str("<details><summary>settings</summary><table class=\"sortable\"><thead><tr><th>--set<th>default<th>values<th>what it does</tr></thead><tbody>");
        for setting in about.settings {
            let default = setting.default.value();
            let default = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
            let _ = write!(
                body,
                "<tr><td><code>{}</code><td>{}<td>{}<td>{}</tr>",
                escaped(setting.name),
                escaped(&default),
                escaped(&setting.default.expects()),
                inline_code(setting.about)
            );
        }
        body.push_str("</tbody></table></details>");
    }
    Page::new("learners.html", "Learners", body)
}

pub(super) fn experiments() -> Result<Page> {
    let mut body = String::from("<p>Tables and figures of the papers, each as one command.</p>");
    for (name, _) in EXPERIMENTS {
        let experiment = Experiment::named(name, Scale::Paper)?;
        let mut runs = Vec::new();
        for scale in Scale::ALL {
            runs.push(format!("{} at scale {}", Experiment::named(name, scale)?.run_count()?, scale.name()));
        }
        let _ = write!(
            body,
            "<h2 id=\"{}\">{}</h2><p>{}, {}. Runs: {}.</p><pre>wug reproduce {name}</pre>",
            escaped(&name.replace('/', "-")),
            escaped(&experiment.title),
            escaped(&experiment.paper),
            escaped(&experiment.source),
            runs.join(", ")
        );
        body.push_str("<details><summary>published numbers</summary><div class=\"wide\"><table class=\"sortable\"><thead><tr><th>learner");
        for column in &experiment.columns {
            let _ = write!(body, "<th class=\"n\">{}", escaped(&column.name));
        }
        body.push_str("</tr></thead><tbody>");
        for row in &experiment.rows {
            let _ = write!(body, "<tr><td>{}", escaped(&row.heading()));
            for theirs in &row.theirs {
                let printed = theirs.as_ref().map_or("", |theirs| theirs.printed.as_str());
                let _ = write!(body, "<td class=\"n\">{}", escaped(printed));
            }
            body.push_str("</tr>");
        }
        body.push_str("</tbody></table></div></details>");
    }
    Ok(Page::new("experiments.html", "Experiments", body))
}
