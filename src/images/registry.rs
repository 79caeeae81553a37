//! Asks a registry over HTTP: logs in when it wants that, follows where it points, tries again when it is worth it.
//!
//! Our own, because `oci-client` (0.18) would bring sixty further crates, among them reqwest, tables of Unicode for host names
//! and a second SHA-2, where hyper and rustls are there already; what a pull needs of the protocol are three requests.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, HeaderValue, LOCATION, RANGE, USER_AGENT, WWW_AUTHENTICATE,
};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::auth::{Challenge, Found, Logins};
use super::digest::Digest;
use super::error::ImageError;
use super::manifest::{ACCEPTED, MANIFEST_BYTES_MAX};
use super::reference::{Remote, is_loopback};

/// Registries hand out blobs by one redirect; more than a few are a circle.
const REDIRECTS_MAX: u32 = 5;

/// What an error's own words may take.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// Tokens have some kilobytes.
const TOKEN_BYTES_MAX: usize = 1 << 20;

/// How long a registry is waited for, and how often it is asked again.
#[derive(Clone, Debug)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the head of an answer.
    pub answer: Duration,
    /// For the next bytes of a blob.
    pub stall: Duration,
    /// Attempts in a row that bring nothing before it is given up.
    pub attempts_max: u32,
    /// The pause after the first of them; it doubles.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            answer: Duration::from_secs(60),
            stall: Duration::from_secs(60),
            attempts_max: 5,
            pause: Duration::from_millis(500),
        }
    }
}

/// What an attempt came to if not to an answer.
pub(super) enum Failure {
    Final(ImageError),
    /// Worth another attempt, with the reason for when that fails too.
    Passing(String),
}

impl From<ImageError> for Failure {
    fn from(error: ImageError) -> Self {
        Self::Final(error)
    }
}

/// One repository of a registry.
pub(super) struct Registry {
    http: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
    remote: Remote,
    logins: Logins,
    /// The header that the registry took last.
    authorization: Mutex<Option<HeaderValue>>,
    pub(super) patience: Patience,
}

