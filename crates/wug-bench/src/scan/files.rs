//! The official files, read and written.
//!
//! The SCAN repository has a line `IN: command OUT: actions` for each example. The NACS repository has the same pairs
//! as two parallel files, `.src` with the commands and `.trg` with the actions, and validation files besides.

use std::io::{self, Write};
use std::path::Path;
use wug_data::truncate;

use wug_data::{Dataset, Error, Part, RawPart, RawRow, Result, Selection};

use super::splits::{self, MCD_SIZES, SIMPLE_TRAIN, Split};
use crate::import::written_parts;
use crate::pair_files::{read_in_out, read_parallel, with_suffix, write_lines};
use crate::{Availability, read_written_by_wug};

/// Where the SCAN repository has a part; parts that it does not have are named in its manner.
pub fn scan_path(split: Split, part: &str) -> String {
    let part = part.replace('-', "_");
    let (folder, name) = match split {
        Split::All => return "tasks.txt".to_owned(),
        Split::Simple => ("simple_split", "simple".to_owned()),
        Split::Share(share) => ("simple_split/size_variations", format!("simple_p{share}")),
        Split::Length => ("length_split", "length".to_owned()),
        Split::AddprimJump => ("add_prim_split", "addprim_jump".to_owned()),
        Split::AddprimTurnLeft => ("add_prim_split", "addprim_turn_left".to_owned()),
        Split::JumpNested(n) => ("add_prim_split/nested", format!("addprim_jump_num{n}")),
        Split::JumpRepeated(n, rep) => {
            ("add_prim_split/with_additional_examples", format!("addprim_complex_jump_num{n}_rep{rep}"))
        }
        Split::Template(template) => {
            ("template_split", format!("template_{}", template.name().replace('-', "_")))
        }
        Split::Filler(n) => ("filler_split", format!("filler_num{n}")),
        Split::Fewshot(n, rep) => ("few_shot_split", format!("fewshot_num{n}_rep{rep}")),
        Split::Mcd(n) => ("mcd_split", format!("mcd{n}")),
    };
    format!("{folder}/tasks_{part}_{name}.txt")
}

/// Where the NACS repository has a part, without `.src` and `.trg`; parts that it does not have are named in its manner.
pub fn nacs_path(split: Split, part: &str) -> String {
    let folder = match split {
        Split::All => "all".to_owned(),
        Split::Simple => "simple".to_owned(),
        Split::Length => "length".to_owned(),
        Split::AddprimJump => "add_jump".to_owned(),
        Split::AddprimTurnLeft => "add_turn_left".to_owned(),
        Split::JumpNested(_) => "add_jump_additional".to_owned(),
        split => split.name().replace('-', "_"),
    };
    let name = match (split, part) {
        (Split::JumpNested(n), "train") => format!("train.num{n:02}"),
        (Split::JumpNested(n), "train-with-dab") => format!("train.num{n:02}.withdab"),
        (Split::JumpNested(n), "train-wo-random") => format!("train.num{n:02}.wo_valid_random"),
        (Split::JumpNested(n), "train-wo-random-with-dab") => {
            format!("train.num{n:02}.wo_valid_random.withdab")
        }
        (Split::JumpNested(n), "val-random") => format!("valid.num{n:02}.random"),
        (_, "all") => "tasks.txt".to_owned(),
        (_, "val-random-wo-length") => "valid.random_wo_length".to_owned(),
        (_, part) => match (part.strip_prefix("val-"), part.strip_prefix("train-wo-")) {
            (Some(kind), _) => format!("valid.{kind}"),
            (_, Some(kind)) => format!("train_wo_valid_{}", kind.replace('-', "_")),
            _ => part.replace('-', "_"),
        },
    };
    format!("data/scan/{folder}/{name}")
}

/// Writes lines `IN: command OUT: actions`.
pub fn write_in_out(dataset: &Dataset, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_lines(selection, out, |row, line| {
        line.extend_from_slice(b"IN: ");
        dataset.table.inputs.get(row).write(line)?;
        line.extend_from_slice(b" OUT: ");
        dataset.table.targets.get(row).write(line)
    })
}

