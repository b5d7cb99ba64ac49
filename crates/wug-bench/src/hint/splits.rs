//! Which examples go where, and why.
//!
//! For each number of operators there are two pools: S, whose values stay within 100, and L, where some value is
//! above. Train takes from S up to 10 operators. Test asks in five subsets: I, seen in train; SS, new but no longer and
//! no larger; LS, longer; SL, larger; LL, longer and larger. The first letter is for length, the second for values.

use rayon::prelude::*;

use wug_data::{Error, Part, PythonRandom, Result, Streams};

use super::grammar::{Alphabet, Symbol};
use super::meaning::evaluate;
use super::pool::{Pool, Ready, Wanted, draw_fresh, draw_official};

/// The seed that the release was drawn with.
const OFFICIAL_SEED: u32 = 12306;
/// The most operators that can be asked for.
pub(super) const MAX_OPERATORS: usize = 200;
/// The most expressions of one length that can be asked for.
pub(super) const QUOTA: std::ops::RangeInclusive<u64> = 1..=10_000_000;
/// Values are written as `i64`.
pub(super) const MAX_VALUE: u64 = i64::MAX as u64;

/// The subsets of val and test, in the order of the paper.
pub const SUBSETS: [&str; 5] = ["I", "SS", "LS", "SL", "LL"];

/// Sizes and bounds of a dataset. The defaults are those of the paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// The new symbol of a few-shot dataset.
    pub symbol: Option<Symbol>,
    /// The most operators in train ...
    pub train_operators: usize,
    /// ... and in test.
    pub operators: usize,
    /// The largest value in train ...
    pub train_value: u64,
    /// ... and in test.
    pub value: u64,
    /// Expressions of each number of operators in train,
    pub train: usize,
    /// in each subset of val,
    pub val: usize,
    /// and in each subset of test.
    pub test: usize,
}

impl Design {
    /// The main datasets.
    pub fn main() -> Self {
        Self {
            symbol: None,
            train_operators: 10,
            operators: 20,
            train_value: 100,
            value: 10_000,
            train: 100_000,
            val: 100,
            test: 1_000,
        }
    }

    /// A dataset to learn a new symbol from.
    pub fn few_shot(symbol: Symbol) -> Self {
        Self { symbol: Some(symbol), train: 100, val: 10, test: 100, ..Self::main() }
    }

    /// Whether sizes and bounds make sense.
    pub fn check(&self) -> Result<()> {
        if self.train_operators > self.operators {
            let (name, most) = (self.train_operators, self.operators);
            return Err(Error::usage(format!(
                "train-operators={name}: expected 0 to {most}, that of operators"
            )));
        }
        if self.train_value >= self.value {
            let (name, most) = (self.train_value, self.value - 1);
            return Err(Error::usage(format!("train-value={name}: expected 12 to {most}, below value")));
        }
        // No result may have more than 5% of a pool: of fewer than 20 expressions that is none.
        if self.val + self.test < 20 {
            let (val, test) = (self.val, self.test);
            return Err(Error::usage(format!("val={val}, test={test}: expected 20 or more together")));
        }
        Ok(())
    }

    /// The place in [`SUBSETS`] of an expression that train does not have.
    pub fn subset_unseen(&self, prefix: &[u8]) -> u8 {
        let operators = prefix.iter().filter(|&&token| Symbol(token).precedence().is_some()).count();
        let largest = evaluate(prefix).map_or(u64::MAX, |(_, largest)| largest);
        1 + u8::from(operators > self.train_operators) + 2 * u8::from(largest > self.train_value)
    }

    pub(super) fn numbers_of_operators(&self) -> std::ops::RangeInclusive<usize> {
        // A new operator needs one.
        let first = usize::from(self.symbol.is_some_and(|symbol| symbol.leaf().is_none()));
        first..=self.operators
    }

    pub(super) fn alphabet(&self) -> Alphabet {
        self.symbol.map_or_else(Alphabet::main, Alphabet::with)
    }

    fn train_quota(&self, operators: usize) -> usize {
        if operators <= self.train_operators { self.train } else { 0 }
    }

