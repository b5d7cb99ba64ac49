//! The predicates: English words with their French forms, lower case and without accents.
//!
//! A line is `english: masculine feminine`; one form stands for both genders. Plurals follow by rule, see [`Forms`].

/// Adjectives that take `very`.
const GRADABLE: &str = "
    tired: fatigue fatiguee
    happy: heureux heureuse
    sad: triste
    angry: fache fachee
    furious: furieux furieuse
    hungry: affame affamee
    thirsty: assoiffe assoiffee
    sick: malade
    tall: grand grande
    short: petit petite
    fat: gros grosse
    thin: mince
    skinny: maigre
    strong: fort forte
    weak: faible
    rich: riche
    poor: pauvre
    young: jeune
    old: vieux vieille
    beautiful: beau belle
    pretty: joli jolie
    ugly: laid laide
    kind: gentil gentille
    nice: sympathique
    mean: mechant mechante
    cruel: cruel cruelle
    brave: courageux courageuse
    cowardly: lache
    shy: timide
    proud: fier fiere
    humble: humble
    modest: modeste
    arrogant: arrogant arrogante
    vain: vaniteux vaniteuse
    jealous: jaloux jalouse
    curious: curieux curieuse
    lazy: paresseux paresseuse
    busy: occupe occupee
    serious: serieux serieuse
    funny: drole
    strange: etrange
    weird: bizarre
    crazy: fou folle
    stupid: stupide
    silly: bete
    smart: intelligent intelligente
    clever: malin maligne
    wise: sage
    polite: poli polie
    rude: impoli impolie
    insolent: insolent insolente
    honest: honnete
    dishonest: malhonnete
    sincere: sincere
    frank: franc franche
    loyal: loyal loyale
    faithful: fidele
    unfaithful: infidele
    generous: genereux genereuse
    selfish: egoiste
    greedy: avide
    stingy: avare
    patient: patient patiente
    impatient: impatient impatiente
    calm: calme
    nervous: nerveux nerveuse
    anxious: anxieux anxieuse
    worried: inquiet inquiete
    afraid: effraye effrayee
    scared: apeure apeuree
    terrified: terrifie terrifiee
    surprised: surpris surprise
    amazed: stupefait stupefaite
    astonished: etonne etonnee
    shocked: choque choquee
    disappointed: decu decue
    discouraged: decourage decouragee
    depressed: deprime deprimee
    desperate: desespere desesperee
    confused: confus confuse
    bored: ennuye ennuyee
    interested: interesse interessee
    excited: excite excitee
    enthusiastic: enthousiaste
    optimistic: optimiste
    pessimistic: pessimiste
    realistic: realiste
    satisfied: satisfait satisfaite
    pleased: content contente
    delighted: ravi ravie
    grateful: reconnaissant reconnaissante
    sorry: desole desolee
    ashamed: honteux honteuse
    embarrassed: embarrasse embarrassee
    annoyed: agace agacee
    irritated: irrite irritee
    upset: contrarie contrariee
    offended: offense offensee
    hurt: blesse blessee
    moved: emu emue
    touched: touche touchee
    relaxed: detendu detendue
    tense: tendu tendue
    stressed: stresse stressee
    exhausted: epuise epuisee
    weary: las lasse
    sleepy: somnolent somnolente
    careful: prudent prudente
    careless: negligent negligente
    reckless: imprudent imprudente
    wary: mefiant mefiante
    suspicious: soupconneux soupconneuse
    dangerous: dangereux dangereuse
    violent: violent violente
    aggressive: agressif agressive
    peaceful: paisible
    quiet: silencieux silencieuse
    noisy: bruyant bruyante
    loud: tapageur tapageuse
    talkative: bavard bavarde
    discreet: discret discrete
    secretive: secret secrete
    active: actif active
    passive: passif passive
    creative: creatif creative
    imaginative: imaginatif imaginative
    attentive: attentif attentive
    sensitive: sensible
    emotional: emotif emotive
    impulsive: impulsif impulsive
    naive: naif naive
    original: original originale
    ordinary: ordinaire
    famous: celebre
    popular: populaire
    powerful: puissant puissante
    important: important importante
    influential: influent influente
    useful: utile
    useless: inutile
    effective: efficace
    competent: competent competente
    incompetent: incompetent incompetente
    talented: talentueux talentueuse
    gifted: doue douee
    skillful: habile
    clumsy: maladroit maladroite
    awkward: gauche
    elegant: elegant elegante
    charming: charmant charmante
    attractive: attirant attirante
    seductive: seduisant seduisante
    lovely: adorable
    cute: mignon mignonne
    friendly: amical amicale
    sociable: sociable
    hostile: hostile
    lonely: solitaire
    independent: independant independante
    dependent: dependant dependante
    responsible: responsable
    irresponsible: irresponsable
    reliable: fiable
    punctual: ponctuel ponctuelle
    organized: organise organisee
    stubborn: tetu tetue
    obstinate: obstine obstinee
    determined: determine determinee
    ambitious: ambitieux ambitieuse
    motivated: motive motivee
    confident: confiant confiante
    certain: certain certaine
    convinced: convaincu convaincue
    undecided: indecis indecise
    hesitant: hesitant hesitante
    flexible: flexible
    rigid: rigide
    strict: strict stricte
    severe: severe
    indulgent: indulgent indulgente
    tolerant: tolerant tolerante
    intolerant: intolerant intolerante
    cultured: cultive cultivee
    ignorant: ignorant ignorante
    experienced: experimente experimentee
    innocent: innocent innocente
    guilty: coupable
    drunk: ivre
    sober: sobre
    clean: propre
    dirty: sale
    elated: euphorique
    pale: pale
    tanned: bronze bronzee
    muscular: muscle musclee
    agile: agile
    slow: lent lente
    fast: rapide
    nimble: leste
    fragile: fragile
    robust: robuste
    sporty: sportif sportive
    romantic: romantique
    dreamy: reveur reveuse
    nostalgic: nostalgique
    melancholic: melancolique
    cheerful: joyeux joyeuse
    amusing: amusant amusante
    boring: ennuyeux ennuyeuse
    interesting: interessant interessante
    fascinating: fascinant fascinante
    impressive: impressionnant impressionnante
    surprising: surprenant surprenante
    convincing: convaincant convaincante
    demanding: exigeant exigeante
    charismatic: charismatique
    sarcastic: sarcastique
    ironic: ironique
    cynical: cynique
    skeptical: sceptique
    critical: critique
    fair: juste
    unfair: injuste
    rebellious: rebelle
    obedient: obeissant obeissante
    disobedient: desobeissant desobeissante
    respectful: respectueux respectueuse
    superstitious: superstitieux superstitieuse
    religious: religieux religieuse
    pious: pieux pieuse
    mysterious: mysterieux mysterieuse
    studious: studieux studieuse
    meticulous: meticuleux meticuleuse
    scrupulous: scrupuleux scrupuleuse
    capricious: capricieux capricieuse
    malicious: malicieux malicieuse
