//! `wug report`: the document, and the page in a real browser.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::browser::Browser;
use common::{ok, text};
use serde_json::{Value, json};

/// A folder for screenshots, which a person may look at after the tests.
fn screenshots() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn url(path: &Path) -> String {
    format!("file://{}", text(&fs::canonicalize(path).unwrap()))
}

/// A learner's run on the first examples of a dataset.
fn run(folder: &Path, name: &str, dataset: &str, learner: &str, more: &[&str]) {
    let out = folder.join(name);
    let mut args = vec!["run", dataset, "--learner", learner, "--out", text(&out), "--quiet"];
    args.extend(more);
    ok(&args);
}

fn report(folder: &Path) -> (PathBuf, Value) {
    let (page, document) = (folder.join("report.html"), folder.join("report.json"));
    ok(&["report", text(folder), "--out", text(&page), "--json", text(&document)]);
    let document = serde_json::from_slice(&fs::read(document).unwrap()).unwrap();
    (page, document)
}

#[test]
fn what_cannot_be_read_is_listed_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    run(folder.path(), "good", "scan/simple#test", "chance", &["--limit", "30"]);
    for broken in ["truncated", "changed", "no-manifest", "no-predictions", "short"] {
        run(folder.path(), broken, "scan/simple#test", "chance", &["--limit", "30"]);
    }
    let scores = fs::read(at("truncated").join("scores.json")).unwrap();
    fs::write(at("truncated").join("scores.json"), &scores[..scores.len() / 2]).unwrap();
    let run_json = fs::read_to_string(at("changed").join("run.json")).unwrap();
    fs::write(at("changed").join("run.json"), run_json.replace("scan/simple", "scan/none")).unwrap();
    fs::remove_file(at("no-manifest").join("wug.json")).unwrap();
    fs::remove_file(at("no-predictions").join("predictions.jsonl")).unwrap();
    let lines = fs::read_to_string(at("short").join("predictions.jsonl")).unwrap();
    fs::write(at("short").join("predictions.jsonl"), &lines[..lines.len() / 2]).unwrap();
    // Its first predictions are right, until someone edits them.
    run(folder.path(), "edited", "scan/simple#test", "induced", &["--limit", "30"]);
    let lines = fs::read_to_string(at("edited").join("predictions.jsonl")).unwrap();
    let lines: Vec<String> = lines.lines().map(|line| line.replacen("\"I_", "\"WRONG_", 1)).collect();
    fs::write(at("edited").join("predictions.jsonl"), lines.join("\n")).unwrap();
    ok(&["generate", "scan/simple", "--out", text(&at("data")), "--limit", "3"]);

    let page = at("report.html");
    let folders = [
        "good",
        "truncated",
        "changed",
        "no-manifest",
        "no-predictions",
        "short",
        "edited",
        "data",
        "missing",
    ];
    let paths: Vec<PathBuf> = folders.iter().map(|name| at(name)).collect();
    let mut args = vec!["report", "--out", text(&page)];
    args.extend(paths.iter().map(|path| text(path)));
    ok(&args);
    let html = fs::read_to_string(&page).unwrap();
    let listed = html.split("Not shown").nth(1).unwrap().split("</section>").next().unwrap();
    for name in &folders[1..] {
        assert!(listed.contains(&format!("{name}</code>")), "{name} is not listed: {listed}");
    }
    assert!(!listed.contains("good</code>") && html.contains("id=\"run-0\""));
}

#[test]
fn the_document_has_what_the_page_shows() {
    let folder = tempfile::tempdir().unwrap();
    run(
        folder.path(),
        "a",
        "scan/length#test",
        "lstm",
        &["--limit", "200", "--set", "steps=300", "--set", "hidden=16"],
    );
    run(folder.path(), "b", "scan/length#test", "chance", &["--limit", "200"]);
    let (_, document) = report(folder.path());
    assert_eq!(document["schema"], 1);
    let summary = document["summary"].as_array().unwrap();
    assert_eq!(summary.len(), 2);
    assert_eq!(summary[0]["published"][0]["printed"], "10.1 ± 2.0", "{}", summary[0]);
    let first = &document["runs"][0];
    assert_eq!(
        first["provenance"]["command"],
        "wug run scan/length#test --learner lstm --set hidden=16 --set steps=300 --limit 200"
    );
    assert_eq!(first["curves"][0]["points"].as_array().unwrap().len(), 3, "a point every 100 updates");
    let part = &first["parts"][0];
    let by: Vec<&str> =
        part["by"].as_array().unwrap().iter().map(|by| by["fact"].as_str().unwrap()).collect();
    assert!(by.contains(&"action_length") && by.contains(&"command_length"), "{by:?}");
    let right =
        part["examples"]["verdicts"].as_array().unwrap().iter().filter(|verdict| **verdict == 0).count();
    assert_eq!(part["correct"], right);
    assert_eq!(document["tables"].as_array().unwrap().len(), 1, "both runs share their examples");
    assert_eq!(document["comparisons"][0]["parts"][0]["n"], 200);
}

