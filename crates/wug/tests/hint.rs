//! HINT on the command line: what is written can be read again, what is wrong is named.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use wug_data::Picture;

/// Small enough to be made in a moment.
const SMALL: [&str; 6] = ["--with", "train=60", "--with", "val=20", "--with", "test=40"];

fn wug(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wug")).args(arguments).output().unwrap()
}

fn done(arguments: &[&str]) -> String {
    let output = wug(arguments);
    let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{arguments:?}: {error}");
    out
}

fn fails(arguments: &[&str], code: i32) -> String {
    let output = wug(arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

fn generated(folder: &Path, dataset: &str, format: &str) -> PathBuf {
    let out = folder.join(format!("{}-{format}", dataset.replace('/', "-")));
    let arguments = ["generate", dataset, "--format", format, "--out", out.to_str().unwrap()];
    done(&with(&arguments, &SMALL));
    out
}

#[test]
fn every_format_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let first = done(&with(&["show", "hint/symbol#test", "-n", "4000", "--json"], &SMALL));
    for format in ["native", "jsonl", "parquet"] {
        let out = generated(folder.path(), "hint/symbol", format);
        let again =
            done(&["show", "hint/symbol#test", "-n", "4000", "--json", "--data", out.to_str().unwrap()]);
        assert_eq!(first, again, "{format}");
    }
}

#[test]
fn few_shot_files_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    for dataset in ["hint/fewshot-x", "hint/fewshot-d"] {
        let test = format!("{dataset}#test");
        let first = done(&with(&["show", &test, "-n", "4000", "--json"], &SMALL));
        let native = generated(folder.path(), dataset, "native");
        let again = done(&["show", &test, "-n", "4000", "--json", "--data", native.to_str().unwrap()]);
        assert_eq!(first, again, "{dataset}");
        let file = fs::read_dir(&native)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.to_str().unwrap().contains("test"))
            .unwrap();
        for (text, what) in [("{\"expr\": 3}", "JSON"), ("[{\"expr\": \"1+1\"", "JSON")] {
            fs::write(&file, text).unwrap();
            let error = fails(&["show", &test, "--data", native.to_str().unwrap()], 1);
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(error.contains(name), "{what}: {error}");
        }
    }
}

/// Whatever is wrong, the folder that was asked for is not there.
#[test]
fn nothing_is_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let glyphs = folder.path().join("glyphs");
    let out = folder.path().join("out");
    let fresh = |files: &[(&str, &str)]| {
        let _ = fs::remove_dir_all(&glyphs);
        for (name, content) in files {
            let path = glyphs.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    };
    let generate = |arguments: &[&str], code: i32, what: &str| {
        let all = with(&["generate", "hint/image", "--out", out.to_str().unwrap()], &SMALL);
        let error = fails(&with(&all, arguments), code);
        assert!(error.contains(what), "{error}");
        assert!(!out.exists(), "{what}");
    };
    let inkml = format!("inkml:{}", glyphs.display());
    let images = format!("images:{}", glyphs.display());
    fresh(&[("a.inkml", "<ink><trace>1 2")]);
    generate(&["--glyphs", &inkml], 1, "a.inkml");
    fresh(&[("0/a.png", "no picture")]);
    generate(&["--glyphs", &images], 1, "a.png");
    fresh(&[("1/a.png", "no picture")]);
    fs::create_dir(glyphs.join("0")).unwrap();
    generate(&["--glyphs", &images], 1, "has no image");
    fresh(&[("expr_train.json", "{\"id\": 1}"), ("expr_val.json", "[]"), ("expr_test.json", "[]")]);
    generate(&["--data", glyphs.to_str().unwrap()], 1, "expr_train.json");
    generate(&["--with", "operators=500"], 2, "operators");
    generate(
        &["--with", "operators=3", "--with", "train-operators=3", "--with", "train=9000000"],
        2,
        "cannot be",
    );
}