impl Registry {
    pub(super) fn new(remote: &Remote, logins: &Logins, patience: &Patience) -> Result<Self, ImageError> {
        let failed = |why: String| ImageError::Registry { registry: remote.registry.clone(), what: "TLS".into(), why };
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| failed(error.to_string()))?;
        let tls = match builder.clone().with_native_roots() {
            Ok(builder) => builder.with_no_client_auth(),
            // A registry on this machine needs no certificates.
            Err(_) if remote.is_loopback() => {
                builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
            }
            Err(error) => {
                let way_out = "install the system's certificates (ca-certificates), or name a file by SSL_CERT_FILE";
                return Err(failed(format!("no certificates to check it by: {error}: {way_out}")));
            }
        };
        let mut plain = HttpConnector::new();
        plain.enforce_http(false);
        plain.set_connect_timeout(Some(patience.connect));
        let connector = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let http = Client::builder(TokioExecutor::new()).build(connector.wrap_connector(plain));
        Ok(Self {
            http,
            remote: remote.clone(),
            logins: logins.clone(),
            authorization: Mutex::new(None),
            patience: patience.clone(),
        })
    }

    pub(super) fn error(&self, what: impl Into<String>, why: impl Into<String>) -> ImageError {
        ImageError::Registry { registry: self.remote.registry.clone(), what: what.into(), why: why.into() }
    }

    fn url(&self, kind: &str, name: &str) -> Result<Uri, ImageError> {
        let scheme = if self.remote.is_loopback() { "http" } else { "https" };
        let url = format!("{scheme}://{}/v2/{}/{kind}/{name}", self.remote.host(), self.remote.repository);
        url.parse().map_err(|_| self.error(url, "this is no address"))
    }

    /// A manifest, checked against the digest that it must have.
    pub(super) async fn manifest(&self, name: &str, expected: Option<&Digest>) -> Result<Vec<u8>, ImageError> {
        let what = format!("manifest {name} of {}", self.remote.repository);
        let bytes = self.persist(&what, || self.small("manifests", name, MANIFEST_BYTES_MAX)).await?;
        let found = Digest::of(&bytes);
        match expected {
            Some(expected) if *expected != found => {
                Err(ImageError::Tampered { what, expected: expected.clone(), found: found.to_string() })
            }
            _ => Ok(bytes),
        }
    }

    async fn small(&self, kind: &str, name: &str, bytes_max: u64) -> Result<Vec<u8>, Failure> {
        let answer = self.get(kind, name, None).await?;
        let limit = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        let body = tokio::time::timeout(self.patience.stall, Limited::new(answer.into_body(), limit).collect());
        match body.await {
            Err(_) => Err(Failure::Passing("it stopped in the middle".into())),
            Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                Err(self.error(format!("{kind} {name}"), format!("it is larger than {bytes_max} bytes")).into())
            }
            Ok(Err(error)) => Err(Failure::Passing(error.to_string())),
        }
    }

    /// Tries until it works, or until nothing more is to be hoped for.
    async fn persist<T, F>(&self, what: &str, attempt: impl Fn() -> F) -> Result<T, ImageError>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut failed = 0;
        loop {
            match attempt().await {
                Ok(done) => return Ok(done),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(why)) => {
                    failed += 1;
                    if failed >= self.patience.attempts_max {
                        return Err(self.error(what, why));
                    }
                    self.pause(failed).await;
                }
            }
        }
    }

    /// Waits before another attempt.
    pub(super) async fn pause(&self, failed: u32) {
        tokio::time::sleep(self.patience.pause * 2u32.saturating_pow(failed.saturating_sub(1).min(6))).await;
    }

    /// The head of an answer with success; `from` asks for the rest after so many bytes.
    pub(super) async fn get(&self, kind: &str, name: &str, from: Option<u64>) -> Result<Response<Incoming>, Failure> {
        let url = self.url(kind, name)?;
        let authorization = self.authorization.lock().await.clone();
        let answer = self.follow(url.clone(), authorization.clone(), from).await?;
        let answer = if answer.status() == StatusCode::UNAUTHORIZED {
            let headers = answer.headers().get_all(WWW_AUTHENTICATE);
            let challenge = headers.iter().filter_map(|value| value.to_str().ok()).find_map(Challenge::parse);
            drop(answer);
            let header = self.answer_challenge(challenge, authorization.as_ref()).await?;
            self.follow(url, Some(header), from).await?
        } else {
            answer
        };
        self.judge(kind, name, answer).await
    }

    async fn judge(&self, kind: &str, name: &str, answer: Response<Incoming>) -> Result<Response<Incoming>, Failure> {
        let status = answer.status();
        if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
            return Ok(answer);
        }
        let said = said(answer).await;
        let what = format!("{}, {} {name}", self.remote.repository, kind.trim_end_matches('s'));
        match status {
            StatusCode::NOT_FOUND => Err(ImageError::NotFound { registry: self.remote.registry.clone(), what }.into()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(self.unauthorized(&said).into()),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
                Err(Failure::Passing(format!("{status}{said}")))
            }
            status if status.is_server_error() => Err(Failure::Passing(format!("{status}{said}"))),
            status => Err(self.error(what, format!("{status}{said}")).into()),
        }
    }

    fn unauthorized(&self, said: &str) -> ImageError {
        let registry = &self.remote.registry;
        let why = match self.logins.find(registry) {
            Found::Nothing => {
                format!("nobody is logged in; `docker login {registry}` does that, if it exists at all{said}")
            }
            Found::Login(_) => format!("the login from `docker login` does not suffice{said}"),
            Found::Helper(helper) => {
                format!(
                    "its login is kept by docker-credential-{helper}, which coop does not ask: put it into an auth.json by `podman login {registry}`{said}"
                )
            }
        };
        ImageError::Unauthorized { registry: registry.clone(), repository: self.remote.repository.clone(), why }
    }

    /// Sends a request and follows where it points. Who we are is told to the registry only, and nothing is asked for
    /// without TLS but on this machine.
    async fn follow(
        &self,
        url: Uri,
        authorization: Option<HeaderValue>,
        from: Option<u64>,
    ) -> Result<Response<Incoming>, Failure> {
        let home = url.authority().cloned();
        let mut url = url;
        for _ in 0..=REDIRECTS_MAX {
            self.check_scheme(&url)?;
            let mut request = Request::get(url.clone()).header(USER_AGENT, concat!("coop/", env!("CARGO_PKG_VERSION")));
            if url.path().contains("/manifests/") {
                request = request.header(ACCEPT, ACCEPTED);
            }
            if let Some(header) = authorization.clone().filter(|_| url.authority() == home.as_ref()) {
                request = request.header(AUTHORIZATION, header);
            }
            if let Some(from) = from {
                request = request.header(RANGE, format!("bytes={from}-"));
            }
            let answer = self.send(request).await?;
            if !answer.status().is_redirection() {
                return Ok(answer);
            }
            url = next_url(&url, answer.headers().get(LOCATION))
                .ok_or_else(|| self.error(url.path(), "it points to an address that cannot be read"))?;
        }
        Err(self.error(url.path(), format!("it points on more than {REDIRECTS_MAX} times")).into())
    }

    fn check_scheme(&self, url: &Uri) -> Result<(), ImageError> {
        let plain_allowed = self.remote.is_loopback() && url.authority().is_some_and(|it| is_loopback(it.as_str()));
        match url.scheme_str() {
            Some("https") => Ok(()),
            Some("http") if plain_allowed => Ok(()),
            _ => {
                let host = url.host().unwrap_or_default();
                Err(self.error(format!("an address at {host}"), "it is without TLS, which is for this machine only"))
            }
        }
    }

    async fn send(&self, request: hyper::http::request::Builder) -> Result<Response<Incoming>, Failure> {
        let request = request.body(Empty::new()).map_err(|error| self.error("a request", error.to_string()))?;
        match tokio::time::timeout(self.patience.answer, self.http.request(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => match reason(&error) {
                // rustls' own words; no further attempt makes it another certificate.
                why if why.starts_with("invalid peer certificate") => {
                    let way_out = "if it is the right one, name a file with its issuer by SSL_CERT_FILE";
                    Err(self.error("TLS", format!("{why}: {way_out}")).into())
                }
                why => Err(Failure::Passing(why)),
            },
            Err(_) => Err(Failure::Passing("it does not answer".into())),
        }
    }

    /// Gets what the registry wants to see.
    async fn answer_challenge(
        &self,
        challenge: Option<Challenge>,
        tried: Option<&HeaderValue>,
    ) -> Result<HeaderValue, Failure> {
        let mut current = self.authorization.lock().await;
        // Another download got it meanwhile.
        if let Some(newer) = current.as_ref().filter(|newer| Some(*newer) != tried) {
            return Ok(newer.clone());
        }
        let login = match self.logins.find(&self.remote.registry) {
            Found::Login(login) => Some(login.header()),
            _ => None,
        };
        let header = match (challenge, login) {
            (Some(Challenge::Bearer { realm, service, scope }), login) => {
                let scope = scope.unwrap_or_else(|| format!("repository:{}:pull", self.remote.repository));
                format!("Bearer {}", self.token(&realm, service.as_deref(), &scope, login).await?)
            }
            (Some(Challenge::Basic), Some(login)) => login,
            (Some(Challenge::Basic), None) => return Err(self.unauthorized("").into()),
            (None, _) => return Err(self.error("login", "it does not say how to log in").into()),
        };
        let mut header =
            HeaderValue::from_str(&header).map_err(|_| self.error("login", "it gave a token that cannot be sent"))?;
        header.set_sensitive(true);
        *current = Some(header.clone());
        Ok(header)
    }

    async fn token(
        &self,
        realm: &str,
        service: Option<&str>,
        scope: &str,
        login: Option<String>,
    ) -> Result<String, Failure> {
        #[derive(Deserialize)]
        struct Answer {
            token: Option<String>,
            access_token: Option<String>,
        }
        let separator = if realm.contains('?') { '&' } else { '?' };
        let service = service.map(|service| format!("service={}&", escape(service))).unwrap_or_default();
        let url = format!("{realm}{separator}{service}scope={}", escape(scope));
        let url: Uri = url.parse().map_err(|_| self.error("login", "it names an address that cannot be read"))?;
        let header = login.and_then(|login| HeaderValue::from_str(&login).ok()).map(|mut header| {
            header.set_sensitive(true);
            header
        });
        let answer = self.follow(url, header, None).await?;
        let status = answer.status();
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(Failure::Passing(format!("the login answered {status}")));
        }
        if !status.is_success() {
            return Err(self.unauthorized(&said(answer).await).into());
        }
        let body =
            tokio::time::timeout(self.patience.stall, Limited::new(answer.into_body(), TOKEN_BYTES_MAX).collect());
        let body = match body.await {
            Ok(Ok(body)) => body.to_bytes(),
            _ => return Err(Failure::Passing("the login broke off".into())),
        };
        let token =
            serde_json::from_slice::<Answer>(&body).ok().and_then(|answer| answer.token.or(answer.access_token));
        token.ok_or_else(|| self.error("login", "it gave no token").into())
    }
}

