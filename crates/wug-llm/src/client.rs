//! HTTP to a server that speaks OpenAI's protocol.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use ureq::http::{HeaderMap, HeaderValue, Response, header};
#[cfg(feature = "tls")]
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Proxy};
use wug_data::{Error, Result};

use crate::reply::{Reply, error_message};
use crate::request::Request;
use crate::retry::{Advice, MAX_WAIT};
use crate::{Key, RequestSettings};

/// Sends requests. Shared by all threads.
pub(crate) struct Client {
    agent: Agent,
    key: Key,
    authorization: Option<HeaderValue>,
    timeout: Duration,
    max_reply: usize,
    large: Arc<Permits>,
}

/// A reply, and the permit that a large one holds until it is dropped.
pub(crate) struct Received {
    pub(crate) reply: Reply,
    _permit: Option<Permit>,
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    /// How long the server asks to wait.
    pub(crate) after: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The server is busy: 429, 502, 503, 504, 529. Worth many retries.
    Throttled,
    /// The server's own error.
    Server,
    /// No connection.
    Connect,
    /// The connection broke, or the reply took too long. The server may have done the work.
    Broken,
    /// The reply is not one. The server may have done the work.
    Invalid,
    /// The server asks for a longer wait than is worth holding the run for.
    Wait,
    /// This request will never be answered.
    Rejected,
    /// No request will ever be answered: wrong key, wrong URL, no credit.
    Fatal,
}

impl Kind {
    /// Whether sending the request again may help.
    pub(crate) fn is_transient(self) -> bool {
        matches!(self, Self::Throttled | Self::Server | Self::Connect | Self::Broken | Self::Invalid)
    }
}

/// What rustls says of a server that nobody it trusts vouches for.
const BAD_CERTIFICATE: &str = "invalid peer certificate";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_ERROR_BODY: usize = 64 << 10;
/// Bodies up to this size are read at once; longer ones need one of a few permits, which bounds memory.
const SMALL_BODY: usize = 256 << 10;
const LARGE_BODIES: usize = 4;

/// The certificates in the file that `SSL_CERT_FILE` names, as of an organisation that looks into its connections; Mozilla's
/// are trusted where it names none.
#[cfg(feature = "tls")]
fn root_certificates() -> Result<Option<RootCerts>> {
    let Some(path) = std::env::var_os("SSL_CERT_FILE").map(std::path::PathBuf::from) else { return Ok(None) };
    let text = std::fs::read(&path).map_err(Error::io(&path))?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let certificates: Vec<Certificate<'static>> = parse_pem(&text).filter_map(certificate).collect();
    if certificates.is_empty() {
        return Err(Error::file(&path, "has no certificate, but SSL_CERT_FILE names it"));
    }
    Ok(Some(RootCerts::new_with_certs(&certificates)))
}

impl Client {
    pub(crate) fn new(settings: &RequestSettings, key: Key) -> Result<Self> {
        let base = settings.base_url()?;
        let authorization = match key.authorization() {
            Some(text) => {
                let mut value = HeaderValue::from_str(&text)
                    .map_err(|_| Error::usage("the key has characters that no HTTP header can carry"))?;
                value.set_sensitive(true);
                Some(value)
            }
            None => None,
        };
        let config = Agent::config_builder();
        #[cfg(feature = "tls")]
        let config = match root_certificates()? {
            Some(root_certs) => config.tls_config(TlsConfig::builder().root_certs(root_certs).build()),
            None => config,
        };
        let agent = config
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(if is_local(&base) { None } else { Proxy::try_from_env() })
            .timeout_connect(Some(CONNECT_TIMEOUT.min(settings.timeout)))
            .timeout_global(Some(settings.timeout))
            .max_idle_connections(settings.concurrency)
            .max_idle_connections_per_host(settings.concurrency)
            .user_agent(concat!("wug/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Ok(Self {
            agent,
            key,
            authorization,
            timeout: settings.timeout,
            max_reply: settings.max_reply,
            large: Arc::new(Permits::new(LARGE_BODIES)),
        })
    }

    /// Sends a request once.
    pub(crate) fn send(&self, request: &Request) -> std::result::Result<Received, Failure> {
        let deadline = Instant::now() + self.timeout;
        let mut builder = self.agent.post(&request.url).header(header::CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            builder = builder.header(header::AUTHORIZATION, authorization);
        }
        let mut response = builder.send(&request.body[..]).map_err(|error| self.broken(&error))?;
        if !response.status().is_success() {
            return Err(self.rejected(&mut response));
        }
        let (body, permit) = self.read_body(&mut response, deadline)?;
        let reply = Reply::parse(&body, request, &self.key)
            .map_err(|error| self.failure(Kind::Invalid, format!("the server sent {error}")))?;
        Ok(Received { reply, _permit: permit })
    }

    fn failure(&self, kind: Kind, message: String) -> Failure {
        let message = self.key.redact(message);
        Failure { kind, message, after: None }
    }