    pub(super) fn wanted<'a>(&self, alphabet: &'a Alphabet, operators: usize, large: bool) -> Wanted<'a> {
        let (least, most) = if large { (self.train_value + 1, self.value) } else { (0, self.train_value) };
        let train = if large { 0 } else { self.train_quota(operators) };
        let size = train + self.val + self.test;
        Wanted { alphabet, symbol: self.symbol, operators, least, most, size }
    }

    /// How often a small pool is repeated at most to fill train.
    pub(super) fn most_repeats(&self, operators: usize) -> usize {
        match (self.symbol, operators) {
            (None, 0) => (self.train / 50).max(1),
            (None, 1) => (self.train / 500).max(1),
            _ => usize::MAX,
        }
    }
}

/// The two pools of a number of operators.
#[derive(Debug)]
pub struct Pools {
    /// The number.
    pub operators: usize,
    /// Values within the bound of train.
    pub small: Pool,
    /// Some value above it.
    pub large: Pool,
}

/// The pools of the release.
pub fn official(design: &Design) -> Result<Vec<Pools>> {
    let alphabet = design.alphabet();
    let mut random = PythonRandom::new(OFFICIAL_SEED);
    let mut draw = |operators| {
        Ok(Pools {
            operators,
            small: draw_official(&design.wanted(&alphabet, operators, false), &mut random)?,
            large: draw_official(&design.wanted(&alphabet, operators, true), &mut random)?,
        })
    };
    design.numbers_of_operators().map(&mut draw).collect()
}

/// The pools of a seed.
pub fn fresh(design: &Design, seed: u64) -> Result<Vec<Pools>> {
    let alphabet = design.alphabet();
    let name =
        design.symbol.map_or_else(|| "hint".to_owned(), |symbol| format!("hint/{}", symbol.character()));
    let ready = Ready::new(&alphabet);
    let draw = |operators: usize, large: bool| {
        let part = format!("{operators} operators, {} values", if large { "large" } else { "small" });
        draw_fresh(&design.wanted(&alphabet, operators, large), &ready, &Streams::new(&name, &part, seed))
    };
    let numbers: Vec<usize> = design.numbers_of_operators().collect();
    numbers
        .into_par_iter()
        .map(|operators| {
            Ok(Pools { operators, small: draw(operators, false)?, large: draw(operators, true)? })
        })
        .collect()
}

/// The parts, as rows of the pools one behind the other, and the subset of each row.
pub fn parts(design: &Design, pools: &[Pools]) -> (Vec<Part>, Vec<u8>) {
    let (mut train, mut val, mut test) = (Vec::new(), Vec::new(), Vec::new());
    let mut subsets = Vec::new();
    let mut first = 0u32;
    for Pools { operators, small, large } in pools {
        let quota = design.train_quota(*operators);
        let long = usize::from(*operators > design.train_operators);
        let seen = small.len().min(quota);
        let end = first + small.len() as u32;

        let repeats = quota.div_ceil(small.len().max(1)).min(design.most_repeats(*operators));
        let length = (small.len() * repeats).min(quota);
        let trained: Vec<u32> = (first..first + seen as u32).cycle().take(length).collect();
        let share = |quota: usize| (length * quota).checked_div(design.train).unwrap_or(0).min(length);
        val.extend_from_slice(&trained[..share(design.val)]);
        test.extend_from_slice(&trained[..share(design.test)]);
        train.extend(trained);

        let new: Vec<u32> = (first + seen as u32..end).collect();
        let larger: Vec<u32> = (end..end + large.len() as u32).collect();
        for rows in [new, larger] {
            let cut = design.val.min(rows.len());
            val.extend_from_slice(&rows[..cut]);
            test.extend_from_slice(&rows[cut..]);
        }
        subsets.extend(std::iter::repeat_n(0, seen));
        subsets.extend(std::iter::repeat_n(1 + long as u8, small.len() - seen));
        subsets.extend(std::iter::repeat_n(3 + long as u8, large.len()));
        first = end + large.len() as u32;
    }
    (vec![Part::new("train", train), Part::new("val", val), Part::new("test", test)], subsets)
}
