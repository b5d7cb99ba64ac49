use super::*;
use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;
use wug_official::Official;

use super::super::draw::{Counts, noun_phrases};
use super::super::files;
use super::super::sentence::{Clause, Frame, NounPhrase, Sentence};
use super::super::types::HELD_OUT;

static DRAWN: LazyLock<(Vec<Vec<Row>>, Vec<Row>)> = LazyLock::new(|| (in_distribution(0), generalization(0)));

/// The construction of a sentence's outermost clause.
fn construction(sentence: &Sentence<'_>) -> &'static str {
    let clause = &sentence.clauses[0];
    let is = |list: &[&str]| list.contains(&clause.verb);
    match &clause.frame {
        Frame::That => "clause",
        Frame::Infinitive(_) => "infinitive",
        Frame::ToRecipient(..) => "dative-to",
        Frame::TwoObjects(..) => "dative-do",
        Frame::Object(_) if is(&lexicon::UNACCUSATIVE) => "unacc+obj",
        Frame::Object(_) if is(&lexicon::OPTIONAL) => "opt+obj",
        Frame::Object(_) => "oblig+obj",
        Frame::Bare if is(&lexicon::UNACCUSATIVE) => "unacc",
        Frame::Bare if is(&lexicon::UNERGATIVE) => "unerg",
        Frame::Bare => "opt",
        Frame::Passive { recipient, theme, agent } => match (recipient, theme, agent) {
            (Some(_), _, None) => "pass dat-to",
            (Some(_), _, Some(_)) => "pass dat-to+by",
            (_, Some(_), None) => "pass dat-obj",
            (_, Some(_), Some(_)) => "pass dat-obj+by",
            (_, _, by) => {
                let kind = if is(&lexicon::UNACCUSATIVE_PARTICIPLE) {
                    ["pass unacc", "pass unacc+by"]
                } else if is(&lexicon::OPTIONAL_PARTICIPLE) {
                    ["pass opt", "pass opt+by"]
                } else {
                    ["pass oblig", "pass oblig+by"]
                };
                kind[usize::from(by.is_some())]
            }
        },
    }
}

/// Shares of the constructions among the 30,000 released sentences, in percent.
const SHARES: [(&str, f64); 20] = [
    ("clause", 9.5),
    ("unacc+obj", 6.6),
    ("oblig+obj", 6.6),
    ("opt+obj", 6.4),
    ("dative-do", 6.4),
    ("dative-to", 6.4),
    ("pass dat-to+by", 5.9),
    ("pass oblig+by", 5.4),
    ("pass unacc+by", 5.4),
    ("pass dat-to", 5.2),
    ("pass opt+by", 5.1),
    ("pass dat-obj+by", 5.0),
    ("pass dat-obj", 4.7),
    ("pass unacc", 2.4),
    ("pass oblig", 2.3),
    ("pass opt", 2.3),
    ("infinitive", 5.0),
    ("unacc", 3.6),
    ("unerg", 2.8),
    ("opt", 2.8),
];

fn shares<'r>(rows: impl Iterator<Item = &'r Row>) -> BTreeMap<&'static str, f64> {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    let mut all = 0.0;
    for row in rows.filter(|row| row.kind == "in_distribution") {
        let sentence = Sentence::parse(&row.sentence).unwrap();
        *counts.entry(construction(&sentence)).or_default() += 1.0;
        all += 1.0;
    }
    for count in counts.values_mut() {
        *count *= 100.0 / all;
    }
    counts
}

#[test]
fn constructions_are_as_frequent_as_in_the_release() {
    let drawn = shares(DRAWN.0.iter().flatten());
    for (construction, share) in SHARES {
        assert!((drawn[construction] - share).abs() < 0.5, "{construction}: {} {share}", drawn[construction]);
    }
    let mut official = Official::new("constructions of COGS");
    let Some(cogs) = official.folder("cogs", SHARES.len()) else { return };
    let parts =
        ["train", "dev", "test"].map(|part| files::read(&cogs.join(format!("data/{part}.tsv"))).unwrap());
    for (construction, share) in shares(parts.iter().flatten()) {
        let ours = drawn[construction];
        assert!((ours - share).abs() < 0.5, "{construction}: {ours} against {share}");
        official.compared(1);
    }
}

