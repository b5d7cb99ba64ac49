use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use wug_data::{Error, Result};

use super::{Item, Items, Job, Outcome, Report, State, Stop, Totals};
use crate::Usage;
use crate::budget::{Budget, Limit};
use crate::cache::Cache;
use crate::client::{Client, Failure, Kind, Received};
use crate::journal::{self, Journal, Record};
use crate::limiter::Limiter;
use crate::pool::{Event, Pool};
use crate::prompt::Turn;
use crate::reply::Reply;
use crate::request::{Request, RequestKey};
use crate::retry::backoff;

/// How long requests in flight may take when the run is cancelled or the server will answer none.
const GRACE: Duration = Duration::from_secs(2);
/// How often `cancel` is looked at and progress is told.
const TICK: Duration = Duration::from_millis(50);
/// Items given up in a row after which the server is taken to be broken.
const GIVE_UPS: usize = 10;
/// Throttled requests are retried this many times as often as others.
const THROTTLED_PATIENCE: u32 = 10;
/// Characters of a reply that an outcome shows.
const EXCERPT: usize = 300;

/// An item that is being asked: the steps that were answered so far.
struct Asking {
    place: usize,
    item: Item,
    turns: Vec<Turn>,
    usage: Usage,
}

/// A request, and the items that wait for its reply.
struct Flight {
    request: Request,
    askers: Vec<Asking>,
    attempts: u32,
    throttled: u32,
    reserved: Usage,
    sent_messages: Vec<(&'static str, Vec<crate::prompt::Content>)>,
}

/// A reply that is written and not yet safe.
struct Unsynced {
    number: u64,
    flight: Flight,
    received: Received,
}

pub(super) struct Run<'a> {
    job: &'a Job<'a>,
    items: &'a dyn Items,
    base: String,
    outcomes: Vec<Option<Outcome>>,
    next: usize,
    /// Items whose next step can be sent.
    ready: VecDeque<Asking>,
    /// Requests under way or waiting for a retry.
    flights: HashMap<RequestKey, Flight>,
    sent: usize,
    retries: BinaryHeap<Reverse<(Instant, [u8; 16])>>,
    unsynced: VecDeque<Unsynced>,
    journal: Journal,
    cache: Option<Cache>,
    budget: Budget,
    limiter: Limiter,
    pool: Pool,
    events: Receiver<Event>,
    totals: Totals,
    stop: Option<(Stop, Instant)>,
    succeeded: bool,
    given_up: usize,
    told: Instant,
}

impl<'a> Run<'a> {
    pub(super) fn new(job: &'a Job<'a>, items: &'a dyn Items) -> Result<Self> {
        let (sender, events) = mpsc::channel();
        let synced = sender.clone();
        let (journal, found) = Journal::open(job.folder, move |result| {
            // Nobody listens any more when the run has been cancelled.
            let _ = synced.send(Event::Synced(result));
        })?;
        let cache = job.cache.map(Cache::open).transpose()?;
        let client = Client::new(job.settings, job.key.clone())?;
        let mut spent = found.usage;
        spent.add(&found.lost);
        let totals = Totals {
            items: items.count(),
            usage: found.usage,
            lost: found.lost,
            damaged: found.damaged,
            ..Totals::default()
        };
        let now = Instant::now();
        Ok(Self {
            job,
            items,
            base: job.settings.base_url()?,
            outcomes: (0..items.count()).map(|_| None).collect(),
            next: 0,
            ready: VecDeque::new(),
            flights: HashMap::new(),
            sent: 0,
            retries: BinaryHeap::new(),
            unsynced: VecDeque::new(),
            journal,
            cache: cache.clone(),
            budget: Budget::new(job.settings, spent),
            limiter: Limiter::new(job.settings.concurrency, now),
            pool: Pool::new(client, cache, sender),
            events,
            totals,
            stop: None,
            succeeded: false,
            given_up: 0,
            told: now,
        })
    }

