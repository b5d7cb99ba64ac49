//! What it means: actions.

use std::sync::LazyLock;
use wug_data::truncate;

use wug_grammar::{Algebra, Arena, NodeId, Parser, Strings};

use super::grammar::{COMMAND, SCAN, SCAN_WITH_DAB};
use super::language::LANGUAGE;

/// `turn` adds no action of its own: the direction turns.
const ACTIONS: &str = "
    plain:    $1
    and:      $1 $2
    after:    $2 $1
    once:     $1
    twice:    $1 $1
    thrice:   $1 $1 $1
    bare:     $1
    direct:   $2 $1
    opposite: $2 $2 $1
    around:   $2 $1 $2 $1 $2 $1 $2 $1
    act:      $1
    turn:
    walk:     I_WALK
    look:     I_LOOK
    run:      I_RUN
    jump:     I_JUMP
    left:     I_TURN_LEFT
    right:    I_TURN_RIGHT
";

/// The language of SCAN, read as actions.
pub static ACTIONS_OF_SCAN: LazyLock<Strings> =
    LazyLock::new(|| Strings::parse(&SCAN.0, ACTIONS).expect("every rule has a meaning"));

/// SCAN with `dab`, read as actions.
pub static ACTIONS_WITH_DAB: LazyLock<Strings> = LazyLock::new(|| {
    let actions = format!("{ACTIONS} dab: I_DAB");
    Strings::parse(&SCAN_WITH_DAB.0, &actions).expect("every rule has a meaning")
});

/// The actions of a command (`dab` included), or why it is none.
///
/// ```
/// use wug_bench::scan::meaning::actions_of;
///
/// assert_eq!(actions_of("jump left twice").unwrap(), "I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP");
/// assert_eq!(actions_of("jump often").unwrap_err(), "not a command: `often` is no word of it");
/// ```
pub fn actions_of(command: &str) -> Result<String, String> {
    let mut text = String::new();
    with_actions(command, |actions| text = actions.collect::<Vec<_>>().join(" "))?;
    Ok(text)
}

/// Calls `then` with the actions of a command, or says why it is no command.
pub(crate) fn with_actions(
    command: &str,
    then: impl FnOnce(&mut dyn Iterator<Item = &str>),
) -> Result<(), String> {
    // Nearly every prediction is a command as it stands in the table; the grammar decides on the rest.
    if let Some(row) = LANGUAGE.row(command) {
        then(&mut LANGUAGE.table.targets.get(row).words());
        return Ok(());
    }
    let (arena, tree) = parse(command)?;
    let mut buffer = ACTIONS_WITH_DAB.buffer();
    let actions = buffer.evaluate(&arena, tree);
    then(&mut buffer.words(actions).iter().map(|&action| ACTIONS_WITH_DAB.vocab().word(action)));
    Ok(())
}

/// How the grammar derives a command: the names of its rules, as a term.
///
/// ```
/// use wug_bench::scan::meaning::derivation;
///
/// assert_eq!(derivation("jump left twice").unwrap(), "plain(twice(direct(act(jump), left)))");
/// ```
pub fn derivation(command: &str) -> Result<String, String> {
    let (arena, tree) = parse(command)?;
    Ok(arena.display(&SCAN_WITH_DAB.0, tree))
}

fn parse(command: &str) -> Result<(Arena, NodeId), String> {
    let (grammar, _) = &*SCAN_WITH_DAB;
    let sort = grammar.sort(COMMAND).expect("the grammar has commands");
    let longest = PARSER.longest(sort).unwrap_or_default();
    if command.split_whitespace().nth(longest).is_some() {
        return Err(format!("not a command: more than {longest} words"));
    }
    let words = PARSER.words(command).map_err(|word| {
        let shown = truncate(word, 40);
        format!("not a command: `{shown}` is no word of it")
    })?;
    if words.is_empty() {
        return Err("empty prediction".to_owned());
    }
    let mut arena = Arena::new();
    let tree = PARSER.parse(sort, &words).unrank(&mut arena, &0u32.into());
    let tree = tree.ok_or_else(|| "not a command: no rule puts its words together".to_owned())?;
    Ok((arena, tree))
}

static PARSER: LazyLock<Parser<'static>> =
    LazyLock::new(|| Parser::new(&SCAN_WITH_DAB.0, &SCAN_WITH_DAB.1).expect("SCAN can be parsed"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_paper() {
        for (command, actions) in [
            ("jump", "I_JUMP"),
            ("jump left", "I_TURN_LEFT I_JUMP"),
            (
                "jump around right",
                "I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP",
            ),
            ("turn left twice", "I_TURN_LEFT I_TURN_LEFT"),
            ("jump thrice", "I_JUMP I_JUMP I_JUMP"),
            ("jump opposite left and walk thrice", "I_TURN_LEFT I_TURN_LEFT I_JUMP I_WALK I_WALK I_WALK"),
            (
                "jump opposite left after walk around left",
                "I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK \
                 I_TURN_LEFT I_TURN_LEFT I_JUMP",
            ),
            ("dab twice", "I_DAB I_DAB"),
        ] {
            assert_eq!(actions_of(command).as_deref(), Ok(actions), "{command}");
        }
    }

    /// The table and the grammar are two ways to the same actions.
    #[test]
    fn parsing_a_command_gives_the_actions_of_the_table() {
        for row in (0..LANGUAGE.size()).step_by(7) {
            let (command, actions) = (LANGUAGE.table.inputs.get(row), LANGUAGE.table.targets.get(row));
            let spaced = command.to_string().replace(' ', "  "); // not as it stands in the table
            assert_eq!(actions_of(&(spaced + " ")), Ok(actions.to_string()));
        }
    }

    #[test]
    fn what_is_no_command_has_no_actions() {
        for text in
            ["", "turn", "jump jump", "jump and", "jump twice twice", "walk left right", "Jump", "spin"]
        {
            assert!(actions_of(text).is_err(), "{text}");
        }
        assert!(actions_of(&"jump and ".repeat(100_000)).is_err());
    }
}
