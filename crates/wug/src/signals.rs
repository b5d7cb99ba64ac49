//! Ctrl-C and SIGTERM: a run that keeps checkpoints is asked to stop with one; everything else ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};

/// Becomes true when work that can go on later is asked to stop.
pub(crate) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether there is such work.
static RESUMABLE: AtomicBool = AtomicBool::new(false);

/// The exit code of the signal that came, if one did.
static CODE: AtomicUsize = AtomicUsize::new(0);

/// How often signals are looked for.
const POLL: Duration = Duration::from_millis(20);

/// How long resumable work may take to stop. A checkpoint is written completely or not at all, so ending it is safe.
const GRACE: Duration = Duration::from_secs(30);

/// Begins to listen.
pub(crate) fn install() {
    let signal = Arc::new(AtomicUsize::new(0));
    for (number, code) in [(SIGINT, 130), (SIGTERM, 143)] {
        // Without a handler the signal ends the process, which leaves partial files but nothing wrong.
        let _ = signal_hook::flag::register_usize(number, Arc::clone(&signal), code);
    }
    std::thread::spawn(move || {
        let mut asked: Option<Instant> = None;
        loop {
            std::thread::sleep(POLL);
            let code = signal.swap(0, Ordering::Relaxed);
            let overdue = asked.is_some_and(|asked| asked.elapsed() > GRACE);
            if code > 0 {
                CODE.store(code, Ordering::Relaxed);
            }
            if code > 0 && asked.is_none() && RESUMABLE.load(Ordering::Relaxed) {
                INTERRUPTED.store(true, Ordering::Relaxed);
                asked = Some(Instant::now());
                anstream::eprintln!("stopping with a checkpoint; interrupt again to stop at once");
            } else if code > 0 || overdue {
                wug_data::remove_partial_output();
                std::process::exit(CODE.load(Ordering::Relaxed) as i32);
            }
        }
    });
}

/// From now on a signal asks for a checkpoint.
pub(crate) fn stop_with_checkpoint() {
    RESUMABLE.store(true, Ordering::Relaxed);
}

/// The exit code of the signal that stopped the work, if one did.
pub(crate) fn exit_code() -> Option<u8> {
    u8::try_from(CODE.load(Ordering::Relaxed)).ok().filter(|&code| code > 0)
}
