use std::convert::Infallible;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng, TryRng};
use sha2::{Digest, Sha256};

/// The random streams of one part of one dataset at one seed: a stream for every item.
///
/// ```
/// use wug_data::Streams;
///
/// let streams = Streams::new("scan/simple", "train", 0);
/// let first = streams.item(0).below(1000);
/// assert_eq!(streams.item(0).below(1000), first, "an item is drawn the same whenever it is drawn");
/// assert_ne!(Streams::new("scan/simple", "train", 1).item(0).below(1 << 60), streams.item(0).below(1 << 60));
/// ```
#[derive(Debug, Clone)]
pub struct Streams {
    key: [u8; 32],
}

impl Streams {
    /// Streams keyed by a hash of their full name, so that neighbouring seeds share nothing.
    pub fn new(dataset: &str, part: &str, seed: u64) -> Self {
        let mut hash = Sha256::new();
        for name in [dataset, part] {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
        }
        hash.update(seed.to_le_bytes());
        Self { key: hash.finalize().into() }
    }

    /// The stream of item `i`.
    pub fn item(&self, i: u64) -> Stream {
        let mut rng = ChaCha8Rng::from_seed(self.key);
        rng.set_stream(i);
        Stream(rng)
    }
}

/// One random stream. What each method draws is fixed here and not left to a library, because a change there would
/// silently change every dataset.
#[derive(Debug, Clone)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Uniform in `0..n` (Lemire's multiplication with rejection).
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "no number is below 0");
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(n);
            let low = product as u64;
            // What is rejected is below 2^64 mod n, which is below n: the slow remainder is seldom needed.
            if low >= n || low >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    pub fn coin(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of the items, each equally likely.
    ///
    /// # Panics
    /// If there is none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// Puts the items into a random order, each order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// `n` different items in random order (all of them if there are fewer).
    pub fn sample<T: Clone>(&mut self, items: &[T], n: usize) -> Vec<T> {
        let mut pool = items.to_vec();
        let n = n.min(pool.len());
        for i in 0..n {
            let j = i + self.below((pool.len() - i) as u64) as usize;
            pool.swap(i, j);
        }
        pool.truncate(n);
        pool
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draws_never_change() {
        // These numbers are what every dataset rests on: a change of library or code must not change them.
        let mut stream = Streams::new("scan/simple", "train", 0).item(3);
        let drawn: Vec<u64> = (0..4).map(|_| stream.below(1_000_000)).collect();
        assert_eq!(drawn, FIRST);
    }

    const FIRST: [u64; 4] = [460_903, 769_167, 20_355, 284_556];

    #[test]
    fn names_are_not_confused() {
        let draw = |dataset, part, seed| Streams::new(dataset, part, seed).item(0).below(u64::MAX);
        assert_ne!(draw("ab", "c", 0), draw("a", "bc", 0));
        assert_ne!(draw("a", "b", 0), draw("a", "b", 1));
        let streams = Streams::new("a", "b", 0);
        assert_ne!(streams.item(0).below(u64::MAX), streams.item(1).below(u64::MAX));
    }

    #[test]
    fn below_is_uniform() {
        // Chi-square over 7 cells with 70,000 draws: 99.9% of the time below 22.5 for 6 degrees of freedom.
        let mut counts = [0f64; 7];
        let mut stream = Streams::new("test", "below", 1).item(0);
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1.0;
        }
        let chi: f64 = counts.iter().map(|n| (n - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 22.5, "chi-square {chi}");
    }

    #[test]
    fn a_sample_is_distinct() {
        let items: Vec<u32> = (0..100).collect();
        let mut drawn = Streams::new("test", "sample", 0).item(0).sample(&items, 40);
        assert_eq!(drawn.len(), 40);
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 40);
        assert_eq!(Streams::new("test", "sample", 0).item(0).sample(&items, 400).len(), 100);
    }
}
