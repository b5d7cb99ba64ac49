//! Pools: distinct expressions with a number of operators and a range of values, from which the parts are cut.

use std::hash::Hasher;

use num_bigint::BigUint;
use rayon::prelude::*;

use wug_data::{Error, PythonRandom, Result, Stream, Streams};

use super::grammar::{Alphabet, Draw, Symbol, count, enumerate};
use super::meaning::{apply, evaluate};
use super::splits::MAX_OPERATORS;

/// Up to this many operators a pool is all expressions rather than a sample.
const ENUMERATED: usize = 2;
/// Candidates in a row that may fail before a pool is taken to be exhausted.
const PATIENCE: u64 = 3_000_000;

/// What a pool asks of its expressions.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// Leaves and operators to draw from.
    pub alphabet: &'a Alphabet,
    /// A symbol that must occur.
    pub symbol: Option<Symbol>,
    /// Number of operators.
    pub operators: usize,
    /// The largest value of any part is at least this ...
    pub least: u64,
    /// ... and at most this.
    pub most: u64,
    /// How many expressions.
    pub size: usize,
}

impl Wanted<'_> {
    fn has_symbol(&self, prefix: &[u8]) -> bool {
        self.symbol.is_none_or(|symbol| prefix.contains(&symbol.0))
    }

    /// Fails if it is plain that there are not as many expressions.
    fn check(&self) -> Result<()> {
        let results = u64::from(self.result_cap()).saturating_mul(self.most);
        let exist = count(self.alphabet, self.operators);
        let too_many = exist < BigUint::from(self.size) || results < self.size as u64;
        if self.operators > ENUMERATED && too_many {
            return Err(self.impossible("which cannot be"));
        }
        Ok(())
    }

    fn impossible(&self, why: &str) -> Error {
        let Self { operators, least, most, size, alphabet, .. } = self;
        Error::usage(format!(
            "{size} different expressions were asked for with {operators} operators, a largest value from {least} to \
             {most} and no result more than {} times, {why} ({} expressions have {operators} operators, of any value)",
            self.result_cap(),
            count(alphabet, *operators),
        ))
    }

    /// No result has more than 5% of a sampled pool.
    fn result_cap(&self) -> u32 {
        (self.size / 20) as u32
    }
}

/// Expressions of one length in prefix form, in one flat buffer.
#[derive(Debug, Clone)]
pub struct Pool {
    tokens: Vec<u8>,
    width: usize,
}

impl Pool {
    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.tokens.len() / self.width
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The expression at a place.
    pub fn get(&self, place: usize) -> &[u8] {
        &self.tokens[place * self.width..(place + 1) * self.width]
    }

    fn in_order(&self, order: &[u32]) -> Self {
        let mut tokens = Vec::with_capacity(order.len() * self.width);
        for &place in order {
            tokens.extend_from_slice(self.get(place as usize));
        }
        Self { tokens, width: self.width }
    }
}

/// All small expressions with their values. Each is as likely as any other of its size, so a small subtree can be drawn
/// whole: most of a large one is small subtrees.
#[derive(Debug)]
pub struct Ready {
    sizes: Vec<ReadySize>,
}

/// The expressions with one number of operators.
#[derive(Debug)]
struct ReadySize {
    width: usize,
    expressions: Vec<Small>,
}

/// A small expression, packed so that all of them stay near the processor.
#[derive(Debug, Clone, Copy)]
struct Small {
    tokens: [u8; SMALL_WIDTH],
    value: u16,
    /// The largest value of any part; [`u16::MAX`] if one is undefined.
    largest: u16,
}

/// Buffer size for the tokens of a small expression: a power of two, so that they are copied as one number.
const SMALL_WIDTH: usize = 8;
const _: () = assert!(2 * ENUMERATED < SMALL_WIDTH);

/// Buffer size for the tokens of a candidate, with space for a small expression to be copied whole at its end.
const BUFFER_LEN: usize = (2 * MAX_OPERATORS + 1 + SMALL_WIDTH).next_power_of_two();

impl Ready {
    /// The small expressions of an alphabet.
    pub fn new(alphabet: &Alphabet) -> Self {
        let small = |prefix: &[u8]| {
            let mut tokens = [0; SMALL_WIDTH];
            tokens[..prefix.len()].copy_from_slice(prefix);
            // Two operators on numbers up to 12 reach 12 * 12 * 12.
            let (value, largest) = evaluate(prefix).unwrap_or((0, u64::from(u16::MAX)));
            Small { tokens, value: value as u16, largest: largest as u16 }
        };
        let size = |operators| {
            let expressions = enumerate(alphabet, operators).iter().map(|prefix| small(prefix)).collect();
            ReadySize { width: 2 * operators + 1, expressions }
        };
        Self { sizes: (0..=ENUMERATED).map(size).collect() }
    }
}

