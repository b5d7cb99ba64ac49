/// CPython's `random.Random`, for releases that were drawn with it: the Mersenne Twister and what the standard library
/// makes of its output.
///
/// ```
/// use wug_data::PythonRandom;
///
/// // >>> import random; random.seed(42); random.random(), random.randrange(10), random.choice("abc")
/// let mut random = PythonRandom::new(42);
/// assert_eq!(random.random(), 0.6394267984578837);
/// ```
#[derive(Clone)]
pub struct PythonRandom {
    state: [u32; N],
    next: usize,
}

const N: usize = 624;
const M: usize = 397;

impl PythonRandom {
    /// As `random.seed(seed)` for a seed below 2^32.
    pub fn new(seed: u32) -> Self {
        // `init_by_array` of the reference implementation, with a key of one word.
        let mut state = [0u32; N];
        state[0] = 19_650_218;
        for i in 1..N {
            state[i] =
                1_812_433_253u32.wrapping_mul(state[i - 1] ^ (state[i - 1] >> 30)).wrapping_add(i as u32);
        }
        let mut i = 1;
        for _ in 0..N {
            let mixed = (state[i - 1] ^ (state[i - 1] >> 30)).wrapping_mul(1_664_525);
            state[i] = (state[i] ^ mixed).wrapping_add(seed);
            i += 1;
            if i == N {
                state[0] = state[N - 1];
                i = 1;
            }
        }
        for _ in 0..N - 1 {
            let mixed = (state[i - 1] ^ (state[i - 1] >> 30)).wrapping_mul(1_566_083_941);
            state[i] = (state[i] ^ mixed).wrapping_sub(i as u32);
            i += 1;
            if i == N {
                state[0] = state[N - 1];
                i = 1;
            }
        }
        state[0] = 0x8000_0000;
        Self { state, next: N }
    }

    /// The next 32 bits of the twister.
    fn word(&mut self) -> u32 {
        if self.next == N {
            self.refill();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// Makes the next 624 words. In three stretches, so that no index needs to be wrapped.
    fn refill(&mut self) {
        let mixed = |this: u32, next: u32, far: u32| {
            let y = (this & 0x8000_0000) | (next & 0x7fff_ffff);
            far ^ (y >> 1) ^ ((y & 1).wrapping_neg() & 0x9908_b0df)
        };
        let state = &mut self.state;
        for i in 0..N - M {
            state[i] = mixed(state[i], state[i + 1], state[i + M]);
        }
        for i in N - M..N - 1 {
            state[i] = mixed(state[i], state[i + 1], state[i + M - N]);
        }
        state[N - 1] = mixed(state[N - 1], state[0], state[M - 1]);
        self.next = 0;
    }

    /// `getrandbits(k)` for 1 to 32 bits.
    pub fn bits(&mut self, k: u32) -> u32 {
        self.word() >> (32 - k)
    }

    /// A whole number below `n`, as `randrange(n)`: bits of the length of `n`, again until they are below.
    pub fn below(&mut self, n: u32) -> u32 {
        let k = u32::BITS - n.leading_zeros();
        loop {
            let drawn = self.bits(k);
            if drawn < n {
                return drawn;
            }
        }
    }

    /// `random()`: uniform in [0, 1).
    pub fn random(&mut self) -> f64 {
        let (a, b) = (self.word() >> 5, self.word() >> 6);
        (f64::from(a) * 67_108_864.0 + f64::from(b)) / 9_007_199_254_740_992.0
    }

    /// `choice(items)`.
    pub fn choice<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u32) as usize]
    }

    /// `shuffle(items)`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i as u32 + 1) as usize;
            items.swap(i, j);
        }
    }

    /// `sample(items, k)`.
    ///
    /// # Panics
    /// If there are fewer than `k` items.
    pub fn sample<T: Clone>(&mut self, items: &[T], k: usize) -> Vec<T> {
        assert!(k <= items.len(), "sample larger than population");
        let n = items.len();
        // The library keeps a set of what was taken where that is smaller than a copy of the items.
        let mut set_size = 21;
        if k > 5 {
            let mut power = 1usize;
            while power < 3 * k {
                power *= 4;
            }
            set_size += power;
        }
        if n <= set_size {
            let mut pool = items.to_vec();
            (0..k)
                .map(|i| {
                    let j = self.below((n - i) as u32) as usize;
                    let taken = pool[j].clone();
                    pool[j] = pool[n - i - 1].clone();
                    taken
                })
                .collect()
        } else {
            let mut taken = std::collections::HashSet::with_capacity(k);
            (0..k)
                .map(|_| {
                    let mut j = self.below(n as u32);
                    while !taken.insert(j) {
                        j = self.below(n as u32);
                    }
                    items[j as usize].clone()
                })
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PythonRandom;

    /// Every expected value was printed by CPython 3.11.
    #[test]
    fn draws_what_cpython_draws() {
        let mut random = PythonRandom::new(12306);
        assert_eq!(random.random(), 0.5210155721472932);
        assert_eq!(random.random(), 0.6510315846276873);
        assert_eq!(random.random(), 0.6986640498379132);
        assert_eq!((0..8).map(|_| random.below(10)).collect::<Vec<_>>(), [9, 7, 2, 4, 5, 0, 1, 6]);
        assert_eq!((0..4).map(|_| random.below(1)).collect::<Vec<_>>(), [0, 0, 0, 0]);
        assert_eq!(random.bits(32), 3951538303);
        let mut items: Vec<u32> = (0..12).collect();
        random.shuffle(&mut items);
        assert_eq!(items, [11, 9, 5, 1, 0, 4, 8, 6, 7, 10, 2, 3]);
        let pool: Vec<u32> = (0..57).collect();
        assert_eq!(random.sample(&pool, 3), [50, 19, 18]);
        assert_eq!(random.sample(&pool, 5), [27, 48, 30, 31, 39]);
        assert_eq!(random.sample(&pool, 6), [33, 41, 28, 7, 53, 14]);
        assert_eq!(
            random.sample(&pool, 20),
            [36, 39, 8, 10, 53, 43, 27, 44, 29, 19, 7, 47, 40, 24, 1, 9, 3, 22, 11, 28]
        );
        assert_eq!(
            random.sample(&pool, 57),
            [
                11, 33, 23, 44, 56, 0, 16, 22, 42, 8, 38, 27, 52, 37, 5, 35, 12, 34, 17, 26, 32, 45, 46, 9,
                4, 21, 53, 48, 13, 20, 7, 47, 14, 28, 1, 2, 43, 31, 49, 36, 25, 30, 3, 55, 40, 10, 29, 6, 50,
                54, 15, 19, 51, 18, 41, 39, 24
            ]
        );
        let pool: Vec<u32> = (0..5000).collect();
        assert_eq!(random.sample(&pool, 7), [1613, 3746, 3799, 1130, 3614, 4638, 752]);
        for _ in 0..2000 {
            random.random();
        }
        assert_eq!(random.below(1_000_000), 879940);
    }
}
