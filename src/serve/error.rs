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
    if is_grpc(headers) { tonic::Status::from(error).into_http() } else { json_error(&error) }
}