";

/// Adjectives that do not.
const ABSOLUTE: &str = "
    alone: seul seule
    married: marie mariee
    single: celibataire
    divorced: divorce divorcee
    engaged: fiance fiancee
    widowed: veuf veuve
    dead: mort morte
    alive: vivant vivante
    immortal: immortel immortelle
    blind: aveugle
    deaf: sourd sourde
    mute: muet muette
    ready: pret prete
    free: libre
    present: present presente
    absent: absent absente
    invisible: invisible
    immobile: immobile
    naked: nu nue
    retired: retraite retraitee
    hired: embauche embauchee
    lost: perdu perdue
    saved: sauve sauvee
    trapped: piege piegee
    protected: protege protegee
    armed: arme armee
    unarmed: desarme desarmee
    vaccinated: vaccine vaccinee
    cured: gueri guerie
    infected: infecte infectee
    fired: renvoye renvoyee
    invited: invite invitee
    expected: attendu attendue
    sitting: assis assise
    lying down: allonge allongee
    asleep: endormi endormie
    awake: reveille reveillee
    unconscious: inconscient inconsciente
    adult: adulte
    french: francais francaise
    english: anglais anglaise
    american: americain americaine
    canadian: canadien canadienne
    german: allemand allemande
    spanish: espagnol espagnole
    italian: italien italienne
    japanese: japonais japonaise
    chinese: chinois chinoise
    russian: russe
    swiss: suisse
    belgian: belge
    bilingual: bilingue
    vegetarian: vegetarien vegetarienne
";

