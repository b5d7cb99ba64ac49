//! Random numbers that depend on nothing but a seed.

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Distinct numbers below a bound, in increasing order; all of them if there are no more.
    pub(crate) fn sample(&mut self, bound: usize, size: usize) -> Vec<usize> {
        if size >= bound {
            return (0..bound).collect();
        }
        let mut all = std::collections::BTreeSet::new();
        while all.len() < size {
            all.insert(self.below(bound));
        }
        all.into_iter().collect()
    }
}
