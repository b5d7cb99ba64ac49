//! Threads that send requests, started as they are needed.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::cache::Cache;
use crate::client::{Client, Failure, Received};
use crate::request::{Request, RequestKey};

/// What the thread that decides is told.
pub(crate) enum Event {
    /// A request has come back.
    Reply { key: RequestKey, sent: Instant, result: Result<Received, Failure> },
    /// So many lines of the journal are safe.
    Synced(std::io::Result<u64>),
}

/// The threads. They end when the pool is dropped, each after the request it is at; nobody waits for that.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: usize,
}

struct Shared {
    client: Client,
    cache: Option<Cache>,
    queue: Mutex<Queue>,
    changed: Condvar,
    events: Sender<Event>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(RequestKey, Request)>,
    idle: usize,
    closed: bool,
}

/// Threads wait for the network and do little else.
const STACK: usize = 512 << 10;

impl Pool {
    pub(crate) fn new(client: Client, cache: Option<Cache>, events: Sender<Event>) -> Self {
        let queue = Mutex::new(Queue::default());
        Self {
            shared: Arc::new(Shared { client, cache, queue, changed: Condvar::new(), events }),
            threads: 0,
        }
    }

    /// Sends a request on a thread of its own.
    pub(crate) fn send(&mut self, key: RequestKey, request: Request) -> std::io::Result<()> {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.waiting.push_back((key, request));
        if queue.waiting.len() > queue.idle {
            let shared = Arc::clone(&self.shared);
            let spawned = std::thread::Builder::new().stack_size(STACK).spawn(move || work(&shared));
            match spawned {
                Ok(_) => self.threads += 1,
                // With fewer threads than wished the rest wait their turn.
                Err(_) if self.threads > 0 => (),
                Err(error) => return Err(error),
            }
        }
        drop(queue);
        self.shared.changed.notify_one();
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.shared.changed.notify_all();
    }
}

fn work(shared: &Shared) {
    loop {
        let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, request) = loop {
            if queue.closed {
                return;
            }
            if let Some(next) = queue.waiting.pop_front() {
                break next;
            }
            queue.idle += 1;
            queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        };
        drop(queue);
        let sent = Instant::now();
        let result = shared.client.send(&request);
        if let (Ok(received), Some(cache)) = (&result, &shared.cache) {
            // A full disk shows in the journal, which matters; the cache only saves requests.
            let _ = cache.put(key, &received.reply);
        }
        if shared.events.send(Event::Reply { key, sent, result }).is_err() {
            return;
        }
    }
}
