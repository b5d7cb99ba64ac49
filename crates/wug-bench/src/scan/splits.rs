//! Which examples go where, and why.
//!
//! A split is a rule and, for some, a choice made at random. [`rule`] gives the parts from the choice; [`draw`] makes
//! a choice from a seed, and an import finds the choice in files that somebody else drew, so that their parts can be
//! checked against the same rule.

use std::sync::LazyLock;

use wug_data::{Part, Streams};

use super::language::{LANGUAGE, LANGUAGE_WITH_DAB, Language};
use crate::{Availability, Family};

/// The datasets of SCAN and of NACS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// All commands in one part.
    All,
    /// 80% and 20% at random.
    Simple,
    /// Train is this share (percent) of all commands, test all others.
    Share(u32),
    /// Train has at most 22 actions, test more.
    Length,
    /// `jump` alone in train, composed with everything in test.
    AddprimJump,
    /// `turn left` alone in train, composed with everything in test.
    AddprimTurnLeft,
    /// [`Split::AddprimJump`] with `n` composed commands moved to train; repetition `rep` of five.
    JumpRepeated(u32, u32),
    /// The same as the NACS paper draws it: nested sets and one test part.
    JumpNested(u32),
    /// A construction is left out of train.
    Template(Template),
    /// `jump around right` is tested; this many other verbs are seen in it.
    Filler(u32),
    /// `Filler(0)` with `n` commands of the first filler added; repetition `rep` of five.
    Fewshot(u32, u32),
    /// Maximum compound divergence.
    Mcd(u32),
}

/// What a [`Split::Template`] leaves out of train.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// `jump around right`.
    JumpAroundRight,
    /// `around right`.
    AroundRight,
    /// `opposite right`.
    OppositeRight,
    /// `right` directly behind the verb.
    Right,
}

const SHARES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const ADDED: [u32; 6] = [1, 2, 4, 8, 16, 32];
const SHOTS: [u32; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const REPETITIONS: [u32; 5] = [1, 2, 3, 4, 5];
const TEMPLATES: [(Template, &str); 4] = [
    (Template::JumpAroundRight, "jump-around-right"),
    (Template::AroundRight, "around-right"),
    (Template::OppositeRight, "opposite-right"),
    (Template::Right, "right"),
];
const VERBS: [&str; 4] = ["walk", "look", "run", "jump"];
/// In the order in which the filler splits add them.
const FILLERS: [&str; 3] = ["look", "walk", "run"];
/// Commands of the simple split's train part: 80% of all.
pub const SIMPLE_TRAIN: usize = 16_728;
/// Rows of the train and the test part of an MCD split.
pub const MCD_SIZES: (usize, usize) = (8_365, 1_045);

impl Split {
    /// The name behind `scan/` or `nacs/`.
    pub fn name(self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Simple => "simple".to_owned(),
            Self::Share(share) => format!("simple-p{share}"),
            Self::Length => "length".to_owned(),
            Self::AddprimJump => "addprim-jump".to_owned(),
            Self::AddprimTurnLeft => "addprim-turn-left".to_owned(),
            Self::JumpRepeated(n, rep) => format!("addprim-jump-num-{n}-rep-{rep}"),
            Self::JumpNested(n) => format!("addprim-jump-num-{n}"),
            Self::Template(template) => format!("template-{}", template.name()),
            Self::Filler(n) => format!("filler-{n}"),
            Self::Fewshot(n, rep) => format!("fewshot-{n}-rep-{rep}"),
            Self::Mcd(n) => format!("mcd-{n}"),
        }
    }

    /// The split with this name.
    pub fn named(name: &str) -> Option<Self> {
        groups().into_iter().flat_map(|group| group.splits).find(|split| split.name() == name)
    }

    /// The table that the rows of its parts belong to.
    pub fn language(self) -> &'static Language {
        match self {
            Self::AddprimJump | Self::JumpNested(_) => &LANGUAGE_WITH_DAB,
            _ => &LANGUAGE,
        }
    }

    /// Whether its rows depend on a random choice.
    pub fn origin(self) -> Availability {
        match self {
            Self::Simple
            | Self::Share(_)
            | Self::JumpRepeated(..)
            | Self::JumpNested(1..)
            | Self::Fewshot(..) => Availability::Drawn,
            Self::Mcd(_) => Availability::Imported,
            _ => Availability::Rule,
        }
    }

    /// Whether `dab` stands in for `jump` in a validation part.
    pub fn has_dab(self) -> bool {
        matches!(self, Self::AddprimJump | Self::JumpNested(_))
    }
}

