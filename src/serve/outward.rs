//! The daemon's application on a port: who is let in is passed on to its socket, and nothing is decoded on the way.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, Response, header};
use axum::{Extension, Router, middleware};
use futures_util::future::BoxFuture;
use tokio::net::UnixStream;

use super::guard::{self, Guard, Policy};
use super::{Connections, error, proxy};
use crate::api::{ApiError, Code, Gate};

/// A connection to the daemon that runs at this moment, or why there is none.
pub type Daemon = Arc<dyn Fn() -> BoxFuture<'static, Result<UnixStream, String>> + Send + Sync>;

/// Everything that the daemon serves, behind our own guard: its socket asks for no token.
pub fn outward_application(daemon: Daemon, gate: Gate, policy: Policy, connections: &Connections) -> Router {
    let policy = Arc::new(policy);
    let guard = Guard { gate, policy: policy.clone(), passes_on: true, used: Arc::new(|| {}) };
    let router = Router::new()
        .fallback(pass_on)
        .with_state(daemon)
        .layer(Extension(connections.clone()))
        .layer(middleware::from_fn_with_state(guard, guard::guard));
    if policy.allow_origins.is_empty() { router } else { router.layer(guard::cors(&policy)) }
}

async fn pass_on(
    State(daemon): State<Daemon>,
    Extension(connections): Extension<Connections>,
    request: Request,
) -> Response<Body> {
    let headers = request.headers().clone();
    let path = request.uri().path().to_owned();
    let pass = async |request| {
        let stream = daemon().await.map_err(|why| ApiError::new(Code::NotReady, why))?;
        proxy::pass_through(stream, connections.clone(), "the daemon", &path, request).await
    };
    let again = asked_anew(&request);
    let passed = match (pass(request).await, again) {
        // A daemon that is being killed still takes calls, and answers none.
        (Err(why), Some(again)) if why.code == Code::NotReady => pass(again).await,
        (passed, _) => passed,
    };
    passed.unwrap_or_else(|why| error::answer(why, &headers))
}

/// The same request once more, where asking twice does no harm.
fn asked_anew(request: &Request) -> Option<Request> {
    let is_plain = *request.method() == Method::GET && !request.headers().contains_key(header::UPGRADE);
    let mut again = Request::new(Body::empty());
    *again.uri_mut() = request.uri().clone();
    *again.version_mut() = request.version();
    *again.headers_mut() = request.headers().clone();
    is_plain.then_some(again)
}
