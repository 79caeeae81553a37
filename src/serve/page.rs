//! The small page at `/api`: every call of this coop, and where its contract lies; and the numbers at `/metrics`.

use std::fmt::Write;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Response, header};

use super::gateway::{BINDINGS, NO_STORE};
use super::web;
use crate::api::{Api, METRICS_CONTENT_TYPE};
use crate::proto;

const SESSION: &str = include_str!("api.html");
const DAEMON: &str = include_str!("boxes.html");

/// The API page of a session.
pub async fn api() -> Response<Body> {
    listed("Coop", SESSION)
}

/// That of the daemon.
pub async fn boxes_api() -> Response<Body> {
    listed("Boxes", DAEMON)
}

/// An API page, made from the same table as the routes.
fn listed(service: &str, head: &str) -> Response<Body> {
    let mut rows = String::new();
    for binding in BINDINGS.iter().filter(|binding| binding.rpc.is_of(service)) {
        let rpc = binding.rpc.path.rsplit('/').next().unwrap_or_default();
        let (verb, path) = (binding.verb, binding.path);
        // Writing to a string cannot fail.
        let _ = writeln!(rows, "<tr><td>{verb}</td><td><code>{path}</code></td><td>{rpc}</td></tr>");
    }
    let page = head.replace("{{rows}}", &rows).replace("{{version}}", env!("CARGO_PKG_VERSION"));
    respond(page, "text/html; charset=utf-8")
}

pub async fn openapi() -> Response<Body> {
    respond(proto::OPENAPI, "application/json")
}

pub async fn boxes_openapi() -> Response<Body> {
    respond(proto::OPENAPI_BOXES, "application/json")
}

/// What Prometheus is told.
pub async fn metrics(State(api): State<Api>) -> Response<Body> {
    let mut response = Response::new(api.metrics().into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(METRICS_CONTENT_TYPE));
    response.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
    response
}

fn respond(content: impl Into<Body>, content_type: &'static str) -> Response<Body> {
    let mut response = Response::new(content.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    // Nothing on the page comes from elsewhere, and nobody may frame it.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";
    web::secure(headers, policy);
    response
}
