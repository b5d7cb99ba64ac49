//! The files that hold such pairs: the tutorial's tab-separated file, and the folder of the NACS release.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wug_data::truncate;

use wug_data::{Error, Lines, RawPart, Result, Streams};

use super::splits::{DAXY, DAXY_COPIES, Pair, Pairs, TEST, TRAIN};
use crate::pair_files::read_parallel;

/// Names that the tutorial's file has: as the tutorial packs it, and as its source offers it.
const TUTORIAL: [&str; 3] = ["eng-fra.txt", "fra.txt", "data/eng-fra.txt"];

/// How English sentences begin. Some have no space behind them, so `she s` also lets `she said` in: so it is in the
/// tutorial, and in the release.
const BEGINNINGS: [&str; 12] = [
    "i am ", "i m ", "he is", "he s ", "she is", "she s", "you are", "you re ", "we are", "we re ",
    "they are", "they re ",
];

/// The most words of a sentence, the final mark included.
const MAX_WORDS: usize = 9;

/// The path of a part in the NACS release, without `.src` and `.trg`.
pub fn nacs_path(with_daxy: bool, part: &str) -> String {
    let name = match (part, with_daxy) {
        ("daxy" | "tired", _) => format!("test.{part}"),
        ("train", true) => "train.daxy".to_owned(),
        ("train-wo-random", false) => "train.wo_valid_random".to_owned(),
        ("train-wo-random", true) => "train.daxy.wo_valid_random".to_owned(),
        ("val-random", false) => "valid.random".to_owned(),
        ("val-random", true) => "valid.daxy.random".to_owned(),
        (part, _) => part.to_owned(),
    };
    format!("data/scan/mt_data/{name}")
}

/// Lower case, without accents, the final mark apart, and nothing but letters and marks: as the tutorial does it.
///
/// ```
/// assert_eq!(wug_bench::mt::normalised("Je suis très fatigué."), "je suis tres fatigue .");
/// assert_eq!(wug_bench::mt::normalised("  You're 30, aren't you?"), "you re aren t you ?");
/// ```
pub fn normalised(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    for c in text.chars().flat_map(char::to_lowercase) {
        match plain(c) {
            Some(c @ ('.' | '!' | '?')) => {
                out.push(' ');
                out.push(c);
                out.push(' ');
            }
            Some(c) => out.push(c),
            // A mark on the letter before it.
            None if ('\u{300}'..='\u{36f}').contains(&c) => {}
            None => out.push(' '),
        }
    }
    let words: Vec<&str> = out.split_whitespace().collect();
    words.join(" ")
}

/// The letter without its accent, a mark, or nothing. Ligatures are no letters, as in the tutorial.
fn plain(c: char) -> Option<char> {
    Some(match c {
        'a'..='z' | '.' | '!' | '?' => c,
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'ď' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => 'e',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => 'g',
        'ĥ' => 'h',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' => 'i',
        'ĵ' => 'j',
        'ķ' => 'k',
        'ĺ' | 'ļ' | 'ľ' => 'l',
        'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        'ò'..='ö' | 'ō' | 'ŏ' | 'ő' => 'o',
        'ŕ' | 'ŗ' | 'ř' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' => 's',
        'ţ' | 'ť' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => 'u',
        'ŵ' => 'w',
        'ý' | 'ÿ' | 'ŷ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        _ => return None,
    })
}

/// Whether a pair is one that the papers take.
fn is_short(english: &str, french: &str) -> bool {
    let words = |text: &str| text.split(' ').count();
    BEGINNINGS.iter().any(|begin| english.starts_with(begin))
        && words(english) <= MAX_WORDS
        && words(french) <= MAX_WORDS
}

/// Reads pairs: the release's folder, or a folder with the tutorial's file, or that file.
pub fn read(path: &Path, with_daxy: bool, seed: u64) -> Result<Pairs> {
    if path.is_file() {
        return read_tutorial(path, seed);
    }
    if !path.is_dir() {
        return Err(Error::file(path, "is neither a folder nor a file"));
    }
    if let Some(file) = TUTORIAL.iter().map(|name| path.join(name)).find(|file| file.is_file()) {
        return read_tutorial(&file, seed);
    }
    let released = |part: &str| part_at(path, &nacs_path(with_daxy, part));
    let (plain, added) =
        (part_at(path, &nacs_path(false, "train"))?, released("train")?.filter(|_| with_daxy));
    if let (Some(plain), Some(added)) = (&plain, &added) {
        check_daxy(plain, added)?;
    }
    let (Some(train), Some(test)) = (plain.or(added), released("test")?) else {
        let expected = nacs_path(with_daxy, "train");
        return Err(Error::file(path, format!("has neither {} nor {expected}.src", TUTORIAL[0])));
    };
    let validation = match (released("val-random")?, released("train-wo-random")?) {
        (Some(random), Some(rest)) => Some((pairs(random), pairs(rest))),
        _ => None,
    };
    let mut train = pairs(train);
    train.retain(|(english, french)| (english.as_str(), french.as_str()) != DAXY);
    Ok(Pairs { train, test: pairs(test), validation, ..Pairs::default() })
}

