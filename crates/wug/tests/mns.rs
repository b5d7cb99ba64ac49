//! MNS and `wug run` from the outside.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn wug(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wug")).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = wug(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Exit code and message of a command that fails.
fn error(arguments: &[&str]) -> (i32, String) {
    let output = wug(arguments);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap().trim().to_owned())
}

fn accuracy(arguments: &[&str]) -> f64 {
    json(arguments)["parts"][0]["accuracy"].as_f64().unwrap()
}

#[test]
fn learners_reach_what_they_should() {
    // 280 problems, ten of each condition: bounds are several standard deviations wide.
    let run = |learner: &str, set: &str| {
        let mut arguments = vec!["run", "mns/circle", "--learner", learner, "--limit", "280", "--json"];
        if learner.starts_with("search") || learner == "bayes" {
            arguments.extend(["--reads", "symbols"]);
        }
        if !set.is_empty() {
            arguments.extend(["--set", set]);
        }
        accuracy(&arguments)
    };
    assert!(run("bayes", "") > 0.975);
    assert!(run("bayes-image", "") > 0.975);
    assert!(run("bayes-image", "noise=0.05") > 0.96);
    assert!((0.1..0.3).contains(&run("always-one", "")));
    assert!(run("chance", "") < 0.06);
    assert!((0.42..0.62).contains(&run("search-pure", "")));
    assert!((0.46..0.67).contains(&run("search-context", "official-bug=true")));
    assert!(run("search-pure", "steps=10") < 0.2);
}

#[test]
fn a_run_leaves_a_folder_that_scores_the_same() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let out = out.to_str().unwrap();
    let run = ["run", "mns/circle#val", "--learner", "bayes", "--reads", "symbols", "--limit", "56"];
    let arguments = [&run[..], &["--out", out, "--json"]].concat();
    let report = json(&arguments);
    let description: Value = serde_json::from_slice(&fs::read(format!("{out}/run.json")).unwrap()).unwrap();
    assert_eq!(description["spec"]["learner"], "bayes");
    assert_eq!(description["spec"]["parts"], serde_json::json!(["val"]));
    assert_eq!(description["spec"]["reads"], "symbols");
    assert_eq!((&report["reads"], &description["status"]), (&"symbols".into(), &"done".into()));
    let predictions = format!("{out}/predictions.jsonl");
    let scored = json(&["score", "mns/circle#val", "--predictions", &predictions, "--limit", "56", "--json"]);
    assert_eq!(scored["parts"], report["parts"]);
    let scores: Value = serde_json::from_slice(&fs::read(format!("{out}/scores.json")).unwrap()).unwrap();
    assert_eq!(scores, report);
    let (code, message) = error(&arguments);
    assert_eq!(code, 2);
    assert!(message.contains("holds the finished run of bayes on mns/circle#val, seed 0"), "{message}");
    assert!(message.contains("--resume") && message.contains("--force"), "{message}");
    assert_eq!(json(&[&arguments[..], &["--force"]].concat()), report, "a second run is the same");
}

#[test]
fn one_line_says_what_is_wrong() {
    let (code, message) = error(&["run", "mns/circle", "--learner", "bays"]);
    assert_eq!(code, 2);
    assert!(
        message.starts_with("error: no learner `bays`; did you mean bayes? (there are: always-one, "),
        "{message}"
    );
    assert_eq!(
        error(&["run", "scan/length", "--learner", "bayes"]),
        (2, "error: bayes is for mns, not for scan/length".to_owned())
    );
    for (set, message) in [
        ("steps", "error: `steps` is no setting: expected name=value"),
        (
            "step=5",
            "error: search-context has no setting `step`; did you mean steps? (there are: steps, official-bug)",
        ),
        ("steps=0", "error: `steps=0`: expected a whole number from 1 to 1000000000 for steps"),
        ("official-bug=maybe", "error: `official-bug=maybe`: expected true or false for official-bug"),
    ] {
        let arguments = ["run", "mns/circle", "--learner", "search-context", "--set", set];
        assert_eq!(error(&arguments), (2, message.to_owned()));
    }
}

#[test]
fn explanations_show_the_calculation() {
    let output = wug(&[
        "run",
        "mns/circle",
        "--learner",
        "bayes",
        "--reads",
        "symbols",
        "--limit",
        "28",
        "--explain-first",
        "2",
    ]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("? = ") && text.contains("probability"), "{text}");
    let shown = json(&["show", "mns/circle", "-n", "1", "--answer", "--json"]);
    assert!(shown["examples"][0]["derivation"].as_str().unwrap().contains(" -> "), "{shown}");
}