/// What the body of an answer is to have.
pub(super) fn content_length(answer: &Response<Incoming>) -> Option<u64> {
    answer.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The words that a registry gives with an error, on one line.
async fn said(answer: Response<Incoming>) -> String {
    #[derive(Deserialize)]
    struct Answer {
        errors: Vec<Message>,
    }
    #[derive(Deserialize)]
    struct Message {
        #[serde(default)]
        message: String,
    }
    let Ok(body) = Limited::new(answer.into_body(), ERROR_BYTES_MAX).collect().await else { return String::new() };
    let words = serde_json::from_slice::<Answer>(&body.to_bytes()).map(|answer| answer.errors).unwrap_or_default();
    let words: Vec<_> = words.into_iter().map(|it| it.message).filter(|it| !it.is_empty()).collect();
    let clean: String = words.join("; ").chars().filter(|c| !c.is_control()).take(300).collect();
    if clean.is_empty() { clean } else { format!(" ({clean})") }
}

/// The innermost reason, since the outer ones say "client error".
fn reason(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Where an answer points to, which may be said relative to the address asked.
fn next_url(from: &Uri, location: Option<&HeaderValue>) -> Option<Uri> {
    let to: Uri = location?.to_str().ok()?.parse().ok()?;
    if to.authority().is_some() {
        return to.scheme().is_some().then_some(to);
    }
    let path = to.path_and_query()?.clone();
    path.as_str().starts_with('/').then_some(())?;
    Uri::builder().scheme(from.scheme()?.clone()).authority(from.authority()?.clone()).path_and_query(path).build().ok()
}

/// For a value in a query.
fn escape(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~' | b':' | b'/' | b',');
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