/// Draws a pool as the release was drawn: one sequence of random numbers for everything.
pub fn draw_official(wanted: &Wanted<'_>, random: &mut PythonRandom) -> Result<Pool> {
    wanted.check()?;
    let mut accepted = Accepted::new(wanted);
    if wanted.operators <= ENUMERATED {
        accepted.enumerate();
    } else {
        let mut candidate = Candidate::new(wanted);
        while !accepted.is_full() {
            if let Some(result) = candidate.draw(random) {
                accepted.offer(candidate.tokens(), result);
            }
            accepted.tried(1)?;
        }
    }
    let mut order: Vec<u32> = (0..accepted.pool.len() as u32).collect();
    random.shuffle(&mut order);
    order.truncate(wanted.size);
    Ok(accepted.pool.in_order(&order))
}

/// Draws a pool from streams: 64 candidates from each, accepted in order, on all cores.
pub fn draw_fresh(wanted: &Wanted<'_>, ready: &Ready, streams: &Streams) -> Result<Pool> {
    /// Most candidates take fewer random numbers than it takes to begin a stream.
    const PER_STREAM: u64 = 64;
    const BLOCK: u64 = 64 * PER_STREAM;
    wanted.check()?;
    let mut accepted = Accepted::new(wanted);
    if wanted.operators <= ENUMERATED {
        accepted.enumerate();
        let mut order: Vec<u32> = (0..accepted.pool.len() as u32).collect();
        streams.item(0).shuffle(&mut order);
        order.truncate(wanted.size);
        return Ok(accepted.pool.in_order(&order));
    }
    let mut next = 0;
    while !accepted.is_full() {
        // As many blocks as seem to be missing, so that little is drawn in vain; at first one, to learn how many fit.
        let rate = (accepted.pool.len() + 1) as f64 / next.max(1) as f64;
        let missing = (wanted.size - accepted.pool.len()) as f64 / rate;
        let blocks = (missing as u64).div_ceil(BLOCK).clamp(1, if next == 0 { 1 } else { 64 });
        let drawn: Vec<(Vec<u64>, Vec<u8>)> = (0..blocks)
            .into_par_iter()
            .map(|block| {
                let mut candidate = Candidate { ready: &ready.sizes, ..Candidate::new(wanted) };
                let (mut results, mut tokens) = (Vec::new(), Vec::new());
                let first = (next + block * BLOCK) / PER_STREAM;
                for stream in first..first + BLOCK / PER_STREAM {
                    let mut random = streams.item(stream);
                    for _ in 0..PER_STREAM {
                        if let Some(result) = candidate.draw(&mut random) {
                            results.push(result);
                            tokens.extend_from_slice(candidate.tokens());
                        }
                    }
                }
                (results, tokens)
            })
            .collect();
        for (results, tokens) in drawn {
            for (result, tokens) in results.into_iter().zip(tokens.chunks(accepted.pool.width)) {
                accepted.offer(tokens, result);
            }
            accepted.tried(BLOCK)?;
        }
        next += blocks * BLOCK;
    }
    Ok(accepted.pool)
}

/// Draws one candidate: an expression in prefix form, if it is one that is asked for.
pub(super) fn draw_one(wanted: &Wanted<'_>, ready: &Ready, random: &mut Stream) -> Option<Vec<u8>> {
    let mut candidate = Candidate { ready: &ready.sizes, ..Candidate::new(wanted) };
    let result = candidate.any(random)?;
    // As in pools: results of 0 are welcome where every expression is.
    (result != 0 || wanted.operators <= ENUMERATED).then(|| candidate.tokens().to_vec())
}

/// An expression being drawn.
struct Candidate<'a> {
    wanted: &'a Wanted<'a>,
    /// What is drawn whole, by number of operators.
    ready: &'a [ReadySize],
    /// The first `length` are the expression.
    buffer: [u8; BUFFER_LEN],
    length: usize,
    largest: u64,
}

impl<'a> Candidate<'a> {
    fn new(wanted: &'a Wanted<'a>) -> Self {
        Self { wanted, ready: &[], buffer: [0; BUFFER_LEN], length: 0, largest: 0 }
    }