#[test]
fn an_altered_row_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let lines = generated(folder.path(), "hint/symbol", "jsonl");
    let native = generated(folder.path(), "hint/symbol", "native");
    let alter = |path: &Path, line: usize, change: &dyn Fn(&str) -> String| {
        let text = fs::read_to_string(path).unwrap();
        let changed: Vec<String> = text
            .lines()
            .enumerate()
            .map(|(i, old)| if i == line { change(old) } else { old.to_owned() })
            .collect();
        fs::write(path, changed.join("\n")).unwrap();
        text
    };
    let check = |folder: &Path, wanted: &str| {
        let error = fails(&["show", "hint/symbol", "--data", folder.to_str().unwrap()], 1);
        assert!(error.contains(wanted), "{error} ({wanted})");
    };
    let (test, train) = (lines.join("test.jsonl"), lines.join("train.jsonl"));
    let kept = alter(&test, 700, &|old| old.replacen("\"target\":\"", "\"target\":\"9", 1));
    check(&lines, "test.jsonl:701: ");
    fs::write(&test, kept).unwrap();
    let kept = alter(&train, 9, &|_| r#"{"input":"9*9*9","target":"729"}"#.to_owned());
    check(&lines, "train.jsonl: line 10: `9*9*9` has a part worth 729; train has at most 100");
    fs::write(&train, kept).unwrap();

    let test = native.join("expr_test.json");
    for (from, to, wanted) in [
        ("\"res\": ", "\"res\": 1", "row 700: "),
        ("\"head\": [", "\"head\": [7, ", "row 700: `head` of"),
        ("\"eval\": \"", "\"eval\": \"X", "row 700: belongs to subset "),
        ("\"expr\": \"", "\"expr\": \"1+", "row 700: "),
        ("{\"id\"", "{\"id\": [}", "expr_test.json:701: "),
    ] {
        let kept = alter(&test, 700, &|old| old.replacen(from, to, 1));
        check(&native, wanted);
        fs::write(&test, kept).unwrap();
    }
    fs::write(&test, "{\"rows\": []}").unwrap();
    check(&native, "expected a list of expressions");
}

#[test]
fn pictures_are_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let lines = generated(folder.path(), "hint/fewshot-x-image", "jsonl");
    let first = fs::read_to_string(lines.join("test.jsonl")).unwrap();
    let row: serde_json::Value = serde_json::from_str(first.lines().nth(30).unwrap()).unwrap();
    let image = row["image"].as_str().unwrap();
    assert_eq!(image, "images/test/test_00000030.png");
    let picture = Picture::from_png(&fs::read(lines.join(image)).unwrap()).unwrap();
    let symbols = row["input"].as_str().unwrap().len() as u32;
    assert_eq!((picture.width, picture.height), (45 * symbols, 45));
    let manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(lines.join("wug.json")).unwrap()).unwrap();
    let entry =
        manifest["files"].as_array().unwrap().iter().find(|file| file["path"] == "images/test/").unwrap();
    assert_eq!(entry["pictures"].as_u64().unwrap() as usize, first.lines().count());

    let columns = generated(folder.path(), "hint/fewshot-x-image", "parquet");
    let bytes = fs::read(columns.join("test.parquet")).unwrap();
    let png = fs::read(lines.join(image)).unwrap();
    assert!(bytes.windows(6).any(|window| window == b"Image\""), "the Image feature is declared");
    assert!(
        bytes.windows(16).any(|window| window == &png[png.len() - 28..png.len() - 12]),
        "the same picture"
    );

    // Writing again replaces, and leaves nothing behind.
    let out = lines.to_str().unwrap();
    done(&with(&["generate", "hint/fewshot-x-image#val", "--out", out, "--limit", "3"], &SMALL));
    let mut left: Vec<String> = fs::read_dir(lines.join("images"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["val"]);
    assert_eq!(fs::read_dir(lines.join("images/val")).unwrap().count(), 4, "three pictures and their list");
}

#[test]
fn native_images_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let native = folder.path().join("native");
    let arguments = ["generate", "hint/image", "--format", "native", "--out", native.to_str().unwrap()];
    done(&with(&arguments, &SMALL));
    let sheet = |name: &str, more: &[&str]| {
        let path = folder.path().join(name);
        let show = ["show", "hint/image#test-LL", "-n", "6", "--out", path.to_str().unwrap()];
        done(&with(&show, more));
        Picture::from_png(&fs::read(path).unwrap()).unwrap()
    };
    let drawn = sheet("drawn.png", &SMALL);
    let read = sheet("read.png", &["--data", native.to_str().unwrap()]);
    assert_eq!(drawn, read, "the images of every token are kept");
    assert!(drawn.height == 6 * 49 && drawn.pixels.iter().any(|&pixel| pixel < 100));

    let broken = fs::read_dir(native.join("symbol_images/8")).unwrap().next().unwrap().unwrap().path();
    fs::write(&broken, "no picture").unwrap();
    let error = fails(&["show", "hint/image", "--data", native.to_str().unwrap()], 1);
    assert!(error.contains(broken.file_name().unwrap().to_str().unwrap()), "{error}");
}