#[test]
fn problems_from_elsewhere_are_solved() {
    let folder = TempDir::new().unwrap();
    let lines = concat!(
        r#"{"input":"combination overlap : 54 22 | 67 9 | 17 ?","target":"59"}"#,
        "\n",
        r#"{"input":"composition line : 5 49 40 37 = 28 | 1 80 39 33 = 7 | 67 63 ? 59 = 75","target":"3"}"#,
        "\n",
    );
    fs::write(folder.path().join("test.jsonl"), lines).unwrap();
    let data = folder.path().to_str().unwrap();
    let report =
        json(&["run", "mns/circle", "--data", data, "--learner", "bayes", "--reads", "symbols", "--json"]);
    assert_eq!(report["parts"][0]["n"], 2);
    assert!(report["parts"][0]["correct"].as_u64().unwrap() >= 1);

    fs::write(folder.path().join("test.jsonl"), lines.replace("| 17 ?", "| 17 ? 4")).unwrap();
    let (code, message) =
        error(&["run", "mns/circle", "--data", data, "--learner", "bayes", "--reads", "symbols"]);
    assert_eq!(code, 1);
    assert!(
        message.ends_with("test.jsonl:1: panel 3: more than the 2 numbers of combination overlap"),
        "{message}"
    );
}

#[test]
fn files_come_back() {
    let folder = TempDir::new().unwrap();
    let run = |data: Option<&str>| {
        let mut arguments =
            vec!["run", "mns/shapes", "--learner", "bayes-image", "--limit", "94", "--by", "subset"];
        arguments.extend(["--json"]);
        if let Some(data) = data {
            arguments.extend(["--data", data]);
        }
        json(&arguments)
    };
    let drawn = run(None);
    for format in ["jsonl", "parquet", "native"] {
        let out = folder.path().join(format);
        let out = out.to_str().unwrap();
        let arguments = ["generate", "mns/shapes#test", "--limit", "94", "--format", format, "--out", out];
        assert!(wug(&arguments).status.success());
        let read = run(Some(out));
        assert_eq!(read["parts"][0]["n"], 94, "{format}");
        // The order of native files is that of their names.
        assert_eq!(read["parts"][0]["correct"], drawn["parts"][0]["correct"], "{format}");
    }
}

#[test]
fn an_altered_line_is_named() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("data");
    let out = out.to_str().unwrap();
    assert!(wug(&["generate", "mns/circle#test", "--limit", "28", "--out", out]).status.success());
    let file = format!("{out}/test.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let second = text.lines().nth(1).unwrap();
    let mut altered: Value = serde_json::from_str(second).unwrap();
    altered["target"] = "97".into();
    fs::write(&file, text.replacen(second, &altered.to_string(), 1)).unwrap();
    let (code, message) = error(&["show", "mns/circle", "--data", out]);
    assert_eq!(code, 1);
    assert!(message.ends_with("test.jsonl:2: no calculation of the grammar gives 97"), "{message}");
}

/// A stored zip archive with one member, as plain as can be.
fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(u32::MAX, |crc, &byte| {
            (0..8).fold(
                crc ^ u32::from(byte),
                |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 },
            )
        })
    };
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 33, 0];
        common.extend(crc(content).to_le_bytes());
        common.extend((content.len() as u32).to_le_bytes());
        common.extend((content.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        directory.extend([b"PK\x01\x02\x14\x00".as_slice(), &common, &[0; 10]].concat());
        directory.extend((file.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        file.extend([b"PK\x03\x04".as_slice(), &common, name.as_bytes(), content].concat());
    }
    let (at, number) = (file.len() as u32, (members.len() as u16).to_le_bytes());
    file.extend(&directory);
    file.extend([b"PK\x05\x06\0\0\0\0".as_slice(), &number, &number].concat());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    file
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), data].concat()
}

