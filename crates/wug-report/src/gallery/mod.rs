//! The web site: pages that are generated from the registries, `published/` and `docs/`. Nothing in it is written twice.

mod benchmark;
mod docs;
mod lists;
mod results;

use std::fmt::Write;
use std::io;
use std::path::Path;

use serde::Serialize;

use wug_bench::BENCHMARKS;
use wug_data::{Folder, Manifest, Result};

use wug_learn::LEARNERS;

use crate::EXPERIMENTS;
use crate::plot::escaped;
use crate::report::{STYLE, TABLES};

const SEARCH: &str = include_str!("search.js");

/// A page of the site.
struct Page {
    /// The name of its file.
    file: String,
    title: String,
    /// What it says, as HTML.
    body: String,
}

impl Page {
    fn new(file: impl Into<String>, title: impl Into<String>, body: String) -> Self {
        Self { file: file.into(), title: title.into(), body }
    }

    fn html(&self, script: &str) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{3} · wug</title>\n<style>{STYLE}</style>\n\
             </head>\n<body>\n<header><nav><a href=\"index.html\"><b>wug</b></a> <a href=\"learners.html\">learners</a> \
             <a href=\"experiments.html\">experiments</a> <a href=\"docs.html\">docs</a> <a href=\"search.html\">search</a></nav></header>\n\
             <main>\n<h1>{0}</h1>\n{1}\n</main>\n<footer>wug {2}</footer>\n<script>{TABLES}{script}</script>\n</body>\n</html>\n",
            inline_code(&self.title),
            self.body,
            env!("CARGO_PKG_VERSION"),
            escaped(&self.title.replace('`', ""))
        )
    }

    /// The words of the page, for the search.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut is_tag = false;
        for c in self.body.chars() {
            match c {
                '<' => is_tag = true,
                '>' => {
                    is_tag = false;
                    text.push(' ');
                }
                c if !is_tag => text.push(c),
                _ => {}
            }
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        words
            .join(" ")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&amp;", "&")
    }
}

/// An entry of the search.
#[derive(Serialize)]
struct Entry<'a> {
    file: &'a str,
    title: &'a str,
    text: String,
}

/// Writes the site into a folder that is new, empty, or was written before. Returns the number of pages.
///
/// # Errors
/// If a dataset cannot be made, or the folder cannot be written.
pub fn write_gallery(target: &Path) -> Result<usize> {
    let results = results::Results::read();
    let mut pages: Vec<Page> = Vec::new();
    for benchmark in BENCHMARKS.iter() {
        pages.push(benchmark::page(benchmark.as_ref(), &results)?);
    }
    pages.push(lists::learners());
    pages.push(lists::experiments()?);
    pages.extend(docs::pages());
    pages.insert(0, index());
    let entries: Vec<Entry<'_>> =
        pages.iter().map(|page| Entry { file: &page.file, title: &page.title, text: page.text() }).collect();
    let data = serde_json::to_string(&entries).unwrap_or_default().replace('<', "\\u003c");
    let body = format!(
        "<input type=\"search\" id=\"query\" placeholder=\"words\" aria-label=\"words\" autofocus><ul id=\"hits\"></ul>\
         <script type=\"application/json\" id=\"pages\">{data}</script>"
    );
    let search = Page::new("search.html", "Search", body);

    let folder = Folder::create(target)?;
    let mut files = Vec::new();
    for page in &pages {
        files.push(folder.file(&page.file, |out| write(out, &page.html("")))?);
    }
    files.push(folder.file(&search.file, |out| write(out, &search.html(SEARCH)))?);
    for (name, svg) in docs::FIGURES {
        files.push(folder.file(&format!("figures/{name}"), |out| write(out, svg))?);
    }
    let results = serde_json::to_string(&results).unwrap_or_default();
    files.push(folder.file("results.json", |out| write(out, &results))?);
    let count = pages.len() + 1;
    folder.finish(&Manifest {
        schema: 1,
        wug: env!("CARGO_PKG_VERSION").to_owned(),
        dataset: "gallery".to_owned(),
        format: "gallery".to_owned(),
        seed: None,
        settings: Vec::new(),
        parts: Vec::new(),
        licence: String::new(),
        files,
    })?;
    Ok(count)
}

fn write(out: &mut impl io::Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())
}

/// Text of the registry, with what stands in backticks as code.
fn inline_code(text: &str) -> String {
    let mut out = String::new();
    for (i, piece) in text.split('`').enumerate() {
        let tag = if i == 0 {
            ""
        } else if i % 2 == 1 {
            "<code>"
        } else {
            "</code>"
        };
        let _ = write!(out, "{tag}{}", escaped(piece));
    }
    out
}

fn index() -> Page {
    let mut body = String::from(
        "<p>Given the parts, do you know the whole? Benchmarks of systematic generalization: data, scores, learners and results, in \
         one tool.</p><table class=\"sortable\"><thead><tr><th>benchmark<th class=\"n\">datasets<th>asks</tr></thead><tbody>",
    );
    for benchmark in BENCHMARKS.iter() {
        let about = benchmark.about();
        let datasets: usize = benchmark.families().iter().map(|family| family.names.len()).sum();
        let _ = write!(
            body,
            "<tr><td><a href=\"benchmark-{}.html\">{}</a><td class=\"n\">{datasets}<td>{}</tr>",
            escaped(about.name),
            escaped(about.title),
            inline_code(about.summary)
        );
    }
    let _ = write!(
        body,
        "</tbody></table><p>A page of a benchmark has its datasets, examples, metrics, and published results beside ours. \
         There are <a href=\"learners.html\">{} learners</a>, from grammars and networks to language models, and \
         <a href=\"experiments.html\">{} tables and figures of the papers</a>, each as one command. \
         <a href=\"docs.html\">The documentation</a> begins with the command line; there is a \
         <a href=\"docs-python.html\">Python package</a>.</p>",
        LEARNERS.len(),
        EXPERIMENTS.len()
    );
    Page::new("index.html", "wug", body)
}
