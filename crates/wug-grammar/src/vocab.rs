use std::collections::HashMap;

/// Words and their numbers: word `i` is the i-th one added.
///
/// ```
/// let mut vocab = wug_grammar::Vocab::default();
/// assert_eq!(vocab.add("jump"), 0);
/// assert_eq!(vocab.add("walk"), 1);
/// assert_eq!(vocab.add("jump"), 0);
/// assert_eq!(vocab.get("walk"), Some(1));
/// assert_eq!(vocab.word(1), "walk");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocab {
    words: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Vocab {
    /// The number of `word`, which is added if it is new.
    pub fn add(&mut self, word: &str) -> u32 {
        if let Some(&id) = self.ids.get(word) {
            return id;
        }
        let id = self.words.len() as u32;
        self.words.push(word.to_owned());
        self.ids.insert(word.to_owned(), id);
        id
    }

    /// The number of `word`, if it is known.
    pub fn get(&self, word: &str) -> Option<u32> {
        self.ids.get(word).copied()
    }

    /// The word with this number.
    pub fn word(&self, id: u32) -> &str {
        &self.words[id as usize]
    }

    /// All words in the order of their numbers.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Vocab {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let mut vocab = Self::default();
        for word in words {
            vocab.add(word.as_ref());
        }
        vocab
    }
}
