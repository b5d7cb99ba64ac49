//! Pairs without a language: `cargo run --release -p wug-induce --example garbage [FILES]`, 10,000 unless a number is named.
//! Files are drawn from their number: none or few rows, contradictions, empty sides, huge and odd tokens, very long rows. It
//! fails if one takes longer than its time limit and a tenth, or if an abstention has a text, and prints the longest time
//! and the most memory that was in use. Every 1000th file has the default bound on steps, the others 100,000.

use std::time::{Duration, Instant};

use wug_induce::{Settings, learn};

type Rows = Vec<(String, String)>;

/// Numbers below a bound that depend on nothing but a seed and how many were drawn before.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    fn text(&mut self, tokens: &[&str], longest: u64) -> String {
        let length = self.below(longest + 1);
        let words: Vec<&str> =
            (0..length).map(|_| tokens[self.below(tokens.len() as u64) as usize]).collect();
        words.join(" ")
    }
}

fn garbage(number: u64) -> Rows {
    let draw = &mut Draw(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x4d);
    let huge = "z".repeat(10_000);
    let all = [
        "a",
        "b",
        "(",
        ")",
        "7",
        "-3",
        "0",
        "99999999999999999999",
        "-9223372036854775808",
        "x",
        ",",
        "\u{1F600}",
        "\u{0}",
        "A1",
        "a a",
        "$1",
        "=>",
        "\"",
        "\\",
        &huge,
    ];
    let mut tokens = |most: u64| {
        let first = draw.below(all.len() as u64) as usize;
        let count = draw.below(most) as usize + 1;
        all.iter().cycle().skip(first).take(count).copied().collect::<Vec<_>>()
    };
    let (left, right) = (tokens(all.len() as u64), tokens(all.len() as u64));
    let longest = [1, 2, 3, 5, 9, 30, 300][draw.below(7) as usize];
    let most = [0, 1, 2, 12, 40, 120][draw.below(6) as usize];
    let mut rows: Rows = (0..most).map(|_| (draw.text(&left, longest), draw.text(&right, longest))).collect();
    // The same sources with other targets, the same rows again, and a target for all.
    for i in 0..rows.len().saturating_sub(1).min(draw.below(9) as usize) {
        rows.push((rows[i].0.clone(), rows[i + 1].1.clone()));
    }
    match draw.below(6) {
        0 => rows.extend(rows.clone()),
        1 => rows.iter_mut().for_each(|row| row.1.clone_from(&row.0)),
        2 => rows.iter_mut().for_each(|row| "same".clone_into(&mut row.1)),
        _ => {}
    }
    rows
}

/// The most memory that was in use, in MB, where the system says.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}

fn main() -> Result<(), String> {
    let files: u64 =
        std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse()).map_err(|_| "no number")?;
    let budget = Duration::from_secs(20);
    let (mut longest, mut slowest) = (Duration::ZERO, 0);
    for number in 0..files {
        let rows = garbage(number);
        let steps = if number % 1000 == 0 { Settings::default().steps } else { 100_000 };
        let begun = Instant::now();
        let model = learn(rows.clone(), &Settings { steps, budget, ..Settings::default() });
        let time = begun.elapsed();
        if time > budget + budget / 10 {
            return Err(format!("file {number} took {time:?}"));
        }
        if time > longest {
            (longest, slowest) = (time, number);
        }
        for (source, _) in rows.iter().take(20).chain(&[("never seen".to_owned(), String::new())]) {
            let prediction = model.predict(source);
            if prediction.abstained.is_some() && !prediction.text.is_empty() {
                return Err(format!("file {number}: an abstention has a text"));
            }
        }
        if number % 1000 == 999 {
            println!(
                "{} files, the longest took {longest:.1?} (file {slowest}), memory {:?} MB",
                number + 1,
                memory()
            );
        }
    }
    println!(
        "{files} files: no panic; the longest took {longest:.1?} (file {slowest}); memory {:?} MB",
        memory()
    );
    Ok(())
}
