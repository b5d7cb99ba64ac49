//! Finds the documents, experiments and published numbers that are compiled in: those of the workspace, or in a package
//! the copies that Cargo makes of the links in this folder.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
    let workspace = package.join("../..");
    let root = if workspace.join("published/scan.toml").is_file() { workspace } else { package };
    println!("cargo::rustc-env=WUG_FILES={}", root.display());
    println!("cargo::rerun-if-changed=build.rs");

    let docs = root.join("docs");
    let mut pages = listed(&docs, "", ".md")?;
    pages.extend(listed(&docs, "results/", ".md")?);
    pages.sort();
    let figures = listed(&docs.join("results/figures"), "", ".svg")?;
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it"));
    let mut code = constant("DOCS", pages.iter().map(|page| (page.clone(), docs.join(format!("{page}.md")))));
    code += &constant(
        "FIGURES",
        figures.iter().map(|name| (format!("{name}.svg"), docs.join(format!("results/figures/{name}.svg")))),
    );
    fs::write(out.join("docs.rs"), code)
}

/// The names of a folder's files with an ending, without it; built again when the folder changes.
fn listed(folder: &Path, below: &str, ending: &str) -> io::Result<Vec<String>> {
    let folder = folder.join(below);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name();
        if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(ending)) {
            names.push(format!("{below}{name}"));
        }
    }
    names.sort();
    Ok(names)
}

/// A list of names with the texts of their files, as code.
fn constant(name: &str, files: impl Iterator<Item = (String, PathBuf)>) -> String {
    let mut code = format!("pub(super) static {name}: &[(&str, &str)] = &[\n");
    for (file, path) in files {
        let _ = writeln!(code, "    ({file:?}, include_str!({:?})),", path.display().to_string());
    }
    code + "];\n"
}