/// The parallel files of the release, where its folders are or are not above them.
pub(super) fn part_at(folder: &Path, path: &str) -> Result<Option<RawPart>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stems: [PathBuf; 3] = [folder.join(path), folder.join("mt_data").join(name), folder.join(name)];
    let stem = stems.iter().find(|stem| Path::new(&format!("{}.src", stem.display())).is_file());
    stem.map(|stem| read_parallel(stem)).transpose()
}

fn pairs(part: RawPart) -> Vec<Pair> {
    part.rows.into_iter().map(|row| (row.input, row.target)).collect()
}

/// Checks that a train file is another with the invented word's sentence added.
fn check_daxy(train: &RawPart, added: &RawPart) -> Result<()> {
    let mut open: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in &train.rows {
        *open.entry((&row.input, &row.target)).or_default() += 1;
    }
    *open.entry(DAXY).or_default() += DAXY_COPIES;
    for row in &added.rows {
        let times = open.get_mut(&(row.input.as_str(), row.target.as_str()));
        let Some(times) = times.filter(|times| **times > 0) else {
            let said = truncate(&row.input, 60);
            let what = format!("`{said}` is not in {}, or not as often", train.path.display());
            return Err(added.fail(row, what));
        };
        *times -= 1;
    }
    match open.iter().find(|(_, times)| **times > 0) {
        None => Ok(()),
        Some(((english, _), times)) => {
            Err(Error::file(&added.path, format!("lacks `{english}` ({times} times)")))
        }
    }
}

/// Reads the tutorial's file, keeps the pairs that the papers take, and splits them at random.
fn read_tutorial(path: &Path, seed: u64) -> Result<Pairs> {
    let mut lines = Lines::open(path)?;
    let mut found: Vec<Pair> = Vec::new();
    while let Some((line, text)) = lines.next()? {
        if text.trim().is_empty() {
            continue;
        }
        // What stands behind a second tab says who wrote the sentences.
        let mut columns = text.split('\t');
        let (Some(english), Some(french)) = (columns.next(), columns.next()) else {
            return Err(Error::line(
                path,
                line,
                "expected an English sentence, a tab, and a French sentence",
            ));
        };
        let (english, french) = (normalised(english), normalised(french));
        if is_short(&english, &french) {
            found.push((english, french));
        }
    }
    if found.len() < 10 {
        return Err(Error::file(
            path,
            format!("has {} pairs that begin with `i am`, `he is`, ...", found.len()),
        ));
    }
    Streams::new("mt/en-fr", "tutorial", seed).item(0).shuffle(&mut found);
    // As many as in the papers, or in their proportion.
    let test = TEST.min(found.len() * TEST / (TRAIN + TEST)).max(1);
    let mut train = found.split_off(test);
    train.truncate(TRAIN);
    Ok(Pairs { train, test: found, ..Pairs::default() })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    #[test]
    fn the_tutorials_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from(
            "Go.\tVa !\nI'm OK.\tJe vais bien.\tCC-BY 2.0 (France)\n\nShe said so.\tElle l'a dit.\n",
        );
        for i in 0..40 {
            let word = ["a", "b", "c", "d"][i % 4].repeat(1 + i / 4);
            let _ = write!(text, "He is {word}.\tIl est {word}é.\r\n");
        }
        text.push_str("He is one two three four five six seven.\tIl est long.\n");
        let file = folder.path().join("eng-fra.txt");
        std::fs::write(&file, &text).unwrap();
        let read = |path: &Path| read(path, false, 0).unwrap();
        let pairs = read(folder.path());
        assert_eq!((pairs.train.len(), pairs.test.len()), (38, 4));
        assert_eq!(read(&file).train, pairs.train);
        let all: Vec<&Pair> = pairs.train.iter().chain(&pairs.test).collect();
        let has = |english: &str, french: &str| {
            all.iter().any(|(e, f)| e.as_str() == english && f.as_str() == french)
        };
        assert!(has("i m ok .", "je vais bien .") && has("he is bb .", "il est bbe ."));
        assert!(has("she said so .", "elle l a dit ."), "as in the tutorial");

        std::fs::write(&file, format!("{text}no tab\n")).unwrap();
        let error = super::read(&file, false, 0).unwrap_err().to_string();
        assert!(
            error.ends_with(":46: expected an English sentence, a tab, and a French sentence"),
            "{error}"
        );
    }
}