/// Opens an example of each run after filtering, and checks what is shown against the run's own files.
fn browse(browser: &mut Browser, document: &Value) {
    let runs: Vec<&Value> = document["runs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|run| run["parts"][0]["examples"].is_object())
        .collect();
    assert_eq!(browser.eval("document.querySelectorAll('#e-run option').length"), runs.len());
    for (i, run) in runs.iter().enumerate() {
        browser.eval(&format!("{{ const run = document.getElementById('e-run'); run.value = {i}; run.dispatchEvent(new Event('change')) }}"));
        for (verdict, wants_right) in [("right", true), ("wrong", false)] {
            browser.eval(&format!("{{ const v = document.getElementById('e-verdict'); v.value = '{verdict}'; v.dispatchEvent(new Event('input')) }}"));
            let verdicts = run["parts"][0]["examples"]["verdicts"].as_array().unwrap();
            let count = verdicts.iter().filter(|number| (**number == 0) == wants_right).count();
            let shown = browser.eval("document.getElementById('e-count').textContent");
            assert_eq!(shown, format!("{count} of {}", verdicts.len()), "{verdict} of {}", run["folder"]);
            if count == 0 {
                continue;
            }
            browser.eval("document.querySelector('#e-list .row').click()");
            let first = verdicts.iter().position(|number| (*number == 0) == wants_right).unwrap();
            let detail = browser.eval("Object.fromEntries([...document.querySelectorAll('#e-detail tr')].map(row => [row.cells[0].textContent, row.cells[1].textContent]))");
            let id = detail["id"].as_str().unwrap();
            assert!(id.ends_with(&format!("_{first:08}")), "{id}, not {first}");
            let predictions = Path::new(run["folder"].as_str().unwrap()).join("predictions.jsonl");
            let line = fs::read_to_string(predictions).unwrap().lines().nth(first).unwrap().to_owned();
            let line: Value = serde_json::from_str(&line).unwrap();
            if line["prediction"] != "" {
                assert_eq!(detail["prediction"], line["prediction"], "{}", run["folder"]);
            }
        }
        browser.eval("{ const v = document.getElementById('e-verdict'); v.value = ''; v.dispatchEvent(new Event('input')) }");
    }
}

#[test]
fn reports_of_every_kind_work_in_a_browser() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    run(
        folder.path(),
        "scan",
        "scan/length#test",
        "lstm",
        &["--limit", "300", "--set", "steps=300", "--set", "hidden=16"],
    );
    run(folder.path(), "scan-induced", "scan/length#test", "induced", &["--limit", "300"]);
    run(folder.path(), "cogs", "cogs/main#gen", "chance", &["--limit", "300"]);
    run(folder.path(), "hint", "hint/image#test", "chance", &["--limit", "100"]);
    run(folder.path(), "mns", "mns/circle#test", "bayes", &["--limit", "100", "--reads", "symbols"]);
    let table = folder.path().join("table-1");
    ok(&["reproduce", "mns/table-1", "--scale", "smoke", "--out", text(&table), "--quiet"]);
    let (page, document) = report(folder.path());
    assert_eq!(document["experiments"][0]["experiment"], "mns/table-1");
    assert_eq!(document["problems"], json!([]));

    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.open(&url(&page));
        browser.screenshot(&screenshots().join(format!("report-{scheme}.png")));
        browse(&mut browser, &document);
        // The last run but those of the table is one with pictures: look at it.
        browser.eval("document.getElementById('examples').scrollIntoView()");
        browser.screenshot(&screenshots().join(format!("example-{scheme}.png")));
        browser.eval("{ for (const one of document.querySelectorAll('details')) one.open = true; document.getElementById('run-0').scrollIntoView() }");
        browser.screenshot(&screenshots().join(format!("run-{scheme}.png")));
        assert_eq!(browser.complaints(), Vec::<String>::new());
    }
    // Sorting by accuracy, upwards and downwards.
    let column = "[...document.querySelectorAll('#summary tbody tr')].map(row => parseFloat(row.cells[5].textContent))";
    for down in [false, true] {
        browser.eval("document.querySelectorAll('#summary th')[5].click()");
        let values: Vec<f64> = serde_json::from_value(browser.eval(column)).unwrap();
        let sorted = values.windows(2).all(|pair| if down { pair[0] >= pair[1] } else { pair[0] <= pair[1] });
        assert!(sorted && values.len() >= 5, "{values:?}");
    }
    browser.eval("{ const f = document.querySelector('#summary .filter'); f.value = 'cogs'; f.dispatchEvent(new Event('input')) }");
    assert_eq!(browser.eval("document.querySelectorAll('#summary tbody tr:not([hidden])').length"), 1);
    // Pictures, figures and trees are images that loaded.
    browser.eval("{ const v = document.getElementById('e-run'); v.value = [...v.options].findIndex(o => o.textContent.startsWith('induced')); v.dispatchEvent(new Event('change')); document.querySelector('#e-list .row').click() }");
    let loaded = "(async () => { const image = document.querySelector('#e-detail img'); await image.decode(); return image.naturalWidth })()";
    assert!(browser.eval(loaded).as_u64().unwrap() > 10, "a tree");
    // Zoom: dragging over the middle of a plot shows that part of its axis.
    let zoomed = browser.eval(
        "(() => { const plot = document.querySelector('svg.zoom'); plot.scrollIntoView(); const before = plot.getAttribute('viewBox'); \
         const box = plot.getBoundingClientRect(); const at = share => ({ clientX: box.left + share * box.width, clientY: box.top + 5, pointerId: 1, bubbles: true }); \
         plot.setPointerCapture = () => {}; plot.dispatchEvent(new PointerEvent('pointerdown', at(0.25))); plot.dispatchEvent(new PointerEvent('pointerup', at(0.75))); \
         return [Number(before.split(' ')[2]), Number(plot.getAttribute('viewBox').split(' ')[2])] })()",
    );
    let (before, after) = (zoomed[0].as_f64().unwrap(), zoomed[1].as_f64().unwrap());
    assert!((after / before - 0.5).abs() < 0.02, "{zoomed}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn hostile_content_is_only_shown() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let attack = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>";
    let hostile = [
        attack.to_owned(),
        format!("\"'`--><svg onload=window.hacked=1>{attack}]]>"),
        "a\0b\u{1}c\u{7f}".to_owned(),
        "\u{202e}right to left\u{200f}\u{2066}".to_owned(),
        "x".repeat(1 << 20),
        "I_JUMP ".repeat(150_000),
        "\u{2028}\u{2029}\u{feff}\\u003c/script>".to_owned(),
        "${window.hacked=1} {{7*7}} javascript:window.hacked=1".to_owned(),
    ];
    let limit = hostile.len().to_string();
    run(folder.path(), "run", "scan/simple#test", "chance", &["--limit", &limit]);
    let lines = hostile.iter().enumerate().map(|(i, prediction)| {
        json!({ "id": format!("test_{i:08}"), "prediction": prediction, "explanation": format!("r1({attack} a)") }).to_string() + "\n"
    });
    fs::write(folder.path().join("run/predictions.jsonl"), lines.collect::<String>()).unwrap();
    // A folder whose name is markup, with a run that is none.
    let odd = folder.path().join("<img src=x onerror=window.hacked=1>");
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("run.json"), attack).unwrap();

    let (page, _) = report(folder.path());
    browser.open(&url(&page));
    for (i, prediction) in hostile.iter().enumerate() {
        let took = browser.eval(&format!("(() => {{ const begun = performance.now(); document.querySelectorAll('#e-list .row')[{i}].click(); return performance.now() - begun }})()"));
        assert!(took.as_f64().unwrap() < 30_000.0, "{i} took {took} ms");
        let shown = browser.eval("[...document.querySelectorAll('#e-detail tr')].find(row => row.cells[0].textContent === 'prediction').cells[1].textContent");
        let spelt: String = prediction
            .chars()
            .map(|c| match c {
                '\0'..='\u{1f}'
                | '\u{7f}'
                | '\u{200f}'
                | '\u{202e}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{2066}'
                | '\u{feff}' => {
                    format!("\\u{:04x}", c as u32)
                }
                c => c.to_string(),
            })
            .collect();
        // An empty token at the end is marked by a sign of its own.
        assert_eq!(shown.as_str().unwrap().trim_end_matches('␣'), spelt, "prediction {i}");
    }
    assert_eq!(browser.eval("typeof window.hacked"), "undefined");
    assert_eq!(browser.eval("document.querySelectorAll('body script').length"), 2, "the page's own");
    assert_eq!(
        browser.eval(
            "document.querySelector('#problems code').textContent.endsWith('onerror=window.hacked=1>')"
        ),
        true
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Measures what the page of 100,000 predictions costs; the times are printed, and only their order of magnitude asserted.
#[test]
#[ignore = "takes a minute; scripts/nightly runs it"]
fn a_hundred_thousand_predictions_stay_quick() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    for seed in ["0", "1", "2", "3", "4", "5"] {
        run(folder.path(), &format!("seed-{seed}"), "scan/simple#train", "chance", &["--learner-seed", seed]);
    }
    let (page, _) = report(folder.path());
    measure(&mut browser, &page, "SCAN, 6 runs of 16,728");
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "hint", "hint/symbol#train", "chance", &["--limit", "100000"]);
    let (page, _) = report(folder.path());
    measure(&mut browser, &page, "HINT, 1 run of 100,000");
}

