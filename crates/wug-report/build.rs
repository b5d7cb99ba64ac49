//! Finds the documents, experiments and published numbers that are compiled in: those of the workspace, or in a package
//! the copies that Cargo makes of the links in this folder.

use std::path::Path;

fn main() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = package.join("../..");
    let root = if workspace.join("published/scan.toml").is_file() { &workspace } else { package };
    println!("cargo::rustc-env=WUG_FILES={}", root.display());
    println!("cargo::rerun-if-changed=build.rs");
}
