//! Dataset cards: what the data are, in the form that model hubs read.

use std::fmt::Write;

use wug_data::{Dataset, Selection};

use crate::{Benchmark, BenchmarkInfo};

/// The card of one dataset. `made` is the command that writes the same files.
pub fn card(
    benchmark: &dyn Benchmark,
    dataset: &Dataset,
    selections: &[Selection<'_>],
    format: &str,
    made: &str,
) -> String {
    let about = benchmark.about();
    let files = Files::of(dataset, selections, format);
    let mut text = front_matter(about, files.has_pictures, &files.config("default", ""));
    let _ = writeln!(text, "# {}\n\n{}\n\n{}\n", dataset.name, about.title, about.summary);
    let _ = writeln!(text, "| part | examples |\n|---|---|");
    for selection in selections {
        let _ = writeln!(text, "| {} | {} |", selection.name, selection.positions.len());
    }
    if let Some((id, row)) = selections.iter().find_map(|selection| selection.examples().next()) {
        let example = dataset.table.example(row);
        let _ = writeln!(
            text,
            "\nExample `{id}`:\n\n    input:  {}\n    target: {}",
            example.input, example.target
        );
    }
    let image = if files.has_pictures { ", `image`" } else { "" };
    let names: Vec<String> =
        dataset.table.facts.columns().iter().map(|fact| format!("`{}`", fact.name())).collect();
    let facts =
        if names.is_empty() { String::new() } else { format!(" and `facts` with {}", names.join(", ")) };
    let _ = writeln!(text, "\nColumns: `id`, `input`, `target`{image}{facts}.");
    origin(&mut text, about, made);
    text
}

/// The card of a folder with all datasets of a benchmark: a configuration for each.
pub fn collection_card(benchmark: &dyn Benchmark, datasets: &[(String, Files)], made: &str) -> String {
    let about = benchmark.about();
    let has_pictures = datasets.iter().any(|(_, files)| files.has_pictures);
    // One card has one kind of files: where some datasets list pictures and others lines, it names the latter.
    let is_mixed = |files: &Files| {
        files.format == "jsonl" && files.has_pictures && datasets.iter().any(|(_, other)| !other.has_pictures)
    };
    let (apart, named): (Vec<_>, Vec<_>) = datasets.iter().partition(|(_, files)| is_mixed(files));
    let configs: String = named.iter().map(|(name, files)| files.config(name, &format!("{name}/"))).collect();
    let mut text = front_matter(about, has_pictures, &configs);
    let _ = writeln!(text, "# {}\n\n{}\n\n{}\n", about.name, about.title, about.summary);
    if let Some((name, _)) = datasets.first() {
        let _ = writeln!(
            text,
            "Each dataset is a configuration: `load_dataset(\"DIR\", \"{name}\")`. Their parts overlap across datasets, so \
             no two should be merged.\n"
        );
    }
    if let Some((name, _)) = apart.first() {
        let _ = writeln!(
            text,
            "Those with images load from their own folders: `load_dataset(\"DIR/{name}\")`.\n"
        );
    }
    let _ = writeln!(text, "| dataset | examples of each part |\n|---|---|");
    for (name, files) in datasets {
        let sizes: Vec<String> = files.parts.iter().map(|(part, rows)| format!("{part} {rows}")).collect();
        let _ = writeln!(text, "| [{name}]({name}/README.md) | {} |", sizes.join(", "));
    }
    origin(&mut text, about, made);
    text
}

/// Which files of a dataset hold which part.
#[derive(Debug, Clone)]
pub struct Files {
    parts: Vec<(String, usize)>,
    format: String,
    has_pictures: bool,
}

impl Files {
    /// Those of the selections that are written.
    pub fn of(dataset: &Dataset, selections: &[Selection<'_>], format: &str) -> Self {
        let part = |selection: &Selection<'_>| (selection.name.clone(), selection.positions.len());
        Self {
            parts: selections.iter().map(part).collect(),
            format: format.to_owned(),
            has_pictures: dataset.pictures.is_some(),
        }
    }

    /// The configuration as YAML.
    fn config(&self, name: &str, inside: &str) -> String {
        let mut text = format!("- config_name: {name}\n  data_files:\n");
        for (part, _) in &self.parts {
            // Split names may not have dashes, and `all` stands for all splits.
            let split = if part == "all" { "everything".to_owned() } else { part.replace('-', "_") };
            // Pictures beside JSON lines are found through the list in their folder.
            let path = if self.has_pictures && self.format == "jsonl" {
                format!("images/{part}/*")
            } else {
                format!("{part}.{}", self.format)
            };
            let _ = writeln!(text, "  - split: {split}\n    path: {inside}{path}");
        }
        text
    }
}

fn front_matter(about: &BenchmarkInfo, has_pictures: bool, configs: &str) -> String {
    let mut text = format!("---\npretty_name: \"{}\"\nlicense: {}\n", about.title, licence(about.licence));
    let languages: &[&str] = match about.name {
        "mt" => &["en", "fr"],
        "scan" | "nacs" | "cogs" | "recogs" => &["en"],
        _ => &[],
    };
    if !languages.is_empty() {
        let _ = writeln!(text, "language:\n- {}", languages.join("\n- "));
    }
    let task = match (about.name, has_pictures) {
        ("mt", _) => "translation",
        ("mns", true) => "visual-question-answering",
        (_, true) => "image-to-text",
        (_, false) => "text-generation",
    };
    let _ = writeln!(text, "task_categories:\n- {task}\ntags:\n- compositional-generalization");
    let _ = writeln!(text, "configs:\n{configs}---\n");
    text
}

/// The hub's word for a licence.
fn licence(text: &str) -> &'static str {
    const KNOWN: [(&str, &str); 3] = [("BSD", "bsd"), ("MIT", "mit"), ("CC BY-NC 4.0", "cc-by-nc-4.0")];
    KNOWN.iter().find(|(begin, _)| text.starts_with(begin)).map_or("other", |(_, word)| word)
}

fn origin(text: &mut String, about: &BenchmarkInfo, made: &str) {
    let _ = writeln!(text, "\nMade with `{made}` (wug {}).", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "\n- Original: <{}>\n- Licence: {}", about.homepage, about.licence);
    if !about.citation.is_empty() {
        let _ = writeln!(text, "\n```bibtex\n{}\n```", about.citation);
    }
}
