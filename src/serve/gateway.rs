//! HTTP/JSON: each binding of the contract is one generated line; what they all do is here, in two functions.

use std::collections::HashMap;
use std::future::Future;
use std::sync::LazyLock;

use axum::Router;
use axum::body::Body as HttpBody;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use axum::routing::{MethodFilter, on};
use bytes::Bytes;
use futures_util::Stream;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tonic::Status;

use super::marks::Marked;
use super::{body, error, params, streams};
use crate::api::{ApiError, Encoded, ExactText, HttpStatus, RPCS, Rpc, WantsJson, json_line};

include!(concat!(env!("OUT_DIR"), "/routes.rs"));

/// One HTTP form of a call.
#[derive(Debug)]
pub struct Binding {
    pub rpc: &'static Rpc,
    pub verb: &'static str,
    pub path: &'static str,
    pub body: Body,
    /// The one field of the answer that is the body, as plain text.
    pub text_field: Option<&'static str>,
    pub resume: Resume,
}

/// Which part of the request an HTTP body holds.
#[derive(Debug)]
pub enum Body {
    None,
    Whole,
    Field(&'static str),
    /// Any JSON, kept as it came.
    Verbatim(&'static str),
}

/// What `Last-Event-ID` tells a stream.
#[derive(Debug)]
pub enum Resume {
    None,
    Seq,
    Offset,
    Both,
}

/// The bindings at each path without parameters; the guard asks for every request.
static BY_PATH: LazyLock<HashMap<&'static str, Vec<&'static Binding>>> = LazyLock::new(|| {
    let mut by_path: HashMap<_, Vec<_>> = HashMap::new();
    for binding in BINDINGS.iter().filter(|binding| !binding.path.contains('{')) {
        by_path.entry(binding.path).or_default().push(binding);
    }
    by_path
});

/// The binding at a verb and path.
pub fn binding_at(verb: &str, path: &str) -> Option<&'static Binding> {
    // HEAD is a GET without its body.
    let verb = if verb == "HEAD" { "GET" } else { verb };
    if let Some(bindings) = BY_PATH.get(path) {
        return bindings.iter().find(|binding| binding.verb == verb).copied();
    }
    BINDINGS.iter().find(|binding| binding.verb == verb && matches(binding.path, path))
}

/// Whether a path fits a template such as `/api/v1/transcripts/{number}`.
fn matches(template: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    template.split('/').all(|expected| parts.next().is_some_and(|part| expected == part || expected.starts_with('{')))
        && parts.next().is_none()
}

fn unary<A, Q, R, F, T>(router: Router<A>, binding: &'static Binding, call: F) -> Router<A>
where
    A: Clone + Send + Sync + 'static,
    Q: DeserializeOwned + Default + Send + 'static,
    R: Serialize + Send + 'static,
    F: Fn(A, tonic::Request<Q>) -> T + Clone + Send + Sync + 'static,
    T: Future<Output = Result<tonic::Response<R>, Status>> + Send,
{
    let handler = move |State(api): State<A>, path: RawPathParams, request: Request| async move {
        let answered = async {
            let request = message(binding, &path, request).await?;
            call(api, request).await.map_err(|status| ApiError::from_status(&status))
        };
        match answered.await {
            Ok(response) => answer(binding, response),
            Err(error) => error::json_error(&error),
        }
    };
    router.route(binding.path, on(filter(binding.verb), handler))
}

fn stream<A, Q, S, M, F, T>(router: Router<A>, binding: &'static Binding, call: F) -> Router<A>
where
    A: Clone + Send + Sync + 'static,
    Q: DeserializeOwned + Default + Send + 'static,
    S: Stream<Item = Result<M, Status>> + Send + 'static,
    M: Serialize + Marked + Send + 'static,
    F: Fn(A, tonic::Request<Q>) -> T + Clone + Send + Sync + 'static,
    T: Future<Output = Result<tonic::Response<S>, Status>> + Send,
{
    let handler = move |State(api): State<A>, path: RawPathParams, request: Request| async move {
        let as_events = streams::wants_events(request.headers());
        let answered = async {
            let request = message(binding, &path, request).await?;
            call(api, request).await.map_err(|status| ApiError::from_status(&status))
        };
        match answered.await {
            Ok(response) => streams::respond(response.into_inner(), as_events),
            Err(error) => error::json_error(&error),
        }
    };
    router.route(binding.path, on(filter(binding.verb), handler))
}

/// The request as a message of the contract.
async fn message<Q: DeserializeOwned + Default + 'static>(
    binding: &Binding,
    path: &RawPathParams,
    request: Request,
) -> Result<tonic::Request<Q>, ApiError> {
    let (parts, http_body) = request.into_parts();
    let mut params = match parts.uri.query() {
        Some(query) => params::query(query)?,
        None => Vec::new(),
    };
    streams::resume(&parts.headers, &binding.resume, &mut params)?;
    if matches!(binding.body, Body::None) {
        params.extend(path.iter().map(|(name, text)| (name.to_owned(), text.to_owned())));
    }
    let message = match &binding.body {
        Body::None if params.is_empty() => Q::default(),
        Body::None => params::from_params(&params)?,
        _ if !params.is_empty() => {
            return Err(ApiError::bad_request(format!(
                "unknown parameter {:?}: this call takes a JSON body",
                params[0].0
            )));
        }
        Body::Whole => {
            let bytes = body::read(http_body, binding.rpc.body_bytes_max).await?;
            match octets(&parts.headers, &bytes) {
                Some(message) => message,
                None => body::from_json(&with_path_fields(path, bytes)?)?,
            }
        }
        Body::Field(field) | Body::Verbatim(field) => {
            let bytes = body::read(http_body, binding.rpc.body_bytes_max).await?;
            body::from_json(&as_field(field, &bytes))?
        }
    };
    let mut request = tonic::Request::from_parts(
        tonic::metadata::MetadataMap::from_headers(parts.headers),
        parts.extensions,
        message,
    );
    if binding.text_field.is_none() {
        request.extensions_mut().insert(WantsJson);
    }
    Ok(request)
}

fn octets<Q: 'static>(headers: &HeaderMap, body: &Bytes) -> Option<Q> {
    let is_octets = headers.get(header::CONTENT_TYPE).is_some_and(|value| value == "application/octet-stream");
    is_octets.then(|| body::from_octets(body.clone())).flatten()
}

/// A body with the fields that stand in the path, which count before its own. All of them are texts.
fn with_path_fields(path: &RawPathParams, body: Bytes) -> Result<Bytes, ApiError> {
    if path.iter().next().is_none() {
        return Ok(body);
    }
    let mut fields: serde_json::Map<String, serde_json::Value> = body::from_json(&body)?;
    fields.extend(path.iter().map(|(name, text)| (name.to_owned(), text.into())));
    Ok(serde_json::Value::Object(fields).to_string().into())
}

/// A body that is the value of one field.
fn as_field(name: &str, body: &[u8]) -> Vec<u8> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Vec::new();
    }
    [format!("{{{name:?}:").as_bytes(), body, b"}"].concat()
}