    /// A request that got no response.
    fn broken(&self, error: &ureq::Error) -> Failure {
        let kind = match error {
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => Kind::Connect,
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => Kind::Connect,
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Kind::Connect,
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::Tls(_) => Kind::Fatal,
            ureq::Error::Io(error) if error.to_string().contains(BAD_CERTIFICATE) => {
                let advice = "SSL_CERT_FILE may name a file with the certificates to trust";
                return self.failure(Kind::Fatal, format!("{error}: {advice}"));
            }
            #[cfg(feature = "tls")]
            ureq::Error::Rustls(_) | ureq::Error::Pem(_) => Kind::Fatal,
            _ => Kind::Broken,
        };
        self.failure(kind, error.to_string())
    }

    /// A response that is an error.
    fn rejected(&self, response: &mut Response<Body>) -> Failure {
        let status = response.status().as_u16();
        let advice = {
            let headers: &HeaderMap = response.headers();
            Advice::read(|name| headers.get(name).and_then(|value| value.to_str().ok()), SystemTime::now())
        };
        let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
        let redirect =
            location.map(|location| format!("the server redirects to {location}; set endpoint to that"));
        let mut body = Vec::new();
        // Half an error message is better than none.
        let _ = response.body_mut().as_reader().take(MAX_ERROR_BODY as u64).read_to_end(&mut body);
        let value: Option<Value> = serde_json::from_slice(&body).ok();
        let message = value.as_ref().map_or_else(
            || error_message(&Value::String(String::from_utf8_lossy(&body).into_owned())),
            error_message,
        );
        let no_credit = value.as_ref().is_some_and(|value| value["error"]["code"] == "insufficient_quota");
        let mut kind = match status {
            300..=399 | 401 | 402 | 404 | 405 => Kind::Fatal,
            429 if no_credit => Kind::Fatal,
            429 | 502 | 503 | 504 | 529 => Kind::Throttled,
            408 | 409 | 500.. => Kind::Server,
            _ => Kind::Rejected,
        };
        match advice.should {
            Some(false) if kind.is_transient() => kind = Kind::Rejected,
            Some(true) if kind == Kind::Rejected => kind = Kind::Server,
            _ => (),
        }
        if kind.is_transient() && advice.after.is_some_and(|after| after > MAX_WAIT) {
            kind = Kind::Wait;
        }
        let message = match redirect {
            Some(redirect) if kind == Kind::Fatal => format!("HTTP {status}: {redirect}"),
            _ => format!("HTTP {status}: {message}"),
        };
        Failure { after: advice.after, ..self.failure(kind, message) }
    }

    /// Reads a body of bounded size before the deadline.
    fn read_body(
        &self,
        response: &mut Response<Body>,
        deadline: Instant,
    ) -> std::result::Result<(Vec<u8>, Option<Permit>), Failure> {
        let too_long = || {
            let limit = self.max_reply;
            self.failure(Kind::Rejected, format!("the reply is longer than {limit} bytes (raise max-reply)"))
        };
        if response.body().content_length().is_some_and(|length| length > self.max_reply as u64) {
            return Err(too_long());
        }
        let mut body = Vec::new();
        let mut reader = response.body_mut().as_reader();
        let read = |body: &mut Vec<u8>, reader: &mut dyn Read, limit: usize| {
            let room = (limit - body.len()) as u64;
            reader
                .take(room)
                .read_to_end(body)
                .map_err(|error| self.failure(Kind::Broken, format!("reading the reply: {error}")))
        };
        read(&mut body, &mut reader, SMALL_BODY.min(self.max_reply))?;
        let mut permit = None;
        if body.len() == SMALL_BODY && self.max_reply > SMALL_BODY {
            permit = Some(Permits::take(&self.large, deadline).ok_or_else(|| {
                self.failure(Kind::Broken, "timed out behind other long replies".to_owned())
            })?);
            read(&mut body, &mut reader, self.max_reply)?;
        }
        if body.len() == self.max_reply {
            return Err(too_long());
        }
        Ok((body, permit))
    }
}

/// Whether the server is this machine, to which no proxy leads.
fn is_local(base: &str) -> bool {
    let host = base.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or("");
    let host = host
        .strip_prefix('[')
        .map_or_else(|| host.split(':').next().unwrap_or(""), |rest| rest.split(']').next().unwrap_or(""));
    host == "localhost" || host == "::1" || host.starts_with("127.")
}

/// A counting semaphore.
struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

struct Permit(Arc<Permits>);

impl Permits {
    fn new(free: usize) -> Self {
        Self { free: Mutex::new(free), freed: Condvar::new() }
    }

    fn take(this: &Arc<Self>, deadline: Instant) -> Option<Permit> {
        let mut free = this.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            let left = deadline.checked_duration_since(Instant::now())?;
            free = this.freed.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Some(Permit(Arc::clone(this)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
