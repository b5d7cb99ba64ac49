//! The official releases, for tests. They are not part of the project: `WUG_OFFICIAL` names a folder that has them,
//! each unpacked (`$WUG_OFFICIAL/scan/tasks.txt`) or as an archive (`$WUG_OFFICIAL/scan/*.tar.zst`); see
//! docs/official-data.md. A test that needs one says how many comparisons it made or skipped.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Counts comparisons with official files, and prints the count when it goes out of scope.
pub struct Official {
    what: &'static str,
    compared: usize,
    skipped: usize,
}

impl Official {
    /// Starts a count that is printed as that of `what`.
    pub fn new(what: &'static str) -> Self {
        Self { what, compared: 0, skipped: 0 }
    }

    /// Notes comparisons that were made.
    pub fn compared(&mut self, number: usize) {
        self.compared += number;
    }

    /// Notes comparisons that could not be made.
    pub fn skipped(&mut self, number: usize) {
        self.skipped += number;
    }

    /// The folder of a release, or `None` after noting that `comparisons` are skipped.
    pub fn folder(&mut self, name: &str, comparisons: usize) -> Option<PathBuf> {
        let folder = std::env::var_os("WUG_OFFICIAL").and_then(|root| unpacked(&Path::new(&root).join(name)));
        if folder.is_none() {
            self.skipped += comparisons;
        }
        folder
    }
}

impl Drop for Official {
    fn drop(&mut self) {
        let hint = if self.skipped > 0 { " (set WUG_OFFICIAL: docs/official-data.md)" } else { "" };
        // Not `eprintln!`: the test runner would hide it.
        let _ = writeln!(
            std::io::stderr(),
            "official: {} compared, {} skipped: {}{hint}",
            self.compared,
            self.skipped,
            self.what
        );
    }
}

/// A release as a folder of plain files: itself, or its archives unpacked once below `target/official`.
fn unpacked(release: &Path) -> Option<PathBuf> {
    let archives: Vec<PathBuf> = fs::read_dir(release)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().contains(".tar."))
        .collect();
    if archives.is_empty() {
        return Some(release.to_owned());
    }
    let target =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/official").join(release.file_name()?);
    if target.is_dir() {
        return Some(target);
    }
    let partial =
        target.with_extension(format!("partial-{}-{:?}", std::process::id(), std::thread::current().id()));
    fs::create_dir_all(&partial).ok()?;
    for archive in archives {
        let program = if archive.extension()? == "zst" { "zstd -d --long=31" } else { "xz -d" };
        let unpacked = Command::new("tar")
            .arg(format!("--use-compress-program={program}"))
            .args(["-x", "-f"])
            .arg(&archive)
            .arg("-C")
            .arg(&partial)
            .status();
        if !unpacked.is_ok_and(|status| status.success()) {
            let _ = fs::remove_dir_all(&partial);
            let _ =
                writeln!(std::io::stderr(), "official: cannot unpack {} (tar, zstd, xz?)", archive.display());
            return None;
        }
    }
    // Another test may have been faster.
    if fs::rename(&partial, &target).is_err() {
        let _ = fs::remove_dir_all(&partial);
    }
    target.is_dir().then_some(target)
}
