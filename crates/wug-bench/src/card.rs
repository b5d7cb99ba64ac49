use std::fmt::Write;

use wug_data::{Dataset, Selection};

use crate::Benchmark;

/// The dataset card that goes with JSONL and Parquet files: what the data are, in the form that model hubs read.
pub fn card(
    benchmark: &dyn Benchmark,
    dataset: &Dataset,
    selections: &[Selection<'_>],
    format: &str,
    made: &str,
) -> String {
    let about = benchmark.about();
    let mut text = String::from("---\nconfigs:\n- config_name: default\n  data_files:\n");
    for selection in selections {
        // Split names may not have dashes, and `all` stands for all splits.
        let split =
            if selection.name == "all" { "everything".to_owned() } else { selection.name.replace('-', "_") };
        let _ = writeln!(text, "  - split: {split}\n    path: {}.{format}", selection.name);
    }
    let _ = writeln!(text, "---\n\n# {}\n\n{}\n\n{}\n", dataset.name, about.title, about.summary);
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
    let image = if dataset.pictures.is_some() { " `image`," } else { "" };
    let _ = writeln!(text, "\nColumns: `id`, `input`, `target`,{image} and `facts` with {}.", {
        let names: Vec<String> =
            dataset.table.facts.columns().iter().map(|fact| format!("`{}`", fact.name())).collect();
        names.join(", ")
    });
    let _ = writeln!(text, "\nMade with `{made}` (wug {}).", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "\n- Original: <{}>\n- Licence: {}\n", about.homepage, about.licence);
    let _ = writeln!(text, "```bibtex\n{}\n```", about.citation);
    text
}
