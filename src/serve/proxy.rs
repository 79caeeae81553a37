//! Passes requests on to the session of a box as they are: no message is decoded, so that sessions of other versions work
//! too. HTTP/1.1 goes on as HTTP/1.1 with its upgrades, HTTP/2 as HTTP/2 with its trailers.

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Uri, Version, header};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::UnixStream;

use super::guard::TOKEN_WORD;
use super::{Connections, error, params};
use crate::api::{ApiError, BoxesApi, Code};
use crate::boxes::{BoxError, Name};

/// Where boxes begin.
const BOX: &str = "/box/";

/// The calls of a session.
pub const COOP_CALLS: &str = "/coop.v1.Coop/";

/// The metadata that says which box a call is meant for.
const BOX_HEADER: &str = "coop-box";

/// Headers that speak of one connection only, beside those that `Connection` names.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

/// A path as a box's session knows it, and the box: `/box/NAME/rest`.
pub fn in_box(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix(BOX)?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (name, inner) = rest.split_at(end);
    Some((name, if inner.is_empty() { "/" } else { inner }))
}

/// Whatever is at `/box/NAME/…`.
pub async fn by_path(
    State(api): State<BoxesApi>,
    Extension(connections): Extension<Connections>,
    request: Request,
) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let (name, inner) = in_box(&path).unwrap_or(("", "/"));
    if path.len() == BOX.len() + name.len() {
        // The page's own addresses are relative to it.
        return see(&format!("{path}/"));
    }
    let headers = request.headers().clone();
    let inner = inner.to_owned();
    let passed = pass_on(&api, connections, name, &inner, request).await;
    passed.unwrap_or_else(|why| error::answer(why, &headers))
}

/// A call of coop.v1.Coop whose metadata names a box.
pub async fn by_metadata(
    State(api): State<BoxesApi>,
    Extension(connections): Extension<Connections>,
    mut request: Request,
) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let name = request.headers_mut().remove(BOX_HEADER);
    let headers = request.headers().clone();
    let Some(name) = name.as_ref().and_then(|name| name.to_str().ok()) else {
        let message = format!(
            "which box? Send its name as the metadata `{BOX_HEADER}`, with coop's own verbs as --url \
             http://HOST:PORT/box/NAME; `coop ls` has the names"
        );
        return error::answer(ApiError::bad_request(message), &headers);
    };
    let passed = pass_on(&api, connections, name, &path, request).await;
    passed.unwrap_or_else(|why| error::answer(why, &headers))
}

fn see(path: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

async fn pass_on(
    api: &BoxesApi,
    connections: Connections,
    name: &str,
    path: &str,
    request: Request,
) -> Result<Response<Body>, ApiError> {
    let stream = open(api, name).await?;
    pass_through(stream, connections, &format!("box {name}"), path, request).await
}

/// Passes a request on to whoever is at the other end, `who` in an error.
pub async fn pass_through(
    stream: UnixStream,
    connections: Connections,
    who: &str,
    path: &str,
    mut request: Request,
) -> Result<Response<Body>, ApiError> {
    let upgrade = is_upgrade(&request).then(|| hyper::upgrade::on(&mut request));
    let is_http2 = request.version() == Version::HTTP_2;
    *request.uri_mut() = address(request.uri(), path, is_http2)?;
    let protocol = request.headers().get(header::UPGRADE).cloned();
    leave_out(request.headers_mut(), is_http2);
    if let (Some(_), Some(protocol)) = (&upgrade, protocol) {
        request.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        request.headers_mut().insert(header::UPGRADE, protocol);
    }
    let response = send(TokioIo::new(stream), request, is_http2).await;
    let response = response.map_err(|why| ApiError::new(Code::NotReady, format!("{who} broke off: {why}")))?;
    Ok(passed_back(response, upgrade, connections))
}

/// A connection to the box's session, or why there is none.
async fn open(api: &BoxesApi, name: &str) -> Result<UnixStream, ApiError> {
    let name = Name::parse(name).map_err(BoxError::from)?;
    let boxes = api.boxes();
    let connected = UnixStream::connect(boxes.index().socket(&name)).await;
    // A session that is there is passed on to, whatever the index has heard of it.
    connected.map_err(|why| match boxes.get(name.as_str()) {
        Err(no_such) => no_such.into(),
        Ok(_) => {
            tracing::debug!(%name, %why, "a box that does not run was called");
            let message = format!("box {name} does not run: start it with `coop restart {name}`");
            ApiError::new(Code::NotReady, message)
        }
    })
}

async fn send(stream: TokioIo<UnixStream>, request: Request, is_http2: bool) -> hyper::Result<Response<Incoming>> {
    if is_http2 {
        let (mut sender, connection) =
            http2::Builder::new(TokioExecutor::new()).adaptive_window(true).handshake(stream).await?;
        // It ends with the request, or with either side.
        tokio::spawn(connection);
        sender.send_request(request).await
    } else {
        let (mut sender, connection) = http1::handshake(stream).await?;
        tokio::spawn(connection.with_upgrades());
        sender.send_request(request).await
    }
}

fn passed_back(
    mut response: Response<Incoming>,
    upgrade: Option<OnUpgrade>,
    connections: Connections,
) -> Response<Body> {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS
        && let Some(ours) = upgrade
    {
        let theirs = hyper::upgrade::on(&mut response);
        tokio::spawn(join(ours, theirs, connections));
    } else {
        remove_hop_by_hop(response.headers_mut());
    }
    response.map(Body::new)
}

/// Carries bytes both ways until either side has had enough.
async fn join(ours: OnUpgrade, theirs: OnUpgrade, connections: Connections) {
    let _open = connections.count();
    let (Ok(ours), Ok(theirs)) = tokio::join!(ours, theirs) else { return };
    let (mut ours, mut theirs) = (TokioIo::new(ours), TokioIo::new(theirs));
    tokio::select! {
        // How either side leaves is its own affair.
        _ = tokio::io::copy_bidirectional(&mut ours, &mut theirs) => {}
        () = connections.closing.cancelled() => {}
    }
}

fn is_upgrade(request: &Request) -> bool {
    let names = request.headers().get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let says_so = names.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case("upgrade"));
    request.version() == Version::HTTP_11 && says_so && request.headers().contains_key(header::UPGRADE)
}