impl Template {
    /// The name behind `template-`.
    pub fn name(self) -> &'static str {
        TEMPLATES.iter().find(|(template, _)| *template == self).map_or("", |(_, name)| name)
    }
}

struct Group {
    pattern: &'static str,
    about: &'static str,
    splits: Vec<Split>,
}

/// All splits, grouped as a person would list them.
fn groups() -> Vec<Group> {
    let group = |pattern, about, splits| Group { pattern, about, splits };
    let pairs = |numbers: &[u32], split: fn(u32, u32) -> Split| {
        numbers.iter().flat_map(|&n| REPETITIONS.map(|rep| split(n, rep))).collect()
    };
    vec![
        group("simple", "80% of all commands against 20%, at random", vec![Split::Simple]),
        group(
            "simple-p{1,2,4,8,16,32,64}",
            "a random 1% to 64% of all commands against the rest",
            SHARES.map(Split::Share).into(),
        ),
        group("length", "at most 22 actions against 24 to 48", vec![Split::Length]),
        group("addprim-jump", "`jump` alone against `jump` in compounds", vec![Split::AddprimJump]),
        group(
            "addprim-turn-left",
            "`turn left` alone against `turn left` in compounds",
            vec![Split::AddprimTurnLeft],
        ),
        group(
            "addprim-jump-num-{0,1,2,4,8,16,32}",
            "addprim-jump with n compounds moved to train; nested sets, one test part",
            [0].into_iter().chain(ADDED).map(Split::JumpNested).collect(),
        ),
        group(
            "addprim-jump-num-{1,2,4,8,16,32}-rep-{1..5}",
            "addprim-jump with n compounds moved to train; five draws",
            pairs(&ADDED, Split::JumpRepeated),
        ),
        group(
            "template-{jump-around-right,around-right,opposite-right,right}",
            "a construction that train does not have",
            TEMPLATES.map(|(template, _)| Split::Template(template)).into(),
        ),
        group(
            "filler-{0..3}",
            "`jump around right` after seeing 0 to 3 other verbs `around right`",
            (0..=3).map(Split::Filler).collect(),
        ),
        group(
            "fewshot-{1,2,4,...,1024}-rep-{1..5}",
            "filler-0 with n commands of the first filler added; five draws",
            pairs(&SHOTS, Split::Fewshot),
        ),
        group("mcd-{1,2,3}", "maximum compound divergence", (1..=3).map(Split::Mcd).collect()),
        group("all", "all 20,910 commands in one part", vec![Split::All]),
    ]
}

/// The datasets of SCAN and NACS.
pub fn families() -> Vec<Family> {
    let family = |group: Group| Family {
        pattern: group.pattern,
        names: group.splits.iter().map(|split| split.name()).collect(),
        about: group.about,
        origin: group.splits[group.splits.len() - 1].origin(),
    };
    groups().into_iter().map(family).collect()
}

/// All splits.
pub fn splits() -> Vec<Split> {
    groups().into_iter().flat_map(|group| group.splits).collect()
}

