//! The words, in order of frequency, and the forms of the verbs.
//!
//! The lists are facts of the released data (see THIRD-PARTY.md): which words there are, in which role, and how they
//! rank. Words that are held out of them are in [`super::types`].

/// Animate nouns.
#[rustfmt::skip]
pub const ANIMATE: [&str; 100] = [
    "girl", "boy", "cat", "dog", "baby", "child", "teacher", "frog", "chicken", "mouse", "lion", "monkey",
    "bear", "giraffe", "horse", "bird", "duck", "bunny", "butterfly", "penguin", "student", "professor",
    "monster", "hero", "sailor", "lawyer", "customer", "scientist", "princess", "president", "cow",
    "crocodile", "goose", "hen", "deer", "donkey", "bee", "fly", "kitty", "tiger", "wolf", "zebra", "mother",
    "father", "patient", "manager", "director", "king", "queen", "kid", "fish", "moose", "pig", "pony",
    "puppy", "sheep", "squirrel", "lamb", "turkey", "turtle", "doctor", "pupil", "prince", "driver",
    "consumer", "writer", "farmer", "friend", "judge", "visitor", "guest", "servant", "chief", "citizen",
    "champion", "prisoner", "captain", "soldier", "passenger", "tenant", "politician", "resident", "buyer",
    "spokesman", "governor", "guard", "creature", "coach", "producer", "researcher", "guy", "dealer", "duke",
    "tourist", "landlord", "human", "host", "priest", "journalist", "poet",
];

/// Inanimate nouns.
#[rustfmt::skip]
pub const INANIMATE: [&str; 100] = [
    "cake", "donut", "cookie", "box", "rose", "drink", "raisin", "melon", "sandwich", "strawberry", "ball",
    "balloon", "bat", "block", "book", "crayon", "chalk", "doll", "game", "glue", "lollipop", "hamburger",
    "banana", "biscuit", "muffin", "pancake", "pizza", "potato", "pretzel", "pumpkin", "sweetcorn", "yogurt",
    "pickle", "jigsaw", "pen", "pencil", "present", "toy", "cracker", "brush", "radio", "cloud", "mandarin",
    "hat", "basket", "plant", "flower", "chair", "spoon", "pillow", "gumball", "scarf", "shoe", "jacket",
    "hammer", "bucket", "knife", "cup", "plate", "towel", "bottle", "bowl", "can", "clock", "jar", "penny",
    "purse", "soap", "toothbrush", "watch", "newspaper", "fig", "bag", "wine", "key", "weapon", "brain",
    "tool", "crown", "ring", "leaf", "fruit", "mirror", "beer", "shirt", "guitar", "chemical", "seed",
    "shell", "brick", "bell", "coin", "button", "needle", "molecule", "crystal", "flag", "nail", "bean",
    "liver",
];

/// Names.
#[rustfmt::skip]
pub const NAMES: [&str; 100] = [
    "Emma", "Liam", "Olivia", "Noah", "Ava", "William", "Isabella", "James", "Sophia", "Oliver", "Charlotte",
    "Benjamin", "Mia", "Elijah", "Amelia", "Lucas", "Harper", "Mason", "Evelyn", "Logan", "Abigail",
    "Alexander", "Emily", "Ethan", "Elizabeth", "Jacob", "Mila", "Michael", "Ella", "Daniel", "Avery",
    "Henry", "Sofia", "Jackson", "Camila", "Sebastian", "Aria", "Aiden", "Scarlett", "Matthew", "Victoria",
    "Samuel", "Madison", "David", "Luna", "Joseph", "Grace", "Carter", "Chloe", "Owen", "Penelope", "Wyatt",
    "Layla", "John", "Riley", "Jack", "Zoey", "Luke", "Nora", "Jayden", "Lily", "Dylan", "Eleanor", "Grayson",
    "Hannah", "Levi", "Lillian", "Isaac", "Addison", "Gabriel", "Aubrey", "Julian", "Ellie", "Mateo",
    "Stella", "Anthony", "Natalie", "Jaxon", "Zoe", "Lincoln", "Leah", "Joshua", "Hazel", "Christopher",
    "Violet", "Andrew", "Aurora", "Theodore", "Savannah", "Caleb", "Audrey", "Ryan", "Brooklyn", "Asher",
    "Bella", "Nathan", "Claire", "Thomas", "Skylar", "Leo",
];

