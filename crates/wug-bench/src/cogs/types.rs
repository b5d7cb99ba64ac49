//! The kinds of generalization, and the items that are held out for them.

/// What kind of thing is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A known structure with a word that was not seen in it.
    Lexical,
    /// A structure that was not seen.
    Structural,
}

/// One of the 21 kinds of generalization.
#[derive(Debug, Clone, Copy)]
pub struct Generalization {
    /// As the files have it.
    pub name: &'static str,
    /// What is new.
    pub kind: Kind,
    /// How its sentences are made.
    pub made: Made,
    /// The word it is about, if there is one.
    pub item: Option<&'static str>,
}

/// How the sentences of a kind are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// Drawn from this sort of the grammar.
    Drawn(&'static str),
    /// Those of another kind with a word exchanged.
    Exchanged {
        /// The other kind.
        from: &'static str,
        /// Its word.
        old: &'static str,
    },
    /// Clauses in clauses, equally many for each depth.
    Clauses,
    /// Prepositional phrases in prepositional phrases, equally many for each depth.
    Phrases,
}

const fn drawn(name: &'static str, item: &'static str, sort: &'static str) -> Generalization {
    Generalization { name, kind: Kind::Lexical, made: Made::Drawn(sort), item: Some(item) }
}

const fn exchanged(
    name: &'static str,
    item: &'static str,
    from: &'static str,
    old: &'static str,
) -> Generalization {
    Generalization { name, kind: Kind::Lexical, made: Made::Exchanged { from, old }, item: Some(item) }
}

const fn structural(name: &'static str, made: Made) -> Generalization {
    Generalization { name, kind: Kind::Structural, made, item: None }
}

/// All 21. Three pairs share their sentences but for one word, so their scores are not independent.
pub const GENERALIZATIONS: [Generalization; 21] = [
    drawn("subj_to_obj_common", "hedgehog", "TO-OBJECT-COMMON"),
    exchanged("prim_to_obj_common", "shark", "subj_to_obj_common", "hedgehog"),
    drawn("subj_to_obj_proper", "Lina", "TO-OBJECT-PROPER"),
    exchanged("prim_to_obj_proper", "Paula", "subj_to_obj_proper", "Lina"),
    drawn("obj_to_subj_common", "cockroach", "SUBJECT-cockroach"),
    drawn("prim_to_subj_common", "shark", "SUBJECT-shark"),
    drawn("obj_to_subj_proper", "Charlie", "SUBJECT-Charlie"),
    drawn("prim_to_subj_proper", "Paula", "SUBJECT-Paula"),
    drawn("prim_to_inf_arg", "crawl", "CRAWL"),
    drawn("active_to_passive", "blessed", "BLESSED"),
    drawn("passive_to_active", "squeezed", "SQUEEZED"),
    drawn("obj_omitted_transitive_to_transitive", "baked", "BAKED"),
    exchanged("unacc_to_transitive", "shattered", "obj_omitted_transitive_to_transitive", "baked"),
    drawn("do_dative_to_pp_dative", "teleported", "TELEPORTED"),
    drawn("pp_dative_to_do_dative", "shipped", "SHIPPED"),
    drawn("only_seen_as_transitive_subj_as_unacc_subj", "cobra", "COBRA"),
    drawn("only_seen_as_unacc_subj_as_obj_omitted_transitive_subj", "hippo", "HIPPO-OPTIONAL"),
    drawn("only_seen_as_unacc_subj_as_unerg_subj", "hippo", "HIPPO-UNERGATIVE"),
    structural("obj_pp_to_subj_pp", Made::Drawn("SUBJECT-PP")),
    structural("cp_recursion", Made::Clauses),
    structural("pp_recursion", Made::Phrases),
];

/// Words that the lexicon does not have, each shown in train once.
pub const HELD_OUT: [&str; 15] = [
    "hedgehog",
    "Lina",
    "cockroach",
    "Charlie",
    "shark",
    "Paula",
    "crawl",
    "cobra",
    "hippo",
    "blessed",
    "squeezed",
    "baked",
    "shattered",
    "teleported",
    "shipped",
];

/// Held-out words that train shows on their own.
pub const HELD_OUT_PRIMITIVES: [&str; 3] = ["shark", "Paula", "crawl"];

/// The sentences that show the other held-out words, with the name behind `exposure_example_`.
pub const EXPOSURES: [(&str, &str); 12] = [
    ("unacc_subj", "A landlord hoped that the hippo decomposed ."),
    ("unacc", "Julian shattered ."),
    ("subj_common", "A hedgehog ate the cake on the bed ."),
    ("obj_proper", "The creature grew Charlie ."),
    ("pp_dative", "The girl shipped a cookie in a container to Scarlett ."),
    ("subj_proper", "Lina gave the cake beside a stage to Olivia ."),
    ("obj_common", "Henry liked a cockroach in a box ."),
    ("transitive_subj", "A cobra helped a cake in the house ."),
    ("obj_omitted_transitive", "The goose baked ."),
    ("active", "A crocodile blessed William ."),
    ("do_dative", "The girl teleported Liam the cookie ."),
    ("passive", "The book was squeezed ."),
];

/// The kind of generalization with this name.
pub fn generalization(name: &str) -> Option<&'static Generalization> {
    GENERALIZATIONS.iter().find(|kind| kind.name == name)
}

/// What a type of row belongs to: `lexical`, `structural`, `in-distribution`, `primitive`, `exposure` or `augmented`.
pub fn group(kind: &str) -> &'static str {
    match generalization(kind) {
        Some(Generalization { kind: Kind::Lexical, .. }) => "lexical",
        Some(Generalization { kind: Kind::Structural, .. }) => "structural",
        None if kind == "in_distribution" => "in-distribution",
        None if kind == "primitive" => "primitive",
        None if kind.starts_with("exposure_example_") => "exposure",
        None => "augmented",
    }
}