/// Occupations: French has no article. The English plural follows the singular.
const NOUNS: &str = "
    doctor doctors: medecin
    teacher teachers: professeur professeure
    student students: etudiant etudiante
    lawyer lawyers: avocat avocate
    nurse nurses: infirmier infirmiere
    engineer engineers: ingenieur ingenieure
    farmer farmers: agriculteur agricultrice
    baker bakers: boulanger boulangere
    butcher butchers: boucher bouchere
    cook cooks: cuisinier cuisiniere
    waiter waiters: serveur serveuse
    singer singers: chanteur chanteuse
    dancer dancers: danseur danseuse
    actor actors: acteur actrice
    musician musicians: musicien musicienne
    pianist pianists: pianiste
    violinist violinists: violoniste
    painter painters: peintre
    sculptor sculptors: sculpteur sculptrice
    writer writers: ecrivain ecrivaine
    poet poets: poete poetesse
    journalist journalists: journaliste
    photographer photographers: photographe
    architect architects: architecte
    scientist scientists: scientifique
    chemist chemists: chimiste
    physicist physicists: physicien physicienne
    mathematician mathematicians: mathematicien mathematicienne
    biologist biologists: biologiste
    historian historians: historien historienne
    philosopher philosophers: philosophe
    librarian librarians: bibliothecaire
    secretary secretaries: secretaire
    soldier soldiers: soldat soldate
    sailor sailors: marin
    pilot pilots: pilote
    driver drivers: chauffeur chauffeuse
    mechanic mechanics: mecanicien mecanicienne
    carpenter carpenters: charpentier charpentiere
    gardener gardeners: jardinier jardiniere
    hairdresser hairdressers: coiffeur coiffeuse
    dentist dentists: dentiste
    pharmacist pharmacists: pharmacien pharmacienne
    psychologist psychologists: psychologue
    judge judges: juge
    banker bankers: banquier banquiere
    merchant merchants: marchand marchande
    translator translators: traducteur traductrice
    spy spies: espion espionne
    detective detectives: detective
";

/// Places and states that never agree.
const PHRASES: &str = "
    at home: a la maison
    at school: a l ecole
    at work: au travail
    at the hotel: a l hotel
    at the hospital: a l hopital
    at the beach: a la plage
    at the station: a la gare
    at the theater: au theatre
    at the restaurant: au restaurant
    at the market: au marche
    at the library: a la bibliotheque
    at the airport: a l aeroport
    in the garden: dans le jardin
    in the kitchen: dans la cuisine
    in the car: dans la voiture
    in the street: dans la rue
    in the train: dans le train
    in the city: en ville
    in the countryside: a la campagne
    in bed: au lit
    in prison: en prison
    in danger: en danger
    in love: amoureux amoureuse
    in a hurry: presse pressee
    on vacation: en vacances
    on strike: en greve
    on a diet: au regime
    on the roof: sur le toit
    on the bridge: sur le pont
    late: en retard
    early: en avance
    here: ici
    outside: dehors
    inside: a l interieur
    upstairs: en haut
    downstairs: en bas
    far away: loin
    in good health: en bonne sante
    behind the house: derriere la maison
    under the table: sous la table
";

/// What a predicate is, which decides what may stand before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An adjective that takes `very`.
    Gradable,
    /// An adjective that does not.
    Absolute,
    /// An occupation.
    Noun,
    /// A place or state.
    Phrase,
}

/// Gender and number of a French subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Masculine singular.
    Ms,
    /// Feminine singular.
    Fs,
    /// Masculine plural.
    Mp,
    /// Feminine plural.
    Fp,
}

impl Agreement {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Ms, Self::Fs, Self::Mp, Self::Fp];

    /// Two letters for names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ms => "ms",
            Self::Fs => "fs",
            Self::Mp => "mp",
            Self::Fp => "fp",
        }
    }

    fn is_plural(self) -> bool {
        matches!(self, Self::Mp | Self::Fp)
    }
}

/// A predicate in both languages.
#[derive(Debug, Clone)]
pub struct Forms {
    /// What it is.
    pub kind: Kind,
    english: (&'static str, &'static str),
    french: (&'static str, &'static str),
}

impl Forms {
    /// The English words: nouns have an article or the plural.
    pub fn english(&self, agreement: Agreement) -> String {
        let (singular, plural) = self.english;
        match self.kind {
            Kind::Noun if agreement.is_plural() => plural.to_owned(),
            Kind::Noun if singular.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {singular}"),
            Kind::Noun => format!("a {singular}"),
            _ => singular.to_owned(),
        }
    }

