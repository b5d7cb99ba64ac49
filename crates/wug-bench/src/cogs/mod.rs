//! COGS
pub mod convert;
pub mod files;
pub mod lexicon;
pub mod lf;
pub mod meaning;
pub mod score;
pub mod sem;
pub mod sentence;
