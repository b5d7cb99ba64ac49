//! Long work: on threads of its own, without the interpreter's lock, and open to Ctrl-C.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often signals are looked for.
const POLL: Duration = Duration::from_millis(50);

/// The pool of this process. A child that was forked has none of its parent's threads, and gets a pool of its own.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The threads that all work is done on.
pub(crate) fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((_, pool)) = known.as_ref().filter(|(owner, _)| *owner == process) {
        return Ok(Arc::clone(pool));
    }
    let failed = |error| PyRuntimeError::new_err(format!("no threads to compute with: {error}"));
    let pool = Arc::new(ThreadPoolBuilder::new().build().map_err(failed)?);
    // To end the parent's pool would be to wait for threads that are not there.
    std::mem::forget(known.replace((process, Arc::clone(&pool))));
    Ok(pool)
}

/// What is done while work goes on.
pub(crate) trait Waiting {
    /// Called on the waiting thread, now and then.
    fn tick(&self, py: Python<'_>) -> PyResult<()>;

    /// Asks the work to stop; whether it is worth waiting for it.
    fn stop(&self) -> bool;
}

/// Work that cannot be asked to stop: after Ctrl-C it ends by itself, and nobody sees its result.
pub(crate) struct Unattended;

impl Waiting for Unattended {
    fn tick(&self, _: Python<'_>) -> PyResult<()> {
        Ok(())
    }

    fn stop(&self) -> bool {
        false
    }
}

/// Does the work on the pool without the interpreter's lock.
///
/// # Errors
/// Whatever a signal handler or a tick raised (`KeyboardInterrupt`), or `RuntimeError` for a panic, which would be a defect
/// of wug.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    waiting: &(impl Waiting + Sync),
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool()?;
    let (send, mut receive) = sync_channel(1);
    let thread = std::thread::Builder::new().name("wug".to_owned()).spawn(move || {
        let done = panic::catch_unwind(AssertUnwindSafe(|| pool.install(work)));
        // Nobody waits any more after an interrupt.
        let _ = send.send(done);
    });
    thread.map_err(|error| PyRuntimeError::new_err(format!("no thread to compute with: {error}")))?;
    let mut raised = None;
    loop {
        let (received, back) = py.detach(move || (receive.recv_timeout(POLL), receive));
        receive = back;
        match received {
            Ok(done) => {
                return match (raised, done) {
                    (Some(raised), _) => Err(raised),
                    (None, Ok(value)) => Ok(value),
                    (None, Err(panic)) => Err(defect(&*panic)),
                };
            }
            Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("the work was lost")),
            Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                if let Err(error) = py.check_signals().and_then(|()| waiting.tick(py)) {
                    if !waiting.stop() {
                        return Err(error);
                    }
                    raised = Some(error);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Does short work in place, without the interpreter's lock.
pub(crate) fn briefly<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| panic::catch_unwind(AssertUnwindSafe(work))).map_err(|panic| defect(&*panic))
}

fn defect(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let what = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    PyRuntimeError::new_err(format!("a defect of wug, please report it: {what}"))
}