/// Nouns behind `on`.
#[rustfmt::skip]
pub const ON: [&str; 100] = [
    "table", "stage", "bed", "chair", "stool", "road", "tree", "box", "surface", "seat", "speaker",
    "computer", "rock", "boat", "cabinet", "TV", "plate", "desk", "bowl", "bench", "shelf", "cloth", "piano",
    "bible", "leaflet", "sheet", "cupboard", "truck", "tray", "notebook", "blanket", "deck", "coffin", "log",
    "ladder", "barrel", "rug", "canvas", "tiger", "towel", "throne", "booklet", "sock", "corpse", "sofa",
    "keyboard", "book", "pillow", "pad", "train", "couch", "bike", "pedestal", "platter", "paper", "rack",
    "board", "panel", "tripod", "branch", "machine", "floor", "napkin", "cookie", "block", "cot", "device",
    "yacht", "dog", "mattress", "ball", "stand", "stack", "windowsill", "counter", "cushion", "hanger",
    "trampoline", "gravel", "cake", "carpet", "plaque", "boulder", "leaf", "mound", "bun", "dish", "cat",
    "podium", "tabletop", "beach", "bag", "glacier", "brick", "crack", "vessel", "futon", "turntable", "rag",
    "chessboard",
];

/// Nouns behind `in`.
#[rustfmt::skip]
pub const IN: [&str; 100] = [
    "house", "room", "car", "garden", "box", "cup", "glass", "bag", "vehicle", "hole", "cabinet", "bottle",
    "shoe", "storage", "cot", "vessel", "pot", "pit", "tin", "can", "cupboard", "envelope", "nest", "bush",
    "coffin", "drawer", "container", "basin", "tent", "soup", "well", "barrel", "bucket", "cage", "sink",
    "cylinder", "parcel", "cart", "sack", "trunk", "wardrobe", "basket", "bin", "fridge", "mug", "jar",
    "corner", "pool", "blender", "closet", "pile", "van", "trailer", "saucepan", "truck", "taxi", "haystack",
    "dumpster", "puddle", "bathtub", "pod", "tub", "trap", "bun", "microwave", "bookstore", "package", "cafe",
    "train", "castle", "bunker", "vase", "backpack", "tube", "hammock", "stadium", "backyard", "swamp",
    "monastery", "refrigerator", "palace", "cubicle", "crib", "condo", "tower", "crate", "dungeon", "teapot",
    "tomb", "casket", "jeep", "shoebox", "wagon", "bakery", "fishbowl", "kennel", "china", "spaceship",
    "penthouse", "pyramid",
];

/// Nouns behind `beside`; `gardner` is spelt so in the data.
#[rustfmt::skip]
pub const BESIDE: [&str; 100] = [
    "table", "stage", "bed", "chair", "book", "road", "tree", "machine", "house", "seat", "speaker",
    "computer", "rock", "car", "box", "cup", "glass", "bag", "flower", "boat", "vehicle", "key", "painting",
    "cabinet", "TV", "bottle", "cat", "desk", "shoe", "mirror", "clock", "bench", "bike", "lamp", "lion",
    "piano", "crystal", "toy", "duck", "sword", "sculpture", "rod", "truck", "basket", "bear", "nest",
    "sphere", "bush", "surgeon", "poster", "throne", "giant", "trophy", "hedge", "log", "tent", "ladder",
    "helicopter", "barrel", "yacht", "statue", "bucket", "skull", "beast", "lemon", "whale", "cage",
    "gardner", "fox", "sink", "trainee", "dragon", "cylinder", "monk", "bat", "headmaster", "philosopher",
    "foreigner", "worm", "chemist", "corpse", "wolf", "torch", "sailor", "valve", "hammer", "doll", "genius",
    "baron", "murderer", "bicycle", "keyboard", "stool", "pepper", "warrior", "pillar", "monkey", "cassette",
    "broker", "bin",
];

/// Transitive verbs whose object may be left out.
#[rustfmt::skip]
pub const OPTIONAL: [&str; 20] = [
    "ate", "painted", "drew", "cleaned", "cooked", "dusted", "hunted", "nursed", "sketched", "juggled",
    "called", "heard", "packed", "saw", "noticed", "studied", "examined", "observed", "knew", "investigated",
];

