//! The benchmarks. Each is a folder with the same rooms: `grammar` (what can be said), `meaning` (what it means),
//! `splits` (which examples go where), `files` (the official format), `score` (when a prediction is right).
//!
//! ```
//! use wug_bench::{Address, Source};
//!
//! let address: Address = "scan/length#test".parse()?;
//! let dataset = address.benchmark.make(&address.dataset, &Source::Seed(0))?;
//! assert_eq!(dataset.select("test")?.positions.len(), 3920);
//!
//! let judge = address.benchmark.judge("exact")?;
//! let example = dataset.table.example(0);
//! assert!(judge.judge(&example, &example.target.to_string()).correct);
//! # Ok::<(), wug_data::Error>(())
//! ```

use std::sync::{Arc, LazyLock};

mod address;
mod benchmark;
mod card;
pub mod cogs;
mod data_settings;
mod draw;
mod exact;
pub mod hint;
mod import;
pub mod mns;
pub mod mt;
pub mod nacs;
pub mod pair_files;
pub mod pairs;
pub mod pcfg;
pub mod recogs;
pub mod scan;
pub mod slog;
mod statistics;
mod stream;
pub mod toy;
mod verify;

pub use address::Address;
pub use benchmark::{
    Availability, Benchmark, BenchmarkInfo, Family, Feature, Judge, Metric, NativeFile, NativePictures,
    Release, Slice, Source, Statistic, Verdict, WriteFile,
};
pub use card::{Files, card, collection_card};
pub use data_settings::DataSettings;
pub use draw::Draw;
pub use exact::{EXACT, Exact};
pub use import::read_written_by_wug;
pub use stream::{ItemStream, Items, Limit, TEST_SHARE};
pub use verify::verify;
pub use wug_data::{Setting, SettingKind};

/// All benchmarks of the program. A new one is a folder and a line here.
pub static BENCHMARKS: LazyLock<Vec<Arc<dyn Benchmark>>> = LazyLock::new(|| {
    vec![
        Arc::new(scan::Scan),
        Arc::new(nacs::Nacs),
        Arc::new(cogs::Cogs),
        Arc::new(recogs::Recogs),
        Arc::new(hint::Hint),
        Arc::new(mns::Mns),
        Arc::new(mt::Mt),
        Arc::new(slog::Slog),
        Arc::new(pcfg::Pcfg),
        Arc::new(toy::Toy),
        Arc::new(pairs::Pairs),
    ]
});
