use wug_data::Streams;

/// Deals images like cards: all of them in a random order, then again in another.
///
/// Any card can be asked for alone: the order of a round is a keyed permutation, not a shuffled list.
#[derive(Debug, Clone)]
pub struct Deal {
    streams: Streams,
    images: u64,
}

impl Deal {
    /// Deals `images` images in the order that a part and symbol of a seed have.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(part: &str, symbol: char, seed: u64, images: u64) -> Self {
        assert!(images > 0, "no image to deal");
        Self { streams: Streams::new("ink/deal", &format!("{part} {symbol}"), seed), images }
    }

    /// The image that is dealt after `before` others.
    pub fn nth(&self, before: u64) -> u64 {
        let mut random = self.streams.item(before / self.images);
        let keys = [0; 4].map(|_| random.below(u64::MAX));
        // A Feistel network permutes a square that holds all images; who lands outside walks on.
        let half = (u64::BITS - (self.images - 1).leading_zeros()).div_ceil(2).max(1);
        let mask = (1 << half) - 1;
        let mut card = before % self.images;
        loop {
            let (mut left, mut right) = (card >> half, card & mask);
            for key in keys {
                (left, right) = (right, left ^ (mix(right ^ key) & mask));
            }
            card = left << half | right;
            if card < self.images {
                return card;
            }
        }
    }
}

/// Spreads every bit of a number over all (the finaliser of SplitMix64).
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::Deal;

    #[test]
    fn every_round_has_every_image_once() {
        for images in [1, 2, 3, 117, 1000] {
            let deal = Deal::new("train", '8', 0, images);
            let round = |n: u64| (n * images..(n + 1) * images).map(|i| deal.nth(i)).collect::<Vec<_>>();
            let (first, second) = (round(0), round(1));
            for order in [&first, &second] {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..images).collect::<Vec<_>>());
            }
            assert!(images < 100 || first != second);
        }
    }
}