/// Transitive verbs that need an object.
#[rustfmt::skip]
pub const OBLIGATORY: [&str; 20] = [
    "liked", "helped", "found", "loved", "poked", "admired", "adored", "appreciated", "missed", "respected",
    "threw", "tolerated", "valued", "worshipped", "discovered", "held", "stabbed", "touched", "pierced",
    "tossed",
];

/// Verbs that take a clause with `that`.
#[rustfmt::skip]
pub const CLAUSAL: [&str; 20] = [
    "liked", "hoped", "said", "noticed", "believed", "confessed", "declared", "proved", "thought", "admired",
    "appreciated", "respected", "supported", "tolerated", "valued", "wished", "dreamed", "expected",
    "imagined", "meant",
];

/// Verbs that take an infinitive.
#[rustfmt::skip]
pub const CONTROL: [&str; 20] = [
    "wanted", "preferred", "needed", "intended", "tried", "attempted", "planned", "expected", "hoped",
    "wished", "craved", "liked", "hated", "loved", "enjoyed", "dreamed", "meant", "longed", "yearned",
    "itched",
];

/// Verbs whose only argument is a theme: `the cake burned`.
#[rustfmt::skip]
pub const UNACCUSATIVE: [&str; 20] = [
    "rolled", "froze", "burned", "shortened", "floated", "grew", "slid", "broke", "crumpled", "split",
    "changed", "snapped", "disintegrated", "collapsed", "decomposed", "doubled", "improved", "inflated",
    "enlarged", "reddened",
];

/// Verbs whose only argument is an agent: `the girl slept`.
#[rustfmt::skip]
pub const UNERGATIVE: [&str; 20] = [
    "slept", "smiled", "laughed", "sneezed", "cried", "talked", "danced", "jogged", "walked", "ran", "napped",
    "snoozed", "screamed", "stuttered", "frowned", "giggled", "scoffed", "snored", "smirked", "gasped",
];

/// Infinitives; `read` has no other form in the data.
#[rustfmt::skip]
pub const INFINITIVE: [&str; 20] = [
    "walk", "run", "sleep", "sneeze", "nap", "eat", "read", "cook", "hunt", "paint", "talk", "dance",
    "giggle", "jog", "smirk", "call", "sketch", "dust", "clean", "investigate",
];

/// Verbs with a recipient; `lended` is spelt so in the data.
#[rustfmt::skip]
pub const DATIVE: [&str; 20] = [
    "gave", "lended", "sold", "offered", "fed", "passed", "sent", "rented", "served", "awarded", "brought",
    "handed", "forwarded", "promised", "mailed", "loaned", "posted", "returned", "slipped", "wired",
];

/// Participles of [`OPTIONAL`].
#[rustfmt::skip]
pub const OPTIONAL_PARTICIPLE: [&str; 20] = [
    "eaten", "painted", "drawn", "cleaned", "cooked", "dusted", "hunted", "nursed", "sketched", "juggled",
    "called", "heard", "packed", "seen", "noticed", "studied", "examined", "observed", "known",
    "investigated",
];

/// Participles of [`OBLIGATORY`].
#[rustfmt::skip]
pub const OBLIGATORY_PARTICIPLE: [&str; 20] = [
    "liked", "helped", "found", "loved", "poked", "admired", "adored", "appreciated", "missed", "respected",
    "thrown", "tolerated", "valued", "worshipped", "discovered", "held", "stabbed", "touched", "pierced",
    "tossed",
];

/// Participles of [`UNACCUSATIVE`].
#[rustfmt::skip]
pub const UNACCUSATIVE_PARTICIPLE: [&str; 20] = [
    "rolled", "frozen", "burned", "shortened", "floated", "grown", "slid", "broken", "crumpled", "split",
    "changed", "snapped", "disintegrated", "collapsed", "decomposed", "doubled", "improved", "inflated",
    "enlarged", "reddened",
];

/// Participles of [`DATIVE`].
#[rustfmt::skip]
pub const DATIVE_PARTICIPLE: [&str; 20] = [
    "given", "lended", "sold", "offered", "fed", "passed", "sent", "rented", "served", "awarded", "brought",
    "handed", "forwarded", "promised", "mailed", "loaned", "posted", "returned", "slipped", "wired",
];