fn measure(browser: &mut Browser, page: &Path, what: &str) {
    let size = fs::metadata(page).unwrap().len() as f64 / 1e6;
    browser.open(&url(page));
    let opened = browser.eval("performance.getEntriesByType('navigation')[0].loadEventEnd").as_f64().unwrap();
    let mut slowest = 0.0_f64;
    for (control, value) in [
        ("verdict", "'wrong'"),
        ("verdict", "''"),
        ("fact", "0"),
        ("value", "1"),
        ("text", "'1 2'"),
        ("text", "'jump twice'"),
        ("text", "''"),
    ] {
        let took = browser.eval(&format!(
            "(() => {{ const c = document.getElementById('e-{control}'); c.value = {value}; const begun = performance.now(); \
             c.dispatchEvent(new Event('change')); c.dispatchEvent(new Event('input')); document.body.offsetHeight; return performance.now() - begun }})()"
        ));
        slowest = slowest.max(took.as_f64().unwrap());
    }
    eprintln!("{what}: page {size:.1} MB, opens in {opened:.0} ms, slowest filter {slowest:.0} ms");
    assert!(size < 15.0, "{size} MB");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn every_page_of_the_gallery_works_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    ok(&["gallery", "--out", text(&site)]);
    let pages: Vec<String> = common::files(&site)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "html"))
        .collect();
    assert!(pages.len() > 30 && pages.contains(&"benchmark-mns.html".to_owned()), "{pages:?}");
    // Every link within the site leads to a page.
    for page in &pages {
        let html = fs::read_to_string(site.join(page)).unwrap();
        for target in html.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let file = target.split('#').next().unwrap();
            let is_inside = !target.contains("://") && !target.starts_with("data:") && !file.is_empty();
            assert!(!is_inside || pages.iter().any(|known| known == file), "{page}: {target}");
        }
    }
    let Some(mut browser) = Browser::start() else { return };
    for page in &pages {
        browser.open(&url(&site.join(page)));
        assert!(
            browser.eval("document.querySelector('main').textContent.length").as_u64().unwrap() > 20,
            "{page}"
        );
        // Figures of documents are files of the site.
        let figures = url(&site.join("figures"));
        assert_eq!(browser.complaints_beside(&figures), Vec::<String>::new(), "{page}");
        let broken = browser
            .eval("[...document.images].filter(image => image.complete && !image.naturalWidth).length");
        assert_eq!(broken, 0, "{page}");
    }
    browser.open(&url(&site.join("search.html")));
    browser.eval("{ const q = document.getElementById('query'); q.value = 'compositional'; q.dispatchEvent(new Event('input')) }");
    assert!(browser.eval("document.querySelectorAll('#hits li').length").as_u64().unwrap() > 0);
    for (page, scheme) in [
        ("benchmark-mns.html", "light"),
        ("benchmark-hint.html", "dark"),
        ("benchmark-cogs.html", "light"),
        ("benchmark-scan.html", "dark"),
        ("index.html", "dark"),
    ] {
        browser.prefer(scheme);
        browser.open(&url(&site.join(page)));
        let name = page.trim_end_matches(".html");
        browser.screenshot(&screenshots().join(format!("gallery-{name}-{scheme}.png")));
    }
}

/// The live page shows a run that is made while it is open, and keeps what the reader opened.
#[test]
fn a_watched_page_follows_its_folder() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "first", "scan/simple", "chance", &["--limit", "50"]);
    let mut server = Command::new(env!("CARGO_BIN_EXE_wug"))
        .args(["report", text(folder.path()), "--watch", "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:"));
    let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
    browser.open(&address);
    let shows = "document.querySelector('main').textContent.includes('made-later')";
    assert_eq!(browser.eval(shows), false);
    run(folder.path(), "made-later", "scan/length", "chance", &["--limit", "50"]);
    let begun = std::time::Instant::now();
    while browser.eval(shows) != true {
        assert!(begun.elapsed().as_secs() < 60, "the page never changed");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert_eq!(browser.complaints_beside(&address), Vec::<String>::new());
    server.kill().unwrap();
    server.wait().unwrap();
}
