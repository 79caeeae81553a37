//! The application that every listener serves: gRPC, gRPC-Web, HTTP/JSON, WebSocket and the page, on one port.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::Response;
use axum::routing::get;
use axum::{Extension, Router, middleware};
use tonic::service::Routes;
use tonic_health::server::HealthReporter;
use tonic_web::GrpcWebLayer;

use super::gateway;
use super::guard::{self, Guard, Policy};
use super::websocket::{self, Sockets};
use super::{error, page, web};
use crate::api::{Api, ApiError, Code};
use crate::proto::{self, v1::coop_server::CoopServer};

/// The largest gRPC message that is read at all. Raw input has a lower limit, with an error that says so.
pub const MESSAGE_BYTES_MAX: usize = 24 * 1024 * 1024;

/// Where Prometheus looks.
pub const METRICS: &str = "/metrics";

/// The application and what belongs to it.
pub struct App {
    pub router: Router,
    pub sockets: Sockets,
    pub health: HealthReporter,
}

pub fn application(api: &Api, policy: Policy) -> anyhow::Result<App> {
    let (health, health_service) = tonic_health::server::health_reporter();
    let coop = CoopServer::new(api.clone())
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let grpc = Routes::new(coop)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .add_service(health_service)
        .into_axum_router()
        .reset_fallback()
        .layer(GrpcWebLayer::new());
    let sockets = Sockets::default();
    let policy = Arc::new(policy);
    let http = web::routes(gateway::coop_routes(Router::new()))
        .route("/ws", get(websocket::session))
        .route("/api/v1/attach", get(websocket::attach))
        .route("/api", get(page::api))
        .route("/openapi.json", get(page::openapi))
        .route(METRICS, get(page::metrics))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .with_state(api.clone());
    let session = api.session.clone();
    let used = Arc::new(move || session.touch());
    let guard = Guard { gate: api.gate.clone(), policy: policy.clone(), passes_on: false, used };
    let router =
        grpc.merge(http).layer(Extension(sockets.clone())).layer(middleware::from_fn_with_state(guard, guard::guard));
    let router = if policy.allow_origins.is_empty() { router } else { router.layer(guard::cors(&policy)) };
    Ok(App { router, sockets, health })
}

/// What tools ask for who do not have the contract.
pub fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(proto::DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        // The details of errors, so that tools can show them.
        .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
}

/// Only what probes ask for, for a port of its own.
pub fn health_application(api: &Api) -> Router {
    let open = ["/api/v1/health", "/api/v1/livez", "/api/v1/ready", METRICS];
    gateway::coop_routes(Router::new())
        .route(METRICS, get(page::metrics))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .with_state(api.clone())
        .layer(middleware::from_fn(move |request: Request, next: middleware::Next| async move {
            if open.contains(&request.uri().path()) { next.run(request).await } else { not_here(request).await }
        }))
}

async fn not_here(request: Request) -> Response<Body> {
    let message =
        format!("there is no {} on the health port: only health, livez, ready and /metrics", request.uri().path());
    error::json_error(&ApiError::new(Code::NotFound, message))
}

pub async fn not_found(request: Request) -> Response<Body> {
    let path = request.uri().path();
    if error::is_grpc(request.headers()) {
        let status = tonic::Status::unimplemented(format!("there is no call {path}"));
        return error::grpc_error(&status, request.headers());
    }
    let message = format!("there is no {path}: GET /api lists what there is");
    error::json_error(&ApiError::new(Code::NotFound, message))
}

pub async fn method_not_allowed(request: Request) -> Response<Body> {
    let message = format!("{} does not take {}: GET /api lists what does", request.uri().path(), request.method());
    error::answer(ApiError::new(Code::MethodNotAllowed, message), request.headers())
}