/// Reads a part from a folder with the layout of the SCAN or the NACS repository, or one that wug wrote. `benchmark`
/// is whose JSONL and Parquet files it may be.
fn read_part(folder: &Path, benchmark: &str, split: Split, part: &str) -> Result<Option<RawPart>> {
    let dataset = format!("{benchmark}/{}", split.name());
    if let Some(mut raw) = read_written_by_wug(folder, &dataset, part)? {
        if benchmark == "nacs" {
            for row in &mut raw.rows {
                std::mem::swap(&mut row.input, &mut row.target);
            }
        }
        return Ok(Some(raw));
    }
    let mut lines = vec![scan_path(split, part)];
    if let Split::Mcd(_) = split {
        // Pull request 2 of the repository, as it is re-packaged in places.
        lines.push(lines[0].replacen("mcd_split/", "mcd_split_from_PR2/", 1));
    }
    let mut pairs = vec![nacs_path(split, part)];
    if let (Split::JumpNested(0), "train") = (split, part) {
        pairs.push(nacs_path(Split::AddprimJump, part));
    }
    let bare = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
    let bare_lines: Vec<String> = lines.iter().map(bare).collect();
    let bare_pairs: Vec<String> = pairs.iter().map(bare).collect();
    for path in lines.iter().chain(&bare_lines).map(|path| folder.join(path)) {
        if path.is_file() {
            return read_in_out(&path).map(Some);
        }
    }
    for stem in pairs.iter().chain(&bare_pairs).map(|path| folder.join(path)) {
        if with_suffix(&stem, ".src").is_file() {
            return read_parallel(&stem).map(Some);
        }
    }
    Ok(None)
}

/// The parts of a split as a folder has them, checked against the split's rule.
pub fn import(folder: &Path, benchmark: &str, split: Split, seed: u64) -> Result<Vec<Part>> {
    if !folder.is_dir() {
        return Err(Error::file(folder, "is not a folder"));
    }
    if let Some(parts) = import_excerpt(folder, benchmark, split)? {
        return Ok(parts);
    }
    let mut parts = Vec::new();
    if let Some(chosen) = chosen_by_simple(folder, benchmark, split)? {
        parts = splits::rule(split, &chosen);
    } else {
        let names: &[&str] = if split == Split::All { &["all"] } else { &["train", "test"] };
        let imported: Vec<Imported> =
            names.iter().map(|part| Imported::read(folder, benchmark, split, part)).collect::<Result<_>>()?;
        let chosen = recover(split, &imported)?;
        for (imported, expected) in imported.into_iter().zip(splits::rule(split, &chosen)) {
            imported.check(&expected.rows)?;
            parts.push(imported.part);
        }
        import_validation(folder, benchmark, split, &mut parts)?;
    }
    splits::add_validation(split, &mut parts, seed);
    Ok(parts)
}

/// What wug wrote of a dataset with `--limit` or of a part alone; `None` for any other folder. Its rows are checked one
/// by one: they do not make up the split.
fn import_excerpt(folder: &Path, benchmark: &str, split: Split) -> Result<Option<Vec<Part>>> {
    let dataset = format!("{benchmark}/{}", split.name());
    let Some(sizes) = written_parts(folder, &dataset)? else { return Ok(None) };
    let whole = |(part, rows): &(String, usize)| splits::size(split, part).is_none_or(|size| size == *rows);
    let named = |part: &str| sizes.iter().any(|(name, _)| name == part);
    let is_whole = if split == Split::All { named("all") } else { named("train") && named("test") };
    if is_whole && sizes.iter().all(whole) {
        return Ok(None);
    }
    let expected = if split.origin() == Availability::Rule { splits::rule(split, &[]) } else { Vec::new() };
    let mut parts: Vec<Part> = Vec::new();
    for (name, rows) in sizes {
        let imported = Imported::read(folder, benchmark, split, &name)?;
        imported.check_number(rows)?;
        if let Some(part) = expected.iter().find(|part| part.name == name) {
            imported.check_among(&part.rows)?;
        }
        parts.push(imported.part);
    }
    Ok(Some(parts))
}