/// The parts of a split without validation, from the rows that were chosen at random (in order).
pub fn rule(split: Split, chosen: &[u32]) -> Vec<Part> {
    let all = || 0..LANGUAGE.size();
    let mut is_chosen = vec![false; LANGUAGE.size() as usize];
    for &row in chosen {
        is_chosen[row as usize] = true;
    }
    // Train and test by what occurs in a command; `neither` is dropped from both.
    let by_words = |neither: &[&str], test: &[&str]| {
        let (neither, test) = (LANGUAGE.rows_with(neither), LANGUAGE.rows_with(test));
        let (test, train): (Vec<u32>, Vec<u32>) =
            all().filter(|&row| !neither[row as usize]).partition(|&row| test[row as usize]);
        parts(train, test)
    };
    let verbs = |pattern: &str| VERBS.map(|verb| format!("{verb} {pattern}"));

    match split {
        Split::All => vec![Part::new("all", all().collect())],
        Split::Simple => parts(chosen.to_vec(), all().filter(|&row| !is_chosen[row as usize]).collect()),
        Split::Share(share) => {
            let train = &chosen[..chosen.len().min((LANGUAGE.size() * share / 100) as usize)];
            rule(Split::Simple, train)
        }
        Split::Length => {
            let (train, test) = all().partition(|&row| LANGUAGE.action_length(row) <= 22);
            parts(train, test)
        }
        Split::AddprimJump => addprim("jump", &[], JUMP_COPIES, &[]),
        Split::AddprimTurnLeft => addprim("turn left", &[], |others| others / 9, &[]),
        Split::JumpRepeated(n, _) => {
            addprim("jump", chosen, |others| share_copies(JUMP_COPIES(others), n), chosen)
        }
        Split::JumpNested(0) => addprim("jump", &[], JUMP_COPIES, chosen),
        Split::JumpNested(n) => {
            // As many lines for jump commands as 33 commands make.
            let copies = |others| share_copies(33 * share_copies(JUMP_COPIES(others), 32), n);
            addprim("jump", &chosen[..(n as usize).min(chosen.len())], copies, chosen)
        }
        Split::Template(Template::JumpAroundRight) => {
            by_words(&["turn around right"], &["jump around right"])
        }
        Split::Template(Template::AroundRight) => {
            by_words(&["turn around right"], &verbs("around right").each_ref().map(String::as_str))
        }
        Split::Template(Template::OppositeRight) => {
            by_words(&["turn opposite right"], &verbs("opposite right").each_ref().map(String::as_str))
        }
        Split::Template(Template::Right) => {
            by_words(&["turn right"], &verbs("right").each_ref().map(String::as_str))
        }
        Split::Filler(n) => {
            let unseen = &FILLERS[n as usize..];
            let unseen: Vec<String> = unseen.iter().map(|verb| format!("{verb} around right")).collect();
            let unseen: Vec<&str> = unseen.iter().map(String::as_str).collect();
            let mut filler = by_words(&["turn around right"], &["jump around right"]);
            let with_unseen = LANGUAGE.rows_with(&unseen);
            filler[0].rows.retain(|&row| !with_unseen[row as usize]);
            filler
        }
        Split::Fewshot(..) => {
            let mut few = rule(Split::Filler(0), &[]);
            few[0].rows.extend(chosen);
            few
        }
        Split::Mcd(_) => {
            let (train, test) = chosen.split_at(chosen.len().min(MCD_SIZES.0));
            parts(train.to_vec(), test.to_vec())
        }
    }
}

fn parts(train: Vec<u32>, test: Vec<u32>) -> Vec<Part> {
    vec![Part::new("train", train), Part::new("test", test)]
}

/// One line in ten of train is the primitive.
const JUMP_COPIES: fn(usize) -> usize = |others| others / 9;

/// The lines of the primitive, shared with `n` more commands.
fn share_copies(copies: usize, n: u32) -> usize {
    let commands = n as usize + 1;
    (2 * copies + commands) / (2 * commands)
}

/// Train: every command without the primitive, and copies of the primitive and of each added command. Test: all others
/// but the excluded ones.
fn addprim(primitive: &str, added: &[u32], copies: impl Fn(usize) -> usize, excluded: &[u32]) -> Vec<Part> {
    let with = LANGUAGE.rows_with(&[primitive]);
    let alone = LANGUAGE.row(primitive).expect("the primitive is a command");
    let (with, mut train): (Vec<u32>, Vec<u32>) = (0..LANGUAGE.size()).partition(|&row| with[row as usize]);
    let copies = copies(train.len());
    for row in added.iter().copied().chain([alone]) {
        train.extend(std::iter::repeat_n(row, copies));
    }
    parts(train, with.into_iter().filter(|row| *row != alone && !excluded.contains(row)).collect())
}