/// The address at the session. A token in the query is the daemon's, and not passed on.
fn address(uri: &Uri, path: &str, is_http2: bool) -> Result<Uri, ApiError> {
    let text = match uri.query() {
        Some(query) if has_token(query) => format!("{path}?{}", without_token(query)),
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut address = Uri::builder().path_and_query(text);
    if is_http2 {
        let authority = uri.authority().cloned().unwrap_or(Authority::from_static("localhost"));
        address = address.scheme(Scheme::HTTP).authority(authority);
    }
    address.build().map_err(|error| ApiError::bad_request(format!("the address cannot be passed on: {error}")))
}

fn has_token(query: &str) -> bool {
    params::query(query).is_ok_and(|all| all.iter().any(|(name, _)| name == "token"))
}

fn without_token(query: &str) -> String {
    let kept = query.split('&').filter(|pair| !has_token(pair));
    kept.collect::<Vec<_>>().join("&")
}

/// Takes away what was meant for the daemon: its token, the page that asks (which it has let in), and the connection.
fn leave_out(headers: &mut HeaderMap, is_http2: bool) {
    let wants_trailers = is_http2 && headers.get(header::TE).is_some_and(|te| te == "trailers");
    remove_hop_by_hop(headers);
    if wants_trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
    }
    headers.remove(header::AUTHORIZATION);
    headers.remove(header::ORIGIN);
    let offered: Vec<HeaderValue> = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().cloned().collect();
    headers.remove(header::SEC_WEBSOCKET_PROTOCOL);
    let words = offered.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let words: Vec<&str> = words.map(str::trim).filter(|word| !word.starts_with(TOKEN_WORD)).collect();
    if let Ok(value) = HeaderValue::from_str(&words.join(", "))
        && !words.is_empty()
    {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, value);
    }
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_stripped_of_its_box() {
        assert_eq!(in_box("/box/a/api/v1/screen"), Some(("a", "/api/v1/screen")));
        assert_eq!(in_box("/box/a/"), Some(("a", "/")));
        assert_eq!(in_box("/box/a"), Some(("a", "/")));
        assert_eq!(in_box("/box//x"), Some(("", "/x")));
        assert_eq!(in_box("/boxes"), None);
        assert_eq!(in_box("/api/v1/boxes/a"), None);
    }

    #[test]
    fn the_daemons_token_is_not_passed_on() {
        let uri: Uri = "/box/a/ws?mode=state&token=s%20t&x=%2B".parse().unwrap();
        assert_eq!(address(&uri, "/ws", false).unwrap(), "/ws?mode=state&x=%2B");
        let uri: Uri = "http://host:1/box/a/ws?%74oken=s".parse().unwrap();
        assert_eq!(address(&uri, "/ws", true).unwrap(), "http://host:1/ws?");
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer s"));
        headers.insert("origin", HeaderValue::from_static("http://x"));
        headers.insert("connection", HeaderValue::from_static("keep-alive, X-Mine"));
        headers.insert("x-mine", HeaderValue::from_static("1"));
        headers.insert("te", HeaderValue::from_static("trailers"));
        headers.insert("sec-websocket-protocol", HeaderValue::from_static("coop.v1, coop.token.czE"));
        headers.insert("x-other", HeaderValue::from_static("2"));
        leave_out(&mut headers, false);
        let left: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(left, [("x-other", "2"), ("sec-websocket-protocol", "coop.v1")]);
    }

    #[test]
    fn grpc_keeps_saying_that_it_takes_trailers() {
        let mut headers = HeaderMap::new();
        headers.insert("te", HeaderValue::from_static("trailers"));
        leave_out(&mut headers, true);
        assert_eq!(headers.get("te").unwrap(), "trailers");
    }
}