/// How often the word of each rank is drawn from a list of 100, in parts of 10^9.
///
/// Zipf: rank k has k^-1.4 / zeta(1.4), and what is missing to 1 is shared out evenly. A table, because powers differ in
/// the last bit between machines.
#[rustfmt::skip]
pub const ZIPF_100: [u32; 100] = [
    323277752, 123290175, 70439221, 47509057, 35103455, 27482290, 22394803, 18793382, 16130010, 14092538,
    12491225, 11204657, 10151843, 9276860, 8539958, 7912176, 7371956, 6902947, 6492545, 6130890, 5810165,
    5524105, 5267631, 5036587, 4827543, 4637645, 4464500, 4306089, 4160696, 4026855, 3903309, 3788970,
    3682896, 3584265, 3492358, 3406544, 3326266, 3251031, 3180402, 3113989, 3051445, 2992457, 2936747,
    2884061, 2834172, 2786875, 2741983, 2699326, 2658750, 2620113, 2583288, 2548155, 2514608, 2482546,
    2451877, 2422519, 2394392, 2367425, 2341551, 2316709, 2292841, 2269894, 2247818, 2226568, 2206099,
    2186373, 2167351, 2148999, 2131283, 2114173, 2097639, 2081655, 2066195, 2051235, 2036753, 2022727,
    2009136, 1995963, 1983189, 1970797, 1958772, 1947098, 1935760, 1924745, 1914041, 1903635, 1893515,
    1883671, 1874091, 1864767, 1855687, 1846844, 1838229, 1829834, 1821649, 1813670, 1805887, 1798294,
    1790885, 1783653,
];

/// The same for a list of 20.
#[rustfmt::skip]
pub const ZIPF_20: [u32; 20] = [
    334028360, 134040789, 81189834, 58259670, 45854068, 38232903, 33145416, 29543995, 26880624, 24843152,
    23241838, 21955270, 20902456, 20027473, 19290571, 18662790, 18122569, 17653560, 17243159, 16881503,
];

/// The form of a verb in a sentence, and its lemma; sorted by form.
#[rustfmt::skip]
const LEMMAS: [(&str, &str); 162] = [
    ("admired", "admire"), ("adored", "adore"), ("appreciated", "appreciate"), ("ate", "eat"),
    ("attempted", "attempt"), ("awarded", "award"), ("baked", "bake"), ("believed", "believe"),
    ("blessed", "bless"), ("broke", "break"), ("broken", "break"), ("brought", "bring"), ("burned", "burn"),
    ("call", "call"), ("called", "call"), ("changed", "change"), ("clean", "clean"), ("cleaned", "clean"),
    ("collapsed", "collapse"), ("confessed", "confess"), ("cook", "cook"), ("cooked", "cook"),
    ("craved", "crave"), ("crawl", "crawl"), ("cried", "cry"), ("crumpled", "crumple"), ("dance", "dance"),
    ("danced", "dance"), ("declared", "declare"), ("decomposed", "decompose"), ("discovered", "discover"),
    ("disintegrated", "disintegrate"), ("doubled", "double"), ("drawn", "draw"), ("dreamed", "dream"),
    ("drew", "draw"), ("dust", "dust"), ("dusted", "dust"), ("eat", "eat"), ("eaten", "eat"),
    ("enjoyed", "enjoy"), ("enlarged", "enlarge"), ("examined", "examine"), ("expected", "expect"),
    ("fed", "feed"), ("floated", "float"), ("forwarded", "forward"), ("found", "find"), ("frowned", "frown"),
    ("froze", "freeze"), ("frozen", "freeze"), ("gasped", "gasp"), ("gave", "give"), ("giggle", "giggle"),
    ("giggled", "giggle"), ("given", "give"), ("grew", "grow"), ("grown", "grow"), ("handed", "hand"),
    ("hated", "hate"), ("heard", "hear"), ("held", "hold"), ("helped", "help"), ("hoped", "hope"),
    ("hunt", "hunt"), ("hunted", "hunt"), ("imagined", "imagine"), ("improved", "improve"),
    ("inflated", "inflate"), ("intended", "intend"), ("investigate", "investigate"),
    ("investigated", "investigate"), ("itched", "itch"), ("jog", "jog"), ("jogged", "jog"),
    ("juggled", "juggle"), ("knew", "know"), ("known", "know"), ("laughed", "laugh"), ("lended", "lend"),
    ("liked", "like"), ("loaned", "loan"), ("longed", "long"), ("loved", "love"), ("mailed", "mail"),
    ("meant", "mean"), ("missed", "miss"), ("nap", "nap"), ("napped", "nap"), ("needed", "need"),
    ("noticed", "notice"), ("nursed", "nurse"), ("observed", "observe"), ("offered", "offer"),
    ("packed", "pack"), ("paint", "paint"), ("painted", "paint"), ("passed", "pass"), ("pierced", "pierce"),
    ("planned", "plan"), ("poked", "poke"), ("posted", "post"), ("preferred", "prefer"),
    ("promised", "promise"), ("proved", "prove"), ("ran", "run"), ("read", "read"), ("reddened", "redden"),
    ("rented", "rent"), ("respected", "respect"), ("returned", "return"), ("rolled", "roll"), ("run", "run"),
    ("said", "say"), ("saw", "see"), ("scoffed", "scoff"), ("screamed", "scream"), ("seen", "see"),
    ("sent", "send"), ("served", "serve"), ("shattered", "shatter"), ("shipped", "ship"),
    ("shortened", "shorten"), ("sketch", "sketch"), ("sketched", "sketch"), ("sleep", "sleep"),
    ("slept", "sleep"), ("slid", "slide"), ("slipped", "slip"), ("smiled", "smile"), ("smirk", "smirk"),
    ("smirked", "smirk"), ("snapped", "snap"), ("sneeze", "sneeze"), ("sneezed", "sneeze"),
    ("snoozed", "snooze"), ("snored", "snore"), ("sold", "sell"), ("split", "split"), ("squeezed", "squeeze"),
    ("stabbed", "stab"), ("studied", "study"), ("stuttered", "stutter"), ("supported", "support"),
    ("talk", "talk"), ("talked", "talk"), ("teleported", "teleport"), ("thought", "think"),
    ("threw", "throw"), ("thrown", "throw"), ("tolerated", "tolerate"), ("tossed", "toss"),
    ("touched", "touch"), ("tried", "try"), ("valued", "value"), ("walk", "walk"), ("walked", "walk"),
    ("wanted", "want"), ("wired", "wire"), ("wished", "wish"), ("worshipped", "worship"),
    ("yearned", "yearn"),
];

