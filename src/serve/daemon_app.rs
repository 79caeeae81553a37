//! The application of the daemon: coop.v1.Boxes on every face, a page of all boxes, and everything of each at
//! `/box/NAME/`.

use std::sync::Arc;

use axum::routing::{any, get};
use axum::{Extension, Router, middleware};
use tonic::service::Routes;
use tonic_web::GrpcWebLayer;

use super::app::{MESSAGE_BYTES_MAX, method_not_allowed, not_found, reflection};
use super::guard::{self, Guard, Policy};
use super::{Connections, gateway, page, proxy, web};
use crate::api::{BoxesApi, Gate};
use crate::proto::v1::boxes_server::BoxesServer;

/// What the daemon serves on each of its listeners. `gate` is the daemon's own: sessions of boxes ask for no token.
pub fn daemon_application(
    api: &BoxesApi,
    gate: Gate,
    policy: Policy,
    connections: &Connections,
) -> anyhow::Result<Router> {
    // Every service that is there serves, as long as the daemon does.
    let (_, health) = tonic_health::server::health_reporter();
    let boxes = BoxesServer::new(api.clone())
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let grpc = Routes::new(boxes)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .add_service(health)
        .into_axum_router()
        .reset_fallback()
        .layer(GrpcWebLayer::new());
    let http = web::boxes_routes(gateway::boxes_routes(Router::new()))
        .route("/api", get(page::boxes_api))
        .route("/openapi.json", get(page::boxes_openapi))
        .route("/box/{name}", any(proxy::by_path))
        .route("/box/{name}/", any(proxy::by_path))
        .route("/box/{name}/{*rest}", any(proxy::by_path))
        .route("/coop.v1.Coop/{call}", any(proxy::by_metadata))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .with_state(api.clone());
    let policy = Arc::new(policy);
    let guard = Guard { gate, policy: policy.clone(), passes_on: true, used: Arc::new(|| {}) };
    let router = grpc
        .merge(http)
        .layer(Extension(connections.clone()))
        .layer(middleware::from_fn_with_state(guard, guard::guard));
    Ok(if policy.allow_origins.is_empty() { router } else { router.layer(guard::cors(&policy)) })
}
