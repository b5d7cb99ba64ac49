//! COGS and ReCOGS from the command line.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn wug(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wug")).args(args).current_dir(folder).output().expect("wug runs")
}

/// Runs and expects success; gives standard output.
fn ok(folder: &Path, args: &[&str]) -> String {
    let output = wug(folder, args);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {out}{err}");
    out.into_owned()
}

/// Runs and expects this exit code; gives standard error.
fn fails(folder: &Path, code: i32, args: &[&str]) -> String {
    let output = wug(folder, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn what_is_generated_can_be_read_converted_and_scored() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    ok(folder, &["generate", "cogs/main", "--out", "main", "--format", "native", "--quiet"]);
    let sizes =
        ["train", "dev", "test", "gen"].map(|part| read(folder, &format!("main/{part}.tsv")).lines().count());
    assert_eq!(sizes, [24_155, 3_000, 3_000, 21_000]);

    // The number of threads makes no difference.
    let one = Command::new(env!("CARGO_BIN_EXE_wug"))
        .args(["generate", "cogs/main#gen", "--out", "one", "--format", "native", "--quiet"])
        .env("RAYON_NUM_THREADS", "1")
        .current_dir(folder)
        .status();
    assert!(one.unwrap().success());
    assert!(read(folder, "one/gen.tsv") == read(folder, "main/gen.tsv"));

    // A variant is its conversion.
    for (variant, part) in
        [("cogs/variable-free", "dev"), ("cogs/remove-x-paren", "test"), ("recogs/v1", "dev")]
    {
        let out = variant.replace('/', "-");
        ok(
            folder,
            &["generate", &format!("{variant}#{part}"), "--out", &out, "--format", "native", "--quiet"],
        );
        let input = format!("main/{part}.tsv");
        ok(folder, &["convert", "cogs", variant, "--in", &input, "--out", "converted/out.tsv"]);
        let file = fs::read_dir(folder.join(&out)).unwrap().map(|entry| entry.unwrap().path());
        let file = file.into_iter().find(|path| path.extension().is_some_and(|end| end == "tsv")).unwrap();
        assert!(fs::read_to_string(file).unwrap() == read(folder, "converted/out.tsv"), "{variant}");
        // And can be read back, every row checked.
        ok(folder, &["show", &format!("{variant}#{part}"), "--data", &out, "-n", "1"]);
    }

    // JSONL keeps the types, and gold scores as it should.
    ok(folder, &["generate", "cogs/main#gen", "--out", "json", "--quiet"]);
    ok(
        folder,
        &["generate", "cogs/main#gen", "--data", "json", "--out", "back", "--format", "native", "--quiet"],
    );
    assert!(read(folder, "back/gen.tsv") == read(folder, "main/gen.tsv"));
    let gold = read(folder, "main/gen.tsv");
    let targets: Vec<&str> = gold.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    fs::write(folder.join("gold.txt"), targets.join("\n")).unwrap();
    for metric in ["exact", "index-invariant", "sem"] {
        let report = ok(
            folder,
            &[
                "score",
                "cogs/main",
                "--data",
                "main",
                "--predictions",
                "gold.txt",
                "--metric",
                metric,
                "--json",
            ],
        );
        assert!(
            report.contains("\"correct\": 21000") && report.contains("\"undecided\": 0"),
            "{metric}: {report}"
        );
    }

    // One altered line is an error that names it.
    let altered = read(folder, "main/dev.tsv").replacen(" . theme", " . agent", 1);
    let line =
        read(folder, "main/dev.tsv").lines().zip(altered.lines()).position(|(a, b)| a != b).unwrap() + 1;
    fs::write(folder.join("main/dev.tsv"), altered).unwrap();
    let error = fails(folder, 1, &["show", "cogs/main", "--data", "main"]);
    assert!(error.contains(&format!("dev.tsv:{line}:")) && error.contains("means"), "{error}");
}

#[test]
fn a_wrong_prediction_is_explained() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    fs::write(
        folder.join("gold.tsv"),
        "The girl ate a cake .\t* girl ( 1 ) ; cake ( 4 ) ; eat ( 2 ) AND agent ( 2 , 1 ) AND theme ( 2 , 4 )\tx\n\
         Emma slept .\tEmma ( 0 ) ; sleep ( 1 ) AND agent ( 1 , 0 )\tx\n",
    )
    .unwrap();
    fs::write(
        folder.join("said.txt"),
        "eat ( 5 ) AND agent ( 5 , 6 ) AND * girl ( 6 ) AND cake ( 7 ) AND recipient ( 5 , 7 )\n\
         sleep ( 8 ) AND agent ( 8 , 9 ) AND Emma ( 9 )\n",
    )
    .unwrap();
    let args = [
        "score",
        "recogs/v2",
        "--gold",
        "gold.tsv",
        "--predictions",
        "said.txt",
        "--explain",
        "gen_00000000",
        "--explain",
        "gen_00000001",
    ];
    let shown = ok(folder, &args);
    for line in ["missing  theme ( 2 , 4 )", "extra    recipient ( 5 , 7 )", "right by sem", "50.00%"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let error = fails(
        folder,
        2,
        &["score", "recogs/v2", "--gold", "gold.tsv", "--predictions", "said.txt", "--explain", "gen_7"],
    );
    assert!(error.contains("gen_7"), "{error}");
    fs::write(folder.join("bytes.txt"), b"Emma\n\xff\xfe\n").unwrap();
    let error = fails(folder, 1, &["score", "recogs/v2", "--gold", "gold.tsv", "--predictions", "bytes.txt"]);
    assert!(error.contains("bytes.txt:2") && error.contains("UTF-8"), "{error}");
}

#[test]
fn wrong_usage_and_bad_files_are_told() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    fs::write(folder.join("rows.tsv"), "Emma slept .\tsleep . agent ( x _ 1 , Emma )\tin_distribution\n")
        .unwrap();
    let convert = |to: &'static str, more: &[&'static str]| {
        [&["convert", "cogs", to, "--in", "rows.tsv", "--out", "out.tsv"][..], more].concat()
    };
    assert!(fails(folder, 2, &convert("recogs/v9", &["--part", "dev"])).contains("recogs/v2"));
    assert!(fails(folder, 2, &convert("recogs/v2", &[])).contains("--part"));
    assert!(fails(folder, 2, &convert("recogs/v2", &["--part", "val"])).contains("train, dev, test, gen"));
    assert!(
        fails(folder, 2, &["generate", "cogs/main", "--seed", "official", "--out", "x"]).contains("--data")
    );
    assert!(fails(folder, 2, &["show", "cogs/recursion-cp-101"]).contains("no dataset"));
    ok(folder, &convert("recogs/positional", &["--part", "dev"]));
    assert_eq!(
        read(folder, "out.tsv"),
        "Emma slept .\tEmma ( 0 ) ; sleep ( 1 ) AND agent ( 1 , 0 )\tin_distribution\n"
    );
    fs::write(
        folder.join("rows.tsv"),
        "Emma slept .\tsleep . agent ( x _ 1 , Emma )\tx\nLiam slept .\tsleep (\tx\n",
    )
    .unwrap();
    let error = fails(folder, 1, &convert("recogs/positional", &["--part", "dev"]));
    assert!(error.contains("rows.tsv:2:") && error.contains("column 8"), "{error}");
    fs::write(folder.join("rows.tsv"), "Emma slept .\n").unwrap();
    assert!(fails(folder, 1, &convert("recogs/v2", &["--part", "dev"])).contains("rows.tsv:1:"));
}

#[test]
fn figures_are_shown_and_written() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let shown = ok(folder, &["show", "cogs/recursion-pp-4", "--stats", "--out", "figures"]);
    assert!(shown.contains("behind a comma") && shown.contains("without x _"), "{shown}");
    assert!(read(folder, "figures/sizes.csv").contains("gen,1000"));
    assert!(read(folder, "figures/after-comma.csv").contains("x,"));
    assert!(read(folder, "figures/target-length.svg").starts_with("<svg"));
}
