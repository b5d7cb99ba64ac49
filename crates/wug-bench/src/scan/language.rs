//! All commands with their actions, as a table that the splits choose from.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use wug_data::{Facts, Sequences, Table};
use wug_grammar::{Algebra, Arena, Grammar, Parser, Space, StringBuffer, Strings};

use super::grammar::{COMMAND, SCAN, SCAN_WITH_DAB};
use super::meaning::{ACTIONS_OF_SCAN, ACTIONS_WITH_DAB};

/// The commands of a grammar, sorted, and what is known of them.
pub struct Language {
    /// Commands and actions; rows are sorted by the bytes of the command.
    pub table: Arc<Table>,
    /// The row of each command.
    rows: HashMap<String, u32>,
}

/// The 20,910 commands of SCAN.
pub static LANGUAGE: LazyLock<Language> = LazyLock::new(|| Language::new(&[(&SCAN, &ACTIONS_OF_SCAN)]));

/// The commands of SCAN, and behind them (from the same row on) those with `dab` in place of every `jump`.
pub static LANGUAGE_WITH_DAB: LazyLock<Language> =
    LazyLock::new(|| Language::new(&[(&SCAN, &ACTIONS_OF_SCAN), (&SCAN_WITH_DAB, &ACTIONS_WITH_DAB)]));

/// The verbs, in the order in which facts list them.
const PRIMITIVES: [&str; 6] = ["walk", "look", "run", "jump", "dab", "turn"];

impl Language {
    /// The commands of the first grammar, then those of the second that have `dab` but no `jump`.
    fn new(grammars: &[(&'static (Grammar, Strings), &Strings)]) -> Self {
        let (words, actions) = (&grammars[grammars.len() - 1].0.1, grammars[grammars.len() - 1].1);
        let mut table = Table {
            inputs: Sequences::new(words.vocab().clone(), " "),
            targets: Sequences::new(actions.vocab().clone(), " "),
            facts: Facts::default(),
        };
        for (i, ((grammar, words), actions)) in grammars.iter().enumerate() {
            let mut arena = Arena::new();
            let sort = grammar.sort(COMMAND).expect("the grammar has commands");
            let commands = Space::all(grammar, sort).and_then(|space| space.enumerate(&mut arena));
            let commands = commands.expect("the language is finite and small");
            let (mut said, mut done) = (words.buffer(), actions.buffer());
            let (said_at, done_at) = (said.evaluate_all(&arena), done.evaluate_all(&arena));
            let mut rows: Vec<(&[u32], &[u32])> = commands
                .iter()
                .map(|tree| (said.words(said_at[tree.index()]), done.words(done_at[tree.index()])))
                .collect();
            if i > 0 {
                let (dab, jump) = (words.vocab().get("dab"), words.vocab().get("jump"));
                rows.retain(|(command, _)| {
                    command.iter().any(|&word| Some(word) == dab)
                        && !command.iter().any(|&word| Some(word) == jump)
                });
            }
            // Words are numbered in the order of the grammar; rows are sorted as text is.
            let rank = ranks(words);
            rows.sort_by(|(a, _), (b, _)| {
                a.iter().map(|&word| rank[word as usize]).cmp(b.iter().map(|&word| rank[word as usize]))
            });
            for (command, action) in rows {
                table.inputs.push(command.iter().copied());
                table.targets.push(action.iter().copied());
            }
        }
        add_facts(&mut table);
        let rows =
            (0..table.inputs.len() as u32).map(|row| (table.inputs.get(row).to_string(), row)).collect();
        Self { table: Arc::new(table), rows }
    }

    /// The row of a command.
    pub fn row(&self, command: &str) -> Option<u32> {
        self.rows.get(command).copied()
    }

    /// How many rows there are.
    pub fn size(&self) -> u32 {
        self.table.inputs.len() as u32
    }

    /// The rows of commands in which one of these stretches of words occurs.
    pub fn rows_with(&self, stretches: &[&str]) -> Vec<bool> {
        let vocab = self.table.inputs.vocab();
        let stretches: Vec<Vec<u32>> = stretches
            .iter()
            .map(|text| text.split(' ').filter_map(|word| vocab.get(word)).collect())
            .collect();
        (0..self.size())
            .map(|row| {
                let command = self.table.inputs.get(row).ids();
                stretches.iter().any(|stretch| command.windows(stretch.len()).any(|window| window == stretch))
            })
            .collect()
    }

    /// The number of actions of each row.
    pub fn action_length(&self, row: u32) -> usize {
        self.table.targets.get(row).ids().len()
    }
}

/// The position of each word among the sorted words.
fn ranks(words: &Strings) -> Vec<usize> {
    let words = words.vocab().words();
    words.iter().map(|word| words.iter().filter(|other| *other < word).count()).collect()
}

fn add_facts(table: &mut Table) {
    let rows = || 0..table.inputs.len() as u32;
    let mut facts = Facts::default();
    facts.add_numbers("command_length", rows().map(|row| table.inputs.get(row).ids().len() as i64));
    facts.add_numbers("action_length", rows().map(|row| table.targets.get(row).ids().len() as i64));
    facts.add_labels(
        "primitives",
        rows().map(|row| {
            let has = |primitive: &&&str| table.inputs.get(row).words().any(|word| word == **primitive);
            PRIMITIVES.iter().filter(has).copied().collect::<Vec<_>>().join(" ")
        }),
    );
    facts.add_labels(
        "construction",
        rows().map(|row| {
            let words = table.inputs.get(row).words().map(|word| match word {
                "walk" | "look" | "run" | "jump" | "dab" => "U",
                "left" | "right" => "D",
                word => word,
            });
            words.collect::<Vec<_>>().join(" ")
        }),
    );
    table.facts = facts;
}

thread_local! {
    /// A parser and a buffer for each thread that judges.
    static PARSER: Parser<'static> = Parser::new(&SCAN_WITH_DAB.0, &SCAN_WITH_DAB.1).expect("SCAN can be parsed");
}

/// The actions of a command (`dab` included), or why it is none.
pub fn actions_of(command: &str) -> Result<String, String> {
    let mut text = String::new();
    with_actions(command, |actions| {
        text = actions.map(|action| ACTIONS_WITH_DAB.vocab().word(action)).collect::<Vec<_>>().join(" ");
    })?;
    Ok(text)
}

/// Calls `then` with the actions of a command, as numbers of [`ACTIONS_WITH_DAB`]; or says why it is no command.
pub fn with_actions(command: &str, then: impl FnOnce(&mut dyn Iterator<Item = u32>)) -> Result<(), String> {
    PARSER.with(|parser| {
        let sort = SCAN_WITH_DAB.0.sort(COMMAND).expect("the grammar has commands");
        let longest = parser.longest(sort).unwrap_or_default();
        if command.split_whitespace().nth(longest).is_some() {
            return Err(format!("not a command: more than {longest} words"));
        }
        let words = parser.words(command).map_err(|word| {
            let shown: String = word.chars().take(40).collect();
            format!("not a command: `{shown}` is no word of it")
        })?;
        if words.is_empty() {
            return Err("empty prediction".to_owned());
        }
        let mut arena = Arena::new();
        let tree = parser.parse(sort, &words).unrank(&mut arena, &0u32.into());
        let tree =
            tree.ok_or_else(|| "not a command: the words are in no order that the grammar has".to_owned())?;
        let mut buffer: StringBuffer<'_> = ACTIONS_WITH_DAB.buffer();
        let span = buffer.evaluate(&arena, tree);
        then(&mut buffer.words(span).iter().copied());
        Ok(())
    })
}
