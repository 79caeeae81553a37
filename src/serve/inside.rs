//! What a box may ask of the session around it: what its hooks ask, and nothing else.
//!
//! Whoever steers a session answers its prompts, types, and opens terminals of its user. That is not for the program
//! inside, which is why it has this way and not the session's own socket.

use axum::body::Body;
use axum::extract::Request;
use axum::http::Response;
use axum::{Router, middleware};

use super::error;
use super::guard::access_of;
use crate::api::{Access, ApiError, Code};

/// The same application, for those inside.
pub fn inside_application(application: &Router) -> Router {
    application.clone().layer(middleware::from_fn(hooks_only))
}

async fn hooks_only(request: Request, next: middleware::Next) -> Response<Body> {
    let path = request.uri().path();
    if access_of(request.method(), path) == Some(Access::Hook) {
        return next.run(request).await;
    }
    tracing::debug!(path, "a call from inside the box was turned away");
    let message =
        "from inside a box only its agent's hooks and `coop send` reach its session: use coop outside of the box";
    error::answer(ApiError::new(Code::Forbidden, message), request.headers())
}
