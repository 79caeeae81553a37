//! One layer before all faces: where a request may come from, and whether its caller may make the call.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, header, uri::Authority};
use axum::middleware::Next;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::app::METRICS;
use super::gateway::binding_at;
use super::{error, proxy, web};
use crate::api::{Access, ApiError, Code, Gate, Trusted, rpc_of_grpc_path};

/// Paths of other services that share the port.
const GRPC_HEALTH: &str = "/grpc.health.v1.Health/";
const GRPC_REFLECTION: &str = "/grpc.reflection.";

/// Who attaches over gRPC says in its first message whether it only looks.
const GRPC_ATTACH: &str = "/coop.v1.Coop/Attach";

/// What begins the subprotocol that carries a token.
pub const TOKEN_WORD: &str = "coop.token.";

/// Which browsers and names the operator lets in, beside our own.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub allow_origins: Vec<String>,
    pub allow_hosts: Vec<String>,
}

/// The address at our end of a connection; `None` for Unix sockets, which no browser reaches.
#[derive(Clone, Copy, Debug)]
pub struct LocalAddr(pub Option<SocketAddr>);

/// What the layer needs.
#[derive(Clone)]
pub struct Guard {
    pub gate: Gate,
    pub policy: Arc<Policy>,
    /// It stands before boxes, whose calls it passes on.
    pub passes_on: bool,
    /// Told of every call that counts as use, so that what is used does not leave.
    pub used: Arc<dyn Fn() + Send + Sync>,
}

/// Lets a request pass, or answers it.
pub async fn guard(State(guard): State<Guard>, mut request: Request, next: Next) -> Response<Body> {
    match guard.admit(&request) {
        Ok(trusted) => {
            if trusted {
                request.extensions_mut().insert(Trusted);
            }
            next.run(request).await
        }
        Err(error) => {
            tracing::debug!(path = request.uri().path(), code = error.code.word(), "a request was turned away");
            error::answer(error, request.headers())
        }
    }
}

impl Guard {
    /// Whether the caller has shown its token.
    fn admit(&self, request: &Request) -> Result<bool, ApiError> {
        let access = self.access(request.method(), request.uri().path());
        if access != Some(Access::Open) || is_socket(request.uri().path()) {
            self.check_host(request)?;
        }
        self.check_origin(request)?;
        let presented = presented(request);
        if let Some(access) = access {
            self.gate.admit(access, presented.as_deref())?;
            // Statistics are taken all the time, and must not keep an idle session from leaving.
            if access != Access::Open && request.uri().path() != METRICS {
                (self.used)();
            }
        }
        let trusted = self.gate.admit(Access::Write, presented.as_deref());
        // A WebSocket may still show its token later, but not a wrong one now.
        match trusted {
            Err(error) if presented.is_some() && is_socket(request.uri().path()) => Err(error),
            trusted => Ok(trusted.is_ok()),
        }
    }

    fn access(&self, method: &Method, path: &str) -> Option<Access> {
        match proxy::in_box(path) {
            _ if !self.passes_on => access_of(method, path),
            Some((_, path)) => access_in_box(method, path),
            None if path.starts_with(proxy::COOP_CALLS) => access_in_box(method, path),
            None => access_of(method, path),
        }
    }

    /// A web page that made its own name point here must not get in: browsers send the name they were given.
    fn check_host(&self, request: &Request) -> Result<(), ApiError> {
        let local = request.extensions().get::<LocalAddr>().and_then(|local| local.0);
        let (Some(local), Some(host)) = (local, host_of(request)) else { return Ok(()) };
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        let allowed = match name.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || ip.to_canonical() == local.ip().to_canonical(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        };
        let listed = |entry: &String| entry.eq_ignore_ascii_case(name) || entry.eq_ignore_ascii_case(host.as_str());
        if allowed || self.policy.allow_hosts.iter().any(listed) {
            return Ok(());
        }
        let message = format!("Host {name:?} is not one of ours: start coop with --allow-host {name}");
        Err(ApiError::new(Code::Forbidden, message))
    }