#[test]
fn bad_npz_files_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("prob_3_x.npz");
    let image = |shape: &str, size: usize| npy("|u1", shape, &vec![255; size]);
    let target = npy("<i8", "()", &7i64.to_le_bytes());
    let good = image("(3, 160, 160)", 3 * 160 * 160);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"no zip at all".to_vec(), "is no complete zip archive"),
        (
            archive(&[("image.npy", good.clone()), ("target.npy", target.clone())])[..5000].to_vec(),
            "is no complete zip",
        ),
        (archive(&[("picture.npy", good.clone())]), "has no array `target`; it has: picture"),
        (archive(&[("target.npy", target.clone())]), "has no array `image`"),
        (
            archive(&[("image.npy", npy("<f4", "(3, 2, 2)", &[0; 48])), ("target.npy", target.clone())]),
            "member `image.npy` has the type `<f4`; bytes, whole numbers and texts are known",
        ),
        (
            archive(&[("image.npy", npy("<i8", "(1,)", &[0; 8])), ("target.npy", target.clone())]),
            "`image` must be of type uint8",
        ),
        (
            archive(&[("image.npy", image("(3, 80, 80)", 3 * 80 * 80)), ("target.npy", target.clone())]),
            "`image` has the shape [3, 80, 80], not (3, 160, 160)",
        ),
        (
            archive(&[("image.npy", image("(3, 160, 160)", 99)), ("target.npy", target.clone())]),
            "has 99 bytes of data, not those of 76800 values of type `|u1`",
        ),
        (
            archive(&[("image.npy", good.clone()), ("target.npy", npy("<i8", "()", &0i64.to_le_bytes()))]),
            "`target` is no single whole number from 1 to 999",
        ),
        (
            archive(&[("image.npy", good), ("target.npy", npy("|O", "()", b"\x80\x03cos\nsystem\n."))]),
            "holds Python objects (a pickle), which are never read",
        ),
    ];
    for (file, message) in cases {
        fs::write(&path, file).unwrap();
        check(folder.path(), message);
    }
}

fn check(folder: &Path, message: &str) {
    let (code, said) = error(&["show", "mns/circle", "--data", folder.to_str().unwrap()]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains(message) && said.contains("prob_3_x.npz"), "{said}\nshould say: {message}");
}

#[test]
fn experiments_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/mns");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let experiment: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let dataset =
            format!("{}#{}", experiment["dataset"].as_str().unwrap(), experiment["part"].as_str().unwrap());
        for row in experiment["row"].as_array().unwrap() {
            if let Some(published) = row.get("published") {
                let columns = experiment["columns"].as_array().unwrap().len();
                assert_eq!(published.as_array().unwrap().len(), columns, "{row}");
            }
            let Some(run) = row.get("run") else { continue };
            let mut arguments: Vec<String> =
                ["run", &dataset, "--learner", run["learner"].as_str().unwrap(), "--limit", "28", "--json"]
                    .map(str::to_owned)
                    .to_vec();
            for (name, value) in run.get("set").and_then(toml::Value::as_table).into_iter().flatten() {
                arguments.extend(["--set".to_owned(), format!("{name}={value}")]);
            }
            // Networks, which follow a protocol, are trained as long as it takes to see that they run.
            arguments.extend(run.get("protocol").map(|_| "--set=steps=2".to_owned()));
            arguments.extend(run.get("reads").map(|reads| format!("--reads={}", reads.as_str().unwrap())));
            arguments.extend(experiment.get("by").map(|by| format!("--by={}", by.as_str().unwrap())));
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            assert_eq!(json(&arguments)["parts"][0]["n"], 28, "{}", path.display());
        }
    }
}

#[test]
fn problems_are_drawn_as_svg() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("problems.svg");
    let path = file.to_str().unwrap();
    for (number, drawings) in [("1", 1), ("3", 4)] {
        json(&["show", "mns/shapes", "-n", number, "--out", path, "--json"]);
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.matches("<svg ").count(), drawings, "a drawing each, and one around several");
        assert_eq!(text.matches("</svg>").count(), drawings);
        assert!(text.contains("<title>combination overlap triangle :"), "{text}");
    }
    let (code, message) = error(&["show", "scan/simple", "--out", path]);
    assert_eq!((code, message.contains("has no drawings")), (2, true), "{message}");
}

#[test]
fn pictures_can_be_left_out() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("data");
    let arguments = ["generate", "mns/circle", "--limit", "30", "--no-pictures", "--out"];
    let all = |more: &[&'static str]| wug(&[&arguments[..], &[out.to_str().unwrap()], more].concat());
    assert!(all(&["--quiet"]).status.success());
    assert!(!out.join("images").exists());
    let line = fs::read_to_string(out.join("test.jsonl")).unwrap();
    let row: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert!(row["image"].is_null() && row["input"].is_string());
    let card = fs::read_to_string(out.join("README.md")).unwrap();
    assert!(card.contains("--no-pictures"), "{card}");
    assert_eq!(all(&["--format", "native"]).status.code(), Some(2));
}
