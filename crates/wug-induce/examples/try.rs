use std::time::Instant;
fn read(path: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| {
            if let Some(rest) = line.strip_prefix("IN: ") {
                let (a, b) = rest.split_once(" OUT: ").unwrap();
                (a.trim().to_owned(), b.trim().to_owned())
            } else {
                let mut f = line.split('\t');
                (f.next().unwrap().to_owned(), f.next().unwrap().to_owned())
            }
        })
        .collect()
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let train = read(&args[0]);
    let start = Instant::now();
    let model = wug_induce::learn(train.iter().map(|(a, b)| (a, b)), &wug_induce::Settings::default());
    let fit = start.elapsed();
    if args.iter().any(|a| a == "-v") {
        println!("{}", model.text());
    }
    for test in args[1..].iter().filter(|a| !a.starts_with('-')) {
        let test = read(test);
        let start = Instant::now();
        let mut shown = 0;
        let mut right = 0;
        for (source, target) in &test {
            let p = model.predict(source);
            if p.text == *target {
                right += 1;
            } else if shown < 5 && args.iter().any(|a| a == "-e") {
                shown += 1;
                println!("IN   {source}\nGOLD {target}\nPRED {} {:?} {:?} bits {}", p.text, p.abstained, p.coerced, p.bits);
            }
        }
        println!("{right}/{} fit {fit:.2?} test {:.2?}", test.len(), start.elapsed());
    }
}