    fn tokens(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    fn push(&mut self, symbol: Symbol) {
        self.buffer[self.length] = symbol.0;
        self.length += 1;
    }

    /// Draws an expression; its result, if it is one that the pool asks for.
    fn draw<D: Draw>(&mut self, random: &mut D) -> Option<u64> {
        self.any(random).filter(|&result| result != 0)
    }

    /// The same where a result of 0 is as good as any.
    fn any<D: Draw>(&mut self, random: &mut D) -> Option<u64> {
        self.length = 0;
        self.largest = 0;
        let result = self.subtree(random, self.wanted.operators)?;
        let fits = self.largest >= self.wanted.least && self.wanted.has_symbol(self.tokens());
        fits.then_some(result)
    }

    /// Draws a subtree; its value, if it and all its parts are defined and small enough.
    fn subtree<D: Draw>(&mut self, random: &mut D, operators: usize) -> Option<u64> {
        if let Some(ready) = self.ready.get(operators) {
            let drawn = &ready.expressions[random.below(ready.expressions.len() as u32) as usize];
            // All are copied at one width, which is quicker than at their own.
            self.buffer[self.length..self.length + SMALL_WIDTH].copy_from_slice(&drawn.tokens);
            self.length += ready.width;
            let largest = u64::from(drawn.largest);
            self.largest = self.largest.max(largest);
            let defined = drawn.largest != u16::MAX && largest <= self.wanted.most;
            return defined.then_some(u64::from(drawn.value));
        }
        let alphabet = self.wanted.alphabet;
        if operators == 0 {
            let leaf = alphabet.leaves[random.below(alphabet.leaves.len() as u32) as usize];
            self.push(leaf);
            let value = leaf.leaf()?;
            self.largest = self.largest.max(value);
            return (value <= self.wanted.most).then_some(value);
        }
        let (operator, left_size) = random.node(alphabet.operators.len() as u32, operators as u32);
        let operator = alphabet.operators[operator as usize];
        self.push(operator);
        let left = self.subtree(random, left_size as usize);
        if D::MAY_STOP && left.is_none() {
            return None;
        }
        let right = self.subtree(random, operators - 1 - left_size as usize);
        let value = apply(operator, left?, right?)?;
        self.largest = self.largest.max(value);
        (value <= self.wanted.most).then_some(value)
    }
}

/// A pool being filled.
struct Accepted<'a> {
    wanted: &'a Wanted<'a>,
    pool: Pool,
    known: Known,
    /// Expressions with each result. Results are small where pools are large, so most are counted in a list.
    by_result: Vec<u32>,
    by_large_result: std::collections::HashMap<u64, u32>,
    in_vain: u64,
}

impl<'a> Accepted<'a> {
    fn new(wanted: &'a Wanted<'a>) -> Self {
        const LISTED: u64 = 1 << 16;
        let width = 2 * wanted.operators + 1;
        Self {
            wanted,
            pool: Pool { tokens: Vec::with_capacity(wanted.size * width), width },
            known: Known::new(wanted.size),
            by_result: vec![0; wanted.most.min(LISTED) as usize + 1],
            by_large_result: std::collections::HashMap::new(),
            in_vain: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.pool.len() >= self.wanted.size
    }

    /// Takes every expression that the pool asks for; results of 0 and any number of equal results are welcome.
    fn enumerate(&mut self) {
        for prefix in enumerate(self.wanted.alphabet, self.wanted.operators) {
            let fits = evaluate(&prefix)
                .is_some_and(|(_, largest)| (self.wanted.least..=self.wanted.most).contains(&largest));
            if fits && self.wanted.has_symbol(&prefix) {
                self.pool.tokens.extend(prefix);
            }
        }
    }

    /// Takes an expression, unless it is there already or its result is frequent enough.
    fn offer(&mut self, prefix: &[u8], result: u64) {
        if self.is_full() {
            return;
        }
        let count = match self.by_result.get_mut(result as usize) {
            Some(count) => count,
            None => self.by_large_result.entry(result).or_default(),
        };
        if *count < self.wanted.result_cap() && self.known.insert(&self.pool, prefix) {
            *count += 1;
            self.pool.tokens.extend_from_slice(prefix);
            self.in_vain = 0;
        }
    }

    /// Notes candidates that were looked at; an error if too many were in vain.
    fn tried(&mut self, candidates: u64) -> Result<()> {
        self.in_vain += candidates;
        if self.in_vain < PATIENCE || self.is_full() {
            return Ok(());
        }
        let found = self.pool.len();
        Err(self.wanted.impossible(&format!("but after {found} the next {PATIENCE} draws gave no other")))
    }
}

/// A set of expressions of a pool by their places: an open-addressing table, four bytes a slot and a tag to spare most
/// comparisons.
struct Known {
    slots: Vec<(u32, u32)>,
    mask: usize,
}

impl Known {
    const EMPTY: u32 = u32::MAX;

    fn new(size: usize) -> Self {
        let slots = (size * 2).next_power_of_two();
        Self { slots: vec![(Self::EMPTY, 0); slots], mask: slots - 1 }
    }

    /// Adds an expression that is about to be put at the end of the pool; whether it is new.
    fn insert(&mut self, pool: &Pool, prefix: &[u8]) -> bool {
        let mut hasher = Fold(0);
        hasher.write(prefix);
        let hash = hasher.finish();
        let (tag, mut slot) = ((hash >> 32) as u32, hash as usize & self.mask);
        loop {
            let (place, other) = self.slots[slot];
            if place == Self::EMPTY {
                self.slots[slot] = (pool.len() as u32, tag);
                return true;
            }
            if other == tag && pool.get(place as usize) == prefix {
                return false;
            }
            slot = (slot + 1) & self.mask;
        }
    }
}

/// A quick hash for short byte strings that nobody chose to collide.
struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut padded = [0; 8];
            padded[..word.len()].copy_from_slice(word);
            let product = u128::from(self.0 ^ u64::from_le_bytes(padded)) * 0x9e37_79b9_7f4a_7c15;
            self.0 = (product >> 64) as u64 ^ product as u64;
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