#[test]
fn harder_layouts_and_glyphs_are_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sheet.png");
    let show = ["show", "hint/image#test-SS", "-n", "4", "--out", path.to_str().unwrap()];
    let layout = ["--with", "gap=30", "--with", "baseline=8", "--with", "scale=0.5", "--with", "pen=thin"];
    done(&with(&with(&show, &SMALL), &layout));
    assert!(Picture::from_png(&fs::read(&path).unwrap()).unwrap().width > 45);
    let text = done(&with(&["show", "hint/image#test-SS", "-n", "1", "--pictures", "blocks"], &SMALL));
    // Half blocks, or dots of Braille where they would not fit.
    assert!(text.contains(|c| matches!(c, '█' | '▀' | '\u{2801}'..='\u{28ff}')), "{text}");
    assert!(text.lines().skip(4).take(10).all(|line| line.chars().count() <= 80), "{text}");

    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let glyphs = format!("inkml:{}", empty.display());
    let out = folder.path().join("out");
    let arguments = ["generate", "hint/image", "--glyphs", &glyphs, "--out", out.to_str().unwrap()];
    let error = fails(&with(&arguments, &SMALL), 1);
    assert!(error.contains("has no .inkml file"), "{error}");
    assert!(!out.exists(), "nothing is half-written");
    let glyphs = format!("images:{}", empty.display());
    let error = fails(&with(&["show", "hint/image", "--glyphs", &glyphs], &SMALL), 1);
    assert!(error.contains("has no folder `0`"), "{error}");
    fails(&["show", "hint/image", "--glyphs", "mnist"], 2);
    fails(&["show", "hint/symbol", "--with", "operators"], 2);
    fails(&["show", "scan/length", "--with", "operators=3"], 2);
    fails(&["show", "hint/symbol", "--with", "test=4", "--seed", "official"], 2);
}

#[test]
fn scores_are_those_of_the_paper() {
    let folder = tempfile::tempdir().unwrap();
    let shown = done(&with(&["show", "hint/symbol#test", "-n", "100000", "--json"], &SMALL));
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    // A model that knows every result up to 100 and says 100 for all others.
    let answers: Vec<String> = shown["examples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|example| {
            let result: u64 = example["target"].as_str().unwrap().parse().unwrap();
            result.min(100).to_string()
        })
        .collect();
    let file = folder.path().join("answers.txt");
    fs::write(&file, answers.join("\n")).unwrap();
    let score =
        ["score", "hint/symbol", "--predictions", file.to_str().unwrap(), "--by", "result", "--importance"];
    let report: serde_json::Value =
        serde_json::from_str(&done(&with(&with(&score, &["--json"]), &SMALL))).unwrap();
    let part = &report["parts"][0];
    let slices = part["slices"].as_array().unwrap();
    let slice = |name: &str| slices.iter().find(|slice| slice["slice"] == name).unwrap();
    for name in ["I", "SS", "LS"] {
        assert_eq!(slice(name)["accuracy"], 1.0, "{name}");
    }
    assert_eq!(slice("result above 100")["correct"], 0);
    let sum: u64 =
        ["I", "SS", "LS", "SL", "LL"].iter().map(|name| slice(name)["correct"].as_u64().unwrap()).sum();
    assert_eq!(part["correct"], sum, "the average is over all rows");
    let shares = slice("LL")["importance"]["shares"].as_array().unwrap();
    let result = shares.iter().find(|share| share["fact"] == "result").unwrap()["share"].as_f64().unwrap();
    assert!(result > 0.8, "only the result decides here: {result}");
    let groups = part["by"]["groups"].as_array().unwrap();
    assert!(groups.iter().any(|group| group["value"] == "20-29" && group["accuracy"] == 1.0));
    assert!(groups.iter().any(|group| group["value"] == "101-999" && group["accuracy"] == 0.0));
    let text = done(&with(&score, &SMALL));
    assert!(text.contains("  LL") && text.contains("what decides"), "{text}");
}

#[test]
fn statistics_are_shown_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("stats");
    let text = done(&with(&["show", "hint/image", "--stats", "--out", out.to_str().unwrap()], &SMALL));
    assert!(text.contains("KL(train || test)") && text.contains("images of each symbol (Fig. A1)"));
    for name in ["size", "symbol", "operators", "length", "depth", "dependency", "result", "image"] {
        assert!(fs::read_to_string(out.join(format!("{name}.csv"))).unwrap().starts_with(name));
        assert!(fs::read_to_string(out.join(format!("{name}.svg"))).unwrap().starts_with("<svg"));
    }
    let image = fs::read_to_string(out.join("image.csv")).unwrap();
    assert!(image.contains("8,6000,400,1600"), "{image}");
}
