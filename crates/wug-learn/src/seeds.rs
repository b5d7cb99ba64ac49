use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wug_data::{Error, Result};

use crate::{Learner, Model, Task};

/// What became of a task.
type Learnt = Result<Box<dyn Model>>;

/// Learns several tasks side by side, mostly one with several seeds: each on one thread, as many at once as there are cores.
///
/// Runs that share nothing use the cores better than one run that is spread over them, and each ends as it would alone.
pub fn side_by_side(learner: &dyn Learner, tasks: &[Task<'_>]) -> Vec<Result<Box<dyn Model>>> {
    let next = AtomicUsize::new(0);
    let models: Vec<Mutex<Option<Learnt>>> = tasks.iter().map(|_| Mutex::new(None)).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(tasks.len());
    let work = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        while let Some(i) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < tasks.len()) {
            let model = match &pool {
                Ok(pool) => pool.install(|| learner.learn(&tasks[i])),
                Err(error) => Err(Error::failed(format!("no thread to learn on: {error}"))),
            };
            *models[i].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(model);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
    let model =
        |model: Mutex<Option<_>>| model.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    models.into_iter().map(|one| model(one).expect("every task was taken")).collect()
}