/// The choice behind a share of the simple split in the layout of the NACS repository, which has only the simple split.
fn chosen_by_simple(folder: &Path, benchmark: &str, split: Split) -> Result<Option<Vec<u32>>> {
    let has = |split, part| read_part(folder, benchmark, split, part).map(|found| found.is_some());
    if !matches!(split, Split::Share(_)) || has(split, "train")? || has(split, "test")? {
        return Ok(None);
    }
    let layout = ["data/scan/simple/train.src", "simple/train.src"];
    if !layout.iter().any(|path| folder.join(path).is_file()) {
        return Ok(None);
    }
    let simple = Imported::read(folder, benchmark, Split::Simple, "train")?;
    recover(Split::Simple, std::slice::from_ref(&simple)).map(Some)
}

/// Reads the validation parts that the folder has.
fn import_validation(folder: &Path, benchmark: &str, split: Split, parts: &mut Vec<Part>) -> Result<()> {
    if split == Split::All || read_part(folder, benchmark, split, "val-random")?.is_none() {
        return Ok(());
    }
    let random = Imported::read(folder, benchmark, split, "val-random")?;
    let rest = Imported::read(folder, benchmark, split, "train-wo-random")?;
    let train = &parts[0].rows;
    random.check_validation(&rest, train)?;
    parts.extend([random.part, rest.part]);
    // The others follow from these.
    let mut expected = parts.clone();
    splits::add_validation(split, &mut expected, 0);
    for part in &expected[parts.len()..] {
        if read_part(folder, benchmark, split, &part.name)?.is_some() {
            let imported = Imported::read(folder, benchmark, split, &part.name)?;
            imported.check(&part.rows)?;
            parts.push(imported.part);
        }
    }
    Ok(())
}

/// The random choice behind imported parts.
fn recover(split: Split, imported: &[Imported]) -> Result<Vec<u32>> {
    let train = &imported[0];
    let distinct = |rows: &mut Vec<u32>| {
        let mut seen = vec![false; split.language().size() as usize];
        rows.retain(|&row| !std::mem::replace(&mut seen[row as usize], true));
    };
    let fail = |what: String| Err(Error::file(&train.raw.path, what));
    match split {
        Split::Simple | Split::Share(_) => {
            let mut rows = train.part.rows.clone();
            distinct(&mut rows);
            let wanted = splits::size(split, "train").unwrap_or(SIMPLE_TRAIN);
            if rows.len() != wanted || train.part.rows.len() != wanted {
                return fail(format!("has {} different commands, not {wanted}", rows.len()));
            }
            Ok(rows)
        }
        Split::JumpRepeated(..) | Split::JumpNested(1..) | Split::Fewshot(..) => {
            let candidates = splits::candidates(split);
            let mut rows = train.part.rows.clone();
            rows.retain(|row| candidates.binary_search(row).is_ok());
            distinct(&mut rows);
            let wanted = match split {
                Split::JumpNested(n) => n as usize,
                split => splits::choice_size(split),
            };
            if rows.len() != wanted && rows.len() != splits::released_choice_size(split) {
                return fail(format!("adds {} commands, not {wanted}", rows.len()));
            }
            if let Split::JumpNested(_) = split {
                add_excluded(&mut rows, &imported[1]);
            }
            Ok(rows)
        }
        Split::JumpNested(0) => {
            let mut rows = Vec::new();
            add_excluded(&mut rows, &imported[1]);
            Ok(rows)
        }
        Split::Mcd(_) => {
            let (train, test) = (&imported[0], &imported[1]);
            let mut rows = train.part.rows.clone();
            rows.extend(&test.part.rows);
            distinct(&mut rows);
            if (train.part.rows.len(), test.part.rows.len()) != MCD_SIZES
                || rows.len() != MCD_SIZES.0 + MCD_SIZES.1
            {
                return fail(format!(
                    "with its test file has {} different commands, not {} + {}",
                    rows.len(),
                    MCD_SIZES.0,
                    MCD_SIZES.1
                ));
            }
            Ok(rows)
        }
        _ => Ok(Vec::new()),
    }
}

/// Adds the candidates that are neither chosen yet nor tested.
fn add_excluded(chosen: &mut Vec<u32>, test: &Imported) {
    let mut tested = vec![false; test.split.language().size() as usize];
    for &row in &test.part.rows {
        tested[row as usize] = true;
    }
    for row in splits::candidates(test.split) {
        if !tested[row as usize] && !chosen.contains(&row) {
            chosen.push(row);
        }
    }
}

/// A part that was read, with the lines it was read from.
struct Imported {
    split: Split,
    raw: RawPart,
    part: Part,
}

