//! SCAN's grammar: 20,910 commands.

use std::sync::LazyLock;

use wug_grammar::{Grammar, Strings};

/// `jump`, `walk opposite left twice`, `turn right after look around left thrice`, and so on: one conjunction at most,
/// no recursion, and every command has one derivation.
const COMMANDS: &str = "
    plain:    C -> S
    and:      C -> S and S
    after:    C -> S after S
    once:     S -> V
    twice:    S -> V twice
    thrice:   S -> V thrice
    bare:     V -> U
    direct:   V -> W D
    opposite: V -> W opposite D
    around:   V -> W around D
    act:      W -> U
    W -> turn
    U -> walk | look | run | jump
    D -> left | right
";

/// The language of SCAN, read as words.
pub static SCAN: LazyLock<(Grammar, Strings)> = LazyLock::new(|| read(COMMANDS));

/// SCAN with the verb `dab`, which stands in for `jump` in the validation parts of the NACS paper.
pub static SCAN_WITH_DAB: LazyLock<(Grammar, Strings)> =
    LazyLock::new(|| read(&format!("{COMMANDS} U -> dab")));

/// The sort of whole commands.
pub const COMMAND: &str = "C";

/// The sort of verb phrases, which `twice`, `and` and so on put together.
pub const PHRASE: &str = "V";

fn read(text: &str) -> (Grammar, Strings) {
    Grammar::parse(text).expect("the grammar is well formed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wug_grammar::Space;

    #[test]
    fn there_are_20_910_commands() {
        let (grammar, _) = &*SCAN;
        let count = |sort| Space::all(grammar, grammar.sort(sort).unwrap()).unwrap().count().to_string();
        assert_eq!([count("V"), count("S"), count("C")], ["34", "102", "20910"]);
    }
}
