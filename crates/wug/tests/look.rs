//! What a person sees.

mod common;

use common::ok;

#[test]
fn help() {
    insta::assert_snapshot!("help", ok(&["--help"]));
    for command in [
        "list",
        "show",
        "generate",
        "convert",
        "stream",
        "export",
        "score",
        "run",
        "reproduce",
        "compare",
        "report",
        "gallery",
        "completions",
        "man",
    ] {
        insta::assert_snapshot!(format!("help_{command}"), ok(&[command, "--help"]));
    }
}

#[test]
fn list() {
    insta::assert_snapshot!(ok(&["list"]));
    let listing: serde_json::Value = serde_json::from_str(&ok(&["list", "--json"])).unwrap();
    let names: Vec<&str> = listing["datasets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dataset| dataset["dataset"].as_str().unwrap())
        .collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("scan/")).count(), 115);
    // Every dataset of the grammar can be looked at; those with two numbers differ only in them.
    for dataset in listing["datasets"].as_array().unwrap() {
        let name = dataset["dataset"].as_str().unwrap();
        if (name.starts_with("scan/") || name.starts_with("nacs/"))
            && dataset["rows"] != "import"
            && !name.contains("-rep-")
        {
            ok(&["show", name, "-n", "1"]);
        }
    }
}

#[test]
fn show() {
    insta::assert_snapshot!(ok(&["show", "scan/length#val-length", "-n", "2"]));
    insta::assert_snapshot!(ok(&["show", "nacs/addprim-jump#val-dab", "-n", "1", "--json"]));
}

/// A shell that sources the script completes names.
#[test]
#[cfg(unix)]
fn bash_completes_names() {
    let script = ok(&["completions", "bash"]);
    let complete = |words: &[&str]| {
        let ask = format!(
            "{script}\nCOMP_WORDS=(wug {}); COMP_CWORD={}; _wug wug '{}' '{}'; echo \"${{COMPREPLY[*]}}\"",
            words.join(" "),
            words.len(),
            words[words.len() - 1],
            words[words.len() - 2]
        );
        let output = std::process::Command::new("bash").args(["-c", &ask]).output();
        output.ok().map(|output| String::from_utf8(output.stdout).unwrap().trim().to_owned())
    };
    let Some(datasets) = complete(&["run", "scan/len"]) else {
        eprintln!("skipped: there is no bash");
        return;
    };
    assert_eq!(datasets, "scan/length");
    assert_eq!(
        complete(&["run", "scan/length", "--learner", "transformer-rel-"]).unwrap(),
        "transformer-rel-uni"
    );
    assert_eq!(complete(&["reproduce", "mns/tab"]).unwrap(), "mns/table-1");
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ok(&["completions", shell]);
        // What can be completed beside commands depends on the shell.
        let names: &[&str] = match shell {
            "bash" | "zsh" => &["generate", "scan/addprim-jump", "transformer-rel-uni", "mns/table-1"],
            "fish" => &["generate", "transformer-rel-uni"],
            _ => &["generate"],
        };
        assert!(names.iter().all(|name| script.contains(name)), "{shell}");
    }
    assert!(ok(&["man"]).starts_with(".ie"));
    let folder = tempfile::tempdir().unwrap();
    ok(&["man", "--out", common::text(folder.path())]);
    let pages: Vec<String> = common::files(folder.path()).into_iter().map(|(name, _)| name).collect();
    assert!(pages.contains(&"wug.1".to_owned()) && pages.contains(&"wug-score.1".to_owned()), "{pages:?}");
}

/// `wug list | head -1` is no error.
#[test]
#[cfg(unix)]
fn a_closed_pipe_is_no_error() {
    use std::io::Read;
    use std::process::Stdio;
    let mut child = common::command(&["show", "scan/all", "-n", "20000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap(); // and the pipe is closed
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
