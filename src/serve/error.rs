//! Errors as HTTP answers: the one JSON envelope, or a gRPC status for those who speak gRPC.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use crate::api::{ApiError, Code};

/// Whether the caller speaks gRPC or gRPC-Web.
pub fn is_grpc(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.starts_with("application/grpc"))
}

/// The envelope.
pub fn json_error(error: &ApiError) -> Response<Body> {
    let status = StatusCode::from_u16(error.code.http()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(Body::from(error.to_json() + "\n"));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if error.code == Code::Unauthorized {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// The answer in the caller's own language.
pub fn answer(error: ApiError, headers: &HeaderMap) -> Response<Body> {
    if is_grpc(headers) { grpc_error(&error.into(), headers) } else { json_error(&error) }
}

/// A status without a message. A browser's gRPC-Web wants it under the content type that it asked with.
pub fn grpc_error(status: &tonic::Status, headers: &HeaderMap) -> Response<Body> {
    let mut response = status.clone().into_http();
    let asked = headers.get(header::CONTENT_TYPE);
    if let Some(web) = asked.filter(|value| value.as_bytes().starts_with(b"application/grpc-web")) {
        response.headers_mut().insert(header::CONTENT_TYPE, web.clone());
    }
    response
}