/// The lemma of a verb and its participle in -ing, in the order of the release, from which draws are made.
#[rustfmt::skip]
pub const PARTICIPLES: [(&str, &str); 133] = [
    ("think", "thinking"), ("shatter", "shattering"), ("dance", "dancing"), ("hear", "hearing"),
    ("shorten", "shortening"), ("walk", "walking"), ("throw", "throwing"), ("enlarge", "enlarging"),
    ("forward", "forwarding"), ("pass", "passing"), ("try", "trying"), ("scream", "screaming"),
    ("decompose", "decomposing"), ("eat", "eating"), ("nurse", "nursing"), ("send", "sending"),
    ("attempt", "attempting"), ("love", "loving"), ("support", "supporting"), ("talk", "talking"),
    ("hold", "holding"), ("study", "studying"), ("expect", "expecting"), ("sketch", "sketching"),
    ("give", "giving"), ("appreciate", "appreciating"), ("help", "helping"), ("hunt", "hunting"),
    ("jog", "jogging"), ("freeze", "freezing"), ("dust", "dusting"), ("discover", "discovering"),
    ("toss", "tossing"), ("teleport", "teleporting"), ("bake", "baking"), ("hate", "hating"),
    ("yearn", "yearning"), ("burn", "burning"), ("slide", "sliding"), ("hope", "hoping"), ("call", "calling"),
    ("tolerate", "tolerating"), ("return", "returning"), ("promise", "promising"), ("plan", "planning"),
    ("snap", "snapping"), ("cook", "cooking"), ("enjoy", "enjoying"), ("squeeze", "squeezing"),
    ("nap", "napping"), ("miss", "missing"), ("value", "valuing"), ("paint", "painting"),
    ("bring", "bringing"), ("run", "running"), ("prefer", "preferring"), ("stab", "stabbing"),
    ("rent", "renting"), ("bless", "blessing"), ("confess", "confessing"), ("snooze", "snoozing"),
    ("say", "saying"), ("collapse", "collapsing"), ("award", "awarding"), ("long", "longing"),
    ("know", "knowing"), ("dream", "dreaming"), ("pierce", "piercing"), ("sleep", "sleeping"),
    ("disintegrate", "disintegrating"), ("wish", "wishing"), ("need", "needing"), ("imagine", "imagining"),
    ("cry", "crying"), ("read", "reading"), ("touch", "touching"), ("mail", "mailing"),
    ("juggle", "juggling"), ("declare", "declaring"), ("scoff", "scoffing"), ("investigate", "investigating"),
    ("stutter", "stuttering"), ("poke", "poking"), ("inflate", "inflating"), ("worship", "worshiping"),
    ("lend", "lending"), ("crave", "craving"), ("float", "floating"), ("slip", "slipping"),
    ("pack", "packing"), ("itch", "itching"), ("draw", "drawing"), ("notice", "noticing"),
    ("intend", "intending"), ("prove", "proving"), ("laugh", "laughing"), ("giggle", "giggling"),
    ("feed", "feeding"), ("snore", "snoring"), ("clean", "cleaning"), ("wire", "wiring"),
    ("sneeze", "sneezing"), ("crumple", "crumpling"), ("split", "splitting"), ("gasp", "gasping"),
    ("see", "seeing"), ("change", "changing"), ("admire", "admiring"), ("sell", "selling"),
    ("adore", "adoring"), ("believe", "believing"), ("like", "liking"), ("loan", "loaning"),
    ("serve", "serving"), ("double", "doubling"), ("examine", "examining"), ("break", "breaking"),
    ("mean", "meaning"), ("smile", "smiling"), ("smirk", "smirking"), ("find", "finding"),
    ("roll", "rolling"), ("post", "posting"), ("observe", "observing"), ("redden", "reddening"),
    ("ship", "shipping"), ("hand", "handing"), ("offer", "offering"), ("want", "wanting"),
    ("improve", "improving"), ("respect", "respecting"), ("grow", "growing"), ("frown", "frowning"),
];

