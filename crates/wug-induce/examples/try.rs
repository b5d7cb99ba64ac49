use std::collections::BTreeMap;
use std::time::Instant;
fn read(path: &str) -> Vec<(String, String, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| {
            if let Some(rest) = line.strip_prefix("IN: ") {
                let (a, b) = rest.split_once(" OUT: ").unwrap();
                (a.trim().to_owned(), b.trim().to_owned(), String::new())
            } else {
                let mut f = line.split('\t');
                (
                    f.next().unwrap().to_owned(),
                    f.next().unwrap().to_owned(),
                    f.next().unwrap_or("").to_owned(),
                )
            }
        })
        .collect()
}
fn set(text: &str) -> std::collections::BTreeSet<String> {
    text.replace(" AND ", " ; ").split(" ; ").map(str::to_owned).collect()
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let flag = |f: &str| args.iter().any(|a| a == f);
    let train = read(&args[0]);
    let start = Instant::now();
    let model = wug_induce::learn(train.iter().map(|(a, b, _)| (a, b)), &wug_induce::Settings::default());
    let fit = start.elapsed();
    if flag("-v") {
        println!("{}", model.text());
    }
    for test in args[1..].iter().filter(|a| !a.starts_with('-')) {
        let test = read(test);
        let start = Instant::now();
        let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
        let mut by: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut right = 0;
        for (source, target, kind) in &test {
            let p = model.predict(source);
            let ok = if flag("-s") { set(&p.text) == set(target) } else { p.text == *target };
            let e = by.entry(kind).or_default();
            e.1 += 1;
            if ok {
                right += 1;
                e.0 += 1;
            } else {
                let n = shown.entry(kind).or_default();
                *n += 1;
                if *n <= 3 && flag("-e") {
                    println!(
                        "IN   {source} [{kind}]\nGOLD {target}\nPRED {} {:?} {:?} bits {}",
                        p.text, p.abstained, p.coerced, p.bits
                    );
                    println!("TREE {}", model.derivation(&p));
                }
            }
        }
        if by.len() > 1 {
            for (kind, (a, b)) in by.iter().filter(|(_, (a, b))| a < b) {
                println!("   {kind} {a}/{b}");
            }
        }
        println!("{right}/{} fit {fit:.2?} test {:.2?}", test.len(), start.elapsed());
    }
}