#[test]
fn the_parts_have_the_sizes_of_the_release() {
    let (parts, generalization) = &*DRAWN;
    assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [24_155, 3_000, 3_000]);
    assert_eq!(generalization.len(), 21_000);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &parts[0] {
        *kinds.entry(row.kind.split("_example").next().unwrap()).or_default() += 1;
    }
    assert_eq!(kinds, BTreeMap::from([("exposure", 12), ("in_distribution", 24_000), ("primitive", 143)]));
    for kind in &GENERALIZATIONS {
        assert_eq!(generalization.iter().filter(|row| row.kind == kind.name).count(), 1_000, "{}", kind.name);
    }
}

#[test]
fn no_sentence_occurs_twice() {
    let (parts, generalization) = &*DRAWN;
    let mut seen = HashSet::new();
    for row in parts.iter().flatten().chain(generalization) {
        assert!(seen.insert(row.sentence.as_str()), "{}", row.sentence);
    }
}

#[test]
fn the_filters_hold() {
    for row in DRAWN.0.iter().flatten().filter(|row| row.kind != "primitive") {
        let counts = Counts::of(&Sentence::parse(&row.sentence).unwrap());
        assert!(!counts.repeats && counts.that <= 2 && counts.prepositions <= 2, "{}", row.sentence);
    }
}

#[test]
fn what_is_held_out_does_not_leak() {
    let parts = &DRAWN.0;
    for word in HELD_OUT {
        let has = |row: &&Row| row.sentence.split(' ').any(|said| said == word);
        let rows: Vec<&Row> = parts.iter().flatten().filter(has).collect();
        let [row] = rows.as_slice() else { panic!("{word} is in {} rows", rows.len()) };
        assert!(row.kind == "primitive" || row.kind.starts_with("exposure_example_"), "{word}: {}", row.kind);
        // Nor in another form: `blessed` as `bless`.
        if let Some(lemma) = lexicon::lemma(word) {
            let predicate = |row: &&Row| row.form.split(' ').any(|said| said == lemma);
            assert_eq!(parts.iter().flatten().filter(predicate).count(), 1, "{lemma}");
        }
    }
    // Nor are subjects or agents modified anywhere but in the generalization part.
    for row in parts.iter().flatten().filter(|row| row.kind != "primitive") {
        for clause in Sentence::parse(&row.sentence).unwrap().clauses {
            let plain =
                |phrase: &NounPhrase<'_>| matches!(phrase, NounPhrase::Common(links) if links.len() > 1);
            assert!(!plain(&clause.subject), "{}", row.sentence);
        }
    }
}

fn is_modified(phrase: &NounPhrase<'_>) -> bool {
    matches!(phrase, NounPhrase::Common(links) if links.len() > 1)
}

fn is_word(phrase: &NounPhrase<'_>, word: &str) -> bool {
    match phrase {
        NounPhrase::Name(name) => *name == word,
        NounPhrase::Common(links) => links[0].noun == word,
    }
}

/// Whether the innermost clause is what its kind asks for.
fn obeys(kind: &str, clause: &Clause<'_>) -> bool {
    let item = super::super::types::generalization(kind).and_then(|kind| kind.item).unwrap_or_default();
    let subject_is_item = is_word(&clause.subject, item);
    match kind {
        "subj_to_obj_common" | "prim_to_obj_common" | "subj_to_obj_proper" | "prim_to_obj_proper" => {
            match &clause.frame {
                Frame::Object(theme) | Frame::ToRecipient(theme, _) | Frame::TwoObjects(_, theme) => {
                    is_word(theme, item)
                }
                _ => false,
            }
        }
        "obj_to_subj_common" | "prim_to_subj_common" | "obj_to_subj_proper" | "prim_to_subj_proper" => {
            subject_is_item && !matches!(clause.frame, Frame::Passive { .. } | Frame::That)
        }
        "prim_to_inf_arg" => clause.frame == Frame::Infinitive("crawl"),
        "active_to_passive" => {
            clause.verb == item
                && matches!(clause.frame, Frame::Passive { recipient: None, theme: None, .. })
                && !matches!(clause.subject, NounPhrase::Name(_))
        }
        "passive_to_active" | "obj_omitted_transitive_to_transitive" | "unacc_to_transitive" => {
            clause.verb == item && matches!(clause.frame, Frame::Object(_))
        }
        "do_dative_to_pp_dative" => clause.verb == item && matches!(clause.frame, Frame::ToRecipient(..)),
        "pp_dative_to_do_dative" => clause.verb == item && matches!(clause.frame, Frame::TwoObjects(..)),
        "only_seen_as_transitive_subj_as_unacc_subj" => {
            subject_is_item && clause.frame == Frame::Bare && lexicon::UNACCUSATIVE.contains(&clause.verb)
        }
        "only_seen_as_unacc_subj_as_obj_omitted_transitive_subj" => {
            subject_is_item && clause.frame == Frame::Bare && lexicon::OPTIONAL.contains(&clause.verb)
        }
        "only_seen_as_unacc_subj_as_unerg_subj" => {
            subject_is_item && clause.frame == Frame::Bare && lexicon::UNERGATIVE.contains(&clause.verb)
        }
        "obj_pp_to_subj_pp" => {
            let agent = match &clause.frame {
                Frame::Passive { agent, .. } => agent.as_ref(),
                _ => None,
            };
            is_modified(&clause.subject) && agent.is_none_or(is_modified)
        }
        "cp_recursion" => !is_modified(&clause.subject),
        "pp_recursion" => {
            !is_modified(&clause.subject)
                && noun_phrases(clause).filter(|phrase| is_modified(phrase)).count() == 1
        }
        _ => false,
    }
}

