//! What it means: actions.

use std::sync::LazyLock;

use wug_grammar::Strings;

use super::grammar::{SCAN, SCAN_WITH_DAB};

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

#[cfg(test)]
mod tests {
    use super::super::language::actions_of;

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
