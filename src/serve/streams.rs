//! Streams over plain HTTP: newline-delimited JSON, or server-sent events for those who ask.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, header};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use serde::Serialize;
use tonic::Status;

use super::gateway::{NO_STORE, Resume, UNBUFFERED};
use super::marks::{Marked, Marks};
use crate::api::ApiError;

/// Whether the caller asked for server-sent events.
pub fn wants_events(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|value| value.contains("text/event-stream"))
}

/// A browser that lost its connection says where it was; a parameter of the same meaning goes before.
pub fn resume(headers: &HeaderMap, resume: &Resume, params: &mut Vec<(String, String)>) -> Result<(), ApiError> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).filter(|id| !id.is_empty());
    let (Some(last), false) = (last, matches!(resume, Resume::None)) else { return Ok(()) };
    let (seq, offset) = match resume {
        Resume::Offset => (None, Some(last)),
        Resume::Both => last.split_once('.').map_or((Some(last), None), |(seq, offset)| (Some(seq), Some(offset))),
        Resume::Seq | Resume::None => (Some(last), None),
    };
    for (name, text) in [("after_seq", seq), ("from_offset", offset)] {
        let Some(text) = text else { continue };
        if text.parse::<u64>().is_err() {
            return Err(ApiError::bad_request(format!("Last-Event-ID {last:?} is none of this stream's ids")));
        }
        if !params.iter().any(|(known, _)| known == name) {
            params.push((name.to_owned(), text.to_owned()));
        }
    }
    Ok(())
}

/// The stream as a body without end.
pub fn respond<S, M>(messages: S, as_events: bool) -> Response<Body>
where
    S: Stream<Item = Result<M, Status>> + Send + 'static,
    M: Serialize + Marked + Send + 'static,
{
    let mut marks = Marks::default();
    let frames = messages.map(move |message| {
        let json = match &message {
            Ok(message) => {
                message.mark(&mut marks);
                serde_json::to_string(message).unwrap_or_default()
            }
            Err(status) => ApiError::from_status(status).to_json(),
        };
        let frame = match (as_events, marks.id()) {
            (false, _) => format!("{json}\n"),
            (true, Some(id)) => format!("id: {id}\ndata: {json}\n\n"),
            (true, None) => format!("data: {json}\n\n"),
        };
        Ok::<Bytes, std::convert::Infallible>(frame.into())
    });
    let content_type = if as_events { "text/event-stream" } else { "application/x-ndjson" };
    let mut response = Response::new(Body::from_stream(frames));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
    response.headers_mut().insert(UNBUFFERED.0, UNBUFFERED.1);
    response
}