fn answer<R: Serialize>(binding: &Binding, response: tonic::Response<R>) -> Response<HttpBody> {
    let (metadata, message, extensions) = response.into_parts();
    let exact = extensions.get::<ExactText>();
    let encoded = match (extensions.get::<Encoded>(), binding.text_field) {
        (Some(Encoded(bytes)), None) => Ok(bytes.clone()),
        (_, Some(field)) => exact.map_or_else(|| text(&message, field), |ExactText(bytes)| Ok(bytes.clone())),
        (None, None) => json_line(&message),
    };
    let bytes = match encoded {
        Ok(bytes) => bytes,
        Err(error) => return error::json_error(&ApiError::new(crate::api::Code::Internal, error.to_string())),
    };
    let content_type = match (binding.text_field, exact) {
        (Some(_), None) => "text/plain; charset=utf-8",
        (Some(_), Some(_)) => "text/plain",
        (None, _) => "application/json",
    };
    let mut response = Response::new(HttpBody::from(bytes));
    *response.headers_mut() = metadata.into_headers();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
    if let Some(HttpStatus(status)) = extensions.get::<HttpStatus>() {
        *response.status_mut() = StatusCode::from_u16(*status).unwrap_or_default();
    }
    response
}

/// Screens and states are of the moment.
pub const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Tells proxies not to hold back a stream.
pub const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// One field as text: a string as it is, several as lines.
fn text<R: Serialize>(message: &R, field: &str) -> Result<Bytes, serde_json::Error> {
    let text = match &serde_json::to_value(message)?[field] {
        serde_json::Value::Array(lines) => {
            lines.iter().filter_map(|line| line.as_str()).map(|line| format!("{line}\n")).collect()
        }
        serde_json::Value::String(text) => text.clone(),
        _ => String::new(),
    };
    Ok(text.into())
}

fn filter(verb: &str) -> MethodFilter {
    match verb {
        "GET" => MethodFilter::GET,
        "PUT" => MethodFilter::PUT,
        "DELETE" => MethodFilter::DELETE,
        _ => MethodFilter::POST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_is_found_by_verb_and_path() {
        let path = |verb, path| binding_at(verb, path).map(|binding| binding.rpc.path);
        assert_eq!(path("GET", "/api/v1/screen"), Some("/coop.v1.Coop/GetScreen"));
        assert_eq!(path("HEAD", "/api/v1/screen"), Some("/coop.v1.Coop/GetScreen"));
        assert_eq!(path("GET", "/api/v1/transcripts/catchup"), Some("/coop.v1.Coop/CatchupTranscripts"));
        assert_eq!(path("GET", "/api/v1/transcripts/7"), Some("/coop.v1.Coop/GetTranscript"));
        assert_eq!(path("POST", "/api/v1/screen"), None);
        assert_eq!(path("GET", "/api/v1/screen/"), None);
        assert_eq!(path("GET", "/api/v1"), None);
    }
}