#[test]
fn every_kind_obeys_its_rule() {
    let generalization = &DRAWN.1;
    for kind in &GENERALIZATIONS {
        let mut that: BTreeMap<usize, usize> = BTreeMap::new();
        let mut prepositions: BTreeMap<usize, usize> = BTreeMap::new();
        for row in generalization.iter().filter(|row| row.kind == kind.name) {
            let sentence = Sentence::parse(&row.sentence).unwrap();
            let last = sentence.clauses.last().unwrap();
            assert!(obeys(kind.name, last), "{}: {}", kind.name, row.sentence);
            let counts = Counts::of(&sentence);
            assert!(!counts.repeats, "{}", row.sentence);
            *that.entry(counts.that).or_default() += 1;
            *prepositions.entry(counts.prepositions).or_default() += 1;
            // The item is said once, in its new place, and no other is.
            let words = row.sentence.split(' ').filter(|word| HELD_OUT.contains(word));
            assert!(words.eq(kind.item), "{}: {}", kind.name, row.sentence);
            if kind.name == "obj_pp_to_subj_pp" {
                assert!(
                    sentence.clauses.iter().all(|clause| is_modified(&clause.subject)),
                    "{}",
                    row.sentence
                );
            }
        }
        let each: BTreeMap<usize, usize> = DEPTHS.map(|depth| (depth, 100)).collect();
        match kind.name {
            "cp_recursion" => assert_eq!(that, each),
            "pp_recursion" => assert_eq!(prepositions, each),
            name => {
                assert!(that.keys().all(|&n| n <= 2) && prepositions.keys().all(|&n| n <= 2), "{name}");
                if name.starts_with("only_seen") {
                    assert_eq!(that[&0], 40, "{name}: all that there are");
                    assert!((850..=940).contains(&that[&1]), "{name}: {that:?}");
                }
                if name == "obj_pp_to_subj_pp" {
                    assert!(prepositions.keys().all(|&n| n >= 1));
                }
            }
        }
    }
}

#[test]
fn pairs_share_their_sentences() {
    let of = |kind: &str| -> HashSet<String> {
        DRAWN.1.iter().filter(|row| row.kind == kind).map(|row| row.sentence.clone()).collect()
    };
    for (a, b, old, new) in [
        ("subj_to_obj_common", "prim_to_obj_common", "hedgehog", "shark"),
        ("subj_to_obj_proper", "prim_to_obj_proper", "Lina", "Paula"),
        ("obj_omitted_transitive_to_transitive", "unacc_to_transitive", "baked", "shattered"),
    ] {
        let exchanged: HashSet<String> = of(a).iter().map(|sentence| sentence.replace(old, new)).collect();
        assert_eq!(exchanged, of(b));
    }
}

#[test]
fn recursion_sets_have_their_depth() {
    for (recursion, depth) in [
        (Recursion::Clauses, 1),
        (Recursion::Clauses, 20),
        (Recursion::Clauses, DEEPEST),
        (Recursion::Phrases, 1),
        (Recursion::Phrases, 20),
        (Recursion::Phrases, DEEPEST),
    ] {
        let rows = recursion_set(recursion, depth, 7);
        assert_eq!(rows.len(), ROWS_PER_KIND, "{recursion:?} {depth}");
        assert!(rows.iter().all(|row| has_depth(row, recursion, depth)));
    }
}

#[test]
fn seeds_give_other_sentences() {
    let first = |seed| recursion_set(Recursion::Phrases, 3, seed).swap_remove(0);
    assert_eq!(first(0), first(0));
    assert_ne!(first(0), first(1));
}