    /// A browser says which page asks; only our own and those that the operator named may.
    fn check_origin(&self, request: &Request) -> Result<(), ApiError> {
        let Some(origin) = request.headers().get(header::ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or("null");
        let own = host_of(request).is_some_and(|host| {
            let page = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            page.is_some_and(|page| page.eq_ignore_ascii_case(host.as_str()))
        });
        if own || self.policy.allow_origins.iter().any(|allowed| allowed == origin) {
            return Ok(());
        }
        let message = format!("Origin {origin:?} is not allowed: start coop with --allow-origin {origin}");
        Err(ApiError::new(Code::Forbidden, message))
    }
}

/// CORS headers, for the origins that the operator named; our own page needs none.
pub fn cors(policy: &Policy) -> CorsLayer {
    let origins: Vec<HeaderValue> = policy.allow_origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    let grpc = ["grpc-status", "grpc-message", "grpc-status-details-bin"];
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers(tower_http::cors::AllowHeaders::mirror_request())
        .expose_headers(grpc.map(axum::http::HeaderName::from_static))
        .max_age(std::time::Duration::from_secs(600))
}

/// The same for what the daemon passes on to a box's session, which asks for no token: what that would check itself, and
/// what a newer one may serve, takes the right to everything.
fn access_in_box(method: &Method, path: &str) -> Option<Access> {
    let is_file = matches!(path, "/api" | "/openapi.json") || web::has(path);
    match access_of(method, path) {
        _ if is_socket(path) || path == GRPC_ATTACH => Some(Access::Write),
        Some(Access::Hook) => Some(Access::Write),
        None if !is_file => Some(Access::Write),
        access => access,
    }
}

/// Who a path is open to; `None` for paths that do not exist, which the router answers.
pub(super) fn access_of(method: &Method, path: &str) -> Option<Access> {
    if let Some(binding) = binding_at(method.as_str(), path) {
        return Some(binding.rpc.access);
    }
    if let Some(rpc) = rpc_of_grpc_path(path) {
        return Some(rpc.access);
    }
    match path {
        // Checked message by message, and by the token if there is one.
        "/ws" => Some(Access::Open),
        // Who may only read, may only look: its hello says so, and is checked.
        "/api/v1/attach" => Some(Access::Read),
        // The page's own files; its calls show the token.
        "/api" | "/openapi.json" => None,
        METRICS => Some(Access::Read),
        path if web::has(path) => None,
        path if path.starts_with(GRPC_HEALTH) => Some(Access::Open),
        path if path.starts_with(GRPC_REFLECTION) => Some(Access::Read),
        _ => None,
    }
}

fn is_socket(path: &str) -> bool {
    let path = proxy::in_box(path).map_or(path, |(_, path)| path);
    matches!(path, "/ws" | "/api/v1/attach" | "/coop.v1.Coop/Session")
}

/// The token that comes with a request. Browsers cannot add headers to WebSockets: these may have it among their
/// subprotocols, or in the query.
fn presented(request: &Request) -> Option<String> {
    if let Some(token) = bearer(request.headers()) {
        return Some(token.to_owned());
    }
    if !is_socket(request.uri().path()) {
        return None;
    }
    if let Some(token) = subprotocol(request.headers()) {
        return Some(token);
    }
    let query = super::params::query(request.uri().query()?).ok()?;
    query.into_iter().find(|(name, _)| name == "token").map(|(_, token)| token)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The token as a subprotocol, `coop.token.` and its bytes in base64url: addresses end up in logs, this does not.
fn subprotocol(headers: &HeaderMap) -> Option<String> {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let encoded = offered.flat_map(|value| value.split(',')).find_map(|word| word.trim().strip_prefix(TOKEN_WORD))?;
    let bytes = URL_SAFE_NO_PAD.decode(encoded).unwrap_or_default();
    // What is no text is no token of ours, but it was shown: it must not count as none.
    Some(String::from_utf8(bytes).unwrap_or_default())
}

/// The name under which the caller knows us: HTTP/2 has it in the address, HTTP/1 in a header.
fn host_of(request: &Request) -> Option<Authority> {
    let header = || request.headers().get(header::HOST)?.to_str().ok()?.parse().ok();
    request.uri().authority().cloned().or_else(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Secret;

    /// Whether somebody without a token, or with this one, is let in by a daemon that has one.
    fn passes(method: &str, path: &str, token: Option<&str>) -> bool {
        let gate = Gate { token: Some(Secret::new("main")), hook_token: Secret::new("hook"), anonymous_read: true };
        let guard = Guard { gate, policy: Arc::default(), passes_on: true, used: Arc::new(|| {}) };
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        guard.admit(&request.body(Body::empty()).unwrap()).is_ok()
    }

    #[test]
    fn what_a_session_would_check_itself_the_daemon_checks_before_it_passes_it_on() {
        let writes = [
            ("POST", "/box/a/api/v1/input"),
            ("GET", "/box/a/ws"),
            ("GET", "/box/a/api/v1/attach"),
            ("POST", "/box/a/coop.v1.Coop/SendInput"),
            ("POST", "/box/a/coop.v1.Coop/Session"),
            ("POST", "/box/a/coop.v1.Coop/Attach"),
            ("POST", "/coop.v1.Coop/SendInput"),
            ("POST", "/coop.v1.Coop/Session"),
            ("POST", "/coop.v1.Coop/Attach"),
            // A newer session may have more than we know of.
            ("POST", "/coop.v1.Coop/CallOfTomorrow"),
            ("GET", "/box/a/api/v1/tomorrow"),
            ("POST", "/api/v1/boxes"),
        ];
        for (method, path) in writes {
            assert!(!passes(method, path, None), "{path} without a token");
            assert!(!passes(method, path, Some("hook")), "{path} with a hook's token");
            assert!(passes(method, path, Some("main")), "{path}");
        }
        let reads = [
            ("GET", "/box/a/api/v1/screen"),
            ("GET", "/box/a/api/v1/health"),
            ("GET", "/box/a/"),
            ("GET", "/box/a/web/main.js"),
            ("POST", "/coop.v1.Coop/GetScreen"),
            ("GET", "/api/v1/boxes"),
        ];
        for (method, path) in reads {
            assert!(passes(method, path, None), "{path} for those who may only read");
        }
    }
}