/// The rows that a drawn split may choose from.
pub fn candidates(split: Split) -> Vec<u32> {
    match split {
        Split::Simple | Split::Share(_) | Split::Mcd(_) => (0..LANGUAGE.size()).collect(),
        Split::JumpRepeated(..) | Split::JumpNested(_) => rule(Split::AddprimJump, &[]).swap_remove(1).rows,
        Split::Fewshot(..) => {
            let mut added = rule(Split::Filler(1), &[]).swap_remove(0).rows;
            let first = LANGUAGE.rows_with(&["look around right"]);
            added.retain(|&row| first[row as usize]);
            added
        }
        _ => Vec::new(),
    }
}

/// How many rows a drawn split chooses; the few-shot files of the release fall short in six places, which only their
/// import may.
pub fn choice_size(split: Split) -> usize {
    match split {
        Split::Simple | Split::Share(_) => SIMPLE_TRAIN,
        Split::JumpRepeated(n, _) | Split::Fewshot(n, _) => n as usize,
        Split::JumpNested(_) => 32,
        Split::Mcd(_) => MCD_SIZES.0 + MCD_SIZES.1,
        _ => 0,
    }
}

/// How many rows the released file of a few-shot split adds.
pub fn released_choice_size(split: Split) -> usize {
    match split {
        Split::Fewshot(32, 3) => 31,
        Split::Fewshot(64, rep) => [61, 61, 63, 62, 60][rep as usize - 1],
        split => choice_size(split),
    }
}

/// How many rows a part of a split has, if every draw has as many.
pub fn size(split: Split, part: &str) -> Option<usize> {
    let share = |share: u32| (LANGUAGE.size() * share / 100) as usize;
    let all = LANGUAGE.size() as usize;
    let (train, test) = match split {
        Split::All => return (part == "all").then_some(all),
        Split::Simple => (SIMPLE_TRAIN, all - SIMPLE_TRAIN),
        Split::Share(percent) => (share(percent), all - share(percent)),
        Split::Mcd(_) => MCD_SIZES,
        // Released files may add fewer commands than their name says.
        Split::Fewshot(..) => return None,
        split => {
            let parts = rule(split, &draw(split, 0));
            return parts.iter().find(|known| known.name == part).map(|part| part.rows.len());
        }
    };
    match part {
        "train" => Some(train),
        "test" => Some(test),
        _ => None,
    }
}

/// Chooses at random.
pub fn draw(split: Split, seed: u64) -> Vec<u32> {
    let split = match split {
        Split::Share(_) => Split::Simple,                   // prefixes of one draw
        Split::JumpNested(_) => Split::JumpRepeated(32, 1), // subsets of one draw
        split => split,
    };
    let mut stream = Streams::new(&format!("scan/{}", split.name()), "draw", seed).item(0);
    stream.sample(&candidates(split), choice_size(split))
}

/// All parts of a split, drawn and put into random order with this seed.
pub fn make(split: Split, seed: u64) -> Vec<Part> {
    let mut parts = rule(split, &draw(split, seed));
    for part in &mut parts {
        // Where the release has the same lines in two files they are in the same order, and so they are here.
        let (ordered_as, rows) = match (split, part.name.as_str()) {
            (Split::Simple | Split::Share(_), "train") => continue,
            (Split::Filler(0), "train") => (Split::Template(Template::AroundRight), part.rows.len()),
            (Split::Fewshot(..), "train") => {
                (Split::Template(Template::AroundRight), part.rows.len() - choice_size(split))
            }
            (Split::Filler(3), "train") => (Split::Template(Template::JumpAroundRight), part.rows.len()),
            (Split::Filler(_) | Split::Fewshot(..), _) => {
                (Split::Template(Template::JumpAroundRight), part.rows.len())
            }
            (Split::JumpNested(_), "test") => (Split::JumpRepeated(32, 1), part.rows.len()),
            (split, _) => (split, part.rows.len()),
        };
        let dataset = format!("scan/{}", ordered_as.name());
        Streams::new(&dataset, &part.name, seed).item(0).shuffle(&mut part.rows[..rows]);
    }
    add_validation(split, &mut parts, seed);
    parts
}