/// The prepositions, with their nouns.
pub const PREPOSITIONS: [(&str, &[&str; 100]); 3] = [("on", &ON), ("in", &IN), ("beside", &BESIDE)];

/// Whether a word is a preposition.
pub fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.iter().any(|(preposition, _)| *preposition == word)
}

/// The lemma of a form: `ate` and `eaten` are `eat`.
pub fn lemma(form: &str) -> Option<&'static str> {
    LEMMAS.binary_search_by_key(&form, |(form, _)| form).ok().map(|found| LEMMAS[found].1)
}

/// The predicate of a noun: the noun itself, but for `TV`.
pub fn predicate(noun: &str) -> &str {
    if noun == "TV" { "tv" } else { noun }
}

/// Whether a verb without object has a theme and no agent; `shattered` is held out of [`UNACCUSATIVE`].
pub fn is_unaccusative(form: &str) -> bool {
    form == "shattered" || UNACCUSATIVE.contains(&form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_verb_has_a_lemma() {
        let verbs = [
            OPTIONAL,
            OBLIGATORY,
            CLAUSAL,
            CONTROL,
            UNACCUSATIVE,
            UNERGATIVE,
            INFINITIVE,
            DATIVE,
            OPTIONAL_PARTICIPLE,
            OBLIGATORY_PARTICIPLE,
            UNACCUSATIVE_PARTICIPLE,
            DATIVE_PARTICIPLE,
        ];
        for verb in verbs.iter().flatten() {
            assert!(lemma(verb).is_some(), "{verb}");
        }
        assert_eq!(lemma("ate"), Some("eat"));
        assert_eq!(lemma("girl"), None);
    }

    #[test]
    fn there_are_403_nouns() {
        let nouns: HashSet<&str> = [ANIMATE, INANIMATE, ON, IN, BESIDE].into_iter().flatten().collect();
        assert_eq!(nouns.len(), 403);
    }

    #[test]
    fn the_tables_sum_to_one() {
        assert_eq!(ZIPF_100.iter().sum::<u32>(), 1_000_000_000);
        assert_eq!(ZIPF_20.iter().sum::<u32>(), 1_000_000_000);
        assert!(ZIPF_100.is_sorted_by(|a, b| a > b) && ZIPF_20.is_sorted_by(|a, b| a > b));
    }
}
