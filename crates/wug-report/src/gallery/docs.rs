//! The documents of `docs/` as pages.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, html};

use super::{Page, inline_code};
use crate::plot::escaped;

// `DOCS`: paths and texts of all documents, `docs/**/*.md`. `FIGURES`: names and texts of those that they show,
// `docs/results/figures/*.svg`. The build script lists them.
include!(concat!(env!("OUT_DIR"), "/docs.rs"));

/// The file of a document's page.
pub(super) fn file(name: &str) -> String {
    format!("docs-{}.html", name.replace('/', "-"))
}

/// Whether there is a page of a document with this file.
fn has(wanted: &str) -> bool {
    DOCS.iter().any(|(name, _)| file(name) == wanted)
}

/// A page for each document, and one that lists them.
pub(super) fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = DOCS.iter().map(|(name, text)| page(name, text)).collect();
    let links =
        pages.iter().map(|page| format!("<li><a href=\"{}\">{}</a>", page.file, inline_code(&page.title)));
    let list = format!("<ul>{}</ul>", links.collect::<String>());
    pages.insert(0, Page::new("docs.html", "Documentation", list));
    pages
}

fn page(name: &str, text: &str) -> Page {
    let (heading, rest) = text.split_once('\n').unwrap_or((text, ""));
    let title = heading.trim_start_matches('#').trim();
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    let events = Parser::new_ext(rest, options).map(|event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: link(name, &dest_url), title, id })
        }
        // Documents are text; what looks like markup in them is shown.
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        event => event,
    });
    let mut body = String::new();
    html::push_html(&mut body, events);
    Page::new(file(name), title, body)
}

/// A link of the registry, `https://...` or `docs/scan.md`, as HTML.
pub(super) fn reference(target: &str) -> String {
    let page = target.strip_prefix("docs/").and_then(|path| path.strip_suffix(".md")).map(file);
    let text = escaped(target);
    match page.filter(|page| has(page)) {
        Some(page) => format!("<a href=\"{page}\">{text}</a>"),
        None if target.starts_with("https://") => format!("<a href=\"{text}\">{text}</a>"),
        None => text,
    }
}

/// A link to another document as one to its page; one to a file that is no page leads to nowhere but the text.
fn link<'a>(from: &str, target: &str) -> CowStr<'a> {
    if target.contains("://") || target.starts_with('#') {
        return target.to_owned().into();
    }
    let (path, fragment) =
        target.split_once('#').map_or((target, None), |(path, fragment)| (path, Some(fragment)));
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let name = parts.join("/");
    let page = name.strip_suffix(".md").map(file).filter(|file| has(file));
    let fragment = fragment.map_or(String::new(), |fragment| format!("#{fragment}"));
    page.map_or_else(|| "docs.html".into(), |page| format!("{page}{fragment}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_and_figure_has_its_page() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let names = |folder: &std::path::Path, extension: &str| -> Vec<String> {
            let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
            let mut names: Vec<String> = entries
                .filter(|path| path.extension().is_some_and(|own| own == extension))
                .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            names.sort();
            names
        };
        let mut docs = names(&folder, "md");
        docs.extend(names(&folder.join("results"), "md").iter().map(|name| format!("results/{name}")));
        docs.sort();
        assert_eq!(DOCS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), docs);
        let figures: Vec<String> =
            names(&folder.join("results/figures"), "svg").iter().map(|name| format!("{name}.svg")).collect();
        assert_eq!(FIGURES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), figures);
    }

    #[test]
    fn links_lead_to_pages() {
        assert_eq!(&*link("results/hint", "../mns.md#x"), "docs-mns.html#x");
        assert_eq!(&*link("results/hint", "scan.md"), "docs-results-scan.html");
        assert_eq!(&*link("engine", "../crates/wug-nn/src/network.rs"), "docs.html");
    }
}
