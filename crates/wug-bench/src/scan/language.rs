//! All commands with their actions, as a table that the splits choose from.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use wug_data::{Facts, Sequences, Table, Tokens};
use wug_grammar::{Algebra, Arena, Grammar, NodeId, Space, Strings};

use super::grammar::{COMMAND, PHRASE, SCAN, SCAN_WITH_DAB};
use super::meaning::{ACTIONS_OF_SCAN, ACTIONS_WITH_DAB};

/// The commands of a grammar, sorted, and what is known of them.
pub struct Language {
    /// Commands and actions; rows are sorted by the bytes of the command.
    pub table: Arc<Table>,
    /// The row of each command.
    rows: HashMap<String, u32>,
    /// The verb phrases (`jump`, `turn left`, `walk around right`, ...), at most 64.
    phrases: Vec<String>,
    /// For each row a bit for every phrase that occurs in it: all splits by words are splits by phrases.
    phrases_of: Vec<u64>,
}

/// The 20,910 commands of SCAN.
pub static LANGUAGE: LazyLock<Language> = LazyLock::new(|| {
    let mut table = empty_table(&SCAN.1, &ACTIONS_OF_SCAN);
    add_commands(&mut table, &SCAN, &ACTIONS_OF_SCAN, |_| true);
    Language::new(table, &SCAN)
});

/// The commands of SCAN, and behind them (from the same row on) those with `dab` in place of every `jump`.
pub static LANGUAGE_WITH_DAB: LazyLock<Language> = LazyLock::new(|| {
    let mut table = empty_table(&SCAN_WITH_DAB.1, &ACTIONS_WITH_DAB);
    let (jump, dab) = (table.inputs.vocab().get("jump"), table.inputs.vocab().get("dab"));
    let has = |command: &[u32], verb: Option<u32>| command.iter().any(|&word| Some(word) == verb);
    add_commands(&mut table, &SCAN_WITH_DAB, &ACTIONS_WITH_DAB, |command| !has(command, dab));
    add_commands(&mut table, &SCAN_WITH_DAB, &ACTIONS_WITH_DAB, |command| {
        has(command, dab) && !has(command, jump)
    });
    Language::new(table, &SCAN_WITH_DAB)
});

impl Language {
    fn new(mut table: Table, language: &(Grammar, Strings)) -> Self {
        table.facts = facts(&table);
        let commands = || (0..table.inputs.len() as u32).map(|row| table.inputs.get(row));
        let rows = commands().zip(0..).map(|(command, row)| (command.to_string(), row)).collect();
        let (arena, trees) = trees(language, PHRASE);
        let phrases: Vec<String> = trees.iter().map(|&tree| language.1.text(&arena, tree)).collect();
        assert!(phrases.len() <= 64, "a bit for each phrase");
        let phrases_of = commands().map(|command| phrase_bits(command, &phrases)).collect();
        Self { table: Arc::new(table), rows, phrases, phrases_of }
    }

    /// The row of a command.
    pub fn row(&self, command: &str) -> Option<u32> {
        self.rows.get(command).copied()
    }

    /// How many rows there are.
    pub fn size(&self) -> u32 {
        self.table.inputs.len() as u32
    }

    /// For each row, whether one of these stretches of words occurs in a verb phrase of it.
    pub fn rows_with(&self, stretches: &[&str]) -> Vec<bool> {
        let has = |phrase: &str, stretch: &str| format!(" {phrase} ").contains(&format!(" {stretch} "));
        let mut wanted = 0;
        for (i, phrase) in self.phrases.iter().enumerate() {
            if stretches.iter().any(|stretch| has(phrase, stretch)) {
                wanted |= 1 << i;
            }
        }
        self.phrases_of.iter().map(|phrases| phrases & wanted != 0).collect()
    }

    /// The number of actions of a row.
    pub fn action_length(&self, row: u32) -> usize {
        self.table.targets.get(row).ids().len()
    }
}