/// Adds the validation parts of the NACS paper that are not there yet, and what they leave of train.
///
/// `val-random` is a coin flip for each line of train. The copies of `jump` that it takes are one line of it, those of
/// `turn left` all stay: so it is in the release.
pub fn add_validation(split: Split, parts: &mut Vec<Part>, seed: u64) {
    let Some(train) = rows_of(parts, "train") else { return };
    let language = split.language();
    if rows_of(parts, "val-random").is_none() {
        let mut flips = Streams::new(&format!("scan/{}", split.name()), "val-random", seed).item(0);
        let (mut random, mut rest) = (Vec::new(), Vec::new());
        for &row in &train {
            if !flips.coin(0.1) {
                rest.push(row);
            } else if !(collapses(split) && is_special(split, row) && random.contains(&row)) {
                random.push(row);
            }
        }
        parts.push(Part::new("val-random", random));
        parts.push(Part::new("train-wo-random", rest));
    }
    let random = rows_of(parts, "val-random").unwrap_or_default();
    let rest = rows_of(parts, "train-wo-random").unwrap_or_default();

    let more = if split == Split::Length {
        let short = |row: &u32| language.action_length(*row) <= 18;
        let (wo_length, length): (Vec<u32>, Vec<u32>) = train.into_iter().partition(short);
        vec![
            ("val-length", length),
            ("train-wo-length", wo_length),
            ("val-random-wo-length", random.into_iter().filter(short).collect()),
            ("train-wo-random-wo-length", rest.into_iter().filter(short).collect()),
        ]
    } else if split.has_dab() {
        let with_dab = |mut rows: Vec<u32>| {
            let repeated: Vec<u32> = rows.iter().copied().filter(|&row| is_special(split, row)).collect();
            rows.extend(repeated.into_iter().map(as_dab));
            rows
        };
        let test = rows_of(parts, "test").unwrap_or_default();
        vec![
            ("val-dab", test.into_iter().map(as_dab).collect()),
            ("train-with-dab", with_dab(train)),
            ("train-wo-random-with-dab", with_dab(rest)),
        ]
    } else {
        Vec::new()
    };
    for (name, rows) in more {
        if rows_of(parts, name).is_none() {
            parts.push(Part::new(name, rows));
        }
    }
}

fn rows_of(parts: &[Part], name: &str) -> Option<Vec<u32>> {
    parts.iter().find(|part| part.name == name).map(|part| part.rows.clone())
}

/// Whether the repeated lines that `val-random` takes are one line of it.
pub fn collapses(split: Split) -> bool {
    matches!(split, Split::AddprimJump | Split::JumpNested(_) | Split::JumpRepeated(..))
}

/// Whether a row of train is one that is repeated: the primitive or an added command.
pub fn is_special(split: Split, row: u32) -> bool {
    match split {
        Split::AddprimTurnLeft => LANGUAGE.row("turn left") == Some(row),
        _ => collapses(split) && WITH_JUMP.get(row as usize) == Some(&true),
    }
}

static WITH_JUMP: LazyLock<Vec<bool>> = LazyLock::new(|| LANGUAGE.rows_with(&["jump"]));

/// The row with `dab` in place of `jump`.
fn as_dab(row: u32) -> u32 {
    AS_DAB[row as usize]
}

static AS_DAB: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let dab = |row| {
        let command = LANGUAGE.table.inputs.get(row).to_string().replace("jump", "dab");
        LANGUAGE_WITH_DAB.row(&command).expect("every command has one with `dab`")
    };
    (0..LANGUAGE.size()).map(dab).collect()
});