impl Imported {
    fn read(folder: &Path, benchmark: &str, split: Split, part: &str) -> Result<Self> {
        let raw = read_part(folder, benchmark, split, part)?.ok_or_else(|| {
            let (scan, nacs) = (scan_path(split, part), nacs_path(split, part));
            Error::file(folder, format!("has neither {scan} nor {nacs}.src"))
        })?;
        let language = split.language();
        let mut rows = Vec::with_capacity(raw.rows.len());
        for line in &raw.rows {
            let row = language.row(&line.input).ok_or_else(|| {
                raw.fail(line, format!("`{}` is not a command of SCAN", shortened(&line.input)))
            })?;
            let actions = language.table.targets.get(row);
            if !actions.same_words(&line.target) {
                let (said, command) = (shortened(&line.target), &line.input);
                return Err(raw.fail(line, format!("`{command}` means `{actions}`, not `{said}`")));
            }
            rows.push(row);
        }
        Ok(Self { split, raw, part: Part::new(part, rows) })
    }

    /// Checks that no line is missing or was added since wug wrote them.
    fn check_number(&self, rows: usize) -> Result<()> {
        if self.part.rows.len() == rows {
            return Ok(());
        }
        let what = format!("has {} lines, not {rows} as wug wrote it", self.part.rows.len());
        Err(Error::file(&self.raw.path, what))
    }

    /// Checks that every row is one of the expected ones.
    fn check_among(&self, expected: &[u32]) -> Result<()> {
        let mut belongs = vec![false; self.split.language().size() as usize];
        for &row in expected {
            belongs[row as usize] = true;
        }
        let mut rows = self.raw.rows.iter().zip(&self.part.rows);
        match rows.find(|&(_, &row)| !belongs[row as usize]) {
            None => Ok(()),
            Some((line, _)) => Err(self.does_not_belong(line)),
        }
    }

    fn does_not_belong(&self, line: &RawRow) -> Error {
        let (command, part, split) = (&line.input, &self.part.name, self.split.name());
        self.raw.fail(line, format!("`{command}` does not belong to {part} of {split}"))
    }

    /// Checks that the rows are the expected ones, in any order.
    fn check(&self, expected: &[u32]) -> Result<()> {
        let mut open = vec![0i64; self.split.language().size() as usize];
        for &row in expected {
            open[row as usize] += 1;
        }
        for (line, &row) in self.raw.rows.iter().zip(&self.part.rows) {
            open[row as usize] -= 1;
            if open[row as usize] < 0 {
                let times = expected.iter().filter(|&&other| other == row).count();
                return Err(match times {
                    0 => self.does_not_belong(line),
                    times => {
                        self.raw.fail(line, format!("`{}` belongs here {times} times, not more", line.input))
                    }
                });
            }
        }
        if let Some(row) = open.iter().position(|&times| times > 0) {
            let command = self.split.language().table.inputs.get(row as u32);
            return Err(Error::file(&self.raw.path, format!("lacks `{command}` ({} times)", open[row])));
        }
        Ok(())
    }

    /// Checks that this part and the rest make up train; lines that train repeats may be fewer here.
    fn check_validation(&self, rest: &Self, train: &[u32]) -> Result<()> {
        let mut open = vec![0i64; self.split.language().size() as usize];
        for &row in train {
            open[row as usize] += 1;
        }
        for part in [rest, self] {
            for (line, &row) in part.raw.rows.iter().zip(&part.part.rows) {
                open[row as usize] -= 1;
                if open[row as usize] < 0 {
                    return Err(part.raw.fail(line, format!("`{}` is not left in train", line.input)));
                }
            }
        }
        let collapses = splits::collapses(self.split);
        let missing = (0u32..)
            .zip(&open)
            .find(|&(row, &times)| times > 0 && !(collapses && splits::is_special(self.split, row)));
        match missing {
            None => Ok(()),
            Some((row, _)) => {
                let command = self.split.language().table.inputs.get(row);
                let (here, there) = (self.raw.path.display(), rest.raw.path.display());
                Err(Error::file(
                    &self.raw.path,
                    format!("`{command}` of train is neither in {here} nor in {there}"),
                ))
            }
        }
    }
}

/// At most 60 characters of what somebody wrote.
fn shortened(text: &str) -> String {
    truncate(text, 60)
}
