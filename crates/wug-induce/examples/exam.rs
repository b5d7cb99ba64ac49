//! Small languages from folders with `train.tsv` and `test.tsv`:
//! `cargo run --release -p wug-induce --example exam -- [--general] [--hold-out] [--verbose] [--save] DIR...`. A folder of such
//! folders stands for all of them. `--general` leaves out the search over templates; `--hold-out` scores a tenth of the
//! training rows, which are not learned from, and not the test part. One language alone is shown with its grammar.

use std::path::{Path, PathBuf};
use std::time::Instant;

use wug_induce::{Settings, Without, learn};

type Rows = Vec<(String, String)>;

fn read(path: &Path) -> std::io::Result<Rows> {
    let text = std::fs::read_to_string(path)?;
    let row = |line: &str| {
        let mut cells = line.split('\t');
        Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
    };
    Ok(text.lines().filter_map(row).collect())
}

fn main() -> std::io::Result<()> {
    let (mut settings, mut hold_out, mut save) = (Settings::default(), false, false);
    let mut folders: Vec<PathBuf> = Vec::new();
    for argument in std::env::args().skip(1) {
        match &argument[..] {
            "--general" => settings.without = Some(Without::Templates),
            "--templates" => settings.without = Some(Without::General),
            "--hold-out" => hold_out = true,
            "--verbose" => settings.verbose = true,
            "--save" => save = true,
            folder if Path::new(folder).join("train.tsv").exists() => folders.push(folder.into()),
            folder => {
                let inside = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
                let mut inside: Vec<PathBuf> =
                    inside.filter(|path| path.join("train.tsv").exists()).collect();
                inside.sort();
                folders.extend(inside);
            }
        }
    }
    let alone = folders.len() == 1;
    let mut solved = 0;
    for folder in &folders {
        let mut train = read(&folder.join("train.tsv"))?;
        let test = if hold_out {
            let (held, rest): (Vec<_>, Vec<_>) =
                train.into_iter().enumerate().partition(|(i, _)| i % 10 == 7);
            train = rest.into_iter().map(|(_, row)| row).collect();
            held.into_iter().map(|(_, row)| row).collect()
        } else {
            read(&folder.join("test.tsv"))?
        };
        let start = Instant::now();
        let model = learn(train.iter().map(|(a, b)| (a, b)), &settings);
        let fitted = start.elapsed().as_secs_f64();
        let predicted: Vec<_> = test.iter().map(|(source, _)| model.predict(source)).collect();
        let right = predicted.iter().zip(&test).filter(|(p, (_, target))| p.text == *target).count();
        let silent = predicted.iter().filter(|prediction| prediction.abstained.is_some()).count();
        let share = 100.0 * right as f64 / test.len().max(1) as f64;
        solved += usize::from(share >= 99.0);
        println!(
            "{:24} {share:6.2}  unanswered {silent:4}  rules {:3}  {fitted:5.1} s + {:5.1} s",
            folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            model.text().lines().filter(|line| line.contains("=>")).count(),
            start.elapsed().as_secs_f64() - fitted,
        );
        if alone {
            println!("{}", model.text());
            if save {
                println!("{}", model.save());
            }
            let wrong = predicted.iter().zip(&test).filter(|(p, (_, target))| p.text != *target);
            for (prediction, (source, target)) in wrong.take(6) {
                println!("{source}\n  {target}\n  {}\n  {}", prediction.text, model.derivation(prediction));
            }
        }
    }
    println!("{solved} of {} at 99% or more", folders.len());
    Ok(())
}