    /// The name, whatever the form.
    pub fn name(&self) -> &'static str {
        self.english.0
    }

    /// The French words.
    pub fn french(&self, agreement: Agreement) -> String {
        let (masculine, feminine) = self.french;
        let word = if matches!(agreement, Agreement::Ms | Agreement::Mp) { masculine } else { feminine };
        if agreement.is_plural() && self.agrees() { plural(word) } else { word.to_owned() }
    }

    /// Phrases that begin with a preposition or are adverbs do not agree; `amoureux` and `presse` do.
    fn agrees(&self) -> bool {
        self.kind != Kind::Phrase || self.french.0 != self.french.1
    }
}

/// The plural of a French adjective or noun. None of the words here is an exception to the rules.
fn plural(word: &str) -> String {
    if word.ends_with(['s', 'x', 'z']) {
        word.to_owned()
    } else if word.ends_with("eau") {
        format!("{word}x")
    } else if let Some(stem) = word.strip_suffix("al") {
        format!("{stem}aux")
    } else {
        format!("{word}s")
    }
}

/// All predicates.
pub fn predicates() -> Vec<Forms> {
    let tables = [
        (Kind::Gradable, GRADABLE),
        (Kind::Absolute, ABSOLUTE),
        (Kind::Noun, NOUNS),
        (Kind::Phrase, PHRASES),
    ];
    tables
        .into_iter()
        .flat_map(|(kind, table)| table.lines().filter_map(move |line| read(kind, line)))
        .collect()
}

fn read(kind: Kind, line: &'static str) -> Option<Forms> {
    let (english, french) = line.trim().split_once(": ")?;
    let english = match kind {
        Kind::Noun => english.split_once(' ')?,
        _ => (english, english),
    };
    let french = match (kind, french.split_once(' ')) {
        // Phrases of several words are one form, unless the second is the first with an ending.
        (Kind::Phrase, Some((first, second))) if !second.starts_with(&first[..first.len().min(4)]) => {
            (french, french)
        }
        (_, Some(genders)) => genders,
        (_, None) => (french, french),
    };
    Some(Forms { kind, english, french })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_300_predicates_and_none_is_there_twice() {
        let all = predicates();
        assert!(all.len() >= 300, "{}", all.len());
        let names: BTreeSet<&str> = all.iter().map(Forms::name).collect();
        assert_eq!(names.len(), all.len());
        let french: BTreeSet<String> = all.iter().map(|forms| forms.french(Agreement::Ms)).collect();
        assert_eq!(french.len(), all.len(), "a French word stands for one English word only");
        for forms in &all {
            for agreement in Agreement::ALL {
                for text in [forms.english(agreement), forms.french(agreement)] {
                    let plain = text.chars().all(|c| c.is_ascii_lowercase() || c == ' ');
                    assert!(plain && !text.is_empty() && text.trim() == text, "`{text}`");
                }
            }
        }
    }

    #[test]
    fn words_agree() {
        let all = predicates();
        let french = |name: &str| {
            let forms = all.iter().find(|forms| forms.name() == name).unwrap();
            Agreement::ALL.map(|agreement| forms.french(agreement)).join(" / ")
        };
        assert_eq!(french("tired"), "fatigue / fatiguee / fatigues / fatiguees");
        assert_eq!(french("beautiful"), "beau / belle / beaux / belles");
        assert_eq!(french("loyal"), "loyal / loyale / loyaux / loyales");
        assert_eq!(french("french"), "francais / francaise / francais / francaises");
        assert_eq!(french("happy"), "heureux / heureuse / heureux / heureuses");
        assert_eq!(french("in love"), "amoureux / amoureuse / amoureux / amoureuses");
        assert_eq!(french("at home"), "a la maison / a la maison / a la maison / a la maison");
        let doctor = all.iter().find(|forms| forms.name() == "doctor").unwrap();
        assert_eq!(
            Agreement::ALL.map(|agreement| doctor.english(agreement)).join(" / "),
            "a doctor / a doctor / doctors / doctors"
        );
        let engineer = all.iter().find(|forms| forms.name() == "engineer").unwrap();
        assert_eq!(engineer.english(Agreement::Ms), "an engineer");
    }
}