fn empty_table(words: &Strings, actions: &Strings) -> Table {
    Table {
        inputs: Sequences::new(words.vocab().clone(), " "),
        targets: Sequences::new(actions.vocab().clone(), " "),
        facts: Facts::default(),
    }
}

/// All trees of a sort.
fn trees((grammar, _): &(Grammar, Strings), sort: &str) -> (Arena, Vec<NodeId>) {
    let mut arena = Arena::new();
    let trees = grammar.sort(sort).and_then(|sort| Space::all(grammar, sort)?.enumerate(&mut arena));
    let trees = trees.expect("the language is finite and small");
    (arena, trees)
}

/// Adds the commands of a language that are wanted, sorted.
fn add_commands(
    table: &mut Table,
    language: &(Grammar, Strings),
    actions: &Strings,
    wanted: impl Fn(&[u32]) -> bool,
) {
    let (arena, commands) = trees(language, COMMAND);
    let (mut said, mut done) = (language.1.buffer(), actions.buffer());
    let (said_at, done_at) = (said.evaluate_all(&arena), done.evaluate_all(&arena));
    let mut rows: Vec<(&[u32], &[u32])> = commands
        .iter()
        .map(|tree| (said.words(said_at[tree.index()]), done.words(done_at[tree.index()])))
        .filter(|(command, _)| wanted(command))
        .collect();
    // Words are numbered in the order of the grammar; rows are sorted as text is.
    let words = language.1.vocab().words();
    let rank: Vec<usize> =
        words.iter().map(|word| words.iter().filter(|other| *other < word).count()).collect();
    let ranks =
        |command: &[u32]| command.iter().fold(0u64, |key, &word| key << 5 | (1 + rank[word as usize] as u64));
    let longest = rows.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    rows.sort_by_key(|(command, _)| ranks(command) << (5 * (longest - command.len())));
    for (command, actions) in rows {
        table.inputs.push(command.iter().copied());
        table.targets.push(actions.iter().copied());
    }
}

/// A bit for every phrase that a command is made of.
fn phrase_bits(command: Tokens<'_>, phrases: &[String]) -> u64 {
    let mut bits = 0;
    let mut phrase = String::new();
    let mut words = command.words().peekable();
    while let Some(word) = words.next() {
        if matches!(word, "twice" | "thrice" | "and" | "after") {
            continue;
        }
        if !phrase.is_empty() {
            phrase.push(' ');
        }
        phrase.push_str(word);
        if words.peek().is_none_or(|next| matches!(*next, "twice" | "thrice" | "and" | "after")) {
            let i = phrases.iter().position(|known| *known == phrase);
            bits |= 1 << i.expect("a command is made of verb phrases");
            phrase.clear();
        }
    }
    bits
}

fn facts(table: &Table) -> Facts {
    /// In the order in which the fact lists them.
    const PRIMITIVES: [&str; 6] = ["walk", "look", "run", "jump", "dab", "turn"];
    let inputs = || (0..table.inputs.len() as u32).map(|row| table.inputs.get(row));
    let mut facts = Facts::default();
    facts.add_numbers("command_length", inputs().map(|command| command.ids().len() as i64));
    facts.add_numbers(
        "action_length",
        (0..table.targets.len() as u32).map(|row| table.targets.get(row).ids().len() as i64),
    );
    facts.add_labels(
        "primitives",
        inputs().map(|command| {
            let said = PRIMITIVES.iter().filter(|primitive| command.words().any(|word| word == **primitive));
            spaced(said.copied())
        }),
    );
    facts.add_labels(
        "construction",
        inputs().map(|command| {
            spaced(command.words().map(|word| match word {
                "walk" | "look" | "run" | "jump" | "dab" => "U",
                "left" | "right" => "D",
                word => word,
            }))
        }),
    );
    facts
}

fn spaced<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::with_capacity(64);
    for word in words {
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{word}");
    }
    text
}
