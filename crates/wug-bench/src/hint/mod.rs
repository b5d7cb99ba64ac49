//! HINT: handwritten arithmetic with integers.
//!
//! *Does a learner that has seen short sums of small numbers read, parse and compute longer and larger ones?* An
//! expression, as symbols or as handwriting, is mapped to its value (Li et al., 2023). Only the value is given, so
//! perception, syntax and semantics must be learnt together.
//!
//! | dataset | train | val | test | asks for |
//! |---|---|---|---|---|
//! | `symbol` | 998,000 | 4,698 | 46,620 | the value of an expression of symbols |
//! | `image` | the same | the same | the same | the value of a handwritten expression |
//! | `fewshot-{x,y}` | 1,100 | 491, 493 | 4,900 | a new number from a few examples |
//! | `fewshot-{a,b,c,d}` | 1,000 | 470 | 4,700 | a new operator from a few examples |
//! | `fewshot-{...}-image` | the same | the same | the same | the same in handwriting |
//!
//! | subset of val and test | operators | values | rows of test |
//! |---|---|---|---|
//! | `I` | as train | as train | 9,980, seen in train |
//! | `SS` | up to 10 | up to 100 | 8,000, new |
//! | `LS` | 11 to 20 | up to 100 | 10,000 |
//! | `SL` | up to 10 | 101 to 10,000 | 8,640 |
//! | `LL` | 11 to 20 | 101 to 10,000 | 10,000 |
//!
//! Subtraction stops at 0, division rounds up: `3-5*(2/4)` -> `0`, `7/2*(9*5)` -> `180`.

pub mod expression;
pub mod grammar;
pub mod meaning;
pub mod pool;
pub mod splits;
pub mod table;