    pub(super) fn run(mut self) -> Result<Report> {
        loop {
            if self.job.cancel.load(Ordering::Relaxed) {
                self.stop_for(Stop::Cancelled);
            }
            self.send_what_may_be_sent()?;
            if self.is_over() {
                break;
            }
            self.wait()?;
            self.tell_progress(false);
        }
        self.tell_progress(true);
        let not_asked = match self.stop.as_ref().map(|(stop, _)| stop) {
            None | Some(Stop::Done) => "not asked",
            Some(Stop::CostLimit) => "not asked: cost limit",
            Some(Stop::TokenLimit) => "not asked: token limit",
            Some(Stop::Wait(_)) => "not asked: rate limit",
            Some(Stop::Cancelled) => "not asked: cancelled",
            Some(Stop::Fatal(_)) => "not asked: the server answers no request",
        };
        let unanswered = || Outcome {
            state: State::Unanswered(not_asked.to_owned()),
            excerpt: String::new(),
            usage: Usage::default(),
        };
        Ok(Report {
            outcomes: self.outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(unanswered)).collect(),
            stop: self.stop.map_or(Stop::Done, |(stop, _)| stop),
            totals: self.totals,
        })
    }

    fn stop_for(&mut self, stop: Stop) {
        // The first reason is the one to report, except that a user who cancels waits no longer.
        if self.stop.is_none()
            || (stop == Stop::Cancelled && !matches!(self.stop, Some((Stop::Cancelled, _))))
        {
            self.stop = Some((stop, Instant::now()));
        }
    }

    fn is_over(&self) -> bool {
        if !self.unsynced.is_empty() {
            return false;
        }
        match &self.stop {
            None => self.totals.done == self.totals.items,
            Some((Stop::Cancelled | Stop::Fatal(_), since)) => self.sent == 0 || since.elapsed() > GRACE,
            Some(_) => self.sent == 0,
        }
    }

    /// Sends until the server's limit, the budget or the items are used up.
    fn send_what_may_be_sent(&mut self) -> Result<()> {
        while self.stop.is_none() {
            let now = Instant::now();
            // What is written and not yet safe is bounded like what is in flight.
            let full =
                self.sent >= self.limiter.limit() || self.unsynced.len() >= self.job.settings.concurrency;
            if full || self.limiter.paused_until(now).is_some() {
                return Ok(());
            }
            let due = self.retries.peek().is_some_and(|Reverse((due, _))| *due <= now);
            let key = if due {
                let Some(Reverse((_, key))) = self.retries.pop() else { continue };
                RequestKey(key)
            } else if let Some(asking) = self.ready.pop_front() {
                let Some(key) = self.board(asking)? else { continue };
                key
            } else if self.next < self.items.count() {
                let (place, item) = (self.next, self.items.item(self.next));
                self.next += 1;
                let asking = Asking { place, item, turns: Vec::new(), usage: Usage::default() };
                let Some(key) = self.board(asking)? else { continue };
                key
            } else {
                self.limiter.starved(now);
                return Ok(());
            };
            if !self.depart(key)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes an item's next request. `None` if it needs no sending: it was answered before, is the same as another, or
    /// cannot be made.
    fn board(&mut self, mut asking: Asking) -> Result<Option<RequestKey>> {
        loop {
            let rendered = match self.job.prompt.render(&asking.item.question, &asking.turns) {
                Ok(rendered) => rendered,
                Err(why) => return Err(Error::usage(format!("{}: {why}", asking.item.id))),
            };
            let request = Request::new(&self.base, self.job.settings, &rendered, asking.item.sample);
            let key = request.key(asking.item.sample);
            if let Some(flight) = self.flights.get_mut(&key) {
                flight.askers.push(asking);
                return Ok(None);
            }
            let known = match self.journal.get(key)? {
                Some(reply) => {
                    self.totals.from_journal += 1;
                    Some(reply)
                }
                None => self.look_in_cache(key, &asking)?,
            };
            let Some(reply) = known else {
                let reserved = Usage {
                    prompt: request.prompt_tokens,
                    completion: request.reply_tokens,
                    ..Usage::default()
                };
                let flight = Flight {
                    askers: vec![asking],
                    attempts: 0,
                    throttled: 0,
                    reserved,
                    request,
                    sent_messages: rendered.messages,
                };
                self.flights.insert(key, flight);
                return Ok(Some(key));
            };
            match self.advance(asking, rendered.messages, &reply) {
                Some(further) => asking = further,
                None => return Ok(None),
            }
        }
    }

    fn look_in_cache(&mut self, key: RequestKey, asking: &Asking) -> Result<Option<Reply>> {
        let Some(reply) = self.cache.as_ref().and_then(|cache| cache.get(key)) else { return Ok(None) };
        self.totals.from_cache += 1;
        self.journal.append(key, &record(key, asking, journal::Outcome::Cached(reply.clone())))?;
        Ok(Some(reply))
    }

    /// Sends a request, if the budget allows. If not, it waits for those in flight, or the run stops.
    fn depart(&mut self, key: RequestKey) -> Result<bool> {
        let Some(flight) = self.flights.get_mut(&key) else { return Ok(true) };
        if let Some(limit) = self.budget.exceeded(&flight.reserved) {
            if self.sent == 0 && self.unsynced.is_empty() {
                self.stop_for(match limit {
                    Limit::Cost => Stop::CostLimit,
                    Limit::Tokens => Stop::TokenLimit,
                });
            } else {
                self.retries.push(Reverse((Instant::now() + TICK, key.0)));
            }
            return Ok(false);
        }
        self.budget.reserve(&flight.reserved);
        let request = flight.request.clone();
        self.totals.requests += 1;
        self.totals.retries += u64::from(flight.attempts + flight.throttled > 0);
        self.sent += 1;
        self.pool
            .send(key, request)
            .map_err(|error| Error::failed(format!("cannot start a thread: {error}")))?;
        Ok(true)
    }

    fn wait(&mut self) -> Result<()> {
        let now = Instant::now();
        let due = self.retries.peek().map(|Reverse((due, _))| *due);
        let soonest = [due, self.limiter.paused_until(now)].into_iter().flatten().min();
        let patience = soonest.map_or(TICK, |due| due.saturating_duration_since(now).min(TICK));
        // One event at a time: what it makes room for is sent before the next one is handled.
        match self.events.recv_timeout(patience.max(Duration::from_millis(1))) {
            Ok(event) => self.handle(event),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(Error::failed("all threads have ended")),
        }
    }

    fn handle(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Reply { key, sent, result } => {
                self.sent -= 1;
                let Some(flight) = self.flights.remove(&key) else { return Ok(()) };
                match result {
                    Ok(received) => self.replied(key, flight, received),
                    Err(failure) => self.failed(key, flight, failure, sent),
                }
            }
            Event::Synced(Ok(number)) => {
                while self.unsynced.front().is_some_and(|front| front.number <= number) {
                    if let Some(Unsynced { flight, received, .. }) = self.unsynced.pop_front() {
                        self.land(flight, &received.reply);
                    }
                }
                Ok(())
            }
            Event::Synced(Err(error)) => Err(Error::io(&self.job.folder.join(journal::JOURNAL))(error)),
        }
    }

    /// A reply: to the journal first.
    fn replied(&mut self, key: RequestKey, flight: Flight, received: Received) -> Result<()> {
        self.succeeded = true;
        self.given_up = 0;
        self.limiter.replied(Instant::now());
        self.budget.settle(&flight.reserved, &received.reply.usage);
        self.totals.usage.add(&received.reply.usage);
        let Some(asker) = flight.askers.first() else { return Ok(()) };
        let record = record(key, asker, journal::Outcome::Reply(received.reply.clone()));
        let number = self.journal.append(key, &record)?;
        self.unsynced.push_back(Unsynced { number, flight, received });
        Ok(())
    }

    /// A reply is safe: it counts for all who wait for it.
    fn land(&mut self, flight: Flight, reply: &Reply) {
        for asking in flight.askers {
            let further = self.advance(asking, flight.sent_messages.clone(), reply);
            self.ready.extend(further);
        }
    }

    /// Takes a reply as that of an item's step. Returns the item if it has further steps.
    fn advance(
        &mut self,
        mut asking: Asking,
        sent: Vec<(&'static str, Vec<crate::prompt::Content>)>,
        reply: &Reply,
    ) -> Option<Asking> {
        asking.usage.add(&reply.usage);
        let last = asking.turns.len() + 1 == self.job.prompt.steps();
        if !last && reply.refused().is_none() {
            asking.turns.push(Turn { sent, reply: reply.text.clone().unwrap_or_default() });
            return Some(asking);
        }
        let state = self.read(reply);
        let excerpt = excerpt(reply.text.as_deref().unwrap_or(""));
        self.finish(asking.place, Outcome { state, excerpt, usage: asking.usage });
        None
    }

    fn read(&self, reply: &Reply) -> State {
        let reading = &self.job.prompt.answer;
        if let Some(refusal) = reply.refused() {
            return State::Refused(excerpt(refusal));
        }
        if reply.cut_off() && !reading.reads_cut_off() {
            return State::CutOff;
        }
        match reading.read(reply.text.as_deref().unwrap_or("")) {
            Some(answer) => State::Answered(answer),
            None => State::Unparsable,
        }
    }

    fn finish(&mut self, place: usize, outcome: Outcome) {
        self.totals.done += 1;
        self.totals.unanswered += usize::from(matches!(outcome.state, State::Unanswered(_)));
        self.outcomes[place] = Some(outcome);
    }

    /// No reply: try again later, give up, or stop.
    fn failed(&mut self, key: RequestKey, mut flight: Flight, failure: Failure, sent: Instant) -> Result<()> {
        let now = Instant::now();
        if matches!(failure.kind, Kind::Throttled | Kind::Broken) {
            self.limiter.busy(now, sent, failure.after);
        }
        // The server may have done the work, and charge for it.
        let lost = if matches!(failure.kind, Kind::Broken | Kind::Invalid) {
            flight.reserved
        } else {
            Usage::default()
        };
        self.budget.settle(&flight.reserved, &lost);
        if lost != Usage::default() {
            self.totals.lost.add(&lost);
            if let Some(asker) = flight.askers.first() {
                self.journal.append(key, &record(key, asker, journal::Outcome::Lost(lost)))?;
            }
        }
        match failure.kind {
            Kind::Fatal => self.stop_for(Stop::Fatal(format!("{}: {}", self.base, failure.message))),
            Kind::Wait => self.stop_for(Stop::Wait(failure.after.unwrap_or_default())),
            // A server that was never there will not be there in a minute.
            Kind::Connect if !self.succeeded => {
                let message =
                    format!("cannot connect to {}: {}; is the server running?", self.base, failure.message);
                self.stop_for(Stop::Fatal(message));
            }
            kind if kind.is_transient() => {
                let tries =
                    if kind == Kind::Throttled { &mut flight.throttled } else { &mut flight.attempts };
                *tries += 1;
                let patience = if kind == Kind::Throttled { THROTTLED_PATIENCE } else { 1 };
                if *tries <= self.job.settings.retries.saturating_mul(patience) {
                    let spread = u64::from_le_bytes(key.0[..8].try_into().unwrap_or_default());
                    let wait =
                        failure.after.unwrap_or_else(|| backoff(self.job.settings.backoff, *tries, spread));
                    self.retries.push(Reverse((now + wait, key.0)));
                    self.flights.insert(key, flight);
                } else {
                    self.give_up(flight, &failure.message);
                }
            }
            _ => self.give_up(flight, &failure.message),
        }
        Ok(())
    }

    fn give_up(&mut self, flight: Flight, why: &str) {
        for asking in flight.askers {
            let state = State::Unanswered(why.to_owned());
            self.finish(asking.place, Outcome { state, excerpt: String::new(), usage: asking.usage });
        }
        self.given_up += 1;
        if self.given_up >= GIVE_UPS.max(2 * self.limiter.limit())
            || (!self.succeeded && self.given_up >= GIVE_UPS)
        {
            let message = format!("{}: {} requests failed in a row: {why}", self.base, self.given_up);
            self.stop_for(Stop::Fatal(message));
        }
    }

    fn tell_progress(&mut self, last: bool) {
        if last || self.told.elapsed() >= TICK {
            self.told = Instant::now();
            let prices = self.job.settings.prices;
            let mut all = self.totals.usage;
            all.add(&self.totals.lost);
            self.totals.cost = prices.cost(&self.totals.usage);
            self.totals.max_cost = prices.cost(&all);
            self.totals.in_flight = self.sent;
            self.totals.limit = self.limiter.limit();
            (self.job.progress)(&self.totals);
        }
    }
}

fn record(key: RequestKey, asking: &Asking, result: journal::Outcome) -> Record {
    Record {
        key: key.hex(),
        item: asking.item.id.clone(),
        sample: asking.item.sample,
        step: asking.turns.len(),
        result,
    }
}

/// The end of a text, for people.
fn excerpt(text: &str) -> String {
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(EXCERPT);
    text.chars().skip(skipped).collect()
}
