//! One file a command.

pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod export;
pub(crate) mod gallery;
pub(crate) mod generate;
pub(crate) mod help;
pub(crate) mod list;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod stream;
